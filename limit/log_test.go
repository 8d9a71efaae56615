package limit

import (
	"slices"
	"testing"
	"time"
)

func TestLogTimelines(t *testing.T) {
	for name, text := range map[string]string{
		"each hit leaves when it is a window old": `
			SWL 3 10s
			at        call     before   allowed   remaining   used   retry   reset   next
			0s        PEEK 1   0        yes       3           0      0s      0s      0s
			0s        HIT 1    0        yes       2           1      0s      10s     10s
			4s        HIT 2    1        yes       0           3      0s      10s     6s
			6s        HIT 1    3        no        0           3      4s      8s      4s
			6s        HIT 2    3        no        0           3      8s      8s      4s
			6s        HIT 4    3        no        0           3      never   8s      4s
			9.9999s   HIT 1    3        no        0           3      100us   4.0001s   100us
			10s       HIT 1    2        yes       0           3      0s      10s     4s
			20s       HIT 3    0        yes       0           3      0s      10s     10s`,
		"a millisecond is one instant": `
			SWL 3 10ms
			at          call    before   allowed   remaining   retry     reset
			0.0001ms    HIT 1   0        yes       2           0s        9.9999ms
			0.9999ms    HIT 1   1        yes       1           0s        9.0001ms
			1ms         HIT 1   2        yes       0           0s        10ms
			9.9999ms    HIT 1   3        no        0           100ns     1.0001ms
			10ms        HIT 2   1        yes       0           0s        10ms`,
		"the limit changes": `
			SWL 10 10s
			at    call    allowed   limit   remaining   used   retry   next
			0s    HIT 5   yes       10      5           5      0s      10s
			1s    HIT 3   yes       10      2           8      0s      9s
			SWL 4 10s
			2s    HIT 1   no        4       0           8      8s      8s
			2s    HIT 2   no        4       0           8      9s      8s
			SWL 20 10s
			2s    HIT 12  yes       20      0           20     0s      8s`,
		"a shorter window forgets": `
			SWL 10 1m
			at    call    before   allowed   remaining   used   retry   reset
			0s    HIT 5   0        yes       5           5      0s      1m
			30s   HIT 5   5        yes       0           10     0s      1m
			SWL 10 10s
			35s   HIT 6   10       no        5           5      5s      55s
			35s   HIT 5   10       yes       0           10     0s      10s
			SWL 10 1m
			36s   HIT 1   10       no        0           10     4s      9s
			41s   HIT 5   5        yes       0           10     0s      1m
			46s   HIT 1   10       no        0           10     49s     55s`,
		"giving back takes the newest": `
			SWL 10 10s
			at    call     before   allowed   remaining   used   reset
			0s    GIVE 3   0        yes       10          0      0s
			0s    HIT 4    0        yes       6           4      10s
			3s    HIT 4    4        yes       2           8      10s
			5s    GIVE 1   8        yes       3           7      8s
			5s    GIVE 3   7        yes       6           4      5s
			5s    GIVE 1   4        yes       7           3      5s
			SWL 2 1s
			5s    GIVE 1   3        yes       0           2      5s
			SWL 10 10s
			10s   GIVE 1   0        yes       10          0      0s
			10s   HIT 2    0        yes       8           2      10s
			11s   GIVE 5   2        yes       10          0      0s`,
		"a clock that stands or steps back": `
			SWL 3 10s
			at    call    before   allowed   remaining   retry   reset
			20s   HIT 1   0        yes       2           0s      10s
			5s    HIT 1   1        yes       1           0s      10s
			-5s   HIT 1   2        yes       0           0s      10s
			-5s   HIT 1   3        no        0           10s     10s
			29s   HIT 1   3        no        0           1s      1s
			30s   HIT 3   0        yes       0           0s      10s`,
		"before 1970": `
			SWL 2 10s
			at              call    before   allowed   remaining   reset
			-100y           HIT 1   0        yes       1           10s
			-100y9.9999s    HIT 1   1        yes       0           9.9991s
			-100y10s        HIT 1   1        yes       0           10s`,
	} {
		t.Run(name, func(t *testing.T) { runTimeline(t, text) })
	}
}

func TestLogParameters(t *testing.T) {
	cases := slices.Clone(windowEdges)
	for i := range cases {
		if cases[i].want == ErrLimit {
			cases[i].want = ErrLogLimit
		}
	}
	over := cases[0]
	over.name, over.limit, over.want = "limit of a log over", MaxLogLimit+1, ErrLogLimit
	for _, c := range append(cases, over) {
		t.Run(c.name, func(t *testing.T) {
			for _, op := range []string{"HIT", "PEEK", "GIVE"} {
				l := &logLimiter{limit: c.limit, window: c.window}
				if _, err := obey(t, op, l, c.now, op, c.cost); err != c.want {
					t.Errorf("%s: error %v, want %v", op, err, c.want)
				}
			}
			if c.cost == 1 {
				if _, err := (Log{}).Next(c.now, c.limit, c.window); err != c.want {
					t.Errorf("Next: error %v, want %v", err, c.want)
				}
			}
		})
	}
	whole := &logLimiter{limit: MaxLogLimit, window: MaxPeriod}
	if got, err := obey(t, "all", whole, noon, "HIT", MaxLogLimit); err != nil || !got.Allowed || got.Remaining != 0 {
		t.Errorf("the largest hit: %+v %v", got, err)
	}
}

func TestLogDamaged(t *testing.T) {
	damage := map[string]func(*Log){
		"no window":     func(l *Log) { l.Window = 0 },
		"odd window":    func(l *Log) { l.Window++ },
		"time far off":  func(l *Log) { l.Hits[1].At = 1 << 60 },
		"negative sum":  func(l *Log) { l.Hits[1].Sum = -1 },
		"large sum":     func(l *Log) { l.Hits[1].Sum = MaxLogLimit + 1 },
		"base over sum": func(l *Log) { l.Base = 3 },
	}
	for name, harm := range damage {
		t.Run(name, func(t *testing.T) {
			at := int64(noon) / int64(time.Millisecond)
			l := Log{Window: time.Minute, Hits: []Hit{{at, 1}, {at + 1, 2}}}
			harm(&l)
			for _, op := range []string{"HIT", "PEEK", "GIVE"} {
				c := (&logLimiter{log: l, limit: 10, window: time.Minute}).clone()
				if _, err := obey(t, op, c, noon, op, 1); err != ErrState {
					t.Errorf("%s: error %v", op, err)
				}
			}
		})
	}
}

// TestLogMemory shows that the dead never outnumber the living by more than one
// entry, that dropping them costs O(1) a hit on average, and that one
// millisecond takes one entry.
func TestLogMemory(t *testing.T) {
	const limit, window = 50, 100 * time.Millisecond
	var l Log
	moved := 0
	for i := range 10_000 {
		now := noon + Instant(i)*Instant(time.Millisecond)*2
		e, d, err := l.Hit(now, limit, window, 1)
		if err != nil || !d.Allowed {
			t.Fatalf("hit %d: %+v %v", i, d, err)
		}
		if e.Trim > 0 {
			moved += e.Keep
		}
		if l = l.Apply(e); len(l.Hits) > 2*limit {
			t.Fatalf("%d entries for %d hits", len(l.Hits), d.Used)
		}
	}
	if moved > 10_000 {
		t.Errorf("%d entries moved for 10000 hits", moved)
	}
	before := len(l.Hits)
	now := noon + Instant(10_000)*Instant(time.Millisecond)*2
	for range 2 {
		e, d, err := l.Hit(now, 100, window, 3)
		if err != nil || !d.Allowed {
			t.Fatalf("%+v %v", d, err)
		}
		l = l.Apply(e)
	}
	if len(l.Hits) > before+1 {
		t.Errorf("two hits of one millisecond took %d entries", len(l.Hits)-before)
	}
}

// TestLogOnlyReads shows that no call writes to the hits it is shown, and what
// an edit that changes nothing looks like.
func TestLogOnlyReads(t *testing.T) {
	at := int64(noon) / int64(time.Millisecond)
	hits := []Hit{{at, 1}, {at + 5, 3}, {at + 9, 4}}
	l := Log{Window: 10 * time.Millisecond, Hits: hits}
	kept := slices.Clone(hits)
	now := noon + 12*Instant(time.Millisecond)
	nothing := LogEdit{Keep: 3, Window: l.Window}
	if e, d, err := l.Hit(now, 3, l.Window, 1); e != nothing || d.Allowed || err != nil {
		t.Errorf("denied: %+v %+v %v", e, d, err)
	}
	if e, _, err := l.Hit(now, 3, l.Window, 0); e != nothing || err != ErrCost {
		t.Errorf("error: %+v %v", e, err)
	}
	if e, _, err := l.Give(now, 3, l.Window, 0); e != nothing || err != ErrCost {
		t.Errorf("give: %+v %v", e, err)
	}
	e, _, _ := l.Hit(now, 4, l.Window, 1)
	if want := (LogEdit{Keep: 3, Add: Hit{at + 12, 5}, HasAdd: true, Window: l.Window}); e != want {
		t.Errorf("hit: %+v, want %+v", e, want)
	}
	if got, want := l.ExpiryAfter(e), now+Instant(l.Window); got != want || l.Expiry() != want-3*Instant(time.Millisecond) {
		t.Errorf("ends at %d, after the hit at %d", l.Expiry(), got)
	}
	e, _, _ = l.Give(now, 4, l.Window, 2)
	if want := (LogEdit{Trim: 1, Keep: 0, Add: Hit{at + 5, 2}, HasAdd: true, Window: l.Window, Base: 1}); e != want {
		t.Errorf("give: %+v, want %+v", e, want)
	}
	if e, _, _ = l.Give(now, 4, l.Window, 3); !e.Empty() || l.ExpiryAfter(e) != 0 {
		t.Errorf("give all: %+v", e)
	}
	if !slices.Equal(hits, kept) {
		t.Errorf("the hits changed to %v", hits)
	}
}

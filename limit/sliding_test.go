package limit

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSlidingTimelines(t *testing.T) {
	for name, text := range map[string]string{
		"the previous window moves out": `
			SWC 10 1m
			at         call     before       allowed   remaining   used   retry          reset   next
			10:00:30   PEEK 1   0 + 0        yes       10          0      0s             0s      0s
			10:00:30   HIT 10   0 + 0        yes       0           10     0s             90s     30.000000001s
			10:00:30   HIT 5    0 + 10       no        0           10     54.000000001s  90s     30.000000001s
			10:01:00   HIT 1    10 + 0       no        0           10     1ns            60s     1ns
			10:01:06   HIT 1    9 + 0        yes       0           10     0s             114s    1ns
			10:01:30   HIT 5    5 + 1        no        4           6      1ns            90s     1ns
			10:01:30   HIT 4    5 + 1        yes       0           10     0s             90s     1ns
			10:02:30   HIT 9    2 1/2 + 0    no        8           2      6.000000001s   30s     6.000000001s
			10:03:00   HIT 11   0 + 0        no        10          0      never          0s      0s`,
		"a wait can reach across the window's end": `
			SWC 10 1m
			at         call     before    allowed   retry          reset
			10:00:30   HIT 10   0 + 0     yes       0s             90s
			10:00:30   HIT 1    0 + 10    no        30.000000001s  90s
			10:00:30   HIT 10   0 + 10    no        84.000000001s  90s
			10:01:59   HIT 10   1/6 + 0   yes       0s             61s
			10:01:59   HIT 1    1/6 + 10  no        1.000000001s   61s`,
		"both counts gone": `
			SWC 10 1m
			at         call     before   allowed   remaining   reset
			10:00:30   HIT 10   0 + 0    yes       0           90s
			10:02:00   HIT 10   0 + 0    yes       0           120s
			10:09:59   HIT 9    0 + 0    yes       1           61s`,
		"a change of length moves the count": `
			SWC 10 1m
			at         call    before   allowed   remaining   retry             reset
			10:00:30   HIT 10  0 + 0    yes       0           0s                1m30s
			10:01:30   HIT 2   5 + 0    yes       3           0s                1m30s
			SWC 10 1h
			10:01:30   HIT 4   5 + 2    no        3           1ns               1m30s
			10:01:30   HIT 1   5 + 2    yes       2           0s                1h58m30s
			SWC 10 1s
			10:01:40   HIT 3   0 + 8    no        2           58m20.000000001s  1h58m20s
			10:01:40   HIT 2   0 + 8    yes       0           0s                2s
			10:01:41   HIT 1   10 + 0   no        0           1ns               1s`,
		"the limit changes": `
			SWC 10 1m
			at         call     before   allowed   limit   remaining   used   retry          next
			10:00:00   HIT 10   0 + 0    yes       10      0           10     0s             1m0.000000001s
			SWC 5 1m
			10:01:30   HIT 1    5 + 0    no        5       0           5      1ns            1ns
			10:01:15   HIT 1    7 1/2 + 0  no      5       0           7      15.000000001s  15.000000001s
			SWC 20 1m
			10:01:30   HIT 15   5 + 0    yes       20      0           20     0s             1ns`,
		"giving back": `
			SWC 10 1m
			at         call     before   allowed   remaining   used   reset
			10:00:00   GIVE 5   0 + 0    yes       10          0      0s
			10:00:00   HIT 8    0 + 0    yes       2           8      2m
			10:00:30   GIVE 3   0 + 8    yes       5           5      90s
			10:01:12   GIVE 3   4 + 0    yes       6           4      48s
			10:01:12   HIT 2    4 + 0    yes       4           6      108s
			SWC 3 1h
			10:01:12   GIVE 1   4 + 2    yes       0           5      108s
			10:01:12   GIVE 9   4 + 1    yes       0           4      48s
			10:02:00   GIVE 1   0 + 0    yes       3           0      0s
			SWC 10 1m
			10:05:00   HIT 1    0 + 0    yes       9           1      2m
			10:05:30   GIVE 1   0 + 1    yes       10          0      0s`,
		"a clock that stands or steps back": `
			SWC 4 1m
			at         call    before   allowed   remaining   retry          reset
			10:01:30   HIT 4   0 + 0    yes       0           0s             90s
			10:00:10   HIT 1   0 + 4    no        0           1m0.000000001s   2m
			10:02:30   HIT 2   2 + 0    yes       0           0s             90s
			10:01:50   HIT 1   4 + 2    no        0           30.000000001s  2m
			10:02:30   HIT 1   2 + 2    no        0           1ns            90s`,
		"before 1970": `
			SWC 4 1m
			at         call    before   allowed   remaining   reset
			-100y15s   HIT 4   0 + 0    yes       0           105s
			-100y90s   HIT 2   2 + 0    yes       0           90s`,
	} {
		t.Run(name, func(t *testing.T) { runTimeline(t, text) })
	}
}

// TestSlidingRetryExample is the example of a limit of 60 a minute, 60 in the
// previous one, 12 s into the current one with 12 counted. A unit moves out each
// second, and being floored it is out as soon as the clock ticks on: the 13th
// hit has to wait for the next tick, the 14th a second more.
func TestSlidingRetryExample(t *testing.T) {
	runTimeline(t, `
		SWC 60 1m
		at             call     before          allowed   remaining   retry
		10:00:00       HIT 60   0 + 0           yes       0           0s
		10:01:12       HIT 12   48 + 0          yes       0           0s
		10:01:12       HIT 1    48 + 12         no        0           1ns
		10:01:12.001   HIT 1    47 999/1000 + 12   yes    0           0s
		10:01:12.001   HIT 1    47 999/1000 + 13   no     0           999.000001ms
		10:01:13       HIT 1    47 + 13         no        0           1ns
		10:01:13.001   HIT 1    46 999/1000 + 13   yes    0           0s`)
	if got := Millis(999_000_001); got != 1000 {
		t.Errorf("told to wait %d ms, want 1000", got)
	}
}

func TestSlidingParameters(t *testing.T) {
	for _, c := range windowEdges {
		t.Run(c.name, func(t *testing.T) {
			for _, op := range []string{"HIT", "PEEK", "GIVE"} {
				l := &slidingLimiter{limit: c.limit, window: c.window}
				if _, err := obey(t, op, l, c.now, op, c.cost); err != c.want {
					t.Errorf("%s: error %v, want %v", op, err, c.want)
				}
			}
			if c.cost == 1 {
				if _, err := (Sliding{}).Next(c.now, c.limit, c.window); err != c.want {
					t.Errorf("Next: error %v, want %v", err, c.want)
				}
			}
		})
	}
}

// TestSlidingLargest takes the largest counts through the longest windows, where
// the products need 100 bits.
func TestSlidingLargest(t *testing.T) {
	l := &slidingLimiter{limit: MaxTokens, window: MaxPeriod}
	start := tile(noon, MaxPeriod)
	for _, step := range []struct {
		at        Instant
		cost      int64
		allowed   bool
		remaining int64
	}{
		{start, MaxTokens, true, 0},
		{start, 1, false, 0},
		{start + Instant(MaxPeriod), 1, false, 0},
		{start + Instant(MaxPeriod) + Instant(MaxPeriod/4), MaxTokens/4 + 1, false, MaxTokens / 4},
		{start + Instant(MaxPeriod) + Instant(MaxPeriod/4), MaxTokens / 4, true, 0},
		{start + 2*Instant(MaxPeriod), MaxTokens, false, MaxTokens / 4 * 3},
	} {
		got, err := obey(t, time.Duration(step.at).String(), l, step.at, "HIT", step.cost)
		if err != nil || got.Allowed != step.allowed || got.Remaining != step.remaining {
			t.Errorf("at %v: %+v %v", step.at, got, err)
		}
	}
}

func TestSlidingDamaged(t *testing.T) {
	good := Sliding{Prev: 1, Cur: 1, Start: noon, Window: time.Minute}
	damage := map[string]func(*Sliding){
		"no window":       func(s *Sliding) { s.Window = 0 },
		"negative window": func(s *Sliding) { s.Window = -time.Minute },
		"odd window":      func(s *Sliding) { s.Window++ },
		"negative count":  func(s *Sliding) { s.Cur = -1 },
		"large count":     func(s *Sliding) { s.Cur = MaxTokens + 1 },
		"negative before": func(s *Sliding) { s.Prev = -1 },
		"large before":    func(s *Sliding) { s.Prev = MaxTokens + 1 },
	}
	for name, harm := range damage {
		t.Run(name, func(t *testing.T) {
			s := good
			harm(&s)
			for _, op := range []string{"HIT", "PEEK", "GIVE"} {
				l := &slidingLimiter{sliding: s, limit: 10, window: time.Minute}
				if _, err := obey(t, op, l, noon, op, 1); err != ErrState {
					t.Errorf("%s: error %v", op, err)
				}
			}
		})
	}
}

// TestSlidingErrorBound holds the bound that the documentation states: in a span
// of x <= W fewer than limit * (1 + x/W) + 1 are allowed.
func TestSlidingErrorBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, 30).Draw(t, "limit")
		window := time.Duration(rapid.Int64Range(1, 100).Draw(t, "window")) * time.Millisecond
		var s Sliding
		var passed []event
		now := noon
		for range 60 {
			now += Instant(rapid.Int64Range(0, 2*int64(window)/3).Draw(t, "step"))
			cost := rapid.Int64Range(1, limit).Draw(t, "cost")
			next, d, err := s.Hit(now, limit, window, cost)
			if err != nil {
				t.Fatal(err)
			}
			if s = next; d.Allowed {
				passed = append(passed, event{now, cost})
			}
		}
		for i := range passed {
			sum := int64(0)
			for _, e := range passed[i:] {
				span := int64(e.at - passed[i].at)
				if sum += e.cost; span <= int64(window) && (sum-1-limit)*int64(window) >= limit*span {
					t.Fatalf("%d in %v with %d in %v", sum, time.Duration(span), limit, window)
				}
			}
		}
	})
}

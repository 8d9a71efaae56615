package limit

import (
	"math"
	"testing"
	"time"
)

func TestFixedTimelines(t *testing.T) {
	for name, text := range map[string]string{
		"windows tile the clock": `
			FW 10 1m
			at              call     before   allowed   remaining   used   retry   reset   next
			10:00:20        PEEK 1   0        yes       10          0      0s      0s      0s
			10:00:20        HIT 4    0        yes       6           4      0s      40s     40s
			10:00:50        HIT 7    4        no        6           4      10s     10s     10s
			10:00:59.999    HIT 6    4        yes       0           10     0s      1ms     1ms
			10:00:59.9999   HIT 1    10       no        0           10     100us   100us   100us
			10:01:00        HIT 11   0        no        10          0      never   0s      0s
			10:01:00        HIT 10   0        yes       0           10     0s      1m      1m`,
		"a window begins at the first hit": `
			FW 2 1m FIRST
			at              call     before   allowed   remaining   retry     reset
			10:00:20        HIT 1    0        yes       1           0s        1m
			10:01:19.999    HIT 1    1        yes       0           0s        1ms
			10:01:19.9995   HIT 1    2        no        0           500us     500us
			10:01:20        HIT 1    0        yes       1           0s        1m
			10:05:00.0001   HIT 1    0        yes       1           0s        1m`,
		"a window keeps its end when the length changes": `
			FW 10 1m
			at         call     before   allowed   remaining   retry   reset
			10:00:20   HIT 9    0        yes       1           0s      40s
			FW 10 1h
			10:00:30   HIT 2    9        no        1           30s     30s
			10:00:30   PEEK 1   9        yes       1           0s      30s
			10:00:30   HIT 1    9        yes       0           0s      59m30s
			FW 10 1s
			10:00:40   HIT 1    10       no        0           59m20s  59m20s
			FW 11 1s
			10:00:40   HIT 1    10       yes       0           0s      1s
			10:00:41   HIT 1    0        yes       10          0s      1s`,
		"the anchor changes": `
			FW 10 1m FIRST
			at         call     before   allowed   remaining   reset
			10:00:20   HIT 3    0        yes       7           1m
			FW 10 1m
			10:00:50   HIT 1    3        yes       6           10s
			FW 10 1m FIRST
			10:00:55   HIT 1    4        yes       5           1m
			10:01:54   HIT 1    5        yes       4           1s
			FW 10 1m
			10:01:55   HIT 1    0        yes       9           5s`,
		"the limit changes": `
			FW 10 1m
			at         call     before   allowed   limit   remaining   used   retry
			10:00:20   HIT 8    0        yes       10      2           8      0s
			FW 5 1m
			10:00:20   HIT 1    8        no        5       0           8      40s
			FW 20 1m
			10:00:20   HIT 1    8        yes       20      11          9      0s`,
		"giving back": `
			FW 10 1m
			at         call      before   allowed   remaining   used   reset
			10:00:20   GIVE 5    0        yes       10          0      0s
			10:00:20   HIT 8     0        yes       2           8      40s
			10:00:30   GIVE 3    8        yes       5           5      30s
			FW 4 1h FIRST
			10:00:30   GIVE 1    5        yes       0           4      30s
			10:00:31   GIVE 9    4        yes       4           0      0s
			10:00:31   HIT 4     0        yes       0           4      1h
			FW 4 1m
			11:00:31   GIVE 1    0        yes       4           0      0s`,
		"a clock that stands or steps back": `
			FW 2 1m
			at         call    before   allowed   remaining   retry   reset
			10:01:00   HIT 1   0        yes       1           0s      1m
			10:00:10   HIT 1   1        yes       0           0s      1m
			10:00:10   HIT 1   2        no        0           1m      1m
			10:01:59   HIT 1   2        no        0           1s      1s
			10:02:00   HIT 1   0        yes       1           0s      1m`,
		"a week begins on a Thursday": `
			FW 3 168h
			at     call    allowed   remaining   reset
			0s     HIT 1   yes       2           168h
			167h   HIT 1   yes       1           1h
			168h   HIT 1   yes       2           168h`,
		"before 1970": `
			FW 3 1m
			at             call    allowed   remaining   reset
			-100y15s       HIT 1   yes       2           45s
			-100y59s       HIT 1   yes       1           1s
			-100y1m        HIT 1   yes       2           1m`,
	} {
		t.Run(name, func(t *testing.T) { runTimeline(t, text) })
	}
}

// windowEdges are the parameters that the window algorithms share, at their
// edges.
var windowEdges = []struct {
	name   string
	now    Instant
	limit  int64
	window time.Duration
	cost   int64
	want   error
}{
	{"smallest", -MaxInstant, 1, MinPeriod, 1, nil},
	{"longest", MaxInstant, 1, MaxPeriod, MaxTokens, nil},
	{"limit 0", 0, 0, time.Second, 1, ErrLimit},
	{"limit -1", 0, -1, time.Second, 1, ErrLimit},
	{"limit over", 0, MaxTokens + 1, time.Second, 1, ErrLimit},
	{"limit least", 0, math.MinInt64, time.Second, 1, ErrLimit},
	{"limit most", 0, math.MaxInt64, time.Second, 1, ErrLimit},
	{"cost 0", 0, 1, time.Second, 0, ErrCost},
	{"cost -1", 0, 1, time.Second, -1, ErrCost},
	{"cost over", 0, 1, time.Second, MaxTokens + 1, ErrCost},
	{"cost least", 0, 1, time.Second, math.MinInt64, ErrCost},
	{"cost most", 0, 1, time.Second, math.MaxInt64, ErrCost},
	{"window 0", 0, 1, 0, 1, ErrWindow},
	{"window negative", 0, 1, -time.Second, 1, ErrWindow},
	{"window below 1 ms", 0, 1, time.Millisecond - 1, 1, ErrWindow},
	{"window no whole ms", 0, 1, time.Second + 1, 1, ErrWindow},
	{"window over", 0, 1, MaxPeriod + time.Millisecond, 1, ErrWindow},
	{"window most", 0, 1, math.MaxInt64, 1, ErrWindow},
	{"too late", MaxInstant + 1, 1, time.Second, 1, ErrInstant},
	{"latest", math.MaxInt64, 1, time.Second, 1, ErrInstant},
	{"too early", -MaxInstant - 1, 1, time.Second, 1, ErrInstant},
	{"earliest", math.MinInt64, 1, time.Second, 1, ErrInstant},
}

func TestFixedParameters(t *testing.T) {
	for _, c := range windowEdges {
		t.Run(c.name, func(t *testing.T) {
			for _, op := range []string{"HIT", "PEEK", "GIVE"} {
				for _, first := range []bool{false, true} {
					l := &fixedLimiter{limit: c.limit, window: c.window, first: first}
					if _, err := obey(t, op, l, c.now, op, c.cost); err != c.want {
						t.Errorf("%s: error %v, want %v", op, err, c.want)
					}
				}
			}
			if c.cost == 1 {
				if _, err := (Fixed{}).Next(c.now, c.limit, c.window, true); err != c.want {
					t.Errorf("Next: error %v, want %v", err, c.want)
				}
			}
		})
	}
	whole := &fixedLimiter{limit: MaxTokens, window: MaxPeriod}
	if got, err := obey(t, "all", whole, noon, "HIT", MaxTokens); err != nil || !got.Allowed || got.Remaining != 0 {
		t.Errorf("the largest hit: %+v %v", got, err)
	}
}

func TestFixedDamaged(t *testing.T) {
	good := Fixed{Count: 1, Start: noon, Window: time.Minute}
	damage := map[string]func(*Fixed){
		"no window":       func(f *Fixed) { f.Window = 0 },
		"negative window": func(f *Fixed) { f.Window = -time.Minute },
		"odd window":      func(f *Fixed) { f.Window++ },
		"no count":        func(f *Fixed) { f.Count = 0 },
		"negative count":  func(f *Fixed) { f.Count = -1 },
		"large count":     func(f *Fixed) { f.Count = MaxTokens + 1 },
	}
	for name, harm := range damage {
		t.Run(name, func(t *testing.T) {
			f := good
			harm(&f)
			for _, op := range []string{"HIT", "PEEK", "GIVE"} {
				l := &fixedLimiter{fixed: f, limit: 10, window: time.Minute}
				if _, err := obey(t, op, l, noon, op, 1); err != ErrState {
					t.Errorf("%s: error %v", op, err)
				}
			}
		})
	}
}

package limit

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCase45RaisingTheRateDeniesNobody(t *testing.T) {
	runTimeline(t, `
		TB 16 10 20s
		at   call     allowed   remaining
		0s   TAKE 3   yes       13
		TB 16 1000 20s
		0s   TAKE 1   yes       12`)
}

func TestCase48ClockStepsBack(t *testing.T) {
	runTimeline(t, `
		TB 10 1 1s
		at     call      allowed   remaining   retry   reset
		100s   TAKE 4    yes       6           0s      4s
		40s    TAKE 1    yes       5           0s      5s
		40s    TAKE 10   no        5           5s      5s
		100s   TAKE 5    yes       0           0s      10s`)
}

// A wild clock: no wait is longer than the whole bucket needs.
func TestCase50WildClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Bucket
		now := noon
		for range 20 {
			now += Instant(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "step"))
			cost := rapid.Int64Range(1, 5000).Draw(t, "cost")
			next, d, err := b.Take(now, 5000, Rate{2000, time.Second}, cost)
			if err != nil || d.RetryAfter > 2500*time.Millisecond || d.ResetAfter > 2500*time.Millisecond {
				t.Fatalf("%+v %v", d, err)
			}
			b = next
		}
	})
}

// Case 53, a counter without an expiry: a live state always has an end, and is
// gone at it. checkReset holds that for every call of every test; this is the
// bound of that end.
func TestCase53EveryLiveStateEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, window := rapid.Int64Range(1, MaxLogLimit).Draw(t, "limit"), periods().Draw(t, "window")
		cost := rapid.Int64Range(1, n).Draw(t, "cost")
		end := func(e Instant, most time.Duration) {
			if e <= noon || e > noon+Instant(most) {
				t.Fatalf("ends %d ns from now, at most %d", e-noon, most)
			}
		}
		f, _, _ := (Fixed{}).Hit(noon, n, window, rapid.Bool().Draw(t, "first"), cost)
		end(f.Expiry(), window)
		s, _, _ := (Sliding{}).Hit(noon, n, window, cost)
		end(s.Expiry(), 2*window)
		e, _, _ := (Log{}).Hit(noon, n, window, cost)
		end(Log{}.ExpiryAfter(e), window)
		if b, _, err := (Bucket{}).Take(noon, n, Rate{n, window}, cost); err == nil {
			end(b.Expiry(), window)
		}
	})
}

func TestCase54LastMomentOfAWindow(t *testing.T) {
	runTimeline(t, `
		FW 10 1s FIRST
		at             call    before   allowed   remaining   reset
		0s             HIT 9   0        yes       1           1s
		0.999s         HIT 1   9        yes       0           1ms
		0.999999999s   HIT 1   10       no        0           1ns
		1s             HIT 1   0        yes       9           1s`)
}

func TestCase56PreviousWindowCounts(t *testing.T) {
	runTimeline(t, `
		SWC 100 100s
		at     call     before    allowed   remaining
		0s     HIT 50   0 + 0     yes       50
		110s   HIT 10   45 + 0    yes       45
		110s   PEEK 1   45 + 10   yes       45`)
}

func TestCase57LimitOfOne(t *testing.T) {
	runTimeline(t, `
		SWC 1 10s
		at    call    allowed   retry
		0s    HIT 1   yes       0s
		0s    HIT 1   no        10.000000001s
		10s   HIT 1   no        1ns
		20s   HIT 1   yes       0s`)
}

func TestCase58RemainingStaysWithinTheLimit(t *testing.T) {
	for _, names := range [][2]string{
		{"FW 9 1m", "FW 3 1m"}, {"SWC 9 1m", "SWC 3 1m"}, {"SWL 9 1m", "SWL 3 1m"},
	} {
		runTimeline(t, names[0]+`
			at   call    allowed   remaining   used
			0s   HIT 6   yes       3           6
			`+names[1]+`
			0s   HIT 1   no        0           6
			0s   GIVE 5  yes       2           1
			0s   GIVE 5  yes       3           0`)
	}
	runTimeline(t, `
		TB 3 1 1s
		at   call      allowed   remaining   used
		0s   DEBIT 6   yes       0           6
		0s   TAKE 1    no        0           6
		0s   GIVE 99   yes       3           0`)
}

func TestCase60ResetCountsEveryHit(t *testing.T) {
	runTimeline(t, `
		TB 10 1 6s
		at   call     allowed   reset
		0s   TAKE 5   yes       30s`)
}

func TestCase65ExpiryStaysSane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Bucket
		now, rate := noon, Rate{10, time.Second}
		for range 30 {
			now += Instant(rapid.Int64Range(-int64(time.Second), int64(3*time.Second)).Draw(t, "step"))
			call := rapid.SampledFrom([]string{"TAKE", "GIVE"}).Draw(t, "op")
			l := &bucketLimiter{bucket: b, capacity: 20, rate: rate}
			if _, err := l.call(now, call, rapid.Int64Range(1, 20).Draw(t, "cost")); err != nil {
				t.Fatal(err)
			}
			b = l.bucket
			if end := b.Expiry(); end != 0 && end > b.At+Instant(2*time.Second) {
				t.Fatalf("ends %v later", time.Duration(end-b.At))
			}
		}
	})
}

// A bucket of one period's worth lets up to twice that pass in its first period,
// a fixed window at its edge; the sliding counter and the log do not.
func TestCase66TwoLimitsAreNotOne(t *testing.T) {
	first := map[string]int64{"bucket": 0, "sliding": 0, "log": 0}
	var b Bucket
	var s Sliding
	var g Log
	start := tile(noon, time.Minute)
	for ms := range Instant(60_000) {
		now := start + ms*Instant(time.Millisecond)
		next, d, _ := b.Take(now, 15, Rate{15, time.Minute}, 1)
		b, first["bucket"] = next, first["bucket"]+granted(d)
		turned, d, _ := s.Hit(now, 15, time.Minute, 1)
		s, first["sliding"] = turned, first["sliding"]+granted(d)
		e, d, _ := g.Hit(now, 15, time.Minute, 1)
		g, first["log"] = g.Apply(e), first["log"]+granted(d)
	}
	if first["bucket"] != 29 || first["sliding"] != 15 || first["log"] != 15 {
		t.Errorf("in the first minute: %v", first)
	}
}

func granted(d Decision) int64 {
	if d.Allowed {
		return 1
	}
	return 0
}

// The questions that explanations of rate limiting ask.

func TestArticleWindowEdge(t *testing.T) {
	runTimeline(t, `
		FW 100 1m
		at         call      allowed
		10:00:59   HIT 100   yes
		10:01:00   HIT 100   yes
		SWC 100 1m
		10:00:59   HIT 100   yes
		10:01:00   HIT 100   no
		10:01:00   HIT 1     no
		SWL 100 1m
		10:00:59   HIT 100   yes
		10:01:00   HIT 1     no
		10:01:59   HIT 100   yes`)
}

func TestArticleSlidingEstimate(t *testing.T) {
	runTimeline(t, `
		SWC 100 1m
		at         call     before    allowed   used
		10:00:10   HIT 80   0 + 0     yes       80
		10:01:10   HIT 30   66 2/3 + 0   yes    96
		10:01:15   HIT 1    60 + 30   yes       91`)
}

// A bucket that only counts whole seconds and then forgets the rest starves a
// caller who asks every 300 ms.
func TestArticlePollingNeverStarves(t *testing.T) {
	for _, step := range []time.Duration{300 * time.Millisecond, time.Millisecond, 999_999_999} {
		var b Bucket
		taken, end := int64(0), noon+Instant(5*time.Minute)
		for now := noon; now <= end; now += Instant(step) {
			next, d, err := b.Take(now, 2, Rate{1, time.Second}, 1)
			if err != nil {
				t.Fatal(err)
			}
			b, taken = next, taken+granted(d)
		}
		if taken < 301 || taken > 302 { // two at once, then one a second until the last poll
			t.Errorf("polling every %v got %d in 5 minutes", step, taken)
		}
	}
}

// The bucket that explanations begin with: ten at once, then one every 6 s.
func TestArticleBurstThenSteady(t *testing.T) {
	runTimeline(t, `
		TB 10 1 6s
		at    call      allowed   remaining
		0s    TAKE 10   yes       0
		6s    TAKE 1    yes       0
		6s    TAKE 1    no        0
		60s   TAKE 9    yes       0
		66s   TAKE 1    yes       0`)
}

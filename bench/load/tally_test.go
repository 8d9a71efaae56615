package load

import (
	"testing"
	"time"
)

// TestPercentilesOfAKnownHistogram has one request of each 1, 2, ... 10000 us: the
// p-th percentile is p hundred.
func TestPercentilesOfAKnownHistogram(t *testing.T) {
	tally := newTally(0, time.Hour)
	for i := range 10_000 {
		tally.see(false)
		tally.settle(time.Second, time.Second+time.Duration(i+1)*time.Microsecond)
	}
	l := newLatency(tally.latencies)
	near(t, "p50", l.P50, 5000*time.Microsecond)
	near(t, "p90", l.P90, 9000*time.Microsecond)
	near(t, "p99", l.P99, 9900*time.Microsecond)
	near(t, "p99.9", l.P999, 9990*time.Microsecond)
	near(t, "p99.99", l.P9999, 9999*time.Microsecond)
	near(t, "max", l.Max, 10000*time.Microsecond)
	near(t, "mean", l.Mean, 5000500*time.Nanosecond)
}

func TestTallyCountsWhatIsMeasured(t *testing.T) {
	tally := newTally(time.Second, 2*time.Second)
	for _, due := range []time.Duration{0, time.Second - 1, time.Second, 2*time.Second - 1, 2 * time.Second} {
		tally.see(true)
		tally.see(false)
		tally.settle(due, due+ms)
		tally.miss(3, due, due+time.Minute*10) // longer than a histogram can hold
	}
	if tally.denied != 2 || tally.measured != 10 || tally.unserved != 6 || tally.answered.Load() != 10 {
		t.Errorf("%d denied, %d measured, %d unserved, %d answered", tally.denied, tally.measured, tally.unserved, tally.answered.Load())
	}
	if n := tally.latencies.TotalCount(); n != 10 {
		t.Errorf("%d latencies, want 10", n)
	}
	near(t, "the longest", micros(tally.latencies.Max()), 100*time.Second)
}

package load

import (
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// What a histogram can hold, in nanoseconds, to three significant digits. A
// latency beyond it counts as the longest.
const (
	shortestLatency = 100
	longestLatency  = int64(100 * time.Second)
	latencyDigits   = 3
)

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(shortestLatency, longestLatency, latencyDigits)
}

// tally is what one connection has seen. Its owner is the goroutine that reads
// the replies.
type tally struct {
	from, to  time.Duration // what was due in between is measured
	latencies *hdrhistogram.Histogram
	measured  uint64
	denied    uint64 // of those measured
	unserved  uint64 // due, but not answered when the run was given up

	fresh, freshDenied uint64 // seen, and not settled yet

	answered atomic.Uint64 // also before and after the measurement; anybody may look
}

func newTally(from, to time.Duration) *tally {
	return &tally{from: from, to: to, latencies: newHistogram()}
}

// see counts one reply.
func (t *tally) see(denied bool) {
	t.fresh++
	if denied {
		t.freshDenied++
	}
}

// settle says of the replies seen since the last time when they were due and when
// they came.
func (t *tally) settle(due, now time.Duration) {
	if t.fresh == 0 {
		return
	}
	t.answered.Add(t.fresh)
	if due >= t.from && due < t.to {
		t.denied += t.freshDenied
		t.record(t.fresh, now-due)
	}
	t.fresh, t.freshDenied = 0, 0
}

// miss counts n requests that were due and that nobody has answered by now. They
// have waited for this long at least.
func (t *tally) miss(n uint64, due, now time.Duration) {
	if due >= t.from && due < t.to {
		t.unserved += n
		t.record(n, now-due)
	}
}

func (t *tally) record(n uint64, latency time.Duration) {
	t.measured += n
	_ = t.latencies.RecordValues(min(int64(latency), longestLatency), int64(n)) // it is within the range
}

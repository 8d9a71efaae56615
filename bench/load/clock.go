package load

import (
	"context"
	"time"
)

// clock is the time of a run, counted from its beginning.
type clock interface {
	now() time.Duration
	// wait returns at the given time, or soon after ctx is done. One goroutine at a
	// time may wait.
	wait(ctx context.Context, until time.Duration)
	close()
}

// stopwatch is a clock that waits with the runtime's timers. They are up to a
// millisecond late when nothing else goes on: good enough for the beginning and
// the end of a measurement.
type stopwatch struct{ began time.Time }

func newStopwatch() *stopwatch { return &stopwatch{began: time.Now()} }

func (s *stopwatch) now() time.Duration { return time.Since(s.began) }

func (s *stopwatch) wait(ctx context.Context, until time.Duration) {
	left := until - s.now()
	if left <= 0 {
		return
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (s *stopwatch) close() {}

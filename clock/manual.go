package clock

import (
	"sync/atomic"
	"time"

	"github.com/limitstore/limitstore/limit"
)

// Manual is a clock that shows what it is told: for tests, for simulations, and for programs that use the limiters as a
// library with a time of their own. It starts no goroutine. It is safe for concurrent use; the zero value shows the
// Unix epoch.
type Manual struct {
	at atomic.Int64
}

// NewManual returns a clock that shows at.
func NewManual(at limit.Instant) *Manual {
	m := &Manual{}
	m.Set(at)
	return m
}

// Now is the instant last set.
func (m *Manual) Now() limit.Instant { return limit.Instant(m.at.Load()) }

// Set makes the clock show at, which may be earlier than what it shows: a Manual can play a clock that steps back.
func (m *Manual) Set(at limit.Instant) { m.at.Store(int64(at)) }

// Advance moves the clock by d, back if d is negative. Concurrent calls add up.
func (m *Manual) Advance(d time.Duration) { m.at.Add(int64(d)) }

package clock

import (
	"time"

	"github.com/limitstore/limitstore/limit"
)

// machine is the source that reads the clocks of the machine the program runs on.
type machine struct {
	origin time.Time // carries the monotonic clock's reading that mono counts from
}

func newMachine() machine { return machine{origin: time.Now()} }

func (m machine) mono() time.Duration { return time.Since(m.origin) }

// A reading whose parts were taken further apart than this is taken again, at most readAttempts times in all: the
// process was interrupted in between, and the wall clock would seem to be off by that.
const (
	readWithin   = 100 * time.Microsecond
	readAttempts = 3
)

// read takes the quickest of a few readings.
func (m machine) read() reading {
	best, took := m.readOnce()
	for attempt := 1; attempt < readAttempts && took > readWithin; attempt++ {
		if r, t := m.readOnce(); t < took {
			best, took = r, t
		}
	}
	return best
}

func (m machine) readOnce() (r reading, took time.Duration) {
	before := m.mono()
	now := time.Now()
	r = reading{mono: now.Sub(m.origin), wall: limit.Instant(now.UnixNano()), asleep: asleep()}
	return r, m.mono() - before
}

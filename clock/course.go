package clock

import (
	"time"

	"github.com/limitstore/limitstore/limit"
)

const (
	// WatchEvery is how often a [System] compares itself with the machine's wall clock and looks for a suspend.
	WatchEvery = time.Second

	// SlewReach is the greatest difference from the wall clock, either way, that a [System] works off. Beyond it the
	// System holds its course.
	SlewReach = 500 * time.Millisecond

	// SlewShare says how fast a difference is worked off: by one part in SlewShare of the time that passes. At 100 the
	// clock runs at most 1 % fast or slow, 10 ms in each second, and the whole of SlewReach takes 50 seconds.
	SlewShare = 100

	// tolerance is the difference that is left alone. The readings of two clocks are never quite simultaneous, and
	// a course that changed with every tremble of them would cost readers more than the precision is worth.
	tolerance = time.Millisecond
)

// reading is one look at the machine's clocks, all at the same moment.
type reading struct {
	mono   time.Duration // the monotonic clock, from an origin of the source's choice; stands still in a suspend
	wall   limit.Instant // the wall clock; may step either way
	asleep time.Duration // how long the machine has been suspended in all; 0 where that cannot be told
}

// course is the clock as a function of the monotonic clock: a straight line through (from, at), bent by at most one
// part in SlewShare until slew has been made good.
type course struct {
	from time.Duration
	at   limit.Instant
	slew time.Duration
}

// now is the time on c when the monotonic clock shows mono. It never decreases as mono grows; before c begins it is
// the time at which c begins.
func (c course) now(mono time.Duration) limit.Instant {
	run := max(mono-c.from, 0)
	return c.at + limit.Instant(run+c.slewed(run))
}

// slewed is the part of the slew that is made good after run.
func (c course) slewed(run time.Duration) time.Duration {
	share := run / SlewShare
	return min(max(c.slew, -share), share)
}

// toCome is the part of the slew that is still to be made good at mono.
func (c course) toCome(mono time.Duration) time.Duration {
	return c.slew - c.slewed(max(mono-c.from, 0))
}

// turned is the course that goes on from where c is at mono, a step further, with a slew of its own.
func (c course) turned(mono, step, slew time.Duration) course {
	return course{from: mono, at: c.now(mono) + limit.Instant(step), slew: slew}
}

// pilot decides the course, from readings alone.
type pilot struct {
	course course
	asleep time.Duration // of the suspended time, what the course contains
	held   time.Duration // wall minus clock as last reported while out of reach; 0 while within
}

func newPilot(r reading) pilot {
	return pilot{course: course{from: r.mono, at: r.wall}, asleep: r.asleep}
}

// news is what one reading changed; a zero field is no news.
type news struct {
	slept    time.Duration // the course was stepped forward by this
	slew     time.Duration // the course now makes this difference good
	held     time.Duration // the wall clock is this far off, out of reach
	returned bool          // the wall clock is within reach again
}

// observe returns the pilot after a reading.
func (p pilot) observe(r reading) (pilot, news) {
	var n news
	if slept := r.asleep - p.asleep; slept >= tolerance {
		p.course = p.course.turned(r.mono, slept, p.course.toCome(r.mono))
		p.asleep = r.asleep
		n.slept = slept
	}
	off := time.Duration(r.wall - p.course.now(r.mono))
	switch unplanned := off - p.course.toCome(r.mono); {
	case off.Abs() > SlewReach:
		p.hold(r.mono, off, &n)
		return p, n
	case unplanned.Abs() > tolerance:
		p.course = p.course.turned(r.mono, 0, off)
		n.slew = off
	}
	n.returned = p.held != 0
	p.held = 0
	return p, n
}

// hold gives up any slew, and reports off when it is new: the first time, and when it has moved by more than SlewReach
// since.
func (p *pilot) hold(mono, off time.Duration, n *news) {
	if p.course.toCome(mono) != 0 {
		p.course = p.course.turned(mono, 0, 0)
	}
	if p.held == 0 || (off-p.held).Abs() > SlewReach {
		p.held, n.held = off, off
	}
}

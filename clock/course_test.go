package clock

import (
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
	"pgregory.net/rapid"
)

const (
	ms     = time.Millisecond
	minute = time.Minute
	hour   = time.Hour

	epoch = limit.Instant(1_700_000_000_000_000_000)
)

// look is one reading of a timeline: at mono, the wall clock shows epoch + mono + wall, and now is what the clock must
// show then, as a difference from epoch + mono. news is what that reading must report.
type look struct {
	mono, wall, asleep time.Duration
	clock              time.Duration
	news               news
}

var timelines = map[string][]look{
	"in step": {
		{mono: 1 * time.Second},
		{mono: 2 * time.Second, wall: ms},
		{mono: 3 * time.Second, wall: -ms},
	},
	"400 ms ahead is made good in 40 s": {
		{mono: 10 * time.Second, wall: 400 * ms, news: news{slew: 400 * ms}},
		{mono: 11 * time.Second, wall: 400 * ms, clock: 10 * ms},
		{mono: 30 * time.Second, wall: 400 * ms, clock: 200 * ms},
		{mono: 50 * time.Second, wall: 400 * ms, clock: 400 * ms},
		{mono: 90 * time.Second, wall: 400 * ms, clock: 400 * ms},
	},
	"400 ms behind too, without going back": {
		{mono: 10 * time.Second, wall: -400 * ms, news: news{slew: -400 * ms}},
		{mono: 11 * time.Second, wall: -400 * ms, clock: -10 * ms},
		{mono: 50 * time.Second, wall: -400 * ms, clock: -400 * ms},
		{mono: 51 * time.Second, wall: -400 * ms, clock: -400 * ms},
	},
	"the wall clock turns while the course slews": {
		{mono: 10 * time.Second, wall: 400 * ms, news: news{slew: 400 * ms}},
		{mono: 20 * time.Second, wall: -100 * ms, clock: 100 * ms, news: news{slew: -200 * ms}},
		{mono: 30 * time.Second, wall: -100 * ms},
		{mono: 40 * time.Second, wall: -100 * ms, clock: -100 * ms},
	},
	"500 ms is within reach": {
		{mono: 10 * time.Second, wall: 500 * ms, news: news{slew: 500 * ms}},
		{mono: 60 * time.Second, wall: 500 * ms, clock: 500 * ms},
	},
	"beyond reach the course is held and said once": {
		{mono: 10 * time.Second, wall: 500*ms + 1, news: news{held: 500*ms + 1}},
		{mono: 11 * time.Second, wall: 500*ms + 1},
		{mono: 12 * time.Second, wall: 900 * ms},
		{mono: 13 * time.Second, wall: 1001 * ms, news: news{held: 1001 * ms}},
		{mono: 14 * time.Second, wall: -hour, news: news{held: -hour}},
		{mono: 15 * time.Second, wall: -hour},
	},
	"back within reach": {
		{mono: 10 * time.Second, wall: hour, news: news{held: hour}},
		{mono: 20 * time.Second, wall: 300 * ms, news: news{slew: 300 * ms, returned: true}},
		{mono: 50 * time.Second, wall: 300 * ms, clock: 300 * ms},
		{mono: 60 * time.Second, wall: hour, clock: 300 * ms, news: news{held: hour - 300*ms}},
		{mono: 61 * time.Second, wall: 300 * ms, clock: 300 * ms, news: news{returned: true}},
	},
	"a slew is given up when the wall clock goes out of reach": {
		{mono: 10 * time.Second, wall: 400 * ms, news: news{slew: 400 * ms}},
		{mono: 20 * time.Second, wall: hour, clock: 100 * ms, news: news{held: hour - 100*ms}},
		{mono: 90 * time.Second, wall: hour, clock: 100 * ms},
	},
	"a suspend is stepped over": {
		{mono: 10 * time.Second, wall: hour, asleep: hour, clock: hour, news: news{slept: hour}},
		{mono: 11 * time.Second, wall: hour, asleep: hour, clock: hour},
		{mono: 12 * time.Second, wall: hour + 5*ms, asleep: hour + 5*ms, clock: hour + 5*ms, news: news{slept: 5 * ms}},
	},
	"suspends too short to see add up": {
		{mono: 10 * time.Second, asleep: 400_000},
		{mono: 11 * time.Second, wall: 800_000, asleep: 800_000},
		{mono: 12 * time.Second, wall: 1_200_000, asleep: 1_200_000, clock: 1_200_000, news: news{slept: 1_200_000}},
	},
	"the suspend counter fails for a while": {
		{mono: 10 * time.Second, wall: hour, asleep: hour, clock: hour, news: news{slept: hour}},
		{mono: 11 * time.Second, wall: hour, asleep: 0, clock: hour},
		{mono: 12 * time.Second, wall: hour, asleep: hour, clock: hour},
	},
	"a suspend in the middle of a slew": {
		{mono: 10 * time.Second, wall: 400 * ms, news: news{slew: 400 * ms}},
		{mono: 20 * time.Second, wall: hour + 400*ms, asleep: hour, clock: hour + 100*ms, news: news{slept: hour}},
		{mono: 50 * time.Second, wall: hour + 400*ms, asleep: hour, clock: hour + 400*ms},
	},
	"woken with a wrong wall clock": {
		{mono: 10 * time.Second, wall: 3 * hour, asleep: hour, clock: hour, news: news{slept: hour, held: 2 * hour}},
		{mono: 11 * time.Second, wall: hour, asleep: hour, clock: hour, news: news{returned: true}},
	},
}

func TestTimelines(t *testing.T) {
	for name, timeline := range timelines {
		t.Run(name, func(t *testing.T) {
			p := newPilot(reading{wall: epoch})
			for i, l := range timeline {
				var got news
				p, got = p.observe(reading{mono: l.mono, wall: epoch + limit.Instant(l.mono+l.wall), asleep: l.asleep})
				if got != l.news {
					t.Errorf("reading %d: news %+v, want %+v", i, got, l.news)
				}
				if clock := time.Duration(p.course.now(l.mono)-epoch) - l.mono; clock != l.clock {
					t.Errorf("reading %d: the clock is off its start by %v, want %v", i, clock, l.clock)
				}
			}
		})
	}
}

func TestCourseDoesNotRunBeforeItBegins(t *testing.T) {
	c := course{from: minute, at: epoch, slew: -400 * ms}
	for _, mono := range []time.Duration{0, minute - 1, minute} {
		if got := c.now(mono); got != epoch {
			t.Errorf("now(%v) is %d after the start", mono, got-epoch)
		}
		if got := c.toCome(mono); got != -400*ms {
			t.Errorf("toCome(%v) is %v", mono, got)
		}
	}
}

// TestPilotKeepsItsPromises flies through random weather. Whatever the wall clock does, between two moments the clock
// moves by the time that passed, give or take one part in SlewShare, and by the time asleep.
func TestPilotKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := reading{wall: epoch}
		p := newPilot(r)
		step := rapid.OneOf(rapid.Int64Range(-600, 600), rapid.Int64Range(-1e7, 1e7))
		for range rapid.IntRange(1, 30).Draw(t, "looks") {
			last := p.course.now(r.mono)
			pass := time.Duration(rapid.Int64Range(0, int64(3*minute)).Draw(t, "pass"))
			r.mono += pass
			r.wall += limit.Instant(pass)
			moved(t, time.Duration(p.course.now(r.mono)-last), pass)

			slept := time.Duration(max(0, rapid.Int64Range(-1e6, 1e6).Draw(t, "slept"))) * ms
			r.asleep += slept
			r.wall += limit.Instant(slept)
			if rapid.Bool().Draw(t, "stepped") {
				r.wall += limit.Instant(step.Draw(t, "step") * int64(ms))
			}
			before := p.course.now(r.mono)
			p, _ = p.observe(r)
			if got := time.Duration(p.course.now(r.mono) - before); got != slept {
				t.Fatalf("a reading after %v asleep moved the clock by %v", slept, got)
			}
		}
		settles(t, p, r)
	})
}

func moved(t *rapid.T, by, pass time.Duration) {
	bend := pass/SlewShare + 1 // the slew counts whole nanoseconds from where the course began
	if by < 0 || by < pass-bend || by > pass+bend {
		t.Fatalf("the clock moved by %v while %v passed", by, pass)
	}
}

// settles says where the clock must be when the wall clock is left alone: on it if it was within reach, else exactly
// as far away as it was.
func settles(t *rapid.T, p pilot, r reading) {
	off := time.Duration(r.wall - p.course.now(r.mono))
	const long = SlewReach * SlewShare
	after := time.Duration(r.wall - p.course.now(r.mono+long) + limit.Instant(long))
	if off.Abs() <= SlewReach {
		if after.Abs() > tolerance {
			t.Fatalf("%v off the wall clock, and %v after a whole slew", off, after)
		}
	} else if after != off {
		t.Fatalf("%v off the wall clock, out of reach, and %v later on", off, after)
	}
}

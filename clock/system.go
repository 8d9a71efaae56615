// Package clock is where time enters the program: the only package that reads the machine's clocks. The program's main
// function makes one [System] and hands it to the shards, each of which asks it for the time once per batch of
// commands; everything below them takes time as an argument. A [Manual] stands in for it in tests and in programs that
// bring their own time.
//
// The package never decides anything by time: what has expired, and who may pass, is for its callers.
//
// # What an operator should know
//
// A System shows wall time as it was when the process started, carried on by the machine's monotonic clock. From then
// on, it never goes backwards, whatever is done to the wall clock. Once in [WatchEvery] it looks at the wall clock and
// the suspend counter:
//
//   - A difference from the wall clock of up to [SlewReach] (500 ms) is worked off slowly, running at most 1 % fast or
//     slow ([SlewShare]). This is what happens when NTP nudges the machine. Limits then refill at most 1 % faster or
//     slower for up to 50 s. Differences of a millisecond or less are left alone.
//   - A greater difference means that somebody set the clock. The System holds its course: it goes on counting real
//     seconds, limits and expiries in progress stay right, and it logs one warning with the size of the difference. It
//     logs again when the difference has moved by more than another 500 ms, and when it is back within reach and being
//     worked off. As long as it lasts, absolute times (EXPIREAT, TIME, the edges of fixed windows) are off by that
//     much. Set the wall clock right or, if it is right now and was wrong when the process started, restart the
//     process.
//   - After a suspend (a laptop's lid, a hibernated host) the monotonic clock has stood still. On Linux the time asleep
//     is known, as CLOCK_BOOTTIME less CLOCK_MONOTONIC, and the System steps forward by exactly that within a second of
//     waking. On other systems it cannot be told from somebody setting the clock, and the System holds its course. The
//     same goes for a virtual machine that was paused without its guest being told.
//
// Let NTP set the clock before the process starts (on systemd: After=time-sync.target), and use the same NTP servers
// for all nodes of a cluster.
package clock

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/limitstore/limitstore/limit"
)

// source is the machine's clocks. Both methods are safe for concurrent use and share one origin of the monotonic clock.
type source interface {
	mono() time.Duration // as cheap as the machine allows
	read() reading
}

// System is the time of this machine as limitstore counts it; the package comment says how it relates to wall time.
// It never goes backwards, for any number of goroutines together: a call that begins after another has returned
// gets no earlier instant. Make one with [NewSystem] and stop it with Close.
type System struct {
	source source
	log    *slog.Logger

	// course is what Now computes with; nil during the moment in which the watch replaces it. See turn.
	course atomic.Pointer[course]

	mu    sync.Mutex // held by the watch while it decides
	pilot pilot      // guarded by mu

	stop chan struct{}
	done chan struct{}
	once sync.Once
}

// NewSystem returns a clock that shows the machine's wall time now, and starts its watch. It reports suspends and steps
// of the wall clock to log, and slews at debug level; nil reports nothing.
func NewSystem(log *slog.Logger) *System {
	s := newSystem(newMachine(), log)
	ticker := time.NewTicker(WatchEvery)
	go func() {
		defer ticker.Stop()
		s.watch(ticker.C)
	}()
	return s
}

// newSystem returns a clock whose watch is not running.
func newSystem(src source, log *slog.Logger) *System {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &System{
		source: src,
		log:    log,
		pilot:  newPilot(src.read()),
		stop:   make(chan struct{}),
		done:   make(chan struct{}),
	}
	s.publish()
	return s
}

// Now is the current time. It costs one reading of the monotonic clock, takes no lock and, on the platforms whose
// kernel offers that, makes no system call. It may be called at any time by any goroutine, after Close too.
func (s *System) Now() limit.Instant {
	if c := s.course.Load(); c != nil {
		now := c.now(s.source.mono())
		if s.course.Load() == c {
			return now
		}
	}
	// The course is being replaced: wait for the new one. It cannot be replaced again while mu is held here.
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pilot.course.now(s.source.mono())
}

// Close stops the watch and waits for it to end. The clock goes on along its last course. Close may be called again.
func (s *System) Close() {
	s.once.Do(func() { close(s.stop) })
	<-s.done
}

func (s *System) watch(ticks <-chan time.Time) {
	defer close(s.done)
	for {
		select {
		case <-s.stop:
			return
		case <-ticks:
			s.look()
		}
	}
}

// look takes a reading and follows it.
func (s *System) look() {
	s.report(s.follow()) // without mu: a reader that waits for it must not wait for the log
}

func (s *System) follow() news {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, n := s.pilot.observe(s.source.read())
	if p.course != s.pilot.course {
		p, n = s.turn()
	}
	s.pilot = p
	s.publish()
	return n
}

// turn decides again, from a reading that no reader is ahead of. A course that is slower than the old one meets it only
// in the point where it begins: had anybody got a later instant from the old one, time would go backwards for them. So
// the old course is withdrawn first. A reader who had not finished by then finds it gone and waits; all others read the
// monotonic clock before the reading taken here.
func (s *System) turn() (pilot, news) {
	s.course.Store(nil)
	return s.pilot.observe(s.source.read())
}

// publish lets readers have the pilot's course. The pointer they hold changes only when the course does.
func (s *System) publish() {
	if c := s.course.Load(); c == nil || *c != s.pilot.course {
		c := s.pilot.course
		s.course.Store(&c)
	}
}

func (s *System) report(n news) {
	if n.slept != 0 {
		s.log.Info("clock stepped forward after a suspend", "slept", n.slept)
	}
	if n.held != 0 {
		s.log.Warn("wall clock is out of reach, clock holds its course", "wall_minus_clock", n.held, "reach", SlewReach)
	}
	if n.returned {
		s.log.Info("wall clock is within reach again", "reach", SlewReach)
	}
	if n.slew != 0 {
		s.log.Debug("clock slews towards the wall clock", "wall_minus_clock", n.slew)
	}
}

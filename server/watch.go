package server

import (
	"math"
	"runtime/metrics"
	"time"
)

// visit is the time between two visits of the watch to every connection.
const visit = time.Second

// A subscriber may be behind by a part of its buffer for so many visits. As in
// Redis, that is a quarter and a minute.
const (
	softPart   = 4
	softVisits = 60
)

// slimAfter is how many visits a connection may idle with large buffers.
const slimAfter = 10

// watch is what the server knows from visiting its connections. Server.mu guards
// it.
type watch struct {
	visits uint64 // so far: the server's own clock, in visits
	gone   totals // of connections that have ended
	before totals // at the last visit
	rate   totals // between the last two visits
	peak   int64  // most memory of keys seen, in bytes
}

// totals are the pulses of connections summed up.
type totals struct{ in, out, commands uint64 }

func (t *totals) add(other totals) {
	t.in += other.in
	t.out += other.out
	t.commands += other.commands
}

func (t totals) minus(other totals) totals {
	return totals{t.in - other.in, t.out - other.out, t.commands - other.commands}
}

func (p *pulse) read() totals {
	return totals{in: p.in.Load(), out: p.out.Load(), commands: p.done.Load() >> idBits}
}

// sighting is a connection as the watch saw it.
type sighting struct {
	born    uint64 // visits of the watch when it came
	totals  totals
	writing bool
	idle    uint64 // visits since when nothing has moved
	over    uint64 // visits since when too much waits for a subscriber
}

// keepWatch visits all connections once a second until Shutdown.
func (s *Server) keepWatch() {
	defer s.running.Done()
	ticks := s.ticks
	if ticks == nil {
		ticker := time.NewTicker(visit)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-s.stop:
			return
		case <-ticks:
			s.look()
		}
	}
}

// look is one visit to every connection. Those that have stood still for too long
// are cut off.
func (s *Server) look() {
	for c, why := range s.visitAll(s.usedMemory()) {
		if why == byWriteTimeout {
			c.notice(noticeSlow, "connection closed: it does not read its replies", "after", s.cfg.WriteTimeout)
		}
		c.cut(why)
	}
}

// visitAll brings the watch up to date and returns the connections to be cut.
func (s *Server) visitAll(used int64) map[*conn]reason {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch.visits++
	s.watch.peak = max(s.watch.peak, used)
	s.notices.turn(s.watch.visits)
	var stuck map[*conn]reason
	sum := s.watch.gone
	for _, c := range s.conns {
		if why := s.lookAt(c); why != open {
			if stuck == nil {
				stuck = map[*conn]reason{}
			}
			stuck[c] = why
		}
		sum.add(c.seen.totals)
	}
	s.watch.rate = sum.minus(s.watch.before)
	s.watch.before = sum
	return stuck
}

// lookAt is why c must be cut: it has stood still for too long, with replies to
// be taken or without anything to do.
func (s *Server) lookAt(c *conn) reason {
	l := c.listener()
	if l.waiting <= s.cfg.SubscriberBuffer/softPart {
		c.seen.over = 0
	} else if c.seen.over++; c.seen.over > softVisits {
		return bySlowSubscriber
	}
	now := c.pulse.read()
	writing := c.pulse.due.Load() > now.out
	if now != c.seen.totals || writing != c.seen.writing {
		c.seen.totals, c.seen.writing, c.seen.idle = now, writing, 0
		return open
	}
	c.seen.idle++
	if c.seen.idle >= slimAfter && c.wide.Load() {
		c.slimDue.Store(true)
		_ = c.raw.SetReadDeadline(longAgo()) // see nudged
	} else if c.seen.idle == 1 && c.trusted.Load() {
		_ = c.raw.SetReadDeadline(longAgo()) // it may have ended unseen, see listen
	}
	switch {
	case writing && c.seen.idle >= visitsIn(s.cfg.WriteTimeout):
		return byWriteTimeout
	case !writing && !l.subscribed() && !l.monitor && s.intermission.current.Load() == nil && s.cfg.IdleTimeout > 0 && c.seen.idle >= visitsIn(s.cfg.IdleTimeout):
		return byIdleTimeout
	}
	return open
}

// visitsIn is how many visits a timeout lasts, rounded up.
func visitsIn(timeout time.Duration) uint64 {
	return uint64((timeout + visit - 1) / visit)
}

// sum is what all connections have done so far, and how many there are.
func (s *Server) sum() (done totals, connections int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done = s.watch.gone
	for _, c := range s.conns {
		done.add(c.pulse.read())
	}
	return done, len(s.conns)
}

// watching is how many connections watch keys.
func (s *Server) watching() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		if c.pulse.watches.Load() > 0 {
			n++
		}
	}
	return n
}

// watched is the watch as it stands.
func (s *Server) watched() watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watch
}

// heapInUse is the memory of live and not yet swept objects, in bytes.
func heapInUse() uint64 {
	sample := [1]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample[:])
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return math.MaxUint64
	}
	return sample[0].Value.Uint64()
}

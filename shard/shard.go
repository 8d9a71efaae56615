// Package shard keeps the records of limitstore: one goroutine owns one slice of
// the keyspace and runs batches of work on it, one after another, without locks.
//
// The engine calls it. It sends a shard its batches (Submit, Ticket), and what
// a batch runs uses the Keyspace: databases, Lookup, and a few primitives that
// change a record. Work over several shards takes the Door. Replication will
// ship the effects that the primitives write and replay them with Apply; scripts and
// lost reigns are taken back with Undo.
//
// The package never reads the machine's clock (its Config brings one), opens no
// file or socket, and knows nothing of commands, RESP or Raft.
//
// # Time
//
// A shard reads its clock once for each drain of its inbox, after it has taken
// the batches out. The time it passes on never decreases. Timers of the runtime only wake
// an idle shard to collect garbage; what has expired is for the clock to say.
//
// # Memory
//
// Records are bytes in chunks of 64 KiB without Go pointers, found through an
// index with one Go pointer for a thousand keys, linked into a timer wheel by number. A token bucket with
// a key of 20 bytes takes 72 bytes in its chunk and 14 in the index, at any number of keys.
// Hashes, sets, sorted sets and lists need pointers and live in a side store.
package shard

import (
	"context"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/limitstore/limitstore/limit"
)

// Limits of a shard.
const (
	// DefaultInbox is how many batches wait in an inbox before Submit blocks.
	DefaultInbox = 1024
	// DefaultExpirations is the most records that are collected between two
	// drains.
	DefaultExpirations = 256
	// maxDrain is the most batches run under one reading of the clock.
	maxDrain = 64
	// longestNap bounds how long an idle shard sleeps with an expiry ahead.
	longestNap = time.Hour
)

// Clock tells the time. The clock package has two; Now may be called from
// several goroutines.
type Clock interface{ Now() limit.Instant }

// Config is what a shard is made of.
type Config struct {
	Index       int   // the shard's number, its label in profiles
	Clock       Clock // required
	Seed        Seed  // of the index hash
	Inbox       int   // batches; 0 is DefaultInbox
	Expirations int   // per drain; 0 is DefaultExpirations
	Memory      int64 // bytes beyond which MakeRoom gives up limiter state; 0 none
}

func (c Config) withDefaults() Config {
	if c.Inbox == 0 {
		c.Inbox = DefaultInbox
	}
	if c.Expirations == 0 {
		c.Expirations = DefaultExpirations
	}
	return c
}

// Shard is a goroutine and the keyspace it owns. Its methods are safe for
// concurrent use.
type Shard struct {
	inbox    inbox
	keyspace *Keyspace
	timer    *time.Timer
	armed    int64 // the Unix ms for which the timer is set; 0 when it is not; part of the keyspace's hold
	stopped  chan struct{}
}

// New starts a shard. Close stops it.
func New(cfg Config) *Shard {
	cfg = cfg.withDefaults()
	s := &Shard{keyspace: NewKeyspace(cfg), stopped: make(chan struct{})}
	s.inbox.init(cfg.Inbox)
	s.timer = time.AfterFunc(longestNap, s.inbox.wake)
	s.timer.Stop()
	labels := pprof.Labels("shard", strconv.Itoa(cfg.Index))
	go pprof.Do(context.Background(), labels, func(context.Context) { s.run() })
	return s
}

// Submit queues w and returns true. While the inbox is full it waits: that is
// what slows senders down to what the shard can do. t, unless nil, is told when w
// has run. After Close w does not run, t is told at once, and Submit returns false.
func (s *Shard) Submit(w Work, t *Ticket) bool {
	if s.inbox.put(parcel{w, t}) {
		return true
	}
	t.done()
	return false
}

// Serve runs w at once, on the caller's goroutine, when the shard stands idle, and
// submits it otherwise. Like Submit it tells t when w has run. A hand-over to another
// goroutine and back costs more than most batches: an idle shard stands, and whoever
// comes first may take hold of it.
//
// Work that may block is not for Serve, and a panic in w ends the process.
func (s *Shard) Serve(w Work, t *Ticket) bool {
	if !s.inbox.hold() {
		return s.Submit(w, t)
	}
	s.keyspace.Tick()
	finish(func() { w.Run(s.keyspace) })
	s.tidy(false)
	s.inbox.release()
	t.done()
	return true
}

// Waiting is the number of batches in the inbox: a figure for an operator, old
// when it arrives.
func (s *Shard) Waiting() int { return s.inbox.length() }

// task is administrative work.
type task func(*Keyspace)

func (t task) Run(ks *Keyspace) { t(ks) }

// Do runs fn on the shard's goroutine and waits for it. It must not be called
// from there. After Close it returns false and fn does not run.
func (s *Shard) Do(fn func(*Keyspace)) bool {
	var t Ticket
	t.Add(1)
	ok := s.Submit(task(fn), &t)
	t.Wait()
	return ok
}

// Close runs what is queued and stops the shard. Later calls of Submit and Do
// are refused. It must not be called from the shard's goroutine.
func (s *Shard) Close() {
	s.inbox.close()
	<-s.stopped
}

// run is the shard's goroutine.
func (s *Shard) run() {
	defer close(s.stopped)
	defer s.timer.Stop()
	var drain [maxDrain]parcel
	for {
		n, alarm, open := s.inbox.take(drain[:])
		if !open {
			return
		}
		if alarm {
			s.armed = 0
		}
		if n == 0 && !alarm {
			<-s.inbox.bell
			continue
		}
		// The clock is read after the batches were taken: none runs at a time before
		// it was sent.
		s.keyspace.Tick()
		for i := range drain[:n] {
			drain[i].work.Run(s.keyspace)
			drain[i].ticket.done()
			drain[i] = parcel{}
		}
		s.tidy(n == 0)
	}
}

// While there is work, as many expirations as a part of the most come between two
// rounds of it; when there is none, the most, and then the shard stands for a
// moment. A goroutine that went on without a pause would keep a processor from
// those who read what clients send: the runtime looks for that when it has nothing
// else to do.
const (
	busyPart = 8
	rest     = 250 * time.Microsecond
	atOnce   = 1 // for armed: the timer is set for garbage that is left
)

// tidy collects garbage, as much as there may be between two rounds of work, or as
// an idle shard may at once. When some is left the timer is set for a moment later,
// otherwise for when the wheels may have something. A timer that goes off too early
// costs one look; setting it costs more than that, so it is only ever moved to an
// earlier time.
func (s *Shard) tidy(idle bool) {
	most := s.keyspace.expirations
	if !idle {
		most = max(1, most/busyPart)
	}
	if _, more := s.keyspace.collect(most); more {
		if s.armed != atOnce {
			s.timer.Reset(rest)
			s.armed = atOnce
		}
		return
	}
	when, ok := s.keyspace.nextExpiry()
	if ok && (s.armed == 0 || when < s.armed) {
		s.timer.Reset(nap(s.keyspace.millis, when))
		s.armed = max(when, atOnce+1)
	}
}

// nap is the time from one Unix ms to another, within what a timer is set to.
func nap(from, to int64) time.Duration {
	if to <= from {
		return time.Millisecond
	}
	return time.Duration(min(to-from, millis(longestNap))) * time.Millisecond
}

package server

import (
	"strings"
	"testing"
	"time"
)

// Bounds for what an idle connection holds of memory that Go counts, its
// goroutine's stack included; the kernel's socket comes on top.
const (
	freshBytes  = 16 << 10 // it has said nothing
	servedBytes = 24 << 10 // it has been served small commands
	spentBytes  = 24 << 10 // it has been served a large pipeline, some time ago
)

// TestIdleConnectionsAreSmall opens a thousand and measures, in three states.
func TestIdleConnectionsAreSmall(t *testing.T) {
	const many = 1000
	r := newRig(t)
	r.call().do("PING")
	before := memoryHeld()
	callers := make([]*caller, many)
	for i := range callers {
		callers[i] = r.call()
	}
	eventually(t, "all are accepted", func() bool { _, n := r.sum(); return n == many+1 })
	fresh := (memoryHeld() - before) / many
	small := request("HELLO", "3", "SETNAME", "gateway-1") + request("TB.TAKE", "user:1", "10", "1", "1s") + request("TB.TAKE", "user:2", "10", "1", "1s")
	for _, c := range callers {
		c.send(small)
		c.replies(3)
	}
	served := (memoryHeld() - before) / many
	large := strings.Repeat(request("TB.TAKE", "user:1", "10", "1", "1s", "FULL"), 300)
	for _, c := range callers {
		c.send(large)
		c.replies(300)
	}
	eventually(t, "all have let go", r.slimmed)
	spent := (memoryHeld() - before) / many
	// The callers are in this process too: about 5 KiB each are theirs.
	t.Logf("bytes per idle connection, the caller's side included: fresh %d, served %d, after 300 at once %d", fresh, served, spent)
	if fresh > freshBytes || served > servedBytes || spent > spentBytes {
		t.Errorf("an idle connection holds %d, %d, %d bytes; at most %d, %d, %d", fresh, served, spent, freshBytes, servedBytes, spentBytes)
	}
}

// slimmed visits all connections once more and says whether every one has let go
// of its large buffers. One that was still at work on an earlier visit begins to
// idle anew, so there is no number of visits that is always enough.
func (r *rig) slimmed() bool {
	r.look()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		if c.wide.Load() {
			return false
		}
	}
	return true
}

// TestSlimming leaves a connection what it was: in mid-command, selected, named,
// in its protocol; and Shutdown finds it asleep.
func TestSlimming(t *testing.T) {
	r := newRig(t, func(s *setup) { s.Password = "secret" })
	c := r.call()
	c.send(request("HELLO", "3", "AUTH", "default", "secret", "SETNAME", "me") + request("SELECT", "2") + request("SET", "a", strings.Repeat("x", wideBytes)))
	c.replies(3)
	arrived := r.census(r.engine.Each).totals.in
	half := request("GET", "nobody")
	for at := range half { // each time with more of a command in the buffer
		c.send(half[at : at+1])
		eventually(t, "the byte arrives", func() bool { done, _ := r.sum(); return done.in == arrived+uint64(at)+1 })
		eventually(t, "it has let go", r.slimmed)
		r.widenAll()
	}
	if got := c.reply() + c.do("STRLEN a") + c.do("CLIENT GETNAME"); got != "_\r\n:2048\r\n$2\r\nme\r\n" {
		t.Errorf("got %q", got)
	}
	if lines := r.log.lines("level="); len(lines) != 0 {
		t.Errorf("logged %q", lines)
	}
}

// widenAll lets the watch think that all have had a large pipeline.
func (r *rig) widenAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		c.wide.Store(true)
	}
}

// TestTooManyClients turns one away and takes the next when there is room.
func TestTooManyClients(t *testing.T) {
	r := newRig(t, func(s *setup) { s.MaxClients = 2 })
	first, second := r.call(), r.call()
	first.do("PING")
	second.do("PING")
	if got := r.call().rest(); got != "-ERR max number of clients reached\r\n" {
		t.Errorf("the third is told %q", got)
	}
	if got := first.do("PING"); got != "+PONG\r\n" {
		t.Errorf("the first is told %q", got)
	}
	second.send("QUIT\r\n")
	second.rest()
	if got := r.call().do("PING"); got != "+PONG\r\n" {
		t.Errorf("after one has left, the next is told %q", got)
	}
	if n := r.counts.refused.Load(); n != 1 {
		t.Errorf("%d were refused", n)
	}
}

// TestIdleTimeout closes who says nothing, and nobody else.
func TestIdleTimeout(t *testing.T) {
	r := newRig(t, func(s *setup) { s.IdleTimeout = 2500 * time.Millisecond }) // three visits
	quiet, busy, slow := r.call(), r.call(), r.call()
	for _, c := range []*caller{quiet, busy, slow} {
		c.do("PING")
	}
	slow.send("*2\r\n$4\r\nECHO\r\n$10\r\n") // a byte at each visit from now on
	for i := range 6 {
		before, _ := r.sum()
		slow.send(string(rune('a' + i)))
		eventually(t, "the byte arrives", func() bool { now, _ := r.sum(); return now.in > before.in })
		busy.do("PING")
		r.visits(1)
	}
	if got := quiet.rest(); got != "" {
		t.Errorf("the quiet one is told %q", got)
	}
	slow.send("ghij\r\n")
	if got := slow.reply(); got != "$10\r\nabcdefghij\r\n" {
		t.Errorf("the slow one is told %q", got)
	}
	if got := busy.do("PING"); got != "+PONG\r\n" {
		t.Errorf("the busy one is told %q", got)
	}
	if n := r.counts.ended[byIdleTimeout].Load(); n != 1 {
		t.Errorf("%d ended by the idle timeout", n)
	}
}

// TestIdleTimeoutIsNotEarly counts the visits.
func TestIdleTimeoutIsNotEarly(t *testing.T) {
	r := newRig(t, func(s *setup) { s.IdleTimeout = 3 * time.Second })
	c := r.call()
	c.do("PING")
	r.settled()
	r.visits(3) // the first sees it new, two more have passed since
	if got := c.do("PING"); got != "+PONG\r\n" {
		t.Errorf("after two seconds it is told %q", got)
	}
	r.settled()
	r.visits(4)
	if got := c.rest(); got != "" {
		t.Errorf("after three seconds it is told %q", got)
	}
}

// TestNoIdleTimeout is the default.
func TestNoIdleTimeout(t *testing.T) {
	r := newRig(t)
	c := r.call()
	c.do("PING")
	r.settled()
	r.visits(100_000)
	if got := c.do("PING"); got != "+PONG\r\n" {
		t.Errorf("after a day it is told %q", got)
	}
}

// TestTheWatchTicks moves it as the ticker does.
func TestTheWatchTicks(t *testing.T) {
	r := newRig(t)
	for range 3 {
		r.ticks <- time.Time{}
	}
	eventually(t, "three visits", func() bool { return r.watched().visits == 3 })
}

// TestRates are what happened between two visits.
func TestRates(t *testing.T) {
	r := newRig(t)
	c := r.call()
	c.do("PING")
	r.settled()
	r.visits(1)
	asked := request("PING")
	for range 5 {
		c.do("PING")
	}
	r.settled()
	r.visits(1)
	if got, want := r.watched().rate, (totals{in: uint64(5 * len(asked)), out: 5 * 7, commands: 5}); got != want {
		t.Errorf("rates %+v, want %+v", got, want)
	}
	c.send("QUIT\r\n")
	c.rest()
	r.visits(1) // what those did that have left is not forgotten
	if got := r.watched().rate; got.commands != 1 {
		t.Errorf("rates %+v after one more command", got)
	}
}

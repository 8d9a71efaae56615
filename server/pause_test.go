package server

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestPauseHoldsWrites and what publishes, answers what came before them in the
// pipeline, and lets reads and operators through.
func TestPauseHoldsWrites(t *testing.T) {
	r := newRig(t)
	operator, c, other := r.call(), r.call(), r.call()
	if got := operator.do("CLIENT PAUSE 3600000 WRITE"); got != "+OK\r\n" {
		t.Fatal(got)
	}
	c.send(request("GET", "a") + request("SET", "a", "1") + request("GET", "a"))
	if got := c.reply(); got != "$-1\r\n" {
		t.Fatalf("GET before the write answers %q", got)
	}
	other.send(request("PING") + request("PUBLISH", "a", "x"))
	if got := other.reply(); got != "+PONG\r\n" {
		t.Fatalf("PING answers %q", got)
	}
	for _, ask := range []string{"GET a", "DBSIZE", "SUBSCRIBE a", "UNSUBSCRIBE a", "PUBSUB NUMPAT"} {
		if got := operator.do(ask); strings.Contains(got, "1\r\n1") || got[0] == '-' {
			t.Errorf("%s answers %q", ask, got)
		}
	}
	if got := operator.do("CLIENT UNPAUSE"); got != "+OK\r\n" {
		t.Error(got)
	}
	if got := c.replies(2) + other.reply(); got != "+OK\r\n$1\r\n1\r\n:0\r\n" {
		t.Errorf("after the pause: %q", got)
	}
	if n := r.attention.Load(); n != 0 {
		t.Errorf("commands are still attended to: %d", n)
	}
}

// TestPauseHoldsTransactions that write, not those that read, whenever they began.
func TestPauseHoldsTransactions(t *testing.T) {
	r := newRig(t)
	operator, reader, writer := r.call(), r.call(), r.call()
	reader.send(request("MULTI") + request("GET", "a"))
	reader.replies(2)
	writer.send(request("MULTI") + request("SET", "a", "1"))
	writer.replies(2)
	operator.do("CLIENT PAUSE 3600000 WRITE")
	writer.send(request("EXEC"))
	if got := reader.do("EXEC"); got != "*1\r\n$-1\r\n" {
		t.Errorf("a transaction that reads answers %q", got)
	}
	eventually(t, "the EXEC has arrived", func() bool {
		done, _ := r.sum()
		return done.in >= uint64(2*len(request("MULTI")+request("EXEC"))+len(request("GET", "a")+request("SET", "a", "1")))
	})
	if got := operator.do("GET a"); got != "$-1\r\n" {
		t.Errorf("GET a: %q", got)
	}
	operator.do("CLIENT UNPAUSE")
	if got := writer.reply(); got != "*1\r\n+OK\r\n" {
		t.Errorf("a transaction that writes answers %q", got)
	}
}

// TestPauseOfAll holds everything but operators' commands, which can end it.
func TestPauseOfAll(t *testing.T) {
	r := newRig(t)
	operator, c := r.call(), r.call()
	operator.do("CLIENT PAUSE 3600000")
	c.send(request("CLIENT", "LIST") + request("PING"))
	if got := c.reply(); !strings.HasPrefix(got, "$") {
		t.Fatalf("CLIENT LIST answers %q", got)
	}
	operator.send(request("CLIENT", "UNPAUSE"))
	if got := operator.reply() + c.reply(); got != "+OK\r\n+PONG\r\n" {
		t.Errorf("got %q", got)
	}
}

// TestPauseEnds by itself.
func TestPauseEnds(t *testing.T) {
	r := newRig(t)
	c := r.call()
	c.send(request("CLIENT", "PAUSE", "1") + request("PING"))
	if got := c.replies(2); got != "+OK\r\n+PONG\r\n" {
		t.Errorf("got %q", got)
	}
	eventually(t, "nothing is attended to", func() bool { return r.attention.Load() == 0 })
}

// TestPauseGrows: a second one neither ends the first nor lets more through, as in
// redis-server 7.0.15.
func TestPauseGrows(t *testing.T) {
	s := newRig(t).Server
	s.pause(time.Hour, false)
	first := s.intermission.current.Load()
	s.pause(time.Minute, true)
	second := s.intermission.current.Load()
	if second == first || second.writes || second.until != first.until {
		t.Errorf("first %+v, then %+v", first, second)
	}
	s.endPause(first) // its timer was late
	if s.intermission.current.Load() != second || s.attention.Load() != 1 {
		t.Error("the first pause ended the second")
	}
	s.endPause(second)
	if s.intermission.current.Load() != nil || s.attention.Load() != 0 {
		t.Error("the pause does not end")
	}
}

// TestPauseAndIdle does not close those who wait.
func TestPauseAndIdle(t *testing.T) {
	r := newRig(t, func(s *setup) { s.IdleTimeout = 2 * time.Second })
	c := r.call()
	c.do("PING")
	r.pause(time.Hour, false)
	c.send("PING\r\n")
	r.visits(10)
	r.endPause(r.intermission.current.Load())
	if got := c.reply(); got != "+PONG\r\n" {
		t.Errorf("got %q", got)
	}
}

// TestKilledWhilePaused does not run what waited.
func TestKilledWhilePaused(t *testing.T) {
	r := newRig(t)
	operator, c := r.call(), r.call()
	operator.do("CLIENT PAUSE 3600000 WRITE")
	c.send(request("PING") + request("SET", "a", "1"))
	c.reply()
	if got := operator.do("CLIENT KILL TYPE normal"); got != ":1\r\n" {
		t.Fatalf("CLIENT KILL answers %q", got)
	}
	operator.do("CLIENT UNPAUSE")
	eventually(t, "it has gone", func() bool { _, n := r.sum(); return n == 1 })
	if got := operator.do("GET a"); got != "$-1\r\n" {
		t.Errorf("GET a: %q", got)
	}
}

// TestShutdownEndsAPause lets what waits run.
func TestShutdownEndsAPause(t *testing.T) {
	r := newRig(t)
	c := r.call()
	c.send(request("CLIENT", "PAUSE", "3600000") + request("PING"))
	if got := c.reply(); got != "+OK\r\n" {
		t.Fatal(got)
	}
	if err := r.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if got := c.rest(); got != "+PONG\r\n" {
		t.Errorf("got %q", got)
	}
	r.endPause(r.intermission.current.Load())
}

// TestPauseIsBounded to an hour.
func TestPauseIsBounded(t *testing.T) {
	c := newRig(t).call()
	if got := c.do("CLIENT PAUSE 3600001"); got != "-ERR timeout is longer than 3600000 ms\r\n" {
		t.Errorf("got %q", got)
	}
	if got := c.do("PING"); got != "+PONG\r\n" {
		t.Errorf("got %q", got)
	}
}

// TestKillByAge closes those who have been here long enough.
func TestKillByAge(t *testing.T) {
	r := newRig(t)
	old, c := r.call(), (*caller)(nil)
	old.do("PING")
	r.visits(5)
	c = r.call()
	for _, step := range []struct{ ask, want string }{
		{"CLIENT KILL MAXAGE 0", "-ERR maxage is not an integer or out of range\r\n"}, {"CLIENT KILL MAXAGE x", "-ERR maxage is not an integer or out of range\r\n"},
		{"CLIENT KILL MAXAGE 6", ":0\r\n"}, {"CLIENT KILL MAXAGE 5", ":1\r\n"},
	} {
		if got := c.do(step.ask); got != step.want {
			t.Errorf("%s: %q, want %q", step.ask, got, step.want)
		}
	}
	if got := old.rest(); got != "" {
		t.Errorf("it is told %q", got)
	}
}

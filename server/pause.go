package server

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/limitstore/limitstore/engine"
)

// pauseCommands make clients wait. They are subcommands of CLIENT.
func pauseCommands() []engine.Command {
	flags := engine.NoScript | engine.Loading | engine.Stale | engine.Admin
	return []engine.Command{{
		Name: "PAUSE", Group: engine.Connection, Since: since, Summary: "Makes the commands of all clients wait.", Complexity: "O(1)", Flags: flags, Scope: engine.Here,
		Args: []engine.Arg{
			{Name: "timeout", Type: engine.Integer},
			{Name: "mode", Type: engine.OneOf, Optional: true, Args: words("WRITE", "ALL")},
		},
		Run: of((*conn).pause), Reply: "OK", Examples: []engine.Example{{In: "CLIENT PAUSE 100 WRITE", Out: "OK"}, {In: "CLIENT UNPAUSE", Out: "OK"}},
		Notes: "The timeout is in milliseconds, an hour at most. WRITE makes only commands wait that may change something or publish. Operators' commands never wait, " +
			"so that CLIENT UNPAUSE can end what ALL began; in Redis they wait too. Messages still reach subscribers, and keys still expire.",
	}, {
		Name: "UNPAUSE", Group: engine.Connection, Since: since, Summary: "Lets the commands go on that CLIENT PAUSE made wait.", Complexity: "O(N) with N the clients that wait", Flags: flags, Scope: engine.Here,
		Run: of((*conn).unpause), Reply: "OK", Examples: []engine.Example{{In: "CLIENT UNPAUSE", Out: "OK"}},
	}}
}

// mostPause bounds CLIENT PAUSE.
const mostPause = time.Hour

// pause is one that is in force. It is replaced, not changed.
type pause struct {
	writes bool // only commands that may change something wait
	until  time.Time
	end    *time.Timer
	over   chan struct{} // closed when it is no longer in force
}

// holds says whether the command has to wait.
func (p *pause) holds(row *engine.Command, s *engine.Session) bool {
	switch {
	case row.Flags&engine.Admin != 0:
		return false
	case !p.writes, row.Flags&(engine.Write|engine.MayReplicate) != 0:
		return true
	}
	return row.Scope == engine.OnQueue && s.Changes()
}

// intermission is the pause in force, if there is one.
type intermission struct {
	mu      sync.Mutex // of those who change it
	current atomic.Pointer[pause]
}

// pause is CLIENT PAUSE. As in Redis, a pause in force grows and never shrinks.
func (c *conn) pause(call *engine.Call) {
	args := call.Args[2:]
	ms, ok := engine.Int(args[0])
	writes := len(args) == 2 && engine.EqualFold(args[1], "WRITE")
	switch {
	case len(args) > 2:
		failWords(call)
	case len(args) == 2 && !writes && !engine.EqualFold(args[1], "ALL"):
		fail(call, failPauseMode)
	case !ok:
		fail(call, failTimeout)
	case ms < 0:
		fail(call, failTimeoutNegative)
	case ms > mostPause.Milliseconds():
		fail(call, failTimeoutLong, mostPause.Milliseconds())
	default:
		c.server.pause(time.Duration(ms)*time.Millisecond, writes)
		call.Out.OK()
	}
}

// unpause is CLIENT UNPAUSE.
func (c *conn) unpause(call *engine.Call) {
	c.server.endPause(c.server.intermission.current.Load())
	call.Out.OK()
}

// pause makes commands wait for d.
func (s *Server) pause(d time.Duration, writes bool) {
	in := &s.intermission
	in.mu.Lock()
	defer in.mu.Unlock()
	next := &pause{writes: writes, until: time.Now().Add(d), over: make(chan struct{})}
	if last := in.current.Load(); last != nil {
		next.writes = writes && last.writes
		if last.until.After(next.until) {
			next.until = last.until
		}
		last.end.Stop()
		defer close(last.over) // who waits looks again
	} else {
		s.attention.Add(1)
	}
	in.current.Store(next)
	next.end = time.AfterFunc(time.Until(next.until), func() { s.endPause(next) })
}

// endPause ends p unless another pause has taken its place.
func (s *Server) endPause(p *pause) {
	in := &s.intermission
	in.mu.Lock()
	defer in.mu.Unlock()
	if p == nil || in.current.Load() != p {
		return
	}
	in.current.Store(nil)
	s.attention.Add(-1)
	p.end.Stop()
	close(p.over)
}

// abide waits as long as a pause holds the command. What came before it is
// answered first, and others may send meanwhile.
func (c *conn) abide(row *engine.Command) error {
	for {
		p := c.server.intermission.current.Load()
		if p == nil || !p.holds(row, c.session) {
			return nil
		}
		if err := c.session.Flush(); err != nil {
			return err
		}
		c.release()
		select {
		case <-p.over:
		case <-c.server.stop:
			c.hold()
			return nil
		}
		c.hold()
		if reason(c.cutBy.Load()) != open {
			return net.ErrClosed
		}
	}
}

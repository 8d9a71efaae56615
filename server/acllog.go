package server

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/limit"
)

// Failures to log in that are remembered, and for how long those of one name are
// one entry.
const (
	keptLogins    = 128
	loginsAreOne  = limit.Instant(time.Minute)
	shownByACLLog = 10
)

// failedLogin is one entry of ACL LOG.
type failedLogin struct {
	times  int
	object string // the command that failed
	user   string
	at     limit.Instant // of the latest
	client string        // as CLIENT LIST describes it
}

// failedLogins remembers who could not log in, the latest last.
type failedLogins struct {
	mu      sync.Mutex
	entries []failedLogin
}

// add remembers one more.
func (l *failedLogins) add(f failedLogin) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.entries {
		e := &l.entries[i]
		if e.object == f.object && e.user == f.user && f.at-e.at < loginsAreOne {
			f.times += e.times
			l.entries = slices.Delete(l.entries, i, i+1)
			break
		}
	}
	if len(l.entries) == keptLogins {
		l.entries = slices.Delete(l.entries, 0, 1)
	}
	l.entries = append(l.entries, f)
}

// latest lists at most n entries, the latest first.
func (l *failedLogins) latest(n int) []failedLogin {
	l.mu.Lock()
	defer l.mu.Unlock()
	some := slices.Clone(l.entries[len(l.entries)-min(n, len(l.entries)):])
	slices.Reverse(some)
	return some
}

func (l *failedLogins) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

// remember keeps a failure to log in for ACL LOG.
func (c *conn) remember(call *engine.Call, user []byte) {
	c.server.mu.Lock()
	about := c.server.describe(c)
	c.server.mu.Unlock()
	c.server.logins.add(failedLogin{
		times: 1, object: call.Command.Name, user: engine.Printable(user), at: now(call.On), client: about[:len(about)-1],
	})
}

// aclLog is ACL LOG.
func (c *conn) aclLog(call *engine.Call) {
	n := int64(shownByACLLog)
	switch {
	case len(call.Args) > 3:
		failWords(call)
		return
	case len(call.Args) == 3 && engine.EqualFold(call.Args[2], "RESET"):
		c.server.logins.reset()
		call.Out.OK()
		return
	case len(call.Args) == 3:
		asked, ok := engine.Int(call.Args[2])
		if !ok {
			call.Fail(engine.NotInteger)
			return
		}
		n = min(max(asked, 0), keptLogins)
	}
	at, some := now(call.On), c.server.logins.latest(int(n))
	call.Out.Array(len(some))
	for _, e := range some {
		call.Out.Map(7)
		call.Out.BulkString("count")
		call.Out.Int(int64(e.times))
		writePair(call.Out, "reason", "auth")
		writePair(call.Out, "context", "toplevel")
		writePair(call.Out, "object", e.object)
		writePair(call.Out, "username", e.user)
		writePair(call.Out, "age-seconds", fmt.Sprintf("%.3f", time.Duration(at-e.at).Seconds()))
		writePair(call.Out, "client-info", e.client)
	}
}

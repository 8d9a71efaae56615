package server

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/limitstore/limitstore/engine"
)

// parameter is one setting that CONFIG SET changes while the server runs. set
// says what is wrong with a value, or returns what puts it in force.
type parameter struct {
	name string
	flag string               // limitstore's own name of the setting, where it has another
	unit string               // behind the value of that
	get  func(*Server) string // nil: never shown
	set  func(*Server, string) (apply func(), wrong string)
}

// mostClients bounds what maxclients can be set to.
const mostClients = 1_000_000

// MostSlowlog bounds the entries of the slow log: each takes a few KiB at most.
const MostSlowlog = 100_000

// parameters are the settings that can change.
func parameters() []parameter {
	return []parameter{
		{name: "latency-monitor-threshold", get: func(s *Server) string { return decimal(s.slow.monitor.Load() / int64(time.Millisecond)) },
			set: numeric(0, math.MaxInt64/int64(time.Millisecond), func(s *Server, n int64) { s.slow.watchFor(s.slow.threshold.Load(), n*int64(time.Millisecond)) })},
		{name: "maxclients", flag: "max-clients", get: func(s *Server) string { return strconv.Itoa(s.maxClients()) },
			set: numeric(1, mostClients, func(s *Server, n int64) { s.locked(func() { s.cfg.MaxClients = int(n) }) })},
		{name: "requirepass", set: func(s *Server, value string) (func(), string) {
			if value == "" && s.cfg.NeedsPassword {
				return nil, "clients come from other machines, and need a password"
			}
			return func() { s.setPassword(value) }, ""
		}},
		{name: "slowlog-log-slower-than", get: func(s *Server) string { return decimal(micros(s.slow.threshold.Load())) },
			set: numeric(-1, math.MaxInt64/int64(time.Microsecond), func(s *Server, n int64) { s.slow.watchFor(nanos(n), s.slow.monitor.Load()) })},
		{name: "slowlog-max-len", get: func(s *Server) string { return strconv.Itoa(s.slow.most()) },
			set: numeric(0, MostSlowlog, func(s *Server, n int64) { s.slow.keep(int(n)) })},
		{name: "timeout", flag: "idle-timeout", unit: "s", get: func(s *Server) string { return decimal(int64(s.idleTimeout() / time.Second)) },
			set: numeric(0, math.MaxInt32, func(s *Server, n int64) {
				s.locked(func() { s.cfg.IdleTimeout = time.Duration(n) * time.Second })
			})},
	}
}

// changeable are the names of the settings that can change.
func changeable() (names []string) {
	for _, p := range parameters() {
		names = append(names, p.name)
	}
	return names
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// locked runs fn where the settings that the watch and the door to clients ask
// for may be changed.
func (s *Server) locked(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

// maxClients is how many connections there may be now.
func (s *Server) maxClients() (n int) {
	s.locked(func() { n = s.cfg.MaxClients })
	return n
}

// idleTimeout is the timeout in force, rounded up to whole visits of the watch.
func (s *Server) idleTimeout() (d time.Duration) {
	s.locked(func() { d = time.Duration(visitsIn(s.cfg.IdleTimeout)) * visit })
	return d
}

// numeric is the set of a whole number.
func numeric(least, most int64, apply func(*Server, int64)) func(*Server, string) (func(), string) {
	return func(s *Server, value string) (func(), string) {
		n, ok := engine.Int([]byte(value))
		switch {
		case !ok:
			return nil, "argument couldn't be parsed into an integer"
		case n < least || n > most:
			return nil, fmt.Sprintf("argument must be between %d and %d inclusive", least, most)
		}
		return func() { apply(s, n) }, ""
	}
}

// RefusedSetting is a setting of Redis' that CONFIG SET refuses to change from
// what it is, since another value would promise what is not done.
type RefusedSetting struct{ Name, Why string }

// RefusedSettings lists them, for docs/refused.md.
func RefusedSettings() []RefusedSetting {
	return []RefusedSetting{
		{"appendonly", "nothing is kept on disk"},
		{"save", "nothing is kept on disk"},
		{"notify-keyspace-events", "changes of keys are not announced"},
		{"maxmemory", "it is fixed at the start, as --maxmemory"},
		{"maxmemory-policy", "ordinary keys are never evicted, and limiter states only by what is lost with them"},
	}
}

// configSet is CONFIG SET: every name and value is looked at before the first is
// put in force.
func (c *conn) configSet(call *engine.Call) {
	pairs := call.Args[2:]
	if len(pairs)%2 != 0 {
		call.Fail(engine.Syntax)
		return
	}
	c.server.turn.Lock()
	defer c.server.turn.Unlock()
	current := c.server.settings()
	var apply []func()
	var names []string
	for ; len(pairs) > 0; pairs = pairs[2:] {
		name := strings.ToLower(string(pairs[0]))
		if !known(name, current) {
			fail(call, failConfigUnknown, engine.Printable(pairs[0]))
			return
		}
		put, wrong := c.server.change(name, string(pairs[1]), current)
		if slices.Contains(names, name) {
			wrong = "duplicate parameter"
		}
		if wrong != "" {
			fail(call, failConfigSet, engine.Printable(pairs[0]), wrong)
			return
		}
		names, apply = append(names, name), append(apply, put)
	}
	for _, put := range apply {
		put()
	}
	if len(names) > 0 {
		c.server.cfg.Log.Info("a client changed settings", "addr", c.raw.RemoteAddr(), "names", strings.Join(names, " "))
	}
	call.Out.OK()
}

// known says whether there is such a setting.
func known(name string, current []Setting) bool {
	return slices.Contains(changeable(), name) || slices.ContainsFunc(current, func(s Setting) bool { return s.Name == name })
}

// change is what puts a setting's value in force, or what is wrong with it.
func (s *Server) change(name, value string, current []Setting) (apply func(), wrong string) {
	for _, p := range parameters() {
		if p.name == name {
			return p.set(s, value)
		}
	}
	for _, r := range RefusedSettings() {
		if r.Name != name {
			continue
		}
		if slices.Contains(current, Setting{name, strings.ToLower(value)}) {
			return func() {}, ""
		}
		return nil, r.Why
	}
	return nil, "can't set immutable config"
}

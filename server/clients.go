package server

import (
	"fmt"
	"slices"

	"github.com/limitstore/limitstore/engine"
)

// describe is the line about c in CLIENT LIST. Server.mu must be held.
func (s *Server) describe(c *conn) string {
	i, now := c.identity.Load(), c.pulse.read()
	idle := c.seen.idle
	if now != c.seen.totals {
		idle = 0
	}
	last := "NULL"
	if now.commands > 0 {
		last = s.table.Rows()[c.pulse.done.Load()&(1<<idBits-1)].Lower()
	}
	return fmt.Sprintf("id=%d addr=%s laddr=%s name=%s age=%d idle=%d flags=N db=%d sub=0 psub=0 ssub=0 multi=-1 "+
		"tot-net-in=%d tot-net-out=%d tot-cmds=%d cmd=%s user=%s redir=-1 resp=%d lib-name=%s lib-ver=%s\n",
		c.id, c.raw.RemoteAddr(), c.raw.LocalAddr(), i.name, s.watch.visits-c.seen.born, idle, i.db,
		now.in, now.out, now.commands, last, theUser, i.proto, i.library, i.version)
}

// clientInfo is CLIENT INFO.
func (c *conn) clientInfo(call *engine.Call) {
	c.publish()
	c.server.mu.Lock()
	line := c.server.describe(c)
	c.server.mu.Unlock()
	call.Out.Verbatim("txt", line)
}

// filter chooses connections. Its zero value chooses all.
type filter struct {
	ids         []int64 // empty: any
	addr, laddr string  // empty: any
	normal      bool    // false after a TYPE that no connection here has
	skip        *conn   // the one that must not be chosen
}

func (f *filter) chooses(c *conn) bool {
	switch {
	case !f.normal || c == f.skip:
		return false
	case len(f.ids) > 0 && !slices.Contains(f.ids, c.id):
		return false
	case f.addr != "" && f.addr != c.raw.RemoteAddr().String():
		return false
	}
	return f.laddr == "" || f.laddr == c.raw.LocalAddr().String()
}

// chosen lists the connections that f chooses, oldest first. Server.mu must be
// held.
func (s *Server) chosen(f *filter) []*conn {
	var all []*conn
	for _, c := range s.conns {
		if f.chooses(c) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *conn) int { return int(a.id - b.id) })
	return all
}

// typed reads a TYPE; false after replying with the error.
func (f *filter) typed(call *engine.Call, word []byte) bool {
	for _, other := range []string{"MASTER", "REPLICA", "SLAVE", "PUBSUB"} {
		if engine.EqualFold(word, other) {
			f.normal = false
			return true
		}
	}
	if engine.EqualFold(word, "NORMAL") {
		return true
	}
	fail(call, failClientType, engine.Printable(word))
	return false
}

// list is CLIENT LIST.
func (c *conn) list(call *engine.Call) {
	f, args := filter{normal: true}, call.Args[2:]
	switch {
	case len(args) == 0:
	case len(args) == 2 && engine.EqualFold(args[0], "TYPE"):
		if !f.typed(call, args[1]) {
			return
		}
	case len(args) > 1 && engine.EqualFold(args[0], "ID"):
		for _, word := range args[1:] {
			id, ok := engine.Int(word)
			if !ok {
				fail(call, failClientID)
				return
			}
			f.ids = append(f.ids, id)
		}
	default:
		call.Fail(engine.Syntax)
		return
	}
	c.publish()
	call.Out.Verbatim("txt", c.server.listing(&f))
}

// listing is the text of CLIENT LIST.
func (s *Server) listing(f *filter) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var text []byte
	for _, c := range s.chosen(f) {
		text = append(text, s.describe(c)...)
	}
	return string(text)
}

// kill is CLIENT KILL, in its old form with an address and in its new one with
// filters.
func (c *conn) kill(call *engine.Call) {
	f, old := filter{normal: true, skip: c}, len(call.Args) == 3
	if old {
		f.addr, f.skip = string(call.Args[2]), nil
	} else if !c.killFilters(call, &f) {
		return
	}
	n := c.killAll(&f)
	switch {
	case !old:
		call.Out.Int(int64(n))
	case n == 0:
		fail(call, failNoClient)
	default:
		call.Out.OK()
	}
}

// killFilters reads the pairs of the new form; false after an error.
func (c *conn) killFilters(call *engine.Call, f *filter) bool {
	args := call.Args[2:]
	for ; len(args) > 1; args = args[2:] {
		if !c.killFilter(call, f, args[0], args[1]) {
			return false
		}
	}
	if len(args) > 0 {
		call.Fail(engine.Syntax)
		return false
	}
	return true
}

func (c *conn) killFilter(call *engine.Call, f *filter, option, value []byte) bool {
	switch {
	case engine.EqualFold(option, "ID"):
		id, ok := engine.Int(value)
		if !ok || id < 1 {
			fail(call, failKillID)
			return false
		}
		f.ids = []int64{id}
	case engine.EqualFold(option, "TYPE"):
		f.normal = true
		return f.typed(call, value)
	case engine.EqualFold(option, "ADDR"):
		f.addr = string(value)
	case engine.EqualFold(option, "LADDR"):
		f.laddr = string(value)
	case engine.EqualFold(option, "USER"):
		if string(value) != theUser {
			fail(call, failNoUser, engine.Printable(value))
			return false
		}
	case engine.EqualFold(option, "SKIPME") && engine.EqualFold(value, "YES"):
		f.skip = c
	case engine.EqualFold(option, "SKIPME") && engine.EqualFold(value, "NO"):
		f.skip = nil
	default:
		call.Fail(engine.Syntax)
		return false
	}
	return true
}

// killAll closes what f chooses and returns how many; c itself after its reply.
func (c *conn) killAll(f *filter) int {
	c.server.mu.Lock()
	doomed := c.server.chosen(f)
	c.server.mu.Unlock()
	for _, other := range doomed {
		if other == c {
			c.leaving = byKill
		} else {
			other.cut(byKill)
		}
	}
	return len(doomed)
}

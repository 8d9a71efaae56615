package server

import (
	"cmp"
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
	l := c.listener()
	flags, multi := "", c.pulse.multi.Load()-1
	for _, f := range []struct {
		is   bool
		name string
	}{{l.monitor, "O"}, {l.subscribed(), "P"}, {multi >= 0, "x"}} {
		if f.is {
			flags += f.name
		}
	}
	flags = cmp.Or(flags, "N")
	return fmt.Sprintf("id=%d addr=%s laddr=%s name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=%d multi=%d omem=%d "+
		"tot-net-in=%d tot-net-out=%d tot-cmds=%d cmd=%s user=%s redir=-1 resp=%d lib-name=%s lib-ver=%s\n",
		c.id, c.raw.RemoteAddr(), c.raw.LocalAddr(), i.name, s.watch.visits-c.seen.born, idle, flags, i.db,
		l.counts[toChannel], l.counts[toPattern], l.counts[toShard], multi, l.waiting,
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

// clientType is what TYPE asks for.
type clientType uint8

// The types of clients.
const (
	anyType clientType = iota
	normalType
	pubsubType
	otherType // which no connection here has
)

// has says whether c is of the type.
func (t clientType) has(c *conn) bool {
	if t == anyType || t == otherType {
		return t == anyType
	}
	l := c.listener()
	return l.subscribed() == (t == pubsubType)
}

// filter chooses connections. Its zero value chooses all.
type filter struct {
	ids         []int64 // empty: any
	age         uint64  // at least so many seconds
	addr, laddr string  // empty: any
	typ         clientType
	skip        *conn // the one that must not be chosen
}

// chooses says whether c is meant. Server.mu must be held.
func (f *filter) chooses(c *conn) bool {
	switch {
	case c == f.skip || !f.typ.has(c):
		return false
	case c.server.watch.visits-c.seen.born < f.age:
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
	switch {
	case engine.EqualFold(word, "NORMAL"):
		f.typ = normalType
	case engine.EqualFold(word, "PUBSUB"):
		f.typ = pubsubType
	case engine.EqualFold(word, "MASTER"), engine.EqualFold(word, "REPLICA"), engine.EqualFold(word, "SLAVE"):
		f.typ = otherType
	default:
		fail(call, failClientType, engine.Printable(word))
		return false
	}
	return true
}

// list is CLIENT LIST.
func (c *conn) list(call *engine.Call) {
	f, args := filter{}, call.Args[2:]
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
	f, old := filter{skip: c}, len(call.Args) == 3
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
		return f.typed(call, value)
	case engine.EqualFold(option, "MAXAGE"):
		age, ok := engine.Int(value)
		if !ok || age < 1 {
			fail(call, failMaxAge)
			return false
		}
		f.age = uint64(age)
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

// unblock is CLIENT UNBLOCK. No command waits for something to happen, so there is
// nobody to be woken.
func unblock(c *engine.Call) {
	_, ok := engine.Int(c.Args[2])
	switch {
	case len(c.Args) > 4:
		failWords(c)
	case len(c.Args) == 4 && !engine.EqualFold(c.Args[3], "TIMEOUT") && !engine.EqualFold(c.Args[3], "ERROR"):
		fail(c, failUnblock)
	case !ok:
		c.Fail(engine.NotInteger)
	default:
		c.Out.Int(0)
	}
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

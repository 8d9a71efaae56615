package engine

import (
	"bytes"
	"math"

	"github.com/limitstore/limitstore/shard"
)

func listChangeCommands() []Command {
	where := Arg{Name: "where", Type: OneOf, Args: []Arg{{Name: "before", Type: PureToken, Token: "BEFORE"}, {Name: "after", Type: PureToken, Token: "AFTER"}}}
	return []Command{{
		Name: "LSET", Group: Lists, Since: "0.1.0", Summary: "Replaces the element at a position of a list, counted from the end when negative.", Complexity: "O(1)",
		Args: []Arg{keyArg, indexArg, elementArg}, Keys: OneKey, Flags: Write | DenyOOM, Run: runLSet,
		Reply: "OK", Examples: []Example{{"RPUSH jobs a b", "(integer) 2"}, {"LSET jobs -1 c", "OK"}, {"LRANGE jobs 0 -1", "1) \"a\"\n2) \"c\""}, {"LSET jobs 2 d", "(error) ERR index out of range"}},
	}, {
		Name: "LINSERT", Group: Lists, Since: "0.1.0", Summary: "Puts an element before or after the first that is equal to a pivot.", Complexity: "O(N) with N the length of the list",
		Args: []Arg{keyArg, where, {Name: "pivot", Type: String}, elementArg}, Keys: OneKey, Flags: Write | DenyOOM, Run: runLInsert,
		Reply: "integer: the new length; 0 when there is no key, -1 when there is no such pivot", Examples: []Example{{"RPUSH jobs a c", "(integer) 2"}, {"LINSERT jobs BEFORE c b", "(integer) 3"}, {"LINSERT jobs AFTER x y", "(integer) -1"}},
	}, {
		Name: "LREM", Group: Lists, Since: "0.1.0", Summary: "Removes elements that are equal to one from a list.", Complexity: "O(N) with N the length of the list",
		Args: []Arg{keyArg, {Name: "count", Type: Integer}, elementArg}, Keys: OneKey, Flags: Write, Run: runLRem,
		Reply: "integer: how many were removed", Examples: []Example{{"RPUSH jobs a b a a", "(integer) 4"}, {"LREM jobs -1 a", "(integer) 1"}, {"LREM jobs 0 a", "(integer) 2"}, {"LRANGE jobs 0 -1", `1) "b"`}},
		Notes: "At most count of them, from the end when it is negative; all when it is 0.",
	}, {
		Name: "LTRIM", Group: Lists, Since: "0.1.0", Summary: "Removes all elements of a list but those between two positions, both included and counted from the end when negative.", Complexity: "O(N) with N the elements removed",
		Args: []Arg{keyArg, {Name: "start", Type: Integer}, {Name: "stop", Type: Integer}}, Keys: OneKey, Flags: Write, Run: runLTrim,
		Reply: "OK", Examples: []Example{{"RPUSH jobs a b c", "(integer) 3"}, {"LTRIM jobs 0 1", "OK"}, {"LLEN jobs", "(integer) 2"}},
	}}
}

func runLSet(c *Call) {
	db, e, ok := c.openKind(c.Args[1], shard.KindList)
	if !ok {
		return
	}
	l := db.List(&e)
	if l == nil {
		c.Fail(NoSuchKey)
		return
	}
	index, ok := Int(c.Args[2])
	if !ok {
		c.Fail(NotInteger)
		return
	}
	at, ok := position(l, index)
	switch {
	case !ok:
		c.Fail(IndexRange)
	case !c.overfull(measure{0, l.Bytes()}, measure{0, int64(len(c.Args[3]))}):
		db.ListSplice(&e, at, 1, c.Args[3])
		c.Out.OK()
	}
}

func runLInsert(c *Call) {
	after := EqualFold(c.Args[2], "AFTER")
	if !after && !EqualFold(c.Args[2], "BEFORE") {
		c.Fail(Syntax)
		return
	}
	db, e, ok := c.openKind(c.Args[1], shard.KindList)
	if !ok {
		return
	}
	l := db.List(&e)
	if l == nil {
		c.Out.Int(0)
		return
	}
	for at, v := range l.Range(0, l.Len()) {
		if !bytes.Equal(v, c.Args[3]) {
			continue
		}
		if after {
			at++
		}
		if !c.listOverfull(l, c.Args[4]) {
			db.ListSplice(&e, at, 0, c.Args[4])
			c.Out.Int(int64(l.Len()))
		}
		return
	}
	c.Out.Int(-1)
}

// between reads an integer but the smallest, which has no positive one. It
// replies with the error and says false when it is none.
func (c *Call) between(word []byte) (int64, bool) {
	n, ok := Int(word)
	switch {
	case !ok:
		c.Fail(NotInteger)
	case n == math.MinInt64:
		c.Fail(NotBetween, int64(math.MinInt64+1), int64(math.MaxInt64))
		return 0, false
	}
	return n, ok
}

func runLRem(c *Call) {
	count, ok := Int(c.Args[2])
	if !ok {
		c.Fail(NotInteger)
		return
	}
	db, e, ok := c.openKind(c.Args[1], shard.KindList)
	if !ok {
		return
	}
	l := db.List(&e)
	var at []int
	for i, v := range l.Range(0, l.Len()) {
		if bytes.Equal(v, c.Args[3]) {
			at = append(at, i)
		}
	}
	// From the end the last matches go, in whatever order.
	switch n := int64(len(at)); {
	case count > 0:
		at = at[:min(count, n)]
	case count < 0 && count > -n:
		at = at[n+count:]
	}
	db.ListDrop(&e, at)
	c.Out.Int(int64(len(at)))
}

func runLTrim(c *Call) {
	start, stop, ok := c.startStop()
	if !ok {
		return
	}
	db, e, ok := c.openKind(c.Args[1], shard.KindList)
	if !ok {
		return
	}
	n := db.List(&e).Len()
	keep := span(n, start, stop)
	if keep.len() == 0 {
		db.Delete(&e)
	} else {
		db.ListSplice(&e, keep.end, n-keep.end)
		db.ListSplice(&e, 0, keep.first)
	}
	c.Out.OK()
}

func listMoveCommands() []Command {
	side := func(name string) Arg {
		return Arg{Name: name, Type: OneOf, Args: []Arg{{Name: "left", Type: PureToken, Token: "LEFT"}, {Name: "right", Type: PureToken, Token: "RIGHT"}}}
	}
	from, to := Arg{Name: "source", Type: Key}, Arg{Name: "destination", Type: Key}
	return []Command{{
		Name: "LMOVE", Group: Lists, Since: "0.1.0", Summary: "Takes an element from one end of a list to one end of another or the same, and returns it.", Complexity: "O(1)",
		Args: []Arg{from, to, side("wherefrom"), side("whereto")}, Keys: Keys{First: 1, Last: 2, Step: 1}, Flags: Write | DenyOOM, Run: runLMove,
		Reply: "bulk string: the element; nil when there is none", Examples: []Example{{"RPUSH jobs a b", "(integer) 2"}, {"LMOVE jobs done LEFT RIGHT", `"a"`}, {"LRANGE done 0 -1", `1) "a"`}},
	}, {
		Name: "RPOPLPUSH", Group: Lists, Since: "0.1.0", Summary: "Takes the last element of a list to the beginning of another or the same, and returns it.", Complexity: "O(1)",
		Args: []Arg{from, to}, Keys: Keys{First: 1, Last: 2, Step: 1}, Flags: Write | DenyOOM, Run: func(c *Call) { c.moveElement(false, true) },
		Reply: "bulk string: the element; nil when there is none", Examples: []Example{{"RPUSH jobs a b", "(integer) 2"}, {"RPOPLPUSH jobs jobs", `"b"`}, {"LRANGE jobs 0 -1", "1) \"b\"\n2) \"a\""}},
	}}
}

func runLMove(c *Call) {
	fromLeft, toLeft := EqualFold(c.Args[3], "LEFT"), EqualFold(c.Args[4], "LEFT")
	if !fromLeft && !EqualFold(c.Args[3], "RIGHT") || !toLeft && !EqualFold(c.Args[4], "RIGHT") {
		c.Fail(Syntax)
		return
	}
	c.moveElement(fromLeft, toLeft)
}

// moveElement takes an element from one end of the call's first list to one end
// of its second.
func (c *Call) moveElement(fromLeft, toLeft bool) {
	source, from, ok := c.openKind(c.Args[1], shard.KindList)
	if !ok {
		return
	}
	l := source.List(&from)
	if l == nil {
		c.Out.Null()
		return
	}
	target, to, ok := c.openKind(c.Args[2], shard.KindList)
	if !ok {
		return
	}
	at := l.Len() - 1
	if fromLeft {
		at = 0
	}
	element := bytes.Clone(l.At(at))
	if bytes.Equal(c.Args[1], c.Args[2]) {
		if l.Len() > 1 { // with one element nothing moves, and its expiry stays
			source.ListSplice(&from, at, 1)
			c.land(source, &from, element, toLeft)
		}
	} else {
		if c.listOverfull(target.List(&to), element) {
			return
		}
		c.land(target, &to, element, toLeft)
		source.ListSplice(&from, at, 1)
	}
	c.Out.Bulk(element)
}

// land puts an element at one end of a list.
func (c *Call) land(db *shard.Database, e *shard.Entry, element []byte, left bool) {
	at := db.List(e).Len()
	if left {
		at = 0
	}
	db.ListSplice(e, at, 0, element)
}

package engine

import (
	"bytes"
	"slices"

	"github.com/limitstore/limitstore/shard"
)

// listCommands are Redis' commands on lists. None waits for an element: what
// blocks is not built.
func listCommands() []Command {
	return slices.Concat(listPushCommands(), listPopCommands(), listReadCommands(), listChangeCommands(), listMoveCommands())
}

var (
	elementArg  = Arg{Name: "element", Type: String}
	elementsArg = Arg{Name: "element", Type: String, Multiple: true}
	indexArg    = Arg{Name: "index", Type: Integer}
)

func listPushCommands() []Command {
	push := func(name, summary string, front, onlyOld bool, examples ...Example) Command {
		return Command{
			Name: name, Group: Lists, Since: "0.1.0", Summary: summary, Complexity: "O(N) with N the number of elements given",
			Args: []Arg{keyArg, elementsArg}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: func(c *Call) { c.push(front, onlyOld) },
			Reply: "integer: the new length", Examples: examples,
		}
	}
	return []Command{
		push("LPUSH", "Puts elements, one after the other, before a list; creates the list when there is none.", true, false,
			Example{"LPUSH jobs a b", "(integer) 2"}, Example{"LRANGE jobs 0 -1", "1) \"b\"\n2) \"a\""}),
		push("RPUSH", "Puts elements after a list; creates the list when there is none.", false, false,
			Example{"RPUSH jobs a b", "(integer) 2"}, Example{"LRANGE jobs 0 -1", "1) \"a\"\n2) \"b\""}),
		push("LPUSHX", "Puts elements, one after the other, before a list if there is one.", true, true, Example{"LPUSHX jobs a", "(integer) 0"}),
		push("RPUSHX", "Puts elements after a list if there is one.", false, true, Example{"RPUSH jobs a", "(integer) 1"}, Example{"RPUSHX jobs b", "(integer) 2"}),
	}
}

// list looks a list up for reading; false when it has replied WRONGTYPE.
func (c *Call) list(key []byte) (*shard.List, bool) {
	db, e, ok := c.readKind(key, shard.KindList)
	return db.List(&e), ok
}

// listOverfull is overfull for elements that are put into a list.
func (c *Call) listOverfull(l *shard.List, elements ...[]byte) bool {
	more := measure{}
	for _, v := range elements {
		more.add(v)
	}
	return c.overfull(measure{l.Len(), l.Bytes()}, more)
}

// push puts the call's elements at one end of its list.
func (c *Call) push(front, onlyOld bool) {
	db, e, ok := c.openKind(c.Args[1], shard.KindList)
	if !ok {
		return
	}
	l, elements := db.List(&e), c.Args[2:]
	if l == nil && onlyOld {
		c.Out.Int(0)
		return
	}
	if c.listOverfull(l, elements...) {
		return
	}
	at := l.Len()
	if front {
		at = 0
		if len(elements) > 1 {
			elements = slices.Clone(elements)
			slices.Reverse(elements)
		}
	}
	db.ListSplice(&e, at, 0, elements...)
	c.Out.Int(int64(db.List(&e).Len()))
}

func listPopCommands() []Command {
	pop := func(name, summary string, front bool, examples ...Example) Command {
		return Command{
			Name: name, Group: Lists, Since: "0.1.0", Summary: summary, Complexity: "O(N) with N the number of elements returned",
			Args: []Arg{keyArg, {Name: "count", Type: Integer, Optional: true}}, Keys: OneKey, Flags: Write | Fast, Run: func(c *Call) { c.popList(front) },
			Reply: "bulk string: the element, nil when there is none; with a count an array of as many, nil when there is no key", Examples: examples,
		}
	}
	jobs := Example{"RPUSH jobs a b c", "(integer) 3"}
	return []Command{
		pop("LPOP", "Removes elements from the beginning of a list and returns them.", true, jobs, Example{"LPOP jobs", `"a"`}, Example{"LPOP jobs 5", "1) \"b\"\n2) \"c\""}, Example{"LPOP jobs", "(nil)"}),
		pop("RPOP", "Removes elements from the end of a list, the last one first, and returns them.", false, jobs, Example{"RPOP jobs", `"c"`}, Example{"RPOP jobs 2", "1) \"b\"\n2) \"a\""}),
	}
}

// popList is LPOP or RPOP.
func (c *Call) popList(front bool) {
	if len(c.Args) > 3 {
		c.Fail(WrongArity, c.Command.lower)
		return
	}
	count, counted := int64(1), len(c.Args) == 3
	if counted {
		var ok bool
		if count, ok = c.notNegative(c.Args[2], NotPositive); !ok {
			return
		}
	}
	db, e, ok := c.openKind(c.Args[1], shard.KindList)
	l := db.List(&e)
	switch {
	case !ok:
		return
	case l == nil && counted:
		c.Out.NullArray()
		return
	case l == nil:
		c.Out.Null()
		return
	case counted:
		count = min(count, int64(l.Len()))
		c.Out.Array(int(count))
	}
	c.takeEnd(db, &e, int(count), front)
}

// takeEnd takes n elements from one end of a list and replies with each.
func (c *Call) takeEnd(db *shard.Database, e *shard.Entry, n int, front bool) {
	l, at := db.List(e), 0
	if !front {
		at = l.Len() - n
	}
	for i := range n {
		if front {
			c.Out.Bulk(l.At(i))
		} else {
			c.Out.Bulk(l.At(l.Len() - 1 - i))
		}
	}
	db.ListSplice(e, at, n)
}

func listReadCommands() []Command {
	return []Command{{
		Name: "LLEN", Group: Lists, Since: "0.1.0", Summary: "Returns the length of a list.", Complexity: "O(1)",
		Args: []Arg{keyArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runLLen,
		Reply: "integer: how many elements there are", Examples: []Example{{"RPUSH jobs a b", "(integer) 2"}, {"LLEN jobs", "(integer) 2"}},
	}, {
		Name: "LINDEX", Group: Lists, Since: "0.1.0", Summary: "Returns the element at a position of a list, counted from the end when negative.", Complexity: "O(1)",
		Args: []Arg{keyArg, indexArg}, Keys: OneKey, Flags: ReadOnly, Run: runLIndex,
		Reply: "bulk string: the element; nil when there is none", Examples: []Example{{"RPUSH jobs a b c", "(integer) 3"}, {"LINDEX jobs 0", `"a"`}, {"LINDEX jobs -1", `"c"`}, {"LINDEX jobs 3", "(nil)"}},
	}, {
		Name: "LRANGE", Group: Lists, Since: "0.1.0", Summary: "Returns the elements of a list between two positions, both included and counted from the end when negative.", Complexity: "O(N) with N the elements returned",
		Args: []Arg{keyArg, {Name: "start", Type: Integer}, {Name: "stop", Type: Integer}}, Keys: OneKey, Flags: ReadOnly, Run: runLRange,
		Reply: "array: the elements", Examples: []Example{{"RPUSH jobs a b c", "(integer) 3"}, {"LRANGE jobs -2 -1", "1) \"b\"\n2) \"c\""}},
	}, {
		Name: "LPOS", Group: Lists, Since: "0.1.0", Summary: "Returns the positions of an element in a list.", Complexity: "O(N) with N the length of the list",
		Args: []Arg{
			keyArg, elementArg, {Name: "rank", Type: Integer, Token: "RANK", Optional: true}, {Name: "num-matches", Type: Integer, Token: "COUNT", Optional: true},
			{Name: "len", Type: Integer, Token: "MAXLEN", Optional: true},
		},
		Keys: OneKey, Flags: ReadOnly, Run: runLPos, Reply: "integer: the position, nil when there is none; with COUNT an array of as many, of all when it is 0",
		Examples: []Example{{"RPUSH jobs a b a", "(integer) 3"}, {"LPOS jobs a", "(integer) 0"}, {"LPOS jobs a RANK -1", "(integer) 2"}, {"LPOS jobs a COUNT 0 MAXLEN 2", "1) (integer) 0"}},
		Notes:    "RANK says which match is the first, from the end when negative; MAXLEN how many elements are compared, all when it is 0.",
	}}
}

func runLLen(c *Call) {
	if l, ok := c.list(c.Args[1]); ok {
		c.Out.Int(int64(l.Len()))
	}
}

// position is where an index that may count from the end points to; false when
// there is nothing.
func position(l *shard.List, index int64) (int, bool) {
	if index < 0 {
		index += int64(l.Len())
	}
	return int(index), index >= 0 && index < int64(l.Len())
}

func runLIndex(c *Call) {
	l, ok := c.list(c.Args[1])
	if !ok {
		return
	}
	if l == nil {
		c.Out.Null()
		return
	}
	index, ok := Int(c.Args[2])
	if !ok {
		c.Fail(NotInteger)
		return
	}
	if at, ok := position(l, index); ok {
		c.Out.Bulk(l.At(at))
	} else {
		c.Out.Null()
	}
}

// startStop reads the two positions after the key. It replies with the error and
// says false when they are none.
func (c *Call) startStop() (start, stop int64, ok bool) {
	start, ok = Int(c.Args[2])
	stop, ok2 := Int(c.Args[3])
	if !ok || !ok2 {
		c.Fail(NotInteger)
		return 0, 0, false
	}
	return start, stop, true
}

func runLRange(c *Call) {
	start, stop, ok := c.startStop()
	if !ok {
		return
	}
	l, ok := c.list(c.Args[1])
	if !ok {
		return
	}
	r := span(l.Len(), start, stop)
	c.Out.Array(r.len())
	for _, v := range l.Range(r.first, r.end) {
		c.Out.Bulk(v)
	}
}

// search is an LPOS.
type search struct {
	rank, count, most int64 // of RANK, COUNT (-1: not given), MAXLEN
}

// parse reads the options. It replies with the error and says false when one is
// wrong.
func (s *search) parse(c *Call) bool {
	*s = search{rank: 1, count: -1}
	ok := true
	words := c.Args[3:]
	for ; len(words) > 1 && ok; words = words[2:] {
		switch {
		case EqualFold(words[0], "RANK"):
			s.rank, ok = c.between(words[1])
			if ok && s.rank == 0 {
				c.Fail(RankZero)
				return false
			}
		case EqualFold(words[0], "COUNT"):
			s.count, ok = c.notNegative(words[1], NegativeCount)
		case EqualFold(words[0], "MAXLEN"):
			s.most, ok = c.notNegative(words[1], NegativeMaxLen)
		default:
			c.Fail(Syntax)
			return false
		}
	}
	if ok && len(words) > 0 {
		c.Fail(Syntax)
		return false
	}
	return ok
}

// find are the positions of an element.
func (s *search) find(l *shard.List, element []byte) (found []int64) {
	n, skip, backwards := l.Len(), s.rank-1, s.rank < 0
	if backwards {
		skip = -s.rank - 1
	}
	looks := int64(n)
	if s.most > 0 {
		looks = min(looks, s.most)
	}
	for i := 0; i < int(looks); i++ {
		at := i
		if backwards {
			at = n - 1 - i
		}
		switch {
		case !bytes.Equal(l.At(at), element):
		case skip > 0:
			skip--
		default:
			found = append(found, int64(at))
			if s.count != 0 && int64(len(found)) >= s.count {
				return found
			}
		}
	}
	return found
}

func runLPos(c *Call) {
	var s search
	if !s.parse(c) {
		return
	}
	l, ok := c.list(c.Args[1])
	if !ok {
		return
	}
	found := s.find(l, c.Args[2])
	switch {
	case s.count >= 0:
		c.Out.Ints(found...)
	case len(found) == 0:
		c.Out.Null()
	default:
		c.Out.Int(found[0])
	}
}

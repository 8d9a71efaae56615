package engine

import (
	"iter"

	"github.com/limitstore/limitstore/shard"
)

// Ranges of sorted sets: counted, removed, popped.

var (
	scoreRangeArgs  = []Arg{keyArg, {Name: "min", Type: Double}, {Name: "max", Type: Double}}
	memberRangeArgs = []Arg{keyArg, {Name: "min", Type: String}, {Name: "max", Type: String}}
)

const (
	scoreRangeNotes  = "min and max are scores, -inf and +inf among them; a \"(\" before one excludes it."
	memberRangeNotes = "min and max are members after \"[\", or \"(\" to exclude them; - and + are the ends. The scores must be equal."
)

func sortedCountCommands() []Command {
	return []Command{{
		Name: "ZCARD", Group: SortedSets, Since: "0.1.0", Summary: "Counts the members of a sorted set.", Complexity: "O(1)",
		Args: []Arg{keyArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runZCard,
		Reply: "integer: how many there are", Examples: []Example{{"ZADD hits 10 a 20 b", "(integer) 2"}, {"ZCARD hits", "(integer) 2"}},
	}, {
		Name: "ZCOUNT", Group: SortedSets, Since: "0.1.0", Summary: "Counts the members of a sorted set with scores in a range.", Complexity: "O(log N)",
		Args: scoreRangeArgs, Keys: OneKey, Flags: ReadOnly | Fast, Run: func(c *Call) { c.countRanks(byScore) },
		Reply: "integer: how many there are", Examples: []Example{{"ZADD hits 10 a 20 b", "(integer) 2"}, {"ZCOUNT hits (10 +inf", "(integer) 1"}}, Notes: scoreRangeNotes,
	}, {
		Name: "ZLEXCOUNT", Group: SortedSets, Since: "0.1.0", Summary: "Counts the members of a sorted set in a range, by their bytes.", Complexity: "O(log N)",
		Args: memberRangeArgs, Keys: OneKey, Flags: ReadOnly | Fast, Run: func(c *Call) { c.countRanks(byMember) },
		Reply: "integer: how many there are", Examples: []Example{{"ZADD names 0 ann 0 bob 0 cid", "(integer) 3"}, {"ZLEXCOUNT names [b +", "(integer) 2"}}, Notes: memberRangeNotes,
	}}
}

func runZCard(c *Call) {
	if z, ok := c.sorted(c.Args[1]); ok {
		c.Out.Int(int64(z.Len()))
	}
}

// countRanks replies with how many members the call's range has.
func (c *Call) countRanks(by rangeBy) {
	ends := rangeEnds{by: by}
	if !ends.parse(c, c.Args[2], c.Args[3]) {
		return
	}
	if z, ok := c.sorted(c.Args[1]); ok {
		c.Out.Int(int64(ends.ranks(z).len()))
	}
}

func sortedRemoveCommands() []Command {
	count := Arg{Name: "count", Type: Integer, Optional: true}
	return []Command{{
		Name: "ZREM", Group: SortedSets, Since: "0.1.0", Summary: "Removes members from a sorted set, and the sorted set with the last one.", Complexity: "O(log N) for each member given",
		Args: []Arg{keyArg, membersArg}, Keys: OneKey, Flags: Write | Fast, Run: runZRem,
		Reply: "integer: how many of the members there were", Examples: []Example{{"ZADD hits 10 a 20 b", "(integer) 2"}, {"ZREM hits a x", "(integer) 1"}},
	}, {
		Name: "ZREMRANGEBYSCORE", Group: SortedSets, Since: "0.1.0", Summary: "Removes the members of a sorted set with scores in a range.", Complexity: "O(M*log N) with M the members removed",
		Args: scoreRangeArgs, Keys: OneKey, Flags: Write, Run: func(c *Call) { c.removeRanks(byScore) },
		Reply: "integer: how many were removed", Examples: []Example{{"ZADD hits 10 a 20 b", "(integer) 2"}, {"ZREMRANGEBYSCORE hits -inf (20", "(integer) 1"}, {"ZRANGE hits 0 -1", `1) "b"`}}, Notes: scoreRangeNotes,
	}, {
		Name: "ZREMRANGEBYLEX", Group: SortedSets, Since: "0.1.0", Summary: "Removes the members of a sorted set in a range, by their bytes.", Complexity: "O(M*log N) with M the members removed",
		Args: memberRangeArgs, Keys: OneKey, Flags: Write, Run: func(c *Call) { c.removeRanks(byMember) },
		Reply: "integer: how many were removed", Examples: []Example{{"ZADD names 0 ann 0 bob 0 cid", "(integer) 3"}, {"ZREMRANGEBYLEX names - (c", "(integer) 2"}}, Notes: memberRangeNotes,
	}, {
		Name: "ZREMRANGEBYRANK", Group: SortedSets, Since: "0.1.0", Summary: "Removes the members of a sorted set in a range of ranks, counted from the end when negative.", Complexity: "O(M*log N) with M the members removed",
		Args: []Arg{keyArg, {Name: "start", Type: Integer}, {Name: "stop", Type: Integer}}, Keys: OneKey, Flags: Write, Run: func(c *Call) { c.removeRanks(byRank) },
		Reply: "integer: how many were removed", Examples: []Example{{"ZADD hits 10 a 20 b 30 c", "(integer) 3"}, {"ZREMRANGEBYRANK hits 0 -3", "(integer) 1"}},
	}, {
		Name: "ZPOPMIN", Group: SortedSets, Since: "0.1.0", Summary: "Removes the members with the lowest scores from a sorted set and returns them.", Complexity: "O(M*log N) with M the members removed",
		Args: []Arg{keyArg, count}, Keys: OneKey, Flags: Write | Fast, Run: func(c *Call) { c.popRanked(false) },
		Reply: "array: member and score, 1 member unless a count is given; with a count in RESP3 an array of pairs; empty when there is none", Examples: []Example{{"ZADD hits 10 a 20 b", "(integer) 2"}, {"ZPOPMIN hits", "1) \"a\"\n2) \"10\""}},
	}, {
		Name: "ZPOPMAX", Group: SortedSets, Since: "0.1.0", Summary: "Removes the members with the highest scores from a sorted set and returns them.", Complexity: "O(M*log N) with M the members removed",
		Args: []Arg{keyArg, count}, Keys: OneKey, Flags: Write | Fast, Run: func(c *Call) { c.popRanked(true) },
		Reply: "array: member and score, 1 member unless a count is given; with a count in RESP3 an array of pairs; empty when there is none", Examples: []Example{{"ZADD hits 10 a 20 b", "(integer) 2"}, {"ZPOPMAX hits 2", "1) \"b\"\n2) \"20\"\n3) \"a\"\n4) \"10\""}},
	}}
}

func runZRem(c *Call) {
	db, e, ok := c.openKind(c.Args[1], shard.KindSorted)
	if !ok {
		return
	}
	n := int64(0)
	for _, member := range c.Args[2:] {
		if db.SortedRemove(&e, member) {
			n++
		}
	}
	c.Out.Int(n)
}

// removeRanks removes the members of the call's range and replies with how many.
func (c *Call) removeRanks(by rangeBy) {
	ends := rangeEnds{by: by}
	if !ends.parse(c, c.Args[2], c.Args[3]) {
		return
	}
	db, e, ok := c.openKind(c.Args[1], shard.KindSorted)
	if !ok {
		return
	}
	r := ends.ranks(db.Sorted(&e))
	cutRanks(db, &e, r)
	c.Out.Int(int64(r.len()))
}

// popRanked is ZPOPMIN or ZPOPMAX.
func (c *Call) popRanked(fromEnd bool) {
	if len(c.Args) > 3 {
		c.Fail(Syntax)
		return
	}
	count, counted := int64(1), len(c.Args) == 3
	if counted {
		var ok bool
		if count, ok = c.notNegative(c.Args[2], NotPositive); !ok {
			return
		}
	}
	db, e, ok := c.openKind(c.Args[1], shard.KindSorted)
	if !ok {
		return
	}
	z := db.Sorted(&e)
	n := int(min(count, int64(z.Len())))
	if counted {
		c.ranked(endOf(z, n, fromEnd), n, true)
	} else {
		c.flat(endOf(z, n, fromEnd), n)
	}
	cutEnd(db, &e, n, fromEnd)
}

// endOf are n members from one end of a sorted set.
func endOf(z *shard.SortedSet, n int, last bool) iter.Seq[shard.Ranked] {
	if last {
		return z.Descending(z.Len()-n, z.Len())
	}
	return z.Ascending(0, n)
}

// cutEnd removes n members from one end of a sorted set.
func cutEnd(db *shard.Database, e *shard.Entry, n int, last bool) {
	z := db.Sorted(e)
	first := 0
	if last {
		first = z.Len() - n
	}
	cutRanks(db, e, ranks{first, first + n})
}

// cutRanks removes the members of some ranks from a sorted set.
func cutRanks(db *shard.Database, e *shard.Entry, r ranks) {
	z := db.Sorted(e)
	if r.len() == z.Len() {
		db.Delete(e)
		return
	}
	for range r.len() {
		db.SortedRemove(e, z.At(r.first).Member)
	}
}

// notNegative reads an integer that is 0 or more. It replies with the error and
// says false when it is none.
func (c *Call) notNegative(word []byte, otherwise ErrorID) (int64, bool) {
	n, ok := Int(word)
	if !ok || n < 0 {
		c.Fail(otherwise)
		return 0, false
	}
	return n, true
}

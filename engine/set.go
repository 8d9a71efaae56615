package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/limitstore/limitstore/shard"
)

// setCollectionCommands are Redis' commands on sets: members under one key.
func setCollectionCommands() []Command {
	return slices.Concat(memberCommands(), setListCommands(), setRandomCommands(), setAlgebraCommands())
}

var (
	memberArg  = Arg{Name: "member", Type: String}
	membersArg = Arg{Name: "member", Type: String, Multiple: true}
)

func memberCommands() []Command {
	return []Command{{
		Name: "SADD", Group: Sets, Since: "0.1.0", Summary: "Adds members to a set; creates the set when there is none.", Complexity: "O(N) with N the number of members given",
		Args: []Arg{keyArg, membersArg}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: runSAdd,
		Reply: "integer: how many of the members are new", Examples: []Example{{"SADD banned ann bob", "(integer) 2"}, {"SADD banned bob cid", "(integer) 1"}},
	}, {
		Name: "SREM", Group: Sets, Since: "0.1.0", Summary: "Removes members from a set, and the set with the last one.", Complexity: "O(N) with N the number of members given",
		Args: []Arg{keyArg, membersArg}, Keys: OneKey, Flags: Write | Fast, Run: runSRem,
		Reply: "integer: how many of the members there were", Examples: []Example{{"SADD banned ann bob", "(integer) 2"}, {"SREM banned bob cid", "(integer) 1"}},
	}, {
		Name: "SISMEMBER", Group: Sets, Since: "0.1.0", Summary: "Says whether a set has a member.", Complexity: "O(1)",
		Args: []Arg{keyArg, memberArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runSIsMember,
		Reply: "integer: 1 or 0", Examples: []Example{{"SADD banned ann", "(integer) 1"}, {"SISMEMBER banned ann", "(integer) 1"}, {"SISMEMBER banned bob", "(integer) 0"}},
	}, {
		Name: "SMISMEMBER", Group: Sets, Since: "0.1.0", Summary: "Says of each of several members whether a set has it.", Complexity: "O(N) with N the number of members given",
		Args: []Arg{keyArg, membersArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runSMIsMember,
		Reply: "array of integers: 1 or 0 for each", Examples: []Example{{"SADD banned ann", "(integer) 1"}, {"SMISMEMBER banned bob ann", "1) (integer) 0\n2) (integer) 1"}},
	}, {
		Name: "SCARD", Group: Sets, Since: "0.1.0", Summary: "Counts the members of a set.", Complexity: "O(1)",
		Args: []Arg{keyArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runSCard,
		Reply: "integer: how many there are", Examples: []Example{{"SADD banned ann bob", "(integer) 2"}, {"SCARD banned", "(integer) 2"}},
	}, {
		Name: "SMOVE", Group: Sets, Since: "0.1.0", Summary: "Moves a member from one set to another.", Complexity: "O(1)",
		Args: []Arg{{Name: "source", Type: Key}, {Name: "destination", Type: Key}, memberArg}, Keys: Keys{First: 1, Last: 2, Step: 1}, Flags: Write | Fast, Run: runSMove,
		Reply: "integer: 1 when moved, 0 when the source has no such member", Examples: []Example{{"SADD warned ann", "(integer) 1"}, {"SMOVE warned banned ann", "(integer) 1"}, {"SMEMBERS banned", `1) "ann"`}},
	}}
}

func runSAdd(c *Call) {
	db, e, ok := c.openKind(c.Args[1], shard.KindSet)
	if !ok || c.rosterOverfull(db.Set(&e), c.Args[2:], 1) {
		return
	}
	n := int64(0)
	for _, member := range c.Args[2:] {
		n += one(db.SetAdd(&e, member))
	}
	c.Out.Int(n)
}

func runSRem(c *Call) {
	db, e, ok := c.openKind(c.Args[1], shard.KindSet)
	if !ok {
		return
	}
	n := int64(0)
	for _, member := range c.Args[2:] {
		n += one(db.SetRemove(&e, member))
	}
	c.Out.Int(n)
}

// has says whether a set has a member.
func has(s *shard.Roster, member []byte) bool {
	_, is := s.Get(member)
	return is
}

func runSIsMember(c *Call) {
	if db, e, ok := c.readKind(c.Args[1], shard.KindSet); ok {
		c.Out.Int(one(has(db.Set(&e), c.Args[2])))
	}
}

func runSMIsMember(c *Call) {
	db, e, ok := c.readKind(c.Args[1], shard.KindSet)
	if !ok {
		return
	}
	c.Out.Array(len(c.Args) - 2)
	for _, member := range c.Args[2:] {
		c.Out.Int(one(has(db.Set(&e), member)))
	}
}

func runSCard(c *Call) {
	if db, e, ok := c.readKind(c.Args[1], shard.KindSet); ok {
		c.Out.Int(int64(db.Set(&e).Len()))
	}
}

func runSMove(c *Call) {
	source, target, member := c.Database(c.Args[1]), c.Database(c.Args[2]), c.Args[3]
	from, to := source.Lookup(c.Args[1]), target.Lookup(c.Args[2])
	switch {
	case !from.Exists():
		c.Out.Int(0)
	case c.mismatch(&from, shard.KindSet) || c.mismatch(&to, shard.KindSet):
	case !has(source.Set(&from), member):
		c.Out.Int(0)
	case string(c.Args[1]) == string(c.Args[2]):
		c.Out.Int(1)
	case !c.rosterOverfull(target.Set(&to), c.Args[3:], 1):
		source.SetRemove(&from, member)
		target.SetAdd(&to, member)
		c.Out.Int(1)
	}
}

func setListCommands() []Command {
	return []Command{{
		Name: "SMEMBERS", Group: Sets, Since: "0.1.0", Summary: "Lists the members of a set.", Complexity: "O(N) with N the number of members",
		Args: []Arg{keyArg}, Keys: OneKey, Flags: ReadOnly, Run: runSMembers,
		Reply: "set of bulk strings; in RESP2 an array", Examples: []Example{{"SADD banned bob ann", "(integer) 2"}, {"SMEMBERS banned", "1) \"bob\"\n2) \"ann\""}, {"SADD ports 443 80", "(integer) 2"}, {"SMEMBERS ports", "1) \"80\"\n2) \"443\""}},
		Notes: "In the order in which they came; up to 512 members that are all integers in numeric order, as in Redis.",
	}, {
		Name: "SSCAN", Group: Sets, Since: "0.1.0", Summary: "Walks through the members of a set, some at each call.", Complexity: "O(COUNT) for each call, O(N) for a whole walk",
		Args: scanArgs(), Keys: OneKey, Flags: ReadOnly, Run: func(c *Call) { c.scanRoster(shard.KindSet) },
		Reply: scanReply + "members", Examples: []Example{{"SADD banned ann bob", "(integer) 2"}, {"SSCAN banned 0 MATCH b* COUNT 100", "1) \"0\"\n2) 1) \"bob\""}},
		Notes: scanNotes,
	}}
}

func runSMembers(c *Call) {
	if db, e, ok := c.readKind(c.Args[1], shard.KindSet); ok {
		c.members(db.Set(&e))
	}
}

// members replies with all members of a set.
func (c *Call) members(s *shard.Roster) {
	c.Out.Set(s.Len())
	if numbers, ok := asIntegers(s); ok {
		eachInt(numbers, c.Out.Bulk)
		return
	}
	for member := range s.All() {
		c.Out.Bulk(member)
	}
}

// eachInt calls fn with each number in decimal.
func eachInt(numbers []int64, fn func(digits []byte)) {
	room := make([]byte, 0, maxDigits)
	for _, n := range numbers {
		fn(strconv.AppendInt(room, n, 10))
	}
}

func setRandomCommands() []Command {
	count := Arg{Name: "count", Type: Integer, Optional: true}
	return []Command{{
		Name: "SPOP", Group: Sets, Since: "0.1.0", Summary: "Removes members drawn at random from a set and returns them.", Complexity: "O(N) with N the number of members returned",
		Args: []Arg{keyArg, count}, Keys: OneKey, Flags: Write | Fast, Run: runSPop,
		Reply: "bulk string: a member, nil when there is none; with a count a set of as many, in RESP2 an array", Examples: []Example{{"SADD tickets 7", "(integer) 1"}, {"SPOP tickets", `"7"`}, {"SPOP tickets 2", "(empty array)"}},
	}, {
		Name: "SRANDMEMBER", Group: Sets, Since: "0.1.0", Summary: "Returns members of a set drawn at random.", Complexity: "O(N) with N the number of members returned",
		Args: []Arg{keyArg, count}, Keys: OneKey, Flags: ReadOnly, Run: runSRandMember,
		Reply: "bulk string: a member, nil when there is none; with a count an array of as many different ones or, when it is negative, with repetitions", Examples: []Example{{"SADD tickets 7", "(integer) 1"}, {"SRANDMEMBER tickets", `"7"`}, {"SRANDMEMBER tickets -2", "1) \"7\"\n2) \"7\""}},
		Notes: "Repetitions are bounded by --max-elements.",
	}}
}

func runSPop(c *Call) {
	if len(c.Args) > 3 {
		c.Fail(Syntax)
		return
	}
	count := int64(1)
	if len(c.Args) == 3 {
		var ok bool
		if count, ok = Int(c.Args[2]); !ok || count < 0 {
			c.Fail(NotPositive)
			return
		}
	}
	db, e, ok := c.openKind(c.Args[1], shard.KindSet)
	if !ok {
		return
	}
	switch n := db.Set(&e).Len(); {
	case len(c.Args) == 2 && n == 0:
		c.Out.Null()
	case len(c.Args) == 2:
		c.pop(db, &e, 1)
	case count >= int64(n):
		c.members(db.Set(&e))
		db.Delete(&e)
	default:
		c.Out.Set(int(count))
		c.pop(db, &e, int(count))
	}
}

// pop takes so many members out of a set and replies with each.
func (c *Call) pop(db *shard.Database, e *shard.Entry, count int) {
	for range count {
		member, _ := db.Set(e).Pick(rand.IntN)
		c.Out.Bulk(member)
		db.SetRemove(e, member)
	}
}

func runSRandMember(c *Call) {
	switch len(c.Args) {
	case 2:
		c.randomName(shard.KindSet)
		return
	case 3:
	default:
		c.Fail(Syntax)
		return
	}
	count, ok := c.randomCount(c.Args[2])
	if !ok {
		return
	}
	if db, e, ok := c.readKind(c.Args[1], shard.KindSet); ok {
		c.fields(chosen(db.Set(&e), count), false)
	}
}

// numberOfKeys reads a count of keys that is followed by the keys at word first.
// It replies with the error and says false when it cannot be right.
func (c *Call) numberOfKeys(word []byte, first int) (int, bool) {
	n, ok := Int(word)
	switch {
	case !ok || n < 1:
		c.Fail(NumKeys)
		return 0, false
	case n > int64(len(c.Args)-first) || n > math.MaxInt32:
		c.Fail(TooManyKeys)
		return 0, false
	}
	return int(n), true
}

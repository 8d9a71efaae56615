package engine

import (
	"math"
	"slices"

	"github.com/limitstore/limitstore/shard"
)

// sortedCommands are Redis' commands on sorted sets: members with scores, in the
// order of the scores and, where those are equal, of the members' bytes.
func sortedCommands() []Command {
	return slices.Concat(
		sortedAddCommands(), sortedGetCommands(), sortedCountCommands(), sortedRangeCommands(), sortedOlderRangeCommands(),
		sortedRemoveCommands(), sortedRandomCommands(), sortedJoinCommands(),
	)
}

func sortedAddCommands() []Command {
	return []Command{{
		Name: "ZADD", Group: SortedSets, Since: "0.1.0", Summary: "Adds members with scores to a sorted set, or changes the scores of those it has; creates the sorted set when there is none.", Complexity: "O(log N) for each member given",
		Args: []Arg{
			keyArg, {Name: "condition", Type: OneOf, Optional: true, Args: []Arg{{Name: "nx", Type: PureToken, Token: "NX"}, {Name: "xx", Type: PureToken, Token: "XX"}}},
			{Name: "comparison", Type: OneOf, Optional: true, Args: []Arg{{Name: "gt", Type: PureToken, Token: "GT"}, {Name: "lt", Type: PureToken, Token: "LT"}}},
			{Name: "change", Type: PureToken, Token: "CH", Optional: true}, {Name: "increment", Type: PureToken, Token: "INCR", Optional: true},
			{Name: "data", Type: Block, Multiple: true, Args: []Arg{{Name: "score", Type: Double}, memberArg}},
		},
		Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: func(c *Call) { c.sortedAdd(0) },
		Reply:    "integer: how many members are new, with CH also how many have another score; with INCR the new score, nil when an option prevented it",
		Examples: []Example{{"ZADD hits 10 a 20 b", "(integer) 2"}, {"ZADD hits GT CH 15 a 5 b", "(integer) 1"}, {"ZADD hits XX LT 1 c", "(integer) 0"}, {"ZADD hits NX INCR 5 d", `"5"`}, {"ZRANGE hits 0 -1", "1) \"d\"\n2) \"a\"\n3) \"b\""}},
		Notes:    "NX only adds, XX only changes, GT and LT change only to a greater or smaller score. Scores are doubles: whole numbers are exact up to 2^53, nanoseconds since 1970 to 256. A score of -0 is 0.",
	}, {
		Name: "ZINCRBY", Group: SortedSets, Since: "0.1.0", Summary: "Adds to the score of a member of a sorted set, 0 when there is none.", Complexity: "O(log N)",
		Args: []Arg{keyArg, {Name: "increment", Type: Double}, memberArg}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: func(c *Call) { c.sortedAdd(addIncr) },
		Reply: "double: the new score; in RESP2 a bulk string", Examples: []Example{{"ZINCRBY hits 2 a", `"2"`}, {"ZINCRBY hits -0.5 a", `"1.5"`}},
	}}
}

// addFlags are the options of ZADD.
type addFlags uint8

const (
	addNX addFlags = 1 << iota
	addXX
	addGT
	addLT
	addCH
	addIncr
)

var addWords = [...]struct {
	word string
	flag addFlags
}{{"NX", addNX}, {"XX", addXX}, {"GT", addGT}, {"LT", addLT}, {"CH", addCH}, {"INCR", addIncr}}

// addFlag is the option that a word is, 0 when it is none.
func addFlag(word []byte) addFlags {
	for _, w := range addWords {
		if EqualFold(word, w.word) {
			return w.flag
		}
	}
	return 0
}

// addPairs reads the options of ZADD and returns the pairs after them. It replies
// with the error and says false when they do not go together.
func (c *Call) addPairs(flags *addFlags) (pairs [][]byte, ok bool) {
	pairs = c.Args[2:]
	for len(pairs) > 0 && addFlag(pairs[0]) != 0 {
		*flags |= addFlag(pairs[0])
		pairs = pairs[1:]
	}
	has := func(set addFlags) bool { return *flags&set == set }
	switch {
	case len(pairs) == 0 || len(pairs)%2 != 0:
		c.Fail(Syntax)
	case has(addNX | addXX):
		c.Fail(NXAndXX)
	case has(addGT|addNX) || has(addLT|addNX) || has(addGT|addLT):
		c.Fail(GTAndLTAndNX)
	case has(addIncr) && len(pairs) > 2:
		c.Fail(IncrPairs)
	default:
		return pairs, true
	}
	return nil, false
}

// sortedAdd is ZADD, and with addIncr ZINCRBY, which reads options as ZADD does.
func (c *Call) sortedAdd(flags addFlags) {
	pairs, ok := c.addPairs(&flags)
	if !ok {
		return
	}
	var room [8]float64
	scores := room[:0]
	for i := 0; i < len(pairs); i += 2 {
		score, ok := parseDouble(pairs[i])
		if !ok {
			c.Fail(NotFloat)
			return
		}
		scores = append(scores, score)
	}
	db, e, ok := c.openKind(c.Args[1], shard.KindSorted)
	if !ok || flags&addXX == 0 && c.sortedOverfull(db.Sorted(&e), pairs) {
		return
	}
	a := addition{flags: flags}
	for i, score := range scores {
		if !a.add(db, &e, pairs[2*i+1], score) {
			c.Fail(ScoreNaN)
			return
		}
	}
	a.reply(c)
}

// sortedOverfull is overfull for pairs of a score and a member. Of many, members
// that are there already are not counted.
func (c *Call) sortedOverfull(z *shard.SortedSet, pairs [][]byte) bool {
	has, more := measure{z.Len(), z.Bytes()}, measure{}
	for i := 1; i < len(pairs); i += 2 {
		more.add(pairs[i])
	}
	if has.elements+more.elements > c.limits.Elements {
		fresh := map[string]bool{}
		for i := 1; i < len(pairs); i += 2 {
			if _, ok := z.Score(pairs[i]); !ok {
				fresh[string(pairs[i])] = true
			}
		}
		more.elements = len(fresh)
	}
	return c.overfull(has, more)
}

// addition is a ZADD under way.
type addition struct {
	flags          addFlags
	added, updated int64
	score          float64 // of the last member
	done           bool    // no option prevented the last one
}

// add adds a member or changes its score. False says that the score would be NaN;
// then nothing has changed, since only INCR does that and it takes one member.
func (a *addition) add(db *shard.Database, e *shard.Entry, member []byte, score float64) bool {
	a.done = false
	bits, exists := db.Sorted(e).Score(member)
	old := float(bits)
	if exists && a.flags&addIncr != 0 {
		score += old
	}
	switch {
	case exists && a.flags&addNX != 0, !exists && a.flags&addXX != 0:
		return true
	case math.IsNaN(score):
		return false
	case exists && (a.flags&addGT != 0 && score <= old || a.flags&addLT != 0 && score >= old):
		return true
	}
	a.done, a.score = true, score
	if !exists {
		a.added++
	} else if score != old {
		a.updated++
	}
	db.SortedAdd(e, member, scoreOf(score))
	return true
}

func (a *addition) reply(c *Call) {
	switch {
	case a.flags&addIncr != 0 && a.done:
		c.Out.Double(a.score)
	case a.flags&addIncr != 0:
		c.Out.Null()
	case a.flags&addCH != 0:
		c.Out.Int(a.added + a.updated)
	default:
		c.Out.Int(a.added)
	}
}

func sortedGetCommands() []Command {
	withScore := Arg{Name: "withscore", Type: PureToken, Token: "WITHSCORE", Optional: true}
	return []Command{{
		Name: "ZSCORE", Group: SortedSets, Since: "0.1.0", Summary: "Returns the score of a member of a sorted set.", Complexity: "O(1)",
		Args: []Arg{keyArg, memberArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runZScore,
		Reply: "double: the score, in RESP2 a bulk string; nil when there is no such member", Examples: []Example{{"ZADD hits 10.5 a", "(integer) 1"}, {"ZSCORE hits a", `"10.5"`}, {"ZSCORE hits b", "(nil)"}},
	}, {
		Name: "ZMSCORE", Group: SortedSets, Since: "0.1.0", Summary: "Returns the scores of several members of a sorted set.", Complexity: "O(N) with N the number of members given",
		Args: []Arg{keyArg, membersArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runZMScore,
		Reply: "array: for each member its score, a double and in RESP2 a bulk string; nil when there is no such member", Examples: []Example{{"ZADD hits 10.5 a", "(integer) 1"}, {"ZMSCORE hits a b", "1) \"10.5\"\n2) (nil)"}},
	}, {
		Name: "ZRANK", Group: SortedSets, Since: "0.1.0", Summary: "Returns how many members of a sorted set come before one.", Complexity: "O(log N)",
		Args: []Arg{keyArg, memberArg, withScore}, Keys: OneKey, Flags: ReadOnly | Fast, Run: func(c *Call) { c.rank(false) },
		Reply:    "integer: the rank, from 0; with WITHSCORE an array of it and the score; nil when there is no such member",
		Examples: []Example{{"ZADD hits 10 a 20 b", "(integer) 2"}, {"ZRANK hits b", "(integer) 1"}, {"ZRANK hits b WITHSCORE", "1) (integer) 1\n2) \"20\""}},
	}, {
		Name: "ZREVRANK", Group: SortedSets, Since: "0.1.0", Summary: "Returns how many members of a sorted set come after one.", Complexity: "O(log N)",
		Args: []Arg{keyArg, memberArg, withScore}, Keys: OneKey, Flags: ReadOnly | Fast, Run: func(c *Call) { c.rank(true) },
		Reply:    "integer: the rank from the end, from 0; with WITHSCORE an array of it and the score; nil when there is no such member",
		Examples: []Example{{"ZADD hits 10 a 20 b", "(integer) 2"}, {"ZREVRANK hits b", "(integer) 0"}, {"ZREVRANK hits b WITHSCORE", "1) (integer) 0\n2) \"20\""}},
	}}
}

// sorted looks a sorted set up for reading; false when it has replied WRONGTYPE.
func (c *Call) sorted(key []byte) (*shard.SortedSet, bool) {
	db, e, ok := c.readKind(key, shard.KindSorted)
	return db.Sorted(&e), ok
}

// score replies with the score of a member.
func (c *Call) score(z *shard.SortedSet, member []byte) {
	if score, ok := z.Score(member); ok {
		c.Out.Double(float(score))
	} else {
		c.Out.Null()
	}
}

func runZScore(c *Call) {
	if z, ok := c.sorted(c.Args[1]); ok {
		c.score(z, c.Args[2])
	}
}

func runZMScore(c *Call) {
	z, ok := c.sorted(c.Args[1])
	if !ok {
		return
	}
	c.Out.Array(len(c.Args) - 2)
	for _, member := range c.Args[2:] {
		c.score(z, member)
	}
}

// rank is ZRANK or ZREVRANK.
func (c *Call) rank(fromEnd bool) {
	withScore := len(c.Args) == 4
	switch {
	case len(c.Args) > 4:
		c.Fail(WrongArity, c.Command.lower)
		return
	case withScore && !EqualFold(c.Args[3], "WITHSCORE"):
		c.Fail(Syntax)
		return
	}
	z, ok := c.sorted(c.Args[1])
	if !ok {
		return
	}
	rank, ok := z.Rank(c.Args[2])
	if fromEnd {
		rank = z.Len() - 1 - rank
	}
	switch {
	case !ok && withScore:
		c.Out.NullArray()
	case !ok:
		c.Out.Null()
	case withScore:
		c.Out.Array(2)
		c.Out.Int(int64(rank))
		c.score(z, c.Args[2])
	default:
		c.Out.Int(int64(rank))
	}
}

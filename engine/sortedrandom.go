package engine

import (
	"math"
	"math/rand/v2"

	"github.com/limitstore/limitstore/resp"
	"github.com/limitstore/limitstore/shard"
)

// sortedRandomCommands find members of a sorted set in no order.
func sortedRandomCommands() []Command {
	return []Command{{
		Name: "ZRANDMEMBER", Group: SortedSets, Since: "0.1.0", Summary: "Returns members of a sorted set drawn at random.", Complexity: "O(N) with N the number of members returned",
		Args: []Arg{keyArg, {Name: "options", Type: Block, Optional: true, Args: []Arg{{Name: "count", Type: Integer}, withScoresArg}}},
		Keys: OneKey, Flags: ReadOnly, Run: runZRandMember,
		Reply:    "bulk string: a member, nil when there is none; with a count an array of as many different ones or, when it is negative, with repetitions; with WITHSCORES their scores too",
		Examples: []Example{{"ZADD hits 10 a", "(integer) 1"}, {"ZRANDMEMBER hits", `"a"`}, {"ZRANDMEMBER hits -2 WITHSCORES", "1) \"a\"\n2) \"10\"\n3) \"a\"\n4) \"10\""}},
		Notes:    "In RESP3 WITHSCORES gives an array of pairs. Repetitions are bounded by --max-elements.",
	}, {
		Name: "ZSCAN", Group: SortedSets, Since: "0.1.0", Summary: "Walks through the members of a sorted set, some at each call.", Complexity: "O(COUNT) for each call, O(N) for a whole walk",
		Args: scanArgs(), Keys: OneKey, Flags: ReadOnly, Run: runZScan,
		Reply: scanReply + "members and scores in turns", Examples: []Example{{"ZADD hits 10 a 20 b", "(integer) 2"}, {"ZSCAN hits 0 MATCH b* COUNT 100", "1) \"0\"\n2) 1) \"b\"\n   2) \"20\""}},
		Notes: scanNotes,
	}}
}

func runZRandMember(c *Call) {
	if len(c.Args) == 2 {
		z, ok := c.sorted(c.Args[1])
		switch {
		case ok && z.Len() == 0:
			c.Out.Null()
		case ok:
			c.Out.Bulk(z.At(rand.IntN(z.Len())).Member)
		}
		return
	}
	count, ok := c.randomCount(c.Args[2])
	if !ok {
		return
	}
	withScores := len(c.Args) == 4 && EqualFold(c.Args[3], "WITHSCORES")
	switch most := int64(math.MaxInt64) / 2; {
	case len(c.Args) > 3 && !withScores:
		c.Fail(Syntax)
		return
	case withScores && (count > most || count < -most):
		c.Fail(NotInRange)
		return
	}
	if z, ok := c.sorted(c.Args[1]); ok {
		all := chosen(z.Roster(), count)
		c.ranked(func(yield func(shard.Ranked) bool) {
			for _, p := range all {
				if !yield(shard.Ranked{Member: p.name, Score: shard.DecodeScore(p.value)}) {
					return
				}
			}
		}, len(all), withScores)
	}
}

func runZScan(c *Call) {
	var s elementScan
	db, e, ok := s.begin(c, shard.KindSorted)
	if !ok {
		return
	}
	var room [longestDouble]byte
	z, next := db.Sorted(&e), uint64(0)
	if s.cursor == 0 && z.Packed() {
		for x := range z.Ascending(0, z.Len()) {
			s.visit(x.Member, resp.AppendDouble(room[:0], float(x.Score)), true)
		}
	} else {
		next = z.Roster().Scan(s.cursor, s.count, func(member, value []byte) {
			s.visit(member, resp.AppendDouble(room[:0], float(shard.DecodeScore(value))), true)
		})
	}
	s.reply(c, next)
}

// longestDouble is room for the text of any double.
const longestDouble = 32

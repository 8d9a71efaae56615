package engine

import (
	"iter"
	"slices"

	"github.com/limitstore/limitstore/shard"
)

var (
	limitArg      = Arg{Name: "limit", Type: Block, Token: "LIMIT", Optional: true, Args: []Arg{{Name: "offset", Type: Integer}, {Name: "count", Type: Integer}}}
	withScoresArg = Arg{Name: "withscores", Type: PureToken, Token: "WITHSCORES", Optional: true}
	sortByArg     = Arg{Name: "sortby", Type: OneOf, Optional: true, Args: []Arg{{Name: "byscore", Type: PureToken, Token: "BYSCORE"}, {Name: "bylex", Type: PureToken, Token: "BYLEX"}}}
	revArg        = Arg{Name: "rev", Type: PureToken, Token: "REV", Optional: true}
)

const (
	rangeComplexity = "O(log N + M) with M the members returned"
	rangeReply      = "array: the members; with WITHSCORES each followed by its score, in RESP3 as pairs"
)

func sortedRangeCommands() []Command {
	start, stop := Arg{Name: "start", Type: String}, Arg{Name: "stop", Type: String}
	return []Command{{
		Name: "ZRANGE", Group: SortedSets, Since: "0.1.0", Summary: "Returns the members of a sorted set in a range of ranks, of scores or of members.", Complexity: rangeComplexity,
		Args: []Arg{keyArg, start, stop, sortByArg, revArg, limitArg, withScoresArg}, Keys: OneKey, Flags: ReadOnly,
		Run: func(c *Call) { c.rangeOf(rangeQuery{auto: true}) }, Reply: rangeReply,
		Examples: []Example{
			{"ZADD hits 10 a 20 b 30 c", "(integer) 3"}, {"ZRANGE hits 0 -2 WITHSCORES", "1) \"a\"\n2) \"10\"\n3) \"b\"\n4) \"20\""},
			{"ZRANGE hits +inf (10 BYSCORE REV LIMIT 0 1", `1) "c"`}, {"ZRANGE hits - [b BYLEX", "1) \"a\"\n2) \"b\""},
		},
		Notes: "Ranks count from the end when negative. With REV the members come in descending order, and start is the upper end. LIMIT goes with BYSCORE and BYLEX; a negative count is all.",
	}, {
		Name: "ZRANGESTORE", Group: SortedSets, Since: "0.1.0", Summary: "Stores a range of a sorted set as a sorted set.", Complexity: "O(log N + M*log M) with M the members stored",
		Args: []Arg{{Name: "dst", Type: Key}, {Name: "src", Type: Key}, {Name: "min", Type: String}, {Name: "max", Type: String}, sortByArg, revArg, limitArg},
		Keys: Keys{First: 1, Last: 2, Step: 1}, Flags: Write | DenyOOM, Run: runZRangeStore,
		Reply:    "integer: how many members the result has; what the destination held is gone",
		Examples: []Example{{"ZADD hits 10 a 20 b 30 c", "(integer) 3"}, {"ZRANGESTORE top hits 0 1 REV", "(integer) 2"}, {"ZRANGESTORE low hits -inf 10 BYSCORE LIMIT 0 5", "(integer) 1"}, {"ZRANGESTORE some hits [b + BYLEX", "(integer) 2"}, {"ZRANGE top 0 -1", "1) \"b\"\n2) \"c\""}},
	}}
}

func sortedOlderRangeCommands() []Command {
	older := func(name, summary string, args []Arg, q rangeQuery, notes string, examples ...Example) Command {
		return Command{
			Name: name, Group: SortedSets, Since: "0.1.0", Summary: summary, Complexity: rangeComplexity, Args: args, Keys: OneKey, Flags: ReadOnly,
			Run: func(c *Call) { c.rangeOf(q) }, Reply: rangeReply, Examples: examples, Notes: notes,
		}
	}
	hits, names := Example{"ZADD hits 10 a 20 b 30 c", "(integer) 3"}, Example{"ZADD names 0 ann 0 bob 0 cid", "(integer) 3"}
	backwards := func(of []Arg) []Arg { return []Arg{of[0], of[2], of[1]} }
	return []Command{
		older("ZREVRANGE", "Returns the members of a sorted set in a range of ranks from the end, in descending order.",
			[]Arg{keyArg, {Name: "start", Type: Integer}, {Name: "stop", Type: Integer}, withScoresArg}, rangeQuery{reverse: true}, "",
			hits, Example{"ZREVRANGE hits 0 0 WITHSCORES", "1) \"c\"\n2) \"30\""}),
		older("ZRANGEBYSCORE", "Returns the members of a sorted set with scores in a range.",
			slices.Concat(scoreRangeArgs, []Arg{withScoresArg, limitArg}), rangeQuery{rangeEnds: rangeEnds{by: byScore}}, scoreRangeNotes,
			hits, Example{"ZRANGEBYSCORE hits (10 +inf WITHSCORES LIMIT 0 1", "1) \"b\"\n2) \"20\""}),
		older("ZREVRANGEBYSCORE", "Returns the members of a sorted set with scores in a range, in descending order.",
			slices.Concat(backwards(scoreRangeArgs), []Arg{withScoresArg, limitArg}), rangeQuery{rangeEnds: rangeEnds{by: byScore}, reverse: true}, scoreRangeNotes,
			hits, Example{"ZREVRANGEBYSCORE hits 20 -inf WITHSCORES LIMIT 1 -1", "1) \"a\"\n2) \"10\""}),
		older("ZRANGEBYLEX", "Returns the members of a sorted set in a range, by their bytes.",
			slices.Concat(memberRangeArgs, []Arg{limitArg}), rangeQuery{rangeEnds: rangeEnds{by: byMember}}, memberRangeNotes,
			names, Example{"ZRANGEBYLEX names [b + LIMIT 0 1", `1) "bob"`}),
		older("ZREVRANGEBYLEX", "Returns the members of a sorted set in a range, by their bytes, in descending order.",
			slices.Concat(backwards(memberRangeArgs), []Arg{limitArg}), rangeQuery{rangeEnds: rangeEnds{by: byMember}, reverse: true}, memberRangeNotes,
			names, Example{"ZREVRANGEBYLEX names (cid - LIMIT 0 1", `1) "bob"`}),
	}
}

// rangeBy says what a range is given in.
type rangeBy uint8

const (
	byRank rangeBy = iota
	byScore
	byMember
)

// rangeEnds are the two ends of a range.
type rangeEnds struct {
	by          rangeBy
	start, stop int64 // ranks
	low, high   scoreBound
	first, last memberBound
}

// parse reads the ends, the lower one first but of ranks. It replies with the
// error and says false when one is wrong.
func (r *rangeEnds) parse(c *Call, low, high []byte) bool {
	var ok, ok2 bool
	otherwise := NotInteger
	switch r.by {
	case byScore:
		r.low, ok = parseScoreBound(low)
		r.high, ok2 = parseScoreBound(high)
		otherwise = NotScoreRange
	case byMember:
		r.first, ok = parseMemberBound(low)
		r.last, ok2 = parseMemberBound(high)
		otherwise = NotMemberRange
	default:
		r.start, ok = Int(low)
		r.stop, ok2 = Int(high)
	}
	if !ok || !ok2 {
		c.Fail(otherwise)
		return false
	}
	return true
}

// ranks are the members of a sorted set between the ends.
func (r *rangeEnds) ranks(z *shard.SortedSet) ranks {
	switch r.by {
	case byScore:
		return ranks{z.Below(r.low.score, r.low.exclusive), z.Below(r.high.score, !r.high.exclusive)}
	case byMember:
		return ranks{r.first.rank(z, r.first.exclusive), r.last.rank(z, !r.last.exclusive)}
	}
	return span(z.Len(), r.start, r.stop)
}

// rangeQuery is a range of a sorted set being asked for.
type rangeQuery struct {
	rangeEnds
	auto    bool // options may say by what, and reverse
	store   bool
	reverse bool
	scores  bool

	offset, count int64 // of LIMIT
}

// parse reads the ends of the range, of which the first is the upper one when a
// range of scores or members is reversed, and the options after them. It replies
// with the error and says false when they are wrong.
func (q *rangeQuery) parse(c *Call, words [][]byte) bool {
	if !q.options(c, words[2:]) {
		return false
	}
	low, high := words[0], words[1]
	if q.reverse && q.by != byRank {
		low, high = high, low
	}
	return q.rangeEnds.parse(c, low, high)
}

func (q *rangeQuery) options(c *Call, words [][]byte) bool {
	q.count = -1
	for ; len(words) > 0; words = words[1:] {
		switch {
		case !q.store && EqualFold(words[0], "WITHSCORES"):
			q.scores = true
		case len(words) > 2 && EqualFold(words[0], "LIMIT"):
			var ok, ok2 bool
			q.offset, ok = Int(words[1])
			q.count, ok2 = Int(words[2])
			if !ok || !ok2 {
				c.Fail(NotInteger)
				return false
			}
			words = words[2:]
		case q.auto && !q.reverse && EqualFold(words[0], "REV"):
			q.reverse = true
		case q.auto && q.by == byRank && EqualFold(words[0], "BYLEX"):
			q.by = byMember
		case q.auto && q.by == byRank && EqualFold(words[0], "BYSCORE"):
			q.by = byScore
		default:
			c.Fail(Syntax)
			return false
		}
	}
	switch {
	case q.count != -1 && q.by == byRank:
		c.Fail(LimitOfRanks)
	case q.scores && q.by == byMember:
		c.Fail(ScoresOfMembers)
	default:
		return true
	}
	return false
}

// members are the members in the range, in the order asked for, and how many
// they are.
func (q *rangeQuery) members(z *shard.SortedSet) (iter.Seq[shard.Ranked], int) {
	r := q.ranks(z)
	switch {
	case q.by != byRank:
		r = q.limited(r)
	case q.reverse && r.len() > 0:
		r = ranks{z.Len() - r.end, z.Len() - r.first}
	}
	if q.reverse {
		return z.Descending(r.first, r.end), r.len()
	}
	return z.Ascending(r.first, r.end), r.len()
}

// limited is the part of a range that LIMIT leaves.
func (q *rangeQuery) limited(r ranks) ranks {
	n := int64(r.len())
	if q.offset < 0 || q.offset >= n {
		return ranks{}
	}
	n -= q.offset
	if q.count >= 0 {
		n = min(n, q.count)
	}
	if q.reverse {
		end := r.end - int(q.offset)
		return ranks{end - int(n), end}
	}
	first := r.first + int(q.offset)
	return ranks{first, first + int(n)}
}

// rangeOf is ZRANGE or one of its older forms.
func (c *Call) rangeOf(q rangeQuery) {
	if !q.parse(c, c.Args[2:]) {
		return
	}
	if z, ok := c.sorted(c.Args[1]); ok {
		members, n := q.members(z)
		c.ranked(members, n, q.scores)
	}
}

func runZRangeStore(c *Call) {
	q := rangeQuery{auto: true, store: true}
	if !q.parse(c, c.Args[3:]) {
		return
	}
	if z, ok := c.sorted(c.Args[2]); ok {
		members, _ := q.members(z)
		c.storeRanked(c.Args[1], slices.Collect(members))
	}
}

// storeRanked makes a key the sorted set of members and replies with how many
// they are.
func (c *Call) storeRanked(key []byte, members []shard.Ranked) {
	var more measure
	for _, x := range members {
		more.add(x.Member)
	}
	if c.overfull(measure{}, more) {
		return
	}
	db := c.Database(key)
	e := db.Lookup(key)
	db.PutSorted(&e, members)
	c.Out.Int(int64(len(members)))
}

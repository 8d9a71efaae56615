package engine

import "slices"

var (
	numKeysArg   = Arg{Name: "numkeys", Type: Integer}
	weightsArg   = Arg{Name: "weight", Type: Double, Token: "WEIGHTS", Optional: true, Multiple: true}
	aggregateArg = Arg{Name: "aggregate", Type: OneOf, Token: "AGGREGATE", Optional: true, Args: []Arg{
		{Name: "sum", Type: PureToken, Token: "SUM"}, {Name: "min", Type: PureToken, Token: "MIN"}, {Name: "max", Type: PureToken, Token: "MAX"},
	}}
)

// sortedJoinCommands put several sorted sets together. Sets take part, too: their
// members have the score 1.
func sortedJoinCommands() []Command {
	keys := Arg{Name: "key", Type: Key, Multiple: true}
	options := []Arg{weightsArg, aggregateArg}
	add := []Example{{"ZADD a 1 ann 2 bob", "(integer) 2"}, {"ZADD b 10 bob 20 cid", "(integer) 2"}}
	var all []Command
	for _, op := range []struct {
		name, store, does, complexity string
		of                            join
		args                          []Arg
		shown                         []Example
		stored                        string
	}{
		{"ZUNION", "ZUNIONSTORE", "the members that any of several sorted sets has", "O(N log N) with N the members of all", sortedUnion, options,
			[]Example{{" 2 a b WITHSCORES", "1) \"ann\"\n2) \"1\"\n3) \"bob\"\n4) \"12\"\n5) \"cid\"\n6) \"20\""}, {" 2 a b WEIGHTS 10 1 AGGREGATE MAX", "1) \"ann\"\n2) \"bob\"\n3) \"cid\""}}, "3"},
		{"ZINTER", "ZINTERSTORE", "the members that all of several sorted sets have", "O(N*K + M log M) with N the members of the smallest of K and M those of the result", sortedIntersection, options,
			[]Example{{" 2 a b WITHSCORES", "1) \"bob\"\n2) \"12\""}, {" 2 a b WEIGHTS 1 -1 AGGREGATE MIN", `1) "bob"`}}, "1"},
		{"ZDIFF", "ZDIFFSTORE", "the members of a sorted set that none of the others has", "O(N*K + M log M) with N the members of the first of K and M those of the result", sortedDifference, nil,
			[]Example{{" 2 a b WITHSCORES", "1) \"ann\"\n2) \"1\""}}, "1"},
	} {
		examples, notes := slices.Clone(add), ""
		for _, x := range op.shown {
			examples = append(examples, Example{op.name + x.In, x.Out})
		}
		takes := joinOptions{weights: op.args != nil}
		stored := Example{op.store + " c 2 a b", "(integer) " + op.stored}
		storing := append(slices.Clone(add), stored)
		if takes.weights {
			notes = "Scores are multiplied by WEIGHTS and added up, or what AGGREGATE says."
			storing = append(storing, Example{op.store + " c 2 a b WEIGHTS 2 3 AGGREGATE SUM", "(integer) " + op.stored},
				Example{op.store + " c 2 a b AGGREGATE MIN", "(integer) " + op.stored}, Example{op.store + " c 2 a b AGGREGATE MAX", "(integer) " + op.stored})
			examples = append(examples, Example{op.name + " 1 x AGGREGATE SUM", "(empty array)"}, Example{op.name + " 1 x AGGREGATE MIN", "(empty array)"}, Example{op.name + " 1 x AGGREGATE MAX", "(empty array)"})
		}
		all = append(all, Command{
			Name: op.name, Group: SortedSets, Since: "0.1.0", Summary: "Lists " + op.does + ".", Complexity: op.complexity,
			Args: slices.Concat([]Arg{numKeysArg, keys}, op.args, []Arg{withScoresArg}), Keys: Keys{Count: 1}, Flags: ReadOnly,
			Run: func(c *Call) { c.join(op.of, takes) }, Reply: rangeReply, Examples: examples, Notes: notes,
		}, Command{
			Name: op.store, Group: SortedSets, Since: "0.1.0", Summary: "Stores " + op.does + ".", Complexity: op.complexity,
			Args: slices.Concat([]Arg{{Name: "destination", Type: Key}, numKeysArg, keys}, op.args), Keys: Keys{First: 1, Last: 1, Step: 1, Count: 2}, Flags: Write | DenyOOM,
			Run: func(c *Call) { c.joinStore(op.of, takes) }, Reply: "integer: how many members the result has; what the destination held is gone", Examples: storing, Notes: notes,
		})
	}
	return append(all, Command{
		Name: "ZINTERCARD", Group: SortedSets, Since: "0.1.0", Summary: "Counts the members that all of several sorted sets have.", Complexity: "O(N*K) with N the members of the smallest of K",
		Args: []Arg{numKeysArg, keys, {Name: "limit", Type: Integer, Token: "LIMIT", Optional: true}}, Keys: Keys{Count: 1}, Flags: ReadOnly, Run: runZInterCard,
		Reply: "integer: how many there are, at most LIMIT unless that is 0", Examples: append(add, Example{"ZINTERCARD 2 a b", "(integer) 1"}, Example{"ZINTERCARD 2 a a LIMIT 1", "(integer) 1"}),
	})
}

// join is ZUNION, ZINTER or ZDIFF.
func (c *Call) join(of join, takes joinOptions) {
	takes.scores = true
	var j joining
	if rest, ok := c.joinSources(&j, 1); ok && j.options(c, rest, takes) {
		all := j.result(of)
		c.ranked(slices.Values(all), len(all), j.scores)
	}
}

// joinStore is one of their relatives that store the result.
func (c *Call) joinStore(of join, takes joinOptions) {
	var j joining
	if rest, ok := c.joinSources(&j, 2); ok && j.options(c, rest, takes) {
		c.storeRanked(c.Args[1], j.result(of))
	}
}

func runZInterCard(c *Call) {
	var j joining
	rest, ok := c.joinSources(&j, 1)
	if !ok || !j.options(c, rest, joinOptions{limit: true}) {
		return
	}
	found := int64(0)
	sortedIntersection(&j, func([]byte, float64) bool {
		found++
		return found != j.limit
	})
	c.Out.Int(found)
}

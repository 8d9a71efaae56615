package engine

import "github.com/limitstore/limitstore/shard"

// An algebra combines sets. Nil stands for a set that does not exist. It calls
// yield with each member of the result once and stops when that says false.
type algebra func(sets []*shard.Roster, yield func(member []byte) bool)

func setAlgebraCommands() []Command {
	var all []Command
	for _, op := range []struct {
		name, store, does, stores, complexity, result string
		combine                                       algebra
	}{
		{"SINTER", "SINTERSTORE", "Lists the members that all of several sets have.", "Stores the members that all of several sets have as a set.", "O(N*M) with N the members of the smallest set and M the number of sets", `1) "bob"`, intersection},
		{"SUNION", "SUNIONSTORE", "Lists the members that any of several sets has.", "Stores the members that any of several sets has as a set.", "O(N) with N the members of all sets", "1) \"ann\"\n2) \"bob\"\n3) \"cid\"", union},
		{"SDIFF", "SDIFFSTORE", "Lists the members of a set that none of the others has.", "Stores the members of a set that none of the others has as a set.", "O(N) with N the members of the first set, times the number of sets", `1) "ann"`, difference},
	} {
		examples := []Example{{"SADD a ann bob", "(integer) 2"}, {"SADD b bob cid", "(integer) 2"}}
		all = append(all, Command{
			Name: op.name, Group: Sets, Since: "0.1.0", Summary: op.does, Complexity: op.complexity,
			Args: []Arg{{Name: "key", Type: Key, Multiple: true}}, Keys: Keys{First: 1, Last: -1, Step: 1}, Flags: ReadOnly,
			Run: func(c *Call) { c.combine(op.combine) }, Reply: "set of bulk strings; in RESP2 an array", Examples: append(examples, Example{op.name + " a b", op.result}),
		}, Command{
			Name: op.store, Group: Sets, Since: "0.1.0", Summary: op.stores, Complexity: op.complexity,
			Args: []Arg{{Name: "destination", Type: Key}, {Name: "key", Type: Key, Multiple: true}}, Keys: Keys{First: 1, Last: -1, Step: 1}, Flags: Write | DenyOOM,
			Run: func(c *Call) { c.combineStore(op.combine) }, Reply: "integer: how many members the result has; what the destination held is gone",
			Examples: append(examples, Example{op.store + " c a b", "(integer) " + map[bool]string{true: "3", false: "1"}[op.name == "SUNION"]}, Example{"SMEMBERS c", op.result}),
		})
	}
	return append(all, Command{
		Name: "SINTERCARD", Group: Sets, Since: "0.1.0", Summary: "Counts the members that all of several sets have.", Complexity: "O(N*M) with N the members of the smallest set and M the number of sets",
		Args: []Arg{{Name: "numkeys", Type: Integer}, {Name: "key", Type: Key, Multiple: true}, {Name: "limit", Type: Integer, Token: "LIMIT", Optional: true}},
		Keys: Keys{Count: 1}, Flags: ReadOnly, Run: runSInterCard,
		Reply: "integer: how many there are, at most LIMIT unless that is 0", Examples: []Example{{"SADD a ann bob", "(integer) 2"}, {"SADD b bob ann", "(integer) 2"}, {"SINTERCARD 2 a b", "(integer) 2"}, {"SINTERCARD 2 a b LIMIT 1", "(integer) 1"}},
	})
}

// sets looks keys up; false when it has replied WRONGTYPE.
func (c *Call) sets(keys [][]byte) ([]*shard.Roster, bool) {
	all := make([]*shard.Roster, len(keys))
	for i, key := range keys {
		db, e, ok := c.readKind(key, shard.KindSet)
		if !ok {
			return nil, false
		}
		all[i] = db.Set(&e)
	}
	return all, true
}

// combined are the members of a combination of the sets at keys, views; false
// when it has replied with an error.
func (c *Call) combined(keys [][]byte, combine algebra) (members [][]byte, ok bool) {
	sets, ok := c.sets(keys)
	if !ok {
		return nil, false
	}
	combine(sets, func(member []byte) bool {
		members = append(members, member)
		return true
	})
	return members, true
}

func (c *Call) combine(combine algebra) {
	members, ok := c.combined(c.Args[1:], combine)
	if !ok {
		return
	}
	c.Out.Set(len(members))
	for _, member := range members {
		c.Out.Bulk(member)
	}
}

func (c *Call) combineStore(combine algebra) {
	members, ok := c.combined(c.Args[2:], combine)
	if !ok {
		return
	}
	var more measure
	for _, member := range members {
		more.add(member)
	}
	if c.overfull(measure{}, more) {
		return
	}
	db := c.Database(c.Args[1])
	e := db.Lookup(c.Args[1])
	db.PutSet(&e, members)
	c.Out.Int(int64(len(members)))
}

// intersection goes through the smallest set.
func intersection(sets []*shard.Roster, yield func([]byte) bool) {
	smallest := sets[0]
	for _, s := range sets {
		if s.Len() < smallest.Len() {
			smallest = s
		}
	}
	for member := range smallest.All() {
		everywhere := true
		for _, s := range sets {
			if s != smallest && everywhere {
				everywhere = has(s, member)
			}
		}
		if everywhere && !yield(member) {
			return
		}
	}
}

func union(sets []*shard.Roster, yield func([]byte) bool) {
	seen := map[string]bool{}
	for _, s := range sets {
		for member := range s.All() {
			if seen[string(member)] {
				continue
			}
			seen[string(member)] = true
			if !yield(member) {
				return
			}
		}
	}
}

func difference(sets []*shard.Roster, yield func([]byte) bool) {
	for member := range sets[0].All() {
		elsewhere := false
		for _, s := range sets[1:] {
			elsewhere = elsewhere || has(s, member)
		}
		if !elsewhere && !yield(member) {
			return
		}
	}
}

func runSInterCard(c *Call) {
	n, ok := c.numberOfKeys(c.Args[1], 2)
	if !ok {
		return
	}
	limit := int64(0)
	for words := c.Args[2+n:]; len(words) > 0; words = words[2:] {
		if len(words) < 2 || !EqualFold(words[0], "LIMIT") {
			c.Fail(Syntax)
			return
		}
		if limit, ok = Int(words[1]); !ok || limit < 0 {
			c.Fail(NegativeLimit)
			return
		}
	}
	sets, ok := c.sets(c.Args[2 : 2+n])
	if !ok {
		return
	}
	found := int64(0)
	intersection(sets, func([]byte) bool {
		found++
		return found != limit
	})
	c.Out.Int(found)
}

package engine

import (
	"slices"

	"github.com/limitstore/limitstore/shard"
)

// hashCommands are Redis' commands on hashes: fields with values under one key.
// Fields are listed in the order in which they came.
func hashCommands() []Command {
	return slices.Concat(hashSetCommands(), hashGetCommands(), hashListCommands(), hashCountCommands(), hashWalkCommands())
}

var (
	fieldArg  = Arg{Name: "field", Type: String}
	fieldsArg = Arg{Name: "field", Type: String, Multiple: true}
	pairsArg  = Arg{Name: "data", Type: Block, Multiple: true, Args: []Arg{{Name: "field", Type: String}, {Name: "value", Type: String}}}
)

func hashSetCommands() []Command {
	return []Command{{
		Name: "HSET", Group: Hashes, Since: "0.1.0", Summary: "Sets fields of a hash; creates the hash when there is none.", Complexity: "O(N) with N the number of fields given",
		Args: []Arg{keyArg, pairsArg}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: runHSet,
		Reply: "integer: how many of the fields are new", Examples: []Example{{"HSET user:1 name ann visits 1", "(integer) 2"}, {"HSET user:1 visits 2", "(integer) 0"}, {"HGET user:1 visits", `"2"`}},
	}, {
		Name: "HMSET", Group: Hashes, Since: "0.1.0", Summary: "Sets fields of a hash: HSET's older form.", Complexity: "O(N) with N the number of fields given",
		Args: []Arg{keyArg, pairsArg}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: runHMSet,
		Reply: "OK", Examples: []Example{{"HMSET user:1 name ann visits 1", "OK"}, {"HLEN user:1", "(integer) 2"}},
	}, {
		Name: "HSETNX", Group: Hashes, Since: "0.1.0", Summary: "Sets a field of a hash that does not exist.", Complexity: "O(1)",
		Args: []Arg{keyArg, fieldArg, {Name: "value", Type: String}}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: runHSetNX,
		Reply: "integer: 1 when set, 0 when the field exists", Examples: []Example{{"HSETNX user:1 name ann", "(integer) 1"}, {"HSETNX user:1 name bob", "(integer) 0"}},
	}, {
		Name: "HDEL", Group: Hashes, Since: "0.1.0", Summary: "Deletes fields of a hash, and the hash with the last one.", Complexity: "O(N) with N the number of fields given",
		Args: []Arg{keyArg, fieldsArg}, Keys: OneKey, Flags: Write | Fast, Run: runHDel,
		Reply: "integer: how many of the fields there were", Examples: []Example{{"HSET user:1 name ann", "(integer) 1"}, {"HDEL user:1 name age", "(integer) 1"}, {"EXISTS user:1", "(integer) 0"}},
	}}
}

// hashPairs sets the pairs that the call gives; false when it has replied with
// an error. created is how many fields are new.
func (c *Call) hashPairs() (created int64, ok bool) {
	pairs := c.Args[2:]
	if len(pairs)%2 != 0 {
		c.Fail(WrongArity, c.Command.lower)
		return 0, false
	}
	db, e, ok := c.openKind(c.Args[1], shard.KindHash)
	if !ok || c.rosterOverfull(db.Hash(&e), pairs, 2) {
		return 0, false
	}
	for i := 0; i < len(pairs); i += 2 {
		if db.HashSet(&e, pairs[i], pairs[i+1]) {
			created++
		}
	}
	return created, true
}

func runHSet(c *Call) {
	if created, ok := c.hashPairs(); ok {
		c.Out.Int(created)
	}
}

func runHMSet(c *Call) {
	if _, ok := c.hashPairs(); ok {
		c.Out.OK()
	}
}

func runHSetNX(c *Call) {
	db, e, ok := c.openKind(c.Args[1], shard.KindHash)
	if !ok {
		return
	}
	if _, exists := db.Hash(&e).Get(c.Args[2]); exists {
		c.Out.Int(0)
		return
	}
	if !c.rosterOverfull(db.Hash(&e), c.Args[2:], 2) {
		db.HashSet(&e, c.Args[2], c.Args[3])
		c.Out.Int(1)
	}
}

func runHDel(c *Call) {
	db, e, ok := c.openKind(c.Args[1], shard.KindHash)
	if !ok {
		return
	}
	n := int64(0)
	for _, field := range c.Args[2:] {
		if db.HashDelete(&e, field) {
			n++
		}
	}
	c.Out.Int(n)
}

func hashGetCommands() []Command {
	return []Command{{
		Name: "HGET", Group: Hashes, Since: "0.1.0", Summary: "Returns the value of a field of a hash.", Complexity: "O(1)",
		Args: []Arg{keyArg, fieldArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runHGet,
		Reply: "bulk string: the value; nil when there is no such field", Examples: []Example{{"HSET user:1 name ann", "(integer) 1"}, {"HGET user:1 name", `"ann"`}, {"HGET user:1 age", "(nil)"}},
	}, {
		Name: "HMGET", Group: Hashes, Since: "0.1.0", Summary: "Returns the values of several fields of a hash.", Complexity: "O(N) with N the number of fields given",
		Args: []Arg{keyArg, fieldsArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runHMGet,
		Reply: "array of bulk strings; nil for a field that does not exist", Examples: []Example{{"HSET user:1 name ann", "(integer) 1"}, {"HMGET user:1 age name", "1) (nil)\n2) \"ann\""}},
	}, {
		Name: "HEXISTS", Group: Hashes, Since: "0.1.0", Summary: "Says whether a hash has a field.", Complexity: "O(1)",
		Args: []Arg{keyArg, fieldArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runHExists,
		Reply: "integer: 1 or 0", Examples: []Example{{"HSET user:1 name ann", "(integer) 1"}, {"HEXISTS user:1 name", "(integer) 1"}, {"HEXISTS user:1 age", "(integer) 0"}},
	}, {
		Name: "HSTRLEN", Group: Hashes, Since: "0.1.0", Summary: "Returns the length of the value of a field of a hash.", Complexity: "O(1)",
		Args: []Arg{keyArg, fieldArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runHStrLen,
		Reply: "integer: the length in bytes, 0 when there is no such field", Examples: []Example{{"HSET user:1 name ann", "(integer) 1"}, {"HSTRLEN user:1 name", "(integer) 3"}},
	}}
}

// hashField is the value of the call's field; ok is false when it has replied
// WRONGTYPE.
func (c *Call) hashField() (value []byte, exists, ok bool) {
	db, e, ok := c.readKind(c.Args[1], shard.KindHash)
	value, exists = db.Hash(&e).Get(c.Args[2])
	return value, exists, ok
}

func runHGet(c *Call) {
	switch value, exists, ok := c.hashField(); {
	case !ok:
	case exists:
		c.Out.Bulk(value)
	default:
		c.Out.Null()
	}
}

func runHMGet(c *Call) {
	db, e, ok := c.readKind(c.Args[1], shard.KindHash)
	if !ok {
		return
	}
	h := db.Hash(&e)
	c.Out.Array(len(c.Args) - 2)
	for _, field := range c.Args[2:] {
		if value, exists := h.Get(field); exists {
			c.Out.Bulk(value)
		} else {
			c.Out.Null()
		}
	}
}

func runHExists(c *Call) {
	if _, exists, ok := c.hashField(); ok {
		c.Out.Int(one(exists))
	}
}

// one is 1 for true and 0 for false.
func one(holds bool) int64 {
	if holds {
		return 1
	}
	return 0
}

func runHStrLen(c *Call) {
	if value, _, ok := c.hashField(); ok {
		c.Out.Int(int64(len(value)))
	}
}

func hashListCommands() []Command {
	two := Example{"HSET user:1 name ann visits 1", "(integer) 2"}
	all := func(name, summary, reply string, run func(*Call), example Example) Command {
		return Command{
			Name: name, Group: Hashes, Since: "0.1.0", Summary: summary, Complexity: "O(N) with N the number of fields",
			Args: []Arg{keyArg}, Keys: OneKey, Flags: ReadOnly, Run: run, Reply: reply, Examples: []Example{two, example},
			Notes: "Always in the order in which the fields came: a field keeps its place when its value changes. Redis promises that for small hashes only.",
		}
	}
	return []Command{
		{
			Name: "HLEN", Group: Hashes, Since: "0.1.0", Summary: "Counts the fields of a hash.", Complexity: "O(1)",
			Args: []Arg{keyArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runHLen, Reply: "integer: how many there are", Examples: []Example{two, {"HLEN user:1", "(integer) 2"}},
		},
		all("HKEYS", "Lists the fields of a hash.", "array of bulk strings: the fields", func(c *Call) { c.listHash(true, false) },
			Example{"HKEYS user:1", "1) \"name\"\n2) \"visits\""}),
		all("HVALS", "Lists the values of a hash.", "array of bulk strings: the values", func(c *Call) { c.listHash(false, true) },
			Example{"HVALS user:1", "1) \"ann\"\n2) \"1\""}),
		all("HGETALL", "Lists the fields and values of a hash.", "map of bulk strings: the fields with their values; in RESP2 an array of both in turns", func(c *Call) { c.listHash(true, true) },
			Example{"HGETALL user:1", "1) \"name\"\n2) \"ann\"\n3) \"visits\"\n4) \"1\""}),
	}
}

func runHLen(c *Call) {
	if db, e, ok := c.readKind(c.Args[1], shard.KindHash); ok {
		c.Out.Int(int64(db.Hash(&e).Len()))
	}
}

// listHash replies with the fields of a hash, their values, or both.
func (c *Call) listHash(fields, values bool) {
	db, e, ok := c.readKind(c.Args[1], shard.KindHash)
	if !ok {
		return
	}
	h := db.Hash(&e)
	if fields && values {
		c.Out.Map(h.Len())
	} else {
		c.Out.Array(h.Len())
	}
	for field, value := range h.All() {
		if fields {
			c.Out.Bulk(field)
		}
		if values {
			c.Out.Bulk(value)
		}
	}
}

package engine

import (
	"math/rand/v2"
	"strconv"

	"github.com/limitstore/limitstore/resp"
	"github.com/limitstore/limitstore/shard"
)

// hashCountCommands are Redis' arithmetic on the fields of hashes.
func hashCountCommands() []Command {
	return []Command{{
		Name: "HINCRBY", Group: Hashes, Since: "0.1.0", Summary: "Adds to the integer value of a field, 0 when there is none.", Complexity: "O(1)",
		Args: []Arg{keyArg, fieldArg, {Name: "increment", Type: Integer}}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: runHIncrBy,
		Reply: "integer: the new value", Examples: []Example{{"HINCRBY user:1 visits 5", "(integer) 5"}, {"HINCRBY user:1 visits -2", "(integer) 3"}},
	}, {
		Name: "HINCRBYFLOAT", Group: Hashes, Since: "0.1.0", Summary: "Adds a number with decimals to the value of a field, 0 when there is none.", Complexity: "O(1)",
		Args: []Arg{keyArg, fieldArg, {Name: "increment", Type: Double}}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: runHIncrByFloat,
		Reply: "bulk string: the new value, at most 17 digits after the point", Examples: []Example{{"HSET cart total 10.50", "(integer) 1"}, {"HINCRBYFLOAT cart total 0.1", `"10.6"`}},
		Notes: "It calculates as INCRBYFLOAT does.",
	}}
}

func runHIncrBy(c *Call) {
	n, ok := Int(c.Args[3])
	if !ok {
		c.Fail(NotInteger)
		return
	}
	db, e, ok := c.openKind(c.Args[1], shard.KindHash)
	if !ok {
		return
	}
	old := int64(0)
	if value, exists := db.Hash(&e).Get(c.Args[2]); exists {
		if old, ok = Int(value); !ok {
			c.Fail(HashNotInteger)
			return
		}
	}
	sum, beyond := sumInt(old, n)
	if beyond != 0 {
		c.Fail(IncrOverflow)
		return
	}
	var room [maxDigits]byte
	if c.setField(db, &e, strconv.AppendInt(room[:0], sum, 10)) {
		c.Out.Int(sum)
	}
}

// setField sets the call's field; false when it has replied that the hash is
// full.
func (c *Call) setField(db *shard.Database, e *shard.Entry, value []byte) bool {
	if c.rosterOverfull(db.Hash(e), c.Args[2:3], 1) {
		return false
	}
	db.HashSet(e, c.Args[2], value)
	return true
}

func runHIncrByFloat(c *Call) {
	step, ok := parseLongDouble(c.Args[3])
	if !ok {
		c.Fail(NotFloat)
		return
	}
	if step.IsInf() {
		c.Fail(ValueNaNOrInfinity)
		return
	}
	db, e, ok := c.openKind(c.Args[1], shard.KindHash)
	if !ok {
		return
	}
	sum := step
	if value, exists := db.Hash(&e).Get(c.Args[2]); exists {
		old, ok := parseLongDouble(value)
		if !ok {
			c.Fail(HashNotFloat)
			return
		}
		if !old.IsInf() {
			old = addLongDouble(old, step)
		}
		sum = old
	}
	if sum.IsInf() {
		c.Fail(NaNOrInfinity)
		return
	}
	shown := formatLongDouble(sum)
	if c.setField(db, &e, shown) {
		c.Out.Bulk(shown)
	}
}

// hashWalkCommands find fields of a hash.
func hashWalkCommands() []Command {
	return []Command{{
		Name: "HRANDFIELD", Group: Hashes, Since: "0.1.0", Summary: "Returns fields of a hash drawn at random.", Complexity: "O(N) with N the number of fields returned",
		Args: []Arg{keyArg, {Name: "options", Type: Block, Optional: true, Args: []Arg{
			{Name: "count", Type: Integer}, {Name: "withvalues", Type: PureToken, Token: "WITHVALUES", Optional: true},
		}}},
		Keys: OneKey, Flags: ReadOnly, Run: runHRandField,
		Reply:    "bulk string: a field, nil when there is none; with a count an array of as many different ones or, when it is negative, with repetitions; with WITHVALUES their values too",
		Examples: []Example{{"HSET user:1 name ann", "(integer) 1"}, {"HRANDFIELD user:1", `"name"`}, {"HRANDFIELD user:1 5 WITHVALUES", "1) \"name\"\n2) \"ann\""}},
		Notes:    "In RESP3 WITHVALUES gives an array of pairs. Repetitions are bounded by --max-elements.",
	}, {
		Name: "HSCAN", Group: Hashes, Since: "0.1.0", Summary: "Walks through the fields of a hash, some at each call.", Complexity: "O(COUNT) for each call, O(N) for a whole walk",
		Args: scanArgs(), Keys: OneKey, Flags: ReadOnly, Run: func(c *Call) { c.scanRoster(shard.KindHash) },
		Reply: scanReply + "fields and values in turns", Examples: []Example{{"HSET user:1 name ann visits 1", "(integer) 2"}, {"HSCAN user:1 0 MATCH v* COUNT 100", "1) \"0\"\n2) 1) \"visits\"\n   2) \"1\""}},
		Notes: scanNotes,
	}}
}

func runHRandField(c *Call) {
	if len(c.Args) == 2 {
		c.randomName(shard.KindHash)
		return
	}
	count, ok := c.randomCount(c.Args[2])
	if !ok {
		return
	}
	withValues := len(c.Args) == 4 && EqualFold(c.Args[3], "WITHVALUES")
	if len(c.Args) > 3 && !withValues {
		c.Fail(Syntax)
		return
	}
	if most := int64(1<<63-1) / 2; withValues && (count > most || count < -most) {
		c.Fail(NotInRange)
		return
	}
	db, e, ok := c.readKind(c.Args[1], shard.KindHash)
	if ok {
		c.fields(chosen(db.Hash(&e), count), withValues)
	}
}

// fields replies with fields and, if asked, their values.
func (c *Call) fields(all []pair, withValues bool) {
	nested := withValues && c.Out.Proto() == resp.RESP3
	length := len(all)
	if withValues && !nested {
		length *= 2
	}
	c.Out.Array(length)
	for _, p := range all {
		if nested {
			c.Out.Array(2)
		}
		c.Out.Bulk(p.name)
		if withValues {
			c.Out.Bulk(p.value)
		}
	}
}

// randomName replies with a field or member drawn at random.
func (c *Call) randomName(kind shard.Kind) {
	db, e, ok := c.readKind(c.Args[1], kind)
	if !ok {
		return
	}
	if !e.Exists() {
		c.Out.Null()
		return
	}
	r := db.Set(&e)
	if kind == shard.KindHash {
		r = db.Hash(&e)
	}
	name, _ := r.Pick(rand.IntN)
	c.Out.Bulk(name)
}

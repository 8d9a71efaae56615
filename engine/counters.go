package engine

import (
	"math"

	"github.com/limitstore/limitstore/shard"
)

// counterCommands are Redis' arithmetic on strings. They keep the key's expiry.
func counterCommands() []Command {
	return []Command{{
		Name: "INCR", Group: Strings, Since: "0.1.0", Summary: "Adds one to the integer value of a key, 0 when there is none.", Complexity: "O(1)",
		Args: []Arg{keyArg}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: func(c *Call) { c.count(1) },
		Reply: "integer: the new value", Examples: []Example{{"INCR hits", "(integer) 1"}, {"INCR hits", "(integer) 2"}},
	}, {
		Name: "DECR", Group: Strings, Since: "0.1.0", Summary: "Subtracts one from the integer value of a key, 0 when there is none.", Complexity: "O(1)",
		Args: []Arg{keyArg}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: func(c *Call) { c.count(-1) },
		Reply: "integer: the new value", Examples: []Example{{"DECR stock", "(integer) -1"}},
	}, {
		Name: "INCRBY", Group: Strings, Since: "0.1.0", Summary: "Adds to the integer value of a key, 0 when there is none.", Complexity: "O(1)",
		Args: []Arg{keyArg, {Name: "increment", Type: Integer}}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: runIncrBy,
		Reply: "integer: the new value", Examples: []Example{{"INCRBY hits 5", "(integer) 5"}, {"INCRBY hits -2", "(integer) 3"}},
	}, {
		Name: "DECRBY", Group: Strings, Since: "0.1.0", Summary: "Subtracts from the integer value of a key, 0 when there is none.", Complexity: "O(1)",
		Args: []Arg{keyArg, {Name: "decrement", Type: Integer}}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: runDecrBy,
		Reply: "integer: the new value", Examples: []Example{{"SET stock 10", "OK"}, {"DECRBY stock 3", "(integer) 7"}},
	}, {
		Name: "INCRBYFLOAT", Group: Strings, Since: "0.1.0", Summary: "Adds a number with decimals to the value of a key, 0 when there is none.", Complexity: "O(1)",
		Args: []Arg{keyArg, {Name: "increment", Type: Double}}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: runIncrByFloat,
		Reply: "bulk string: the new value, at most 17 digits after the point", Examples: []Example{{"SET price 10.50", "OK"}, {"INCRBYFLOAT price 0.1", `"10.6"`}, {"INCRBYFLOAT price -5", `"5.6"`}},
		Notes: "It calculates with a 64-bit significand, as Redis on x86-64, on every machine.",
	}}
}

// integer is the value of a counter, 0 when there is no key; false when the
// string there is no integer.
func integer(db *shard.Database, e *shard.Entry) (int64, bool) {
	switch e.Kind() {
	case shard.KindInt:
		return db.Int(e), true
	case shard.KindNone:
		return 0, true
	}
	return Int(db.Value(e))
}

// sumInt is a + b, and where it lies: 0 within 64 bits, 1 above, -1 below.
func sumInt(a, b int64) (sum int64, beyond int) {
	sum = a + b
	switch {
	case b > 0 && sum < a:
		return math.MaxInt64, 1
	case b < 0 && sum > a:
		return math.MinInt64, -1
	}
	return sum, 0
}

// count adds n to the counter at the call's key.
func (c *Call) count(n int64) {
	db, e := c.Lookup(c.Args[1])
	if c.wrongType(&e) {
		return
	}
	old, ok := integer(db, &e)
	if !ok {
		c.Fail(NotInteger)
		return
	}
	sum, beyond := sumInt(old, n)
	if beyond != 0 {
		c.Fail(IncrOverflow)
		return
	}
	db.PutInt(&e, e.Expiry(), sum)
	c.Out.Int(sum)
}

func runIncrBy(c *Call) {
	n, ok := Int(c.Args[2])
	if !ok {
		c.Fail(NotInteger)
		return
	}
	c.count(n)
}

func runDecrBy(c *Call) {
	n, ok := Int(c.Args[2])
	switch {
	case !ok:
		c.Fail(NotInteger)
	case n == math.MinInt64:
		c.Fail(DecrOverflow)
	default:
		c.count(-n)
	}
}

func runIncrByFloat(c *Call) {
	db, e := c.Lookup(c.Args[1])
	if c.wrongType(&e) {
		return
	}
	old, ok := number(db, &e)
	step, ok2 := parseLongDouble(c.Args[2])
	if !ok || !ok2 {
		c.Fail(NotFloat)
		return
	}
	if old.IsInf() || step.IsInf() {
		c.Fail(NaNOrInfinity)
		return
	}
	sum := addLongDouble(old, step)
	if sum.IsInf() {
		c.Fail(NaNOrInfinity)
		return
	}
	shown := formatLongDouble(sum)
	db.Put(&e, shard.KindString, e.Expiry(), shown)
	c.Out.Bulk(shown)
}

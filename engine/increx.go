package engine

import (
	"math"
	"math/big"

	"github.com/limitstore/limitstore/shard"
)

// increxCommands is INCREX as Redis 8.8 has it, with the conditions NX and XX of
// Valkey 9.2.
func increxCommands() []Command {
	flag := func(name, token string) Arg { return Arg{Name: name, Type: PureToken, Token: token, Optional: true} }
	return []Command{{
		Name: "INCREX", Group: Strings, Since: "0.1.0", Complexity: "O(1)",
		Summary: "Adds to the number at a key within bounds and sets its expiry, as one step.",
		Args: []Arg{
			keyArg,
			{Name: "condition", Type: OneOf, Optional: true, Args: []Arg{{Name: "nx", Type: PureToken, Token: "NX"}, {Name: "xx", Type: PureToken, Token: "XX"}}},
			{Name: "increment", Type: OneOf, Optional: true, Args: []Arg{{Name: "float", Type: Double, Token: "BYFLOAT"}, {Name: "integer", Type: Integer, Token: "BYINT"}}},
			{Name: "lowerbound", Type: String, Token: "LBOUND", Optional: true},
			{Name: "upperbound", Type: String, Token: "UBOUND", Optional: true},
			flag("saturate", "SATURATE"),
			expiryArg(Arg{Name: "persist", Type: PureToken, Token: "PERSIST"}),
			flag("enx", "ENX"),
		},
		Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: runIncrEx,
		Reply: "array: the value now, and what was added; integers, or with BYFLOAT bulk strings (RESP3: doubles). " +
			"Out of bounds, or when NX or XX prevented it: the value as it was, and 0",
		Examples: []Example{
			{"INCREX calls UBOUND 2 EX 60 ENX", "1) (integer) 1\n2) (integer) 1"},
			{"INCREX calls UBOUND 2 EX 60 ENX", "1) (integer) 2\n2) (integer) 1"},
			{"INCREX calls UBOUND 2 EX 60 ENX", "1) (integer) 2\n2) (integer) 0"},
			{"INCREX calls BYINT 10 UBOUND 5 SATURATE", "1) (integer) 5\n2) (integer) 3"},
			{"INCREX calls BYFLOAT 0.5", "1) \"5.5\"\n2) \"0.5\""},
			{"TTL calls", "(integer) 60"},
		},
		Notes: "Out of bounds leaves key and expiry untouched; with SATURATE the value becomes the bound. ENX sets the expiry only of a key that has none.",
	}}
}

// increment is one INCREX under way.
type increment struct {
	options
	db    *shard.Database
	entry shard.Entry
	when  int64 // of the expiry given, 0 for none
}

func runIncrEx(c *Call) {
	var x increment
	switch {
	case !x.parse(c.Args[2:], incrTakes, true):
		c.Fail(Syntax)
	case x.has(optENX) && !x.has(optExpiry):
		c.Fail(ENXAlone)
	case x.has(optByFloat):
		x.addFloat(c)
	default:
		x.addInt(c)
	}
}

// open finds the key once the arguments are known to be right. It replies with
// the error and says false when the expiry or the key's type is wrong.
func (x *increment) open(c *Call) bool {
	var ok bool
	if x.when, ok = x.options.when(c); !ok {
		return false
	}
	x.db, x.entry = c.Lookup(c.Args[1])
	return !c.wrongType(&x.entry)
}

// prevented says whether NX or XX forbids the change.
func (x *increment) prevented() bool {
	return (x.has(optNX) && x.entry.Exists()) || (x.has(optXX) && !x.entry.Exists())
}

// expiry is when the key expires after the change, 0 for never.
func (x *increment) expiry() int64 {
	switch {
	case x.has(optPersist):
		return 0
	case x.has(optExpiry) && !(x.has(optENX) && x.entry.Expiry() != 0):
		return x.when
	}
	return x.entry.Expiry()
}

// over says whether the key would be gone at once; then it is deleted.
func (x *increment) over(c *Call) bool {
	if !c.past(x.expiry()) {
		return false
	}
	x.db.Delete(&x.entry)
	return true
}

// readInt reads the value of an option into n if it was given. It replies with
// the error and says false when it is no integer.
func (x *increment) readInt(c *Call, given option, at slot, name string, n *int64) bool {
	if !x.has(given) {
		return true
	}
	var ok bool
	if *n, ok = Int(x.values[at]); !ok {
		c.Fail(OptionNotInteger, name)
	}
	return ok
}

func (x *increment) addInt(c *Call) {
	step, low, high := int64(1), int64(math.MinInt64), int64(math.MaxInt64)
	if !x.readInt(c, optByInt, stepSlot, "Increment", &step) ||
		!x.readInt(c, optLBound, lowerSlot, "LBOUND", &low) ||
		!x.readInt(c, optUBound, upperSlot, "UBOUND", &high) {
		return
	}
	if low > high {
		c.Fail(BoundsCrossed)
		return
	}
	if !x.open(c) {
		return
	}
	old, ok := integer(x.db, &x.entry)
	if !ok {
		c.Fail(NotInteger)
		return
	}
	sum, beyond := sumInt(old, step)
	outside := beyond != 0 || sum < low || sum > high
	if x.prevented() || (outside && !x.has(optSaturate)) {
		c.Out.Ints(old, 0)
		return
	}
	x.setInt(c, old, min(max(sum, low), high))
}

// setInt stores an integer and replies with it and the difference.
func (x *increment) setInt(c *Call, old, value int64) {
	applied := value - old
	if (value < old) != (applied < 0) {
		c.Fail(AppliedOverflow)
		return
	}
	if !x.over(c) {
		x.db.PutInt(&x.entry, x.expiry(), value)
	}
	c.Out.Ints(value, applied)
}

// readFloat is readInt for numbers with decimals.
func (x *increment) readFloat(c *Call, given option, at slot, name string, n **big.Float) bool {
	if !x.has(given) {
		return true
	}
	value, ok := parseLongDouble(x.values[at])
	if !ok {
		c.Fail(OptionNotFloat, name)
		return false
	}
	*n = value
	return true
}

func (x *increment) addFloat(c *Call) {
	var step *big.Float
	high := largestLongDouble()
	low := new(big.Float).Neg(high)
	if !x.readFloat(c, optByFloat, stepSlot, "Increment", &step) {
		return
	}
	if step.IsInf() {
		c.Fail(IncrementInfinite)
		return
	}
	if !x.readFloat(c, optLBound, lowerSlot, "LBOUND", &low) || !x.readFloat(c, optUBound, upperSlot, "UBOUND", &high) {
		return
	}
	if low.Cmp(high) > 0 {
		c.Fail(BoundsCrossed)
		return
	}
	if !x.open(c) {
		return
	}
	old, ok := number(x.db, &x.entry)
	switch {
	case !ok:
		c.Fail(NotFloat)
	case old.IsInf():
		c.Fail(ValueInfinite)
	default:
		x.addWithin(c, old, step, low, high)
	}
}

// addWithin decides a float increment whose parts are all known.
func (x *increment) addWithin(c *Call, old, step, low, high *big.Float) {
	sum := addLongDouble(old, step)
	outside := sum.IsInf() || sum.Cmp(low) < 0 || sum.Cmp(high) > 0
	if x.prevented() || (outside && !x.has(optSaturate)) {
		replyFloats(c, formatLongDouble(old), []byte("0"))
		return
	}
	if sum.Cmp(low) < 0 {
		sum = low
	}
	if sum.Cmp(high) > 0 {
		sum = high
	}
	applied := addLongDouble(sum, new(big.Float).Neg(old))
	if applied.IsInf() {
		c.Fail(AppliedInfinite)
		return
	}
	value := formatLongDouble(sum)
	if !x.over(c) {
		x.db.Put(&x.entry, shard.KindString, x.expiry(), value)
	}
	replyFloats(c, value, formatLongDouble(applied))
}

// replyFloats replies with two numbers that are spelled already.
func replyFloats(c *Call, value, applied []byte) {
	c.Out.Array(2)
	c.Out.Decimal(value)
	c.Out.Decimal(applied)
}

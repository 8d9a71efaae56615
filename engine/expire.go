package engine

import (
	"bytes"

	"github.com/limitstore/limitstore/shard"
)

// expireCommands set, ask and remove the expiry of a key.
func expireCommands() []Command {
	return []Command{
		expireRow("EXPIRE", "seconds", Integer, "Makes a key expire after some seconds.", 1000, true, "EXPIRE a 60"),
		expireRow("PEXPIRE", "milliseconds", Integer, "Makes a key expire after some milliseconds.", 1, true, "PEXPIRE a 1500"),
		expireRow("EXPIREAT", "unix-time-seconds", UnixTime, "Makes a key expire at a Unix time in seconds.", 1000, false, "EXPIREAT a 1767225660"),
		expireRow("PEXPIREAT", "unix-time-milliseconds", UnixTime, "Makes a key expire at a Unix time in milliseconds.", 1, false, "PEXPIREAT a 1767225661500"),
		expiryRow("TTL", "Says after how many seconds, rounded, a key expires.", 1000, true, "(integer) 2"),
		expiryRow("PTTL", "Says after how many milliseconds a key expires.", 1, true, "(integer) 1500"),
		expiryRow("EXPIRETIME", "Says at which Unix time in seconds, rounded, a key expires.", 1000, false, "(integer) 1767225602"),
		expiryRow("PEXPIRETIME", "Says at which Unix time in milliseconds a key expires.", 1, false, "(integer) 1767225601500"),
		{
			Name: "PERSIST", Group: Generic, Since: "0.1.0", Summary: "Removes the expiry of a key.", Complexity: "O(1)",
			Args: []Arg{keyArg}, Keys: OneKey, Flags: Write | Fast, Run: runPersist,
			Reply:    "integer: 1 when there was one, 0 when not or when there is no key",
			Examples: []Example{{"SET a 1 EX 60", "OK"}, {"PERSIST a", "(integer) 1"}, {"TTL a", "(integer) -1"}},
			Notes:    "Refused for limiters: they expire when they are as if never used.",
		},
	}
}

// expireRow declares a command that sets an expiry, given in units of so many
// milliseconds, from now or since 1970.
func expireRow(name, arg string, kind ArgType, summary string, unit int64, fromNow bool, example string) Command {
	condition := Arg{Name: "condition", Type: OneOf, Optional: true, Args: []Arg{
		{Name: "nx", Type: PureToken, Token: "NX"}, {Name: "xx", Type: PureToken, Token: "XX"},
		{Name: "gt", Type: PureToken, Token: "GT"}, {Name: "lt", Type: PureToken, Token: "LT"},
	}}
	return Command{
		Name: name, Group: Generic, Since: "0.1.0", Summary: summary, Complexity: "O(1)",
		Args: []Arg{keyArg, {Name: arg, Type: kind}, condition}, Keys: OneKey, Flags: Write | Fast,
		Run:      func(c *Call) { runExpire(c, unit, fromNow) },
		Reply:    "integer: 1 when set, 0 when there is no key or the condition forbids it",
		Examples: []Example{{"SET a 1", "OK"}, {example, "(integer) 1"}, {example + " NX", "(integer) 0"}},
		Notes:    "NX: only when the key has no expiry; XX: only when it has one; GT, LT: only when that makes it later, earlier. A time that is not after now deletes the key. Refused for limiters: they expire when they are as if never used.",
	}
}

// expiryRow declares a command that asks for an expiry, in units of so many
// milliseconds, from now or since 1970.
func expiryRow(name, summary string, unit int64, fromNow bool, example string) Command {
	return Command{
		Name: name, Group: Generic, Since: "0.1.0", Summary: summary, Complexity: "O(1)",
		Args: []Arg{keyArg}, Keys: OneKey, Flags: ReadOnly | Fast,
		Run:      func(c *Call) { runExpiry(c, unit, fromNow) },
		Reply:    "integer; -1 when the key never expires, -2 when there is none",
		Examples: []Example{{"SET a 1 PX 1500", "OK"}, {name + " a", example}, {name + " x", "(integer) -2"}},
	}
}

// condition is a set of the conditions of EXPIRE.
type condition uint8

// The conditions.
const (
	ifNone condition = 1 << iota
	ifAny
	ifLater
	ifEarlier
)

// parseConditions reads the words after the time. It replies with the error and
// says false when they are none or exclude each other.
func parseConditions(c *Call) (condition, bool) {
	var set condition
	for _, word := range c.Args[3:] {
		switch {
		case EqualFold(word, "NX"):
			set |= ifNone
		case EqualFold(word, "XX"):
			set |= ifAny
		case EqualFold(word, "GT"):
			set |= ifLater
		case EqualFold(word, "LT"):
			set |= ifEarlier
		default:
			word, _, _ = bytes.Cut(word, []byte{0}) // Redis shows it so, and whole
			c.Fail(UnsupportedOption, bytes.TrimRight(word, "\r\n"))
			return 0, false
		}
	}
	switch {
	case set&ifNone != 0 && set != ifNone:
		c.Fail(NXAndOthers)
		return 0, false
	case set&ifLater != 0 && set&ifEarlier != 0:
		c.Fail(GTAndLT)
		return 0, false
	}
	return set, true
}

// allow says whether an expiry may become when. A key that never expires counts
// as later than any time.
func (set condition) allow(current, when int64) bool {
	switch {
	case set&ifNone != 0 && current != 0, set&ifAny != 0 && current == 0:
		return false
	case set&ifLater != 0 && (current == 0 || when <= current):
		return false
	case set&ifEarlier != 0 && current != 0 && when >= current:
		return false
	}
	return true
}

func runExpire(c *Call, unit int64, fromNow bool) {
	set, ok := parseConditions(c)
	if !ok {
		return
	}
	n, ok := Int(c.Args[2])
	if !ok {
		c.Fail(NotInteger)
		return
	}
	when, ok := c.deadline(n, unit, fromNow)
	if !ok {
		return
	}
	db, e := c.Lookup(c.Args[1])
	switch {
	case !e.Exists():
		c.Out.Int(0)
	case isLimiter(e.Kind()):
		c.Fail(LimiterExpiry)
	case !set.allow(e.Expiry(), when):
		c.Out.Int(0)
	default:
		c.expire(db, &e, max(when, 1))
		c.Out.Int(1)
	}
}

// isLimiter says whether records of the kind expire by themselves.
func isLimiter(kind shard.Kind) bool {
	return shard.KindBucket <= kind && kind <= shard.KindLog
}

func runExpiry(c *Call, unit int64, fromNow bool) {
	_, e := c.Read(c.Args[1])
	switch {
	case !e.Exists():
		c.Out.Int(-2)
	case e.Expiry() == 0:
		c.Out.Int(-1)
	default:
		at := e.Expiry()
		if fromNow {
			at -= c.Millis()
		}
		c.Out.Int(at/unit + (at%unit)/((unit+1)/2)) // rounded; half a unit counts as one
	}
}

func runPersist(c *Call) {
	db, e := c.Lookup(c.Args[1])
	switch {
	case isLimiter(e.Kind()):
		c.Fail(LimiterExpiry)
	case e.Expiry() == 0:
		c.Out.Int(0)
	default:
		db.SetExpiry(&e, 0)
		c.Out.Int(1)
	}
}

package engine

import (
	"slices"
	"strconv"

	"github.com/limitstore/limitstore/shard"
)

// keyArg declares the key that most of Redis' commands begin with.
var keyArg = Arg{Name: "key", Type: Key}

// stringCommands are Redis' commands on strings as wholes, and those that read
// or change a part of one.
func stringCommands() []Command {
	return slices.Concat(getCommands(), setCommands(), manyCommands(), partCommands())
}

func getCommands() []Command {
	return []Command{{
		Name: "GET", Group: Strings, Since: "0.1.0", Summary: "Returns the string value of a key.", Complexity: "O(1)",
		Args: []Arg{keyArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runGet,
		Reply: "bulk string: the value; nil when there is no key", Examples: []Example{{"SET greeting hello", "OK"}, {"GET greeting", `"hello"`}, {"GET nobody", "(nil)"}},
	}, {
		Name: "GETSET", Group: Strings, Since: "0.1.0", Summary: "Sets a key and returns the value it had.", Complexity: "O(1)",
		Args: []Arg{keyArg, {Name: "value", Type: String}}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: runGetSet,
		Reply: "bulk string: the old value; nil when there was no key", Examples: []Example{{"GETSET turn red", "(nil)"}, {"GETSET turn blue", `"red"`}},
	}, {
		Name: "GETDEL", Group: Strings, Since: "0.1.0", Summary: "Returns the string value of a key and deletes it.", Complexity: "O(1)",
		Args: []Arg{keyArg}, Keys: OneKey, Flags: Write | Fast, Run: runGetDel,
		Reply: "bulk string: the value; nil when there is no key", Examples: []Example{{"SET ticket 7", "OK"}, {"GETDEL ticket", `"7"`}, {"GETDEL ticket", "(nil)"}},
	}, {
		Name: "GETEX", Group: Strings, Since: "0.1.0", Summary: "Returns the string value of a key and sets or removes its expiry.", Complexity: "O(1)",
		Args: []Arg{keyArg, expiryArg(Arg{Name: "persist", Type: PureToken, Token: "PERSIST"})}, Keys: OneKey, Flags: Write | Fast, Run: runGetEx,
		Reply: "bulk string: the value; nil when there is no key", Examples: []Example{{"SET session abc", "OK"}, {"GETEX session EX 60", `"abc"`}, {"TTL session", "(integer) 60"}},
	}}
}

// expiryArg declares the expiry options of a Redis command with one more.
func expiryArg(more Arg) Arg {
	return Arg{Name: "expiration", Type: OneOf, Optional: true, Args: []Arg{
		{Name: "seconds", Type: Integer, Token: "EX"}, {Name: "milliseconds", Type: Integer, Token: "PX"},
		{Name: "unix-time-seconds", Type: UnixTime, Token: "EXAT"}, {Name: "unix-time-milliseconds", Type: UnixTime, Token: "PXAT"}, more,
	}}
}

func setCommands() []Command {
	return []Command{{
		Name: "SET", Group: Strings, Since: "0.1.0", Summary: "Sets the string value of a key, whatever it held before, with an expiry if asked.", Complexity: "O(1)",
		Args: []Arg{
			keyArg, {Name: "value", Type: String},
			{Name: "condition", Type: OneOf, Optional: true, Args: []Arg{{Name: "nx", Type: PureToken, Token: "NX"}, {Name: "xx", Type: PureToken, Token: "XX"}}},
			{Name: "get", Type: PureToken, Token: "GET", Optional: true}, expiryArg(Arg{Name: "keepttl", Type: PureToken, Token: "KEEPTTL"}),
		},
		Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: runSet, Reply: "OK; nil when NX or XX prevented it; with GET the old value or nil",
		Examples: []Example{{"SET lock owner NX PX 30000", "OK"}, {"SET lock other NX", "(nil)"}, {"SET lock owner2 XX GET KEEPTTL", `"owner"`}, {"PTTL lock", "(integer) 30000"}},
		Notes:    "It clears the expiry unless KEEPTTL or a new one is given, and replaces a limiter.",
	}, {
		Name: "SETNX", Group: Strings, Since: "0.1.0", Summary: "Sets the string value of a key that does not exist.", Complexity: "O(1)",
		Args: []Arg{keyArg, {Name: "value", Type: String}}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: runSetNX,
		Reply: "integer: 1 when set, 0 when the key exists", Examples: []Example{{"SETNX leader a", "(integer) 1"}, {"SETNX leader b", "(integer) 0"}},
	}, {
		Name: "SETEX", Group: Strings, Since: "0.1.0", Summary: "Sets the string value and the expiry of a key, in seconds.", Complexity: "O(1)",
		Args: []Arg{keyArg, {Name: "seconds", Type: Integer}, {Name: "value", Type: String}}, Keys: OneKey, Flags: Write | DenyOOM | Fast,
		Run: func(c *Call) { runSetEx(c, true) }, Reply: "OK", Examples: []Example{{"SETEX code 60 1234", "OK"}, {"TTL code", "(integer) 60"}},
	}, {
		Name: "PSETEX", Group: Strings, Since: "0.1.0", Summary: "Sets the string value and the expiry of a key, in milliseconds.", Complexity: "O(1)",
		Args: []Arg{keyArg, {Name: "milliseconds", Type: Integer}, {Name: "value", Type: String}}, Keys: OneKey, Flags: Write | DenyOOM | Fast,
		Run: func(c *Call) { runSetEx(c, false) }, Reply: "OK", Examples: []Example{{"PSETEX code 1500 1234", "OK"}, {"PTTL code", "(integer) 1500"}},
	}}
}

func manyCommands() []Command {
	pairs := Arg{Name: "data", Type: Block, Multiple: true, Args: []Arg{keyArg, {Name: "value", Type: String}}}
	return []Command{{
		Name: "MGET", Group: Strings, Since: "0.1.0", Summary: "Returns the string values of several keys.", Complexity: "O(N) with N the number of keys",
		Args: []Arg{{Name: "key", Type: Key, Multiple: true}}, Keys: Keys{First: 1, Last: -1, Step: 1}, Flags: ReadOnly | Fast, Run: runMGet,
		Reply: "array of bulk strings; nil for a key that does not exist or is no string", Examples: []Example{{"MSET a 1 b 2", "OK"}, {"MGET a x b", "1) \"1\"\n2) (nil)\n3) \"2\""}},
	}, {
		Name: "MSET", Group: Strings, Since: "0.1.0", Summary: "Sets the string values of several keys at once.", Complexity: "O(N) with N the number of keys",
		Args: []Arg{pairs}, Keys: Keys{First: 1, Last: -1, Step: 2}, Flags: Write | DenyOOM, Run: runMSet,
		Reply: "OK", Examples: []Example{{"MSET a 1 b 2", "OK"}, {"GET b", `"2"`}},
	}, {
		Name: "MSETNX", Group: Strings, Since: "0.1.0", Summary: "Sets the string values of several keys if none of them exists.", Complexity: "O(N) with N the number of keys",
		Args: []Arg{pairs}, Keys: Keys{First: 1, Last: -1, Step: 2}, Flags: Write | DenyOOM, Run: runMSetNX,
		Reply: "integer: 1 when all were set, 0 when none was", Examples: []Example{{"MSETNX a 1 b 2", "(integer) 1"}, {"MSETNX b 3 c 4", "(integer) 0"}, {"GET c", "(nil)"}},
	}}
}

// bulk replies with the string value of a record, nil when there is none.
func (c *Call) bulk(db *shard.Database, e *shard.Entry) {
	switch e.Kind() {
	case shard.KindNone:
		c.Out.Null()
	case shard.KindInt:
		c.Out.BulkInt(db.Int(e))
	default:
		c.Out.Bulk(db.Value(e))
	}
}

// store makes the record hold a string, as an integer when it spells one.
func store(db *shard.Database, e *shard.Entry, when int64, value []byte) {
	if n, ok := Int(value); ok {
		db.PutInt(e, when, n)
		return
	}
	db.Put(e, shard.KindString, when, value)
}

// maxDigits is the most bytes that spell an integer of 64 bits.
const maxDigits = 20

// text is the string value of a record, empty when there is none. An integer is
// written into room, which has maxDigits bytes.
func text(db *shard.Database, e *shard.Entry, room []byte) []byte {
	if e.Kind() == shard.KindInt {
		return strconv.AppendInt(room[:0], db.Int(e), 10)
	}
	return db.Value(e)
}

func runGet(c *Call) {
	db, e := c.Read(c.Args[1])
	if !c.wrongType(&e) {
		c.bulk(db, &e)
	}
}

func runGetSet(c *Call) {
	db, e := c.Read(c.Args[1])
	if !c.wrongType(&e) {
		c.bulk(db, &e)
		store(db, &e, 0, c.Args[2])
	}
}

func runGetDel(c *Call) {
	db, e := c.Read(c.Args[1])
	if !c.wrongType(&e) {
		c.bulk(db, &e)
		db.Delete(&e)
	}
}

func runGetEx(c *Call) {
	var o options
	if !o.parse(c.Args[2:], getEXTakes, false) {
		c.Fail(Syntax)
		return
	}
	db, e := c.Read(c.Args[1])
	if !e.Exists() {
		c.Out.Null()
		return
	}
	if c.wrongType(&e) {
		return
	}
	when, ok := o.when(c)
	if !ok {
		return
	}
	c.bulk(db, &e)
	if when > 0 || o.has(optPersist) {
		c.expire(db, &e, when)
	}
}

// expire sets when a key expires, 0 for never; it is deleted at once when that
// is not after now.
func (c *Call) expire(db *shard.Database, e *shard.Entry, when int64) {
	if c.past(when) {
		db.Delete(e)
		return
	}
	db.SetExpiry(e, when)
}

func runSet(c *Call) {
	var o options
	if len(c.Args) > 3 && !o.parse(c.Args[3:], setTakes, false) {
		c.Fail(Syntax)
		return
	}
	when, ok := o.when(c)
	if !ok {
		return
	}
	db, e := c.Lookup(c.Args[1])
	if o.has(optGet) && c.wrongType(&e) {
		return
	}
	prevented := (o.has(optNX) && e.Exists()) || (o.has(optXX) && !e.Exists())
	switch {
	case o.has(optGet):
		c.bulk(db, &e)
	case prevented:
		c.Out.Null()
	default:
		c.Out.OK()
	}
	if prevented {
		return
	}
	if o.has(optKeepTTL) {
		when = e.Expiry()
	}
	c.storeUntil(db, &e, when, c.Args[2])
}

// storeUntil makes the record hold a string until when, 0 for ever. When that is
// not after now, there is no key afterwards.
func (c *Call) storeUntil(db *shard.Database, e *shard.Entry, when int64, value []byte) {
	if c.past(when) {
		db.Delete(e)
		return
	}
	store(db, e, when, value)
}

func runSetNX(c *Call) {
	db, e := c.Lookup(c.Args[1])
	if e.Exists() {
		c.Out.Int(0)
		return
	}
	store(db, &e, 0, c.Args[2])
	c.Out.Int(1)
}

func runSetEx(c *Call, seconds bool) {
	when, ok := c.expiry(c.Args[2], seconds, true)
	if !ok {
		return
	}
	db, e := c.Lookup(c.Args[1])
	store(db, &e, when, c.Args[3])
	c.Out.OK()
}

func runMGet(c *Call) {
	c.Out.Array(len(c.Args) - 1)
	for _, key := range c.Args[1:] {
		db, e := c.Read(key)
		switch e.Kind() {
		case shard.KindInt, shard.KindString:
			c.bulk(db, &e)
		default:
			c.Out.Null()
		}
	}
}

// setPairs sets every key to the value that follows it.
func (c *Call) setPairs() {
	for i := 1; i < len(c.Args); i += 2 {
		db, e := c.Lookup(c.Args[i])
		store(db, &e, 0, c.Args[i+1])
	}
}

// oddPairs replies with an error and says true when a key has no value.
func (c *Call) oddPairs() bool {
	if len(c.Args)%2 == 0 {
		c.Fail(WrongArity, c.Command.lower)
		return true
	}
	return false
}

func runMSet(c *Call) {
	if !c.oddPairs() {
		c.setPairs()
		c.Out.OK()
	}
}

func runMSetNX(c *Call) {
	if c.oddPairs() {
		return
	}
	for i := 1; i < len(c.Args); i += 2 {
		db := c.Database(c.Args[i])
		if e := db.Lookup(c.Args[i]); e.Exists() {
			c.Out.Int(0)
			return
		}
	}
	c.setPairs()
	c.Out.Int(1)
}

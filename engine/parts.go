package engine

import "github.com/limitstore/limitstore/shard"

// partCommands read or change a part of a string.
func partCommands() []Command {
	span := []Arg{keyArg, {Name: "start", Type: Integer}, {Name: "end", Type: Integer}}
	return []Command{{
		Name: "APPEND", Group: Strings, Since: "0.1.0", Summary: "Appends to the string value of a key; creates the key when there is none.", Complexity: "O(1), amortised",
		Args: []Arg{keyArg, {Name: "value", Type: String}}, Keys: OneKey, Flags: Write | DenyOOM | Fast, Run: runAppend,
		Reply: "integer: the new length in bytes", Examples: []Example{{"APPEND line ab", "(integer) 2"}, {"APPEND line cd", "(integer) 4"}, {"GET line", `"abcd"`}},
	}, {
		Name: "STRLEN", Group: Strings, Since: "0.1.0", Summary: "Returns the length of a string value.", Complexity: "O(1)",
		Args: []Arg{keyArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runStrLen,
		Reply: "integer: the length in bytes, 0 when there is no key", Examples: []Example{{"SET word hello", "OK"}, {"STRLEN word", "(integer) 5"}},
	}, {
		Name: "GETRANGE", Group: Strings, Since: "0.1.0", Summary: "Returns a part of a string value, both ends included; negative positions count from the end.", Complexity: "O(N) with N the length returned",
		Args: span, Keys: OneKey, Flags: ReadOnly, Run: runGetRange,
		Reply: "bulk string: the part, empty when there is none", Examples: []Example{{"SET word hello", "OK"}, {"GETRANGE word 1 3", `"ell"`}, {"GETRANGE word -2 -1", `"lo"`}},
	}, {
		Name: "SUBSTR", Group: Strings, Since: "0.1.0", Summary: "Returns a part of a string value: the older name of the same command.", Complexity: "O(N) with N the length returned",
		Args: span, Keys: OneKey, Flags: ReadOnly, Run: runGetRange,
		Reply: "bulk string: the part, empty when there is none", Examples: []Example{{"SET word hello", "OK"}, {"SUBSTR word 0 0", `"h"`}},
	}, {
		Name: "SETRANGE", Group: Strings, Since: "0.1.0", Summary: "Overwrites a part of a string value; zero bytes fill a gap before it.", Complexity: "O(N) with N the length written",
		Args: []Arg{keyArg, {Name: "offset", Type: Integer}, {Name: "value", Type: String}}, Keys: OneKey, Flags: Write | DenyOOM, Run: runSetRange,
		Reply: "integer: the new length in bytes", Examples: []Example{{"SET word hello", "OK"}, {"SETRANGE word 1 u", "(integer) 5"}, {"GET word", `"hullo"`}},
	}}
}

// tooLong replies with an error and says true when more bytes at an offset would
// make a value longer than the limit.
func (c *Call) tooLong(offset int64, more int) bool {
	if offset <= int64(c.limits.Value) && offset+int64(more) <= int64(c.limits.Value) {
		return false
	}
	c.Fail(StringTooLong)
	return true
}

func runAppend(c *Call) {
	db, e := c.Lookup(c.Args[1])
	if c.wrongType(&e) {
		return
	}
	tail := c.Args[2]
	if !e.Exists() {
		store(db, &e, 0, tail)
		c.Out.Int(int64(len(tail)))
		return
	}
	var room [maxDigits]byte
	length := len(text(db, &e, room[:]))
	if c.tooLong(int64(length), len(tail)) {
		return
	}
	asBytes(db, &e)
	db.Splice(&e, length, 0, tail)
	c.Out.Int(int64(length + len(tail)))
}

// asBytes makes an integer the string that spells it, so that a part of it can
// be changed, and returns the length.
func asBytes(db *shard.Database, e *shard.Entry) int {
	if e.Kind() == shard.KindInt {
		var room [maxDigits]byte
		db.Put(e, shard.KindString, e.Expiry(), text(db, e, room[:]))
	}
	return len(db.Value(e))
}

func runStrLen(c *Call) {
	db, e := c.Read(c.Args[1])
	if c.wrongType(&e) {
		return
	}
	var room [maxDigits]byte
	c.Out.Int(int64(len(text(db, &e, room[:]))))
}

func runGetRange(c *Call) {
	start, ok := Int(c.Args[2])
	end, ok2 := Int(c.Args[3])
	if !ok || !ok2 {
		c.Fail(NotInteger)
		return
	}
	db, e := c.Read(c.Args[1])
	if c.wrongType(&e) {
		return
	}
	var room [maxDigits]byte
	c.Out.Bulk(part(text(db, &e, room[:]), start, end))
}

// part is value from start to end, both included, as Redis counts: positions
// from the end are negative, and one before the beginning is the beginning.
func part(value []byte, start, end int64) []byte {
	if start < 0 && end < 0 && start > end {
		return nil
	}
	length := int64(len(value))
	if start < 0 {
		start = max(start+length, 0)
	}
	if end < 0 {
		end = max(end+length, 0)
	}
	end = min(end, length-1)
	if start > end {
		return nil
	}
	return value[start : end+1]
}

func runSetRange(c *Call) {
	offset, ok := Int(c.Args[2])
	if !ok {
		c.Fail(NotInteger)
		return
	}
	if offset < 0 {
		c.Fail(OffsetRange)
		return
	}
	db, e := c.Lookup(c.Args[1])
	if c.wrongType(&e) {
		return
	}
	if insert := c.Args[3]; len(insert) > 0 {
		if c.tooLong(offset, len(insert)) {
			return
		}
		overwrite(db, &e, int(offset), insert)
	}
	var room [maxDigits]byte
	c.Out.Int(int64(len(text(db, &e, room[:]))))
}

// overwrite puts insert at an offset of the value, which grows if need be.
func overwrite(db *shard.Database, e *shard.Entry, offset int, insert []byte) {
	length := asBytes(db, e)
	if offset <= length && e.Exists() {
		db.Splice(e, offset, min(len(insert), length-offset), insert)
		return
	}
	filled := make([]byte, offset-length+len(insert))
	copy(filled[offset-length:], insert)
	if e.Exists() {
		db.Splice(e, length, 0, filled)
		return
	}
	db.Put(e, shard.KindString, 0, filled)
}

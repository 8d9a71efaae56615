package engine

import (
	"bytes"

	"github.com/limitstore/limitstore/shard"
)

// keyCommands are Redis' commands on keys, whatever they hold.
func keyCommands() []Command {
	return append(wholeKeyCommands(), renameCommands()...)
}

func wholeKeyCommands() []Command {
	return []Command{
		manyKeys("DEL", "Deletes keys.", Write|Fast, deleteKey, "integer: how many keys there were", Example{"DEL a b x", "(integer) 2"}),
		manyKeys("UNLINK", "Deletes keys. It is DEL: nothing here takes long to free.", Write|Fast, deleteKey, "integer: how many keys there were", Example{"UNLINK a b x", "(integer) 2"}),
		manyKeys("EXISTS", "Counts the keys that exist; one given twice counts twice.", ReadOnly|Fast, keyExists, "integer: how many exist", Example{"EXISTS a a x", "(integer) 2"}),
		manyKeys("TOUCH", "Counts the keys that exist.", ReadOnly|Fast, keyExists, "integer: how many exist", Example{"TOUCH a b x", "(integer) 2"}),
		{
			Name: "TYPE", Group: Generic, Since: "0.1.0", Summary: "Says what a key holds.", Complexity: "O(1)",
			Args: []Arg{keyArg}, Keys: OneKey, Flags: ReadOnly | Fast, Run: runType,
			Reply:    "string, hash, set, zset, list, limit-bucket, limit-fixed, limit-sliding, limit-log, or none",
			Examples: []Example{{"SET a 1", "OK"}, {"TYPE a", "string"}, {"TYPE x", "none"}},
		},
		objectCommand(),
	}
}

// manyKeys declares a command that does one thing to each of its keys and counts
// the times it was so.
func manyKeys(name, summary string, flags Flags, each func(*Call, []byte) bool, reply string, example Example) Command {
	return Command{
		Name: name, Group: Generic, Since: "0.1.0", Summary: summary, Complexity: "O(N) with N the number of keys",
		Args: []Arg{{Name: "key", Type: Key, Multiple: true}}, Keys: Keys{First: 1, Last: -1, Step: 1}, Flags: flags,
		Run: func(c *Call) { c.countKeys(each) }, Reply: reply, Examples: []Example{{"MSET a 1 b 2", "OK"}, example},
	}
}

func (c *Call) countKeys(each func(*Call, []byte) bool) {
	n := int64(0)
	for _, key := range c.Args[1:] {
		if each(c, key) {
			n++
		}
	}
	c.Out.Int(n)
}

func deleteKey(c *Call, key []byte) bool {
	db, e := c.Lookup(key)
	return db.Delete(&e)
}

func keyExists(c *Call, key []byte) bool {
	_, e := c.Read(key)
	return e.Exists()
}

// typeName is what TYPE and SCAN TYPE call a kind.
func typeName(kind shard.Kind) string {
	switch kind {
	case shard.KindNone:
		return "none"
	case shard.KindBucket:
		return "limit-bucket"
	case shard.KindFixed:
		return "limit-fixed"
	case shard.KindSliding:
		return "limit-sliding"
	case shard.KindLog:
		return "limit-log"
	case shard.KindHash:
		return "hash"
	case shard.KindSet:
		return "set"
	case shard.KindSorted:
		return "zset"
	case shard.KindList:
		return "list"
	}
	return "string"
}

func runType(c *Call) {
	_, e := c.Read(c.Args[1])
	c.Out.SimpleString(typeName(e.Kind()))
}

func renameCommands() []Command {
	args := []Arg{keyArg, {Name: "newkey", Type: Key}}
	return []Command{{
		Name: "RENAME", Group: Generic, Since: "0.1.0", Summary: "Renames a key, with its expiry; what the new name held is gone.", Complexity: "O(N) with N the size of the value",
		Args: args, Keys: Keys{First: 1, Last: 2, Step: 1}, Flags: Write, Run: func(c *Call) { c.rename(false) },
		Reply: "OK", Examples: []Example{{"SET a 1", "OK"}, {"RENAME a b", "OK"}, {"GET b", `"1"`}, {"RENAME x y", "(error) ERR no such key"}},
	}, {
		Name: "RENAMENX", Group: Generic, Since: "0.1.0", Summary: "Renames a key if the new name is free.", Complexity: "O(N) with N the size of the value",
		Args: args, Keys: Keys{First: 1, Last: 2, Step: 1}, Flags: Write, Run: func(c *Call) { c.rename(true) },
		Reply: "integer: 1 when renamed, 0 when the new name is taken", Examples: []Example{{"MSET a 1 b 2", "OK"}, {"RENAMENX a b", "(integer) 0"}, {"RENAMENX a c", "(integer) 1"}},
	}}
}

// rename moves the record of the call's first key to its second.
func (c *Call) rename(onlyNew bool) {
	from, to := c.Args[1], c.Args[2]
	source, old := c.Lookup(from)
	if !old.Exists() {
		c.Fail(NoSuchKey)
		return
	}
	target, e := c.Lookup(to)
	if onlyNew && e.Exists() {
		c.Out.Int(0)
		return
	}
	if !bytes.Equal(from, to) {
		target.Put(&e, old.Kind(), old.Expiry(), source.Value(&old))
		source.Delete(&old)
	}
	if onlyNew {
		c.Out.Int(1)
		return
	}
	c.Out.OK()
}

// embedded is the longest string that Redis keeps in one piece with its header;
// OBJECT ENCODING names strings by it.
const embedded = 44

func objectCommand() Command {
	ask := func(name, summary, reply string, run func(*Call), example Example) Command {
		return Command{
			Name: name, Group: Generic, Since: "0.1.0", Summary: summary, Complexity: "O(1)", Args: []Arg{keyArg},
			Keys: Keys{First: 2, Last: 2, Step: 1}, Flags: ReadOnly, Run: run, Reply: reply, Examples: []Example{{"SET n 12345", "OK"}, example},
		}
	}
	subs := []Command{
		ask("ENCODING", "Says how a value is kept.", "int, embstr (at most 44 bytes) or raw for strings; listpack or hashtable for hashes; intset, listpack or hashtable for sets; listpack or skiplist for sorted sets; listpack or quicklist for lists; packed or hits for limiters; nil when there is no key",
			runObjectEncoding, Example{"OBJECT ENCODING n", `"int"`}),
		ask("REFCOUNT", "Says how often a value is referred to.", "integer: always 1, values are not shared; nil when there is no key",
			runObjectRefCount, Example{"OBJECT REFCOUNT n", "(integer) 1"}),
		ask("IDLETIME", "Would say how long a key has not been used. It is not tracked.", "an error; nil when there is no key",
			runObjectIdleTime, Example{"OBJECT IDLETIME n", "(error) " + IdleNotTracked.Text()}),
		ask("FREQ", "Would say how often a key is used. It is not tracked.", "an error; nil when there is no key",
			runObjectFreq, Example{"OBJECT FREQ n", "(error) " + FrequencyNotTracked.Text()}),
	}
	help := Command{
		Name: "HELP", Group: Generic, Since: "0.1.0", Summary: "Lists the subcommands.", Complexity: "O(1)", Scope: Here, Flags: Loading | Stale,
		Reply: "array: lines of text", Run: runObjectHelp, Examples: []Example{{"OBJECT HELP", `1) OBJECT <subcommand> [<key>]. Subcommands are:
2) ENCODING <key>: how the value is kept.
3) REFCOUNT <key>: how often the value is referred to.
4) IDLETIME <key>: not tracked.
5) FREQ <key>: not tracked.
6) HELP: prints this help.`}},
	}
	return Command{
		Name: "OBJECT", Group: Generic, Since: "0.1.0", Summary: "Says how a value is kept.", Complexity: "O(1)", Subs: append(subs, help),
		Reply: "depends on the subcommand", Examples: []Example{{"SET n 12345", "OK"}, {"OBJECT ENCODING n", `"int"`}},
	}
}

func runObjectHelp(c *Call) {
	lines := [...]string{
		"OBJECT <subcommand> [<key>]. Subcommands are:",
		"ENCODING <key>: how the value is kept.",
		"REFCOUNT <key>: how often the value is referred to.",
		"IDLETIME <key>: not tracked.",
		"FREQ <key>: not tracked.",
		"HELP: prints this help.",
	}
	c.Out.Array(len(lines))
	for _, line := range lines {
		c.Out.SimpleString(line)
	}
}

// object looks up the key of an OBJECT command; it replies with nil and says
// false when there is none.
func (c *Call) object() (*shard.Database, shard.Entry, bool) {
	db, e := c.Read(c.Args[2])
	if !e.Exists() {
		c.Out.Null()
	}
	return db, e, e.Exists()
}

func runObjectEncoding(c *Call) {
	db, e, ok := c.object()
	if !ok {
		return
	}
	switch e.Kind() {
	case shard.KindInt:
		c.Out.BulkString("int")
	case shard.KindString:
		if len(db.Value(&e)) <= embedded {
			c.Out.BulkString("embstr")
		} else {
			c.Out.BulkString("raw")
		}
	case shard.KindLog:
		c.Out.BulkString("hits")
	case shard.KindHash, shard.KindSet, shard.KindSorted, shard.KindList:
		c.Out.BulkString(encoding(db, &e))
	default:
		c.Out.BulkString("packed")
	}
}

func runObjectRefCount(c *Call) {
	if _, _, ok := c.object(); ok {
		c.Out.Int(1)
	}
}

func runObjectIdleTime(c *Call) {
	if _, _, ok := c.object(); ok {
		c.Fail(IdleNotTracked)
	}
}

func runObjectFreq(c *Call) {
	if _, _, ok := c.object(); ok {
		c.Fail(FrequencyNotTracked)
	}
}

package engine

import (
	"bytes"
	"math"

	"github.com/limitstore/limitstore/shard"
)

// copyCommands copy and move whole records, between databases too.
func copyCommands() []Command {
	return []Command{{
		Name: "COPY", Group: Generic, Since: "0.1.0", Summary: "Copies a key, with its expiry, to a name that is free.", Complexity: "O(N) with N the size of the value",
		Args: []Arg{
			{Name: "source", Type: Key}, {Name: "destination", Type: Key}, {Name: "destination-db", Type: Integer, Token: "DB", Optional: true},
			{Name: "replace", Type: PureToken, Token: "REPLACE", Optional: true},
		},
		Keys: Keys{First: 1, Last: 2, Step: 1}, Flags: Write | DenyOOM, Run: runCopy,
		Reply: "integer: 1 when copied, 0 when the destination exists and REPLACE is not given, or there is no source", Examples: []Example{{"SET a 1", "OK"}, {"COPY a b", "(integer) 1"}, {"COPY a b", "(integer) 0"}, {"COPY a b DB 1 REPLACE", "(integer) 1"}},
	}, {
		Name: "MOVE", Group: Generic, Since: "0.1.0", Summary: "Moves a key, with its expiry, to another database if the name is free there.", Complexity: "O(N) with N the size of the value",
		Args: []Arg{keyArg, {Name: "db", Type: Integer}}, Keys: OneKey, Flags: Write, Run: runMove,
		Reply: "integer: 1 when moved, 0 when the name is taken there or there is no such key", Examples: []Example{{"SET a 1", "OK"}, {"MOVE a 1", "(integer) 1"}, {"EXISTS a", "(integer) 0"}},
	}}
}

// databaseNumber reads the number of a database. It replies with the error and
// says false when there is no such database.
func (c *Call) databaseNumber(word []byte) (int, bool) {
	n, ok := Int(word)
	switch {
	case !ok:
		c.Fail(NotInteger)
	case n < math.MinInt32 || n > math.MaxInt32:
		c.Fail(NotBetween, math.MinInt32, math.MaxInt32)
	case n < 0 || n >= shard.Databases:
		c.Fail(DBIndex)
	default:
		return int(n), true
	}
	return 0, false
}

func runCopy(c *Call) {
	number, replace := c.db, false
	for words := c.Args[3:]; len(words) > 0; words = words[1:] {
		switch {
		case EqualFold(words[0], "REPLACE"):
			replace = true
		case EqualFold(words[0], "DB") && len(words) > 1:
			var ok bool
			if number, ok = c.databaseNumber(words[1]); !ok {
				return
			}
			words = words[1:]
		default:
			c.Fail(Syntax)
			return
		}
	}
	from, to := c.Args[1], c.Args[2]
	if number == c.db && bytes.Equal(from, to) {
		c.Fail(SameObject)
		return
	}
	c.Out.Int(one(c.transfer(from, c.Keyspace(to).Database(number), to, replace, false)))
}

func runMove(c *Call) {
	number, ok := c.databaseNumber(c.Args[2])
	if !ok {
		return
	}
	if number == c.db {
		c.Fail(SameObject)
		return
	}
	c.Out.Int(one(c.transfer(c.Args[1], c.Keyspace(c.Args[1]).Database(number), c.Args[1], false, true)))
}

// transfer copies or moves a record to a key of a database, and says whether it
// did.
func (c *Call) transfer(from []byte, target *shard.Database, to []byte, replace, move bool) bool {
	source := c.Database(from)
	old := source.Lookup(from)
	e := target.Lookup(to)
	if !old.Exists() || e.Exists() && !replace {
		return false
	}
	target.Put(&e, old.Kind(), old.Expiry(), source.Value(&old))
	return !move || source.Delete(&old)
}

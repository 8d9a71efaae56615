package engine

import "github.com/limitstore/limitstore/shard"

// databaseCommands are about whole databases.
func databaseCommands() []Command {
	how := []Arg{{Name: "flush-type", Type: OneOf, Optional: true, Args: []Arg{{Name: "async", Type: PureToken, Token: "ASYNC"}, {Name: "sync", Type: PureToken, Token: "SYNC"}}}}
	return []Command{{
		Name: "DBSIZE", Group: Server, Since: "0.1.0", Summary: "Counts the keys of the database.", Complexity: "O(1)",
		Flags: ReadOnly | Fast, Scope: EachShard, Run: runDBSize, Reply: "integer: the number of keys",
		Examples: []Example{{"MSET a 1 b 2", "OK"}, {"DBSIZE", "(integer) 2"}},
		Notes:    "Keys that have expired count until their memory is collected.",
	}, {
		Name: "FLUSHDB", Group: Server, Since: "0.1.0", Summary: "Deletes all keys of the database.", Complexity: "O(1)",
		Args: how, Flags: Write | Fence, Scope: EveryShard, Run: func(c *Call) { c.flush(c.db, c.db) }, Reply: "OK",
		Examples: []Example{{"SET a 1", "OK"}, {"FLUSHDB", "OK"}, {"DBSIZE", "(integer) 0"}},
		Notes:    "ASYNC and SYNC are the same: memory is released as a whole.",
	}, {
		Name: "FLUSHALL", Group: Server, Since: "0.1.0", Summary: "Deletes all keys of all databases.", Complexity: "O(1)",
		Args: how, Flags: Write | Fence, Scope: EveryShard, Run: func(c *Call) { c.flush(0, shard.Databases-1) }, Reply: "OK",
		Examples: []Example{{"SET a 1", "OK"}, {"FLUSHALL ASYNC", "OK"}, {"DBSIZE", "(integer) 0"}},
		Notes:    "ASYNC and SYNC are the same: memory is released as a whole.",
	}}
}

func runDBSize(c *Call) {
	n := 0
	c.Each(func(_ int, ks *shard.Keyspace, _ *Stats) { n += ks.Database(c.db).Len() })
	c.Out.Int(int64(n))
}

// flush empties the databases from first to last on every shard.
func (c *Call) flush(first, last int) {
	how := c.Args[1:]
	if len(how) > 1 || (len(how) == 1 && !EqualFold(how[0], "ASYNC") && !EqualFold(how[0], "SYNC")) {
		c.Fail(Syntax)
		return
	}
	for _, ks := range c.held {
		for n := first; n <= last; n++ {
			ks.Database(n).Flush()
		}
	}
	c.Out.OK()
}

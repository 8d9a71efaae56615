package engine

import (
	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/resp"
	"github.com/limitstore/limitstore/shard"
)

// Call is one command being run. Exactly one of two things holds: it runs on
// the shard of its keys (ks), or its caller holds the shards it needs (held).
// Commands of Scope Here and EachShard have neither and use Session, unless they
// are part of a transaction, which may hold shards. A Call is reused: a command
// keeps nothing of it.
type Call struct {
	Command *Command
	Args    [][]byte     // the name as sent, then the arguments; views of the read buffer
	Out     *resp.Writer // exactly one reply is written here
	Session *Session     // nil on a shard's goroutine

	db     int
	place  shard.Place // of Args[1]
	placed bool        // place is known
	ks     *shard.Keyspace
	held   []*shard.Keyspace // by shard number; nil where not held
	stats  *Stats            // of the shard it counts for; nil when it runs without one

	transaction *transaction // of EXEC; nil when there is nothing to run

	shard    int      // the number of ks
	caller   *Session // whose call it is, on a shard's goroutine too; for scripts
	scripted bool     // a script has called it
	wide     bool     // it needs shards that it does not hold, and has done nothing
	reached  bool     // it is here again because a script went beyond its shards
	prepared any      // what Command.Prepare made

	limits  *Limits          // of the engine
	values  [maxNative]int64 // what parse found, by position in Command.Args
	given   uint32           // which of them were given
	steady  bool             // Args of earlier calls are still as they were
	asker   *Command         // whose arguments they are, asked; nil when that is not known
	asked   [][]byte
	limiter limiter // of limiter commands; here so that it need not be allocated
	tight   bool    // memory is full: a Sparing command must not make it grow
}

// Keyspace is the slice of the keyspace that owns key. The call must hold it.
func (c *Call) Keyspace(key []byte) *shard.Keyspace {
	if c.ks != nil {
		return c.ks
	}
	return c.held[route(key, len(c.held))]
}

// Database is the call's database on the shard that owns key.
func (c *Call) Database(key []byte) *shard.Database {
	return c.Keyspace(key).Database(c.db)
}

// Now is the call's frozen time: that of its batch, or of the door.
func (c *Call) Now() limit.Instant {
	if c.ks != nil {
		return c.ks.Now()
	}
	for _, ks := range c.held {
		if ks != nil {
			return ks.Now()
		}
	}
	panic("engine: a call without a keyspace asked for the time")
}

// Millis is Now in whole Unix milliseconds, rounded down.
func (c *Call) Millis() int64 {
	return int64(c.Now()) / 1e6
}

// Each runs fn on every shard, one after another: what it gathers is no atomic
// picture, unless the call holds them all. The call has a Session.
func (c *Call) Each(fn func(i int, ks *shard.Keyspace, st *Stats)) {
	for i := range c.Session.engine.shards {
		c.On(i, fn)
	}
}

// On runs fn on the goroutine of shard i and waits for it, or here when the call
// holds that shard. The call has a Session.
func (c *Call) On(i int, fn func(i int, ks *shard.Keyspace, st *Stats)) {
	if e := c.Session.engine; c.held == nil {
		e.On(i, fn)
	} else {
		fn(i, c.held[i], e.stats[i])
	}
}

// Moment is Now of a call that holds a keyspace, and otherwise the time of the
// first shard. The call has a Session.
func (c *Call) Moment() (now limit.Instant) {
	if c.ks != nil || c.held != nil {
		return c.Now()
	}
	c.Session.engine.On(0, func(_ int, ks *shard.Keyspace, _ *Stats) { now = ks.Now() })
	return now
}

// SetDB selects a database, 0 to 15, for what the session runs next; within a
// script, for what the script runs next. The call has a Session.
func (c *Call) SetDB(n int) {
	c.db = n
	if !c.scripted {
		c.Session.SetDB(n)
	}
}

// Fail replies with an error of the table.
func (c *Call) Fail(id ErrorID, words ...any) {
	c.Out.Error(id.Text(words...))
}

// Lookup finds the record of key, present or absent.
func (c *Call) Lookup(key []byte) (*shard.Database, shard.Entry) {
	db := c.Database(key)
	if one := c.Args[1]; c.placed && len(key) > 0 && len(key) == len(one) && &key[0] == &one[0] {
		return db, db.LookupAt(key, c.place)
	}
	return db, db.Lookup(key)
}

// Read looks key up for a command that only reads and counts the hit or the
// miss.
func (c *Call) Read(key []byte) (*shard.Database, shard.Entry) {
	db, e := c.Lookup(key)
	if e.Exists() {
		c.stats.Hits++
	} else {
		c.stats.Misses++
	}
	return db, e
}

// decided counts a limiter's decision for the metrics.
func (c *Call) decided(allowed bool) {
	if allowed {
		c.stats.Allowed[c.Command.id]++
	} else {
		c.stats.Denied[c.Command.id]++
	}
}

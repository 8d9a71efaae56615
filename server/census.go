package server

import (
	"maps"
	"math/rand/v2"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/shard"
)

// census is what the shards and the server have counted, asked for when somebody
// wants to know: INFO or a scrape. The shards are asked one after another, so it
// is no atomic picture.
type census struct {
	now         limit.Instant // of the latest shard
	databases   [shard.Databases]population
	memory      shard.Usage   // of all shards
	counts      shard.Stats   // of all shards
	watched     int           // keys
	waiting     []int         // batches in each shard's inbox
	stats       *engine.Stats // of commands, those of the server included
	connections int
	accepted    uint64 // connections so far
	refused     uint64
	totals      totals
	watch       watch
	hub         hubFigures
	subscribers int // connections with subscriptions
}

// population is the keys of one database.
type population struct {
	keys, expires int
	memory        shard.Usage
	ttl           int64 // of some keys, summed up, in milliseconds
	sampled       int64 // how many those are
}

// averageTTL is an estimate in milliseconds.
func (p *population) averageTTL() int64 {
	if p.sampled == 0 {
		return 0
	}
	return p.ttl / p.sampled
}

// samples is how many keys of a shard's database the average is taken from, about.
const samples = 16

// sample adds the time to live of some keys: a stretch somewhere in their order,
// which has nothing to do with what they are, round the end of it.
func (p *population) sample(db *shard.Database, now int64) {
	visit := func(e *shard.Entry) {
		if e.Expiry() > now {
			p.ttl += e.Expiry() - now
			p.sampled++
		}
	}
	if _, end := db.Scan(rand.Uint32(), samples, visit); end {
		db.Scan(0, samples, visit)
	}
}

// census asks everybody; each visits the shards: Engine.Each, or Call.Each for a
// call that may hold them.
func (s *Server) census(each func(atShard)) *census {
	c := &census{waiting: make([]int, s.engine.Shards())}
	for i := range c.waiting {
		c.waiting[i] = s.engine.Waiting(i)
	}
	c.stats = s.engine.NewStats()
	each(func(i int, ks *shard.Keyspace, st *engine.Stats) {
		c.stats.Add(st)
		c.now = max(c.now, ks.Now())
		c.memory.Add(ks.Usage())
		c.counts.Add(ks.Stats())
		c.watched += ks.Watched()
		ks.Each(func(n int, db *shard.Database) {
			p := &c.databases[n]
			p.keys += db.Len()
			p.expires += db.Expires()
			p.memory.Add(db.Usage())
			p.sample(db, ks.NowMillis())
		})
	})
	s.addOwn(c.stats)
	c.totals, c.connections = s.sum()
	c.hub, c.subscribers = s.hub.figures(), s.subscribers()
	c.watch = s.watched()
	c.accepted, c.refused = s.counts.accepted.Load(), s.counts.refused.Load()
	return c
}

// subscribers is how many connections have subscriptions.
func (s *Server) subscribers() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		if l := c.listener(); l.subscribed() {
			n++
		}
	}
	return n
}

// addOwn adds what ran without a shard.
func (s *Server) addOwn(stats *engine.Stats) {
	for i := range s.counts.calls {
		stats.Calls[i] += s.counts.calls[i].Load()
		stats.Failed[i] += s.counts.failed[i].Load()
		stats.Timed[i] += s.counts.timed[i].Load()
		stats.Took[i] += s.counts.took[i].Load()
	}
	s.counts.mu.Lock()
	defer s.counts.mu.Unlock()
	for code, n := range s.counts.errors {
		stats.Errors[code] += n
	}
}

// errorReplies is how many replies were errors.
func (c *census) errorReplies() (n uint64) {
	for count := range maps.Values(c.stats.Errors) {
		n += count
	}
	return n
}

// decisions are the limiters' answers.
func (c *census) decisions() (allowed, denied uint64) {
	for i := range c.stats.Allowed {
		allowed += c.stats.Allowed[i]
		denied += c.stats.Denied[i]
	}
	return allowed, denied
}

// since leaves what has happened since an earlier census; nil is the start.
func (c *census) since(base *census) {
	if base == nil {
		return
	}
	c.stats.Since(base.stats)
	c.totals = c.totals.minus(base.totals)
	c.counts.Sub(base.counts)
	c.accepted -= base.accepted
	c.refused -= base.refused
}

// resetStat is CONFIG RESETSTAT.
func (c *conn) resetStat(call *engine.Call) {
	c.publish()
	c.server.base.Store(c.server.census(call.Each))
	call.Out.OK()
}

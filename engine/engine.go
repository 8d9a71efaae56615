package engine

import (
	"io"

	"github.com/limitstore/limitstore/resp"
	"github.com/limitstore/limitstore/shard"
)

// Config is what an engine is made of.
type Config struct {
	Shards int         // at least 1
	Clock  shard.Clock // the only source of time
	Seed   shard.Seed  // of the index hash; secret, random
	Table  *Table      // the rows of every package
	Limits Limits

	Version string                       // of Redis, as scripts are told
	Log     func(level int, line string) // takes what scripts log, at Redis' levels, 0 debug to 3 warning; nil: nobody does
}

// Engine is the keyspace, split over shards, with the commands that work on it.
// It is safe for concurrent use; each caller has its own Session.
type Engine struct {
	shards []*shard.Shard
	door   *shard.Door
	stats  []*Stats // by shard; touched only on that shard's goroutine or while it stands
	table  *Table
	clock  shard.Clock
	limits Limits
	seed   shard.Seed

	scripting scripting
	version   string
	log       func(level int, line string)
	all       []int // every shard number, ascending
}

// New starts an engine. Close ends it.
func New(cfg Config) *Engine {
	e := &Engine{table: cfg.Table, clock: cfg.Clock, seed: cfg.Seed, limits: cfg.Limits.withDefaults()}
	for i := range cfg.Shards {
		e.shards = append(e.shards, shard.New(shard.Config{Index: i, Clock: cfg.Clock, Seed: cfg.Seed, Inbox: e.limits.Inbox, Memory: int64(e.limits.Memory / cfg.Shards)}))
		e.stats = append(e.stats, newStats(len(e.table.rows)))
		e.all = append(e.all, i)
	}
	e.door = shard.NewDoor(e.shards)
	e.version, e.log, e.scripting = cfg.Version, cfg.Log, newScripting(e, cfg.Shards)
	return e
}

// Close finishes what is queued and stops the shards. No Session may be used
// afterwards.
func (e *Engine) Close() {
	for _, s := range e.shards {
		s.Close()
	}
}

// Table is the command table.
func (e *Engine) Table() *Table { return e.table }

// Limits are the limits in force.
func (e *Engine) Limits() Limits { return e.limits }

// Shards is the number of shards.
func (e *Engine) Shards() int { return len(e.shards) }

// Each runs fn on every shard's goroutine, one shard after another: what it
// gathers is no atomic picture.
func (e *Engine) Each(fn func(i int, ks *shard.Keyspace, st *Stats)) {
	for i := range e.shards {
		e.On(i, fn)
	}
}

// On runs fn on the goroutine of shard i and waits for it.
func (e *Engine) On(i int, fn func(i int, ks *shard.Keyspace, st *Stats)) {
	e.shards[i].Do(func(ks *shard.Keyspace) { fn(i, ks, e.stats[i]) })
}

// Waiting is the number of batches in the inbox of shard i.
func (e *Engine) Waiting(i int) int { return e.shards[i].Waiting() }

// NewSession makes a caller's place in the engine. Its replies are written to w,
// once per Flush unless they are many.
func (e *Engine) NewSession(owner any, w io.Writer) *Session {
	s := &Session{Owner: owner, engine: e, w: w, batches: make([]*batch, len(e.shards)), script: -1}
	s.local.out.SetLimit(e.limits.Output)
	s.call.limits = &e.limits
	s.SetProto(resp.RESP2)
	return s
}

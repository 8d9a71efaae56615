package shard

import (
	"bytes"
	"sort"

	"github.com/limitstore/limitstore/limit"
)

// Keyspace is one shard's slice of the keys, in up to sixteen databases. It
// belongs to the shard's goroutine, or to a caller that holds the standing shard
// through the Door; nobody else may touch it.
type Keyspace struct {
	clock     Clock
	seed      Seed
	now       limit.Instant
	millis    int64
	databases [Databases]*Database
	made      []*Database // those that are in use
	effects   *Effects
	undo      *Undo

	expirations int  // the most the wheels collect between two drains
	keep        bool // garbage is not collected
	turn        int  // which of made has its wheels pulled first
	flip        bool // which wheel of a database is pulled first
	stats       Stats
	warmed      uint32 // means nothing: it makes the loads of Warm be needed
	draft       draft

	budget int64 // bytes that Memory may come to; 0 any
	chunks int   // of each database; 0 is what references can reach
	search search
}

// Stats counts what happened to a keyspace since it was made.
type Stats struct {
	Expired int64 // records collected after their expiry, or found expired and replaced
	Evicted int64 // limiter states given up because memory was full
	// EvictedDebt is what the evicted states owed when they were given up, summed up: in
	// tokens, or in hits. So many more may have been admitted than without.
	EvictedDebt int64
}

// NewKeyspace makes a keyspace without a shard around it: for replaying effects
// and for tests. The caller is its only user. Of cfg it takes Clock, Seed,
// Expirations and Memory.
func NewKeyspace(cfg Config) *Keyspace {
	cfg = cfg.withDefaults()
	ks := &Keyspace{clock: cfg.Clock, seed: cfg.Seed, expirations: cfg.Expirations, budget: cfg.Memory}
	ks.now = cfg.Clock.Now()
	ks.millis = floorMillis(ks.now)
	return ks
}

// Now is the time of the current batch. It never decreases.
func (ks *Keyspace) Now() limit.Instant { return ks.now }

// NowMillis is Now in Unix milliseconds, rounded down.
func (ks *Keyspace) NowMillis() int64 { return ks.millis }

// Tick reads the clock again. The shard does so for each drain; a batch does it
// after a command that ran long.
func (ks *Keyspace) Tick() { ks.advanceTo(ks.clock.Now()) }

// advanceTo moves the time on, never back.
func (ks *Keyspace) advanceTo(now limit.Instant) {
	if now > ks.now {
		ks.now, ks.millis = now, floorMillis(now)
	}
}

// floorMillis is t in whole milliseconds, rounded down also before 1970.
func floorMillis(t limit.Instant) int64 {
	ms := int64(t) / 1e6
	if int64(t)%1e6 < 0 {
		ms--
	}
	return ms
}

// Database is database n, 0 to Databases-1. It is made on first use.
func (ks *Keyspace) Database(n int) *Database {
	if d := ks.databases[n]; d != nil {
		return d
	}
	d := newDatabase(ks, n)
	ks.databases[n], ks.made = d, append(ks.made, d)
	return d
}

// Each calls fn with every database made so far, by number.
func (ks *Keyspace) Each(fn func(n int, d *Database)) {
	for n, d := range ks.databases {
		if d != nil {
			fn(n, d)
		}
	}
}

// Record makes every change write its effect to effects; nil stops that.
func (ks *Keyspace) Record(effects *Effects) { ks.effects = effects }

// Arm makes every change write its inverse to u; nil stops that.
func (ks *Keyspace) Arm(u *Undo) { ks.undo = u }

// Stats are the counters so far.
func (ks *Keyspace) Stats() Stats { return ks.stats }

// Dump calls fn with every live record, by database and then by key, so that
// equal keyspaces give equal dumps. The slices are views, or of collections the
// encodings that Put takes. It is for tests and
// takes memory for a list of all records.
func (ks *Keyspace) Dump(fn func(db int, key []byte, kind Kind, when int64, value []byte)) {
	for n, d := range ks.databases {
		if d == nil {
			continue
		}
		for _, c := range d.sorted() {
			if d.alive(c) {
				fn(n, c.key(), c.kind(), c.when, d.tables.value(c))
			}
		}
	}
}

// sorted is every record of the database, expired ones included, by key.
func (d *Database) sorted() []*cell {
	all := make([]*cell, 0, d.tables.count)
	d.tables.index.each(func(s slot) { all = append(all, d.tables.arena.cell(s.ref)) })
	sort.Slice(all, func(i, j int) bool { return bytes.Compare(all[i].key(), all[j].key()) < 0 })
	return all
}

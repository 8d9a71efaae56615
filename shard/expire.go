package shard

// The wheels are garbage collection: they free the memory of records that have
// expired, some at a time, and no answer depends on whether they have.
// Limiter states that have stopped denying are filed again on the way (evict.go).

// Collect frees records that have expired by now, at most Config.Expirations of
// them. done is their number; more says that some are left. The shard calls it
// after every drain. It writes no effects; while Undo is armed it writes
// inverses.
func (ks *Keyspace) Collect() (done int, more bool) { return ks.collect(ks.expirations) }

// collect frees at most so many.
func (ks *Keyspace) collect(most int) (done int, more bool) {
	if ks.keep {
		return 0, false
	}
	// Each call begins with another database, so that none waits for ever behind
	// one with a storm of expiries.
	if ks.turn++; ks.turn >= len(ks.made) {
		ks.turn = 0
	}
	for i := range ks.made {
		at := ks.turn + i
		if at >= len(ks.made) {
			at -= len(ks.made)
		}
		n, rest := ks.made[at].pull(most - done)
		done += n
		more = more || rest
	}
	return done, more
}

// pull frees at most budget expired records of the database.
func (d *Database) pull(budget int) (done int, more bool) {
	t, now := d.tables, d.ks.millis
	_, more = t.denying.Advance(now, d.ks.expirations, d.settled)
	first, second := t.keys, t.limits
	if d.ks.flip = !d.ks.flip; d.ks.flip { // so that neither waits for ever behind the other
		first, second = second, first
	}
	done, rest := first.Advance(now, budget, d.collect)
	n, left := second.Advance(now, budget-done, d.collect)
	return done + n, more || rest || left
}

// expired frees the record at ref. It has left the wheel already.
func (d *Database) expired(ref uint32) {
	c := d.tables.arena.cell(ref)
	e := Entry{key: c.key(), cell: c, place: uint32(d.ks.seed.Place(c.key())), ref: ref}
	d.ks.stats.Expired++
	d.drop(&e)
}

// SetGarbage turns the collection of expired records on or off, for tests: the
// answers are the same either way.
func (ks *Keyspace) SetGarbage(on bool) { ks.keep = !on }

// nextExpiry is the Unix millisecond at which Collect may have work, and false
// when it never has.
func (ks *Keyspace) nextExpiry() (when int64, ok bool) {
	if ks.keep {
		return 0, false
	}
	for _, d := range ks.made {
		for _, w := range d.tables.all() {
			if tick, some := w.Next(); some && (!ok || tick < when) {
				when, ok = tick, true
			}
		}
	}
	return when, ok
}

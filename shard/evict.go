package shard

// When memory is full only limiter state is given up, and what loses least
// first: what has expired, then what is closest to as if never seen, never what
// denies. A limiter's record expires when it is as if never seen, so the wheel
// has that order already.

// Limits of making room.
const (
	// mostEvictions is the most states given up for one command.
	mostEvictions = 256
	// evictionLooks is the most records looked at for one command, beside those of the
	// samples that found what was given up.
	evictionLooks = 1024
	// evictionStretch is the most records looked at in one go.
	evictionStretch = 256
	// evictionSample is how many records the one that is given up is the best of:
	// those of a slot of the wheel are in no order.
	evictionSample = 16
	// chunkReserve is how many chunks a database keeps for what is not refused.
	chunkReserve = 256
)

// search is what was found of the states that may be given up.
type search struct {
	best   uint32
	when   int64 // of best
	sample int   // records that may go
	looked int
}

// Deny tells that the limiter of e denies until the Unix millisecond until, 0
// that it does not: MakeRoom leaves it alone meanwhile. It changes no state.
func (d *Database) Deny(e *Entry, until int64) {
	d.refresh(e)
	if !e.live || e.cell.when == 0 || !e.cell.kind().limiter() {
		return
	}
	c, t := e.cell, d.tables
	c.note(until)
	switch {
	case until == 0 && c.aside():
		d.moveTo(e.ref, c, 0)
	case until != 0 && c.aside():
		t.denying.Update(e.ref)
	case until != 0 && d.ks.budget != 0:
		d.moveTo(e.ref, c, asideBit)
	}
}

// DeniesUntil is what Deny was told last, or a little later; 0 when the limiter
// of e does not deny.
func (d *Database) DeniesUntil(e *Entry) int64 {
	if !e.live || !e.cell.kind().limiter() {
		return 0
	}
	return e.cell.until()
}

// moveTo files a limiter's record among those that deny, or with 0 among those
// that may be given up.
func (d *Database) moveTo(ref uint32, c *cell, aside uint16) {
	d.tables.of(c).Cancel(ref)
	c.node.Owner = c.node.Owner&^asideBit | aside
	d.tables.of(c).Schedule(ref)
}

// mayGo files a record that does not deny any more among those that may be given
// up. It has left its wheel already.
func (d *Database) mayGo(ref uint32) {
	d.moveTo(ref, d.tables.arena.cell(ref), 0)
}

// MakeRoom is called before a command that makes memory grow. It returns true
// when the command may run, after collecting what has expired and giving up
// limiter state if need be: at most mostEvictions of it, and moving the records of at most
// one sparse chunk.
// It moves records: views of them are not valid afterwards. What is given up is written as deleted. Followers never call it: they apply what the
// leader gave up.
func (ks *Keyspace) MakeRoom() bool {
	if ks.budget == 0 || ks.packed() <= ks.budget && ks.Memory() <= ks.budget {
		return true
	}
	ks.Collect()
	looks := evictionLooks
	for n := 0; n < mostEvictions && looks > 0 && ks.packed() > ks.budget; n++ {
		if !ks.giveUp(&looks) {
			break
		}
	}
	if ks.Memory() > ks.budget {
		ks.compact()
	}
	return ks.Memory() <= ks.budget || ks.packed() <= ks.budget+chunkSize
}

// packed is what Memory comes to at most once compact has done all it can: of
// each size of cells one chunk is partly filled. That allowance is held to half of
// the budget, so that a small budget serves for many sizes.
func (ks *Keyspace) packed() int64 {
	sum, sizes := int64(0), 0
	for _, d := range ks.made {
		a := &d.tables.arena
		sum += d.tables.bytes() - a.held + a.live
		sizes += a.sizes
	}
	return sum + min(int64(sizes)*chunkSize, ks.budget/2)
}

// giveUp drops one limiter state, the first to be as if never seen of those that
// it looked at in the earliest slots of the wheels. It returns false when it found
// none that may go.
func (ks *Keyspace) giveUp(looks *int) bool {
	for *looks > 0 {
		d := ks.earliest()
		if d == nil {
			return false
		}
		ks.search = search{}
		d.tables.limits.Front(min(*looks, evictionStretch), d.weigh)
		if ks.search.best != 0 {
			d.evict(ks.search.best)
			return true
		}
		*looks -= max(1, ks.search.looked)
	}
	return false
}

// earliest is the database whose limiter states begin to expire first, nil when
// none has any that may go.
func (ks *Keyspace) earliest() (first *Database) {
	var when int64
	for _, d := range ks.made {
		d.tables.denying.Advance(ks.millis, evictionStretch, d.settled)
		if tick, some := d.tables.limits.Next(); some && (first == nil || tick < when) {
			first, when = d, tick
		}
	}
	return first
}

// consider weighs whether the record at ref is the one to give up. One that
// denies is put aside. It says whether another should be looked at.
func (d *Database) consider(ref uint32, late bool) bool {
	c, s := d.tables.arena.cell(ref), &d.ks.search
	s.looked++
	if c.until() > d.ks.millis {
		d.moveTo(ref, c, asideBit)
		return true
	}
	if s.best == 0 || c.when < s.when {
		s.best, s.when = ref, c.when
	}
	if !late {
		s.sample++
	}
	return s.sample < evictionSample && c.when > d.ks.millis
}

// evict gives the state at ref up, or collects it when it has expired.
func (d *Database) evict(ref uint32) {
	c := d.tables.arena.cell(ref)
	e := d.entryOf(ref, c)
	if !e.live {
		d.ks.stats.Expired++
		d.remove(&e)
		return
	}
	d.ks.stats.Evicted++
	d.ks.stats.EvictedDebt += d.Debt(&e)
	d.Delete(&e)
}

// entryOf is the Entry of a record that is there. Its key is a view of it.
func (d *Database) entryOf(ref uint32, c *cell) Entry {
	return Entry{key: c.key(), cell: c, place: spread(d.ks.seed.hash(c.key())), ref: ref, version: d.version, live: d.alive(c)}
}

// Debt is what the limiter of e owes now, in whole tokens or hits, rounded up; 0
// of any other key.
func (d *Database) Debt(e *Entry) int64 {
	now := d.ks.now
	switch e.Kind() {
	case KindBucket:
		b := d.Bucket(e)
		is, _ := b.Peek(now, 1, b.Rate, 1)
		return is.Used
	case KindFixed:
		f := d.Fixed(e)
		is, _ := f.Peek(now, 1, f.Window, f.First, 1)
		return is.Used
	case KindSliding:
		s := d.Sliding(e)
		is, _ := s.Peek(now, 1, s.Window, 1)
		return is.Used
	case KindLog:
		l := d.Log(e)
		is, _ := l.Peek(now, 1, l.Window, 1)
		return is.Used
	}
	return 0
}

// Room says whether a command that adds at most n records to the database may
// run: each may need a chunk of its own, and a database can number so many and no more.
func (d *Database) Room(n int) bool {
	a := &d.tables.arena
	return a.most-(len(a.chunks)-len(a.vacant)) >= n+min(chunkReserve, a.most/4)
}

// LimitChunks makes a database hold at most n chunks, for tests of what happens
// at the end of them. It is called before the database is used.
func (ks *Keyspace) LimitChunks(n int) { ks.chunks = n }

// newTables makes empty tables for the database.
func (d *Database) newTables() *tables {
	t := newTables(d.ks.millis, &d.ks.seed)
	if d.ks.chunks > 0 {
		t.arena.most = d.ks.chunks + 1
	}
	return t
}

package shard

import "fmt"

// Database is one of the numbered databases of a keyspace. Every change to it
// goes through a primitive (Put, Delete, SetExpiry, Splice, Flush, and those of
// the collections), which writes its effect and its inverse when the keyspace asks for them.
type Database struct {
	ks      *Keyspace
	number  int
	tables  *tables
	version uint32       // counts records that came, went or moved
	collect func(uint32) // bound once, as the next two: the wheels are pulled without allocating
	settled func(uint32)
	weigh   func(uint32, bool) bool
	watched map[string]*watch // by key; nil when nobody watches
}

func newDatabase(ks *Keyspace, number int) *Database {
	d := &Database{ks: ks, number: number}
	d.tables = d.newTables()
	d.collect, d.settled, d.weigh = d.expired, d.mayGo, d.consider
	return d
}

// Lookup finds key. A key whose expiry is at or before NowMillis is absent. The
// Entry keeps key, which must not change while the Entry is used.
func (d *Database) Lookup(key []byte) Entry {
	return d.find(key, uint32(d.ks.seed.Place(key)))
}

// LookupAt is Lookup of a key whose Place is known.
func (d *Database) LookupAt(key []byte, at Place) Entry { return d.find(key, uint32(at)) }

// MaxWarm is how many places Warm takes: more at once would push each other out of
// the cache again.
const MaxWarm = 64

// Warm brings what Lookup of keys with these places will read into the
// processor's cache. One after another, each lookup would wait for main memory twice;
// the loads here do not depend on each other, so that the waits overlap. It changes
// nothing. Of more than MaxWarm places the rest is left.
func (d *Database) Warm(places []Place) {
	d.ks.warmed += d.tables.index.warm(places, &d.tables.arena)
}

func (d *Database) find(key []byte, place uint32) Entry {
	ref, c := d.tables.index.find(place, key, &d.tables.arena)
	return Entry{key: key, cell: c, place: place, ref: ref, version: d.version, live: d.alive(c)}
}

// alive reports that a record is there and has not expired.
func (d *Database) alive(c *cell) bool {
	return c != nil && (c.when == 0 || c.when > d.ks.millis)
}

// refresh finds the record of e again if records of the database came, went or
// moved since.
func (d *Database) refresh(e *Entry) {
	if e.version != d.version {
		*e = d.find(e.key, e.place)
	}
}

// settle brings e up to date after a write made through it; ref is where its
// record was before.
func (d *Database) settle(e *Entry, ref uint32) {
	if e.ref != ref {
		d.version++
		e.version = d.version
	}
	e.live = d.alive(e.cell)
}

// Value is a view of the value of a present key, nil of an absent one. It
// starts at an address divisible by 8 and is valid until the next write to the
// database. Of a collection it is the encoding that Put takes, made for the call.
func (d *Database) Value(e *Entry) []byte {
	if !e.live {
		return nil
	}
	return d.tables.value(e.cell)
}

// Put makes the record of e hold value, whatever was there before, and expire
// at the Unix millisecond when, 0 for never. value may be a view of another
// record but not of e's own. A key longer than MaxKey and a value that is none
// of kind k are mistakes of the caller and panic. Of a collection value is the
// encoding that Value returns.
func (d *Database) Put(e *Entry, k Kind, when int64, value []byte) {
	if len(e.key) > MaxKey || !k.holds(value) || when < 0 {
		panic(fmt.Sprintf("shard: Put of a %d byte key, kind %d, %d byte value, expiry %d", len(e.key), k, len(value), when))
	}
	d.refresh(e)
	if d.ks.effects != nil {
		d.ks.effects.put(d.number, e.key, k, when, value)
	}
	if e.cell != nil && !e.live {
		d.ks.stats.Expired++
	}
	d.put(e, k, when, value)
}

// Delete deletes a present key and reports whether there was one.
func (d *Database) Delete(e *Entry) bool {
	d.refresh(e)
	if !e.live {
		return false
	}
	if d.ks.effects != nil {
		d.ks.effects.delete(d.number, e.key)
	}
	d.remove(e)
	return true
}

// SetExpiry makes a present key expire at the Unix millisecond when, 0 for
// never. Of an absent key it does nothing.
func (d *Database) SetExpiry(e *Entry, when int64) {
	if when < 0 {
		panic(fmt.Sprintf("shard: SetExpiry to %d", when))
	}
	d.refresh(e)
	if !e.live || e.cell.when == when {
		if e.live && when != 0 && d.watched != nil {
			d.touch(e.key) // as in Redis, setting it again counts, and removing none does not
		}
		return
	}
	if d.ks.effects != nil {
		d.ks.effects.expiry(d.number, e.key, when)
	}
	d.setExpiry(e, when)
}

// Splice replaces remove bytes of the value of a present key from position at
// with insert, and leaves its expiry. The value must be of a kind of variable
// length and at, remove must lie within it; anything else panics. insert must
// not be a view of the database. Only what changed is written as effect.
func (d *Database) Splice(e *Entry, at, remove int, insert []byte) {
	d.refresh(e)
	d.change(e, e.Expiry(), at, remove, insert)
}

// change is Splice with another expiry.
func (d *Database) change(e *Entry, when int64, at, remove int, insert []byte) {
	if !e.live || !spliceable(e.cell, at, remove, insert) {
		panic(fmt.Sprintf("shard: Splice of %d bytes for %d at %d of kind %d", len(insert), remove, at, e.Kind()))
	}
	if d.ks.effects != nil {
		d.ks.effects.splice(d.number, e.key, when, at, remove, insert)
	}
	d.splice(e, when, at, remove, insert)
}

// spliceable reports that the value of c can be spliced so and is a value of
// its kind afterwards.
func spliceable(c *cell, at, remove int, insert []byte) bool {
	if c.kind().size() != variable {
		return false
	}
	n := c.valueLen()
	if at < 0 || remove < 0 || at > n || remove > n-at {
		return false
	}
	n += len(insert) - remove
	return n <= MaxValue && (c.kind() != KindLog || wholeLog(n))
}

// Flush deletes all records at once, in constant time.
func (d *Database) Flush() {
	if d.ks.effects != nil {
		d.ks.effects.flush(d.number)
	}
	d.flush()
}

// Len is the number of records held. Expired ones count until the wheel has
// collected them, as in Redis' DBSIZE.
func (d *Database) Len() int { return d.tables.count }

// Expires is the number of records held that have an expiry.
func (d *Database) Expires() int { return d.tables.timed() }

// The changes below the primitives write inverses and no effects: replaying
// effects and collecting garbage use them too. They do not ask the time.

func (d *Database) put(e *Entry, k Kind, when int64, value []byte) {
	ref := e.ref
	if d.watched != nil {
		d.touch(e.key)
	}
	if d.ks.undo != nil {
		d.ks.undo.restore(d, e)
	}
	d.tables.put(e, k, when, value)
	d.settle(e, ref)
}

func (d *Database) remove(e *Entry) {
	if d.watched != nil {
		d.touch(e.key)
	}
	d.drop(e)
}

// drop removes a record that need not be there: its key has been absent for
// everybody.
func (d *Database) drop(e *Entry) {
	ref := e.ref
	if d.ks.undo != nil {
		d.ks.undo.restore(d, e)
	}
	d.tables.remove(e)
	d.settle(e, ref)
}

func (d *Database) setExpiry(e *Entry, when int64) {
	if d.watched != nil {
		d.touch(e.key)
	}
	if d.ks.undo != nil {
		d.ks.undo.expiry(d, e)
	}
	d.tables.setExpiry(e, when)
	d.settle(e, e.ref)
}

func (d *Database) splice(e *Entry, when int64, at, remove int, insert []byte) {
	ref := e.ref
	if d.watched != nil {
		d.touch(e.key)
	}
	if d.ks.undo != nil {
		d.ks.undo.splice(d, e, at, remove, len(insert))
	}
	d.tables.splice(e, when, at, remove, insert)
	d.settle(e, ref)
}

func (d *Database) flush() {
	if d.tables.count == 0 {
		return
	}
	if d.watched != nil {
		d.touchAll()
	}
	if d.ks.undo != nil {
		d.ks.undo.flush(d)
	}
	d.tables = d.newTables()
	d.version++
}

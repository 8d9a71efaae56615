package shard

import "bytes"

// A Scan looks at no more than scanStretch slots for each record it may visit,
// so that a call on a sparse table is bounded too, but at scanLeast if it may
// visit few: then one call does for a small table.
const (
	scanStretch = 10
	scanLeast   = 2 * segmentSlots
)

// Scan visits records in the order of their places, which is that of their
// hashes: fn gets every live one of a stretch that begins at cursor, where 0 is the
// beginning, and holds about n records. The next call continues at next; done
// says that the end was reached.
//
// The order does not depend on the size of the table, so a key that is present
// from the first call to the last is visited exactly once, whatever grows or shrinks in
// between. fn must not change the database; the Entry is only valid within it.
func (d *Database) Scan(cursor uint32, n int, fn func(e *Entry)) (next uint32, done bool) {
	var e Entry // one for all visits: it escapes to fn
	slots := max(n*scanStretch, scanLeast)
	for n > 0 && slots > 0 && !done {
		visited := 0
		cursor, visited, done = d.stretch(cursor, &e, fn)
		n -= visited
		slots--
	}
	return cursor, done
}

// stretch visits the records of one home slot whose places are not before
// cursor, and returns the first place that has the next home.
func (d *Database) stretch(cursor uint32, e *Entry, fn func(e *Entry)) (next uint32, visited int, done bool) {
	ix := &d.tables.index
	seg := ix.at(cursor)
	home, mask := seg.home(cursor), len(seg.slots)-1
	for i := home; seg.slots[i&mask].ref != 0; i++ {
		s := seg.slots[i&mask]
		if s.place < cursor || seg.home(s.place) != home {
			continue
		}
		visited++
		if c := d.tables.arena.cell(s.ref); d.alive(c) {
			*e = Entry{key: c.key(), cell: c, place: s.place, ref: s.ref, version: d.version, live: true, viewed: true}
			fn(e)
		}
	}
	next = seg.after(cursor, home)
	return next, visited, next == 0
}

// after is the first place beyond cursor's home in its segment, or beyond the
// segment; 0 when there is none.
func (s *segment) after(cursor uint32, home int) uint32 {
	size := uint64(1) << (32 - s.depth)
	first := uint64(cursor) &^ (size - 1)
	// home(p) = offset(p) * slots / size, so the next home begins at this offset.
	slots := uint64(len(s.slots))
	return uint32(first + (uint64(home+1)*size+slots-1)/slots)
}

// Random is a live record near the place that r points to: the first from
// there on, round the end. Which one depends on nothing but r and the live records.
// ok is false when there are none. It takes time for expired records on the way
// that are not collected yet.
func (d *Database) Random(r uint64) (e Entry, ok bool) {
	if d.tables.count == 0 {
		return Entry{}, false
	}
	var visit Entry
	first := spread(r)
	pick := func(found *Entry) {
		if !ok || found.before(&e) {
			e, ok = *found, true
		}
	}
	for at, done := first, false; !ok && !done; {
		at, _, done = d.stretch(at, &visit, pick)
	}
	for at, done := uint32(0), false; !ok && !done && at <= first; {
		at, _, done = d.stretch(at, &visit, pick)
	}
	return e, ok
}

// before orders entries by place, and by key where places are equal.
func (e *Entry) before(other *Entry) bool {
	if e.place != other.place {
		return e.place < other.place
	}
	return bytes.Compare(e.key, other.key) < 0
}

// each calls fn with every entry, in no particular order.
func (ix *index) each(fn func(slot)) {
	for at := 0; at < len(ix.dir); {
		seg := ix.dir[at]
		for _, s := range seg.slots {
			if s.ref != 0 {
				fn(s)
			}
		}
		at += 1 << (ix.depth - seg.depth)
	}
}

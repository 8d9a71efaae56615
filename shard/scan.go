package shard

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
			*e = Entry{key: c.key(), cell: c, place: s.place, ref: s.ref, version: d.version, live: true}
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

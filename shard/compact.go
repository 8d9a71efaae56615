package shard

// Records of one size share chunks, and a chunk goes back only when its last
// record has gone: one long-lived record among nine hundred short-lived ones would
// hold 64 KiB. When memory is full such chunks are emptied into others.

// compactLooks is how many chunks of a size are looked at for the emptiest.
const compactLooks = 16

// stock is what the chunks of one class come to.
type stock struct {
	chunks int
	free   int // cells
}

// Compact empties one sparse chunk and says whether there may be another. Beside
// MakeRoom, which does so when memory is full, it is for an operator who wants memory back.
func (ks *Keyspace) Compact() (more bool) { return ks.compact() }

// compact empties one sparse chunk into others, if there is one in any database
// whose records fit into the free cells of others, and lets the spare chunks go. It moves at most the
// records of one chunk: 2047, of the smallest size.
func (ks *Keyspace) compact() bool {
	for _, d := range ks.made {
		a := &d.tables.arena
		if a.spare != nil {
			a.spare, a.held = nil, a.held-chunkSize
		}
		for class := range a.stock {
			if id := a.sparse(uint8(class)); id != 0 {
				d.empty(id)
				return true
			}
		}
	}
	return false
}

// sparse is the emptiest of some chunks of a class, 0 when the others have no
// room for what is in it.
func (a *arena) sparse(class uint8) uint32 {
	if a.stock[class].free < chunkSize/int(classSizes[class]) {
		return 0
	}
	best := a.room[class]
	for id, n := best, 0; id != 0 && n < compactLooks; id, n = a.chunks[id].next, n+1 {
		if a.chunks[id].live < a.chunks[best].live {
			best = id
		}
	}
	return best
}

// empty moves all records out of a chunk into others of its class.
func (d *Database) empty(id uint32) {
	a := &d.tables.arena
	c := &a.chunks[id]
	var freed [chunkSize / smallestCell / 64]uint64
	for at := c.free; at != 0; at = *a.link(id<<offsetLen | uint32(at-1)) {
		n := uint32(at-1) / (c.size / grain)
		freed[n/64] |= 1 << (n % 64)
	}
	a.unlist(id) // so that nothing is put into it
	for n, last := uint32(0), uint32(c.made); n < last; n++ {
		if freed[n/64]>>(n%64)&1 == 0 {
			d.move(id<<offsetLen | n*(classSizes[c.class]/grain))
		}
	}
	d.version++
}

// move gives the record at ref another cell of the same size, without giving the
// old one back to be filled again.
func (d *Database) move(ref uint32) {
	t := d.tables
	from := t.arena.cell(ref)
	size := t.arena.size(ref)
	filed := t.of(from).Scheduled(ref)
	t.of(from).Cancel(ref)
	to := t.arena.alloc(size)
	c := t.arena.cell(to)
	copy(c.bytes(0, size), from.bytes(0, size))
	t.index.move(spread(d.ks.seed.hash(c.key())), ref, to)
	if filed {
		t.of(c).Schedule(to)
	}
	t.arena.vacate(ref)
}

// vacate gives back a cell of a chunk that is in no list, and the chunk with its
// last one.
func (a *arena) vacate(ref uint32) {
	id := ref >> offsetLen
	c := &a.chunks[id]
	c.live--
	a.live -= int64(c.size)
	a.stock[c.class].free++
	if c.live == 0 {
		a.drop(id)
	}
}

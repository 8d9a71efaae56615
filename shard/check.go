package shard

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Check verifies that index, arena, side store and wheel agree with each other and each
// with itself, and returns the first broken invariant it finds. It visits every
// record and is meant for tests.
func (d *Database) Check() error {
	t := d.tables
	seen := make(map[uint32]bool, t.count) // by ref
	inChunk := make(map[uint32]int)
	timed, collections := 0, make(map[uint32]bool)
	for _, c := range t.entries() {
		if err := d.checkRecord(c); err != nil {
			return err
		}
		if seen[c.ref] {
			return fmt.Errorf("record %#x is in the index twice", c.ref)
		}
		seen[c.ref] = true
		inChunk[c.ref>>offsetLen]++
		cell := t.arena.cell(c.ref)
		if cell.when != 0 {
			timed++
		}
		if cell.kind().isCollection() {
			collections[binary.LittleEndian.Uint32(cell.value())] = true
		}
	}
	if len(seen) != t.count {
		return fmt.Errorf("index holds %d records, count says %d", len(seen), t.count)
	}
	if t.timed() != timed {
		return fmt.Errorf("wheels hold %d records, %d have an expiry", t.timed(), timed)
	}
	if err := t.checkWheels(); err != nil {
		return err
	}
	if err := t.index.check(); err != nil {
		return err
	}
	if err := t.side.check(collections); err != nil {
		return err
	}
	return t.arena.check(inChunk)
}

// entries is a list of the index's entries.
func (t *tables) entries() []slot {
	var all []slot
	t.index.each(func(s slot) { all = append(all, s) })
	return all
}

func (d *Database) checkRecord(s slot) error {
	t := d.tables
	c := t.arena.cell(s.ref)
	key := c.key()
	if c.kind() == KindNone || c.kind() >= kinds {
		return fmt.Errorf("record %q has kind %d", key, c.kind())
	}
	if place := spread(d.ks.seed.hash(key)); place != s.place {
		return fmt.Errorf("record %q is indexed at %#x, its place is %#x", key, s.place, place)
	}
	if ref, _ := t.index.find(s.place, key, &t.arena); ref != s.ref {
		return fmt.Errorf("record %q is at %#x, a search finds %#x", key, s.ref, ref)
	}
	if need := cellSize(c.kind(), len(key), c.valueLen()); need > t.arena.size(s.ref) {
		return fmt.Errorf("record %q needs %d bytes, its cell has %d", key, need, t.arena.size(s.ref))
	}
	if filed := t.of(c).Scheduled(s.ref); filed != (c.when != 0) {
		return fmt.Errorf("record %q expires at %d, in a wheel: %t", key, c.when, filed)
	}
	return nil
}

func (ix *index) check() error {
	if len(ix.dir) != 1<<ix.depth {
		return fmt.Errorf("directory of depth %d has %d entries", ix.depth, len(ix.dir))
	}
	segments, deepest, held := 0, 0, int64(0)
	for at := 0; at < len(ix.dir); {
		seg := ix.dir[at]
		width := 1 << (ix.depth - seg.depth)
		if err := ix.checkSegment(seg, at, width); err != nil {
			return fmt.Errorf("segment at %d of %d: %w", at, len(ix.dir), err)
		}
		segments, held = segments+1, held+seg.bytes()
		if seg.depth == ix.depth {
			deepest++
		}
		at += width
	}
	if segments != ix.segments || deepest != ix.deepest || held != ix.held {
		return fmt.Errorf("%d segments, %d deepest, %d bytes; the index says %d, %d, %d",
			segments, deepest, held, ix.segments, ix.deepest, ix.held)
	}
	if deepest == 0 {
		return fmt.Errorf("directory of depth %d is finer than any segment", ix.depth)
	}
	return nil
}

func (ix *index) checkSegment(seg *segment, at, width int) error {
	if at%width != 0 {
		return fmt.Errorf("depth %d is not aligned", seg.depth)
	}
	for _, other := range ix.dir[at : at+width] {
		if other != seg {
			return fmt.Errorf("depth %d, but another segment is in between", seg.depth)
		}
	}
	live := 0
	for _, s := range seg.slots {
		if s.ref == 0 {
			continue
		}
		live++
		if ix.at(s.place) != seg {
			return fmt.Errorf("place %#x is in the wrong segment", s.place)
		}
	}
	if live != seg.live || live*16 > len(seg.slots)*maxLoad {
		return fmt.Errorf("%d entries in %d slots, count says %d", live, len(seg.slots), seg.live)
	}
	return nil
}

// check verifies the arena; inChunk is the number of records in each chunk.
func (a *arena) check(inChunk map[uint32]int) error {
	held, live, listed := int64(0), int64(0), 0
	stocks := make([]stock, len(classSizes))
	if a.spare != nil {
		held += chunkSize
	}
	for id := uint32(1); int(id) < len(a.chunks); id++ {
		if a.base[id] == nil {
			continue
		}
		if err := a.checkChunk(id, inChunk[id]); err != nil {
			return fmt.Errorf("chunk %d: %w", id, err)
		}
		held += a.footprint(id)
		live += int64(a.chunks[id].size) * int64(a.chunks[id].live)
		if c := &a.chunks[id]; c.class != ownClass {
			stocks[c.class].chunks++
			stocks[c.class].free += int(c.cells - c.live)
		}
		if c := &a.chunks[id]; c.class != ownClass && !c.full() {
			listed++
		}
	}
	sizes := 0
	for _, s := range stocks {
		if s.chunks > 0 {
			sizes++
		}
	}
	if sizes != a.sizes || held != a.held || live != a.live || !slices.Equal(stocks, a.stock) {
		return fmt.Errorf("chunks of %d bytes, %d in use, by class %v; the arena says %d, %d, %v", held, live, stocks, a.held, a.live, a.stock)
	}
	for class, head := range a.room {
		for id, before := head, uint32(0); id != 0; before, id = id, a.chunks[id].next {
			c := &a.chunks[id]
			if int(c.class) != class || c.prev != before || c.full() || listed == 0 {
				return fmt.Errorf("chunk %d does not belong in the list of class %d", id, class)
			}
			listed--
		}
	}
	if listed != 0 {
		return fmt.Errorf("%d chunks with room are in no list", listed)
	}
	return nil
}

func (a *arena) checkChunk(id uint32, records int) error {
	c := &a.chunks[id]
	if int(c.live) != records || c.live == 0 {
		return fmt.Errorf("%d records, its count says %d", records, c.live)
	}
	if c.made > c.cells || int(c.size)*int(c.cells) > int(a.footprint(id)) {
		return fmt.Errorf("%d of %d cells of %d bytes", c.made, c.cells, c.size)
	}
	freed := 0
	for at := c.free; at != 0; at = *a.link(id<<offsetLen | uint32(at-1)) {
		if freed++; freed > int(c.made) {
			return fmt.Errorf("free list is a circle")
		}
	}
	if freed != int(c.made-c.live) {
		return fmt.Errorf("%d cells freed, %d made, %d live", freed, c.made, c.live)
	}
	return nil
}

package shard

import (
	"fmt"
	"unsafe"
)

// places finds the numbers of a roster's names by the hashes of the names. It is
// extendible hashing as the index of a database is: the upper bits of a hash choose a
// table, tables grow alone, and one that is full splits in two. So no name is added in
// a time that grows with the roster.
type places struct {
	dir   []*placeTable // by the upper bits of a hash; neighbours may be one table
	depth uint8         // bits that choose; 1<<depth entries
	slots int           // of all tables
	held  int64         // bytes of all tables
}

// placeTable is a table with linear probing. A number is never 0.
type placeTable struct {
	numbers []uint64 // 0: the slot is empty
	tags    []uint32 // the hash of each
	live    int
	depth   uint8 // bits that all hashes here have in common
}

const (
	fewPlaces  = 2 * fewNames
	mostPlaces = 4096 // slots of a table that splits before it grows
	// deepest bounds how often tables split: hashes that agree in as many bits share
	// one, however large.
	deepest     = 20
	placeSize   = 8 + 4 // bytes of a slot
	tableSize   = int64(unsafe.Sizeof(placeTable{}))
	placesSize  = int64(unsafe.Sizeof(places{}))
	pointerSize = int64(unsafe.Sizeof(uintptr(0)))
)

// newPlaces makes an empty index.
func newPlaces() *places {
	p := &places{}
	p.dir = []*placeTable{p.newTable(fewPlaces, 0)}
	return p
}

func (p *places) newTable(slots int, depth uint8) *placeTable {
	p.slots += slots
	p.held += tableSize + placeSize*int64(slots)
	return &placeTable{numbers: make([]uint64, slots), tags: make([]uint32, slots), depth: depth}
}

// forget takes a table that is replaced out of the sums.
func (p *places) forget(t *placeTable) {
	p.slots -= len(t.numbers)
	p.held -= tableSize + placeSize*int64(len(t.numbers))
}

func (p *places) bytes() int64 {
	if p == nil {
		return 0
	}
	return placesSize + p.held + pointerSize*int64(cap(p.dir))
}

// at is where a hash is chosen to be in dir.
func (p *places) at(tag uint32) int { return int(uint64(tag) >> (32 - p.depth)) }

// table is the one that holds what has the hash.
func (p *places) table(tag uint32) *placeTable { return p.dir[p.at(tag)] }

// add notes the number of a name.
func (p *places) add(tag uint32, number uint64) {
	t := p.table(tag)
	for t.crowded(t.live + 1) {
		p.grow(t, tag)
		t = p.table(tag)
	}
	t.add(tag, number)
}

// remove takes out a number that is there.
func (p *places) remove(tag uint32, number uint64) { p.table(tag).remove(tag, number) }

// grow makes room in the table of a hash.
func (p *places) grow(t *placeTable, tag uint32) {
	p.forget(t)
	if len(t.numbers) < mostPlaces || t.depth == deepest {
		larger := p.newTable(2*len(t.numbers), t.depth)
		t.each(larger.add)
		p.install(tag, larger)
		return
	}
	if t.depth == p.depth {
		p.double()
	}
	low, high := p.newTable(len(t.numbers), t.depth+1), p.newTable(len(t.numbers), t.depth+1)
	bit := uint32(1) << (31 - t.depth)
	t.each(func(tag uint32, number uint64) {
		if tag&bit == 0 {
			low.add(tag, number)
		} else {
			high.add(tag, number)
		}
	})
	p.install(tag&^bit, low)
	p.install(tag|bit, high)
}

// double makes the directory twice as fine.
func (p *places) double() {
	dir := make([]*placeTable, 0, 2*len(p.dir))
	for _, t := range p.dir {
		dir = append(dir, t, t)
	}
	p.dir, p.depth = dir, p.depth+1
}

// install makes t the table of all hashes that have its bits in common with
// tag.
func (p *places) install(tag uint32, t *placeTable) {
	width := 1 << (p.depth - t.depth)
	first := p.at(tag) &^ (width - 1)
	for i := range width {
		p.dir[first+i] = t
	}
}

// sparse says that the tables are too large for so many names, by more than
// what splitting and growing leave.
func (p *places) sparse(names int) bool { return p.slots > fewPlaces && names*16 < p.slots }

// crowded says that the table must grow to hold so many.
func (t *placeTable) crowded(names int) bool { return names > len(t.numbers)/4*3 }

// home is the slot where a search begins. The low bits are not those that
// choose the table.
func (t *placeTable) home(tag uint32) int { return int(tag) & (len(t.numbers) - 1) }

func (t *placeTable) next(slot int) int { return (slot + 1) & (len(t.numbers) - 1) }

func (t *placeTable) each(fn func(tag uint32, number uint64)) {
	for slot, number := range t.numbers {
		if number != 0 {
			fn(t.tags[slot], number)
		}
	}
}

func (t *placeTable) add(tag uint32, number uint64) {
	slot := t.home(tag)
	for t.numbers[slot] != 0 {
		slot = t.next(slot)
	}
	t.numbers[slot], t.tags[slot] = number, tag
	t.live++
}

// remove takes a number out and moves up what its slot kept from its home.
func (t *placeTable) remove(tag uint32, number uint64) {
	hole := t.home(tag)
	for t.numbers[hole] != number {
		hole = t.next(hole)
	}
	mask := len(t.numbers) - 1
	for slot := t.next(hole); t.numbers[slot] != 0; slot = t.next(slot) {
		if (slot-t.home(t.tags[slot]))&mask >= (slot-hole)&mask {
			t.numbers[hole], t.tags[hole] = t.numbers[slot], t.tags[slot]
			hole = slot
		}
	}
	t.numbers[hole] = 0
	t.live--
}

// check verifies the index; each name has been found through it already.
func (p *places) check(names int) error {
	if p == nil {
		if names > fewNames {
			return fmt.Errorf("%d names without an index", names)
		}
		return nil
	}
	live, slots, held := 0, 0, int64(0)
	for at := 0; at < len(p.dir); {
		t := p.dir[at]
		n, err := t.check(at, p)
		if err != nil {
			return fmt.Errorf("table %d of %d: %w", at, len(p.dir), err)
		}
		live, slots, held = live+n, slots+len(t.numbers), held+tableSize+placeSize*int64(len(t.numbers))
		at += 1 << (p.depth - t.depth)
	}
	if live != names || slots != p.slots || held != p.held || len(p.dir) != 1<<p.depth {
		return fmt.Errorf("%d names in %d slots, %d bytes; it says %d slots, %d bytes, there are %d names", live, slots, held, p.slots, p.held, names)
	}
	return nil
}

// check verifies the table whose first entry in the directory is at, and counts
// its names.
func (t *placeTable) check(at int, p *places) (live int, err error) {
	width := 1 << (p.depth - t.depth)
	for i := range width {
		if at%width != 0 || p.dir[at+i] != t {
			return 0, fmt.Errorf("depth %d of %d, but another table is in between", t.depth, p.depth)
		}
	}
	t.each(func(tag uint32, _ uint64) {
		live++
		if p.table(tag) != t {
			err = fmt.Errorf("hash %#x is in the wrong table", tag)
		}
	})
	if live != t.live || t.crowded(live) {
		return 0, fmt.Errorf("%d names in %d slots, it says %d", live, len(t.numbers), t.live)
	}
	return live, err
}

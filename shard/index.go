package shard

import (
	"bytes"
	"math/bits"
	"unsafe"
)

// The index is an extendible hash table (Fagin, Nievergelt, Pippenger, Strong,
// 1979): a directory over the top bits of a key's place, pointing to segments
// that are small hash tables of their own. A full segment is split in two, so
// growing never moves more than one segment's entries at a time.
//
// A plain hash would fill all segments at the same pace: at some sizes of the
// table all would be nearly full, and a little later all be split, half empty,
// within a short time. So a key's place is not its hash but a bent copy of it
// (see spread), which makes the first segments fill twice as fast as the last.
// Then some segment is always about to split, memory grows in step with the
// number of keys, and there is no wave of splits.
const (
	segmentSlots = 1024
	// A segment is split when more than maxLoad/16 of its slots would be taken, and
	// merged with its other half when both together fill less than mergeBelow slots.
	maxLoad    = 13
	mergeBelow = segmentSlots * 6 / 16
	// The directory has at most maxSkew entries for each segment. Keys that share
	// a longer prefix than that would allow are kept in a larger segment instead; with
	// a secret seed that does not happen.
	maxSkew  = 16
	maxDepth = 28
)

// slot is an entry of the index: the place of a key and where its record is.
// ref 0 is an empty slot.
type slot struct {
	place uint32
	ref   uint32
}

// segment is an open-addressed table with linear probing of all keys whose
// places agree in their first depth bits.
type segment struct {
	slots []slot // their number is a power of two
	live  int
	depth uint8
}

// index finds the record of a key.
type index struct {
	dir      []*segment // by the first depth bits of a place
	depth    uint8
	deepest  int // segments whose depth is that of the directory
	segments int
	held     int64 // bytes of the segments
	moving   []slot
}

func newIndex() index {
	ix := index{deepest: 1}
	ix.dir = []*segment{ix.newSegment(0, 0)}
	return ix
}

// bytes is the memory of the index.
func (ix *index) bytes() int64 {
	return ix.held + int64(cap(ix.dir))*8 + int64(cap(ix.moving))*int64(unsafe.Sizeof(slot{}))
}

// spread bends a hash into a place, x -> x * (2/3 + x/3) over 0 <= x < 1. Its
// slope doubles from 2/3 to 4/3, so places near 0 are twice as dense as those
// near 1: segments are then spread evenly over all degrees of fullness.
func spread(hash uint64) uint32 {
	hi, _ := bits.Mul64(hash, 2*(1<<64/3)+hash/3)
	return uint32(hi >> 32)
}

// newSegment makes an empty segment that has room for n entries.
func (ix *index) newSegment(depth uint8, n int) *segment {
	slots := segmentSlots
	for n*16 > slots*maxLoad {
		slots *= 2
	}
	s := &segment{slots: make([]slot, slots), depth: depth}
	ix.segments++
	ix.held += s.bytes()
	return s
}

func (s *segment) bytes() int64 {
	return int64(unsafe.Sizeof(*s)) + int64(len(s.slots))*int64(unsafe.Sizeof(slot{}))
}

// at is the segment of a place.
func (ix *index) at(place uint32) *segment { return ix.dir[place>>(32-ix.depth)] }

// home is the slot where the search for a place begins: it grows with the
// place, which is what lets Scan go by places.
func (s *segment) home(place uint32) int {
	return int(uint64(place<<s.depth) * uint64(len(s.slots)) >> 32)
}

// find returns the record of key, 0 and nil if there is none.
func (ix *index) find(place uint32, key []byte, a *arena) (uint32, *cell) {
	seg := ix.at(place)
	slots := seg.slots
	mask := len(slots) - 1
	for i := seg.home(place); ; i++ {
		s := slots[i&mask]
		if s.ref == 0 {
			return 0, nil
		}
		if s.place == place {
			if c := a.cell(s.ref); bytes.Equal(c.key(), key) {
				return s.ref, c
			}
		}
	}
}

// Place is a key's place in the index of any database: its seeded hash, bent (see
// spread).
type Place uint32

// warm loads the slots where the search for each place begins, then the records
// that it will find, each step for all places before the next. What it returns depends
// on every load, or the compiler would leave them out.
func (ix *index) warm(places []Place, a *arena) (loaded uint32) {
	var refs [MaxWarm]uint32
	places = places[:min(len(places), MaxWarm)]
	for _, p := range places {
		seg := ix.at(uint32(p))
		loaded += seg.slots[seg.home(uint32(p))].ref
	}
	for i, p := range places {
		refs[i] = ix.guess(uint32(p))
	}
	for _, ref := range refs[:len(places)] {
		if ref != 0 {
			loaded += a.ends(ref)
		}
	}
	return loaded
}

// guess is the record that find will look at first, 0 if there is none.
func (ix *index) guess(place uint32) uint32 {
	seg := ix.at(place)
	mask := len(seg.slots) - 1
	for i := seg.home(place); ; i++ {
		if s := seg.slots[i&mask]; s.ref == 0 || s.place == place {
			return s.ref
		}
	}
}

// slotOf is the position of an entry that is there.
func (s *segment) slotOf(place, ref uint32) int {
	mask := len(s.slots) - 1
	for i, tries := s.home(place), 0; tries <= mask; i, tries = i+1, tries+1 {
		if s.slots[i&mask].ref == ref {
			return i & mask
		}
	}
	panic("shard: the index does not hold a record that exists")
}

// move says that a record is at another reference now.
func (ix *index) move(place, from, to uint32) {
	seg := ix.at(place)
	seg.slots[seg.slotOf(place, from)].ref = to
}

// insert adds a record whose key is not in the index.
func (ix *index) insert(place, ref uint32) {
	for {
		seg := ix.at(place)
		if (seg.live+1)*16 <= len(seg.slots)*maxLoad {
			seg.put(slot{place, ref})
			return
		}
		ix.grow(seg, place)
	}
}

func (s *segment) put(e slot) {
	mask := len(s.slots) - 1
	i := s.home(e.place)
	for s.slots[i&mask].ref != 0 {
		i++
	}
	s.slots[i&mask] = e
	s.live++
}

// remove takes a record out of the index.
func (ix *index) remove(place, ref uint32) {
	seg := ix.at(place)
	seg.vacate(seg.slotOf(place, ref))
	if seg.live <= mergeBelow {
		ix.shrink(place)
	}
}

// vacate empties a slot and moves later entries of its run back, so that no
// search stops short of them. No tombstones are left.
func (s *segment) vacate(hole int) {
	mask := len(s.slots) - 1
	for i := hole + 1; s.slots[i&mask].ref != 0; i++ {
		e := s.slots[i&mask]
		// e may fill the hole if its home is not after the hole.
		if (i-s.home(e.place))&mask >= (i-hole)&mask {
			s.slots[hole&mask] = e
			hole = i
		}
	}
	s.slots[hole&mask] = slot{}
	s.live--
}

// grow makes room in a full segment.
func (ix *index) grow(seg *segment, place uint32) {
	if seg.depth < ix.depth || ix.depth < maxDepth && 2*len(ix.dir) <= maxSkew*(ix.segments+1) {
		ix.split(seg, place)
		return
	}
	entries := ix.take(seg)
	ix.refill(seg, entries, len(entries)+1)
}

// split divides a segment in two by the next bit of the place.
func (ix *index) split(seg *segment, place uint32) {
	if seg.depth == ix.depth {
		ix.double()
	}
	entries := ix.take(seg)
	first := ix.first(seg, place)
	seg.depth++
	bit := uint32(1) << (32 - seg.depth)
	n := partition(entries, bit)
	ix.refill(seg, entries[:n], n)
	upper := ix.newSegment(seg.depth, len(entries)-n)
	for _, e := range entries[n:] {
		upper.put(e)
	}
	half := 1 << (ix.depth - seg.depth)
	fill(ix.dir[first+half:first+2*half], upper)
	if seg.depth == ix.depth {
		ix.deepest += 2
	}
}

// first is the position in the directory of the first pointer to a segment.
func (ix *index) first(seg *segment, place uint32) int {
	return int(place >> (32 - seg.depth) << (ix.depth - seg.depth))
}

// take copies a segment's entries out, into memory that is used again.
func (ix *index) take(segs ...*segment) []slot {
	ix.moving = ix.moving[:0]
	for _, seg := range segs {
		for _, e := range seg.slots {
			if e.ref != 0 {
				ix.moving = append(ix.moving, e)
			}
		}
	}
	return ix.moving
}

// refill gives a segment other entries, and room for n. Its slots are kept when
// they are as many as that takes.
func (ix *index) refill(seg *segment, entries []slot, n int) {
	slots := segmentSlots
	for n*16 > slots*maxLoad {
		slots *= 2
	}
	if slots == len(seg.slots) {
		clear(seg.slots)
	} else {
		ix.held -= seg.bytes()
		seg.slots = make([]slot, slots)
		ix.held += seg.bytes()
	}
	seg.live = 0
	for _, e := range entries {
		seg.put(e)
	}
}

// partition moves the entries whose place lacks bit to the front and returns
// their number.
func partition(entries []slot, bit uint32) int {
	n := 0
	for i, e := range entries {
		if e.place&bit == 0 {
			entries[n], entries[i] = e, entries[n]
			n++
		}
	}
	return n
}

func fill(dir []*segment, seg *segment) {
	for i := range dir {
		dir[i] = seg
	}
}

// double makes the directory twice as fine. It copies one pointer for some
// hundred keys, the only step that grows with the table.
func (ix *index) double() {
	dir := make([]*segment, 2*len(ix.dir))
	for i, seg := range ix.dir {
		dir[2*i], dir[2*i+1] = seg, seg
	}
	ix.dir, ix.depth, ix.deepest = dir, ix.depth+1, 0
}

// halve makes the directory coarser while no segment needs its last bit.
func (ix *index) halve() {
	for ix.deepest == 0 && ix.depth > 0 {
		dir := make([]*segment, len(ix.dir)/2)
		for i := range dir {
			dir[i] = ix.dir[2*i]
		}
		ix.dir, ix.depth = dir, ix.depth-1
		for i := 0; i < len(dir); {
			seg := dir[i]
			if seg.depth == ix.depth {
				ix.deepest++
			}
			i += 1 << (ix.depth - seg.depth)
		}
	}
}

// shrink merges a nearly empty segment with the half it was split from, if that
// is nearly empty too and not split further, and so on up.
func (ix *index) shrink(place uint32) {
	for {
		seg := ix.at(place)
		if seg.depth == 0 {
			return
		}
		first := ix.first(seg, place)
		width := 1 << (ix.depth - seg.depth)
		buddy := ix.dir[first^width]
		if buddy.depth != seg.depth || buddy.live+seg.live > mergeBelow {
			return
		}
		ix.merge(seg, buddy, min(first, first^width), width)
	}
}

func (ix *index) merge(seg, buddy *segment, first, width int) {
	if seg.depth == ix.depth {
		ix.deepest -= 2
	}
	entries := ix.take(seg, buddy)
	seg.depth--
	ix.refill(seg, entries, len(entries))
	fill(ix.dir[first:first+2*width], seg)
	ix.segments--
	ix.held -= buddy.bytes()
	ix.halve()
}

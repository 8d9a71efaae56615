package shard

import "fmt"

// places finds the numbers of names by the hashes of the names: a table with
// linear probing. A number is never 0.
type places struct {
	numbers []uint64 // 0: the slot is empty
	tags    []uint32
	live    int
}

// newPlaces makes a table that is at most half full with so many names.
func newPlaces(names int) *places {
	size := fewNames
	for size < 2*names {
		size *= 2
	}
	return &places{numbers: make([]uint64, size), tags: make([]uint32, size)}
}

const (
	placeSize  = 8 + 4 // bytes of a slot
	placesHead = 56    // bytes of the struct
)

func (p *places) bytes() int64 {
	if p == nil {
		return 0
	}
	return placesHead + placeSize*int64(len(p.numbers))
}

// crowded says that the table must grow to hold so many names.
func (p *places) crowded(names int) bool { return names > len(p.numbers)/4*3 }

// sparse says that the table is too large for so many names.
func (p *places) sparse(names int) bool { return names < len(p.numbers)/8 }

// home is the slot where a search for a tag begins. The low bits of a place in
// the keyspace's order are its finest, so all are used.
func (p *places) home(tag uint32) int { return int(tag) & (len(p.numbers) - 1) }

func (p *places) next(slot int) int { return (slot + 1) & (len(p.numbers) - 1) }

func (p *places) add(tag uint32, number uint64) {
	slot := p.home(tag)
	for p.numbers[slot] != 0 {
		slot = p.next(slot)
	}
	p.numbers[slot], p.tags[slot] = number, tag
	p.live++
}

// remove takes out a number that is there, and moves up what its slot kept from
// its home.
func (p *places) remove(tag uint32, number uint64) {
	hole := p.home(tag)
	for p.numbers[hole] != number {
		hole = p.next(hole)
	}
	mask := len(p.numbers) - 1
	for slot := p.next(hole); p.numbers[slot] != 0; slot = p.next(slot) {
		if (slot-p.home(p.tags[slot]))&mask >= (slot-hole)&mask {
			p.numbers[hole], p.tags[hole] = p.numbers[slot], p.tags[slot]
			hole = slot
		}
	}
	p.numbers[hole] = 0
	p.live--
}

// check verifies the table; each name has been found through it already.
func (p *places) check(names int) error {
	if p == nil {
		if names > fewNames {
			return fmt.Errorf("%d names without an index", names)
		}
		return nil
	}
	live := 0
	for _, number := range p.numbers {
		if number != 0 {
			live++
		}
	}
	if live != names || p.live != names || p.crowded(live) {
		return fmt.Errorf("%d names in an index of %d slots, it says %d, there are %d", live, len(p.numbers), p.live, names)
	}
	return nil
}

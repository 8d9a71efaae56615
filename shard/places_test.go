package shard

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// numberOf finds what was added with a hash, by its number.
func numberOf(p *places, tag uint32, number uint64) bool {
	t := p.table(tag)
	for slot := t.home(tag); t.numbers[slot] != 0; slot = t.next(slot) {
		if t.numbers[slot] == number && t.tags[slot] == tag {
			return true
		}
	}
	return false
}

// The index holds what was added and not removed, whatever hashes have in common:
// upper bits, so that tables split unevenly or not at all, or lower ones, so that all
// begin at one slot.
func TestPlacesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		keep := rapid.SampledFrom([]uint32{0xffffffff, 0x00000fff, 0xff000fff, 0xfffff00f, 0x7fffffff, 1}).Draw(t, "bits")
		p, twin := newPlaces(), map[uint64]uint32{}
		for number := range uint64(rapid.IntRange(1, 9000).Draw(t, "names")) {
			tag := rng.Uint32() & keep
			if keep == 1 && number > 300 {
				break // all in one place: each takes a look at all before it
			}
			p.add(tag, number+1)
			twin[number+1] = tag
			if rng.IntN(3) == 0 {
				p.remove(tag, number+1)
				delete(twin, number+1)
			}
		}
		if err := p.check(len(twin)); err != nil && len(twin) > fewNames {
			t.Fatalf("%v", err)
		}
		for number, tag := range twin {
			if !numberOf(p, tag, number) {
				t.Fatalf("%d with hash %#x is lost", number, tag)
			}
		}
	})
}

// No name takes long to add: at most one table is filled anew for it.
func TestPlacesGrowInSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := newPlaces()
	for number := range uint64(200_000) {
		before := p.slots
		p.add(rng.Uint32(), number+1)
		if p.slots > before+mostPlaces {
			t.Fatalf("name %d made %d slots of %d", number, p.slots, before)
		}
	}
	if err := p.check(200_000); err != nil {
		t.Fatal(err)
	}
	if full := 200_000.0 / float64(p.slots); full < 0.35 || full > 0.75 {
		t.Errorf("the tables are filled to %.2f", full)
	}
}

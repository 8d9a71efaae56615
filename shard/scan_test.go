package shard

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// scanAll scans with n a call and returns how often each key was visited.
// between is called between two calls.
func scanAll(d *Database, n int, between func()) map[string]int {
	seen := map[string]int{}
	for cursor, done := uint32(0), false; !done; between() {
		cursor, done = d.Scan(cursor, n, func(e *Entry) { seen[string(e.Key())]++ })
	}
	return seen
}

// Every key that is there from the first call to the last is visited exactly
// once while the table grows and shrinks under the scan, and no key is visited that
// was never there.
func TestScanGuarantee(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ks := NewKeyspace(Config{Clock: &testClock{now: start}, Seed: Seed{rapid.Uint64().Draw(t, "seed")}})
		d := ks.Database(0)
		stay := rapid.IntRange(0, 1500).Draw(t, "staying keys")
		put(d, stay, func(i int) []byte { return fmt.Appendf(nil, "stay:%d", i) })
		at, grow := 0, rapid.Bool().Draw(t, "grow first")
		pace := rapid.SampledFrom([]int{1, 10, 300, 4000}).Draw(t, "changes between calls")
		left := 12_000 // changes in all
		seen := scanAll(d, rapid.SampledFrom([]int{20, 100, 1000}).Draw(t, "n"), func() {
			for range min(pace, left) {
				left--
				e := d.Lookup(fmt.Appendf(nil, "come:%d", at))
				if grow {
					d.PutInt(&e, 0, 1)
				} else {
					d.Delete(&e)
				}
				if at++; at == 4000 {
					at, grow = 0, !grow
				}
			}
		})
		for i := range stay {
			if key := fmt.Sprintf("stay:%d", i); seen[key] != 1 {
				t.Fatalf("%s was visited %d times", key, seen[key])
			}
		}
		for key := range seen {
			if len(key) < 5 || key[:5] != "stay:" && key[:5] != "come:" {
				t.Fatalf("visited %q", key)
			}
		}
	})
}

// The cursor of one keyspace goes on in another with the same seed and keys,
// whatever sizes their tables have grown to: that is what survives a failover.
func TestScanGoesOnElsewhere(t *testing.T) {
	one, _ := newTestKeyspace(t, 1)
	two, _ := newTestKeyspace(t, 1)
	put(two.Database(0), 20_000, func(i int) []byte { return fmt.Appendf(nil, "other:%d", i) })
	for i := range 20_000 {
		e := two.Database(0).Lookup(fmt.Appendf(nil, "other:%d", i))
		if i%3 > 0 {
			two.Database(0).Delete(&e)
		}
	}
	put(one.Database(0), 2000, numbered)
	put(two.Database(0), 2000, numbered)
	seen := map[string]int{}
	visit := func(e *Entry) { seen[string(e.Key())]++ }
	for cursor, done, i := uint32(0), false, 0; !done; i++ {
		cursor, done = []*Keyspace{one, two}[i%2].Database(0).Scan(cursor, 50, visit)
	}
	for i := range 2000 {
		if key := string(numbered(i)); seen[key] != 1 {
			t.Fatalf("%s was visited %d times", key, seen[key])
		}
	}
}

// A call does about n records' work, also when there is nothing to show for it.
func TestScanIsBounded(t *testing.T) {
	ks, clock := newTestKeyspace(t, 1)
	d := ks.Database(0)
	for i := range 5000 {
		e := d.Lookup(numbered(i))
		d.PutInt(&e, ks.NowMillis()+1, 1)
	}
	visited := 0
	if _, done := d.Scan(0, 100, func(*Entry) { visited++ }); done || visited < 100 || visited > 200 {
		t.Fatalf("%d live records visited for 100; done %t", visited, done)
	}
	clock.now += 2e6
	ks.Tick()
	calls := 0
	for cursor, done := uint32(0), false; !done; calls++ {
		cursor, done = d.Scan(cursor, 100, func(e *Entry) { t.Fatalf("visited %q, which has expired", e.Key()) })
	}
	if calls < 5000/200 {
		t.Fatalf("%d expired records were passed over in %d calls of 100", 5000, calls)
	}
	if _, done := ks.Database(1).Scan(0, 1, nil); !done {
		t.Fatal("an empty database takes more than one call")
	}
	for _, n := range []int{0, -1} {
		if next, done := d.Scan(0, n, nil); next != 0 || done {
			t.Fatalf("Scan of %d records moved on to %d", n, next)
		}
	}
}

// A table that lost nearly all its keys is passed over in bounded steps.
func TestScanOfASparseTable(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	ix := &ks.Database(0).tables.index
	for depth := range uint32(6) { // as if left behind by keys that are gone
		for i := range uint32(1) << depth {
			place := i << 1 << (31 - depth)
			ix.split(ix.at(place), place)
		}
	}
	checkAt(t, ks.Database(0), true)
	calls := 0
	for cursor, done := uint32(0), false; !done; calls++ {
		cursor, done = ks.Database(0).Scan(cursor, 10, nil)
	}
	if least := ix.segments * segmentSlots / scanLeast; calls < least {
		t.Fatalf("%d empty segments were passed over in %d calls, %d at least were due", ix.segments, calls, least)
	}
}

// after is the next place with another home, or the next segment's first,
// whatever the segment's size and depth.
func TestAfter(t *testing.T) {
	for _, depth := range []uint8{maxDepth, maxDepth - 4, 20} {
		for _, slots := range []int{segmentSlots, 4 * segmentSlots} {
			seg := &segment{slots: make([]slot, slots), depth: depth}
			size := uint32(1) << (32 - depth)
			first := 5 * size
			for place := first; place < first+size; place++ {
				want := place + 1
				for want < first+size && seg.home(want) == seg.home(place) {
					want++
				}
				if got := seg.after(place, seg.home(place)); got != want {
					t.Fatalf("depth %d, %d slots: after %#x comes %#x, want %#x", depth, slots, place, got, want)
				}
			}
		}
	}
	for _, depth := range []uint8{0, 1, 20, maxDepth} {
		seg := &segment{slots: make([]slot, segmentSlots), depth: depth}
		if got := seg.after(1<<32-1, seg.home(1<<32-1)); got != 0 {
			t.Errorf("depth %d: after the last place comes %#x", depth, got)
		}
	}
}

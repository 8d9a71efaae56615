package shard

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"
)

// put stores counters under the keys name(0) .. name(n-1).
func put(d *Database, n int, name func(i int) []byte) {
	for i := range n {
		e := d.Lookup(name(i))
		d.PutInt(&e, 0, int64(i))
	}
}

func numbered(i int) []byte { return fmt.Appendf(nil, "user:%d", i) }

// longestRun is the most slots in a row that are taken: the longest search.
func longestRun(ix *index) int {
	longest := 0
	for _, seg := range ix.dir {
		run := 0
		for i := range 2 * len(seg.slots) {
			if run++; seg.slots[i%len(seg.slots)].ref == 0 {
				run = 0
			}
			longest = max(longest, run)
		}
	}
	return longest
}

// The table grows and shrinks by one segment at a time, stays consistent, and
// ends as small as it began.
func TestIndexGrowsAndShrinks(t *testing.T) {
	const n = 30_000
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	ix := &d.tables.index
	empty := ix.bytes()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		before := ix.segments
		e := d.Lookup(numbered(i))
		d.PutInt(&e, 0, int64(i))
		if ix.segments > before+1 {
			t.Fatalf("key %d made %d segments out of %d", i, ix.segments, before)
		}
		checkAt(t, d, i%3001 == 0)
	}
	if ix.segments < n/segmentSlots {
		t.Fatalf("%d segments hold %d keys", ix.segments, n)
	}
	for at, i := range random.Perm(n) {
		e := d.Lookup(numbered(i))
		if d.Int(&e) != int64(i) || !d.Delete(&e) {
			t.Fatalf("key %d is %d, exists %t", i, d.Int(&e), e.Exists())
		}
		checkAt(t, d, at%3001 == 0)
	}
	checkAt(t, d, true)
	if ix.segments != 1 || ix.depth != 0 || ix.bytes() > empty+int64(cap(ix.moving))*8 {
		t.Fatalf("%d segments, depth %d, %d bytes for no keys; %d when new", ix.segments, ix.depth, ix.bytes(), empty)
	}
}

// Stretches of the table empty while others stay full, so that neighbours are
// split to different depths; all the while index, arena and wheel agree.
func TestIndexShrinksUnevenly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ks := NewKeyspace(Config{Clock: &testClock{now: start}, Seed: Seed{1, 2}})
		d := ks.Database(0)
		put(d, rapid.SampledFrom([]int{900, 4000, 12_000}).Draw(t, "keys"), numbered)
		for range rapid.IntRange(1, 12).Draw(t, "stretches") {
			first := rapid.Uint32().Draw(t, "first")
			size := uint32(1) << rapid.IntRange(24, 31).Draw(t, "size")
			var gone [][]byte
			d.tables.index.each(func(s slot) {
				if s.place-first < size && s.ref%8 != 0 {
					gone = append(gone, d.tables.arena.cell(s.ref).key())
				}
			})
			before := d.Len()
			for _, key := range gone {
				e := d.Lookup(key)
				d.Delete(&e)
			}
			if err := d.Check(); err != nil || d.Len() != before-len(gone) {
				t.Fatalf("%d records of %d after %d were deleted: %v", d.Len(), before, len(gone), err)
			}
		}
	})
}

// A segment is merged with the half it was split from only when that is whole:
// not with a part of it that happens to be nearly empty.
func TestMergeNeedsTheWholeHalf(t *testing.T) {
	ix := newIndex()
	ref := uint32(0)
	fill := func(first uint32, n int) {
		for i := range n {
			ref++
			ix.insert(first+uint32(i)<<16, ref)
		}
	}
	fill(0, 200)
	fill(1<<30, 800)
	fill(1<<31, 100)
	if ix.dir[0].depth != 2 || ix.dir[2].depth != 1 {
		t.Fatalf("halves of depth %d and %d", ix.dir[0].depth, ix.dir[2].depth)
	}
	for last := ref; ref > last-50; ref-- {
		ix.remove(1<<31+(ref-1001)<<16, ref)
		if err := ix.check(); err != nil {
			t.Fatal(err)
		}
	}
	if ix.segments != 3 {
		t.Fatalf("%d segments", ix.segments)
	}
}

func checkAt(t *testing.T, d *Database, now bool) {
	t.Helper()
	if !now {
		return
	}
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
}

// A place is monotone in the hash, covers the whole range, and is twice as
// dense at the beginning as at the end.
func TestSpread(t *testing.T) {
	if first, last := spread(0), spread(1<<64-1); first != 0 || last != 1<<32-1 {
		t.Fatalf("the range is %#x to %#x", first, last)
	}
	const step = 1 << 40
	var before uint32
	begin, end := 0, 0
	for hash := uint64(0); hash < 1<<64-step; hash += step {
		place := spread(hash)
		if place < before {
			t.Fatalf("%#x is at %#x, the hash before at %#x", hash, place, before)
		}
		before = place
		switch place >> 22 {
		case 0:
			begin++
		case 1<<10 - 1:
			end++
		}
	}
	if ratio := float64(begin) / float64(end); ratio < 1.98 || ratio > 2.02 {
		t.Fatalf("the first thousandth is %.3f times as dense as the last", ratio)
	}
}

// Keys that an attacker with the seed has chosen to collide make one long run;
// under another seed the same keys spread like any others.
func TestCollidingKeysNeedTheSeed(t *testing.T) {
	known := Seed{1, 2}
	var keys [][]byte
	for i := 0; len(keys) < 700; i++ {
		if key := numbered(i); spread(known.hash(key))>>22 == 77 {
			keys = append(keys, key)
		}
	}
	chosen := func(i int) []byte { return keys[i] }
	attacked := NewKeyspace(Config{Clock: &testClock{now: start}, Seed: known}).Database(0)
	put(attacked, len(keys), chosen)
	if run := longestRun(&attacked.tables.index); run < len(keys) {
		t.Fatalf("keys that collide make a run of %d", run)
	}
	secret := NewKeyspace(Config{Clock: &testClock{now: start}, Seed: Seed{3, 4}}).Database(0)
	put(secret, len(keys), chosen)
	random := NewKeyspace(Config{Clock: &testClock{now: start}, Seed: Seed{3, 4}}).Database(0)
	put(random, len(keys), numbered)
	if run, usual := longestRun(&secret.tables.index), longestRun(&random.tables.index); run > 4*usual {
		t.Fatalf("the longest run is %d, that of other keys %d", run, usual)
	}
}

// Keys whose places agree in more bits than the directory may have are still
// all found, and cost a larger segment rather than a huge directory.
func TestCollisionsDoNotExplodeTheDirectory(t *testing.T) {
	ix, a := newIndex(), newArena()
	const n = 5000
	refs := map[uint32]uint32{}
	for i := range uint32(n) {
		ref := a.alloc(smallestCell)
		*a.cell(ref) = cell{meta: 4<<8 | uint32(KindInt)}
		binary.BigEndian.PutUint32(a.cell(ref).key(), i)
		place := 0xabcde000 | i&0xff
		ix.insert(place, ref)
		refs[i] = ref
	}
	if err := ix.check(); err != nil {
		t.Fatal(err)
	}
	if len(ix.dir) > maxSkew*ix.segments {
		t.Fatalf("directory of %d for %d segments", len(ix.dir), ix.segments)
	}
	for i, want := range refs {
		key := binary.BigEndian.AppendUint32(nil, i)
		if ref, _ := ix.find(0xabcde000|i&0xff, key, &a); ref != want {
			t.Fatalf("key %d is at %#x, found %#x", i, want, ref)
		}
	}
	for i, ref := range refs {
		ix.remove(0xabcde000|i&0xff, ref)
	}
	if err := ix.check(); err != nil || ix.segments != 1 || len(ix.dir[0].slots) != segmentSlots {
		t.Fatalf("%d segments of %d slots after all are gone; %v", ix.segments, len(ix.dir[0].slots), err)
	}
}

// Many keys that xxhash cannot tell apart, so that they are all in one shard,
// are nothing special to its index. xxhash without a seed makes such keys easy
// to find: the accumulators of two 32-byte stripes cancel.
func TestXXHashCollisionsAreHarmless(t *testing.T) {
	keys := xxhashCollisions(512)
	for _, key := range keys {
		if xxhash.Sum64(key) != xxhash.Sum64(keys[0]) {
			t.Fatalf("%x hashes to %#x, %x to %#x", key, xxhash.Sum64(key), keys[0], xxhash.Sum64(keys[0]))
		}
	}
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	put(d, len(keys), func(i int) []byte { return keys[i] })
	if d.Len() != len(keys) {
		t.Fatalf("%d of %d keys", d.Len(), len(keys))
	}
	other, _ := newTestKeyspace(t, 1)
	put(other.Database(0), len(keys), numbered)
	if run, usual := longestRun(&d.tables.index), longestRun(&other.Database(0).tables.index); run > 4*usual {
		t.Fatalf("the longest run is %d, that of other keys %d", run, usual)
	}
}

// xxhashCollisions makes n keys of 64 bytes with one xxhash. A lane of xxhash
// takes a word x of each stripe by v = rotl(v + x*prime2, 31) * prime1. So whatever the
// first word of a lane is, some second word leads to the same v.
func xxhashCollisions(n int) [][]byte {
	prime1, prime2 := uint64(11400714785074694791), uint64(14029467366897019727)
	inverse := prime2 // of prime2 modulo 2^64; each step doubles the bits that are right
	for range 6 {
		inverse *= 2 - prime2*inverse
	}
	keys := make([][]byte, n)
	for i := range keys {
		lane := bits.RotateLeft64(prime1+prime2+uint64(i)*prime2, 31) * prime1
		keys[i] = make([]byte, 64)
		binary.LittleEndian.PutUint64(keys[i], uint64(i))
		binary.LittleEndian.PutUint64(keys[i][32:], -lane*inverse)
	}
	return keys
}

package shard

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A list of any length is a slice of its elements, through any changes and after
// each of them was taken back.
func TestListIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ks := NewKeyspace(Config{Clock: &testClock{now: start}, Seed: Seed{1, 2}})
		d := ks.Database(0)
		var undo Undo
		var twin []string
		most := rapid.SampledFrom([]int{3, 20, 300}).Draw(t, "most")
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			before := twin
			if rapid.Bool().Draw(t, "armed") {
				ks.Arm(&undo)
			}
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			way := rapid.SampledFrom([]string{"any", "any", "front", "back", "queue", "drop"}).Draw(t, "way")
			for range rng.IntN(40) + 1 {
				twin = changeList(d, twin, rng, way, most)
			}
			sameList(t, d, twin)
			if ks.undo != nil && rapid.Bool().Draw(t, "back") {
				ks.Undo(&undo)
				twin = before
				sameList(t, d, twin)
			}
			undo.Reset()
			ks.Arm(nil)
		}
	})
}

// changeList splices or drops in both worlds.
func changeList(d *Database, twin []string, rng *rand.Rand, way string, most int) []string {
	e := d.Lookup([]byte("k"))
	n := len(twin)
	if way == "drop" && rng.IntN(3) == 0 {
		var at []int
		var rest []string
		for i, v := range twin {
			if rng.IntN(4) == 0 {
				at = append(at, i)
			} else {
				rest = append(rest, v)
			}
		}
		d.ListDrop(&e, at)
		return rest
	}
	values := make([]string, rng.IntN(most))
	raw := make([][]byte, len(values))
	for i := range values {
		values[i] = fmt.Sprint(rng.Uint64() >> rng.IntN(64))[rng.IntN(2):]
		raw[i] = []byte(values[i])
	}
	at := rng.IntN(n + 1)
	remove := rng.IntN(n - at + 1)
	switch way {
	case "front":
		at, remove = 0, min(n, rng.IntN(2*most)*rng.IntN(2))
	case "back":
		remove = min(n, rng.IntN(2*most)*rng.IntN(2))
		at = n - remove
	case "queue":
		d.ListSplice(&e, n, 0, raw...)
		twin = append(slices.Clone(twin), values...)
		values, raw, at, remove = nil, nil, 0, min(len(twin), rng.IntN(2*most))
	}
	d.ListSplice(&e, at, remove, raw...)
	return slices.Concat(twin[:at], values, twin[at+remove:])
}

func sameList(t *rapid.T, d *Database, twin []string) {
	if err := d.Check(); err != nil {
		t.Fatalf("%v", err)
	}
	e := d.Lookup([]byte("k"))
	l := d.List(&e)
	if e.Exists() != (len(twin) > 0) || l.Len() != len(twin) || l.Bytes() < int64(len(d.Value(&e))) {
		t.Fatalf("exists %t, has %d elements, want %d", e.Exists(), l.Len(), len(twin))
	}
	total := 0
	for i, want := range twin {
		if got := string(l.At(i)); got != want {
			t.Fatalf("element %d of %d is %q, want %q", i, len(twin), got, want)
		}
		total += len(want)
	}
	if len(twin) > 0 && l.Packed() != (total <= 8192) {
		t.Fatalf("packed %t with %d bytes", l.Packed(), total)
	}
	from := rapid.IntRange(0, len(twin)).Draw(t, "from")
	seen := from
	for i, v := range l.Range(from, len(twin)) {
		if i != seen || string(v) != twin[i] {
			t.Fatalf("element %d, %q came at %d", i, v, seen)
		}
		seen++
	}
	if seen != len(twin) {
		t.Fatalf("%d elements from %d on, want %d", seen-from, from, len(twin)-from)
	}
}

// A queue that many elements have gone through holds no more than what is in it,
// and what Memory says is what the runtime gave out.
func TestListMemory(t *testing.T) {
	const elements = 100_000
	before := heap()
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	e := d.Lookup([]byte("k"))
	for i := range elements {
		d.ListSplice(&e, 0, 0, numbered(i))
	}
	used, said := heap()-before, ks.Memory()
	if ratio := float64(used) / float64(said); ratio < 0.97 || ratio > 1.03 {
		t.Errorf("the heap grew by %d, Memory says %d", used, said)
	}
	for i := range 3 * elements {
		d.ListSplice(&e, 0, 0, numbered(i))
		d.ListSplice(&e, d.List(&e).Len()-1, 1)
	}
	if now := ks.Memory(); now > said*11/10 {
		t.Errorf("%d bytes after a queue moved on, %d before", now, said)
	}
	for d.List(&e).Len() > 1 {
		d.ListSplice(&e, 0, 1)
	}
	if left := d.List(&e).Bytes(); left > 512 {
		t.Errorf("%d bytes for one element", left)
	}
}

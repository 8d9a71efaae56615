package shard

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// listed is a roster as a list of pairs, the deliberately dumb twin.
type listed []listedName

type listedName struct {
	number      uint64
	name, value string
}

func (l listed) find(name string) int {
	return slices.IndexFunc(l, func(n listedName) bool { return n.name == name })
}

// encoded is the whole value as roster_codec.go describes it.
func (l listed) encoded(k Kind) string {
	word := func(b []byte, s string) []byte { return append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	b, last := binary.AppendUvarint(nil, uint64(len(l))), uint64(0)
	for _, n := range l {
		b = word(binary.AppendUvarint(b, n.number-last), n.name)
		if k != KindSet {
			b = word(b, n.value)
		}
		last = n.number
	}
	return string(b)
}

// listedFrom reads a whole value.
func listedFrom(k Kind, whole string) (l listed) {
	rest := []byte(whole)
	number := func() uint64 {
		n, size := binary.Uvarint(rest)
		rest = rest[size:]
		return n
	}
	word := func() string {
		n := number()
		s := string(rest[:n])
		rest = rest[n:]
		return s
	}
	last := uint64(0)
	for range number() {
		last += number()
		n := listedName{number: last, name: word()}
		if k != KindSet {
			n.value = word()
		}
		l = append(l, n)
	}
	return l
}

// put sets a name; what is new is last.
func (l listed) put(name, value string) listed {
	l = slices.Clone(l)
	if at := l.find(name); at >= 0 {
		l[at].value = value
		return l
	}
	last := uint64(0)
	if len(l) > 0 {
		last = l[len(l)-1].number
	}
	return append(l, listedName{last + 1, name, value})
}

func (l listed) remove(name string) listed {
	if at := l.find(name); at >= 0 {
		return slices.Delete(slices.Clone(l), at, at+1)
	}
	return l
}

// A roster of any size is the list of its names, through any changes and after
// each of them was taken back.
func TestRosterIsAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom([]Kind{KindHash, KindSet}).Draw(t, "kind")
		ks := NewKeyspace(Config{Clock: &testClock{now: start}, Seed: Seed{1, 2}})
		d := ks.Database(0)
		var undo Undo
		var twin listed
		size := rapid.SampledFrom([]int{1, 20, 60, 700}).Draw(t, "size")
		for range rapid.IntRange(1, 25).Draw(t, "rounds") {
			before := twin
			if rapid.Bool().Draw(t, "armed") {
				ks.Arm(&undo)
			}
			grow, rng := rapid.IntRange(0, 100).Draw(t, "grow"), rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			for range rapid.IntRange(1, 2*size).Draw(t, "steps") {
				name, value := fmt.Sprint("n", rng.IntN(size)), fmt.Sprint(rng.Uint64()>>rng.IntN(64))
				twin = change1(d, k, twin, name, value, rng.IntN(100) < grow)
			}
			sameRoster(t, d, k, twin)
			if ks.undo != nil && rapid.Bool().Draw(t, "back") {
				ks.Undo(&undo)
				twin = before
				sameRoster(t, d, k, twin)
			}
			undo.Reset()
			ks.Arm(nil)
		}
	})
}

// change1 puts or removes a name in both worlds.
func change1(d *Database, k Kind, twin listed, name, value string, put bool) listed {
	e := d.Lookup([]byte("k"))
	switch {
	case put && k == KindHash:
		d.HashSet(&e, []byte(name), []byte(value))
		return twin.put(name, value)
	case put:
		d.SetAdd(&e, []byte(name))
		return twin.put(name, "")
	case k == KindHash:
		d.HashDelete(&e, []byte(name))
	default:
		d.SetRemove(&e, []byte(name))
	}
	return twin.remove(name)
}

func sameRoster(t *rapid.T, d *Database, k Kind, twin listed) {
	if err := d.Check(); err != nil {
		t.Fatalf("%v", err)
	}
	e := d.Lookup([]byte("k"))
	if e.Exists() != (len(twin) > 0) {
		t.Fatalf("exists %t, has %d names", e.Exists(), len(twin))
	}
	if !e.Exists() {
		return
	}
	r := d.roster(&e, k)
	if got := d.Value(&e); string(got) != twin.encoded(k) || r.Len() != len(twin) || r.Bytes() < int64(len(got)) {
		t.Fatalf("%d names in %d bytes, want %d", r.Len(), r.Bytes(), len(twin))
	}
	at := 0
	for name, value := range r.All() {
		if string(name) != twin[at].name || string(value) != twin[at].value {
			t.Fatalf("%d: %q %q, want %+v", at, name, value, twin[at])
		}
		if got, ok := r.Get(name); !ok || !bytes.Equal(got, value) {
			t.Fatalf("%q: %q %t", name, got, ok)
		}
		at++
	}
	if _, ok := r.Get([]byte("nobody")); ok {
		t.Fatalf("a name that was never there is there")
	}
}

// A walk visits what is there throughout exactly once, newest first, and ends,
// although each visited name is deleted and added again.
func TestRosterScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ks := NewKeyspace(Config{Clock: &testClock{now: start}, Seed: Seed{1, 2}})
		d := ks.Database(0)
		n := rapid.IntRange(1, 1500).Draw(t, "names")
		e := d.Lookup([]byte("k"))
		for i := range n {
			d.SetAdd(&e, numbered(i))
		}
		seen := map[string]int{}
		cursor, calls := uint64(0), 0
		for first := true; first || cursor != 0; first = false {
			var visited [][]byte
			cursor = d.Set(&e).Scan(cursor, rapid.IntRange(1, 100).Draw(t, "count"), func(name, _ []byte) {
				visited = append(visited, bytes.Clone(name))
			})
			for i, name := range visited {
				seen[string(name)]++
				d.SetAdd(&e, fmt.Appendf(nil, "new %d %d", calls, i))
				if i%3 == 0 {
					d.SetRemove(&e, name)
					d.SetAdd(&e, name)
				}
			}
			calls++
		}
		for i := range n {
			if name := string(numbered(i)); seen[name] != 1 {
				t.Fatalf("%s was seen %d times in %d calls", name, seen[name], calls)
			}
		}
	})
}

// Each name is as likely as the others, in blocks of whatever length.
func TestRosterPicksEvenly(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	e := d.Lookup([]byte("k"))
	for i := range 600 {
		d.SetAdd(&e, numbered(i))
	}
	for i := range 180 {
		d.SetRemove(&e, numbered(i))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	times := map[string]int{}
	const each = 200
	for range each * d.Set(&e).Len() {
		name, _ := d.Set(&e).Pick(rng.IntN)
		times[string(name)]++
	}
	for name := range d.Set(&e).All() {
		// Six standard deviations of a count with mean 200 are 85.
		if n := times[string(name)]; n < each-85 || n > each+85 {
			t.Errorf("%s was picked %d times, about %d were due", name, n, each)
		}
	}
}

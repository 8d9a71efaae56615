package shard

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// scored is a sorted set as a list, the deliberately dumb twin. Scores are
// compared as the doubles they are.
type scored []scoredMember

type scoredMember struct {
	member string
	score  float64
}

func (s scored) put(member string, score float64) scored {
	return append(s.remove(member), scoredMember{member, score}).sorted()
}

func (s scored) remove(member string) scored {
	return slices.DeleteFunc(slices.Clone(s), func(m scoredMember) bool { return m.member == member })
}

func (s scored) sorted() scored {
	slices.SortFunc(s, func(a, b scoredMember) int {
		switch {
		case a.score < b.score:
			return -1
		case a.score > b.score:
			return 1
		}
		return bytes.Compare([]byte(a.member), []byte(b.member))
	})
	return s
}

func scoreOf(f float64) Score { return Score(math.Float64bits(f)) }

// oddScores lie where bits and doubles are easily mistaken for one another.
var oddScores = []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), 5e-324, -5e-324, math.MaxFloat64, -math.MaxFloat64,
	1 << 53, 1<<53 + 2, 1.7e18, 1.7e18 + 256, -1.5, 2.2250738585072014e-308}

// Scores are in the order of the doubles they are the bits of.
func TestScoresAreInTheOrderOfDoubles(t *testing.T) {
	any := rapid.OneOf(rapid.SampledFrom(oddScores), rapid.Float64())
	rapid.Check(t, func(t *rapid.T) {
		a, b := any.Draw(t, "a"), any.Draw(t, "b")
		if got := scoreOf(a).Less(scoreOf(b)); got != (a < b) {
			t.Fatalf("%v < %v: %t", a, b, got)
		}
	})
	for f, want := range map[float64]bool{math.NaN(): false, -math.NaN(): false, math.Inf(1): true, math.Inf(-1): true, 0: true} {
		if got := scoreOf(f).number(); got != want {
			t.Errorf("%v is a number: %t", f, got)
		}
	}
	if Score(1<<64-1).number() || Score(infinite+1).number() {
		t.Error("a NaN is a number")
	}
}

// A sorted set of any size is the sorted list of its members, through any changes
// and after each of them was taken back.
func TestSortedSetIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ks := NewKeyspace(Config{Clock: &testClock{now: start}, Seed: Seed{1, 2}})
		d := ks.Database(0)
		var undo Undo
		var twin scored
		size := rapid.SampledFrom([]int{1, 20, 150, 700}).Draw(t, "size")
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			e := d.Lookup([]byte("k"))
			before, whole := twin, string(d.Value(&e))
			if rapid.Bool().Draw(t, "armed") {
				ks.Arm(&undo)
			}
			grow, rng := rapid.IntRange(0, 100).Draw(t, "grow"), rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			way := rapid.SampledFrom([]string{"any", "ascending", "descending", "ties"}).Draw(t, "way")
			twin = changeSorted(d, twin, rng, way, size, grow)
			sameSorted(t, d, twin)
			if ks.undo != nil && rapid.Bool().Draw(t, "back") {
				ks.Undo(&undo)
				twin = before
				sameSorted(t, d, twin)
				if e = d.Lookup([]byte("k")); string(d.Value(&e)) != whole {
					t.Fatalf("%q, before it was %q", d.Value(&e), whole)
				}
			}
			undo.Reset()
			ks.Arm(nil)
		}
	})
}

// changeSorted makes up to 2*size changes in both worlds, of which grow in a
// hundred add.
func changeSorted(d *Database, twin scored, rng *rand.Rand, way string, size, grow int) scored {
	for i := range rng.IntN(2*size) + 1 {
		member := fmt.Sprint("m", rng.IntN(size))
		if rng.IntN(50) == 0 {
			member += string(make([]byte, 70))
		}
		score := oddScores[rng.IntN(len(oddScores))]
		switch way {
		case "ascending":
			score = float64(i)
		case "descending":
			score = float64(-i)
		case "ties":
			score = float64(rng.IntN(3))
		}
		e := d.Lookup([]byte("k"))
		if rng.IntN(100) < grow {
			d.SortedAdd(&e, []byte(member), scoreOf(score))
			twin = twin.put(member, score)
		} else {
			d.SortedRemove(&e, []byte(member))
			twin = twin.remove(member)
		}
	}
	return twin
}

func sameSorted(t *rapid.T, d *Database, twin scored) {
	if err := d.Check(); err != nil {
		t.Fatalf("%v", err)
	}
	e := d.Lookup([]byte("k"))
	z := d.Sorted(&e)
	if e.Exists() != (len(twin) > 0) || z.Len() != len(twin) || z.Bytes() < int64(len(d.Value(&e))) {
		t.Fatalf("exists %t, has %d members, want %d", e.Exists(), z.Len(), len(twin))
	}
	if len(twin) == 0 {
		return
	}
	long := slices.ContainsFunc(twin, func(m scoredMember) bool { return len(m.member) > 64 })
	if z.Packed() != (len(twin) <= 128 && !long) {
		t.Fatalf("packed %t with %d members, long %t", z.Packed(), len(twin), long)
	}
	from := rapid.IntRange(0, len(twin)).Draw(t, "from")
	to := rapid.IntRange(from, len(twin)).Draw(t, "to")
	var up, down []Ranked
	for x := range z.Ascending(from, to) {
		up = append(up, x)
	}
	for x := range z.Descending(from, to) {
		down = append(down, x)
	}
	slices.Reverse(down)
	for i, want := range twin[from:to] {
		sameMember(t, z, want, up[i], from+i)
		sameMember(t, z, want, down[i], from+i)
	}
	if len(up) != to-from || len(down) != to-from {
		t.Fatalf("%d up, %d down from %d to %d", len(up), len(down), from, to)
	}
	sameCounts(t, z, twin)
}

func sameMember(t *rapid.T, z *SortedSet, want scoredMember, got Ranked, rank int) {
	score, ok := z.Score([]byte(want.member))
	at, ok2 := z.Rank([]byte(want.member))
	if !ok || !ok2 || score != scoreOf(want.score) || at != rank || string(got.Member) != want.member || got.Score != score {
		t.Fatalf("rank %d: %+v, score %#x %t, rank %d; want %+v", rank, got, score, ok, at, want)
	}
}

// sameCounts compares how many lie below scores.
func sameCounts(t *rapid.T, z *SortedSet, twin scored) {
	limit := rapid.SampledFrom(append(oddScores, twin[len(twin)/2].score)).Draw(t, "limit")
	below, upTo := 0, 0
	for _, m := range twin {
		if m.score < limit {
			below++
		}
		if m.score <= limit {
			upTo++
		}
	}
	if a, b := z.Below(scoreOf(limit), false), z.Below(scoreOf(limit), true); a != below || b != upTo {
		t.Fatalf("%d below %v, %d up to it; want %d, %d", a, limit, b, below, upTo)
	}
	if _, ok := z.Rank([]byte("nobody")); ok || z.At(len(twin)-1).Score != scoreOf(twin[len(twin)-1].score) {
		t.Fatalf("nobody has a rank: %t", ok)
	}
}

// Members with one score can be counted by their bytes.
func TestSortedSetCountsByMember(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ks := NewKeyspace(Config{Clock: &testClock{now: start}, Seed: Seed{1, 2}})
		d := ks.Database(0)
		e := d.Lookup([]byte("k"))
		all := rapid.SliceOfNDistinct(rapid.String(), 1, 200, rapid.ID[string]).Draw(t, "members")
		for _, m := range all {
			d.SortedAdd(&e, []byte(m), scoreOf(7))
		}
		limit := rapid.OneOf(rapid.String(), rapid.SampledFrom(all)).Draw(t, "limit")
		before, upTo := 0, 0
		for _, m := range all {
			if m < limit {
				before++
			}
			if m <= limit {
				upTo++
			}
		}
		if a, b := d.Sorted(&e).Before([]byte(limit), false), d.Sorted(&e).Before([]byte(limit), true); a != before || b != upTo {
			t.Fatalf("%d before %q, %d up to it; want %d, %d", a, limit, b, before, upTo)
		}
	})
}

// Members that come in ascending order, as timestamps do, leave full nodes
// behind, and those that go one by one give their memory back.
func TestSortedSetMemory(t *testing.T) {
	const members = 100_000
	before := heap()
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	e := d.Lookup([]byte("k"))
	for i := range members {
		d.SortedAdd(&e, numbered(i), scoreOf(float64(i)))
	}
	used, said := heap()-before, ks.Memory()
	if ratio := float64(used) / float64(said); ratio < 0.97 || ratio > 1.03 {
		t.Errorf("the heap grew by %d, Memory says %d", used, said)
	}
	if least := int64(members) * rankedSize; d.Sorted(&e).ranks.held > least*11/10 {
		t.Errorf("a ranking of %d bytes, its members take %d", d.Sorted(&e).ranks.held, least)
	}
	for i := range members - 1 {
		d.SortedRemove(&e, numbered(members-1-i))
	}
	if left := d.Sorted(&e).Bytes(); left > 1024 {
		t.Errorf("%d bytes for one member", left)
	}
}

package shard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// scoreBytes is a score as the roster of a sorted set has it.
func scoreBytes(f float64) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(scoreOf(f))))
}

// drawSorted draws the whole value of a sorted set.
func drawSorted(t *rapid.T) []byte {
	var l listed
	for i := range rapid.IntRange(1, 30).Draw(t, "members") {
		score := rapid.SampledFrom(oddScores).Draw(t, "score")
		l = append(l, listedName{uint64(2*i + 1), fmt.Sprint("n", i), scoreBytes(score)})
	}
	return []byte(l.encoded(KindSorted))
}

// Ranking adds members to a sorted set and takes members out, through one Entry.
func (m *machine) Ranking(t *rapid.T) {
	d, e, db, key := m.target(t)
	for range rapid.IntRange(1, 8).Draw(t, "members") {
		r, ok := m.twin.get(db, key)
		var l listed
		if ok && r.kind == KindSorted {
			l = listedFrom(KindSorted, r.value)
		}
		name := fmt.Sprint("n", rapid.IntRange(0, 40).Draw(t, "name"))
		if rapid.IntRange(0, 2).Draw(t, "add") == 0 {
			if was := d.SortedRemove(&e, []byte(name)); was != (l.find(name) >= 0) {
				t.Fatalf("%q: removed %t of %+v", name, was, l)
			}
			l = l.remove(name)
			if len(l) == 0 && r.kind != KindSorted {
				continue
			}
		} else {
			score := rapid.SampledFrom(oddScores).Draw(t, "score")
			if created := d.SortedAdd(&e, []byte(name), scoreOf(score)); created != (l.find(name) < 0) {
				t.Fatalf("%q: created %t in %+v", name, created, l)
			}
			l = l.put(name, scoreBytes(score))
		}
		m.keep(db, key, KindSorted, len(l), l.encoded(KindSorted))
		m.agree(t, d, &e, db, key)
	}
}

// keep makes the twin's record what a primitive of collections has made it: of
// another kind it starts without expiry, and without elements it is gone.
func (m *machine) keep(db int, key string, k Kind, elements int, whole string) {
	r, _ := m.twin.get(db, key)
	switch {
	case elements == 0:
		delete(m.twin.dbs[db], key)
	case r.kind == k:
		m.twin.dbs[db][key] = twinRecord{k, r.when, whole}
	default:
		m.twin.dbs[db][key] = twinRecord{k, 0, whole}
	}
}

// wholeList is a list as list.go describes it.
func wholeList(elements []string) []byte {
	b := binary.AppendUvarint(nil, uint64(len(elements)))
	for _, v := range elements {
		b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
	}
	return b
}

func drawElements(t *rapid.T, least int) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "seventeen digits!", string(make([]byte, 300))}), least, 20).Draw(t, "elements")
}

// listElements reads a whole list.
func listElements(whole string) (all []string) {
	rest := []byte(whole)
	n, size := binary.Uvarint(rest)
	rest = rest[size:]
	for range n {
		length, size := binary.Uvarint(rest)
		all = append(all, string(rest[size:size+int(length)]))
		rest = rest[size+int(length):]
	}
	return all
}

// Sequence splices a list and drops elements of it, through one Entry.
func (m *machine) Sequence(t *rapid.T) {
	d, e, db, key := m.target(t)
	for range rapid.IntRange(1, 4).Draw(t, "steps") {
		r, ok := m.twin.get(db, key)
		var l []string
		if ok && r.kind == KindList {
			l = listElements(r.value)
		}
		at := rapid.IntRange(0, len(l)).Draw(t, "at")
		remove := rapid.IntRange(0, len(l)-at).Draw(t, "remove")
		insert := drawElements(t, 0)
		if len(l) == 0 && len(insert) == 0 {
			continue
		}
		raw := make([][]byte, len(insert))
		for i, v := range insert {
			raw[i] = []byte(v)
		}
		d.ListSplice(&e, at, remove, raw...)
		l = slices.Concat(l[:at], insert, l[at+remove:])
		m.keep(db, key, KindList, len(l), string(wholeList(l)))
		m.agree(t, d, &e, db, key)
		if len(l) > 2 {
			d.ListDrop(&e, []int{0, len(l) - 2})
			l = append(slices.Clone(l[1:len(l)-2]), l[len(l)-1])
			m.keep(db, key, KindList, len(l), string(wholeList(l)))
			m.agree(t, d, &e, db, key)
		}
	}
}

// A change to a large sorted set or list writes what it changed, forwards and
// backwards.
func TestEditsOfOrderedAreSmall(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	z, l := d.Lookup([]byte("z")), d.Lookup([]byte("l"))
	for i := range 10_000 {
		d.SortedAdd(&z, numbered(i), scoreOf(float64(i)))
		d.ListSplice(&l, 0, 0, numbered(i))
	}
	var f Effects
	var u Undo
	ks.Record(&f)
	ks.Arm(&u)
	for name, change := range map[string]func(){
		"score":  func() { d.SortedAdd(&z, numbered(5000), scoreOf(-1)) },
		"add":    func() { d.SortedAdd(&z, []byte("new"), scoreOf(5.5)) },
		"remove": func() { d.SortedRemove(&z, numbered(77)) },
		"push":   func() { d.ListSplice(&l, 0, 0, []byte("new")) },
		"pop":    func() { d.ListSplice(&l, 0, 1) },
		"set":    func() { d.ListSplice(&l, 5000, 1, []byte("other")) },
		"insert": func() { d.ListSplice(&l, 5000, 0, []byte("other")) },
		"drop":   func() { d.ListDrop(&l, []int{10, 9000}) },
	} {
		f.Reset()
		u.Reset()
		change()
		if f.Len() == 0 || f.Len() > 100 || u.Len() != 1 || u.Bytes() > 100 {
			t.Errorf("%s: %d bytes of effects, %d inverses of %d bytes", name, f.Len(), u.Len(), u.Bytes())
		}
	}
}

// What is no sorted set and no list is refused, and so is a step that does not
// fit.
func TestApplyRefusesOrdered(t *testing.T) {
	put := func(k Kind, whole string) []byte {
		return writeEffects(func(f *Effects) { f.put(0, []byte("new"), k, 0, []byte(whole)) })
	}
	edit := func(key string, k Kind, delta string) []byte {
		return writeEffects(func(f *Effects) { f.edit(0, []byte(key), k, []byte(delta)) })
	}
	const one, nan = "\x08\x00\x00\x00\x00\x00\x00\xf0\x3f", "\x08\x00\x00\x00\x00\x00\x00\xf8\x7f"
	for name, c := range map[string]struct {
		effect []byte
		want   error
	}{
		"empty sorted set":        {put(KindSorted, "\x00"), ErrEffects},
		"score of 7 bytes":        {put(KindSorted, "\x01\x01\x01a\x071234567"), ErrEffects},
		"score that is NaN":       {put(KindSorted, "\x01\x01\x01a"+nan), ErrEffects},
		"member twice":            {put(KindSorted, "\x02\x01\x01a"+one+"\x01\x01a"+one), ErrEffects},
		"empty list":              {put(KindList, "\x00"), ErrEffects},
		"list cut short":          {put(KindList, "\x02\x01a"), ErrEffects},
		"list and more":           {put(KindList, "\x01\x01ab"), ErrEffects},
		"put of NaN":              {edit("z", KindSorted, "\x01\x01a"+nan), ErrEffects},
		"put without score":       {edit("z", KindSorted, "\x01\x01a\x00"), ErrEffects},
		"removal of nobody":       {edit("z", KindSorted, "\x02\x01x"), ErrMismatch},
		"removal of the last":     {edit("z", KindSorted, "\x02\x01a"), ErrMismatch},
		"return to a taken place": {edit("z", KindSorted, "\x03\x01\x01x"+one), ErrMismatch},
		"list edit of a set":      {edit("z", KindList, "\x01\x00\x00\x01\x01x"), ErrMismatch},
		"no step":                 {edit("l", KindList, ""), ErrEffects},
		"unknown step":            {edit("l", KindList, "\x09"), ErrEffects},
		"splice beyond the end":   {edit("l", KindList, "\x01\x04\x00\x01\x01x"), ErrMismatch},
		"splice of too many":      {edit("l", KindList, "\x01\x02\x02\x01\x01x"), ErrMismatch},
		"splice of everything":    {edit("l", KindList, "\x01\x00\x03\x00"), ErrMismatch},
		"splice and more":         {edit("l", KindList, "\x01\x00\x00\x01\x01xy"), ErrEffects},
		"drop beyond the end":     {edit("l", KindList, "\x02\x01\x03"), ErrMismatch},
		"drop of everything":      {edit("l", KindList, "\x02\x03\x00\x00\x00"), ErrMismatch},
		"drop of nothing":         {edit("l", KindList, "\x02\x00"), ErrMismatch},
		"mend beyond the end":     {edit("l", KindList, "\x03\x01\x04\x01x"), ErrMismatch},
		"mend of nothing":         {edit("l", KindList, "\x03\x00"), ErrMismatch},
		"mend cut short":          {edit("l", KindList, "\x03\x01\x00\x02x"), ErrEffects},
	} {
		t.Run(name, func(t *testing.T) {
			ks, _ := newTestKeyspace(t, 1)
			good := writeEffects(func(f *Effects) {
				f.put(0, []byte("z"), KindSorted, 0, []byte("\x01\x01\x01a"+one))
				f.put(0, []byte("l"), KindList, 0, wholeList([]string{"a", "b", "c"}))
			})
			if err := ks.Apply(good); err != nil {
				t.Fatal(err)
			}
			before := records(ks)
			if err := ks.Apply(c.effect); !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			same(t, "after a refusal", records(ks), before)
			checkAt(t, ks.Database(0), true)
		})
	}
}

func writeEffects(fn func(f *Effects)) []byte {
	var f Effects
	fn(&f)
	return f.Bytes()
}

// In steady state a member changes its score, and a queue moves on, without
// allocating more than the element put in.
func TestOrderedAllocateNothing(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	z, l := []byte("z"), []byte("l")
	for i := range 1000 {
		e := d.Lookup(z)
		d.SortedAdd(&e, numbered(i), scoreOf(float64(i)))
		e = d.Lookup(l)
		d.ListSplice(&e, 0, 0, numbered(i))
	}
	member, turn := numbered(500), 0
	allocates(t, "score", func() {
		turn++
		e := d.Lookup(z)
		d.SortedAdd(&e, member, scoreOf(float64(turn%1000)+0.5))
		d.Sorted(&e).Rank(member)
	})
	values := [][]byte{member}
	if n := testing.AllocsPerRun(1000, func() {
		e := d.Lookup(l)
		d.ListSplice(&e, 0, 0, values...)
		d.ListSplice(&e, d.List(&e).Len()-1, 1)
	}); n > 2 {
		t.Errorf("a queue that moves on allocates %v times", n)
	}
}

// What Memory says of many small sorted sets and lists is what the runtime has
// given out, also after most of each was taken away.
func TestMemoryOfOrderedIsHonest(t *testing.T) {
	for _, size := range []int{1, 2, 5, 16, 17, 100, 700} {
		before := heap()
		var buf [20]byte
		ks, _ := newTestKeyspace(t, 1)
		d, keys := ks.Database(0), 40_000/size
		each := func(n int, change func(z, l *Entry, i int)) {
			for key := range keys {
				z, l := d.Lookup(fmt.Appendf(nil, "z%d", key)), d.Lookup(fmt.Appendf(nil, "l%d", key))
				for i := range n {
					change(&z, &l, i)
				}
			}
		}
		each(size, func(z, l *Entry, i int) {
			d.SortedAdd(z, key20(buf[:], i), scoreOf(float64(i)))
			d.ListSplice(l, 0, 0, key20(buf[:], i))
		})
		for round := range 2 {
			used, said := heap()-before, ks.Memory()
			if ratio := float64(used) / float64(said); ratio < 0.9 || ratio > 1.1 {
				t.Errorf("%d elements, round %d: the heap grew by %d, Memory says %d", size, round, used, said)
			}
			each(size*9/10, func(z, l *Entry, i int) {
				d.SortedRemove(z, key20(buf[:], i))
				d.ListSplice(l, 0, min(1, d.List(l).Len()))
			})
		}
		runtime.KeepAlive(ks)
	}
}

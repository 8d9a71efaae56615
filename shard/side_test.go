package shard

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// putHash makes a key a hash of so many fields.
func putHash(d *Database, key []byte, fields int) {
	var buf [20]byte
	e := d.Lookup(key)
	for i := range fields {
		d.HashSet(&e, fmt.Appendf(buf[:0], "field:%d", i), fmt.Appendf(nil, "value:%d", i*i))
	}
}

// What Memory says of collections is what the runtime has given out, for many
// small ones and for few large ones, also after most of each was taken away.
func TestMemoryOfCollectionsIsHonest(t *testing.T) {
	for _, size := range []int{1, 2, 5, 16, 17, 100, 5000} {
		before := heap()
		ks, _ := newTestKeyspace(t, 1)
		d := ks.Database(0)
		keys := 100_000 / size
		for i := range keys {
			putHash(d, numbered(i), size)
		}
		for round := range 2 {
			used, said := heap()-before, ks.Memory()
			if ratio := float64(used) / float64(said); ratio < 0.9 || ratio > 1.1 {
				t.Errorf("%d fields, round %d: the heap grew by %d, Memory says %d", size, round, used, said)
			}
			for i := range keys {
				e := d.Lookup(numbered(i))
				for j := range size * 9 / 10 {
					d.HashDelete(&e, fmt.Appendf(nil, "field:%d", j))
				}
			}
		}
		runtime.KeepAlive(ks)
	}
}

// A hash of two short fields, as limiters keep, takes at most 350 bytes.
func TestMemoryPerHash(t *testing.T) {
	const keys, bar = 100_000, 350
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	var buf [20]byte
	for i := range keys {
		e := d.Lookup(key20(buf[:], i))
		d.HashSet(&e, []byte("tokens"), []byte("9.5"))
		d.HashSet(&e, []byte("last"), []byte("1700000000.123"))
	}
	each := float64(ks.Memory()) / keys
	if each > bar {
		t.Errorf("%.1f bytes a hash", each)
	}
	t.Logf("%.1f bytes a hash", each)
}

// However a record goes, its collection goes with it, and its number is used
// again.
func TestSideStoreIsEmptied(t *testing.T) {
	for name, end := range map[string]func(ks *Keyspace, d *Database, e *Entry){
		"deleted":   func(_ *Keyspace, d *Database, e *Entry) { d.Delete(e) },
		"replaced":  func(_ *Keyspace, d *Database, e *Entry) { d.PutInt(e, 0, 1) },
		"collected": func(_ *Keyspace, d *Database, e *Entry) { d.SetExpiry(e, 1) },
		"emptied": func(_ *Keyspace, d *Database, e *Entry) {
			for i := range 100 {
				d.HashDelete(e, fmt.Appendf(nil, "field:%d", i))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ks, _ := newTestKeyspace(t, 100)
			d := ks.Database(0)
			putHash(d, []byte("stays"), 10)
			alone := d.tables.side.held
			for range 3 {
				for i := range 30 {
					putHash(d, numbered(i), 100)
				}
				for i := range 30 {
					e := d.Lookup(numbered(i))
					end(ks, d, &e)
				}
				for more := true; more; {
					_, more = ks.Collect()
				}
				checkAt(t, d, true)
			}
			if held, slots := d.tables.side.held, len(d.tables.side.slots); held != alone || slots > 31 {
				t.Errorf("%d bytes, %d slots; want %d bytes, at most 31 slots", held, slots, alone)
			}
			d.Flush()
			if got := d.tables.side.bytes(); got != 0 {
				t.Errorf("%d bytes after a flush", got)
			}
		})
	}
}

// A change to a large hash writes what it changed, forwards and backwards.
func TestEditsAreSmall(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	putHash(d, []byte("k"), 10_000)
	var f Effects
	var u Undo
	ks.Record(&f)
	ks.Arm(&u)
	e := d.Lookup([]byte("k"))
	for name, change := range map[string]func(){
		"set":    func() { d.HashSet(&e, []byte("field:5000"), []byte("other")) },
		"add":    func() { d.HashSet(&e, []byte("new"), []byte("value")) },
		"delete": func() { d.HashDelete(&e, []byte("field:3")) },
	} {
		f.Reset()
		u.Reset()
		change()
		if f.Len() == 0 || f.Len() > 60 || u.Len() != 1 || u.Bytes() > 60 {
			t.Errorf("%s: %d bytes of effects, %d inverses in %d bytes", name, f.Len(), u.Len(), u.Bytes())
		}
	}
	f.Reset()
	u.Reset()
	d.HashSet(&e, []byte("new"), []byte("value"))
	d.HashDelete(&e, []byte("nobody"))
	if f.Len() != 0 || u.Len() != 0 {
		t.Errorf("%d bytes of effects, %d inverses of what changed nothing", f.Len(), u.Len())
	}
}

// Taking back a long stretch of deletions takes time in proportion to it, and
// what is restored is the hash that was, in order.
func TestUndoOfManyDeletions(t *testing.T) {
	const fields = 50_000
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	putHash(d, []byte("k"), fields)
	before := records(ks)
	var u Undo
	ks.Arm(&u)
	e := d.Lookup([]byte("k"))
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(fields)[1:] {
		d.HashDelete(&e, fmt.Appendf(nil, "field:%d", i))
	}
	if n := d.Hash(&e).Len(); n != 1 {
		t.Fatalf("%d fields are left", n)
	}
	ks.Undo(&u)
	checkAt(t, d, true)
	if !slices.Equal(records(ks), before) {
		t.Error("the hash is another one")
	}
}

// The values and deltas of collections that no primitive would have written are
// refused, and change nothing.
func TestApplyRefusesCollections(t *testing.T) {
	write := func(fn func(f *Effects)) []byte {
		var f Effects
		fn(&f)
		return f.Bytes()
	}
	put := func(k Kind, value string) []byte {
		return write(func(f *Effects) { f.put(0, []byte("new"), k, 0, []byte(value)) })
	}
	edit := func(key string, k Kind, delta string) []byte {
		return write(func(f *Effects) { f.edit(0, []byte(key), k, []byte(delta)) })
	}
	for name, c := range map[string]struct {
		effect []byte
		want   error
	}{
		"empty hash":            {put(KindHash, "\x00"), ErrEffects},
		"nothing":               {put(KindHash, ""), ErrEffects},
		"fewer than announced":  {put(KindHash, "\x02\x01\x01a\x01b"), ErrEffects},
		"more than announced":   {put(KindHash, "\x01\x01\x01a\x01b\x00"), ErrEffects},
		"field twice":           {put(KindHash, "\x02\x01\x01a\x01b\x01\x01a\x01c"), ErrEffects},
		"number zero":           {put(KindSet, "\x01\x00\x01a"), ErrEffects},
		"number beyond":         {put(KindSet, "\x02\xff\xff\xff\xff\xff\xff\xff\x0f\x01a\x01\x01b"), ErrEffects},
		"member cut short":      {put(KindSet, "\x01\x01\x02a"), ErrEffects},
		"edit of a string":      {edit("k", KindString, "\x01\x01a"), ErrEffects},
		"edit of no kind":       {edit("k", 200, "\x01\x01a"), ErrEffects},
		"edit of another kind":  {edit("k", KindSet, "\x01\x01a"), ErrMismatch},
		"no step":               {edit("k", KindHash, ""), ErrEffects},
		"unknown step":          {edit("k", KindHash, "\x09\x01a\x01b"), ErrMismatch},
		"put cut short":         {edit("k", KindHash, "\x01\x01a"), ErrEffects},
		"put and more":          {edit("k", KindHash, "\x01\x01a\x01bc"), ErrEffects},
		"removal of nobody":     {edit("k", KindHash, "\x02\x01x"), ErrMismatch},
		"removal of the last":   {edit("k", KindHash, "\x02\x01a"), ErrMismatch},
		"return to a taken one": {edit("k", KindHash, "\x03\x05\x01x\x01y"), ErrMismatch},
		"return of a present":   {edit("k", KindHash, "\x03\x06\x01a\x01y"), ErrMismatch},
		"return as zero":        {edit("k", KindHash, "\x03\x00\x01x\x01y"), ErrMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			ks, _ := newTestKeyspace(t, 1)
			good := write(func(f *Effects) { f.put(0, []byte("k"), KindHash, 0, []byte("\x01\x05\x01a\x01b")) })
			if err := ks.Apply(good); err != nil {
				t.Fatal(err)
			}
			before := records(ks)
			if err := ks.Apply(c.effect); !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			same(t, "records", records(ks), before)
			checkAt(t, ks.Database(0), true)
		})
	}
}

package shard

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
)

// Bytes that are no effects are refused, and what came before them is applied.
func TestApplyRefuses(t *testing.T) {
	var good, log Effects
	good.put(0, []byte("k"), KindString, 0, []byte("0123456789"))
	log.put(0, []byte("log"), KindLog, 0, make([]byte, logHeader+hitSize))
	write := func(fn func(f *Effects)) []byte {
		var f Effects
		fn(&f)
		return f.Bytes()
	}
	damaged := packed{at: 1, a: 5, b: 5, c: 1}.append(nil) // Rem is not below Tokens
	for name, c := range map[string]struct {
		effect []byte
		want   error
	}{
		"operation 0":            {[]byte{0, 0, 0}, ErrEffects},
		"operation 99":           {[]byte{99, 0, 0}, ErrEffects},
		"database 16":            {[]byte{opFlush, Databases}, ErrEffects},
		"an inverse":             {[]byte{opRevert, 0, 0}, ErrEffects},
		"no database":            {[]byte{opFlush}, ErrEffects},
		"key cut short":          {[]byte{opDelete, 0, 2, 'k'}, ErrEffects},
		"key length cut short":   {[]byte{opDelete, 0, 0x80}, ErrEffects},
		"key of 2^63 bytes":      {[]byte{opDelete, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 'k'}, ErrEffects},
		"number beyond 64 bits":  {[]byte{opDelete, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 'k'}, ErrEffects},
		"kind 0":                 {write(func(f *Effects) { f.put(0, nil, KindNone, 0, nil) }), ErrEffects},
		"kind 200":               {write(func(f *Effects) { f.put(0, nil, 200, 0, nil) }), ErrEffects},
		"int of 9 bytes":         {write(func(f *Effects) { f.put(0, nil, KindInt, 0, make([]byte, 9)) }), ErrEffects},
		"half a hit":             {write(func(f *Effects) { f.put(0, nil, KindLog, 0, make([]byte, 24)) }), ErrEffects},
		"damaged bucket":         {write(func(f *Effects) { f.put(0, nil, KindBucket, 0, damaged) }), ErrEffects},
		"expiry beyond int64":    {write(func(f *Effects) { f.expiry(0, []byte("k"), -1) }), ErrEffects},
		"splice beyond":          {write(func(f *Effects) { f.splice(0, []byte("k"), 0, 11, 0, nil) }), ErrMismatch},
		"splice too much":        {write(func(f *Effects) { f.splice(0, []byte("k"), 0, 5, 6, nil) }), ErrMismatch},
		"splice of half a hit":   {write(func(f *Effects) { f.splice(0, []byte("log"), 0, 16, 8, nil) }), ErrMismatch},
		"splice of a log's head": {write(func(f *Effects) { f.splice(0, []byte("log"), 0, 0, 32, nil) }), ErrMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			ks, _ := newTestKeyspace(t, 1)
			before := append(append([]byte(nil), good.Bytes()...), log.Bytes()...)
			err := ks.Apply(append(before, c.effect...))
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if ks.Database(0).Len() != 2 {
				t.Fatalf("%d records, what came before made 2", ks.Database(0).Len())
			}
			checkAt(t, ks.Database(0), true)
		})
	}
}

// Deltas apply to what they name and to nothing else; a put replaces whatever
// is there. An expired record is there as long as it is held: the time is not asked.
func TestApplyAsksNoTime(t *testing.T) {
	ks, clock := newTestKeyspace(t, 1)
	d := ks.Database(0)
	var deltas Effects
	deltas.delete(0, []byte("gone"))
	deltas.expiry(0, []byte("gone"), 5)
	deltas.splice(0, []byte("gone"), 0, 100, 100, []byte("x"))
	if err := ks.Apply(deltas.Bytes()); err != nil || d.Len() != 0 {
		t.Fatalf("deltas to a key that is not there: %v, %d records", err, d.Len())
	}
	e := d.Lookup([]byte("old"))
	d.Put(&e, KindString, ks.NowMillis()+1, []byte("0123"))
	clock.now += 1e9
	ks.Tick()
	var more Effects
	more.splice(0, []byte("old"), 77, 2, 2, []byte("x"))
	more.expiry(0, []byte("old"), 1<<60)
	if err := ks.Apply(more.Bytes()); err != nil {
		t.Fatal(err)
	}
	if e = d.Lookup([]byte("old")); string(d.Value(&e)) != "01x" || e.Expiry() != 1<<60 {
		t.Fatalf("%q, expires at %d", d.Value(&e), e.Expiry())
	}
	more.Reset()
	more.put(0, []byte("old"), KindInt, 1, make([]byte, 8))
	if err := ks.Apply(more.Bytes()); err != nil || d.Len() != 1 {
		t.Fatalf("%v, %d records", err, d.Len())
	}
	if e = d.Lookup([]byte("old")); e.Exists() {
		t.Fatal("a record put with an expiry in the past is present")
	}
}

// A denial and a peek write nothing; neither do primitives that find nothing to
// do, nor collection.
func TestNoEffectWithoutChange(t *testing.T) {
	ks, clock := newTestKeyspace(t, 1)
	d := ks.Database(0)
	e := d.Lookup([]byte("k"))
	d.PutInt(&e, ks.NowMillis()+5, 1)
	var f Effects
	var u Undo
	ks.Record(&f)
	ks.Arm(&u)
	absent := d.Lookup([]byte("absent"))
	d.Delete(&absent)
	d.SetExpiry(&absent, 5)
	d.SetExpiry(&e, e.Expiry())
	d.PutBucket(&absent, limit.Bucket{})
	if f.Len() != 0 || u.Len() != 0 {
		t.Fatalf("%d bytes of effects, %d inverses", f.Len(), u.Len())
	}
	clock.now += 1e9
	ks.Tick()
	e = d.Lookup([]byte("k"))
	d.Delete(&e)
	ks.Collect()
	if f.Len() != 0 || u.Len() != 1 || d.Len() != 0 {
		t.Fatalf("%d bytes of effects, %d inverses, %d records after collection", f.Len(), u.Len(), d.Len())
	}
	tables := d.tables
	d.Flush()
	if u.Len() != 1 || d.tables != tables {
		t.Fatalf("%d inverses, an empty database was replaced: %t", u.Len(), d.tables != tables)
	}
	f.Reset()
	ks.Record(nil)
	ks.Arm(nil)
	d.PutInt(&absent, 0, 1)
	d.Flush()
	if f.Len() != 0 || u.Len() != 1 {
		t.Fatalf("%d bytes of effects, %d inverses after both were turned off", f.Len(), u.Len())
	}
}

// Undo writes no effects and no inverses, also while both are asked for.
func TestUndoIsSilent(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	var f Effects
	var u Undo
	ks.Record(&f)
	ks.Arm(&u)
	e := d.Lookup([]byte("k"))
	d.PutInt(&e, 0, 1)
	mark, sent := u.Len(), f.Len()
	d.PutInt(&e, 0, 2)
	d.Flush()
	written := f.Len()
	ks.UndoTo(&u, mark)
	if e = d.Lookup([]byte("k")); d.Int(&e) != 1 || u.Len() != mark || len(u.dropped) != 0 || f.Len() != written {
		t.Fatalf("value %d, %d inverses, %d dropped tables, %d bytes of effects", d.Int(&e), u.Len(), len(u.dropped), f.Len())
	}
	d.PutInt(&e, 0, 6)
	var v Undo
	ks.Arm(&v) // another one than is undone
	ks.UndoTo(&u, mark)
	if v.Len() != 0 {
		t.Fatalf("undoing wrote %d inverses", v.Len())
	}
	ks.Arm(&u)
	f.Truncate(sent)
	d.PutInt(&e, 0, 3)
	other, _ := newTestKeyspace(t, 1)
	if err := other.Apply(f.Bytes()); err != nil {
		t.Fatal(err)
	}
	same(t, "replica", dump(other), dump(ks))
	ks.Undo(&u)
	if d.Len() != 0 || u.Len() != 0 {
		t.Fatalf("%d records, %d inverses", d.Len(), u.Len())
	}
}

// FuzzApply: arbitrary bytes are applied or refused, and leave a keyspace that
// is whole, which Undo takes back to where it was.
func FuzzApply(f *testing.F) {
	for _, seed := range applySeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, effects []byte) {
		ks, clock := newTestKeyspace(t, 2)
		for _, seed := range applySeeds()[:1] {
			if err := ks.Apply(seed); err != nil {
				t.Fatal(err)
			}
		}
		before := records(ks)
		var u Undo
		ks.Arm(&u)
		if err := ks.Apply(effects); err != nil && !errors.Is(err, ErrEffects) && !errors.Is(err, ErrMismatch) {
			t.Fatal(err)
		}
		if err := check(ks); err != nil {
			t.Fatal(err)
		}
		readAll(ks)
		clock.now += 1e9
		ks.Tick()
		ks.Collect()
		ks.Undo(&u)
		same(t, "after undo", records(ks), before)
		if err := check(ks); err != nil {
			t.Fatal(err)
		}
	})
}

// readAll decides a call on every limiter, as a leader would on what it has
// replayed.
func readAll(ks *Keyspace) {
	rate := limit.Rate{Tokens: 1, Period: time.Second}
	for _, d := range ks.databases {
		if d == nil {
			continue
		}
		for cursor, done := uint32(0), false; !done; {
			cursor, done = d.Scan(cursor, 100, func(e *Entry) {
				_, _, _ = d.Bucket(e).Take(ks.Now(), 10, rate, 1)
				_, _, _ = d.Fixed(e).Hit(ks.Now(), 10, time.Second, true, 1)
				_, _, _ = d.Sliding(e).Hit(ks.Now(), 10, time.Second, 1)
				_, _, _ = d.Log(e).Hit(ks.Now(), 10, time.Second, 1)
			})
		}
	}
}

// applySeeds are effects of every kind; the first is a keyspace to begin with.
func applySeeds() [][]byte {
	var base, all, broken Effects
	now := int64(start) / 1e6
	base.put(0, []byte("s"), KindString, now+100, []byte("hello"))
	base.put(0, []byte("n"), KindInt, 0, make([]byte, 8))
	base.put(1, []byte("log"), KindLog, now+50, make([]byte, logHeader+2*hitSize))
	base.put(15, nil, KindBucket, now+1, packed{start, 1, 2, 3}.append(nil))
	base.put(0, []byte("h"), KindHash, now+1, []byte("\x02\x01\x01a\x02bb\x03\x01c\x00"))
	base.put(0, []byte("z"), KindSorted, now+1, []byte("\x02\x01\x01a\x08\x00\x00\x00\x00\x00\x00\x00\x00\x01\x01b\x08\x00\x00\x00\x00\x00\x00\xf0\x3f"))
	base.put(0, []byte("l"), KindList, 0, []byte("\x03\x01a\x00\x02cc"))
	base.put(0, []byte("m"), KindSet, 0, []byte("\x03\x01\x01a\x01\x00\x01\x011"))
	all.put(0, []byte("f"), KindFixed, 5, packed{start, 1, 1, 1000}.append(nil))
	all.put(0, []byte("w"), KindSliding, 1<<62, packed{start, 9, 2, 1000}.append(nil))
	all.delete(0, []byte("n"))
	all.expiry(0, []byte("s"), 7)
	all.splice(0, []byte("s"), 0, 1, 2, []byte(strings.Repeat("x", 300)))
	all.splice(1, []byte("log"), now+9, 0, 32, make([]byte, 16))
	all.edit(0, []byte("h"), KindHash, []byte("\x01\x01a\x01x"))
	all.edit(0, []byte("h"), KindHash, []byte("\x01\x01d\x03new"))
	all.edit(0, []byte("h"), KindHash, []byte("\x02\x01c"))
	all.edit(0, []byte("h"), KindHash, []byte("\x03\x02\x01e\x03mid"))
	all.edit(0, []byte("m"), KindSet, []byte("\x02\x01a"))
	all.edit(0, []byte("z"), KindSorted, []byte("\x01\x01a\x08\x00\x00\x00\x00\x00\x00\xf0\xbf"))
	all.edit(0, []byte("z"), KindSorted, []byte("\x02\x01b"))
	all.edit(0, []byte("l"), KindList, []byte("\x01\x01\x01\x02\x01x\x02yy"))
	all.edit(0, []byte("l"), KindList, []byte("\x02\x02\x00\x01"))
	all.edit(0, []byte("l"), KindList, []byte("\x03\x01\x01\x03mid"))
	all.flush(15)
	broken.splice(0, []byte("s"), 0, 1<<20, 1, nil)
	return [][]byte{base.Bytes(), all.Bytes(), broken.Bytes(), all.Bytes()[:40], {opRevert, 0, 1}}
}

// The committed corpus has a file for each of what once went wrong or looks
// as if it could.
func TestFuzzCorpusIsThere(t *testing.T) {
	files, err := filepath.Glob("testdata/fuzz/FuzzApply/*")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files in the corpus, %v", len(files), err)
	}
	for _, name := range files {
		if b, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(b), "go test fuzz v1\n") {
			t.Errorf("%s is no corpus file: %v", name, err)
		}
	}
}

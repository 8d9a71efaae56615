package shard

import (
	"fmt"
	"testing"
)

// An Entry that another write has overtaken is found again, not trusted: two
// writers of one absent key make one record, and one deleted meanwhile is made anew.
func TestEntryOvertaken(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	first, second := d.Lookup([]byte("k")), d.Lookup([]byte("k"))
	d.PutInt(&first, 0, 1)
	d.PutInt(&second, 0, 2)
	if first = d.Lookup([]byte("k")); d.Len() != 1 || d.Int(&first) != 2 {
		t.Fatalf("%d records, value %d", d.Len(), d.Int(&first))
	}
	if !d.Delete(&second) || d.Delete(&first) {
		t.Fatal("a record could be deleted twice")
	}
	d.PutInt(&first, 0, 3)
	d.Flush()
	d.PutInt(&first, 0, 4)
	if e := d.Lookup([]byte("k")); d.Len() != 1 || d.Int(&e) != 4 {
		t.Fatalf("%d records, value %d", d.Len(), d.Int(&e))
	}
	var u Undo
	ks.Arm(&u)
	d.Flush()
	first = d.Lookup([]byte("k"))
	ks.Undo(&u)
	d.PutInt(&first, 0, 5)
	if d.Len() != 1 {
		t.Fatalf("%d records", d.Len())
	}
	checkAt(t, d, true)
}

// Records of which each is changed through an Entry from before the others came
// and went.
func TestEntriesTogether(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	entries := make([]Entry, 3000)
	for i := range entries {
		entries[i] = d.Lookup(fmt.Appendf(nil, "k%d", i))
	}
	for i := range entries {
		d.PutInt(&entries[i], 0, int64(i))
	}
	for i := 0; i < len(entries); i += 2 {
		d.Delete(&entries[i])
	}
	for i := range entries {
		if e := d.Lookup(entries[i].Key()); e.Exists() != (i%2 == 1) || i%2 == 1 && d.Int(&e) != int64(i) {
			t.Fatalf("k%d: exists %t, value %d", i, e.Exists(), d.Int(&e))
		}
	}
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
}

// Mistakes of the caller are not stored.
func TestPutPanics(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	str := d.Lookup([]byte("str"))
	d.Put(&str, KindString, 0, []byte("0123456789"))
	log := d.Lookup([]byte("log"))
	d.Put(&log, KindLog, 0, make([]byte, logHeader+hitSize))
	absent := d.Lookup([]byte("absent"))
	long := d.Lookup(make([]byte, MaxKey+1))
	for name, mistake := range map[string]func(){
		"key too long":         func() { d.PutInt(&long, 0, 1) },
		"no kind":              func() { d.Put(&absent, KindNone, 0, nil) },
		"unknown kind":         func() { d.Put(&absent, kinds, 0, nil) },
		"int of 7 bytes":       func() { d.Put(&absent, KindInt, 0, make([]byte, 7)) },
		"bucket of 23 bytes":   func() { d.Put(&absent, KindBucket, 0, make([]byte, 23)) },
		"half a hit":           func() { d.Put(&absent, KindLog, 0, make([]byte, logHeader+8)) },
		"expiry before 1970":   func() { d.PutInt(&absent, -1, 1) },
		"set to before 1970":   func() { d.SetExpiry(&str, -1) },
		"splice of nothing":    func() { d.Splice(&absent, 0, 0, nil) },
		"splice beyond":        func() { d.Splice(&str, 11, 0, nil) },
		"splice before":        func() { d.Splice(&str, -1, 0, nil) },
		"splice too much":      func() { d.Splice(&str, 5, 6, nil) },
		"splice of half a hit": func() { d.Splice(&log, logHeader, 8, nil) },
		"no such database":     func() { ks.Database(Databases) },
	} {
		t.Run(name, func(t *testing.T) {
			before := records(ks)
			defer func() {
				if recover() == nil {
					t.Fatal("no panic")
				}
				same(t, "records", records(ks), before)
			}()
			mistake()
		})
	}
}

// An expired record counts as expired once, whether the wheel finds it or a
// write does.
func TestExpiredIsCounted(t *testing.T) {
	ks, clock := newTestKeyspace(t, 10)
	d := ks.Database(0)
	for i := range 3 {
		e := d.Lookup(numbered(i))
		d.PutInt(&e, ks.NowMillis()+1, 1)
	}
	clock.now += 1e6
	ks.Tick()
	e := d.Lookup(numbered(0))
	d.PutInt(&e, 0, 2)
	d.PutInt(&e, 0, 3)
	if got := ks.Stats().Expired; got != 1 || d.Len() != 3 || d.Expires() != 2 {
		t.Fatalf("%d expired, %d records, %d with an expiry", got, d.Len(), d.Expires())
	}
	ks.Collect()
	if got := ks.Stats().Expired; got != 3 || d.Len() != 1 || d.Expires() != 0 {
		t.Fatalf("%d expired, %d records, %d with an expiry", got, d.Len(), d.Expires())
	}
}

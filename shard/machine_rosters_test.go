package shard

import (
	"fmt"

	"pgregory.net/rapid"
)

// drawRoster draws the whole value of a hash or a set, its numbers with gaps.
func drawRoster(t *rapid.T, k Kind) []byte {
	var l listed
	number := uint64(0)
	for i := range rapid.IntRange(1, 30).Draw(t, "names") {
		number += rapid.Uint64Range(1, 3).Draw(t, "gap")
		n := listedName{number: number, name: fmt.Sprint("n", i)}
		if k == KindHash {
			n.value = fmt.Sprint("v", number)
		}
		l = append(l, n)
	}
	return []byte(l.encoded(k))
}

// Roster puts names into a hash or a set, and takes names out, through one
// Entry; the key may be absent, or of another kind when names are put.
func (m *machine) Roster(t *rapid.T) {
	d, e, db, key := m.target(t)
	k := rapid.SampledFrom([]Kind{KindHash, KindSet}).Draw(t, "roster")
	for range rapid.IntRange(1, 8).Draw(t, "names") {
		r, ok := m.twin.get(db, key)
		var l listed
		if ok && r.kind == k {
			l = listedFrom(k, r.value)
		}
		name := fmt.Sprint("n", rapid.IntRange(0, 40).Draw(t, "name"))
		if rapid.IntRange(0, 2).Draw(t, "put") > 0 {
			l = m.putName(t, d, &e, k, l, name)
		} else {
			l = m.removeName(t, d, &e, k, l, name)
			if len(l) == 0 && r.kind != k {
				continue // nothing was there to remove from
			}
		}
		switch {
		case len(l) == 0:
			delete(m.twin.dbs[db], key)
		case r.kind == k:
			m.twin.dbs[db][key] = twinRecord{k, r.when, l.encoded(k)}
		default:
			m.twin.dbs[db][key] = twinRecord{k, 0, l.encoded(k)}
		}
		m.agree(t, d, &e, db, key)
	}
}

func (m *machine) putName(t *rapid.T, d *Database, e *Entry, k Kind, l listed, name string) listed {
	fresh, value := l.find(name) < 0, ""
	var created bool
	if k == KindHash {
		value = string(text(t))
		created = d.HashSet(e, []byte(name), []byte(value))
	} else {
		created = d.SetAdd(e, []byte(name))
	}
	if created != fresh {
		t.Fatalf("%q: created %t, new %t", name, created, fresh)
	}
	return l.put(name, value)
}

func (m *machine) removeName(t *rapid.T, d *Database, e *Entry, k Kind, l listed, name string) listed {
	remove := d.SetRemove
	if k == KindHash {
		remove = d.HashDelete
	}
	if was := remove(e, []byte(name)); was != (l.find(name) >= 0) {
		t.Fatalf("%q: removed %t of %+v", name, was, l)
	}
	return l.remove(name)
}

package shard

import "fmt"

// The primitives of lists. Each writes what it puts in and where, but for what
// makes a list, which is a put, and what empties it, which is a delete.

// List is the list of a present key of KindList, and nil, which is empty, of any
// other. It is a view, valid until the next write to the database.
func (d *Database) List(e *Entry) *List {
	if e.Kind() != KindList {
		return nil
	}
	return d.tables.collection(e.cell).(*List)
}

// ListSplice replaces remove elements of the list of e from position at on with
// values. A key that is absent or of another kind is an empty list, and becomes one
// of the values that never expires. A list without elements is deleted. Positions
// outside the list panic. values must not be views of the list.
func (d *Database) ListSplice(e *Entry, at, remove int, values ...[]byte) {
	d.refresh(e)
	n := d.List(e).Len()
	if at < 0 || remove < 0 || at > n || remove > n-at {
		panic(fmt.Sprintf("shard: ListSplice of %d for %d of %d at %d", len(values), remove, n, at))
	}
	switch {
	case remove == 0 && len(values) == 0:
	case remove == n && len(values) == 0:
		d.Delete(e)
	case n == 0:
		whole := &d.ks.draft.delta
		whole.Reset()
		whole.list(values)
		d.Put(e, KindList, 0, whole.log)
	default:
		delta := d.newDelta(listSplice)
		delta.number(uint64(at))
		delta.number(uint64(remove))
		delta.list(values)
		d.edit(e, delta)
	}
}

// list writes how many values there are, and each.
func (f *Effects) list(values [][]byte) {
	f.number(uint64(len(values)))
	for _, v := range values {
		f.bytes(v)
	}
}

// ListDrop takes the elements at ascending positions out of the list of e. A list
// without elements is deleted. Positions outside the list panic.
func (d *Database) ListDrop(e *Entry, at []int) {
	d.refresh(e)
	switch {
	case len(at) == 0:
	case len(at) == d.List(e).Len():
		d.Delete(e)
	default:
		delta := d.newDelta(listDrop)
		delta.number(uint64(len(at)))
		for i := range at {
			delta.number(uint64(gap(at, i)))
		}
		d.edit(e, delta)
	}
}

package shard

import "bytes"

// The primitives of hashes and sets. Each writes only the name it changes, but
// for the first name of a key, which is a put, and the last, which is a delete.

// Hash is the hash of a present key of KindHash, and nil, which is empty, of
// any other. It is a view, valid until the next write to the database.
func (d *Database) Hash(e *Entry) *Roster { return d.roster(e, KindHash) }

// Set is the set of a present key of KindSet, likewise.
func (d *Database) Set(e *Entry) *Roster { return d.roster(e, KindSet) }

func (d *Database) roster(e *Entry, k Kind) *Roster {
	if e.Kind() != k {
		return nil
	}
	return d.tables.collection(e.cell).(*Roster)
}

// HashSet sets a field of the hash of e and says whether it is new. A new field
// is the last, any other keeps its place. A key that is absent or of another kind
// becomes a hash, which never expires.
func (d *Database) HashSet(e *Entry, field, value []byte) (created bool) {
	d.refresh(e)
	h := d.Hash(e)
	if h == nil {
		d.startRoster(e, KindHash, field, value)
		return true
	}
	old, exists := h.Get(field)
	if exists && bytes.Equal(old, value) {
		return false
	}
	delta := d.newDelta(rosterPut)
	delta.bytes(field)
	delta.bytes(value)
	d.edit(e, delta)
	return !exists
}

// HashDelete takes a field out of the hash of e, and says whether it was there.
// A hash without fields is deleted.
func (d *Database) HashDelete(e *Entry, field []byte) bool {
	d.refresh(e)
	return d.strike(e, d.Hash(e), field)
}

// SetAdd adds a member to the set of e and says whether it is new. A key that is
// absent or of another kind becomes a set, which never expires.
func (d *Database) SetAdd(e *Entry, member []byte) bool {
	d.refresh(e)
	s := d.Set(e)
	if s == nil {
		d.startRoster(e, KindSet, member, nil)
		return true
	}
	if _, exists := s.Get(member); exists {
		return false
	}
	delta := d.newDelta(rosterPut)
	delta.bytes(member)
	d.edit(e, delta)
	return true
}

// SetRemove takes a member out of the set of e, and says whether it was there.
// A set without members is deleted.
func (d *Database) SetRemove(e *Entry, member []byte) bool {
	d.refresh(e)
	return d.strike(e, d.Set(e), member)
}

// PutSet makes e the set of members, which differ from each other and may be
// views of any set, and never expire. Without members it deletes the key.
func (d *Database) PutSet(e *Entry, members [][]byte) {
	if len(members) == 0 {
		d.Delete(e)
		return
	}
	whole := &d.ks.draft.delta
	whole.Reset()
	whole.number(uint64(len(members)))
	for _, member := range members {
		whole.number(1)
		whole.bytes(member)
	}
	d.Put(e, KindSet, 0, whole.log)
}

// startRoster makes e a roster of one name.
func (d *Database) startRoster(e *Entry, k Kind, name, value []byte) {
	whole := d.newDelta(1) // the number of names, then that of the first
	whole.number(1)
	whole.bytes(name)
	if k != KindSet {
		whole.bytes(value)
	}
	d.Put(e, k, 0, whole.log)
}

// strike takes a name out of the roster of e.
func (d *Database) strike(e *Entry, r *Roster, name []byte) bool {
	if _, exists := r.Get(name); !exists {
		return false
	}
	if r.Len() == 1 {
		return d.Delete(e)
	}
	delta := d.newDelta(rosterRemove)
	delta.bytes(name)
	d.edit(e, delta)
	return true
}

package shard

import (
	"encoding/binary"
	"fmt"
)

// The primitives of sorted sets. They write what those of hashes write: the
// member they change and its score.

// Sorted is the sorted set of a present key of KindSorted, and nil, which is
// empty, of any other. It is a view, valid until the next write to the database.
func (d *Database) Sorted(e *Entry) *SortedSet {
	if e.Kind() != KindSorted {
		return nil
	}
	return d.tables.collection(e.cell).(*SortedSet)
}

// SortedAdd sets the score of a member of the sorted set of e and says whether it
// is new. A key that is absent or of another kind becomes a sorted set, which never
// expires. A score that is no number is a mistake of the caller and panics.
func (d *Database) SortedAdd(e *Entry, member []byte, score Score) (created bool) {
	if !score.number() {
		panic(fmt.Sprintf("shard: SortedAdd of score %#x", score))
	}
	var value [scoreSize]byte
	binary.LittleEndian.PutUint64(value[:], uint64(score))
	d.refresh(e)
	z := d.Sorted(e)
	if z == nil {
		d.startRoster(e, KindSorted, member, value[:])
		return true
	}
	old, exists := z.Score(member)
	if exists && old == score {
		return false
	}
	delta := d.newDelta(rosterPut)
	delta.bytes(member)
	delta.bytes(value[:])
	d.edit(e, delta)
	return !exists
}

// SortedRemove takes a member out of the sorted set of e, and says whether it was
// there. A sorted set without members is deleted.
func (d *Database) SortedRemove(e *Entry, member []byte) bool {
	d.refresh(e)
	z := d.Sorted(e)
	return z != nil && d.strike(e, &z.roster, member)
}

// PutSorted makes e the sorted set of members, which differ from each other, may
// be views of any and never expire. Without members it deletes the key.
func (d *Database) PutSorted(e *Entry, members []Ranked) {
	if len(members) == 0 {
		d.Delete(e)
		return
	}
	whole := &d.ks.draft.delta
	whole.Reset()
	whole.number(uint64(len(members)))
	for _, x := range members {
		whole.number(1)
		whole.bytes(x.Member)
		whole.number(scoreSize)
		whole.log = binary.LittleEndian.AppendUint64(whole.log, uint64(x.Score))
	}
	d.Put(e, KindSorted, 0, whole.log)
}

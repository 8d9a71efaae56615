package shard

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unsafe"
)

// A collection is a value that needs pointers: a hash, a set, a sorted set or a
// list. It lives in the side store of its database; the record holds its number
// there. A collection in the store is never empty: a primitive that would take the
// last element out deletes the key.
//
// It has two forms as bytes. The whole value is what put effects carry: RENAME,
// COPY, snapshots and the undo of a delete need no more. A delta is what an edit
// effect carries: one step that the primitives of the kind have written, so that a
// hit on a large collection is not all of it. Both are read with reader, written with
// Effects, and known to nobody but the kind's own file.
type collection interface {
	// Len is the number of elements.
	Len() int
	// bytes is the memory taken, the slot aside. It is asked after each edit, so it
	// must not walk through the elements.
	bytes() int64
	// encode appends the whole value. Equal collections give equal bytes.
	encode(to *Effects)
	// decode fills an empty collection with a whole value and says what is wrong
	// with it otherwise.
	decode(from *reader) error
	// edit makes the change of a delta and, unless back is nil, writes the delta
	// that takes it back exactly: afterwards encode gives what it gave before. A delta
	// that does not fit, or would leave nothing, changes nothing and is an error.
	edit(delta *reader, back *Effects) error
	// check returns the first broken invariant, for tests.
	check() error
}

// makers make an empty collection of each kind that is one, with the seed for
// its index.
var makers = [kinds]func(*Seed) collection{
	KindHash:   newHash,
	KindSet:    newSet,
	KindSorted: newSorted,
	KindList:   newList,
}

// handleSize is what a record holds of a collection: its number in the side
// store, little-endian.
const handleSize = 4

// isCollection says whether values of the kind live in the side store.
func (k Kind) isCollection() bool { return KindHash <= k && k < kinds }

// side holds the collections of one database by number. The zero value is
// empty and ready.
type side struct {
	slots  []collection // nil where the number is vacant
	vacant []uint32     // numbers that can be used again
	held   int64        // bytes of all collections
}

// at is the collection with the number that a record holds.
func (s *side) at(handle []byte) collection { return s.slots[binary.LittleEndian.Uint32(handle)] }

// add stores a collection and returns its number.
func (s *side) add(c collection) uint32 {
	s.held += c.bytes()
	if n := len(s.vacant); n > 0 {
		number := s.vacant[n-1]
		s.vacant = s.vacant[:n-1]
		s.slots[number] = c
		return number
	}
	s.slots = append(s.slots, c)
	return uint32(len(s.slots) - 1)
}

// drop lets a collection go. Its number is used again; when none is left so is
// the memory for them.
func (s *side) drop(handle []byte) {
	number := binary.LittleEndian.Uint32(handle)
	s.held -= s.slots[number].bytes()
	s.slots[number] = nil
	s.vacant = append(s.vacant, number)
	if len(s.vacant) == len(s.slots) {
		s.slots, s.vacant = nil, nil
	}
}

// bytes is the memory of the store and of all in it.
func (s *side) bytes() int64 {
	return s.held + int64(cap(s.slots))*int64(unsafe.Sizeof(s.slots[0])) + 4*int64(cap(s.vacant))
}

// check verifies the store; used is how many records hold a number, each
// another one.
func (s *side) check(used map[uint32]bool) error {
	held := int64(0)
	for number, c := range s.slots {
		if (c != nil) != used[uint32(number)] {
			return fmt.Errorf("side store: number %d holds a collection: %t, is in a record: %t", number, c != nil, used[uint32(number)])
		}
		if c == nil {
			continue
		}
		if err := c.check(); err != nil {
			return fmt.Errorf("collection %d: %w", number, err)
		}
		held += c.bytes()
	}
	if held != s.held || len(s.vacant) != len(s.slots)-len(used) {
		return fmt.Errorf("side store: %d bytes, %d vacant of %d; it says %d bytes, %d vacant",
			held, len(s.slots)-len(used), len(s.slots), s.held, len(s.vacant))
	}
	return nil
}

// decode makes a collection of a whole value.
func decode(seed *Seed, k Kind, value []byte) (collection, error) {
	c, r := makers[k](seed), reader{rest: value}
	err := c.decode(&r)
	if err == nil && len(r.rest) > 0 {
		r.fail("more than a value")
	}
	if err == nil {
		err = r.err
	}
	if err == nil && c.Len() == 0 {
		err = fmt.Errorf("%w: an empty collection", ErrEffects)
	}
	return c, err
}

// collection is the collection in a record of such a kind.
func (t *tables) collection(c *cell) collection { return t.side.at(c.value()) }

// value is a view of a record's value, of a collection the encoding.
func (t *tables) value(c *cell) []byte {
	if !c.kind().isCollection() {
		return c.value()
	}
	var whole Effects
	t.collection(c).encode(&whole)
	return whole.log
}

// admit stores the collection that value encodes and returns its number. The
// copy lets the values of other kinds stay on their caller's stack.
func (t *tables) admit(k Kind, value []byte) uint32 {
	c, err := decode(t.seed, k, bytes.Clone(value))
	if err != nil {
		panic(fmt.Sprintf("shard: a value of %d bytes of kind %d: %v", len(value), k, err))
	}
	return t.side.add(c)
}

// dismiss lets go what the record of a cell refers to.
func (t *tables) dismiss(c *cell) {
	if c.kind().isCollection() {
		t.side.drop(c.value())
	}
}

// draft is the memory in which a keyspace writes deltas and their inverses
// before it knows that they are needed.
type draft struct {
	delta Effects // being written by a primitive
	back  Effects // what takes it back
	read  reader  // of the delta
}

// newDelta begins a delta. It is valid until the next one.
func (d *Database) newDelta(op byte) *Effects {
	delta := &d.ks.draft.delta
	delta.Reset()
	delta.log = append(delta.log, op)
	return delta
}

// edit changes the collection of a present key by a delta that fits it. It
// writes effect and inverse: primitives end here.
func (d *Database) edit(e *Entry, delta *Effects) {
	if d.ks.effects != nil {
		d.ks.effects.edit(d.number, e.key, e.cell.kind(), delta.log)
	}
	if err := d.amend(e, delta.log); err != nil {
		panic("shard: edit: " + err.Error())
	}
}

// amend is edit without the effect.
func (d *Database) amend(e *Entry, delta []byte) error {
	c, draft := d.tables.collection(e.cell), &d.ks.draft
	var back *Effects
	if d.ks.undo != nil {
		back = &draft.back
		back.Reset()
	}
	before := c.bytes()
	draft.read = reader{rest: delta}
	if err := c.edit(&draft.read, back); err != nil {
		return err
	}
	d.tables.side.held += c.bytes() - before
	if back != nil {
		d.ks.undo.edit(d, e, back.log)
	}
	return nil
}

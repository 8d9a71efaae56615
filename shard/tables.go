package shard

import (
	"encoding/binary"
	"unsafe"

	"github.com/limitstore/limitstore/ttl"
)

// tables is what a database consists of. Flush replaces them as a whole. They
// know neither time nor effects: a record here is there, expired or not.
type tables struct {
	arena arena
	index index
	side  side
	seed  *Seed // of the collections
	wheels
	count int // records
}

// newTables makes empty tables whose wheels stand at now, in Unix ms.
func newTables(now int64, seed *Seed) *tables {
	t := &tables{arena: newArena(), index: newIndex(), seed: seed}
	t.wheels = newWheels(t, now)
	return t
}

// Node is a record's place in the wheel (ttl.Nodes).
func (t *tables) Node(id uint32) *ttl.Node { return &t.arena.cell(id).node }

// Deadline is when a record expires (ttl.Nodes).
func (t *tables) Deadline(id uint32) int64 { return t.arena.cell(id).when }

// bytes is the memory of the tables.
func (t *tables) bytes() int64 {
	return t.arena.bytes() + t.index.bytes() + t.side.bytes() + tablesSize
}

// tablesSize is what empty tables take beside arena, index and side store.
const tablesSize = int64(unsafe.Sizeof(tables{}) + 3*unsafe.Sizeof(ttl.Wheel{}))

// cellSize is the size of the cell that such a record needs.
func cellSize(k Kind, keyLen, valueLen int) int { return valueStart(k, keyLen) + valueLen }

// put makes e's record hold value, creating it when there is none. value must
// not be a view of e's own record.
func (t *tables) put(e *Entry, k Kind, when int64, value []byte) {
	var handle [handleSize]byte
	if k.isCollection() {
		binary.LittleEndian.PutUint32(handle[:], t.admit(k, value))
		value = handle[:]
	}
	if e.cell != nil {
		t.dismiss(e.cell)
	}
	if e.cell != nil && t.fits(e, k, len(value)) {
		if k != e.cell.kind() {
			t.unfile(e.ref, e.cell)
		}
		e.cell.meta = uint32(len(e.key))<<8 | uint32(k)
		e.cell.setLen(len(value))
		copy(e.cell.value(), value)
	} else {
		ref, c := t.newCell(e.key, k, cellSize(k, len(e.key), len(value)))
		c.setLen(len(value))
		copy(c.value(), value)
		t.adopt(e, ref, c)
	}
	t.setExpiry(e, when)
}

// fits reports that e's cell can hold such a value without wasting more than
// the value takes.
func (t *tables) fits(e *Entry, k Kind, valueLen int) bool {
	if k == e.cell.kind() && k.size() != variable {
		return true
	}
	need, size := cellSize(k, len(e.key), valueLen), t.arena.size(e.ref)
	return need <= size && size <= 2*need+2*smallestCell
}

// newCell makes a cell with a key and no value yet.
func (t *tables) newCell(key []byte, k Kind, size int) (uint32, *cell) {
	ref := t.arena.alloc(size)
	c := t.arena.cell(ref)
	*c = cell{meta: uint32(len(key))<<8 | uint32(k)}
	copy(c.key(), key)
	return ref, c
}

// adopt makes a new cell e's record, in place of the one it had.
func (t *tables) adopt(e *Entry, ref uint32, c *cell) {
	if e.cell == nil {
		t.index.insert(e.place, ref)
		t.count++
	} else {
		t.unfile(e.ref, e.cell)
		t.index.move(e.place, e.ref, ref)
		t.arena.release(e.ref)
	}
	e.ref, e.cell = ref, c
}

// setExpiry sets when e's record expires. A later expiry is a plain write: the
// wheel files the record again when its old slot comes due.
func (t *tables) setExpiry(e *Entry, when int64) {
	e.cell.when = when
	if when == 0 {
		t.unfile(e.ref, e.cell)
	} else {
		t.of(e.cell).Update(e.ref)
	}
}

// splice replaces remove bytes of e's value from at with insert and sets when it
// expires.
func (t *tables) splice(e *Entry, when int64, at, remove int, insert []byte) {
	t.edit(e, at, remove, insert)
	t.setExpiry(e, when)
}

func (t *tables) edit(e *Entry, at, remove int, insert []byte) {
	k, old := e.cell.kind(), e.cell.value()
	n := len(old) - remove + len(insert)
	if t.fits(e, k, n) {
		room := e.cell.room(t.arena.size(e.ref))
		copy(room[at+len(insert):], old[at+remove:])
		copy(room[at:], insert)
		e.cell.setLen(n)
		return
	}
	// A value that grew is likely to grow again; a quarter of slack makes the
	// copying of many appends proportional to what was appended.
	ref, c := t.newCell(e.key, k, cellSize(k, len(e.key), n+n/4))
	c.setLen(n)
	value := c.value()
	copy(value, old[:at])
	copy(value[at:], insert)
	copy(value[at+len(insert):], old[at+remove:])
	t.adopt(e, ref, c)
}

// remove deletes e's record.
func (t *tables) remove(e *Entry) {
	t.dismiss(e.cell)
	t.unfile(e.ref, e.cell)
	t.index.remove(e.place, e.ref)
	t.arena.release(e.ref)
	t.count--
	e.ref, e.cell = 0, nil
}

package shard

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// An effect is one change as the keyspace saw it: an operation, the database,
// the key, and what the operation needs. Numbers are unsigned varints.
//
//	put     op db key kind when value     create or replace the whole record
//	delete  op db key
//	expiry  op db key when                of an existing record
//	splice  op db key when at remove insert  of an existing record
//	edit    op db key kind delta  of an existing collection of the kind
//	flush   op db
//	revert  op db number                  inverses only: take back dropped tables
//
// key, value, insert and delta are a length and the bytes.
const (
	opPut byte = iota + 1
	opDelete
	opExpiry
	opSplice
	opFlush
	opRevert
	opEdit
)

// ErrEffects is wrapped by the errors of Apply for bytes that are not effects.
var ErrEffects = errors.New("shard: malformed effects")

// ErrMismatch is wrapped by the errors of Apply for an effect that does not fit
// the record it names: this keyspace is not the one it was written for.
var ErrMismatch = errors.New("shard: effect does not fit its record")

// Effects collects the changes made to a keyspace, in order, ready to be
// shipped and replayed with Keyspace.Apply. The zero value is empty and ready.
type Effects struct{ log []byte }

// Bytes is what was written since Reset. It is valid until the next change to
// the keyspace that writes here.
func (f *Effects) Bytes() []byte { return f.log }

// Len is the length of Bytes. It marks a point for Truncate.
func (f *Effects) Len() int { return len(f.log) }

// Reset drops everything and keeps the memory for reuse.
func (f *Effects) Reset() { f.log = f.log[:0] }

// Truncate drops what was written after Len was n: the effects of changes that
// have been undone.
func (f *Effects) Truncate(n int) { f.log = f.log[:n] }

func (f *Effects) head(op byte, db int, key []byte) {
	f.log = append(f.log, op, byte(db))
	f.bytes(key)
}

func (f *Effects) number(n uint64) { f.log = binary.AppendUvarint(f.log, n) }

func (f *Effects) bytes(b []byte) {
	f.number(uint64(len(b)))
	f.log = append(f.log, b...)
}

func (f *Effects) put(db int, key []byte, k Kind, when int64, value []byte) {
	f.head(opPut, db, key)
	f.log = append(f.log, byte(k))
	f.number(uint64(when))
	f.bytes(value)
}

func (f *Effects) delete(db int, key []byte) { f.head(opDelete, db, key) }

func (f *Effects) expiry(db int, key []byte, when int64) {
	f.head(opExpiry, db, key)
	f.number(uint64(when))
}

func (f *Effects) splice(db int, key []byte, when int64, at, remove int, insert []byte) {
	f.head(opSplice, db, key)
	f.number(uint64(when))
	f.number(uint64(at))
	f.number(uint64(remove))
	f.bytes(insert)
}

func (f *Effects) edit(db int, key []byte, k Kind, delta []byte) {
	f.head(opEdit, db, key)
	f.log = append(f.log, byte(k))
	f.bytes(delta)
}

func (f *Effects) flush(db int) { f.log = append(f.log, opFlush, byte(db)) }

// change is one effect or inverse, decoded. Its slices are views.
type change struct {
	op         byte
	db         int
	key        []byte
	kind       Kind
	when       int64
	at, remove int    // of a splice; at is the number of dropped tables of a revert
	value      []byte // or inserted bytes, or a delta
}

// reader takes effects apart. It stops at the first mistake and remembers it.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrEffects, what)
	}
	r.rest = nil
}

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.fail("cut short")
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// number reads a number of at most limit.
func (r *reader) number(limit uint64) uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > limit {
		r.fail("bad number")
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) bytes(limit uint64) []byte {
	n := r.number(limit)
	if n > uint64(len(r.rest)) {
		r.fail("cut short")
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// next reads one effect.
func (r *reader) next() (change, error) {
	c := change{op: r.byte(), db: int(r.byte())}
	if c.op != opFlush && c.op != opRevert {
		c.key = r.bytes(MaxKey)
	}
	switch c.op {
	case opPut:
		c.kind = Kind(r.byte())
		c.when = int64(r.number(MaxWhen))
		c.value = r.bytes(MaxValue)
	case opExpiry:
		c.when = int64(r.number(MaxWhen))
	case opSplice:
		c.when = int64(r.number(MaxWhen))
		c.at = int(r.number(MaxValue))
		c.remove = int(r.number(MaxValue))
		c.value = r.bytes(MaxValue)
	case opEdit:
		c.kind = Kind(r.byte())
		c.value = r.bytes(MaxValue)
	case opRevert:
		c.at = int(r.number(MaxValue))
	case opDelete, opFlush:
	default:
		r.fail("unknown operation")
	}
	if c.db >= Databases {
		r.fail("no such database")
	}
	return c, r.err
}

package shard

import (
	"encoding/binary"
	"time"

	"github.com/limitstore/limitstore/limit"
)

// A log is stored as its Window in ns and its Base, then its hits, oldest first,
// in the byte order of the machine: the hits are read where they lie. Nodes that
// exchange effects need the same byte order.
const (
	logHeader = 16
	hitSize   = 16
)

// wholeLog reports that a value of n bytes can be a log.
func wholeLog(n int) bool { return n >= logHeader && (n-logHeader)%hitSize == 0 }

func appendPair(to []byte, a, b int64) []byte {
	to = binary.NativeEndian.AppendUint64(to, uint64(a))
	return binary.NativeEndian.AppendUint64(to, uint64(b))
}

// Log is the state of a present key of KindLog, and for any other the zero one.
// Its Hits are a view of the record, valid until the next write to the database.
func (d *Database) Log(e *Entry) limit.Log {
	if e.Kind() != KindLog {
		return limit.Log{}
	}
	v := e.cell.value()
	return limit.Log{
		Window: time.Duration(binary.NativeEndian.Uint64(v)),
		Base:   int64(binary.NativeEndian.Uint64(v[8:])),
		Hits:   e.cell.hits(),
	}
}

// EditLog changes the log of e as a call on its Log decided, and lets it expire
// when the newest hit leaves the window. Only what the edit changes is written as
// effect. An edit that leaves no hit deletes the key, one of a key of another
// kind replaces the record.
func (d *Database) EditLog(e *Entry, edit limit.LogEdit) {
	d.refresh(e)
	if edit.Empty() {
		d.Delete(e)
		return
	}
	l := d.Log(e)
	when := ceilMillis(l.ExpiryAfter(edit))
	if e.Kind() != KindLog {
		var buf [logHeader + hitSize]byte
		v := appendPair(buf[:0], int64(edit.Window), edit.Base)
		d.Put(e, KindLog, when, appendPair(v, edit.Add.At, edit.Add.Sum))
		return
	}
	d.editHead(e, l, edit, when)
	d.editTail(e, len(l.Hits)-edit.Trim, edit, when)
}

// editHead drops the trimmed entries and rewrites the header in their place.
func (d *Database) editHead(e *Entry, l limit.Log, edit limit.LogEdit, when int64) {
	if edit.Trim == 0 && edit.Window == l.Window && edit.Base == l.Base {
		return
	}
	var buf [logHeader]byte
	head := appendPair(buf[:0], int64(edit.Window), edit.Base)
	d.change(e, when, 0, logHeader+hitSize*edit.Trim, head)
}

// editTail drops what follows the kept ones of n entries and appends the new
// one.
func (d *Database) editTail(e *Entry, n int, edit limit.LogEdit, when int64) {
	var buf [hitSize]byte
	add := buf[:0]
	if edit.HasAdd {
		add = appendPair(add, edit.Add.At, edit.Add.Sum)
	}
	if len(add) > 0 || edit.Keep < n {
		d.change(e, when, logHeader+hitSize*edit.Keep, hitSize*(n-edit.Keep), add)
	}
}

// Holds reports that an edit of the log of e takes no more memory than the log
// does: it fits where the log is.
func (d *Database) Holds(e *Entry, edit limit.LogEdit) bool {
	d.refresh(e)
	n := logHeader + hitSize*edit.Keep
	if edit.HasAdd {
		n += hitSize
	}
	return e.Kind() == KindLog && cellSize(KindLog, len(e.key), n) <= d.tables.arena.size(e.ref)
}

package shard

// Undo collects the inverses of the changes made to a keyspace while it is
// armed. Keyspace.Undo takes the changes back with them. The zero value is
// empty and ready; Reset keeps its memory for reuse.
//
// The inverse of every change restores the records exactly as they were,
// expired ones included: after an undo, what a later or an earlier time sees is
// what it would have seen before.
type Undo struct {
	log     Effects
	starts  []int           // where each inverse begins in log
	dropped []*tables       // by Flush, with all that was in them
	flushed [Databases]bool // which databases were; what they hold now has come since
	held    int64           // bytes of dropped tables that have come since
}

// Len is the number of inverses held. It marks a point for Keyspace.UndoTo.
func (u *Undo) Len() int { return len(u.starts) }

// Bytes is the memory the inverses take. What Flush dropped counts only if it had
// come after another Flush: before that, it was there anyhow.
func (u *Undo) Bytes() int { return len(u.log.log) + 8*len(u.starts) + int(u.held) }

// Reset forgets all inverses: the changes stay.
func (u *Undo) Reset() { u.truncate(0) }

func (u *Undo) truncate(n int) {
	if n < len(u.starts) {
		u.log.Truncate(u.starts[n])
		u.starts = u.starts[:n]
	}
	if n == 0 {
		clear(u.dropped)
		u.dropped = u.dropped[:0]
		u.flushed, u.held = [Databases]bool{}, 0
	}
}

func (u *Undo) begin() { u.starts = append(u.starts, u.log.Len()) }

// restore writes the inverse of replacing or removing the record of e.
func (u *Undo) restore(d *Database, e *Entry) {
	u.begin()
	if c := e.cell; c == nil {
		u.log.delete(d.number, e.key)
	} else {
		u.log.put(d.number, e.key, c.kind(), c.when, d.tables.value(c))
	}
}

// expiry writes the inverse of changing when the record of e expires.
func (u *Undo) expiry(d *Database, e *Entry) {
	u.begin()
	u.log.expiry(d.number, e.key, e.cell.when)
}

// splice writes the inverse of a splice that puts inserted bytes in the place
// of removed ones.
func (u *Undo) splice(d *Database, e *Entry, at, remove, inserted int) {
	u.begin()
	u.log.splice(d.number, e.key, e.cell.when, at, inserted, e.cell.value()[at:at+remove])
}

// edit writes the inverse of an edit: back takes it back.
func (u *Undo) edit(d *Database, e *Entry, back []byte) {
	u.begin()
	u.log.edit(d.number, e.key, e.cell.kind(), back)
}

// flush writes the inverse of dropping the tables of d: it keeps them.
func (u *Undo) flush(d *Database) {
	u.begin()
	u.log.log = append(u.log.log, opRevert, byte(d.number))
	u.log.number(uint64(len(u.dropped)))
	u.dropped = append(u.dropped, d.tables)
	if u.flushed[d.number] {
		u.held += d.tables.bytes()
	}
	u.flushed[d.number] = true
}

// Undo takes back every change whose inverse u holds, newest first, and leaves
// u empty. See UndoTo.
func (ks *Keyspace) Undo(u *Undo) {
	ks.UndoTo(u, 0)
	u.Reset()
}

// UndoTo takes back the changes made since u.Len was mark, newest first, and
// forgets their inverses. It writes neither effects nor inverses, whatever is
// recorded or armed: what was undone never happened, and whoever recorded
// effects of it drops them with Effects.Truncate.
func (ks *Keyspace) UndoTo(u *Undo, mark int) {
	undo := ks.undo
	ks.undo = nil
	for n := len(u.starts); n > mark; n-- {
		ks.invert(u, u.log.log[u.starts[n-1]:])
		u.truncate(n - 1)
	}
	ks.undo = undo
}

// invert applies one inverse. It fits the keyspace it was written for, so an
// error means that something changed without being written down.
func (ks *Keyspace) invert(u *Undo, inverse []byte) {
	r := reader{rest: inverse}
	c, err := r.next()
	if err == nil && c.op == opRevert {
		ks.Database(c.db).revert(u.dropped[c.at])
		u.dropped[c.at] = nil
		u.dropped = u.dropped[:c.at]
		return
	}
	if err == nil {
		err = ks.apply(&c)
	}
	if err != nil {
		panic("shard: undo: " + err.Error())
	}
}

// revert brings tables back that Flush dropped.
func (d *Database) revert(t *tables) {
	d.tables = t
	d.version++
	if d.watched != nil {
		d.touchAll()
	}
}

// Attempt is a stretch of changes that will be kept or taken back as a whole. It
// may lie within a longer one, or while Undo is armed for other reasons.
type Attempt struct {
	undo    *Undo
	armed   bool // for this attempt alone
	mark    int  // of undo
	bytes   int  // of undo, before
	effects int  // recorded before
}

// Begin begins an attempt. Its inverses go to what is armed, else to spare, which
// must be empty.
func (ks *Keyspace) Begin(spare *Undo) Attempt {
	a := Attempt{undo: ks.undo}
	if a.undo == nil {
		a.undo, a.armed = spare, true
		ks.undo = spare
	}
	a.mark, a.bytes = a.undo.Len(), a.undo.Bytes()
	if ks.effects != nil {
		a.effects = ks.effects.Len()
	}
	return a
}

// Bytes is the memory that the inverses of the attempt take so far, as Undo.Bytes
// counts it.
func (a *Attempt) Bytes() int { return a.undo.Bytes() - a.bytes }

// End keeps the changes of an attempt, or takes them and their effects back.
func (ks *Keyspace) End(a Attempt, keep bool) {
	if !keep {
		ks.UndoTo(a.undo, a.mark)
		if ks.effects != nil {
			ks.effects.Truncate(a.effects)
		}
	}
	if a.armed {
		ks.undo = nil
		a.undo.Reset()
	}
}

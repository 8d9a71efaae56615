package shard

import "fmt"

// Apply replays effects, in order. It never asks the time: a put replaces
// whatever is there, expired or not; a delete, expiry, splice or edit applies to the
// record it names if there is one and to nothing otherwise. So it does not
// matter when each side's wheel frees memory.
//
// Bytes that are no effects, and a splice or edit that does not fit its record, are an
// error; what came before them has been applied. Apply writes inverses when Undo
// is armed, and no effects.
func (ks *Keyspace) Apply(effects []byte) error {
	r := reader{rest: effects}
	for len(r.rest) > 0 {
		at := len(effects) - len(r.rest)
		c, err := r.next()
		if err == nil {
			err = c.check(&ks.seed)
		}
		if err == nil {
			err = ks.apply(&c)
		}
		if err != nil {
			return fmt.Errorf("effect at byte %d: %w", at, err)
		}
	}
	return nil
}

// check finds what no primitive would have written as an effect.
func (c *change) check(seed *Seed) error {
	switch {
	case c.op == opRevert:
		return fmt.Errorf("%w: an inverse", ErrEffects)
	case c.op == opPut && !(c.kind.holds(c.value) && sound(c.kind, c.value)):
		return fmt.Errorf("%w: value is none of kind %d", ErrEffects, c.kind)
	case c.op == opEdit && !c.kind.isCollection():
		return fmt.Errorf("%w: edit of kind %d", ErrEffects, c.kind)
	case c.op == opPut && c.kind.isCollection():
		_, err := decode(seed, c.kind, c.value)
		return err
	}
	return nil
}

// apply makes one change.
func (ks *Keyspace) apply(c *change) error {
	d := ks.Database(c.db)
	if c.op == opFlush {
		d.flush()
		return nil
	}
	e := d.Lookup(c.key)
	switch {
	case c.op == opPut:
		d.put(&e, c.kind, c.when, c.value)
	case e.cell == nil:
	case c.op == opDelete:
		d.remove(&e)
	case c.op == opExpiry:
		d.setExpiry(&e, c.when)
	case c.op == opEdit:
		return d.applyEdit(&e, c)
	case !spliceable(e.cell, c.at, c.remove, c.value):
		return fmt.Errorf("%w: splice of %d bytes for %d at %d", ErrMismatch, len(c.value), c.remove, c.at)
	default:
		d.splice(&e, c.when, c.at, c.remove, c.value)
	}
	return nil
}

// applyEdit makes the change of an edit.
func (d *Database) applyEdit(e *Entry, c *change) error {
	if e.cell.kind() != c.kind {
		return fmt.Errorf("%w: edit of kind %d, the record is of kind %d", ErrMismatch, c.kind, e.cell.kind())
	}
	return d.amend(e, c.value)
}

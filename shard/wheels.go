package shard

import (
	"fmt"

	"github.com/limitstore/limitstore/ttl"
)

// wheels are the timer wheels of a database. Every record with an expiry is in
// one of them. Limiter states have their own, so that what may be given up when
// memory is full is found without passing over what may not.
type wheels struct {
	keys    *ttl.Wheel // what is never given up, by expiry
	limits  *ttl.Wheel // limiter states, by expiry: the first is the closest to as if never seen
	denying *ttl.Wheel // limiter states that deny, by the moment from which they do not
}

// newWheels makes empty wheels over the records of t that stand at now.
func newWheels(t *tables, now int64) wheels {
	return wheels{keys: ttl.New(t, now), limits: ttl.New(t, now), denying: ttl.New(untils{t}, now)}
}

func (w *wheels) all() [3]*ttl.Wheel { return [...]*ttl.Wheel{w.keys, w.limits, w.denying} }

// timed is the number of records in the wheels.
func (w *wheels) timed() int { return w.keys.Len() + w.limits.Len() + w.denying.Len() }

// of is the wheel that a record is in, if it is in any.
func (w *wheels) of(c *cell) *ttl.Wheel {
	switch {
	case !c.kind().limiter():
		return w.keys
	case c.aside():
		return w.denying
	}
	return w.limits
}

// unfile takes a record out of its wheel and forgets whether it denies.
func (w *wheels) unfile(ref uint32, c *cell) {
	w.of(c).Cancel(ref)
	c.node.Owner = 0
}

// checkWheels verifies the wheels.
func (w *wheels) checkWheels() error {
	for i, wheel := range w.all() {
		if err := wheel.Check(); err != nil {
			return fmt.Errorf("wheel %d: %w", i, err)
		}
	}
	return nil
}

// untils are the records as the wheel of those that deny sees them.
type untils struct{ *tables }

// Deadline is when a record stops denying (ttl.Nodes).
func (u untils) Deadline(ref uint32) int64 { return u.arena.cell(ref).until() }

// A limiter's record remembers until when it denies, as told with Deny, in the
// two bytes that its node in the wheel leaves over: 0 when it does not, otherwise
// one more than the time between then and its expiry, in a short form. It is a
// note for MakeRoom, which no answer depends on, and no part of the state: it is neither
// written as an effect nor undone.
const (
	asideBit  = 1 << 15 // the record is in the wheel of those that deny
	shortBits = 9       // of the short form: so many bits and a leading one are exact
)

func (c *cell) aside() bool { return c.node.Owner&asideBit != 0 }

// until is the Unix millisecond from which a record does not deny any more, as
// far as is known; 0 when it never did.
func (c *cell) until() int64 {
	note := c.node.Owner &^ asideBit
	if note == 0 {
		return 0
	}
	return c.when - long(note-1)
}

// note remembers until when the record denies, which is at most a five-hundredth
// of the time from then to its expiry later than until; 0 when it does not.
func (c *cell) note(until int64) {
	c.node.Owner &= asideBit
	if until != 0 {
		c.node.Owner |= short(max(0, c.when-until)) + 1
	}
}

// short is a number of milliseconds in its short form, rounded down.
func short(ms int64) uint16 {
	shift := 0
	for ms>>shift >= 2<<shortBits {
		shift++
	}
	return uint16(shift<<shortBits) + uint16(ms>>shift)
}

// long is the number that a short form stands for.
func long(form uint16) int64 {
	if form < 2<<shortBits {
		return int64(form)
	}
	shift := form>>shortBits - 1
	return int64(form-shift<<shortBits) << shift
}

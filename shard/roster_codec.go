package shard

import "fmt"

// A whole roster is the number of names, then for each the difference of its
// number to that before, the name and, but for a set, the value. A delta is one of
//
//	put     op name value         replace the value, or add the name at the end
//	remove  op name
//	insert  op number name value  put a name back in its place
//
// with values in those of a hash only.
const (
	rosterPut byte = iota + 1
	rosterRemove
	rosterInsert
)

func (r *Roster) encode(to *Effects) {
	to.number(uint64(r.count))
	last := uint64(0)
	for _, block := range r.blocks {
		for i := range block {
			to.number(block[i].number - last)
			r.pair(to, block[i].name(), block[i].value())
			last = block[i].number
		}
	}
}

// pair writes a name and, in a hash, its value.
func (r *Roster) pair(to *Effects, name, value []byte) {
	to.bytes(name)
	if !r.bare {
		to.bytes(value)
	}
}

// readPair reads what pair wrote.
func (r *Roster) readPair(from *reader) (name, value []byte) {
	name = from.bytes(MaxValue)
	if !r.bare {
		value = from.bytes(MaxValue)
	}
	return name, value
}

func (r *Roster) decode(from *reader) error {
	number := uint64(0)
	for n := from.number(uint64(len(from.rest))); n > 0; n-- {
		number += from.number(maxNumber)
		name, value := r.readPair(from)
		switch {
		case from.err != nil:
			return from.err
		case number <= r.last() || number > maxNumber || r.find(name, r.tag(name)).ok:
			return fmt.Errorf("%w: name %d is out of order or there twice", ErrEffects, r.count)
		}
		r.insert(number, name, value)
	}
	return from.err
}

// rosterStep is a delta, read.
type rosterStep struct {
	op          byte
	number      uint64 // of an insert
	name, value []byte
}

func (s *rosterStep) read(r *Roster, delta *reader) {
	s.op = delta.byte()
	if s.op == rosterInsert {
		s.number = delta.number(maxNumber)
	}
	if s.op == rosterRemove {
		s.name = delta.bytes(MaxValue)
	} else {
		s.name, s.value = r.readPair(delta)
	}
	if len(delta.rest) > 0 {
		delta.fail("more than a step")
	}
}

func (r *Roster) edit(delta *reader, back *Effects) error {
	var s rosterStep
	s.read(r, delta)
	if delta.err != nil {
		return delta.err
	}
	return r.step(&s, r.find(s.name, r.tag(s.name)), back)
}

// step makes a step on the name at a place.
func (r *Roster) step(s *rosterStep, at place, back *Effects) error {
	switch {
	case s.op == rosterPut && at.ok:
		r.editValue(at, s.value, back)
	case s.op == rosterPut && r.last() < maxNumber:
		r.editAdd(r.last()+1, s.name, s.value, back)
	case s.op == rosterInsert && !at.ok && s.number > 0 && !r.locate(s.number).ok:
		r.editAdd(s.number, s.name, s.value, back)
	case s.op == rosterRemove && at.ok && r.count > 1:
		r.editRemove(at, back)
	default:
		return fmt.Errorf("%w: step %d on %d names", ErrMismatch, s.op, r.count)
	}
	return nil
}

func (r *Roster) editValue(at place, value []byte, back *Effects) {
	if back != nil {
		back.log = append(back.log, rosterPut)
		r.pair(back, r.item(at).name(), r.item(at).value())
	}
	r.assign(at, value)
}

func (r *Roster) editAdd(number uint64, name, value []byte, back *Effects) {
	if back != nil {
		back.log = append(back.log, rosterRemove)
		back.bytes(name)
	}
	r.insert(number, name, value)
}

func (r *Roster) editRemove(at place, back *Effects) {
	if back != nil {
		i := r.item(at)
		back.log = append(back.log, rosterInsert)
		back.number(i.number)
		r.pair(back, i.name(), i.value())
	}
	r.remove(at)
}

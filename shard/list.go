package shard

import (
	"fmt"
	"iter"
	"unsafe"
)

// List is a sequence of byte strings. Engine reads it; only primitives change it.
// A nil List is empty.
//
// A whole list is the number of its elements, then each. A delta is one of
//
//	splice  op at remove n element*n     as Database.ListSplice
//	drop    op n gap*n                   as Database.ListDrop
//	mend    op n (gap element)*n         put back what drop took
//
// where a gap is how many elements lie between a position and the one before it.
type List struct {
	items  deque
	length int64 // bytes of the elements' contents
}

const (
	listSplice byte = iota + 1
	listDrop
	listMend
)

// packedList is how many bytes of elements Redis keeps in one piece: its
// list-max-listpack-size of -2.
const packedList = 8 << 10

func newList(*Seed) collection { return &List{} }

// Len is the number of elements.
func (l *List) Len() int {
	if l == nil {
		return 0
	}
	return l.items.length
}

// Bytes is the memory taken. The whole value never encodes to more.
func (l *List) Bytes() int64 {
	if l == nil {
		return 0
	}
	return l.bytes()
}

// Packed says whether Redis would keep such elements in one piece.
func (l *List) Packed() bool { return l.length <= packedList }

// At is a view of the element at a position, from 0 to Len-1, valid until the
// next write to the database.
func (l *List) At(i int) []byte { return *l.items.slot(i) }

// Range goes through the elements from position from to to-1. They are views.
func (l *List) Range(from, to int) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for i := from; i < to && yield(i, l.At(i)); i++ {
		}
	}
}

// bytes is the memory of the list (collection).
func (l *List) bytes() int64 { return int64(unsafe.Sizeof(*l)) + l.items.bytes() }

func (l *List) encode(to *Effects) {
	to.number(uint64(l.Len()))
	for _, v := range l.Range(0, l.Len()) {
		to.bytes(v)
	}
}

func (l *List) decode(from *reader) error {
	for n := from.number(uint64(len(from.rest))); n > 0; n-- {
		v := from.bytes(MaxValue)
		if from.err != nil {
			return from.err
		}
		l.insert(l.Len(), v)
	}
	return from.err
}

func (l *List) insert(at int, values ...[]byte) {
	for _, v := range values {
		l.length += int64(len(v))
	}
	l.items.insert(at, values)
}

func (l *List) remove(at, n int) {
	for _, v := range l.Range(at, at+n) {
		l.length -= int64(len(v))
	}
	l.items.remove(at, n)
}

func (l *List) edit(delta *reader, back *Effects) error {
	switch op := delta.byte(); op {
	case listSplice:
		return l.editSplice(delta, back)
	case listDrop:
		return l.editDrop(delta, back)
	case listMend:
		return l.editMend(delta, back)
	default:
		return fmt.Errorf("%w: step %d on a list", ErrEffects, op)
	}
}

// elements reads a number and as many elements.
func elements(from *reader) (all [][]byte) {
	for n := from.number(uint64(len(from.rest))); n > 0 && from.err == nil; n-- {
		all = append(all, from.bytes(MaxValue))
	}
	return all
}

// end makes sure that a delta was read to its end.
func (r *reader) end() error {
	if len(r.rest) > 0 {
		r.fail("more than a step")
	}
	return r.err
}

func (l *List) editSplice(delta *reader, back *Effects) error {
	at, remove := int(delta.number(MaxValue)), int(delta.number(MaxValue))
	insert := elements(delta)
	if err := delta.end(); err != nil {
		return err
	}
	if at > l.Len() || remove > l.Len()-at || l.Len()-remove+len(insert) == 0 {
		return fmt.Errorf("%w: %d for %d of %d at %d", ErrMismatch, len(insert), remove, l.Len(), at)
	}
	if back != nil {
		back.log = append(back.log, listSplice)
		back.number(uint64(at))
		back.number(uint64(len(insert)))
		back.number(uint64(remove))
		for _, v := range l.Range(at, at+remove) {
			back.bytes(v)
		}
	}
	// What takes the place of something is written over it, so that only the
	// difference moves what follows.
	over := min(remove, len(insert))
	for i, v := range insert[:over] {
		l.length += int64(len(v) - len(l.At(at+i)))
		l.items.assign(at+i, v)
	}
	l.remove(at+over, remove-over)
	l.insert(at+over, insert[over:]...)
	return nil
}

// positions reads gaps as ascending positions below limit.
func positions(from *reader, limit int, each func()) (all []int) {
	next := uint64(0)
	for n := from.number(uint64(len(from.rest))); n > 0 && from.err == nil; n-- {
		next += from.number(MaxValue)
		if next >= uint64(limit) {
			from.fail("a position beyond the end")
		}
		all = append(all, int(next))
		next++
		if each != nil {
			each()
		}
	}
	return all
}

func (l *List) editDrop(delta *reader, back *Effects) error {
	drop := positions(delta, l.Len(), nil)
	if err := delta.end(); err != nil {
		return fmt.Errorf("%w: %w", ErrMismatch, err)
	}
	if len(drop) == l.Len() || len(drop) == 0 {
		return fmt.Errorf("%w: drop of %d of %d elements", ErrMismatch, len(drop), l.Len())
	}
	if back != nil {
		back.log = append(back.log, listMend)
		back.number(uint64(len(drop)))
		for i, at := range drop {
			back.number(uint64(gap(drop, i)))
			back.bytes(l.At(at))
		}
	}
	// The rest closes up, then what was dropped is at the end and goes.
	dropped := make([][]byte, 0, len(drop))
	to := drop[0]
	for i := to; i < l.Len(); i++ {
		if len(dropped) < len(drop) && drop[len(dropped)] == i {
			dropped = append(dropped, l.At(i))
			continue
		}
		*l.items.slot(to) = l.At(i)
		to++
	}
	for i, v := range dropped {
		*l.items.slot(to + i) = v
	}
	l.remove(to, len(dropped))
	return nil
}

// gap is what lies between the i-th of ascending positions and the one before.
func gap(all []int, i int) int {
	if i == 0 {
		return all[0]
	}
	return all[i] - all[i-1] - 1
}

func (l *List) editMend(delta *reader, back *Effects) error {
	var lost [][]byte
	most := l.Len() + len(delta.rest)
	at := positions(delta, most, func() { lost = append(lost, delta.bytes(MaxValue)) })
	if err := delta.end(); err != nil {
		return err
	}
	if len(at) == 0 || at[len(at)-1] >= l.Len()+len(at) {
		return fmt.Errorf("%w: mending %d elements", ErrMismatch, l.Len())
	}
	if back != nil {
		back.log = append(back.log, listDrop)
		back.number(uint64(len(at)))
		for i := range at {
			back.number(uint64(gap(at, i)))
		}
	}
	// They are put at the end, then the rest moves back to let them in.
	n := l.Len()
	l.insert(n, lost...)
	for i := range lost {
		lost[i] = l.At(n + i)
	}
	from, left := n-1, len(at)-1
	for to := l.Len() - 1; left >= 0; to-- {
		if at[left] == to {
			*l.items.slot(to) = lost[left]
			left--
			continue
		}
		*l.items.slot(to) = l.At(from)
		from--
	}
	return nil
}

// check verifies a list (collection).
func (l *List) check() error {
	length := int64(0)
	for _, v := range l.Range(0, l.Len()) {
		length += int64(len(v))
	}
	if length != l.length {
		return fmt.Errorf("elements of %d bytes, the list says %d", length, l.length)
	}
	return l.items.check()
}

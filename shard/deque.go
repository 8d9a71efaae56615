package shard

import "fmt"

// deque is a sequence of byte strings in chunks: constant time at both ends and
// by position; in the middle it moves what lies on the shorter side. It owns what
// is in it. The zero value is empty and ready.
//
// A chunk has room for chunkRoom elements; a lone one may be smaller. Elements lie
// in them without gaps, from head of the first chunk on.
type deque struct {
	table  [][][]byte // the chunks, from first on
	first  int
	head   int
	length int
	held   int64 // bytes of the elements
}

const (
	chunkRoom  = 128 // a power of two
	leastRoom  = 4
	headerSlot = 24 // bytes of a slice's header
)

// slot is where the element at a position is kept.
func (q *deque) slot(i int) *[]byte {
	at := q.head + i
	return &q.table[q.first+at/chunkRoom][at%chunkRoom]
}

// chunks is the number of chunks in use.
func (q *deque) chunks() int { return len(q.table) - q.first }

// room is how many elements fit from the beginning of the first chunk on.
func (q *deque) room() int {
	switch q.chunks() {
	case 0:
		return 0
	case 1:
		return len(q.table[q.first])
	}
	return q.chunks() * chunkRoom
}

// bytes is the memory of chunks and elements.
func (q *deque) bytes() int64 {
	return q.held + headerSlot*int64(q.room()+cap(q.table))
}

// openFront makes room for one more element at the front.
func (q *deque) openFront() {
	if q.head == 0 {
		if q.room() < chunkRoom {
			q.alone(true)
		} else {
			q.addFront()
		}
	}
	q.head--
	q.length++
}

// openBack makes room for one more element at the back.
func (q *deque) openBack() {
	if q.head+q.length == q.room() {
		if q.room() < chunkRoom {
			q.alone(false)
		} else {
			q.addBack()
		}
	}
	q.length++
}

// alone gives the lone chunk, or none, free slots at both ends, more of them at
// the end asked for. It doubles a chunk that is more than half full.
func (q *deque) alone(front bool) {
	size := max(q.room(), leastRoom)
	if q.length > size/2 {
		size *= 2
	}
	head := (size - q.length) / 4
	if front {
		head = size - q.length - head
	}
	q.resize(size, head)
}

// resize moves the elements of the lone chunk to one of another size.
func (q *deque) resize(size, head int) {
	fresh := make([][]byte, size)
	for i := range q.length {
		fresh[head+i] = *q.slot(i)
	}
	q.table, q.first, q.head = [][][]byte{fresh}, 0, head
}

// addFront puts an empty chunk before the first.
func (q *deque) addFront() {
	if q.first == 0 {
		free := len(q.table)/2 + 1
		grown := make([][][]byte, free+len(q.table))
		copy(grown[free:], q.table)
		q.table, q.first = grown, free
	}
	q.first--
	q.table[q.first] = make([][]byte, chunkRoom)
	q.head = chunkRoom
}

// addBack puts an empty chunk after the last.
func (q *deque) addBack() {
	if len(q.table) == cap(q.table) && q.first > len(q.table)/2 {
		n := copy(q.table, q.table[q.first:])
		clear(q.table[n:])
		q.table, q.first = q.table[:n], 0
	}
	q.table = append(q.table, make([][]byte, chunkRoom))
}

// closeFront drops the slot of the first element.
func (q *deque) closeFront() {
	*q.slot(0) = nil
	q.head++
	q.length--
	if q.head == len(q.table[q.first]) {
		q.table[q.first] = nil
		q.first++
		q.head = 0
	}
	q.tidy()
}

// closeBack drops the slot of the last element.
func (q *deque) closeBack() {
	*q.slot(q.length - 1) = nil
	q.length--
	if q.chunks() > 1 && q.head+q.length <= (q.chunks()-1)*chunkRoom {
		q.table[len(q.table)-1] = nil
		q.table = q.table[:len(q.table)-1]
	}
	q.tidy()
}

// tidy gives back the memory of a deque that became short.
func (q *deque) tidy() {
	switch size := q.room(); {
	case q.length == 0:
		q.table, q.first, q.head = nil, 0, 0
	case q.chunks() == 1 && size > leastRoom && q.length <= size/4:
		q.resize(size/2, size/8)
	case q.chunks() > 1 && q.chunks() < cap(q.table)/4:
		q.table, q.first = append([][][]byte(nil), q.table[q.first:]...), 0
	}
}

// insert puts copies of values before position at.
func (q *deque) insert(at int, values [][]byte) {
	n := len(values)
	if at <= q.length/2 {
		for range n {
			q.openFront()
		}
		for i := range at {
			*q.slot(i) = *q.slot(i + n)
		}
	} else {
		for range n {
			q.openBack()
		}
		for i := q.length - 1; i >= at+n; i-- {
			*q.slot(i) = *q.slot(i - n)
		}
	}
	for i, v := range values {
		*q.slot(at + i) = q.own(v)
	}
}

// own is a copy of a value, counted.
func (q *deque) own(value []byte) []byte {
	value = append([]byte(nil), value...)
	q.held += int64(cap(value))
	return value
}

// assign replaces the element at a position.
func (q *deque) assign(at int, value []byte) {
	s := q.slot(at)
	q.held -= int64(cap(*s))
	*s = q.own(value)
}

// remove drops n elements from position at on.
func (q *deque) remove(at, n int) {
	for i := range n {
		q.held -= int64(cap(*q.slot(at + i)))
	}
	if at < q.length-at-n {
		for i := at - 1; i >= 0; i-- {
			*q.slot(i + n) = *q.slot(i)
		}
		for range n {
			q.closeFront()
		}
		return
	}
	for i := at; i+n < q.length; i++ {
		*q.slot(i) = *q.slot(i + n)
	}
	for range n {
		q.closeBack()
	}
}

// check verifies a deque.
func (q *deque) check() error {
	held, used := int64(0), 0
	for i := range q.length {
		held += int64(cap(*q.slot(i)))
	}
	for c, chunk := range q.table {
		if (chunk == nil) != (c < q.first) || chunk != nil && len(chunk) != chunkRoom && q.chunks() > 1 {
			return fmt.Errorf("chunk %d of %d has room for %d, the first is %d", c, len(q.table), len(chunk), q.first)
		}
		for _, v := range chunk {
			if cap(v) > 0 {
				used++
			}
		}
	}
	if held != q.held || used > q.length || q.head+q.length > q.room() || q.head+q.length <= q.room()-chunkRoom {
		return fmt.Errorf("%d elements from %d on in room for %d, %d bytes, it says %d", q.length, q.head, q.room(), held, q.held)
	}
	return nil
}

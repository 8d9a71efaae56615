package ttl

import "math/bits"

// Front calls fn with n ids of the earliest slots, slot by slot and in no particular order within one, or with fewer when
// fn returns false or there are no more. An id whose deadline has moved beyond its slot is late: it is filed again on the
// way, and comes up once more if its new slot does. fn may cancel the id it is given and must do nothing else to this
// wheel.
//
// What Front shows first, apart from what is late, is what falls due first, to within the width of a slot: no id that it
// did not get to is filed in an earlier slot than one it did. What is past due comes before all else.
func (w *Wheel) Front(n int, fn func(id uint32, late bool) (more bool)) {
	for level := 1; level < levels && n > 0; level++ {
		if digit := w.now.digit(level); w.filled[level]>>digit&1 != 0 {
			n = w.show(placeAt(level, digit), n, fn) // a budget left it half emptied: see earliest
		}
	}
	for level := range levels {
		first := w.now.digit(level) + min(level, 1)
		for n > 0 && w.filled[level]>>first != 0 {
			first += bits.TrailingZeros64(w.filled[level] >> first)
			n = w.show(placeAt(level, first), n, fn)
			first++
		}
	}
}

// show hands out the ids of one slot and returns how many more may be, 0 once fn wants no more.
func (w *Wheel) show(p place, n int, fn func(id uint32, late bool) bool) int {
	end := p.end(w.now)
	for id := w.heads[p]; id != 0 && n > 0; n-- {
		next := w.nodes.Node(id).next
		late := w.due(id) > end
		if late {
			w.Schedule(id)
		}
		if !fn(id, late) {
			return 0
		}
		id = next
	}
	return n
}

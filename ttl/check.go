package ttl

import "fmt"

// Check verifies the whole structure and returns the first broken invariant it finds, nil when there is none. It visits
// every scheduled id and is meant for tests.
func (w *Wheel) Check() error {
	seen, entered := 0, 0
	for slot, head := range w.heads {
		p := place(slot)
		if inUse := w.filled[p.level()]>>p.digit()&1 != 0; inUse != (head != 0) {
			return fmt.Errorf("level %d slot %d: bitmap says in use %t, head is %d", p.level(), p.digit(), inUse, head)
		}
		if head == 0 {
			continue
		}
		if p.level() > 0 && p.digit() == w.now.digit(p.level()) {
			entered++
		}
		n, err := w.checkSlot(p)
		if err != nil {
			return fmt.Errorf("level %d slot %d: %w", p.level(), p.digit(), err)
		}
		seen += n
	}
	if seen != w.count {
		return fmt.Errorf("%d ids in the slots, count says %d", seen, w.count)
	}
	if entered > 1 {
		return fmt.Errorf("%d slots above level 0 are half emptied, there can be only one", entered)
	}
	return w.checkLevels()
}

// checkSlot walks the list of p and returns its length. It ends on any damage: in a cycle some id would be reached from
// two others, and its link back can name only one.
func (w *Wheel) checkSlot(p place) (int, error) {
	if p.digit() < w.now.digit(p.level()) {
		return 0, fmt.Errorf("in use behind the wheel's tick %d", w.now.tick())
	}
	count, before := 0, uint32(0)
	for id := w.heads[p]; id != 0; count++ {
		n := w.nodes.Node(id)
		switch {
		case n.slot != uint16(p)+1:
			return 0, fmt.Errorf("id %d says slot %d, is in %d", id, n.slot, p+1)
		case n.prev != before:
			return 0, fmt.Errorf("id %d says %d is before it, it is %d", id, n.prev, before)
		case w.due(id) < p.start(w.now):
			return 0, fmt.Errorf("id %d is due at %d, before its slot begins at %d", id, w.due(id).tick(), p.start(w.now).tick())
		}
		before, id = id, n.next
	}
	return count, nil
}

func (w *Wheel) checkLevels() error {
	for level, filled := range w.filled {
		if inUse := w.inUse>>level&1 != 0; inUse != (filled != 0) {
			return fmt.Errorf("level %d: in use says %t, its bitmap is %#x", level, inUse, filled)
		}
	}
	return nil
}

// Package ttl is a hierarchical timer wheel: it remembers which of its caller's records falls due when, and hands back
// those that are due, a bounded number at a time.
//
// Its caller is a shard, which keeps one wheel per database, pulls it with [Wheel.Advance] between two batches of
// commands and may sleep until [Wheel.Next]. The links live in the caller's own records (a 12-byte [Node] without Go
// pointers), and records are named by number, so ten million scheduled keys are nothing the garbage collector has to
// walk.
//
// The package never reads a clock, starts no goroutine and takes no lock: time is an argument, and one goroutine at a
// time owns a wheel. It knows nothing of what a record is. The wheel is garbage collection: whoever reads a record
// decides from its deadline whether it is still there, and the wheel only says when its memory can go.
//
// # How it works
//
// Eleven levels of 64 slots, a slot of level L being 64^L ticks wide. A deadline is filed by the highest base-64 digit
// in which it differs from the wheel's time. When time reaches a slot, what is due in it expires and the rest is filed
// again lower down. One bitmap per level finds the next slot in use without scanning, so a jump over years costs as
// much as one tick.
//
// A deadline that moves later leaves its node where it is: the slot comes due first, the node is found not to be due
// and is filed again. A limiter key is written far more often than it expires, and this makes each of those writes
// arithmetic on its own record.
package ttl

import "math/bits"

// RefileLimit is the most nodes that one [Wheel.Advance] files again because their slot came due before they did. It is
// the bound on the work of an Advance beside its budget of expirations: each such node costs about as much as
// a Schedule.
const RefileLimit = 512

// Node is a record's place in a wheel. It lives in the caller's memory, one per record; its zero value is "not
// scheduled". It may be copied to another address as long as it stays reachable under the same id.
type Node struct {
	prev, next uint32
	slot       uint16 // the place it is linked into plus one; 0 when it is in no slot

	// Owner belongs to the caller, who gets the two bytes that alignment would waste. The wheel never touches it.
	Owner uint16
}

// Nodes is the caller's memory. Ids are the caller's too; 0 stands for no record and is never asked for.
type Nodes interface {
	// Node returns the node of a record. The wheel does not keep the pointer across calls.
	Node(id uint32) *Node
	// Deadline returns the tick at which a record falls due. A tick is whatever the caller counts in; shards count
	// Unix milliseconds. Any int64 is allowed.
	Deadline(id uint32) int64
}

// Wheel holds scheduled ids by deadline. Make one with [New]. It is not safe for concurrent use.
type Wheel struct {
	nodes Nodes
	// now is how far the wheel has got: nothing is filed before it, and what was due before it waits in its slot of
	// level 0.
	now    moment
	count  int
	inUse  uint16 // bit L: level L holds a node
	filled [levels]uint64
	heads  [levels * perLevel]uint32
}

// New returns an empty wheel over nodes that stands at tick now.
func New(nodes Nodes, now int64) *Wheel {
	return &Wheel{nodes: nodes, now: momentOf(now)}
}

// Len is the number of scheduled ids.
func (w *Wheel) Len() int { return w.count }

// Scheduled says whether id is in the wheel.
func (w *Wheel) Scheduled(id uint32) bool { return w.nodes.Node(id).slot != 0 }

// Schedule puts id into the wheel by its deadline, in constant time. A deadline in the past is due at the next Advance.
// An id already scheduled is moved. It panics on id 0, which would corrupt the lists.
func (w *Wheel) Schedule(id uint32) {
	if id == 0 {
		panic("ttl: Schedule of id 0, which means no record")
	}
	n := w.nodes.Node(id)
	if n.slot != 0 {
		w.unlink(n)
	}
	w.link(id, n, w.due(id))
}

// Cancel takes id out of the wheel, in constant time. Of an id that is not scheduled it does nothing.
func (w *Wheel) Cancel(id uint32) {
	if n := w.nodes.Node(id); n.slot != 0 {
		w.unlink(n)
	}
}

// Update tells the wheel that the deadline of id changed. Later than its slot begins it stays where it is and no other
// record is touched: it is filed again when the slot comes due. Earlier, it moves. An id not scheduled is scheduled.
func (w *Wheel) Update(id uint32) {
	n := w.nodes.Node(id)
	if n.slot == 0 || w.due(id) < place(n.slot-1).start(w.now) {
		w.Schedule(id)
	}
}

// Advance moves the wheel towards tick now and calls expire for ids whose deadline is at or before now, at most budget
// of them, in no particular order. done counts the calls. An id is out of the wheel before expire sees it, so expire
// may free the record, and it may schedule, update or cancel any id, its own included; it must not call Advance. An id
// it schedules at or before now is due in the same Advance, as far as the budget goes.
//
// At most [RefileLimit] nodes that are not due yet are filed again on the way. When either bound stops it, more is
// true: there is work left at this now, and the next Advance resumes where this one stopped. When more is false no
// scheduled id has a deadline at or before now.
//
// No id is handed to expire before its deadline. The wheel's time never decreases: a now before it counts as the
// wheel's time.
func (w *Wheel) Advance(now int64, budget int, expire func(id uint32)) (done int, more bool) {
	target := max(momentOf(now), w.now)
	refile := RefileLimit
	for {
		p, ok := w.reach(target)
		if !ok {
			return done, false
		}
		id := w.heads[p]
		due := w.due(id) <= target
		switch {
		case due && done < budget:
			done++
			w.unlink(w.nodes.Node(id))
			expire(id)
		case !due && refile > 0:
			refile--
			w.Schedule(id)
		default:
			return done, true
		}
	}
}

// Next returns the earliest tick at which Advance has work, in constant time: never later than the first expiry, but
// it can be earlier, when all that awaits there is nodes to be filed again. Work left over by a budget, or due by a
// deadline in the past, gives a tick at or before the wheel's time. ok is false when nothing is scheduled.
func (w *Wheel) Next() (tick int64, ok bool) {
	p, ok := w.earliest()
	if !ok {
		return 0, false
	}
	return p.start(w.now).tick(), true
}

// reach finds the first slot in use that begins at or before target and brings the wheel's time into it. With no such
// slot the time becomes target and ok is false.
func (w *Wheel) reach(target moment) (p place, ok bool) {
	p, ok = w.earliest()
	if !ok || p.start(w.now) > target {
		w.now = target
		return 0, false
	}
	// All levels below a slot that lies ahead are empty, so time may go to the slot's end at once: what is filed again
	// from it then lands where it belongs as of target, however many ticks lie between. In a slot that time has already
	// entered other nodes may have been filed lower down since, and time must stay.
	if p.digit() != w.now.digit(p.level()) {
		w.now = min(p.end(w.now), target)
	}
	return p, true
}

// earliest finds the slot in use that begins first. A slot that time has entered comes before all others: level 0's
// holds what is past due, and a higher one (there is at most one) is a slot that a budget left half emptied, whose ids
// may be due at any tick of the lower levels.
func (w *Wheel) earliest() (p place, ok bool) {
	for m := w.inUse; m != 0; m &= m - 1 {
		level := bits.TrailingZeros16(m)
		digit := w.now.digit(level)
		ahead := w.filled[level] >> digit
		if ahead&1 != 0 {
			return placeAt(level, digit), true
		}
		if !ok {
			p, ok = placeAt(level, digit+bits.TrailingZeros64(ahead)), true
		}
	}
	return p, ok
}

// due is the moment by which id is filed: its deadline, or the wheel's time when that has passed.
func (w *Wheel) due(id uint32) moment { return max(momentOf(w.nodes.Deadline(id)), w.now) }

func (w *Wheel) link(id uint32, n *Node, when moment) {
	p := placeFor(w.now, when)
	head := w.heads[p]
	if head != 0 {
		w.nodes.Node(head).prev = id
	}
	n.prev, n.next, n.slot = 0, head, uint16(p)+1
	w.heads[p] = id
	w.filled[p.level()] |= 1 << p.digit()
	w.inUse |= 1 << p.level()
	w.count++
}

func (w *Wheel) unlink(n *Node) {
	p := place(n.slot - 1)
	if n.next != 0 {
		w.nodes.Node(n.next).prev = n.prev
	}
	if n.prev != 0 {
		w.nodes.Node(n.prev).next = n.next
	} else {
		w.heads[p] = n.next
		if n.next == 0 {
			w.vacate(p)
		}
	}
	n.prev, n.next, n.slot = 0, 0, 0
	w.count--
}

// vacate clears the bitmaps' record of a slot that has become empty.
func (w *Wheel) vacate(p place) {
	w.filled[p.level()] &^= 1 << p.digit()
	if w.filled[p.level()] == 0 {
		w.inUse &^= 1 << p.level()
	}
}

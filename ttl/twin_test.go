package ttl

import (
	"cmp"
	"math"
	"slices"
)

// records is the caller's memory: one node and one deadline per id, id 0 unused.
type records struct {
	nodes     []Node
	deadlines []int64
}

func newRecords(n int) *records {
	return &records{nodes: make([]Node, n+1), deadlines: make([]int64, n+1)}
}

func (r *records) Node(id uint32) *Node     { return &r.nodes[id] }
func (r *records) Deadline(id uint32) int64 { return r.deadlines[id] }

// failer is what *testing.T and *rapid.T share.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

type booking struct {
	deadline int64
	id       uint32
}

// twin drives a wheel and the plainest thing that could do its job, a sorted slice, side by side.
type twin struct {
	failer
	*records
	wheel  *Wheel
	now    int64
	sorted []booking
}

// twinIDs is small enough that no Advance of a twin can meet RefileLimit: each node is filed again at most once per
// level.
const twinIDs = 32

func newTwin(f failer, now int64) *twin {
	r := newRecords(twinIDs)
	return &twin{failer: f, records: r, wheel: New(r, now), now: now}
}

func (tw *twin) find(id uint32) int {
	return slices.IndexFunc(tw.sorted, func(b booking) bool { return b.id == id })
}

func (tw *twin) drop(id uint32) {
	if i := tw.find(id); i >= 0 {
		tw.sorted = slices.Delete(tw.sorted, i, i+1)
	}
}

func (tw *twin) book(id uint32, deadline int64) {
	tw.drop(id)
	tw.deadlines[id] = deadline
	tw.sorted = append(tw.sorted, booking{deadline, id})
	slices.SortFunc(tw.sorted, func(a, b booking) int { return cmp.Compare(a.deadline, b.deadline) })
}

func (tw *twin) schedule(id uint32, deadline int64) {
	tw.book(id, deadline)
	tw.wheel.Schedule(id)
}

func (tw *twin) update(id uint32, deadline int64) {
	tw.book(id, deadline)
	tw.wheel.Update(id)
}

func (tw *twin) cancel(id uint32) {
	tw.drop(id)
	tw.wheel.Cancel(id)
}

// advance moves both to now and compares; during, if not nil, runs in every callback.
func (tw *twin) advance(now int64, budget int, during func(id uint32)) (more bool) {
	tw.Helper()
	tw.now = now
	calls := 0
	done, more := tw.wheel.Advance(now, budget, func(id uint32) {
		calls++
		switch i := tw.find(id); {
		case i < 0:
			tw.Fatalf("id %d expired, it was not scheduled", id)
		case tw.sorted[i].deadline > now:
			tw.Fatalf("id %d expired at %d, before its deadline %d", id, now, tw.sorted[i].deadline)
		case tw.wheel.Scheduled(id):
			tw.Fatalf("id %d is in the wheel while it expires", id)
		}
		tw.drop(id)
		if during != nil {
			during(id)
		}
	})
	left := len(tw.sorted) > 0 && tw.sorted[0].deadline <= now
	switch {
	case done != calls || done > max(budget, 0):
		tw.Fatalf("%d calls, done says %d, the budget was %d", calls, done, budget)
	case more && done < budget:
		tw.Fatalf("stopped after %d of a budget of %d", done, budget)
	case more != left:
		tw.Fatalf("at %d more is %t, the earliest of %v says %t", now, more, tw.sorted, left)
	}
	return more
}

// quiet compares Next with the earliest deadline, and goes to one tick before it, where nothing may fire.
func (tw *twin) quiet() {
	tw.Helper()
	next, ok := tw.wheel.Next()
	if ok != (len(tw.sorted) > 0) {
		tw.Fatalf("Next says %t with %d scheduled", ok, len(tw.sorted))
	}
	if !ok {
		return
	}
	if earliest := max(tw.sorted[0].deadline, tw.now); next > earliest {
		tw.Fatalf("Next is %d, later than the earliest expiry %d", next, earliest)
	}
	if next == math.MinInt64 || next-1 < tw.now {
		return
	}
	tw.advance(next-1, math.MaxInt, func(id uint32) {
		tw.Fatalf("id %d expired before Next %d", id, next)
	})
}

// check compares what both hold.
func (tw *twin) check() {
	tw.Helper()
	if err := tw.wheel.Check(); err != nil {
		tw.Fatalf("check: %v", err)
	}
	if tw.wheel.Len() != len(tw.sorted) {
		tw.Fatalf("Len is %d, want %d", tw.wheel.Len(), len(tw.sorted))
	}
	for id := uint32(1); id <= twinIDs; id++ {
		if got, want := tw.wheel.Scheduled(id), tw.find(id) >= 0; got != want {
			tw.Fatalf("Scheduled(%d) is %t, want %t", id, got, want)
		}
	}
}

// later is now+d, stopping at the greatest tick instead of wrapping.
func later(now, d int64) int64 {
	if d > 0 && now > math.MaxInt64-d {
		return math.MaxInt64
	}
	if d < 0 && now < math.MinInt64-d {
		return math.MinInt64
	}
	return now + d
}

package ttl

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// fill returns a wheel at tick now with one record per deadline, ids from 1 on.
func fill(now int64, deadlines ...int64) (*Wheel, *records) {
	r := newRecords(len(deadlines))
	w := New(r, now)
	for i, d := range deadlines {
		r.deadlines[i+1] = d
		w.Schedule(uint32(i + 1))
	}
	return w, r
}

// fired advances w and returns the ids that expire, sorted.
func fired(w *Wheel, now int64, budget int) (ids []uint32, more bool) {
	_, more = w.Advance(now, budget, func(id uint32) { ids = append(ids, id) })
	slices.Sort(ids)
	return ids, more
}

func wantFired(t *testing.T, w *Wheel, now int64, want ...uint32) {
	t.Helper()
	if ids, more := fired(w, now, math.MaxInt); !slices.Equal(ids, want) || more {
		t.Fatalf("at %d expired %v (more %t), want %v", now, ids, more, want)
	}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
}

func TestAdvanceFiresOnTheTickAndNotBefore(t *testing.T) {
	for bit := range 62 {
		deadline := int64(1000) + 1<<bit
		w, _ := fill(1000, deadline)
		wantFired(t, w, deadline-1)
		wantFired(t, w, deadline, 1)
		wantFired(t, w, deadline)
	}
}

func TestPastDeadlineIsDueAtOnce(t *testing.T) {
	w, _ := fill(1000, 1000, 999, 0, -5, math.MinInt64)
	if next, ok := w.Next(); !ok || next != 1000 {
		t.Fatalf("Next is %d, %t; want the wheel's own tick 1000", next, ok)
	}
	wantFired(t, w, 1000, 1, 2, 3, 4, 5)
}

func TestExtremeDeadlinesHaveASlot(t *testing.T) {
	w, _ := fill(math.MinInt64, math.MaxInt64, math.MaxInt64-1, 1<<53, 1<<60, 0, math.MinInt64+1)
	wantFired(t, w, math.MinInt64)
	wantFired(t, w, math.MinInt64+1, 6)
	wantFired(t, w, 1<<53, 3, 5)
	wantFired(t, w, math.MaxInt64-1, 2, 4)
	wantFired(t, w, math.MaxInt64, 1)
}

func TestEarlierNowCountsAsTheWheelsTime(t *testing.T) {
	w, r := fill(1000)
	wantFired(t, w, 5000)
	r.nodes, r.deadlines = make([]Node, 3), []int64{0, 4000, 5001}
	w.Schedule(1)
	w.Schedule(2)
	wantFired(t, w, 10, 1)
	wantFired(t, w, 5000)
	wantFired(t, w, 5001, 2)
}

func TestBudgetStopsAndResumes(t *testing.T) {
	w, _ := fill(0, 10, 10, 10, 20, 5000, 5001, 9000)
	var all []uint32
	for want := range 3 {
		ids, more := fired(w, 6000, 2)
		if len(ids) != 2 || more != (want < 2) {
			t.Fatalf("call %d expired %v, more %t", want, ids, more)
		}
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
		all = append(all, ids...)
	}
	slices.Sort(all)
	if !slices.Equal(all, []uint32{1, 2, 3, 4, 5, 6}) {
		t.Fatalf("expired %v, want 1 to 6 once each", all)
	}
}

func TestLeftOverWorkIsNextWhateverWasScheduledSince(t *testing.T) {
	w, r := fill(0, 5000, 5000, 5000)
	r.nodes, r.deadlines = append(r.nodes, Node{}), append(r.deadlines, 5003)
	if ids, more := fired(w, 5001, 1); len(ids) != 1 || !more {
		t.Fatalf("expired %v, more %t; want one, and more", ids, more)
	}
	w.Schedule(4)
	if next, ok := w.Next(); !ok || next > 5001 {
		t.Fatalf("Next is %d, while ids are left that were due at 5000", next)
	}
	if ids, more := fired(w, 5001, 9); len(ids) != 2 || more {
		t.Fatalf("expired %v, more %t; want the two left over", ids, more)
	}
	wantFired(t, w, 5003, 4)
}

func TestRefilingIsBoundedAndResumes(t *testing.T) {
	deadlines := make([]int64, 3*RefileLimit)
	for i := range deadlines {
		deadlines[i] = 64*64 + 64*64/2 // on level 2, due in the second half of its slot
	}
	w, _ := fill(0, deadlines...)
	for call := range 4 {
		done, more := w.Advance(64*64, 256, func(id uint32) { t.Fatalf("id %d expired early", id) })
		if done != 0 || more != (call < 2) {
			t.Fatalf("call %d: done %d, more %t", call, done, more)
		}
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
	}
	ids, more := fired(w, 64*64+64*64/2, len(deadlines))
	if len(ids) != len(deadlines) || more {
		t.Fatalf("%d of %d expired, more %t", len(ids), len(deadlines), more)
	}
}

func TestRefilingGoesOnWhenTheBudgetOfExpirationsIsSpent(t *testing.T) {
	w, _ := fill(0, 100, 100, 70)
	ids, more := fired(w, 70, 1)
	if !slices.Equal(ids, []uint32{3}) || more {
		t.Fatalf("expired %v, more %t; want 3 and no work left", ids, more)
	}
}

func TestJumpFilesAgainOnlyOnce(t *testing.T) {
	const deadline = 0x123456789abcd
	deadlines := make([]int64, RefileLimit)
	for i := range deadlines {
		deadlines[i] = deadline
	}
	w, _ := fill(0, deadlines...)
	if ids, more := fired(w, deadline-1, 1); len(ids) != 0 || more {
		t.Fatalf("expired %v, more %t; want all filed again within one limit", ids, more)
	}
}

func TestJumpOverYearsTouchesOnlyWhatIsScheduled(t *testing.T) {
	const year = 365 * 24 * 3600 * 1000
	r := &counted{records: newRecords(3)}
	w := New(r, 0)
	r.deadlines = []int64{0, 50 * year, 90 * year, 101 * year}
	for id := range uint32(3) {
		w.Schedule(id + 1)
	}
	r.asked = 0
	if ids, more := fired(w, 100*year, 9); !slices.Equal(ids, []uint32{1, 2}) || more {
		t.Fatalf("expired %v, more %t", ids, more)
	}
	if limit := 3 * 2 * levels; r.asked > limit {
		t.Fatalf("a jump with 3 ids read %d deadlines, want at most %d", r.asked, limit)
	}
	wantFired(t, w, 101*year, 3)
}

// counted counts how often a deadline is read.
type counted struct {
	*records
	asked int
}

func (c *counted) Deadline(id uint32) int64 { c.asked++; return c.records.Deadline(id) }

func TestUpdateLaterTouchesNoOtherNode(t *testing.T) {
	w, r := fill(0, 100, 100, 100)
	before := slices.Clone(r.nodes)
	r.deadlines[2] = 1 << 40
	w.Update(2)
	if !slices.Equal(r.nodes, before) {
		t.Fatalf("nodes changed from %v to %v", before, r.nodes)
	}
	wantFired(t, w, 200, 1, 3)
	wantFired(t, w, 1<<40, 2)
}

func TestUpdateEarlierMoves(t *testing.T) {
	w, r := fill(0, 1<<40)
	r.deadlines[1] = 7
	w.Update(1)
	wantFired(t, w, 6)
	wantFired(t, w, 7, 1)
}

func TestUpdateOfUnscheduledSchedules(t *testing.T) {
	w, r := fill(0)
	r.nodes, r.deadlines = make([]Node, 2), []int64{0, 9}
	w.Update(1)
	wantFired(t, w, 9, 1)
}

func TestScheduleTwiceMoves(t *testing.T) {
	w, r := fill(0, 5)
	r.deadlines[1] = 500
	w.Schedule(1)
	if w.Len() != 1 {
		t.Fatalf("Len is %d, want 1", w.Len())
	}
	wantFired(t, w, 499)
	wantFired(t, w, 500, 1)
}

func TestCancelAnywhereInASlot(t *testing.T) {
	for gone := uint32(1); gone <= 3; gone++ {
		w, r := fill(0, 80, 80, 80)
		w.Cancel(gone)
		w.Cancel(gone)
		if w.Scheduled(gone) || w.Len() != 2 {
			t.Fatalf("after Cancel(%d) Scheduled is %t, Len %d", gone, w.Scheduled(gone), w.Len())
		}
		if r.nodes[gone] != (Node{}) {
			t.Fatalf("Cancel(%d) leaves %+v", gone, r.nodes[gone])
		}
		want := slices.DeleteFunc([]uint32{1, 2, 3}, func(id uint32) bool { return id == gone })
		wantFired(t, w, 80, want...)
	}
}

func TestCallbackMayCancelWhatIsAboutToFire(t *testing.T) {
	w, _ := fill(0, 10, 10, 10, 10)
	var ids []uint32
	w.Advance(10, 9, func(id uint32) {
		ids = append(ids, id)
		for other := uint32(1); other <= 4; other++ {
			w.Cancel(other)
		}
	})
	if len(ids) != 1 || w.Len() != 0 {
		t.Fatalf("expired %v, %d left; want one, and none", ids, w.Len())
	}
}

func TestCallbackThatSchedulesIntoThePastEndsWithTheBudget(t *testing.T) {
	w, _ := fill(0, 10)
	done, more := w.Advance(10, 5, func(id uint32) { w.Schedule(id) })
	if done != 5 || !more || w.Len() != 1 {
		t.Fatalf("done %d, more %t, Len %d; want 5, true, 1", done, more, w.Len())
	}
}

func TestNextOfAnEmptyWheel(t *testing.T) {
	w, _ := fill(0, 77)
	w.Cancel(1)
	if next, ok := w.Next(); ok {
		t.Fatalf("Next is %d with nothing scheduled", next)
	}
}

func TestNextIsExactWithinTheLowestLevel(t *testing.T) {
	for deadline := int64(128); deadline < 192; deadline++ {
		w, _ := fill(128, deadline, 10_000)
		if next, ok := w.Next(); !ok || next != deadline {
			t.Fatalf("Next is %d, want %d", next, deadline)
		}
	}
}

func TestIDZeroIsRefused(t *testing.T) {
	w, _ := fill(0, 1)
	defer func() {
		if recover() == nil {
			t.Fatal("Schedule(0) went through")
		}
	}()
	w.Schedule(0)
}

func TestNodeIsTwelveBytesAndItsOwnerUntouched(t *testing.T) {
	if size := unsafe.Sizeof(Node{}); size != 12 {
		t.Fatalf("a node takes %d bytes, want 12", size)
	}
	w, r := fill(0, 10, 5000, 5000)
	for id := range r.nodes {
		r.nodes[id].Owner = uint16(id) + 7
	}
	w.Cancel(2)
	wantFired(t, w, 6000, 1, 3)
	for id := range r.nodes {
		if r.nodes[id].Owner != uint16(id)+7 {
			t.Fatalf("Owner of id %d became %d", id, r.nodes[id].Owner)
		}
	}
}

func TestCheckSeesDamage(t *testing.T) {
	for _, c := range []struct {
		says string
		harm func(w *Wheel, r *records)
	}{
		{"4 ids in the slots, count says 5", func(w *Wheel, r *records) { w.count++ }},
		{"bitmap says in use true, head is 0", func(w *Wheel, r *records) { w.filled[3] |= 1 << 63 }},
		{"in use says false", func(w *Wheel, r *records) { w.inUse = 0 }},
		{"id 1 says slot 22, is in 21", func(w *Wheel, r *records) { r.nodes[1].slot++ }},
		{"id 1 says 3 is before it", func(w *Wheel, r *records) { r.nodes[1].prev = 3 }},
		{"id 2 says 1 is before it", func(w *Wheel, r *records) { r.nodes[1].next, r.nodes[2].prev = 2, 1 }},
		{"before its slot begins", func(w *Wheel, r *records) { r.deadlines[3] = 1 }},
		{"behind the wheel's tick", func(w *Wheel, r *records) { w.now += 50 }},
		{"half emptied", func(w *Wheel, r *records) {
			w.Cancel(1)
			w.Cancel(2)
			w.now = momentOf(1<<30 + 5000)
		}},
	} {
		w, r := fill(0, 20, 20, 5000, 1<<30)
		if err := w.Check(); err != nil {
			t.Fatalf("whole wheel: %v", err)
		}
		c.harm(w, r)
		if err := w.Check(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Check says %v, want %q", err, c.says)
		}
	}
}

package ttl

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// shownBy is what Front hands out of n ids, without those that are late.
func shownBy(w *Wheel, n int) (ids []uint32) {
	w.Front(n, func(id uint32, late bool) bool {
		if !late {
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

// Front shows every id when it may look long enough, and then what it shows before others is filed before them: each id
// falls due after all slots that were shown before its own have begun.
func TestFrontGoesBySlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tw := newTwin(t, starts().Draw(t, "start"))
		for range rapid.IntRange(0, 60).Draw(t, "changes") {
			id := rapid.Uint32Range(1, twinIDs).Draw(t, "id")
			switch rapid.IntRange(0, 5).Draw(t, "change") {
			case 0:
				tw.cancel(id)
			case 1:
				tw.advance(later(tw.now, rapid.Int64Range(0, 5000).Draw(t, "pass")), rapid.IntRange(0, 3).Draw(t, "budget"), nil)
			default:
				tw.update(id, later(tw.now, distances().Draw(t, "distance")))
			}
		}
		all := shownBy(tw.wheel, 1<<20)
		distinct := slices.Clone(all)
		slices.Sort(distinct)
		if distinct = slices.Compact(distinct); len(distinct) != len(all) || len(all) != len(tw.sorted) {
			t.Fatalf("Front showed %d ids, %d distinct; %d are scheduled", len(all), len(distinct), len(tw.sorted))
		}
		latest := moment(0)
		for i, id := range all {
			due, p := tw.wheel.due(id), place(tw.nodes[id].slot-1)
			if due < latest || due > p.end(tw.wheel.now) {
				t.Fatalf("id %d, number %d shown, is due at %d; a slot shown before begins at %d, its own ends at %d",
					id, i, due.tick(), latest.tick(), p.end(tw.wheel.now).tick())
			}
			if p.digit() != tw.wheel.now.digit(p.level()) {
				latest = p.start(tw.wheel.now)
			}
		}
		if err := tw.wheel.Check(); err != nil {
			t.Fatalf("%v", err)
		}
	})
}

// Front looks at no more ids than it may, stops when told to, and lets what it shows be cancelled.
func TestFrontIsBounded(t *testing.T) {
	r := newRecords(1000)
	w := New(r, 0)
	for id := uint32(1); id <= 1000; id++ {
		r.deadlines[id] = int64(id)
		w.Schedule(id)
	}
	for id := uint32(1); id <= 500; id++ { // filed early, due late
		r.deadlines[id] = 100_000
		w.Update(id)
	}
	if ids := shownBy(w, 100); len(ids) != 0 {
		t.Fatalf("%d shown within 100 looks, though 500 that are not due come first", len(ids))
	}
	// 347 more are filed again before the slot of 448 to 511 comes, the newest of which are at its head.
	if ids := shownBy(w, 347+11); len(ids) != 11 || slices.Min(ids) != 501 || slices.Max(ids) != 511 {
		t.Fatalf("after they were filed again Front shows %v", ids)
	}
	taken := 0
	w.Front(1000, func(id uint32, _ bool) bool { w.Cancel(id); taken++; return taken < 10 })
	if taken != 10 || w.Len() != 990 {
		t.Fatalf("%d cancelled, %d left", taken, w.Len())
	}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
}

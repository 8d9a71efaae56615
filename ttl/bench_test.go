package ttl

import (
	"math/rand/v2"
	"testing"
)

const (
	million = 1 << 20
	spread  = 1 << 20 // ticks over which a million deadlines lie: about seventeen minutes
)

// crowd is a wheel with a million records, deadlines spread at random; with scheduled false none is in the wheel yet.
func crowd(scheduled bool) (*Wheel, *records) {
	const now = 1_700_000_000_000
	r := newRecords(million)
	w := New(r, now)
	random := rand.New(rand.NewPCG(1, 2))
	for id := uint32(1); id <= million; id++ {
		r.deadlines[id] = now + 1 + random.Int64N(spread)
		if scheduled {
			w.Schedule(id)
		}
	}
	return w, r
}

func TestNothingAllocates(t *testing.T) {
	r := newRecords(64)
	w := New(r, 0)
	for id := uint32(1); id <= 64; id++ {
		r.deadlines[id] = 100 * int64(id)
		w.Schedule(id)
	}
	now := int64(0)
	again := func(id uint32) {
		r.deadlines[id] = now + 5000
		w.Schedule(id)
	}
	expired := 0
	for name, step := range map[string]func(){
		"Schedule":     func() { w.Schedule(7) },
		"Cancel":       func() { w.Cancel(8); w.Schedule(8) },
		"Update later": func() { r.deadlines[9] += 10; w.Update(9) },
		"Update earlier": func() {
			r.deadlines[10]--
			w.Update(10)
		},
		"Advance": func() {
			now += 100
			done, _ := w.Advance(now, 256, again)
			expired += done
		},
		"Next": func() { w.Next() },
	} {
		if n := testing.AllocsPerRun(200, step); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
	if expired == 0 {
		t.Error("Advance had nothing to do")
	}
}

// BenchmarkWheelSchedule takes one of a million nodes out and puts it in again, an operation being both.
func BenchmarkWheelSchedule(b *testing.B) {
	w, _ := crowd(true)
	b.ReportAllocs()
	id := uint32(1)
	for b.Loop() {
		w.Schedule(id)
		id = (id+7919)%million + 1
	}
}

// BenchmarkWheelUpdateLater is the path of every allowed request of a limiter key.
func BenchmarkWheelUpdateLater(b *testing.B) {
	w, r := crowd(true)
	b.ReportAllocs()
	id := uint32(1)
	for b.Loop() {
		r.deadlines[id]++
		w.Update(id)
		id = (id+7919)%million + 1
	}
}

// BenchmarkWheelAdvance keeps a million nodes going round: an operation is one node's expiry, its scheduling a whole
// spread ahead, and its share of being filed again on the way down.
func BenchmarkWheelAdvance(b *testing.B) {
	w, r := crowd(true)
	now := int64(1_700_000_000_000)
	again := func(id uint32) {
		r.deadlines[id] = now + spread
		w.Schedule(id)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for left := b.N; left > 0; {
		done, more := w.Advance(now, min(left, 256), again)
		left -= done
		if !more {
			now++
		}
	}
}

// BenchmarkWheelAdvanceStorm is a million nodes due in the same second, scattered over memory, 256 to a call.
func BenchmarkWheelAdvanceStorm(b *testing.B) {
	w, r := crowd(false)
	now := int64(1_700_000_000_000)
	order := rand.New(rand.NewPCG(3, 4)).Perm(million)
	b.ReportAllocs()
	b.ResetTimer()
	for left := b.N; left > 0; {
		b.StopTimer()
		for at, id := range order {
			r.deadlines[id+1] = now + int64(at)%1000
			w.Schedule(uint32(id + 1))
		}
		b.StartTimer()
		now += 1000
		for more := true; more && left > 0; {
			var done int
			done, more = w.Advance(now, min(left, 256), func(uint32) {})
			left -= done
		}
	}
}

// BenchmarkWheelIdle is an Advance and a Next with nothing due, which a shard pays between two batches.
func BenchmarkWheelIdle(b *testing.B) {
	w, _ := crowd(true)
	b.ReportAllocs()
	now := int64(1_700_000_000_000)
	for b.Loop() {
		w.Advance(now, 256, func(uint32) {})
		w.Next()
	}
}

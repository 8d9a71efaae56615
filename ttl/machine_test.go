package ttl

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// distances are spans between now and a deadline: none, a few ticks either way, around every slot width of every level,
// and over all of int64.
func distances() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64Range(-70, 70),
		rapid.Int64Range(0, 5000),
		rapid.Custom(func(t *rapid.T) int64 {
			width := int64(1) << rapid.IntRange(0, 62).Draw(t, "bit")
			return width + rapid.Int64Range(-2, 2).Draw(t, "off")
		}),
		rapid.Int64(),
	)
}

func starts() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.SampledFrom([]int64{0, 1, 63, 64, 4095, 1_700_000_000_000, 1<<53 - 1, -1, -64, math.MinInt64, math.MaxInt64 - 5000}),
		rapid.Int64(),
	)
}

func TestWheelAgainstSortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tw := newTwin(t, starts().Draw(t, "start"))
		id := rapid.Uint32Range(1, twinIDs)
		deadline := func() int64 { return later(tw.now, distances().Draw(t, "distance")) }
		change := func(t *rapid.T, id uint32) {
			switch rapid.IntRange(0, 2).Draw(t, "change") {
			case 0:
				tw.schedule(id, deadline())
			case 1:
				tw.update(id, deadline())
			case 2:
				tw.cancel(id)
			}
		}
		pass := func(longest int64) int64 { return later(tw.now, rapid.Int64Range(0, longest).Draw(t, "pass")) }
		budget := rapid.IntRange(-1, 4)
		t.Repeat(map[string]func(*rapid.T){
			"schedule": func(t *rapid.T) { tw.schedule(id.Draw(t, "id"), deadline()) },
			"update":   func(t *rapid.T) { tw.update(id.Draw(t, "id"), deadline()) },
			"cancel":   func(t *rapid.T) { tw.cancel(id.Draw(t, "id")) },
			"linger":   func(t *rapid.T) { tw.advance(tw.now, budget.Draw(t, "budget"), nil) },
			"step":     func(t *rapid.T) { tw.advance(pass(200), budget.Draw(t, "budget"), nil) },
			"jump": func(t *rapid.T) {
				far := int64(1) << rapid.IntRange(8, 61).Draw(t, "far")
				tw.advance(pass(far), budget.Draw(t, "budget"), nil)
			},
			"drain": func(t *rapid.T) {
				now := pass(5000)
				for tw.advance(now, 1, nil) {
				}
			},
			"meddle": func(t *rapid.T) {
				tw.advance(pass(5000), 8, func(fired uint32) {
					if rapid.Bool().Draw(t, "again") {
						tw.schedule(fired, deadline())
					}
					change(t, id.Draw(t, "other"))
				})
			},
			"quiet": func(*rapid.T) { tw.quiet() },
			"":      func(*rapid.T) { tw.check() },
		})
	})
}

// FuzzWheel runs the same twin from bytes: the first eight are where time starts, then three bytes per step: what to
// do, to which id or with which budget, how far (an exponent and a nudge).
func FuzzWheel(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x01\x46" + "\x00\x02\x46" + "\x03\x01\x66" + "\x03\x01\x06"))
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) < 8 {
			return
		}
		start := int64(0)
		for _, b := range script[:8] {
			start = start<<8 | int64(b)
		}
		tw := newTwin(t, start)
		for steps := script[8:]; len(steps) >= 3; steps = steps[3:] {
			runStep(tw, steps[0], steps[1], steps[2])
			tw.check()
		}
	})
}

// runStep decodes one step: how's upper six bits are the power of two to go, its lower two nudge it by -1 to 2.
func runStep(tw *twin, op, who, how byte) {
	distance := int64(1)<<(how>>2%63) + int64(how&3) - 1
	id := uint32(who)%twinIDs + 1
	switch op % 8 {
	case 0:
		tw.schedule(id, later(tw.now, distance))
	case 1:
		tw.update(id, later(tw.now, distance))
	case 2:
		tw.update(id, later(tw.now, -distance))
	case 3:
		tw.advance(later(tw.now, max(distance, 0)), int(who%8), nil)
	case 4:
		tw.cancel(id)
	case 5:
		tw.quiet()
	case 6:
		tw.advance(later(tw.now, max(distance, 0)), int(who%8), func(fired uint32) {
			tw.schedule(fired, later(tw.now, distance-2))
			tw.cancel(id)
		})
	case 7:
		now := later(tw.now, max(distance, 0))
		for tw.advance(now, 1, nil) {
		}
	}
}

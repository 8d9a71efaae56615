package ttl

import (
	"math"
	"math/big"
	"testing"
)

// boundaryMoments are zero, the greatest moment, and every multiple of a power of two's neighbourhood: each slot edge
// of each level, one to either side of it, and points between.
func boundaryMoments() []moment {
	ms := []moment{0, math.MaxUint64, momentOf(0), momentOf(-1), momentOf(1_700_000_000_000)}
	for bit := range 64 {
		for _, times := range []uint64{1, 3} {
			edge := times << bit
			ms = append(ms, moment(edge-1), moment(edge), moment(edge+1))
		}
	}
	return ms
}

// window is the index of the 64^(level)-tick window that holds m, by division without a width to overflow.
func window(m moment, level int) *big.Int {
	width := new(big.Int).Exp(big.NewInt(64), big.NewInt(int64(level)), nil)
	return width.Div(new(big.Int).SetUint64(uint64(m)), width)
}

func TestLevelIsTheLowestWhoseWholeTurnHoldsBoth(t *testing.T) {
	for _, now := range boundaryMoments() {
		for _, when := range boundaryMoments() {
			want := 0
			for window(now, want+1).Cmp(window(when, want+1)) != 0 {
				want++
			}
			if got := levelFor(now, when); got != want {
				t.Fatalf("levelFor(%#x, %#x) = %d, want %d", now, when, got, want)
			}
		}
	}
}

func TestPlaceCoversItsDeadline(t *testing.T) {
	for _, now := range boundaryMoments() {
		for _, when := range boundaryMoments() {
			p := placeFor(now, when)
			if p.start(now) > when || when > p.end(now) {
				t.Fatalf("now %#x: %#x is filed in level %d slot %d, which covers %#x to %#x",
					now, when, p.level(), p.digit(), p.start(now), p.end(now))
			}
			first, last := window(p.start(now), p.level()), window(p.end(now), p.level())
			if first.Cmp(last) != 0 || first.Cmp(window(when, p.level())) != 0 {
				t.Fatalf("now %#x: level %d slot %d is not one window of its level", now, p.level(), p.digit())
			}
			if when > now && p.level() > 0 && p.start(now) <= now {
				t.Fatalf("now %#x: %#x is filed in level %d slot %d, which has begun", now, when, p.level(), p.digit())
			}
		}
	}
}

func TestPlacesTileTheirLevel(t *testing.T) {
	for _, now := range boundaryMoments() {
		for level := range levels {
			slots := perLevel
			if level == levels-1 {
				slots = 16 // ten levels take 60 of the 64 bits
			}
			for digit := range slots - 1 {
				end, next := placeAt(level, digit).end(now), placeAt(level, digit+1).start(now)
				if end+1 != next {
					t.Fatalf("now %#x level %d: slot %d ends at %#x, the next begins at %#x", now, level, digit, end, next)
				}
			}
			if p := placeAt(level, now.digit(level)); now < p.start(now) || p.end(now) < now {
				t.Fatalf("now %#x level %d: not within the slot of its own digit", now, level)
			}
		}
	}
}

func TestPlaceKeepsLevelAndDigit(t *testing.T) {
	seen := map[place]bool{}
	for level := range levels {
		for digit := range perLevel {
			p := placeAt(level, digit)
			if p.level() != level || p.digit() != digit {
				t.Fatalf("placeAt(%d, %d) says %d, %d", level, digit, p.level(), p.digit())
			}
			if seen[p] || int(p) >= levels*perLevel {
				t.Fatalf("placeAt(%d, %d) = %d is taken or out of range", level, digit, p)
			}
			seen[p] = true
		}
	}
}

func TestMomentKeepsTheOrderOfTicks(t *testing.T) {
	ticks := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 53, -64, -1, 0, 1, 63, 64, 1 << 53, math.MaxInt64 - 1, math.MaxInt64}
	for i, tick := range ticks {
		if got := momentOf(tick).tick(); got != tick {
			t.Fatalf("tick %d comes back as %d", tick, got)
		}
		if i > 0 && momentOf(ticks[i-1]) >= momentOf(tick) {
			t.Fatalf("ticks %d and %d change their order", ticks[i-1], tick)
		}
	}
}

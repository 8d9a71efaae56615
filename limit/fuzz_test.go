package limit

import (
	"encoding/binary"
	"math"
	"testing"
	"time"
)

// The fuzz targets take any state and any parameters, also what no call and no
// store would ever make. Nothing may panic, wrap or allow by accident: each
// answer keeps the laws of laws_test.go, or is an error that changes nothing.
// Laws about the future of a state hold only for states that calls make, so a
// state is first let through a call.

// bucketOps and windowOps are the calls that a fuzzed byte chooses from.
var (
	bucketOps = []string{"TAKE", "PEEK", "GIVE", "DEBIT"}
	windowOps = []string{"HIT", "PEEK", "GIVE"}
)

// fuzzCall makes one call on any state, and if that went well a second one under
// the laws.
func fuzzCall(t *testing.T, l limiter, op string, now, later Instant, cost int64) {
	before := l.state()
	got, err := l.call(now, op, cost)
	if err != nil && (got != answer{} || l.state() != before) {
		t.Fatalf("%s: error %v with %+v, state %s, before %s", op, err, got, l.state(), before)
	}
	if err != nil {
		return
	}
	checkShape(t, op, got, op, cost)
	if !got.Allowed && l.state() != before {
		t.Fatalf("%s: a denial changed %s to %s", op, before, l.state())
	}
	if got.Allowed && op != "PEEK" {
		obey(t, "the next "+op, l, later, op, cost)
	}
}

func FuzzBucketTake(f *testing.F) {
	second := int64(time.Second)
	f.Add(int64(0), int64(0), int64(0), int64(0), int64(0), int64(noon), int64(1), int64(10), int64(1), second, int64(1), uint8(0))
	f.Add(int64(noon)+5, int64(3), int64(noon), int64(7), second, int64(noon), int64(1), int64(10), int64(7), second, int64(10), uint8(0))
	f.Fuzz(func(t *testing.T, clear, rem, at, tokens, period, now, step, capacity, newTokens, newPeriod, cost int64, op uint8) {
		l := &bucketLimiter{
			bucket:   Bucket{Instant(clear), rem, Instant(at), Rate{tokens, time.Duration(period)}},
			capacity: capacity, rate: Rate{newTokens, time.Duration(newPeriod)},
		}
		fuzzCall(t, l, bucketOps[int(op)%len(bucketOps)], Instant(now), Instant(now)+Instant(step), cost)
	})
}

func FuzzBucketQueue(f *testing.F) {
	second := int64(time.Second)
	f.Add(int64(0), int64(0), int64(0), int64(0), int64(0), int64(noon), int64(1), int64(10), int64(1), second, second, int64(1))
	f.Add(int64(noon)+5, int64(3), int64(noon), int64(7), second, int64(noon), int64(1), int64(10), int64(7), 2*second, second, int64(10))
	f.Fuzz(func(t *testing.T, clear, rem, at, tokens, period, now, step, most, newTokens, newPeriod, maxWait, cost int64) {
		l := &bucketLimiter{
			bucket:   Bucket{Instant(clear), rem, Instant(at), Rate{tokens, time.Duration(period)}},
			capacity: most, rate: Rate{newTokens, time.Duration(newPeriod)}, queue: true, maxWait: time.Duration(maxWait),
		}
		fuzzCall(t, l, "TAKE", Instant(now), Instant(now)+Instant(step), cost)
	})
}

func FuzzFixedHit(f *testing.F) {
	minute := int64(time.Minute)
	f.Add(int64(0), int64(0), int64(0), false, int64(noon), int64(1), int64(10), minute, true, int64(1), uint8(0))
	f.Add(int64(10), int64(noon), minute, true, int64(noon), minute, int64(10), minute, false, int64(1), uint8(1))
	f.Fuzz(func(t *testing.T, count, start, window int64, first bool, now, step, limit, newWindow int64, newFirst bool, cost int64, op uint8) {
		l := &fixedLimiter{
			fixed: Fixed{count, Instant(start), time.Duration(window), first},
			limit: limit, window: time.Duration(newWindow), first: newFirst,
		}
		fuzzCall(t, l, windowOps[int(op)%len(windowOps)], Instant(now), Instant(now)+Instant(step), cost)
	})
}

func FuzzSlidingHit(f *testing.F) {
	minute := int64(time.Minute)
	f.Add(int64(0), int64(0), int64(0), int64(0), int64(noon), int64(1), int64(10), minute, int64(1), uint8(0))
	f.Add(int64(80), int64(30), int64(noon), minute, int64(noon), minute/4, int64(100), minute, int64(1), uint8(0))
	f.Fuzz(func(t *testing.T, prev, cur, start, window, now, step, limit, newWindow, cost int64, op uint8) {
		l := &slidingLimiter{
			sliding: Sliding{prev, cur, Instant(start), time.Duration(window)},
			limit:   limit, window: time.Duration(newWindow),
		}
		if start != int64(tile(Instant(start), max(time.Duration(window), 1))) {
			return // windows tile Unix time; one that does not has no previous one
		}
		fuzzCall(t, l, windowOps[int(op)%len(windowOps)], Instant(now), Instant(now)+Instant(step), cost)
	})
}

// FuzzLogHit reads a log from bytes, 16 for a hit, in any order: every call must
// stay within the hits. In order, it must keep the laws.
func FuzzLogHit(f *testing.F) {
	minute := int64(time.Minute)
	f.Add([]byte{}, int64(0), int64(0), int64(noon), int64(1), int64(10), minute, int64(1), uint8(0))
	f.Add(make([]byte, 48), int64(0), minute, int64(noon), minute, int64(10), minute, int64(1), uint8(2))
	f.Fuzz(func(t *testing.T, hits []byte, base, window, now, step, limit, newWindow, cost int64, op uint8) {
		g := Log{Window: time.Duration(window), Base: base}
		last, inOrder := Hit{At: math.MinInt64, Sum: base}, base >= 0
		for ; len(hits) >= 16; hits = hits[16:] {
			h := Hit{int64(binary.LittleEndian.Uint64(hits)), int64(binary.LittleEndian.Uint64(hits[8:]))}
			inOrder = inOrder && h.At > last.At && h.Sum > last.Sum
			last, g.Hits = h, append(g.Hits, h)
		}
		l := &logLimiter{log: g, limit: limit, window: time.Duration(newWindow)}
		name := windowOps[int(op)%len(windowOps)]
		if inOrder {
			fuzzCall(t, l, name, Instant(now), Instant(now)+Instant(step), cost)
		} else if _, err := l.call(Instant(now), name, cost); err == nil {
			_, _ = l.call(Instant(now)+Instant(step), name, cost)
		}
	})
}

package engine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// G. Changing limits.

// Raising the rate denied a caller who had plenty left.
func TestCase45RaisingTheRateDeniesNobody(t *testing.T) {
	timeline(t,
		step{0, "CL.THROTTLE user1 15 10 20", "0 16 15 -1 2"},
		step{1500 * ms, "CL.THROTTLE user1 15 10 20", "0 16 14 -1 3"},
		step{1500 * ms, "CL.THROTTLE user1 15 10 20", "0 16 14 -1 3"},
		step{1500 * ms, "CL.THROTTLE user1 15 10 20", "0 16 14 -1 4"},
		step{0, "CL.THROTTLE user1 15 1000 20", "0 16 13 -1 1"},
		step{0, "CL.THROTTLE user2 15 10 20 3", "0 16 13 -1 6"},
		step{0, "CL.THROTTLE user2 15 1000 20", "0 16 12 -1 1"})
	// Debt is held in tokens: 10 of 100 used are 190 left of 200, or 0 of 5.
	timeline(t,
		step{0, "TB.TAKE k 100 1 1s COST 10", "1 100 90 0 10000"},
		step{0, "TB.PEEK k 200 1 1s", "1 200 190 0 10000"},
		step{0, "TB.PEEK k 5 1 1s", "0 5 0 6000 10000"},
		step{0, "TB.TAKE k 200 10 1s", "1 200 189 0 1100"})
}

// Another algorithm on a key was whatever the bytes happened to mean.
func TestCase47AnotherAlgorithmIsWrongType(t *testing.T) {
	for _, first := range views {
		for _, then := range views {
			d := newDesk(t, 1)
			d.brief(t, first.hit+" k "+first.after)
			got := d.brief(t, then.hit+" k "+then.after)
			if first.kind == then.kind {
				if !strings.HasPrefix(got, "1 10 8 ") {
					t.Errorf("%s after %s: %s, want 8 left", then.hit, first.hit, got)
				}
			} else if got != WrongType.Text() {
				t.Errorf("%s after %s: %s", then.hit, first.hit, got)
			}
		}
	}
}

// I. Windows and TTL.

// The previous window was looked up under the wrong index and counted nothing.
func TestCase56PreviousWindowCounts(t *testing.T) {
	timeline(t,
		step{0, "SWC.HIT k 100 1m COST 50", "1 100 50 0 120000"},
		step{66 * time.Second, "SWC.HIT k 100 1m COST 10", "1 100 45 0 114000"},
		step{0, "SWC.PEEK k 100 1m", "1 100 45 0 114000"})
}

// A sliding window of one hit denied the first.
func TestCase57LimitOfOne(t *testing.T) {
	timeline(t,
		step{0, "SWC.HIT k 1 10s", "1 1 0 0 20000"},
		step{0, "SWC.HIT k 1 10s", "0 1 0 10001 20000"},
		step{10*time.Second + ms, "SWC.HIT k 1 10s", "1 1 0 0 19999"},
		step{0, "SWL.HIT log 1 10s", "1 1 0 0 10000"},
		step{0, "SWL.HIT log 1 10s", "0 1 0 10000 10000"},
		step{10 * time.Second, "SWL.HIT log 1 10s", "1 1 0 0 10000"})
}

// Remaining was negative, or more than the limit.
func TestCase58RemainingStaysWithinTheLimit(t *testing.T) {
	for _, v := range views {
		d := newDesk(t, 1)
		d.brief(t, v.hit+" k "+v.after+" COST 10")
		for _, limit := range []int{1, 3, 9, 10, 11, 1000} {
			after := strings.Replace(v.after, "10", strconv.Itoa(limit), 1)
			want := max(0, limit-10)
			if words := strings.Fields(d.brief(t, v.peek+" k "+after)); words[2] != strconv.Itoa(want) {
				t.Errorf("%s: %s remaining of %d after 10, want %d", v.peek, words[2], limit, want)
			}
		}
	}
	timeline(t,
		step{0, "TB.DEBIT k 10 1 1s COST 13", "1 10 0 0 13000"},
		step{0, "TB.PEEK k 10 1 1s", "0 10 0 4000 13000"},
		step{0, "TB.GIVE k 10 1 1s COST 99", "1 10 10 0 0"})
}

// The reset counted one hit of several.
func TestCase60ResetCountsEveryHit(t *testing.T) {
	timeline(t,
		step{0, "TB.TAKE k 10 1 2s COST 5", "1 10 5 0 10000"},
		step{0, "CL.THROTTLE cell 9 1 2 5", "0 10 5 -1 10"},
		step{0, "LB.QUEUE queue 1 2s MAX 10 COST 5", "1 10 5 0 10000 0"})
}

// A count that equals the limit at once was compared as a string, and its key
// never expired.
func TestCase62WholeLimitAtOnceExpires(t *testing.T) {
	for _, v := range views {
		d := newDesk(t, 1)
		reset := strings.Fields(d.brief(t, v.hit+" k "+v.after+" COST 10"))[4]
		d.timeline(t, step{0, "PTTL k", reset})
	}
}

// A bounded counter was pulled towards its bound. It is left as it is, as Redis
// does.
func TestCase63BoundedCounterIsNotPulled(t *testing.T) {
	d := newDesk(t, 1)
	d.brief(t, "SET x 10000 PX 5000")
	d.timeline(t,
		step{0, "INCREX x BYINT -500 UBOUND 200", "10000 0"},
		step{0, "GET x", "10000"},
		step{0, "PTTL x", "5000"})
}

// An expiry set on some write path was nonsense: 281474676260404640 ms.
func TestCase65ExpiryIsSaneAfterEveryWrite(t *testing.T) {
	d := newDesk(t, 1)
	for i, line := range []string{
		"TB.TAKE %s 10 1 1s", "TB.DEBIT %s 10 1 1s COST 30", "LB.TAKE %s 10 1 1s", "LB.QUEUE %s 1 1s", "FW.HIT %s 10 10s",
		"FW.HIT %s 10 10s ANCHOR FIRST", "SWC.HIT %s 10 10s", "SWL.HIT %s 10 10s", "CL.THROTTLE %s 9 1 1", "THROTTLE %s 10 1 1",
	} {
		key := fmt.Sprintf("k%d", i)
		for range 3 {
			d.clock.Advance(11 * ms)
			d.brief(t, fmt.Sprintf(line, key))
			if ttl, _ := strconv.Atoi(d.brief(t, "PTTL "+key)); ttl < 1 || ttl > 90_000 {
				t.Errorf("%s: expires in %d ms", line, ttl)
			}
		}
	}
}

// A bucket whose capacity is its rate admits nearly twice the rate in its first
// window. A sliding window is the hard one.
func TestCase66BucketIsNoHardWindow(t *testing.T) {
	for line, want := range map[string]int{"TB.TAKE k 15 15 1m": 15 + 14, "SWL.HIT k 15 1m": 15, "SWC.HIT k 15 1m": 15, "FW.HIT k 15 1m": 15} {
		d := newDesk(t, 1)
		allowed := 0
		for range 600 { // every 100 ms of the first minute
			if strings.HasPrefix(d.brief(t, line), "1 ") {
				allowed++
			}
			d.clock.Advance(100 * ms)
		}
		if allowed != want {
			t.Errorf("%s: %d allowed in the first minute, want %d", line, allowed, want)
		}
	}
}

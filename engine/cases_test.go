package engine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/limitstore/limitstore/clock"
	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/shard"
)

// The tests here are failures of other limiters, reduced; their numbers are
// those of the case bank they were collected in. Each asserts the right value.

const ms = time.Millisecond

// A. Rounding and units.

// Retry-After rounded down: a client that waited as told was denied again.
func TestCase01RetryIsRoundedUp(t *testing.T) {
	timeline(t,
		step{0, "CL.THROTTLE k 0 2 3", "0 1 0 -1 2"},
		step{0, "CL.THROTTLE k 0 2 3", "1 1 0 2 2"},
		step{2 * time.Second, "CL.THROTTLE k 0 2 3", "0 1 0 -1 2"},
		step{0, "TB.TAKE k 1 2 3s", "0 1 0 1500 1500"},
		step{1499 * ms, "TB.TAKE k 1 2 3s", "0 1 0 1 1"},
		step{1 * ms, "TB.TAKE k 1 2 3s", "1 1 0 0 1500"})
}

// A wait below a second was told as 0.
func TestCase02RetryBelowASecond(t *testing.T) {
	timeline(t,
		step{0, "CL.THROTTLE k 0 10 1", "0 1 0 -1 1"},
		step{0, "CL.THROTTLE k 0 10 1", "1 1 0 1 1"},
		step{0, "TB.TAKE k 1 10 1s", "0 1 0 100 100"})
}

// Whole seconds were told as one more.
func TestCase03WholeSecondsAreNotMore(t *testing.T) {
	timeline(t,
		step{0, "CL.THROTTLE user123 15 30 60", "0 16 15 -1 2"},
		step{0, "CL.THROTTLE demo 0 1 2", "0 1 0 -1 2"},
		step{0, "CL.THROTTLE seven 9 1 1 7", "0 10 3 -1 7"})
}

// Both waits were rounded down to 0.
func TestCase05ThrottleRoundsBothUp(t *testing.T) {
	timeline(t,
		step{0, "THROTTLE k 2 10 1", "1 2 1 1 0"},
		step{0, "THROTTLE k 2 10 1", "1 2 0 1 0"},
		step{0, "THROTTLE k 2 10 1", "0 2 0 1 1"},
		step{0, "TB.TAKE k 2 10 1s", "0 2 0 100 200"})
}

// Rounded tokens let a client in at half of the told wait.
func TestCase06NotAdmittedAtHalfTheWait(t *testing.T) {
	timeline(t,
		step{0, "TB.TAKE k 6 6 60s COST 6", "1 6 0 0 60000"},
		step{0, "TB.TAKE k 6 6 60s", "0 6 0 10000 60000"},
		step{5 * time.Second, "TB.TAKE k 6 6 60s", "0 6 0 5000 55000"},
		step{4999 * ms, "TB.TAKE k 6 6 60s", "0 6 0 1 50001"},
		step{1 * ms, "TB.TAKE k 6 6 60s", "1 6 0 0 60000"})
}

// "Never", "now" and "in a while" are three values.
func TestCase08NeverIsNotZero(t *testing.T) {
	for _, v := range views {
		d := newDesk(t, 1)
		for line, want := range map[string]string{" COST 10": "0", " COST 11": "-1"} {
			if got := strings.Fields(d.brief(t, v.peek+" k "+v.after+line))[3]; got != want {
				t.Errorf("%s%s: retry %s, want %s", v.peek, line, got, want)
			}
		}
		d.brief(t, v.hit+" k "+v.after+" COST 10")
		if got, _ := strconv.Atoi(strings.Fields(d.brief(t, v.hit+" k "+v.after))[3]); got <= 0 {
			t.Errorf("%s: retry %d of a denied call, want a wait", v.hit, got)
		}
	}
}

// B. High rates and expiry of live state.

// Rates above 1000 a second were refused.
func TestCase09RatesAboveAThousandASecond(t *testing.T) {
	timeline(t,
		step{0, "CL.THROTTLE mykey 10 1001 1 1", "0 11 10 -1 1"},
		step{0, "CL.THROTTLE user123 20 1500 1 1", "0 21 20 -1 1"})
}

// State that needs less than a millisecond was dropped at birth.
func TestCase11StateBelowAMillisecondLives(t *testing.T) {
	timeline(t,
		step{0, "TB.TAKE k 1 10000 1s", "1 1 0 0 1"},
		step{0, "EXISTS k", "1"},
		step{0, "PTTL k", "1"},
		step{0, "TB.TAKE k 1 10000 1s", "0 1 0 1 1"},
		step{99 * time.Microsecond, "TB.TAKE k 1 10000 1s", "0 1 0 1 1"},
		step{1 * time.Microsecond, "TB.TAKE k 1 10000 1s", "1 1 0 0 1"},
		step{0, "CL.THROTTLE cell 1 1500 1", "0 2 1 -1 1"},
		step{0, "PTTL cell", "1"})
}

// Intervals below a microsecond divided by zero.
func TestCase12IntervalsBelowAMicrosecond(t *testing.T) {
	timeline(t, step{0, "CL.THROTTLE k 10 2000000 1", "0 11 10 -1 1"})
}

// Rates were rounded to whole microseconds per token: 43 % too much.
func TestCase14RatesAreNotQuantised(t *testing.T) {
	for _, rate := range []int64{700_000, 600_000, 333_333, 7} {
		d := newDesk(t, 1)
		line := fmt.Sprintf(" k 1000 %d 1s", rate)
		admitted := int64(0)
		for at := 0; at <= 1000; at++ {
			if left := strings.Fields(d.brief(t, "TB.PEEK"+line))[2]; left != "0" {
				n, _ := strconv.ParseInt(left, 10, 64)
				admitted += n
				d.brief(t, "TB.TAKE"+line+" COST "+left)
			}
			d.clock.Advance(ms)
		}
		if admitted != 1000+rate {
			t.Errorf("%d a second: admitted %d in a second, want %d", rate, admitted, 1000+rate)
		}
	}
}

// A burst of one was born expired and never limited.
func TestCase15BurstOfOneLimits(t *testing.T) {
	timeline(t,
		step{0, "THROTTLE k 1 10 1", "1 1 0 1 0"},
		step{0, "THROTTLE k 1 10 1", "0 1 0 1 1"},
		step{0, "TB.PEEK k 1 10 1s", "0 1 0 100 100"},
		step{99 * ms, "THROTTLE k 1 10 1", "0 1 0 1 1"},
		step{1 * ms, "THROTTLE k 1 10 1", "1 1 0 1 0"})
}

// Times compared in whole seconds admitted a third too many.
func TestCase17FractionsOfASecondCount(t *testing.T) {
	d := newDesk(t, 1)
	allowed, elapsed := int64(0), time.Duration(0)
	for range 1000 {
		if strings.HasPrefix(d.brief(t, "CL.THROTTLE u 10 100 1 1"), "0 ") {
			allowed++
			continue
		}
		if want := 11 + 100*elapsed.Milliseconds()/1000; allowed != want {
			t.Fatalf("after %v at 100 a second and a burst of 11: %d allowed, want %d", elapsed, allowed, want)
		}
		d.clock.Advance(100 * ms)
		elapsed += 100 * ms
	}
	timeline(t,
		step{259 * ms, "CL.THROTTLE k 0 2 1", "0 1 0 -1 1"},
		step{274 * ms, "CL.THROTTLE k 0 2 1", "1 1 0 1 1"},
		step{250 * ms, "CL.THROTTLE k 0 2 1", "0 1 0 -1 1"},
		step{252 * ms, "CL.THROTTLE k 0 2 1", "1 1 0 1 1"})
}

// C. Burst and idle.

// Idle time paid out beyond the capacity.
func TestCase18IdleDoesNotDoubleTheBurst(t *testing.T) {
	d := newDesk(t, 1)
	d.timeline(t,
		step{0, "THROTTLE k 10 10 10 10", "1 10 0 10 0"},
		step{17900 * ms, "THROTTLE k 10 10 10 0", "1 10 10 0 0"})
	allowed := 0
	for range 20 {
		if strings.HasPrefix(d.brief(t, "THROTTLE k 10 10 10"), "1 ") {
			allowed++
		}
	}
	if allowed != 10 {
		t.Errorf("%d of 20 allowed, want 10", allowed)
	}
}

// Off by one at the capacity: it means so many at once, one more is denied, and
// to ask for exactly the capacity is a matter of waiting.
func TestCase21CapacityIsExact(t *testing.T) {
	timeline(t,
		step{0, "TB.TAKE ten 10 1 1s COST 11", "0 10 10 -1 0"},
		step{0, "TB.TAKE six 6 1 1s", "1 6 5 0 1000"},
		step{0, "TB.TAKE six 6 1 1s COST 6", "0 6 5 1000 1000"},
		step{1 * time.Second, "TB.TAKE six 6 1 1s COST 6", "1 6 0 0 6000"})
	for _, capacity := range []int{1, 2, 6} {
		for line, plenty := range map[string]string{
			fmt.Sprintf("TB.TAKE k %d 1 1h", capacity): "1", fmt.Sprintf("CL.THROTTLE k %d 1 3600", capacity-1): "0",
			fmt.Sprintf("THROTTLE k %d 1 3600", capacity): "1", fmt.Sprintf("LB.TAKE k %d 1 1h", capacity): "1",
		} {
			d := newDesk(t, 1)
			for i := range capacity + 1 {
				if got := d.brief(t, line)[:1] == plenty; got != (i < capacity) {
					t.Errorf("%s, call %d: allowed %v", line, i+1, got)
				}
			}
		}
	}
}

// H. Clock.

// A clock that stepped back drained tokens, or locked callers out for the step.
func TestCase48ClockStepsBack(t *testing.T) {
	for _, v := range views {
		d := newDesk(t, 1)
		d.clock.Advance(100 * time.Second)
		first := d.brief(t, v.hit+" k "+v.after)
		d.clock.Set(midnight + limit.Instant(40*time.Second))
		if got := d.brief(t, v.peek+" k "+v.after); strings.Fields(got)[4] != strings.Fields(first)[4] {
			t.Errorf("%s: after the step %s, before it %s", v.hit, got, first)
		}
		d.brief(t, v.hit+" k "+v.after+" COST 9")
		wait, _ := strconv.Atoi(strings.Fields(d.brief(t, v.hit+" k "+v.after))[3])
		if wait < 1 || wait > 20_000 {
			t.Errorf("%s: has to wait %d ms", v.hit, wait)
		}
	}
}

// On a clock gone wild a few calls had to wait half an hour.
func TestCase50WildClock(t *testing.T) {
	d := newDesk(t, 1)
	at := int64(midnight)
	for i, jump := range []time.Duration{0, time.Hour, -3 * time.Hour, 7 * time.Nanosecond, 900 * time.Hour, -time.Hour, ms, -1000 * time.Hour} {
		at += int64(jump)
		d.clock.Set(limit.Instant(at))
		words := strings.Fields(d.brief(t, "TB.TAKE k 5000 2000 1s COST 5000"))
		if wait, _ := strconv.Atoi(words[3]); wait > 2500 {
			t.Errorf("call %d: retry after %d ms, more than the whole bucket takes", i, wait)
		}
	}
}

// A replica that replayed commands by its own clock had another state than its
// leader. What is shipped are effects.
func TestCase51ReplicaHasTheLeadersState(t *testing.T) {
	d := newDesk(t, 1)
	var effects shard.Effects
	d.on(func(ks *shard.Keyspace) { ks.Record(&effects) })
	for i, v := range views {
		d.clock.Advance(137 * ms)
		d.brief(t, fmt.Sprintf("%s k%d %s COST 3", v.hit, i, v.after))
	}
	late := clock.NewManual(d.clock.Now() + limit.Instant(5*time.Second))
	replica := shard.NewKeyspace(shard.Config{Clock: late, Seed: shard.Seed{3, 4}})
	if err := replica.Apply(effects.Bytes()); err != nil {
		t.Fatal(err)
	}
	d.clock.Set(late.Now())
	if got, want := dump(replica), d.dump(); got != want {
		t.Errorf("replica has\n%sleader has\n%s", got, want)
	}
}

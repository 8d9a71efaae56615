package limit

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What went wrong in other limiters, as it has to come out here. A redis-cell
// burst of n is a capacity of n + 1.

func TestCase01RetryIsRoundedUp(t *testing.T) {
	runTimeline(t, `
		TB 1 2 3s
		at     call     allowed   retry
		0s     TAKE 1   yes       0s
		0s     TAKE 1   no        1.5s
		1.5s   TAKE 1   yes       0s`)
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(1, int64(MaxClear)).Draw(t, "wait"))
		if ms := Millis(d); time.Duration(ms)*time.Millisecond < d || time.Duration(ms-1)*time.Millisecond >= d {
			t.Fatalf("%v is %d ms", d, ms)
		}
	})
}

func TestCase02RetryBelowASecond(t *testing.T) {
	runTimeline(t, `
		TB 1 10 1s
		at   call     allowed   retry
		0s   TAKE 1   yes       0s
		0s   TAKE 1   no        100ms`)
}

func TestCase03WholeSpansAreNotMore(t *testing.T) {
	runTimeline(t, `
		TB 16 30 60s
		at   call     allowed   reset
		0s   TAKE 1   yes       2s`)
	runTimeline(t, `
		TB 1 1 2s
		at   call     allowed   reset
		0s   TAKE 1   yes       2s`)
	if got := Millis(7 * time.Second); got != 7000 {
		t.Errorf("7 s are %d ms", got)
	}
}

func TestCase05ResetAndRetryRoundUp(t *testing.T) {
	runTimeline(t, `
		TB 2 10 1s
		at   call     allowed   remaining   retry   reset
		0s   TAKE 1   yes       1           0s      100ms
		0s   TAKE 1   yes       0           0s      200ms
		0s   TAKE 1   no        0           100ms   200ms`)
}

func TestCase06NotAdmittedAtHalfTheWait(t *testing.T) {
	runTimeline(t, `
		TB 6 6 60s
		at       call     allowed   remaining   retry
		0s       TAKE 6   yes       0           0s
		0s       TAKE 1   no        0           10s
		5s       TAKE 1   no        0           5s
		9.999s   TAKE 1   no        0           1ms
		10s      TAKE 1   yes       0           0s`)
}

func TestCase08NeverIsNotZero(t *testing.T) {
	runTimeline(t, `
		TB 5 1 1s
		at   call     allowed   retry
		0s   TAKE 6   no        never
		0s   TAKE 5   yes       0s
		0s   TAKE 5   no        5s`)
	if Never == 0 || Millis(Never) != -1 {
		t.Errorf("Never is %d, %d ms", Never, Millis(Never))
	}
}

func TestCase09RatesAboveAThousandASecond(t *testing.T) {
	runTimeline(t, `
		TB 11 1001 1s
		at   call     allowed   remaining   reset
		0s   TAKE 1   yes       10          999.001us`)
}

func TestCase11StateBelowAMillisecondLives(t *testing.T) {
	b, d, err := (Bucket{}).Take(noon, 2, Rate{10_000, time.Second}, 1)
	if err != nil || b.Expiry() != noon+100_000 || Millis(d.ResetAfter) != 1 {
		t.Errorf("%+v %+v %v", b, d, err)
	}
	b, d, err = (Bucket{}).Take(noon, 2, Rate{MaxTokens, MinPeriod}, 1)
	if err != nil || b.Expiry() != noon+1 || Millis(d.ResetAfter) != 1 {
		t.Errorf("at the highest rate: %+v %+v %v", b, d, err)
	}
}

func TestCase12IntervalsBelowAMicrosecond(t *testing.T) {
	runTimeline(t, `
		TB 11 2000000 1s
		at   call     allowed   remaining   reset
		0s   TAKE 1   yes       10          500ns`)
}

// Case 14, rates that are no whole number of nanoseconds, is
// TestBucketAtEveryRate.

func TestCase15CapacityOfOneLimits(t *testing.T) {
	runTimeline(t, `
		TB 1 10 1s
		at   call     allowed   retry   reset
		0s   TAKE 1   yes       0s      100ms
		0s   TAKE 1   no        100ms   100ms`)
}

func TestCase17FractionsOfASecondCount(t *testing.T) {
	runTimeline(t, `
		TB 1 2 1s
		at       call     allowed   retry
		0.259s   TAKE 1   yes       0s
		0.533s   TAKE 1   no        226ms
		0.783s   TAKE 1   yes       0s
		1.035s   TAKE 1   no        248ms`)
	var b Bucket
	now, taken := noon, int64(0)
	for range 1000 {
		next, d, err := b.Take(now, 11, Rate{100, time.Second}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if b = next; d.Allowed {
			taken++
		} else {
			now += Instant(100 * time.Millisecond)
		}
	}
	// Ten come every 100 ms, and the first eleven at once.
	if span := int64(now-noon) / int64(100*time.Millisecond); taken < 10*span || taken > 10*span+11 {
		t.Errorf("%d in %d tenths of a second", taken, span)
	}
}

func TestCase18IdleDoesNotDoubleTheBurst(t *testing.T) {
	runTimeline(t, `
		TB 10 10 10s
		at      call      allowed   remaining
		0s      TAKE 10   yes       0
		17.9s   PEEK 1    yes       10
		17.9s   TAKE 10   yes       0
		17.9s   TAKE 1    no        0`)
}

func TestCase21CapacityIsExact(t *testing.T) {
	runTimeline(t, `
		TB 10 1 1s
		at   call      allowed   retry
		0s   TAKE 11   no        never
		0s   TAKE 10   yes       0s
		0s   TAKE 1    no        1s`)
	runTimeline(t, `
		TB 6 1 1s
		at   call     allowed   retry
		0s   TAKE 1   yes       0s
		0s   TAKE 6   no        1s`)
	runTimeline(t, `
		TB 1 1 1s
		at   call     allowed   retry
		0s   TAKE 1   yes       0s
		0s   TAKE 1   no        1s`)
}

func TestCase22HugeCostIsNoRefund(t *testing.T) {
	runTimeline(t, `
		TB 16 30 60s
		at   call                       allowed   remaining   retry
		0s   TAKE 1                     yes       15          0s
		0s   TAKE 9223372036854775807   ErrCost   -           -
		0s   TAKE 1000000000000         no        15          never
		0s   TAKE 1                     yes       14          0s`)
}

func TestCase23HugeCapacityIsRefused(t *testing.T) {
	runTimeline(t, `
		TB 9223372036854775807 30 60s
		at   call     allowed
		0s   TAKE 1   ErrCapacity
		TB -9223372036854775808 30 60s
		0s   TAKE 1   ErrCapacity
		FW 9223372036854775807 1m
		0s   HIT 1    ErrLimit
		SWC 9223372036854775807 1m
		0s   HIT 1    ErrLimit
		SWL 9223372036854775807 1m
		0s   HIT 1    ErrLogLimit`)
}

func TestCase26NothingIsCutTo32Bits(t *testing.T) {
	runTimeline(t, `
		TB 4294967297 1 1s
		at   call     allowed   remaining
		0s   TAKE 1   yes       4294967296`)
	_, d, err := (Bucket{}).Take(noon, 1<<32, Rate{1, math.MaxInt64}, 1)
	if err != ErrPeriod || d != (Decision{}) {
		t.Errorf("%+v %v", d, err)
	}
}

// A request above the capacity is denied for good; one that fits it, and would
// need more than 100 years, is an error. Neither is on record.
func TestCase27OverflowIsAnError(t *testing.T) {
	runTimeline(t, `
		TB 2 1 86400s
		at   call              allowed    retry
		0s   TAKE 200000000    no         never
		0s   DEBIT 200000000   ErrClear   -
		TB 200000001 1 86400s
		0s   TAKE 200000000    ErrClear   -
		TB 2 1 2147483647s
		0s   TAKE 1            ErrPeriod  -
		TB 200000001 1 86400s
		0s   PEEK 1            yes        0s`)
}

func TestCase29AFailedLimitAllowsNothing(t *testing.T) {
	runTimeline(t, `
		TB 2199023255552 2199023255552 1s
		at   call     allowed
		0s   TAKE 1   ErrCapacity
		TB 1 2199023255552 1s
		0s   TAKE 1   ErrRate`)
}

func TestCase31ZeroRate(t *testing.T) {
	runTimeline(t, `
		TB 1 0 60s
		at   call     allowed
		0s   TAKE 1   ErrRate
		TB 1 1 0s
		0s   TAKE 1   ErrPeriod`)
}

func TestCase34ZeroLimit(t *testing.T) {
	runTimeline(t, `
		TB 0 1 1s
		at   call     allowed
		0s   TAKE 1   ErrCapacity
		FW 0 1m
		0s   HIT 1    ErrLimit
		SWC 0 1m
		0s   HIT 1    ErrLimit
		SWL 0 1m
		0s   HIT 1    ErrLogLimit`)
}

func TestCase35NegativeCost(t *testing.T) {
	runTimeline(t, `
		TB 5 1 1s
		at   call       allowed   remaining
		0s   TAKE 5     yes       0
		0s   TAKE -5    ErrCost   -
		0s   GIVE -5    ErrCost   -
		0s   DEBIT -5   ErrCost   -
		0s   TAKE 1     no        0
		FW 5 1m
		0s   HIT -5     ErrCost   -
		SWC 5 1m
		0s   HIT -5     ErrCost   -
		SWL 5 1m
		0s   HIT -5     ErrCost   -`)
}

func TestCase37RefundAtZero(t *testing.T) {
	runTimeline(t, `
		TB 10 1 1s
		at   call      allowed   remaining
		0s   TAKE 10   yes       0
		0s   GIVE 1    yes       1
		FW 10 1m
		0s   HIT 10    yes       0
		0s   GIVE 1    yes       1
		SWC 10 1m
		0s   HIT 10    yes       0
		0s   GIVE 1    yes       1
		SWL 10 1m
		0s   HIT 10    yes       0
		0s   GIVE 1    yes       1`)
}

func TestCase38RefundStopsAtFull(t *testing.T) {
	for _, text := range []string{
		"TB 16 30 60s\nat  call  allowed  remaining  reset\n0s  GIVE 5  yes  16  0s",
		"FW 16 1m\nat  call  allowed  remaining  reset\n0s  GIVE 5  yes  16  0s",
		"SWC 16 1m\nat  call  allowed  remaining  reset\n0s  GIVE 5  yes  16  0s",
		"SWL 16 1m\nat  call  allowed  remaining  reset\n0s  GIVE 5  yes  16  0s",
	} {
		runTimeline(t, text)
	}
	if b, _, err := (Bucket{}).Give(noon, 16, Rate{30, time.Minute}, 1); b != (Bucket{}) || err != nil {
		t.Errorf("a full bucket is on record: %+v %v", b, err)
	}
}

func TestCase40DeniedCostsNothing(t *testing.T) {
	for _, name := range []string{"TB 10 1 1h", "FW 10 1h", "SWC 10 1h", "SWL 10 1h"} {
		op := "HIT"
		if name[0] == 'T' {
			op = "TAKE"
		}
		runTimeline(t, name+`
			at   call   allowed   remaining
			0s   `+op+` 8   yes   2
			0s   `+op+` 5   no    2
			0s   `+op+` 1   yes   1`)
	}
}

func TestCase42MoreThanTheLimit(t *testing.T) {
	for _, name := range []string{"TB 6 1 1s", "FW 6 1m", "SWC 6 1m", "SWL 6 1m"} {
		op := "HIT"
		if name[0] == 'T' {
			op = "TAKE"
		}
		runTimeline(t, name+`
			at   call   allowed   remaining   retry   reset
			0s   `+op+` 10   no   6   never   0s
			0s   `+op+` 6    yes  0   0s      -`)
	}
}

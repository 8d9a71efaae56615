package limit

import (
	"math"
	"testing"
	"time"
)

func TestBucketTimelines(t *testing.T) {
	for name, text := range map[string]string{
		"starts full, empties, refills": `
			TB 3 1 1s
			at      call     before   allowed   remaining   used   retry   reset   next
			0s      PEEK 1   0        yes       3           0      0s      0s      0s
			0s      TAKE 1   0        yes       2           1      0s      1s      1s
			0s      TAKE 2   1        yes       0           3      0s      3s      1s
			0.4s    TAKE 1   2 3/5    no        0           3      600ms   2.6s    600ms
			1s      TAKE 1   2        yes       0           3      0s      3s      1s
			2.5s    PEEK 2   1 1/2    no        1           2      500ms   1.5s    500ms
			9s      PEEK 3   0        yes       3           0      0s      0s      0s`,
		"a rate that is no whole number of nanoseconds per token": `
			TB 1 3 1s
			at             call     before          allowed   retry          reset
			0s             TAKE 1   0               yes       0s             333.333334ms
			333.333333ms   TAKE 1   1/1000000000    no        1ns            1ns
			333.333334ms   TAKE 1   0               yes       0s             333.333334ms
			666.666667ms   TAKE 1   1/1000000000    no        1ns            1ns
			666.666668ms   TAKE 1   0               yes       0s             333.333334ms`,
		"a poller gains nothing and loses nothing by rounding": `
			TB 2 3 1s
			at             call     before          allowed   retry   reset
			0s             TAKE 2   0               yes       0s             666.666667ms
			333.333334ms   TAKE 1   499999999/500000000   yes   0s    666.666666ms
			666.666667ms   TAKE 1   999999999/1000000000  yes   0s    666.666667ms
			1s             TAKE 1   1               yes       0s      666.666667ms`,
		"the debt outlives a change of capacity": `
			TB 100 10 1s
			at    call      allowed   limit   remaining   used   retry   reset
			0s    TAKE 10   yes       100     90          10     0s      1s
			TB 200 10 1s
			0s    PEEK 1    yes       200     190         10     0s      1s
			TB 5 10 1s
			0s    TAKE 1    no        5       0           10     600ms   1s
			0s    TAKE 5    no        5       0           10     1s      1s
			0s    TAKE 6    no        5       0           10     never   1s
			TB 200 10 1s
			0s    TAKE 1    yes       200     189         11     0s      1.1s`,
		"a new rate begins with the call that is allowed": `
			TB 10 1 1s
			at    call      before   allowed   remaining   retry   reset
			0s    TAKE 10   0        yes       0           0s      10s
			TB 10 10 1s
			0.5s  TAKE 1    9 1/2    no        0           500ms   9.5s
			1s    TAKE 1    9        yes       0           0s      1s
			1.1s  TAKE 1    9        yes       0           0s      1s
			TB 10 1 10s
			1.2s    TAKE 1    9        yes       0           0s      100s
			11.2s   TAKE 1    9        yes       0           0s      100s`,
		"a remainder converts against the caller": `
			TB 10 1 3s
			at    call     before            allowed   remaining   reset
			0s    TAKE 1   0                 yes       9           3s
			TB 10 1 1ms
			1s    TAKE 1   2/3               yes       8           1.666667ms
			1s    PEEK 1   1 666667/1000000   yes       8           1.666667ms
			TB 10 1 1s
			1.001s  TAKE 1   666667/1000000    yes       8           1.666667s`,
		"giving back": `
			TB 10 1 1s
			at     call      before   allowed   remaining   used   reset
			0s     TAKE 10   0        yes       0           10     10s
			0.5s   GIVE 3    9 1/2    yes       3           7      6.5s
			0.5s   TAKE 3    6 1/2    yes       0           10     9.5s
			1s     GIVE 99   9        yes       10          0      0s
			1s     GIVE 99   0        yes       10          0      0s
			1s     TAKE 10   0        yes       0           10     10s
			TB 10 1 10s
			2s     GIVE 4    9        yes       5           5      50s`,
		"debit goes below zero and is waited off": `
			TB 10 1 1s
			at    call       before   allowed   remaining   used   retry   reset
			0s    DEBIT 25   0        yes       0           25     0s      25s
			0s    TAKE 1     25       no        0           25     16s     25s
			0s    TAKE 10    25       no        0           25     25s     25s
			0s    TAKE 11    25       no        0           25     never   25s
			5s    GIVE 5     20       yes       0           15     0s      15s
			11s   TAKE 1     9        yes       0           10     0s      10s`,
		"a clock that stands or steps back": `
			TB 2 1 10s
			at     call     before   allowed   remaining   retry   reset
			100s   TAKE 1   0        yes       1           0s      10s
			40s    TAKE 1   1        yes       0           0s      20s
			40s    TAKE 1   2        no        0           10s     20s
			100s   TAKE 1   2        no        0           10s     20s
			105s   TAKE 1   1 1/2    no        0           5s      15s
			99s    TAKE 1   2        no        0           10s     20s
			110s   TAKE 1   1        yes       0           0s      20s`,
		"before 1970": `
			TB 2 1 1s
			at                 call     before   allowed   remaining   retry   reset
			-60y               TAKE 2   0        yes       0           0s      2s
			-60y               TAKE 1   2        no        0           1s      2s
			-60y               PEEK 1   2        no        0           1s      2s
			-1000h             TAKE 1   0        yes       1           0s      1s`,
		"a request that would need more than 100 years": `
			TB 200000000 1 1d
			at    call            allowed    remaining    retry   reset
			0s    TAKE 200000000  ErrClear   -            -       -
			0s    TAKE 36501      ErrClear   -            -       -
			0s    TAKE 36500      yes        199963500    0s      100y
			0s    TAKE 1          ErrClear   -            -       -
			0s    DEBIT 1         ErrClear   -            -       -
			0s    PEEK 1          ErrClear   -            -       -
			1d    TAKE 1          yes        199963500    0s      100y
			TB 36500 1 1d
			1d    TAKE 1          no         0            1d      100y
			TB 36501 1 1d
			1d    TAKE 2          ErrClear   -            -       -`,
	} {
		t.Run(name, func(t *testing.T) { runTimeline(t, text) })
	}
}

// TestBucketParameters holds each parameter at its edges: what is within is
// taken, what is outside is the error that names it.
func TestBucketParameters(t *testing.T) {
	second := Rate{1, time.Second}
	for _, c := range []struct {
		name     string
		now      Instant
		capacity int64
		rate     Rate
		cost     int64
		want     error
	}{
		{"smallest", -MaxInstant, 1, Rate{1, MinPeriod}, 1, nil},
		{"largest", MaxInstant, MaxTokens, Rate{MaxTokens, MaxPeriod}, MaxTokens, nil},
		{"capacity 0", 0, 0, second, 1, ErrCapacity},
		{"capacity -1", 0, -1, second, 1, ErrCapacity},
		{"capacity over", 0, MaxTokens + 1, second, 1, ErrCapacity},
		{"capacity least", 0, math.MinInt64, second, 1, ErrCapacity},
		{"capacity most", 0, math.MaxInt64, second, 1, ErrCapacity},
		{"cost 0", 0, 1, second, 0, ErrCost},
		{"cost -1", 0, 1, second, -1, ErrCost},
		{"cost over", 0, 1, second, MaxTokens + 1, ErrCost},
		{"cost least", 0, 1, second, math.MinInt64, ErrCost},
		{"cost most", 0, 1, second, math.MaxInt64, ErrCost},
		{"tokens 0", 0, 1, Rate{0, time.Second}, 1, ErrRate},
		{"tokens -1", 0, 1, Rate{-1, time.Second}, 1, ErrRate},
		{"tokens over", 0, 1, Rate{MaxTokens + 1, time.Second}, 1, ErrRate},
		{"period 0", 0, 1, Rate{1, 0}, 1, ErrPeriod},
		{"period negative", 0, 1, Rate{1, -time.Second}, 1, ErrPeriod},
		{"period below 1 ms", 0, 1, Rate{1, time.Millisecond - 1}, 1, ErrPeriod},
		{"period no whole ms", 0, 1, Rate{1, time.Second + 1}, 1, ErrPeriod},
		{"period over", 0, 1, Rate{1, MaxPeriod + time.Millisecond}, 1, ErrPeriod},
		{"period most", 0, 1, Rate{1, math.MaxInt64}, 1, ErrPeriod},
		{"too late", MaxInstant + 1, 1, second, 1, ErrInstant},
		{"latest", math.MaxInt64, 1, second, 1, ErrInstant},
		{"too early", -MaxInstant - 1, 1, second, 1, ErrInstant},
		{"earliest", math.MinInt64, 1, second, 1, ErrInstant},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, op := range []string{"TAKE", "PEEK", "GIVE", "DEBIT"} {
				l := &bucketLimiter{capacity: c.capacity, rate: c.rate}
				if _, err := obey(t, op, l, c.now, op, c.cost); err != c.want {
					t.Errorf("%s: error %v, want %v", op, err, c.want)
				}
			}
			if c.cost == 1 {
				if _, err := (Bucket{}).Next(c.now, c.capacity, c.rate); err != c.want {
					t.Errorf("Next: error %v, want %v", err, c.want)
				}
			}
		})
	}
}

// TestBucketDebtBound shows that a debt ends where MaxDebt says.
func TestBucketDebtBound(t *testing.T) {
	var b Bucket
	rate := Rate{MaxTokens, MinPeriod}
	for range MaxDebt / MaxTokens {
		next, _, err := b.Debit(noon, 1, rate, MaxTokens)
		if err != nil {
			t.Fatal(err)
		}
		b = next
	}
	_, d, err := b.Debit(noon, 1, rate, 1)
	if err != ErrDebt || d != (Decision{}) {
		t.Fatalf("one more: %+v, %v", d, err)
	}
	d, err = b.Peek(noon, 1, rate, 1)
	if err != nil || d.Used != MaxDebt || d.Remaining != 0 || d.RetryAfter != 1_000_000*MinPeriod {
		t.Fatalf("at the bound: %+v, %v", d, err)
	}
}

// TestBucketWithoutAt shows that a store whose clock never steps back need not
// keep At.
func TestBucketWithoutAt(t *testing.T) {
	rate, now := Rate{7, time.Second}, noon
	var whole, bare Bucket
	for i := range int64(200) {
		now += Instant(i*i) * Instant(time.Millisecond) / 100
		var d1, d2 Decision
		var err1, err2 error
		whole, d1, err1 = whole.Take(now, 5, rate, 1+i%3)
		bare, d2, err2 = bare.Take(now, 5, rate, 1+i%3)
		bare.At = 0
		if d1 != d2 || err1 != nil || err2 != nil {
			t.Fatalf("call %d: %+v %v, without At %+v %v", i, d1, err1, d2, err2)
		}
	}
}

// TestBucketDamaged shows that a state no call returned is refused, not used.
func TestBucketDamaged(t *testing.T) {
	good := Bucket{Clear: noon + 1, At: noon, Rate: Rate{10, time.Second}}
	damage := map[string]func(*Bucket){
		"no rate":            func(b *Bucket) { b.Rate = Rate{} },
		"negative tokens":    func(b *Bucket) { b.Rate.Tokens = -1 },
		"no period":          func(b *Bucket) { b.Rate.Period = 0 },
		"odd period":         func(b *Bucket) { b.Rate.Period++ },
		"negative rest":      func(b *Bucket) { b.Rem = -1 },
		"rest over":          func(b *Bucket) { b.Rem = 10 },
		"more than MaxClear": func(b *Bucket) { b.Clear = noon + Instant(MaxClear) + 1 },
		"far beyond":         func(b *Bucket) { b.Clear, b.At = math.MaxInt64, -MaxInstant },
		"more than MaxDebt": func(b *Bucket) {
			b.Rate, b.Clear = Rate{MaxTokens, MinPeriod}, noon+Instant(1_000_000*MinPeriod)+1
		},
	}
	for name, harm := range damage {
		t.Run(name, func(t *testing.T) {
			b := good
			harm(&b)
			for _, op := range []string{"TAKE", "PEEK", "GIVE", "DEBIT"} {
				l := &bucketLimiter{bucket: b, capacity: 10, rate: good.Rate}
				if _, err := obey(t, op, l, -MaxInstant, op, 1); err != ErrState {
					t.Errorf("%s: error %v", op, err)
				}
			}
		})
	}
}

package limit

import (
	"math"
	"testing"
	"time"
)

func TestQueueTimelines(t *testing.T) {
	for name, text := range map[string]string{
		"departures keep their distance": `
			LB.QUEUE 3 1s MAX 1000 MAXWAIT 1m
			at      call     allowed   wait           remaining   retry   reset
			0s      TAKE 1   yes       0s             999         0s      333.333334ms
			0s      TAKE 1   yes       333.333334ms   998         0s      666.666667ms
			0s      TAKE 1   yes       666.666667ms   997         0s      1s
			0s      TAKE 1   yes       1s             996         0s      1.333333334s
			0.5s    TAKE 3   yes       833.333334ms   994         0s      1.833333334s
			10s     TAKE 1   yes       0s             999         0s      333.333334ms`,
		"the queue is full": `
			LB.QUEUE 1 1s MAX 3 MAXWAIT 1h
			at      call     before   allowed   wait   remaining   retry   reset   next
			0s      TAKE 2   0        yes       0s     1           0s      2s      1s
			0s      TAKE 2   2        no        0s     1           1s      2s      1s
			0s      TAKE 1   2        yes       2s     0           0s      3s      1s
			0.5s    TAKE 3   2 1/2    no        0s     0           2.5s    2.5s    500ms
			1s      TAKE 4   2        no        0s     1           never   2s      1s
			3s      TAKE 3   0        yes       0s     0           0s      3s      1s`,
		"the wait is too long": `
			LB.QUEUE 1 1s MAX 100 MAXWAIT 2s
			at      call      before   allowed   wait   remaining   retry   next
			0s      TAKE 3    0        yes       0s     0           0s      1s
			0s      TAKE 1    3        no        0s     0           1s      1s
			1s      TAKE 90   2        yes       2s     0           0s      90s
			LB.QUEUE 1 1s MAX 100 MAXWAIT 0s
			91s     TAKE 1    2        no        0s     0           2s      2s
			93s     TAKE 1    0        yes       0s     0           0s      1s`,
		"a faster rate drains sooner": `
			LB.QUEUE 1 1s MAX 100 MAXWAIT 10s
			at      call      before   allowed   wait     remaining   retry   reset
			0s      TAKE 20   0        yes       0s       0           0s      20s
			0s      TAKE 1    20       no        0s       0           10s     20s
			LB.QUEUE 4 1s MAX 100 MAXWAIT 4s
			0s      TAKE 1    20       no        0s       0           4s      20s
			4s      TAKE 1    16       yes       4s       0           0s      4.25s`,
		"another period counts in another unit": `
			LB.QUEUE 1 3s MAX 100 MAXWAIT 1m
			at      call     before   allowed   wait            reset
			0s      TAKE 1   0        yes       0s              3s
			LB.QUEUE 1 1ms MAX 100 MAXWAIT 1ms
			1s      TAKE 1   2/3      yes       666.667us       1.666667ms
			LB.QUEUE 1 1s MAX 100 MAXWAIT 1m
			1s      TAKE 1   1 666667/1000000   yes   1.666667s   2.666667s`,
		"one state seen three ways": `
			TB 5 1 1s
			at      call      before   allowed   remaining   reset
			0s      TAKE 3    0        yes       2           3s
			LB.QUEUE 1 1s MAX 5 MAXWAIT 1m
			0s      TAKE 1    3        yes       1           4s
			0s      GIVE 1    4        yes       2           3s
			TB 5 1 1s
			0s      TAKE 3    3        no        2           3s
			0s      TAKE 2    3        yes       0           5s`,
		"it would need more than 100 years": `
			LB.QUEUE 1 3650d MAX 100 MAXWAIT 3650d
			at      call      allowed    retry
			0s      TAKE 11   ErrClear   -
			0s      TAKE 1    yes        0s
			0s      TAKE 10   ErrClear   -
			0s      TAKE 9    yes        0s
			0s      TAKE 1    no         90y
			0s      TAKE 10   ErrClear   -`,
	} {
		t.Run(name, func(t *testing.T) { runTimeline(t, text) })
	}
}

// TestQueueParameters holds the one parameter that Take has not at its edges.
func TestQueueParameters(t *testing.T) {
	for wait, want := range map[time.Duration]error{
		0: nil, 1: nil, MaxPeriod: nil,
		-1: ErrWait, math.MinInt64: ErrWait, MaxPeriod + 1: ErrWait, math.MaxInt64: ErrWait,
	} {
		l := &bucketLimiter{capacity: 1, rate: Rate{1, time.Second}, queue: true, maxWait: wait}
		if _, err := obey(t, wait.String(), l, noon, "TAKE", 1); err != want {
			t.Errorf("longest wait %v: error %v, want %v", wait, err, want)
		}
	}
}

// TestQueueNeverGathers shows that requests which come evenly, at the rate or
// below, never wait longer than the first of them.
func TestQueueNeverGathers(t *testing.T) {
	var b Bucket
	rate := Rate{3, time.Second}
	for i := range int64(3000) {
		now := noon + Instant(i*333_333_334)
		next, d, wait, err := b.Queue(now, rate, 2, time.Second, 1)
		if err != nil || !d.Allowed || wait != 0 {
			t.Fatalf("request %d: %+v, wait %v, %v", i, d, wait, err)
		}
		b = next
	}
}

package limit

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestBucketTwin drives a bucket and its twin through the same calls with
// ordinary and hostile parameters that change on the way.
func TestBucketTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, twin := &bucketLimiter{}, &bucketTwin{}
		redraw := func() {
			l.capacity = wild().Draw(t, "capacity")
			l.rate = Rate{wild().Draw(t, "tokens"), wildPeriods().Draw(t, "period")}
			l.queue = rapid.Bool().Draw(t, "queue")
			l.maxWait = rapid.OneOf(periods(), rapid.Just[time.Duration](0)).Draw(t, "maxWait")
		}
		redraw()
		now := rapid.SampledFrom([]Instant{noon, 0, -MaxInstant, MaxInstant}).Draw(t, "start")
		ops := rapid.SampledFrom([]string{"TAKE", "TAKE", "TAKE", "TAKE", "PEEK", "GIVE", "DEBIT"})
		for i := range rapid.IntRange(1, 40).Draw(t, "calls") {
			if rapid.IntRange(0, 7).Draw(t, "change") == 0 {
				redraw()
			}
			now += Instant(steps(l.rate.Period).Draw(t, "step"))
			op, cost := ops.Draw(t, "op"), wild().Draw(t, "cost")
			label := fmt.Sprintf("call %d: %s %d at %d of %+v", i, op, cost, now, *l)
			want, wantErr := twin.call(l, now, op, cost)
			got, err := obey(t, label, l, now, op, cost)
			if got != want || err != wantErr {
				t.Fatalf("%s\n got %+v %v\nwant %+v %v", label, got, err, want, wantErr)
			}
		}
	})
}

// TestBucketTwinOrdinary is the same with parameters as people use them, so that
// long runs go without an error.
func TestBucketTwinOrdinary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, twin := &bucketLimiter{}, &bucketTwin{}
		l.capacity = rapid.Int64Range(1, 100).Draw(t, "capacity")
		l.rate = Rate{rapid.Int64Range(1, 1000).Draw(t, "tokens"), periods().Draw(t, "period")}
		now := noon
		for i := range rapid.IntRange(1, 100).Draw(t, "calls") {
			now += Instant(rapid.Int64Range(0, int64(l.rate.Period)/l.rate.Tokens*3).Draw(t, "step"))
			op := rapid.SampledFrom([]string{"TAKE", "TAKE", "TAKE", "GIVE", "DEBIT"}).Draw(t, "op")
			cost := rapid.Int64Range(1, 5).Draw(t, "cost")
			label := fmt.Sprintf("call %d: %s %d at %d of %+v", i, op, cost, now, *l)
			want, wantErr := twin.call(l, now, op, cost)
			got, err := obey(t, label, l, now, op, cost)
			if got != want || err != wantErr {
				t.Fatalf("%s\n got %+v %v\nwant %+v %v", label, got, err, want, wantErr)
			}
		}
	})
}

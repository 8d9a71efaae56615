package limit

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// rates are rates as callers ask for them, from the slowest to the fastest.
func rates() *rapid.Generator[Rate] {
	return rapid.Custom(func(t *rapid.T) Rate {
		return Rate{amounts().Draw(t, "tokens"), periods().Draw(t, "period")}
	})
}

// TestBucketAdmitsNoMore holds the promise of a token bucket: in no interval is
// more admitted than capacity + rate * time, and what was given back. The clock
// stands, jumps and steps back; time is the latest it ever showed.
func TestBucketAdmitsNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity, rate := rapid.Int64Range(1, 1000).Draw(t, "capacity"), rates().Draw(t, "rate")
		token := int64(rate.Period)/rate.Tokens + 1
		step := rapid.OneOf(rapid.Int64Range(0, token), rapid.Int64Range(0, 3*token),
			rapid.Int64Range(-10*token, 10*token), rapid.Just(-int64(MaxPeriod)))
		var b Bucket
		var passed []event
		now, latest := noon, noon
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now += Instant(step.Draw(t, "step"))
			if b == (Bucket{}) {
				now = max(now, latest) // it has seen nothing, and could not tell
			}
			latest = max(latest, now)
			cost := rapid.Int64Range(1, min(capacity, 7)).Draw(t, "cost")
			call, sign := b.Take, int64(1)
			if rapid.IntRange(0, 9).Draw(t, "give") == 0 {
				call, sign = b.Give, -1
			}
			owed := tokensOwed(b, now, capacity, rate)
			next, d, err := call(now, capacity, rate, cost)
			if err == ErrClear {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if b = next; d.Allowed && sign > 0 {
				passed = append(passed, event{latest, cost})
			} else if d.Allowed {
				passed = append(passed, event{latest, -min(cost, owed)})
			}
		}
		checkIntervals(t, passed, capacity, rate)
	})
}

// tokensOwed is the debt in tokens, rounded up.
func tokensOwed(b Bucket, now Instant, capacity int64, rate Rate) int64 {
	d, err := b.Peek(now, capacity, rate, 1)
	if err != nil {
		return 0
	}
	return d.Used
}

// checkIntervals adds up what passed in every interval.
func checkIntervals(t *rapid.T, passed []event, capacity int64, rate Rate) {
	for i := range passed {
		sum := int64(0)
		for _, e := range passed[i:] {
			sum += e.cost
			most := ratio(int64(e.at-passed[i].at), 1)
			most.Mul(most, ratio(rate.Tokens, int64(rate.Period))).Add(most, ratio(capacity, 1))
			if ratio(sum, 1).Cmp(most) > 0 {
				t.Fatalf("%d in %d ns, at most %v", sum, e.at-passed[i].at, most.FloatString(3))
			}
		}
	}
}

// TestBucketDoesNotDrift takes one token as soon as it is there, many times over.
// The n-th after the first two must come exactly n periods/tokens after the
// start, rounded up once and not once per token. (The capacity is 2 because a
// bucket of 1 is full, and idle, for the rest of the nanosecond it is polled in.)
func TestBucketDoesNotDrift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := periods().Draw(t, "period")
		rate := Rate{rapid.Int64Range(1, min(int64(period), MaxTokens)).Draw(t, "tokens"), period}
		b, _, err := (Bucket{}).Take(noon, 2, rate, 2)
		for n := int64(1); n <= 200 && err == nil; n++ {
			exact := new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(rate.Period)))
			due := new(big.Rat).SetFrac(exact, big.NewInt(rate.Tokens))
			if due.Cmp(ratio(int64(MaxInstant-noon), 1)) > 0 {
				return
			}
			at := noon + Instant(ceil(due))
			var d, early Decision
			early, err = b.Peek(at-1, 2, rate, 1)
			if err != nil || early.Allowed {
				t.Fatalf("token %d a nanosecond before %d: %+v %v", n, at, early, err)
			}
			b, d, err = b.Take(at, 2, rate, 1)
			if err != nil || !d.Allowed {
				t.Fatalf("token %d at %d: %+v %v", n, at, d, err)
			}
		}
	})
}

// saturate takes single tokens as soon as they are there, until an instant, and
// returns how many it got.
func saturate(t *testing.T, capacity int64, rate Rate, start, end Instant) (taken int64) {
	t.Helper()
	var b Bucket
	var d Decision
	for now := start; now <= end; {
		if err := b.TakeInto(&d, now, capacity, rate, 1); err != nil {
			t.Fatal(err)
		}
		if d.Allowed {
			taken++
		} else {
			now += Instant(d.RetryAfter)
		}
	}
	return taken
}

// TestBucketAtEveryRate counts what a caller gets who never stops asking: capacity
// and then rate * time, to the token.
func TestBucketAtEveryRate(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for _, c := range []struct {
		rate Rate
		span time.Duration
		want int64
	}{
		{Rate{1, year}, 90 * year, 90},
		{Rate{1, 10 * time.Second}, time.Hour, 360},
		{Rate{500, time.Hour}, 24 * time.Hour, 12_000},
		{Rate{1001, time.Second}, 10 * time.Second, 10_010},
		{Rate{600_000, time.Second}, time.Second, 600_000},
		{Rate{700_000, time.Second}, time.Second, 700_000},
		{Rate{1_000_000, time.Second}, time.Second, 1_000_000},
		{Rate{86_400_007, 24 * time.Hour}, 10 * time.Minute, 600_000},
	} {
		start := Instant(0)
		for _, capacity := range []int64{2, 10} {
			got := saturate(t, capacity, c.rate, start, start+Instant(c.span))
			if got != capacity+c.want {
				t.Errorf("%d and %d per %v in %v: %d", capacity, c.rate.Tokens, c.rate.Period, c.span, got)
			}
		}
	}
}

// TestBucketTakesAddUp shows that taking a and then b is taking a + b.
func TestBucketTakesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rates().Draw(t, "rate")
		capacity := rapid.Int64Range(2, MaxTokens).Draw(t, "capacity")
		a := rapid.Int64Range(1, capacity-1).Draw(t, "a")
		c := rapid.Int64Range(1, capacity-a).Draw(t, "b")
		once, d1, err1 := (Bucket{}).Take(noon, capacity, rate, a+c)
		if err1 != nil {
			return // ErrClear, and it is held elsewhere
		}
		twice, _, _ := (Bucket{}).Take(noon, capacity, rate, a)
		twice, d2, err2 := twice.Take(noon, capacity, rate, c)
		if once != twice || d1 != d2 || err2 != nil {
			t.Fatalf("at once %+v %+v, one by one %+v %+v %v", once, d1, twice, d2, err2)
		}
		back, d3, err3 := twice.Give(noon, capacity, rate, c)
		if first, _, _ := (Bucket{}).Take(noon, capacity, rate, a); back != first || err3 != nil {
			t.Fatalf("given back %+v %+v %v, want %+v", back, d3, err3, first)
		}
	})
}

// TestBucketIntoIsTake shows that the two spellings of Take are one.
func TestBucketIntoIsTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Bucket
		now := noon
		for range rapid.IntRange(1, 20).Draw(t, "calls") {
			now += Instant(steps(time.Second).Draw(t, "step"))
			capacity, rate := wild().Draw(t, "capacity"), Rate{wild().Draw(t, "tokens"), wildPeriods().Draw(t, "period")}
			cost := wild().Draw(t, "cost")
			into, stale := b, Decision{Allowed: true, Limit: 1, Remaining: 2, Used: 3, RetryAfter: 4, ResetAfter: 5}
			intoErr := into.TakeInto(&stale, now, capacity, rate, cost)
			next, d, err := b.Take(now, capacity, rate, cost)
			if next != into || d != stale || err != intoErr {
				t.Fatalf("Take %+v %+v %v, TakeInto %+v %+v %v", next, d, err, into, stale, intoErr)
			}
			b = next
		}
	})
}

package limit

import (
	"math"
	"math/big"
	"time"

	"pgregory.net/rapid"
)

// A twin is an algorithm written down once more, as its definition reads: slow,
// in exact rationals or by counting every hit again, and without an idea of how
// the real one does it. Whatever a twin says, the real one must say too.

// event is a hit that was allowed, for those who count them one by one.
type event struct {
	at   Instant
	cost int64
}

// ratio is a/b.
func ratio(a, b int64) *big.Rat { return big.NewRat(a, b) }

// ceil is r rounded up, for r >= 0 and small enough.
func ceil(r *big.Rat) int64 {
	q, m := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64()
}

// earliest is the first of 0..most nanoseconds after which something holds that
// stays true once it is.
func earliest(most time.Duration, holds func(time.Duration) bool) time.Duration {
	low, high := time.Duration(0), most
	for low < high {
		if mid := low + (high-low)/2; holds(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// bucketTwin is a bucket as the definition has it: a debt in tokens, a rational,
// its time, and the rate it drains at.
type bucketTwin struct {
	seen bool
	debt *big.Rat
	at   Instant
	rate Rate
}

// call does what the call of l would, with l's parameters.
func (b *bucketTwin) call(l *bucketLimiter, now Instant, op string, cost int64) (answer, error) {
	if err := b.check(l, cost); err != nil {
		return answer{}, err
	}
	at := now
	if b.seen {
		at = max(at, b.at)
	}
	if at < -MaxInstant || at > MaxInstant {
		return answer{}, ErrInstant
	}
	d := bucketTwin{seen: true, debt: b.debtAt(at), at: at, rate: b.rate}
	if !b.seen {
		d.rate = l.rate
	}
	return b.decide(d, l, op, cost)
}

func (b *bucketTwin) check(l *bucketLimiter, cost int64) error {
	outside := func(n, low, high int64) bool { return n < low || n > high }
	switch {
	case outside(l.capacity, 1, MaxTokens):
		return ErrCapacity
	case outside(cost, 1, MaxTokens):
		return ErrCost
	case outside(l.rate.Tokens, 1, MaxTokens):
		return ErrRate
	case outside(int64(l.rate.Period), int64(MinPeriod), int64(MaxPeriod)) || l.rate.Period%time.Millisecond != 0:
		return ErrPeriod
	}
	return nil
}

// debtAt is what is left of the debt.
func (b *bucketTwin) debtAt(at Instant) *big.Rat {
	if !b.seen {
		return new(big.Rat)
	}
	flow := ratio(b.rate.Tokens, int64(b.rate.Period))
	left := new(big.Rat).Sub(b.debt, flow.Mul(flow, ratio(int64(at)-int64(b.at), 1)))
	if left.Sign() < 0 {
		return new(big.Rat)
	}
	return left
}

// clears is how long a debt takes at a rate, in nanoseconds.
func clears(debt *big.Rat, rate Rate) *big.Rat {
	return new(big.Rat).Mul(debt, ratio(int64(rate.Period), rate.Tokens))
}

// decide carries out a call on the drained bucket d.
func (b *bucketTwin) decide(d bucketTwin, l *bucketLimiter, op string, cost int64) (a answer, err error) {
	if !asks(op) { // those are a bucket's
		meter := *l
		meter.queue = false
		l = &meter
	}
	change := cost
	switch op {
	case "GIVE":
		change = -cost
	case "TAKE", "PEEK":
		if wait := d.wait(l, cost); wait != 0 {
			if wait > 0 && d.hopeless(l, cost) {
				return a, ErrClear
			}
			a.Decision = d.stands(l)
			a.Allowed, a.RetryAfter = false, wait
			return a, nil
		}
	}
	next := bucketTwin{seen: true, debt: new(big.Rat).Set(d.debt), at: d.at, rate: l.rate}
	if d.rate.Period != l.rate.Period { // to whole 1/Period of a token
		units := new(big.Rat).Mul(d.debt, ratio(int64(l.rate.Period), 1))
		whole, part := new(big.Int).QuoRem(units.Num(), units.Denom(), new(big.Int))
		if part.Sign() > 0 {
			whole.Add(whole, big.NewInt(1))
		}
		next.debt.SetFrac(whole, big.NewInt(int64(l.rate.Period)))
	}
	if l.queue && op == "TAKE" {
		a.wait = time.Duration(ceil(clears(next.debt, l.rate)))
	}
	next.debt.Add(next.debt, ratio(change, 1))
	if op == "GIVE" && next.debt.Cmp(ratio(0, 1)) <= 0 {
		next = bucketTwin{debt: new(big.Rat)}
	}
	if clears(next.debt, l.rate).Cmp(ratio(int64(MaxClear), 1)) > 0 {
		return answer{}, ErrClear
	}
	if next.debt.Cmp(ratio(MaxDebt, 1)) > 0 {
		return answer{}, ErrDebt
	}
	if op == "PEEK" {
		a.Decision = d.stands(l)
	} else {
		*b = next
		a.Decision = next.stands(l)
		if !next.seen {
			a.Remaining = l.capacity
		}
	}
	a.Allowed = true
	return a, nil
}

// fits reports that the request would be granted after some more time.
func (b *bucketTwin) fits(l *bucketLimiter, cost int64, later time.Duration) bool {
	debt := b.debtAt(b.at + Instant(later))
	after := new(big.Rat).Add(debt, ratio(cost, 1))
	if after.Cmp(ratio(l.capacity, 1)) > 0 {
		return false
	}
	return !l.queue || clears(debt, l.rate).Cmp(ratio(int64(l.maxWait), 1)) <= 0
}

// wait is the time until the request fits, found by trying.
func (b *bucketTwin) wait(l *bucketLimiter, cost int64) time.Duration {
	if cost > l.capacity {
		return Never
	}
	return earliest(MaxClear, func(d time.Duration) bool { return b.fits(l, cost, d) })
}

// hopeless reports that by the time the request fits, granting it would leave a
// debt that needs more than MaxClear.
func (b *bucketTwin) hopeless(l *bucketLimiter, cost int64) bool {
	after := ratio(l.capacity, 1)
	if l.queue {
		queued := new(big.Rat).Mul(ratio(int64(l.maxWait), 1), ratio(l.rate.Tokens, int64(l.rate.Period)))
		if queued.Add(queued, ratio(cost, 1)); queued.Cmp(after) < 0 {
			after = queued
		}
	}
	return clears(after, l.rate).Cmp(ratio(int64(MaxClear), 1)) > 0
}

// stands is the Decision of the bucket as it stands.
func (b *bucketTwin) stands(l *bucketLimiter) Decision {
	used := ceil(b.debt)
	d := Decision{Limit: l.capacity, Remaining: max(0, l.capacity-used), Used: used}
	if b.seen && used > 0 {
		d.ResetAfter = time.Duration(ceil(clears(b.debt, b.rate)))
	}
	if l.queue && b.seen && clears(b.debt, l.rate).Cmp(ratio(int64(l.maxWait), 1)) > 0 {
		d.Remaining = 0
	}
	return d
}

// amounts are numbers as callers send them: small ones, ordinary ones, and those
// at the edges of what is taken and of int64.
func amounts() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64Range(1, 12), rapid.Int64Range(1, 12), rapid.Int64Range(1, 2_000_000),
		rapid.Int64Range(1, MaxTokens),
		rapid.SampledFrom([]int64{MaxTokens, MaxTokens - 1, 700_000, 1_000_003}),
	)
}

// wild are amounts of which some are no good.
func wild() *rapid.Generator[int64] {
	return rapid.OneOf(amounts(), amounts(), amounts(), amounts(), rapid.SampledFrom([]int64{
		0, -1, MaxTokens + 1, math.MinInt64, math.MaxInt64, math.MinInt64 + 1, math.MaxInt64 - 1, 1 << 32, 1<<32 + 1,
	}))
}

// periods are spans as callers send them.
func periods() *rapid.Generator[time.Duration] {
	ms := func(low, high time.Duration) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.Int64Range(int64(low/time.Millisecond), int64(high/time.Millisecond)),
			func(n int64) time.Duration { return time.Duration(n) * time.Millisecond })
	}
	return rapid.OneOf(
		ms(MinPeriod, 20*time.Millisecond), ms(MinPeriod, time.Hour), ms(MinPeriod, MaxPeriod),
		rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour, 365 * 24 * time.Hour, MinPeriod, MaxPeriod}),
	)
}

// wildPeriods are periods of which some are no good.
func wildPeriods() *rapid.Generator[time.Duration] {
	return rapid.OneOf(periods(), periods(), periods(), rapid.SampledFrom([]time.Duration{
		0, 1, -time.Second, time.Second + 1, MaxPeriod + time.Millisecond, math.MaxInt64, math.MinInt64,
	}))
}

// steps are how time goes on: it stands, goes on a little or by about a period,
// jumps, and now and then steps back.
func steps(period time.Duration) *rapid.Generator[int64] {
	span := int64(min(max(period, 1), MaxPeriod))
	return rapid.OneOf(
		rapid.SampledFrom([]int64{0, 1, 999_999, 1_000_000}),
		rapid.Int64Range(0, span/4+1), rapid.Int64Range(0, 2*span), rapid.Int64Range(-span, 0),
		rapid.SampledFrom([]int64{span, span - 1, int64(MaxPeriod), -int64(MaxPeriod)}),
	)
}

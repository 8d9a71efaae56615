package limit

import "time"

// Bucket is a token bucket.
//
// In words: a bucket holds up to capacity tokens and starts full. A request
// takes as many as it costs, or is denied when there are not enough. Tokens flow
// back continuously at the rate until the bucket is full. Seen the other way
// round it is a leaky bucket used as a meter: a request pours in its cost, the
// water leaks out at the rate, and what would overflow is denied.
//
// What is kept is the debt, capacity - level: it does not depend on the
// capacity, which comes with each call. And it is kept as the instant at which
// the debt will be gone, because then the passing of time changes nothing that
// is stored. That instant is a rational number of nanoseconds,
// Clear + Rem/Tokens, so a rate that is no whole number of nanoseconds per token
// (700,000 a second is 1428 4/7) is kept exactly.
//
// Formula, with T tokens per period of P ns:
//
//	debt(t)    = max(0, ((Clear - t) * T + Rem) / P)     tokens, 0 <= Rem < T
//	allowed   <=> debt(t) + cost <= capacity
//	allowed    => debt grows by cost: Clear + Rem/T grows by cost * P / T ns
//	remaining  = capacity - ceil(debt)
//	retry      = ceil((debt + cost - capacity) * P / T)  ns
//	reset      = ceil(debt * P / T)                      ns
//
// Units: tokens are whole numbers to the caller and rationals inside, time is in
// nanoseconds.
//
// Error bound: none. Over any pattern of calls the number admitted is what exact
// rational arithmetic admits. Only a change of the rate's period converts the
// debt to a new unit; it rounds up, by less than 1/P of a token.
//
// Weakness: a caller who waited may use capacity + rate * time within one
// interval, up to twice the rate if capacity is one period's worth.
//
// Source: J. S. Turner, New Directions in Communications, IEEE Communications
// Magazine, October 1986 (the leaky bucket as a meter); ITU-T Recommendation
// I.371, Annex A (its two equal forms: the level, and the "theoretical arrival
// time", which is Clear).
//
// Worked timeline, capacity 10, one token per 6 s:
//
//	TB 10 1 6s
//	at    call      before   allowed   remaining   retry   reset
//	0s    TAKE 4    0        yes       6           0s      24s
//	3s    TAKE 6    3 1/2    yes       0           0s      57s
//	5s    TAKE 1    9 1/6    no        0           1s      55s
//	6s    TAKE 1    9        yes       0           0s      60s
//	66s   TAKE 11   0        no        10          never   0s
//
// The zero value has never been seen: it owes nothing.
type Bucket struct {
	// Clear and Rem say when the debt is gone: Rem/Rate.Tokens ns after Clear.
	Clear Instant
	Rem   int64
	// At is the latest instant the bucket has seen; an earlier one counts as it.
	// Whoever can promise that time never decreases may drop it (leave it 0).
	At Instant
	// Rate is the rate at which the debt drains, the one of the last call that
	// changed the bucket.
	Rate Rate
}

// Take takes cost tokens if the bucket holds them.
//
// The time up to the call drains at the rate on record; if the call is allowed
// its own rate then replaces it. The debt stays: of a bucket of 100 with 10
// used, 190 are left of 200, or 0 of 5. A denied call returns b as it is.
func (b Bucket) Take(now Instant, capacity int64, rate Rate, cost int64) (next Bucket, d Decision, err error) {
	next.Clear, next.Rem, next.At, next.Rate = b.Clear, b.Rem, b.At, b.Rate
	err = next.TakeInto(&d, now, capacity, rate, cost)
	return
}

// TakeInto is Take for a caller that owns both values: b is changed in place,
// and only if the call is allowed; d is overwritten in any case. It saves the
// copies of Take, which cost more than the arithmetic.
func (b *Bucket) TakeInto(d *Decision, now Instant, capacity int64, rate Rate, cost int64) error {
	*d = Decision{}
	at, debt, err := b.owed(now, capacity, rate, cost)
	if err != nil {
		return err
	}
	if !b.fits(debt, capacity, rate, cost) {
		return b.deny(d, at, debt, capacity, rate, cost)
	}
	s, err := sumUp(b.convert(debt, rate).plus(product(cost, int64(rate.Period))), rate)
	if err != nil {
		return err
	}
	b.settle(d, at, s, capacity, rate)
	return nil
}

// Peek answers what Take would: Allowed, RetryAfter and the error are Take's.
// Remaining, Used and ResetAfter are those of the bucket as it stands.
func (b Bucket) Peek(now Instant, capacity int64, rate Rate, cost int64) (Decision, error) {
	at, debt, err := b.owed(now, capacity, rate, cost)
	if err != nil {
		return Decision{}, err
	}
	_, d, err := b.Take(now, capacity, rate, cost)
	if err == nil && d.Allowed {
		b.report(&d, at, debt, capacity, rate)
	}
	return d, err
}

// Give gives cost tokens back, as far as they are owed: a bucket is never more
// than full. A full one is as if never seen, so the zero Bucket is returned.
func (b Bucket) Give(now Instant, capacity int64, rate Rate, cost int64) (Bucket, Decision, error) {
	at, debt, err := b.owed(now, capacity, rate, cost)
	if err != nil {
		return b, Decision{}, err
	}
	back := product(cost, int64(b.record(rate).Period))
	if !debt.above(back) {
		return Bucket{}, Decision{Allowed: true, Limit: capacity, Remaining: capacity}, nil
	}
	s, err := sumUp(b.convert(debt.minus(back), rate), rate)
	if err != nil {
		return b, Decision{}, err
	}
	var d Decision
	b.settle(&d, at, s, capacity, rate)
	return b, d, nil
}

// Debit charges cost tokens whether the bucket holds them or not, for work that
// is already done. Later calls wait the debt off.
func (b Bucket) Debit(now Instant, capacity int64, rate Rate, cost int64) (Bucket, Decision, error) {
	at, debt, err := b.owed(now, capacity, rate, cost)
	if err != nil {
		return b, Decision{}, err
	}
	s, err := sumUp(b.convert(debt, rate).plus(product(cost, int64(rate.Period))), rate)
	if err != nil {
		return b, Decision{}, err
	}
	var d Decision
	b.settle(&d, at, s, capacity, rate)
	return b, d, nil
}

// Next is the time until the bucket would grant at least one unit more than its
// Remaining, if nobody comes; 0 when it is full.
func (b Bucket) Next(now Instant, capacity int64, rate Rate) (time.Duration, error) {
	_, debt, err := b.owed(now, capacity, rate, 1)
	if err != nil || debt.zero() {
		return 0, err
	}
	record := b.record(rate)
	level := min(tokens(debt, record), capacity) - 1
	return drain(debt, product(level, int64(record.Period)), record), nil
}

// Expiry is the first whole nanosecond at which the debt is gone, and the bucket
// as if never seen. It is 0 for the zero Bucket.
func (b Bucket) Expiry() Instant { return Instant(upward(int64(b.Clear), b.Rem)) }

// A debt is held in units of 1/Period of a token, at the rate on record; that
// makes it a whole number at every instant. The functions below never copy a
// Bucket or a Decision: five and six words do not fit the registers, and a copy
// through memory takes longer than a division.

// owed checks a call and returns the instant that counts and the debt at it.
func (b *Bucket) owed(now Instant, capacity int64, rate Rate, cost int64) (at Instant, debt wide, err error) {
	if err = checkCall(capacity, rate, cost); err != nil {
		return now, debt, err
	}
	if b.Rate.Tokens == 0 {
		return now, debt, b.checkUnseen(now)
	}
	at = max(b.At, now)
	if !timely(at) {
		return at, debt, ErrInstant
	}
	if b.Rate != rate && b.Rate.check() != nil || uint64(b.Rem) >= uint64(b.Rate.Tokens) {
		return at, debt, ErrState
	}
	if b.Clear < at {
		return at, debt, nil
	}
	span := uint64(b.Clear) - uint64(at)
	debt = product(int64(span), b.Rate.Tokens).plus(wide{lo: uint64(b.Rem)})
	if span > uint64(MaxClear) || debt.above(product(MaxDebt, int64(b.Rate.Period))) {
		return at, wide{}, ErrState
	}
	return at, debt, nil
}

// checkCall returns what is wrong with the parameters of a call.
func checkCall(capacity int64, rate Rate, cost int64) error {
	if !within(capacity, MaxTokens) {
		return ErrCapacity
	}
	if !within(cost, MaxTokens) {
		return ErrCost
	}
	return rate.check()
}

// checkUnseen is for a bucket without a rate: the zero value is the only one.
func (b *Bucket) checkUnseen(now Instant) error {
	if *b != (Bucket{}) {
		return ErrState
	}
	if !timely(now) {
		return ErrInstant
	}
	return nil
}

// record is the rate the debt is measured in and drains at: the one on record,
// or the call's if there is none.
func (b *Bucket) record(rate Rate) Rate {
	if b.Rate.Tokens == 0 {
		return rate
	}
	return b.Rate
}

// fits reports debt + cost <= capacity.
func (b *Bucket) fits(debt wide, capacity int64, rate Rate, cost int64) bool {
	return cost <= capacity && !debt.above(product(capacity-cost, int64(b.record(rate).Period)))
}

// convert expresses a debt in the unit of another rate, rounding up: against the
// caller, by less than one new unit.
func (b *Bucket) convert(debt wide, rate Rate) wide {
	from, to := int64(b.record(rate).Period), int64(rate.Period)
	if from == to {
		return debt
	}
	whole, part, _ := debt.over(from)          // at most MaxDebt, by owed
	share, _ := product(part, to).overUp(from) // at most to, as part < from
	return product(whole, to).plus(wide{lo: uint64(share)})
}

// sum is what a debt comes to at a rate: it is gone rem/Tokens ns after clear ns,
// and it is used tokens, rounded up.
type sum struct{ clear, rem, used int64 }

// sumUp works a debt out, or says that it is more than a bucket may owe.
func sumUp(debt wide, rate Rate) (s sum, err error) {
	clear, rem, ok := debt.over(rate.Tokens)
	if !ok || clear > int64(MaxClear) || clear == int64(MaxClear) && rem > 0 {
		return s, ErrClear
	}
	used, ok := debt.overUp(int64(rate.Period))
	if !ok || used > MaxDebt {
		return s, ErrDebt
	}
	return sum{clear, rem, used}, nil
}

// settle writes the debt of s, owed at an instant and draining at a rate, into
// the bucket, and the Decision of the call that passed.
func (b *Bucket) settle(d *Decision, at Instant, s sum, capacity int64, rate Rate) {
	b.Clear, b.Rem, b.At, b.Rate = at+Instant(s.clear), s.rem, at, rate
	d.Allowed, d.Limit = true, capacity
	d.Remaining, d.Used = max(0, capacity-s.used), s.used
	d.RetryAfter, d.ResetAfter = 0, time.Duration(upward(s.clear, s.rem))
}

// report writes into a Decision how the bucket stands.
func (b *Bucket) report(d *Decision, at Instant, debt wide, capacity int64, rate Rate) {
	used := tokens(debt, b.record(rate))
	d.Limit, d.Remaining, d.Used, d.ResetAfter = capacity, max(0, capacity-used), used, 0
	if used > 0 {
		d.ResetAfter = time.Duration(upward(int64(b.Clear-at), b.Rem))
	}
}

// deny writes the Decision of a Take that does not fit. It is ErrClear when
// waiting would not help either, because the full debt the grant would leave
// needs more than MaxClear.
func (b *Bucket) deny(d *Decision, at Instant, debt wide, capacity int64, rate Rate, cost int64) error {
	retry := Never
	if cost <= capacity {
		if tooLong(product(capacity, int64(rate.Period)), rate) {
			return ErrClear
		}
		record := b.record(rate)
		retry = drain(debt, product(capacity-cost, int64(record.Period)), record)
	}
	b.report(d, at, debt, capacity, rate)
	d.RetryAfter = retry
	return nil
}

// tooLong reports that a debt needs more than MaxClear to drain.
func tooLong(debt wide, rate Rate) bool {
	return debt.above(product(int64(MaxClear), rate.Tokens))
}

// tokens is a debt that owed or sumUp let pass in whole tokens, rounded up.
func tokens(debt wide, rate Rate) int64 {
	n, _ := debt.overUp(int64(rate.Period)) // at most MaxDebt
	return n
}

// drain is the time until a debt is down to a level, rounded up. Time passes at
// the rate on record, whatever rate the call came with.
func drain(debt, level wide, record Rate) time.Duration {
	if !debt.above(level) {
		return 0
	}
	wait, _ := debt.minus(level).overUp(record.Tokens) // at most MaxClear, by owed
	return time.Duration(wait)
}

package limit

import "time"

// Queue passes a request through the leaky bucket as a queue.
//
// In words: requests leave one after another at a constant rate. A request is
// told at once how long to hold still until its slot comes; it is denied, and
// takes no slot, when the queue is full or its slot is too far off. Nothing is
// queued here: the queue is the debt of the bucket, so the same state can be
// looked at with Peek.
//
// Formula, with the debt of Bucket and T tokens per period of P ns:
//
//	wait      = debt * P / T                                        ns
//	allowed  <=> debt + cost <= most  and  wait <= maxWait
//	allowed   => debt grows by cost
//	retry     = the time until both hold                            ns
//	remaining = most - ceil(debt), or 0 while the next wait is over maxWait
//
// Units: departures are P/T ns apart, a rational number kept exactly; wait is
// rounded up to the next nanosecond, so nobody leaves early, and the error does
// not add up from one request to the next.
//
// Error bound: none, as for Bucket. A wait is late by less than 1 ns.
//
// Weakness: a caller that is told to wait and gives up has used its slot all the
// same; Give returns it.
//
// Source: J. S. Turner, New Directions in Communications, IEEE Communications
// Magazine, October 1986; the queue form as in A. S. Tanenbaum, Computer
// Networks, "The Leaky Bucket Algorithm".
//
// Worked timeline, ten a second, at most 5, longest wait 300 ms:
//
//	LB.QUEUE 10 1s MAX 5 MAXWAIT 300ms
//	at      call     before   allowed   wait    retry   remaining
//	0ms     TAKE 1   0        yes       0ms     0ms     4
//	0ms     TAKE 1   1        yes       100ms   0ms     3
//	0ms     TAKE 2   2        yes       200ms   0ms     0
//	0ms     TAKE 1   4        no        0ms     100ms   0
//	100ms   TAKE 1   3        yes       300ms   0ms     0
//	700ms   TAKE 6   0        no        0ms     never   5
//
// The parameters: at most most tokens are owed at any time, the request's own
// among them; maxWait is 0..MaxPeriod. The wait of a denied request is 0.
func (b Bucket) Queue(now Instant, rate Rate, most int64, maxWait time.Duration, cost int64) (
	Bucket, Decision, time.Duration, error,
) {
	if maxWait < 0 || maxWait > MaxPeriod {
		return b, Decision{}, 0, ErrWait
	}
	at, debt, err := b.owed(now, most, rate, cost)
	if err != nil {
		return b, Decision{}, 0, err
	}
	q := queue{rate: rate, most: most, maxWait: maxWait}
	if record := b.record(rate); cost > most || debt.above(q.level(record, cost)) {
		d, err := b.turnAway(q, at, debt, cost)
		return b, d, 0, err
	}
	debt = b.convert(debt, rate)
	wait, _ := debt.overUp(rate.Tokens) // at most maxWait
	debt = debt.plus(product(cost, int64(rate.Period)))
	s, err := sumUp(debt, rate)
	if err != nil {
		return b, Decision{}, 0, err
	}
	var d Decision
	b.settle(&d, at, s, most, rate)
	q.close(&d, debt, rate)
	return b, d, time.Duration(wait), nil
}

// queue is what a call asks of its queue.
type queue struct {
	rate    Rate
	most    int64
	maxWait time.Duration
}

// turnAway is the Decision of a request that does not fit. It is ErrClear when
// waiting would not help, as for Take: by the time the debt is low enough, the
// grant would leave one that needs more than MaxClear.
func (b *Bucket) turnAway(q queue, at Instant, debt wide, cost int64) (d Decision, err error) {
	record := b.record(q.rate)
	retry := Never
	if cost <= q.most {
		if tooLong(q.level(q.rate, cost).plus(product(cost, int64(q.rate.Period))), q.rate) {
			return d, ErrClear
		}
		retry = drain(debt, q.level(record, cost), record)
	}
	b.report(&d, at, debt, q.most, q.rate)
	q.close(&d, debt, record)
	d.RetryAfter = retry
	return d, nil
}

// level is the debt, measured at a rate, at which a request of a cost that is at
// most q.most is granted.
func (q queue) level(rate Rate, cost int64) wide {
	room, horizon := product(q.most-cost, int64(rate.Period)), q.horizon(rate)
	if room.above(horizon) {
		return horizon
	}
	return room
}

// horizon is the largest debt, measured at a rate, that the call's rate drains
// within maxWait: maxWait * Tokens, converted rounding down. It is exact, as a
// debt is a whole number of units.
func (q queue) horizon(rate Rate) wide {
	whole := product(int64(q.maxWait), q.rate.Tokens)
	from, to := int64(q.rate.Period), int64(rate.Period)
	if from == to {
		return whole
	}
	n, part, ok := whole.over(from)
	if !ok || n > MaxDebt {
		n, part = MaxDebt, 0 // no bucket owes more
	}
	share, _, _ := product(part, to).over(from) // below to, as part < from
	return product(n, to).plus(wide{lo: uint64(share)})
}

// close leaves nothing remaining while the next request would wait too long.
func (q queue) close(d *Decision, debt wide, rate Rate) {
	if debt.above(q.horizon(rate)) {
		d.Remaining = 0
	}
}

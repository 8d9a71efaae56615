package limit

import "time"

// Fixed is a fixed window counter.
//
// In words: time is cut into windows of equal length, hits are counted, and a
// hit is denied when its window's count would pass the limit. The count starts
// again at 0 with the next window. Windows tile Unix time (a minute is a minute
// of the clock, a week begins on a Thursday, 1970-01-01 was one) or, with first,
// a window begins at the first hit, as with INCR and EXPIRE.
//
// Formula, with window W:
//
//	start      = floor(t / W) * W, or the instant of the first hit
//	allowed   <=> count + cost <= limit
//	remaining  = limit - count
//	retry      = reset = start + W - t                    ns
//
// Units: counts are whole, windows whole milliseconds, instants nanoseconds. A
// hit at start + W is in the next window.
//
// Error bound: none against its own definition. Against "limit in any span of
// W" it is a factor of two.
//
// Weakness: limit hits at the end of a window and limit more at the beginning of
// the next are all allowed: 2 * limit within an instant. Use Sliding or Log if
// that matters.
//
// Source: the oldest scheme there is; see "Pattern: Rate limiter 1 and 2" in the
// documentation of Redis' INCR.
//
// Worked timeline, 100 a minute:
//
//	FW 100 1m
//	at           call      before   allowed   remaining   retry   reset
//	10:00:59     HIT 100   0        yes       0           0s      1s
//	10:00:59.5   HIT 1     100      no        0           500ms   500ms
//	10:01:00     HIT 100   0        yes       0           0s      60s
//	10:01:30     HIT 1     100      no        0           30s     30s
//
// The zero value has never been seen.
type Fixed struct {
	// Count is the cost of the hits in the window that begins at Start.
	Count int64
	Start Instant
	// Window is the window's length, First that it began at the first hit. They
	// are those of the last hit that was allowed.
	Window time.Duration
	First  bool
}

// Hit counts cost hits if they stay within the limit.
//
// A window once begun ends as it began: until then its count holds, also for a
// call with another length or anchor. If such a call is allowed, the count moves
// into the window it asks for (with first, one that begins now). A denied call
// returns f as it is.
func (f Fixed) Hit(now Instant, limit int64, window time.Duration, first bool, cost int64) (
	_ Fixed, d Decision, err error,
) {
	at, count, err := f.seen(now, limit, window, cost)
	if err != nil {
		return f, d, err
	}
	if f.decide(&d, at, count, limit, cost); !d.Allowed {
		return f, d, nil
	}
	if count == 0 || f.Window != window || f.First != first {
		f = Fixed{Start: begin(at, window, first), Window: window, First: first}
	}
	f.Count = count + cost
	d.Remaining, d.Used = limit-f.Count, f.Count
	d.ResetAfter = time.Duration(f.Expiry() - at)
	return f, d, nil
}

// Peek answers what Hit would: Allowed, RetryAfter and the error are Hit's.
// Remaining, Used and ResetAfter are those of the window as it stands.
func (f Fixed) Peek(now Instant, limit int64, window time.Duration, first bool, cost int64) (
	d Decision, err error,
) {
	at, count, err := f.seen(now, limit, window, cost)
	if err == nil {
		f.decide(&d, at, count, limit, cost)
	}
	return d, err
}

// Give takes cost hits back, as far as the window of now counts any; one that is
// over takes nothing back. It keeps the window on record, whatever the call asks
// for. A count of 0 is as if never seen, so the zero Fixed is returned.
func (f Fixed) Give(now Instant, limit int64, window time.Duration, first bool, cost int64) (
	_ Fixed, d Decision, err error,
) {
	at, count, err := f.seen(now, limit, window, cost)
	if err != nil {
		return f, d, err
	}
	if f.Count = max(0, count-cost); f.Count == 0 {
		f = Fixed{}
	}
	f.decide(&d, at, f.Count, limit, 0)
	d.Allowed, d.RetryAfter = true, 0 // also when the limit is below the count
	return f, d, nil
}

// Next is the time until at least one unit more than Remaining would be granted,
// if nobody comes: the end of the window; 0 when nothing is counted.
func (f Fixed) Next(now Instant, limit int64, window time.Duration, first bool) (time.Duration, error) {
	at, count, err := f.seen(now, limit, window, 1)
	if err != nil || count == 0 {
		return 0, err
	}
	return time.Duration(f.Expiry() - at), nil
}

// Expiry is the end of the window, from which on the state is as if never seen.
// It is 0 for the zero Fixed.
func (f Fixed) Expiry() Instant { return f.Start + Instant(f.Window) }

// seen checks a call and returns the instant that counts and the count at it.
func (f Fixed) seen(now Instant, limit int64, window time.Duration, cost int64) (
	at Instant, count int64, err error,
) {
	if err := checkHit(limit, window, cost); err != nil {
		return now, 0, err
	}
	if f.Window != 0 {
		now = max(now, f.Start)
	}
	switch {
	case !timely(now):
		return now, 0, ErrInstant
	case f == Fixed{}:
		return now, 0, nil
	case !spanFits(f.Window) || !within(f.Count, MaxTokens):
		return now, 0, ErrState
	case now >= f.Expiry():
		return now, 0, nil
	}
	return now, f.Count, nil
}

// decide fills in the Decision for cost more hits in a window that counts count.
func (f Fixed) decide(d *Decision, at Instant, count, limit, cost int64) {
	d.weigh(count, limit, cost)
	if count > 0 {
		d.ResetAfter = time.Duration(f.Expiry() - at)
	}
	if !d.Allowed && cost <= limit {
		d.RetryAfter = d.ResetAfter
	}
}

// begin is the start of the window of an instant.
func begin(at Instant, window time.Duration, first bool) Instant {
	if first {
		return at
	}
	return tile(at, window)
}

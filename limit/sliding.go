package limit

import "time"

// Sliding is a sliding window counter.
//
// In words: windows tile Unix time and hits are counted in each, as in Fixed.
// But the window that counts for a hit is the one that ends with it. It covers
// the current window so far and the end of the previous one; the previous one's
// hits are taken to have come evenly, so as much of its count is used as of its
// time is covered.
//
// Formula, with window W and e = t - start, the time into the current window:
//
//	used       = floor(prev * (W - e) / W) + cur
//	allowed   <=> used + cost <= limit
//	allowed    => cur grows by cost
//	remaining  = limit - used
//	retry      = in this window, with y = limit - cost - cur >= 0:
//	               e' = W - floor(((y + 1) * W - 1) / prev), then e' - e
//	             across its end, with y = limit - cost and cur in prev's place:
//	               e' as above, then W + e' - e
//	reset      = the end of the next window if cur > 0, else of this one
//
// The floor is what makes retry look odd: floor(x) <= y as soon as x < y + 1,
// one nanosecond after x = y + 1.
//
// Units: counts are whole, windows whole milliseconds, instants nanoseconds, and
// products 128 bits.
//
// Error bound: none against its own definition; the share is rounded down, by
// less than one hit, in the caller's favour. As an estimate of the hits in the
// last W it is too low when the previous window's hits all came late: in a span
// of x <= W fewer than limit * (1 + x/W) + 1 are allowed.
//
// Weakness: that estimate. But unlike Fixed it never allows 2 * limit at once:
// after limit hits in an instant come no more than limit/W. Use Log if it must
// be exact.
//
// Source: Cloudflare, How we built rate limiting capable of scaling to millions
// of domains, 2017 (0.003 % of 400 million requests decided wrongly).
//
// Worked timeline, 100 a minute:
//
//	SWC 100 1m
//	at         call     before        allowed   remaining   retry          reset
//	10:00:30   HIT 80   0 + 0         yes       20          0s             90s
//	10:01:10   HIT 30   66 2/3 + 0    yes       4           0s             110s
//	10:01:15   HIT 1    60 + 30       yes       9           0s             105s
//	10:01:15   HIT 20   60 + 31       no        9           7.500000001s   105s
//	10:02:15   HIT 1    23 1/4 + 0    yes       76          0s             105s
//
// The zero value has never been seen.
type Sliding struct {
	// Prev and Cur are the costs of the hits in the window before the one that
	// begins at Start, and in that one.
	Prev, Cur int64
	Start     Instant
	// Window is the length of both, that of the last hit that was allowed.
	Window time.Duration
}

// Hit counts cost hits if they stay within the limit.
//
// The windows on record keep their length, also for a call with another, until a
// call is allowed: then what they count together moves into the current window
// of the new length, and nothing is previous. A denied call returns s as it is.
func (s Sliding) Hit(now Instant, limit int64, window time.Duration, cost int64) (
	_ Sliding, d Decision, err error,
) {
	turned, at, err := s.seen(now, limit, window, cost)
	if err != nil {
		return s, d, err
	}
	if turned.decide(&d, at, limit, cost); !d.Allowed {
		return s, d, nil
	}
	if turned.Window != window {
		turned = Sliding{Cur: d.Used, Start: tile(at, window), Window: window}
	}
	turned.Cur += cost
	d.Remaining, d.Used = d.Remaining-cost, d.Used+cost
	d.ResetAfter = time.Duration(turned.Expiry() - at)
	return turned, d, nil
}

// Peek answers what Hit would: Allowed, RetryAfter and the error are Hit's.
// Remaining, Used and ResetAfter are those of the windows as they stand.
func (s Sliding) Peek(now Instant, limit int64, window time.Duration, cost int64) (d Decision, err error) {
	s, at, err := s.seen(now, limit, window, cost)
	if err == nil {
		s.decide(&d, at, limit, cost)
	}
	return d, err
}

// Give takes cost hits back from the current window, as far as it counts any;
// the previous one is over and takes nothing back. It keeps the windows on
// record, whatever the call asks for. If nothing is counted any more the zero
// Sliding is returned.
func (s Sliding) Give(now Instant, limit int64, window time.Duration, cost int64) (
	_ Sliding, d Decision, err error,
) {
	turned, at, err := s.seen(now, limit, window, cost)
	if err != nil {
		return s, d, err
	}
	if turned.Cur = max(0, turned.Cur-cost); turned.Prev|turned.Cur == 0 {
		turned = Sliding{}
	}
	turned.decide(&d, at, limit, 0)
	d.Allowed, d.RetryAfter = true, 0 // also when the limit is below the count
	return turned, d, nil
}

// Next is the time until at least one unit more than Remaining would be granted,
// if nobody comes; 0 when all of the limit would be.
func (s Sliding) Next(now Instant, limit int64, window time.Duration) (time.Duration, error) {
	s, at, err := s.seen(now, limit, window, 1)
	if err != nil {
		return 0, err
	}
	if remaining := max(0, limit-s.used(at)); remaining < limit {
		return s.wait(at, limit, remaining+1), nil
	}
	return 0, nil
}

// Expiry is the end of the last window in which a hit on record has weight; from
// then on the state is as if never seen. It is 0 for the zero Sliding.
func (s Sliding) Expiry() Instant {
	if s.Cur > 0 {
		return s.Start + 2*Instant(s.Window)
	}
	return s.Start + Instant(s.Window)
}

// seen checks a call and returns the windows turned to the instant that counts,
// and that instant. A state that was never seen, or is over, gets the call's
// window.
func (s Sliding) seen(now Instant, limit int64, window time.Duration, cost int64) (Sliding, Instant, error) {
	if err := checkHit(limit, window, cost); err != nil {
		return s, now, err
	}
	if s.Window != 0 {
		now = max(now, s.Start)
	}
	switch {
	case !timely(now):
		return s, now, ErrInstant
	case s == Sliding{}:
		return Sliding{Start: tile(now, window), Window: window}, now, nil
	case !spanFits(s.Window) || uint64(s.Prev) > MaxTokens || uint64(s.Cur) > MaxTokens:
		return s, now, ErrState
	case now < s.Start+Instant(s.Window):
		return s, now, nil
	case now < s.Start+2*Instant(s.Window):
		return Sliding{Prev: s.Cur, Start: s.Start + Instant(s.Window), Window: s.Window}, now, nil
	}
	return Sliding{Start: tile(now, window), Window: window}, now, nil
}

// used is what counts at an instant in the current window.
func (s Sliding) used(at Instant) int64 {
	if s.Prev == 0 {
		return s.Cur
	}
	left := s.Start + Instant(s.Window) - at
	share, _, _ := product(s.Prev, int64(left)).over(int64(s.Window)) // at most Prev
	return share + s.Cur
}

// decide fills in the Decision for cost more hits.
func (s Sliding) decide(d *Decision, at Instant, limit, cost int64) {
	used := s.used(at)
	d.weigh(used, limit, cost)
	if s.Prev|s.Cur != 0 {
		d.ResetAfter = time.Duration(s.Expiry() - at)
	}
	if !d.Allowed && cost <= limit {
		d.RetryAfter = s.wait(at, limit, cost)
	}
}

// wait is the time until a hit is allowed that is not allowed now and costs at
// most the limit: the current count goes down as the previous window moves out,
// and if that is not enough, as this one does in its turn.
func (s Sliding) wait(at Instant, limit, cost int64) time.Duration {
	end := s.Start + Instant(s.Window)
	if room := limit - cost - s.Cur; room >= 0 {
		return time.Duration(end-at) - s.last(s.Prev, room)
	}
	return time.Duration(end-at) + s.Window - s.last(s.Cur, limit-cost)
}

// last is how long before its end a window has to be when no more than room of
// the count before it weighs: the largest left with floor(count * left / Window)
// <= room, for a count above room.
func (s Sliding) last(count, room int64) time.Duration {
	left, _, _ := product(room+1, int64(s.Window)).minus(wide{lo: 1}).over(count) // below Window
	return time.Duration(left)
}

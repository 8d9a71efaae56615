package limit

import (
	"math"
	"time"
)

// Log is a sliding window log.
//
// In words: every hit that was allowed is on record with its time. A hit is
// allowed if the cost recorded in the window that ends with it, and its own, stay
// within the limit.
//
// Formula, with window W, all times in whole milliseconds:
//
//	used       = sum of the costs recorded in (t - W, t]
//	allowed   <=> used + cost <= limit
//	allowed    => (t, cost) is recorded
//	remaining  = limit - used
//	retry      = a + W - t, for the earliest a such that the costs recorded
//	             after a leave room
//	reset      = newest + W - t
//
// Each entry carries the sum of all costs so far. So the cost of any stretch is
// one subtraction, and used and retry are each one binary search: O(log n), with
// nothing counted one by one.
//
// Units: counts are whole, instants are rounded down to milliseconds, and hits
// of one millisecond share an entry. A hit at t no longer counts at t + W.
//
// Error bound: none, at a resolution of 1 ms: in no span of W, beginning at a
// whole millisecond, is more than limit allowed.
//
// Weakness: memory. An entry is 16 bytes, and a log may hold twice as many as
// limit (the dead are dropped only once they outnumber the living, so that
// dropping costs O(1) on average). The limit is at most MaxLogLimit.
//
// Source: P. Rabbitt (ClassDojo), Better Rate Limiting With Redis Sorted Sets,
// 2016; here with sums in place of the set's count.
//
// Worked timeline, 3 in 10 s:
//
//	SWL 3 10s
//	at       call    before   allowed   remaining   retry    reset
//	0s       HIT 1   0        yes       2           0s       10s
//	4s       HIT 1   1        yes       1           0s       10s
//	6s       HIT 2   2        no        1           4s       8s
//	9.999s   HIT 1   2        yes       0           0s       10s
//	10s      HIT 1   2        yes       0           0s       10s
//	13s      HIT 2   3        no        0           6.999s   7s
//	20s      HIT 4   0        no        3           never    0s
//
// A Log is a view: Hits belongs to the caller, and no call writes to it. A call
// answers with a LogEdit, what to change, so that a store can change its memory
// in place; Apply does it for everybody else.
//
// The zero value has never been seen.
type Log struct {
	// Window is that of the last hit that was allowed. What has left it is
	// forgotten, even while it still takes up an entry.
	Window time.Duration
	// Base is the Sum of the entry dropped before Hits[0], 0 if none was.
	Base int64
	// Hits are the hits on record, At and Sum ascending.
	Hits []Hit
}

// Hit is what was allowed in one millisecond.
type Hit struct {
	// At is in Unix milliseconds.
	At int64
	// Sum is the cost of all hits up to and including this one, since the log
	// was last empty.
	Sum int64
}

// LogEdit is the change that a call makes to a Log: drop Trim entries at the
// head, keep the next Keep, drop what follows, append Add if HasAdd. Window and
// Base replace the log's own. The edit of a denied call changes nothing.
type LogEdit struct {
	Trim, Keep int
	Add        Hit
	HasAdd     bool
	Window     time.Duration
	Base       int64
}

// Empty reports that the edit leaves nothing on record: the log is then as if
// never seen, and can be dropped.
func (e LogEdit) Empty() bool { return e.Keep == 0 && !e.HasAdd }

// Apply makes an edit that a call of this log answered with. It reuses the memory
// of l.Hits, as append does, so l must not be used after it.
func (l Log) Apply(e LogEdit) Log {
	hits := l.Hits[:copy(l.Hits, l.Hits[e.Trim:e.Trim+e.Keep])]
	if e.HasAdd {
		hits = append(hits, e.Add)
	}
	return Log{Window: e.Window, Base: e.Base, Hits: hits}
}

// Expiry is when the newest hit leaves the window; from then on the log is as if
// never seen. It is 0 for a log without hits.
func (l Log) Expiry() Instant {
	if n := len(l.Hits); n > 0 {
		return fromMillis(l.Hits[n-1].At) + Instant(l.Window)
	}
	return 0
}

// ExpiryAfter is what Expiry will be when an edit of this log has been applied.
func (l Log) ExpiryAfter(e LogEdit) Instant {
	if e.HasAdd {
		return fromMillis(e.Add.At) + Instant(e.Window)
	}
	return Log{Window: e.Window, Hits: l.Hits[:e.Trim+e.Keep][e.Trim:]}.Expiry()
}

// Hit records cost hits if they stay within the limit, which is at most
// MaxLogLimit.
//
// A call with another window than the one on record counts the hits that are in
// both: what left the one on record is forgotten. If the call is allowed, its
// window goes on record.
func (l Log) Hit(now Instant, limit int64, window time.Duration, cost int64) (
	e LogEdit, d Decision, err error,
) {
	l.asItIs(&e)
	v, err := l.seen(now, limit, window, cost)
	if err != nil {
		return e, d, err
	}
	if l.decide(&d, v, limit, cost); !d.Allowed {
		return e, d, nil
	}
	if window > l.Window || v.live > len(l.Hits)-v.live {
		l.trim(&e, v)
	}
	e.Add, e.HasAdd, e.Window = Hit{At: millis(v.at), Sum: v.base + d.Used + cost}, true, window
	if e.Keep > 0 && l.Hits[len(l.Hits)-1].At == e.Add.At {
		e.Keep-- // hits of one millisecond share an entry
	}
	d.Remaining, d.Used = d.Remaining-cost, d.Used+cost
	d.ResetAfter = time.Duration(fromMillis(e.Add.At) + Instant(window) - v.at)
	return e, d, nil
}

// Peek answers what Hit would: Allowed, RetryAfter and the error are Hit's.
// Remaining, Used and ResetAfter are those of the log as it stands.
func (l Log) Peek(now Instant, limit int64, window time.Duration, cost int64) (d Decision, err error) {
	v, err := l.seen(now, limit, window, cost)
	if err == nil {
		l.decide(&d, v, limit, cost)
	}
	return d, err
}

// Give takes cost hits back, the newest first, as far as there are any in the
// window on record, which stays as it is, whatever the call asks for.
func (l Log) Give(now Instant, limit int64, window time.Duration, cost int64) (
	e LogEdit, d Decision, err error,
) {
	l.asItIs(&e)
	if err := checkLog(limit, window, cost); err != nil {
		return e, d, err
	}
	if len(l.Hits) > 0 {
		window = l.Window
	}
	v, err := l.look(now, window)
	if err != nil {
		return e, d, err
	}
	left := max(0, l.used(v)-cost)
	l.cut(&e, v, left)
	d = Decision{Allowed: true, Limit: limit, Remaining: max(0, limit-left), Used: left}
	if left > 0 {
		d.ResetAfter = time.Duration(l.ExpiryAfter(e) - v.at)
	}
	return e, d, nil
}

// Next is the time until at least one unit more than Remaining would be granted,
// if nobody comes; 0 when all of the limit would be.
func (l Log) Next(now Instant, limit int64, window time.Duration) (time.Duration, error) {
	v, err := l.seen(now, limit, window, 1)
	if err != nil {
		return 0, err
	}
	used := l.used(v)
	if used == 0 {
		return 0, nil
	}
	return l.wait(v, max(1, used-limit+1)), nil
}

// sight is what a call sees of a log: the instant and the window that count, the
// first entry in that window, and the sum before it.
type sight struct {
	at   Instant
	span time.Duration
	live int
	base int64
}

// seen checks a call and returns what it sees.
func (l *Log) seen(now Instant, limit int64, window time.Duration, cost int64) (sight, error) {
	if err := checkLog(limit, window, cost); err != nil {
		return sight{}, err
	}
	if len(l.Hits) > 0 {
		window = min(window, l.Window)
	}
	return l.look(now, window)
}

// checkLog returns what is wrong with the parameters of a hit.
func checkLog(limit int64, window time.Duration, cost int64) error {
	if !within(limit, MaxLogLimit) {
		return ErrLogLimit
	}
	return checkHit(limit, window, cost)
}

// look is what is seen through a window of a length.
func (l *Log) look(now Instant, span time.Duration) (v sight, err error) {
	if n := len(l.Hits); n > 0 {
		newest := l.Hits[n-1].At
		if !spanFits(l.Window) || uint64(newest)+maxMillis > 2*maxMillis {
			return v, ErrState
		}
		now = max(now, fromMillis(newest))
	}
	if !timely(now) {
		return v, ErrInstant
	}
	v.at, v.span = now, span
	v.live = firstAfter(l.Hits, millis(now-Instant(span)))
	v.base = l.sumBefore(v.live)
	if used := l.used(v); used < 0 || used > MaxLogLimit || v.base < 0 || v.base > maxSum-used {
		return v, ErrState
	}
	return v, nil
}

// sumBefore is the Sum up to an entry, which is not included.
func (l *Log) sumBefore(i int) int64 {
	if i == 0 {
		return l.Base
	}
	return l.Hits[i-1].Sum
}

// used is the cost recorded in the window that counts.
func (l *Log) used(v sight) int64 { return l.sumBefore(len(l.Hits)) - v.base }

// decide fills in the Decision for cost more hits.
func (l *Log) decide(d *Decision, v sight, limit, cost int64) {
	used := l.used(v)
	d.weigh(used, limit, cost)
	if end := l.Expiry(); len(l.Hits) > 0 && end > v.at {
		d.ResetAfter = time.Duration(end - v.at)
	}
	if !d.Allowed && cost <= limit {
		d.RetryAfter = l.wait(v, used+cost-limit)
	}
}

// wait is the time until a cost that is 1..used has left the window.
func (l *Log) wait(v sight, cost int64) time.Duration {
	i := firstReaching(l.Hits, v.live, v.base+cost)
	return time.Duration(fromMillis(l.Hits[i].At) + Instant(v.span) - v.at)
}

// asItIs makes e the edit that changes nothing.
func (l *Log) asItIs(e *LogEdit) { e.Keep, e.Window, e.Base = len(l.Hits), l.Window, l.Base }

// trim makes e also drop the entries which have left the window.
func (l *Log) trim(e *LogEdit, v sight) { e.Trim, e.Keep, e.Base = v.live, len(l.Hits)-v.live, v.base }

// cut makes e leave only the oldest hits in the window, of a cost of left: the
// entry that the cut goes through is made smaller.
func (l *Log) cut(e *LogEdit, v sight, left int64) {
	if left == 0 {
		*e = LogEdit{Trim: len(l.Hits)} // the window goes too
		return
	}
	l.trim(e, v)
	i := firstReaching(l.Hits, v.live, v.base+left)
	e.Keep, e.Add, e.HasAdd = i-v.live, Hit{At: l.Hits[i].At, Sum: v.base + left}, true
}

// firstAfter is the index of the first hit later than ms, len(hits) if none is.
func firstAfter(hits []Hit, ms int64) int {
	low, high := 0, len(hits)
	for low < high {
		if mid := (low + high) / 2; hits[mid].At > ms {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// firstReaching is the index of the first hit from low on whose Sum is at least
// sum, which the last one's is.
func firstReaching(hits []Hit, low int, sum int64) int {
	high := len(hits) - 1
	for low < high {
		if mid := (low + high) / 2; hits[mid].Sum >= sum {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// maxSum is the largest Sum to which a hit can be added. At the highest limit and
// the shortest window a log gets there after 2900 years without a pause.
const maxSum = math.MaxInt64 - MaxLogLimit

// maxMillis is MaxInstant in milliseconds, rounded up.
const maxMillis = uint64(MaxInstant)/uint64(time.Millisecond) + 1

// millis is an instant in whole milliseconds, rounded down.
func millis(t Instant) int64 { return int64(tile(t, time.Millisecond)) / int64(time.Millisecond) }

// fromMillis is the instant of a whole millisecond.
func fromMillis(ms int64) Instant { return Instant(ms) * Instant(time.Millisecond) }

// Package limit decides whether a caller may do something now.
//
// It holds the algorithms of limitstore and nothing else: each one is a pure
// function from (state, now, parameters) to (new state, decision). The state is
// a small value, the caller keeps it wherever it likes and passes it back in.
//
//	Bucket    token bucket: capacity at once, then a steady rate. Seen the other
//	          way round it is the leaky bucket as a meter; Bucket.Queue is the
//	          leaky bucket as a queue
//	Fixed     fixed window: a count per window
//	Sliding   sliding window counter: two counts, the previous one weighted
//	Log       sliding window log: every hit on record, exact
//
// The zero value of every state means "never seen" and is ready for use.
//
// Callers are the shards of the limitstore server (states in byte arenas) and
// any Go program that wants a limiter without a server (states in a map).
//
// The package never reads a clock, stores nothing, logs nothing, starts no
// goroutine, takes no lock and allocates nothing; values may be used from
// several goroutines as far as any Go value may. It computes in integers only,
// 128 bits wide where a product needs it: every replica and every processor gets
// the same answer, and no fraction of a token is ever lost or made.
//
// # Parameters and errors
//
// Parameters come with each call, so a limit is changed by using another one.
// Every call checks them. An error changes nothing: the state comes back as it
// was, bit for bit, and the Decision is the zero Decision, which does not allow.
// A denial is no error. It changes nothing either.
//
// # Time
//
// Time is an argument, in Unix nanoseconds. A clock that stands or steps back
// mints nothing: an instant earlier than the latest the state has seen counts as
// that latest one, and no wait is made longer by the size of the step.
package limit

import (
	"errors"
	"math"
	"time"
)

// Instant is a point in time in Unix nanoseconds. Calls accept instants from
// -MaxInstant to MaxInstant, the years 1777 to 2162.
type Instant int64

// Rate is a number of tokens for each period: {10, time.Second} is ten a second,
// {1, 10 * time.Second} a tenth of one. Tokens is 1..MaxTokens; Period is a whole
// number of milliseconds, MinPeriod..MaxPeriod.
type Rate struct {
	Tokens int64
	Period time.Duration
}

// Decision is the answer of every algorithm.
type Decision struct {
	// Allowed says that the request may pass.
	Allowed bool
	// Limit is the capacity or limit the call came with.
	Limit int64
	// Remaining is the number of whole units that would be granted right now,
	// 0..Limit. A fraction of a unit is not counted.
	Remaining int64
	// Used is the number of units held against the key: debt, count or log. A
	// bucket rounds a fraction up. It is above Limit when the limit was lowered
	// or a bucket was debited beyond its capacity.
	Used int64
	// RetryAfter is 0 when allowed; else the time after which the same request
	// succeeds if nobody else comes, to the nanosecond, or Never.
	RetryAfter time.Duration
	// ResetAfter is the time until the state is as if never seen, rounded up to
	// the nanosecond.
	ResetAfter time.Duration
}

// Limits of what a call may ask for.
const (
	// MaxTokens bounds capacity, limit, the tokens of a Rate, and cost.
	MaxTokens = 1_000_000_000_000
	// MaxDebt bounds the tokens a bucket can owe. Only Debit gets there.
	MaxDebt = 1_000_000 * MaxTokens
	// MaxLogLimit bounds the limit of a Log, whose memory grows with its limit.
	MaxLogLimit = 100_000

	// MinPeriod is the shortest period of a Rate and the shortest window.
	MinPeriod = time.Millisecond
	// MaxPeriod is the longest period of a Rate and the longest window: 10 years.
	MaxPeriod = 3650 * 24 * time.Hour
	// MaxClear is the longest time a state may need until it is as if never
	// seen: 100 years.
	MaxClear = 36500 * 24 * time.Hour

	// MaxInstant is the last instant a call may happen at, chosen so that
	// MaxClear later is still an Instant.
	MaxInstant = Instant(math.MaxInt64 - int64(MaxClear))

	// Never is the RetryAfter of a request that can never succeed, because its
	// cost is above the limit.
	Never time.Duration = -1
)

// Errors of a call. Each says what would be right.
var (
	ErrCapacity = errors.New("limit: capacity must be between 1 and 1000000000000")
	ErrLimit    = errors.New("limit: limit must be between 1 and 1000000000000")
	ErrLogLimit = errors.New("limit: limit of a log must be between 1 and 100000")
	ErrRate     = errors.New("limit: tokens of a rate must be between 1 and 1000000000000")
	ErrPeriod   = errors.New("limit: period must be a whole number of milliseconds between 1ms and 3650d")
	ErrWindow   = errors.New("limit: window must be a whole number of milliseconds between 1ms and 3650d")
	ErrCost     = errors.New("limit: cost must be between 1 and 1000000000000")
	ErrWait     = errors.New("limit: longest wait must be between 0 and 3650d")
	// ErrClear is the answer to a call that would leave a state which needs more
	// than MaxClear to be as if never seen.
	ErrClear = errors.New("limit: this would need more than 100 years to clear")
	// ErrDebt is the answer to a Debit that would leave more than MaxDebt.
	ErrDebt = errors.New("limit: debt must stay within 1000000000000000000 tokens")
	// ErrInstant is the answer to a call outside -MaxInstant..MaxInstant.
	ErrInstant = errors.New("limit: time must be between the years 1777 and 2162")
	// ErrState is the answer to a state that no call of this package returned.
	ErrState = errors.New("limit: state is damaged")
)

// Millis rounds d up to whole milliseconds, so that whoever waits that long has
// waited long enough. Never stays -1.
func Millis(d time.Duration) int64 {
	if d <= 0 {
		return int64(d) // 0, or Never as it is
	}
	return int64((d-1)/time.Millisecond) + 1
}

// within reports 1 <= n <= limit in one comparison.
func within(n, limit int64) bool { return uint64(n-1) < uint64(limit) }

// spanFits reports that d can be a period or a window.
func spanFits(d time.Duration) bool {
	return within(int64(d), int64(MaxPeriod)) && d%time.Millisecond == 0
}

// check returns what is wrong with the rate.
func (r Rate) check() error {
	if !within(r.Tokens, MaxTokens) {
		return ErrRate
	}
	if !spanFits(r.Period) {
		return ErrPeriod
	}
	return nil
}

// timely reports -MaxInstant <= t <= MaxInstant in one comparison.
func timely(t Instant) bool { return uint64(t+MaxInstant) <= 2*uint64(MaxInstant) }

// weigh fills in what the three window algorithms decide alike: whether cost
// more fits beside used, and what is left. They fill Decisions in place because
// six words do not fit the registers, and a copy takes longer than the decision.
func (d *Decision) weigh(used, limit, cost int64) {
	d.Allowed, d.Limit, d.Remaining, d.Used = used+cost <= limit, limit, max(0, limit-used), used
	if cost > limit {
		d.RetryAfter = Never
	}
}

// checkHit returns what is wrong with the parameters of a hit.
func checkHit(limit int64, window time.Duration, cost int64) error {
	switch {
	case !within(limit, MaxTokens):
		return ErrLimit
	case !spanFits(window):
		return ErrWindow
	case !within(cost, MaxTokens):
		return ErrCost
	}
	return nil
}

// tile is the start of the window that an instant is in when windows tile Unix
// time, before 1970 as well.
func tile(at Instant, window time.Duration) Instant {
	into := at % Instant(window)
	if into < 0 {
		into += Instant(window)
	}
	return at - into
}

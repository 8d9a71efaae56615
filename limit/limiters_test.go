package limit

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"testing"
	"time"
)

// configure makes the limiter that a timeline names, or gives the one in use
// other parameters: its state stays.
func configure(t *testing.T, l limiter, words []string) limiter {
	t.Helper()
	number := func(i int) int64 {
		n, err := strconv.ParseInt(words[i], 10, 64)
		if err != nil {
			t.Fatalf("bad number in %q", words)
		}
		return n
	}
	switch words[0] {
	case "TB":
		b := bucketOf(l)
		b.capacity, b.rate, b.queue = number(1), Rate{number(2), parseSpan(t, words[3])}, false
		return b
	case "LB.QUEUE":
		b := bucketOf(l)
		b.rate, b.queue = Rate{number(1), parseSpan(t, words[2])}, true
		b.capacity, b.maxWait = number(4), parseSpan(t, words[6])
		return b
	case "FW":
		f, _ := l.(*fixedLimiter)
		if f == nil {
			f = &fixedLimiter{}
		}
		f.limit, f.window, f.first = number(1), parseSpan(t, words[2]), len(words) > 3 && words[3] == "FIRST"
		return f
	case "SWC":
		s, _ := l.(*slidingLimiter)
		if s == nil {
			s = &slidingLimiter{}
		}
		s.limit, s.window = number(1), parseSpan(t, words[2])
		return s
	case "SWL":
		g, _ := l.(*logLimiter)
		if g == nil {
			g = &logLimiter{}
		}
		g.limit, g.window = number(1), parseSpan(t, words[2])
		return g
	}
	t.Fatalf("no limiter %q", words)
	return nil
}

func bucketOf(l limiter) *bucketLimiter {
	if b, ok := l.(*bucketLimiter); ok {
		return b
	}
	return &bucketLimiter{}
}

// bucketLimiter is a Bucket, as such or as a queue.
type bucketLimiter struct {
	bucket   Bucket
	capacity int64
	rate     Rate
	queue    bool
	maxWait  time.Duration
}

func (l *bucketLimiter) call(now Instant, op string, cost int64) (a answer, err error) {
	switch {
	case l.queue && op == "TAKE":
		l.bucket, a.Decision, a.wait, err = l.bucket.Queue(now, l.rate, l.capacity, l.maxWait, cost)
	case l.queue && op == "PEEK":
		return l.peekQueue(now, cost)
	case op == "TAKE":
		l.bucket, a.Decision, err = l.bucket.Take(now, l.capacity, l.rate, cost)
	case op == "PEEK":
		a.Decision, err = l.bucket.Peek(now, l.capacity, l.rate, cost)
	case op == "GIVE":
		l.bucket, a.Decision, err = l.bucket.Give(now, l.capacity, l.rate, cost)
	case op == "DEBIT":
		l.bucket, a.Decision, err = l.bucket.Debit(now, l.capacity, l.rate, cost)
	default:
		panic("no call " + op)
	}
	return a, err
}

// peekQueue is the PEEK that a queue would have.
func (l *bucketLimiter) peekQueue(now Instant, cost int64) (a answer, err error) {
	_, a.Decision, _, err = l.bucket.Queue(now, l.rate, l.capacity, l.maxWait, cost)
	if err == nil && a.Allowed {
		a.Decision, err = l.bucket.Peek(now, l.capacity, l.rate, cost)
	}
	return a, err
}

func (l *bucketLimiter) counted(now Instant) Instant {
	if l.bucket == (Bucket{}) {
		return now
	}
	return max(now, l.bucket.At)
}

// before is the debt in tokens, worked out from the definition of the state.
func (l *bucketLimiter) before(now Instant) string {
	b := l.bucket
	if b == (Bucket{}) {
		return "0"
	}
	debt := new(big.Int).Sub(big.NewInt(int64(b.Clear)), big.NewInt(int64(l.counted(now))))
	debt.Mul(debt, big.NewInt(b.Rate.Tokens)).Add(debt, big.NewInt(b.Rem))
	if debt.Sign() <= 0 {
		return "0"
	}
	return mixed(new(big.Rat).SetFrac(debt, big.NewInt(int64(b.Rate.Period))))
}

func (l *bucketLimiter) next(now Instant) (time.Duration, error) {
	if !l.queue {
		return l.bucket.Next(now, l.capacity, l.rate)
	}
	a, err := l.peekQueue(now, 1)
	if err != nil || a.Remaining == a.Limit {
		return 0, err
	}
	a, err = l.peekQueue(now, a.Remaining+1)
	return a.RetryAfter, err
}
func (l *bucketLimiter) expiry() Instant { return l.bucket.Expiry() }
func (l *bucketLimiter) clone() limiter  { c := *l; return &c }
func (l *bucketLimiter) state() string   { return fmt.Sprintf("%+v", l.bucket) }

type fixedLimiter struct {
	fixed  Fixed
	limit  int64
	window time.Duration
	first  bool
}

func (l *fixedLimiter) call(now Instant, op string, cost int64) (a answer, err error) {
	switch op {
	case "HIT":
		l.fixed, a.Decision, err = l.fixed.Hit(now, l.limit, l.window, l.first, cost)
	case "PEEK":
		a.Decision, err = l.fixed.Peek(now, l.limit, l.window, l.first, cost)
	case "GIVE":
		l.fixed, a.Decision, err = l.fixed.Give(now, l.limit, l.window, l.first, cost)
	default:
		panic("no call " + op)
	}
	return a, err
}

func (l *fixedLimiter) counted(now Instant) Instant {
	if l.fixed == (Fixed{}) {
		return now
	}
	return max(now, l.fixed.Start)
}

func (l *fixedLimiter) before(now Instant) string {
	if l.counted(now) >= l.fixed.Expiry() {
		return "0"
	}
	return fmt.Sprint(l.fixed.Count)
}

func (l *fixedLimiter) next(now Instant) (time.Duration, error) {
	return l.fixed.Next(now, l.limit, l.window, l.first)
}
func (l *fixedLimiter) expiry() Instant { return l.fixed.Expiry() }
func (l *fixedLimiter) clone() limiter  { c := *l; return &c }
func (l *fixedLimiter) state() string   { return fmt.Sprintf("%+v", l.fixed) }

type slidingLimiter struct {
	sliding Sliding
	limit   int64
	window  time.Duration
}

func (l *slidingLimiter) call(now Instant, op string, cost int64) (a answer, err error) {
	switch op {
	case "HIT":
		l.sliding, a.Decision, err = l.sliding.Hit(now, l.limit, l.window, cost)
	case "PEEK":
		a.Decision, err = l.sliding.Peek(now, l.limit, l.window, cost)
	case "GIVE":
		l.sliding, a.Decision, err = l.sliding.Give(now, l.limit, l.window, cost)
	default:
		panic("no call " + op)
	}
	return a, err
}

func (l *slidingLimiter) counted(now Instant) Instant {
	if l.sliding == (Sliding{}) {
		return now
	}
	return max(now, l.sliding.Start)
}

// before is the previous count's share, a rational, and the current count.
func (l *slidingLimiter) before(now Instant) string {
	s, at := l.sliding, l.counted(now)
	if s == (Sliding{}) {
		return "0 + 0"
	}
	for at >= s.Start+Instant(s.Window) && s.Prev+s.Cur > 0 {
		s.Prev, s.Cur, s.Start = s.Cur, 0, s.Start+Instant(s.Window)
	}
	left := big.NewRat(int64(s.Start)+int64(s.Window)-int64(at), int64(s.Window))
	return mixed(left.Mul(left, big.NewRat(s.Prev, 1))) + " + " + fmt.Sprint(s.Cur)
}

func (l *slidingLimiter) next(now Instant) (time.Duration, error) {
	return l.sliding.Next(now, l.limit, l.window)
}
func (l *slidingLimiter) expiry() Instant { return l.sliding.Expiry() }
func (l *slidingLimiter) clone() limiter  { c := *l; return &c }
func (l *slidingLimiter) state() string   { return fmt.Sprintf("%+v", l.sliding) }

type logLimiter struct {
	log    Log
	limit  int64
	window time.Duration
}

func (l *logLimiter) call(now Instant, op string, cost int64) (a answer, err error) {
	var e LogEdit
	switch op {
	case "HIT":
		e, a.Decision, err = l.log.Hit(now, l.limit, l.window, cost)
		l.log = l.log.Apply(e)
	case "PEEK":
		a.Decision, err = l.log.Peek(now, l.limit, l.window, cost)
	case "GIVE":
		e, a.Decision, err = l.log.Give(now, l.limit, l.window, cost)
		l.log = l.log.Apply(e)
	default:
		panic("no call " + op)
	}
	return a, err
}

func (l *logLimiter) counted(now Instant) Instant {
	if n := len(l.log.Hits); n > 0 {
		return max(now, Instant(l.log.Hits[n-1].At)*Instant(time.Millisecond))
	}
	return now
}

// before adds up the hits that are in the window on record, one by one.
func (l *logLimiter) before(now Instant) string {
	at, last, sum := l.counted(now), l.log.Base, int64(0)
	for _, h := range l.log.Hits {
		if Instant(h.At)*Instant(time.Millisecond)+Instant(l.log.Window) > at {
			sum += h.Sum - last
		}
		last = h.Sum
	}
	return fmt.Sprint(sum)
}

func (l *logLimiter) next(now Instant) (time.Duration, error) {
	return l.log.Next(now, l.limit, l.window)
}
func (l *logLimiter) expiry() Instant { return l.log.Expiry() }
func (l *logLimiter) clone() limiter {
	c := *l
	c.log.Hits = slices.Clone(c.log.Hits)
	return &c
}
func (l *logLimiter) state() string { return fmt.Sprintf("%+v", l.log) }

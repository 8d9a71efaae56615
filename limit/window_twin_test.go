package limit

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// total adds up the hits of events from one instant up to, not including, another.
func total(events []event, from, to Instant) (sum int64) {
	for _, e := range events {
		if e.at >= from && e.at < to {
			sum += e.cost
		}
	}
	return sum
}

// takeBack takes a cost off the newest events that are not before an instant.
func takeBack(events []event, from Instant, cost int64) []event {
	for i := len(events) - 1; i >= 0 && cost > 0; i-- {
		if events[i].at >= from {
			taken := min(cost, events[i].cost)
			events[i].cost, cost = events[i].cost-taken, cost-taken
		}
	}
	return events
}

// windowStart is the start of the window of an instant, for windows that tile
// Unix time.
func windowStart(at Instant, window time.Duration) Instant {
	tiles := new(big.Int).Div(big.NewInt(int64(at)), big.NewInt(int64(window))) // Euclidean
	return Instant(tiles.Int64() * int64(window))
}

// hitError is what is wrong with a hit.
func hitError(now Instant, limit int64, window time.Duration, cost int64) error {
	outside := func(n, low, high int64) bool { return n < low || n > high }
	switch {
	case outside(limit, 1, MaxTokens):
		return ErrLimit
	case outside(int64(window), int64(MinPeriod), int64(MaxPeriod)) || window%time.Millisecond != 0:
		return ErrWindow
	case outside(cost, 1, MaxTokens):
		return ErrCost
	case outside(int64(now), -int64(MaxInstant), int64(MaxInstant)):
		return ErrInstant
	}
	return nil
}

// fixedTwin keeps every hit, and counts those in the window on record.
type fixedTwin struct {
	seen   bool
	start  Instant
	window time.Duration
	first  bool
	hits   []event
}

func (f *fixedTwin) call(l *fixedLimiter, now Instant, op string, cost int64) (a answer, err error) {
	if f.seen {
		now = max(now, f.start)
	}
	if err := hitError(now, l.limit, l.window, cost); err != nil {
		return a, err
	}
	end := f.start + Instant(f.window)
	used := total(f.hits, f.start, end)
	if now >= end {
		used = 0
	}
	a.Allowed = op == "GIVE" || used+cost <= l.limit
	switch {
	case op == "GIVE" && used <= cost:
		*f, used = fixedTwin{}, 0
	case op == "GIVE":
		f.hits = takeBack(f.hits, f.start, cost)
		used -= cost
	case cost > l.limit:
		a.RetryAfter = Never
	case !a.Allowed:
		a.RetryAfter = time.Duration(end - now)
	case op == "HIT":
		f.record(l, now, used, cost)
		used, end = used+cost, f.start+Instant(f.window)
	}
	a.Limit, a.Used, a.Remaining = l.limit, used, max(0, l.limit-used)
	if used > 0 {
		a.ResetAfter = time.Duration(end - now)
	}
	return a, nil
}

// record adds a hit; in a new window if there is none or another is asked for,
// and there what counted until now is one hit of now.
func (f *fixedTwin) record(l *fixedLimiter, now Instant, used, cost int64) {
	if used == 0 || f.window != l.window || f.first != l.first {
		start := windowStart(now, l.window)
		if l.first {
			start = now
		}
		*f = fixedTwin{seen: true, start: start, window: l.window, first: l.first, hits: []event{{now, used}}}
	}
	f.hits = append(f.hits, event{now, cost})
}

// slidingTwin keeps every hit, and weighs those of the two last windows.
type slidingTwin struct {
	seen   bool
	latest Instant // start of the window of the latest hit
	window time.Duration
	hits   []event
}

// used is the estimate at an instant, rounded down.
func (s *slidingTwin) used(at Instant) int64 {
	if !s.seen {
		return 0
	}
	start := windowStart(at, s.window)
	before := total(s.hits, start-Instant(s.window), start)
	current := total(s.hits, start, start+Instant(s.window))
	share := ratio(int64(start)+int64(s.window)-int64(at), int64(s.window))
	share.Mul(share, ratio(before, 1))
	return new(big.Int).Quo(share.Num(), share.Denom()).Int64() + current
}

// reset is the time until no hit weighs any more.
func (s *slidingTwin) reset(at Instant) time.Duration {
	for i := len(s.hits) - 1; i >= 0; i-- {
		if s.hits[i].cost > 0 {
			end := windowStart(s.hits[i].at, s.window) + 2*Instant(s.window)
			return time.Duration(max(0, end-at))
		}
	}
	return 0
}

func (s *slidingTwin) call(l *slidingLimiter, now Instant, op string, cost int64) (a answer, err error) {
	if s.seen {
		now = max(now, s.latest)
	}
	if err := hitError(now, l.limit, l.window, cost); err != nil {
		return a, err
	}
	used := s.used(now)
	a.Allowed = op == "GIVE" || used+cost <= l.limit
	switch {
	case op == "GIVE" && s.seen:
		s.hits = takeBack(s.hits, windowStart(now, s.window), cost)
		s.latest = windowStart(now, s.window)
		if s.reset(now) == 0 {
			*s = slidingTwin{}
		}
	case op == "GIVE":
	case cost > l.limit:
		a.RetryAfter = Never
	case !a.Allowed:
		a.RetryAfter = earliest(2*s.window, func(d time.Duration) bool { return s.used(now+Instant(d))+cost <= l.limit })
	case op == "HIT":
		if !s.seen || s.reset(now) == 0 || s.window != l.window {
			*s = slidingTwin{seen: true, window: l.window, hits: []event{{now, used}}}
		}
		s.hits = append(s.hits, event{now, cost})
		s.latest = windowStart(now, s.window)
	}
	used = s.used(now)
	a.Limit, a.Used, a.Remaining, a.ResetAfter = l.limit, used, max(0, l.limit-used), s.reset(now)
	return a, nil
}

// logTwin keeps every hit with its millisecond, and forgets those that have left
// the window on record.
type logTwin struct {
	window time.Duration
	hits   []event // at is in milliseconds
}

// used is the cost of the hits in (ms - window, ms].
func (g *logTwin) used(ms Instant, window time.Duration) int64 {
	return total(g.hits, ms-Instant(window/time.Millisecond)+1, ms+1)
}

func (g *logTwin) call(l *logLimiter, now Instant, op string, cost int64) (a answer, err error) {
	if l.limit > MaxLogLimit {
		return a, ErrLogLimit
	}
	if len(g.hits) > 0 {
		now = max(now, g.hits[len(g.hits)-1].at*Instant(time.Millisecond))
	}
	if err := hitError(now, l.limit, l.window, cost); err != nil {
		if err == ErrLimit {
			err = ErrLogLimit
		}
		return a, err
	}
	window := l.window
	if len(g.hits) > 0 && (op == "GIVE" || g.window < window) {
		window = g.window
	}
	ms := windowStart(now, time.Millisecond) / Instant(time.Millisecond)
	used := g.used(ms, window)
	a.Allowed = op == "GIVE" || used+cost <= l.limit
	switch {
	case op == "GIVE":
		g.forget(ms)
		g.hits = takeBack(g.hits, ms-Instant(window/time.Millisecond)+1, cost)
		g.forget(ms)
		used = max(0, used-cost)
	case cost > l.limit:
		a.RetryAfter = Never
	case !a.Allowed:
		for later := ms; g.used(later, window)+cost > l.limit; {
			later = g.nextLeaving(later, window)
			a.RetryAfter = time.Duration(later*Instant(time.Millisecond) - now)
		}
	case op == "HIT":
		g.window = window // whichever is shorter forgets
		g.forget(ms)
		g.window, g.hits = l.window, append(g.hits, event{ms, cost})
		used += cost
	}
	a.Limit, a.Used, a.Remaining = l.limit, used, max(0, l.limit-used)
	if n := len(g.hits); n > 0 {
		end := g.hits[n-1].at*Instant(time.Millisecond) + Instant(g.window)
		a.ResetAfter = time.Duration(max(0, end-now))
	}
	return a, nil
}

// nextLeaving is the first millisecond after one at which a hit leaves.
func (g *logTwin) nextLeaving(ms Instant, window time.Duration) Instant {
	for _, h := range g.hits {
		if leaves := h.at + Instant(window/time.Millisecond); h.cost > 0 && leaves > ms {
			return leaves
		}
	}
	panic("nothing leaves")
}

// forget drops what has left the window on record, and hits given back whole.
func (g *logTwin) forget(ms Instant) {
	var kept []event
	for _, h := range g.hits {
		if h.cost > 0 && h.at+Instant(g.window/time.Millisecond) > ms {
			kept = append(kept, h)
		}
	}
	g.hits = kept
}

// traffic is where the parameters and calls of a run come from: hostile, with all
// edges, or dense, where windows fill up and no call is an error.
type traffic struct {
	limits, costs, steps *rapid.Generator[int64]
	windows              *rapid.Generator[time.Duration]
}

func drawTraffic(t *rapid.T) traffic {
	if rapid.Bool().Draw(t, "hostile") {
		return traffic{
			limits: wild(), windows: wildPeriods(), steps: steps(time.Second),
			costs: rapid.OneOf(rapid.Int64Range(1, 5), wild()),
		}
	}
	const window = 20 * time.Millisecond
	return traffic{
		limits: rapid.Int64Range(1, 12), costs: rapid.Int64Range(1, 5),
		windows: rapid.SampledFrom([]time.Duration{window, window, window / 2, 2 * window, 2*window + time.Millisecond}),
		steps:   rapid.OneOf(rapid.Int64Range(0, int64(window)/4), rapid.Int64Range(-int64(window), 2*int64(window))),
	}
}

// run draws calls for a window limiter and its twin and holds one against the
// other.
func (f traffic) run(t *rapid.T, l limiter, redraw func(), twin func(Instant, string, int64) (answer, error)) {
	redraw()
	now := rapid.SampledFrom([]Instant{noon, 0, -MaxInstant, MaxInstant}).Draw(t, "start")
	for i := range rapid.IntRange(1, 80).Draw(t, "calls") {
		if rapid.IntRange(0, 9).Draw(t, "change") == 0 {
			redraw()
		}
		now += Instant(f.steps.Draw(t, "step"))
		op := rapid.SampledFrom([]string{"HIT", "HIT", "HIT", "HIT", "PEEK", "GIVE"}).Draw(t, "op")
		cost := f.costs.Draw(t, "cost")
		label := fmt.Sprintf("call %d: %s %d at %d of %+v", i, op, cost, now, l)
		want, wantErr := twin(now, op, cost)
		got, err := obey(t, label, l, now, op, cost)
		if got != want || err != wantErr {
			t.Fatalf("%s\n got %+v %v\nwant %+v %v", label, got, err, want, wantErr)
		}
	}
}

func TestFixedTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, twin, from := &fixedLimiter{}, &fixedTwin{}, drawTraffic(t)
		from.run(t, l, func() {
			l.limit, l.window = from.limits.Draw(t, "limit"), from.windows.Draw(t, "window")
			l.first = rapid.Bool().Draw(t, "first")
		}, func(now Instant, op string, cost int64) (answer, error) { return twin.call(l, now, op, cost) })
	})
}

func TestSlidingTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, twin, from := &slidingLimiter{}, &slidingTwin{}, drawTraffic(t)
		from.run(t, l, func() {
			l.limit, l.window = from.limits.Draw(t, "limit"), from.windows.Draw(t, "window")
		}, func(now Instant, op string, cost int64) (answer, error) { return twin.call(l, now, op, cost) })
	})
}

func TestLogTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, twin, from := &logLimiter{}, &logTwin{}, drawTraffic(t)
		limits := rapid.OneOf(from.limits, rapid.SampledFrom([]int64{1, 5, 60, MaxLogLimit, MaxLogLimit + 1}))
		from.run(t, l, func() {
			l.limit, l.window = limits.Draw(t, "limit"), from.windows.Draw(t, "window")
		}, func(now Instant, op string, cost int64) (answer, error) { return twin.call(l, now, op, cost) })
	})
}

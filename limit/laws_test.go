package limit

import "time"

// limiter is one algorithm with a state and parameters, so that one set of laws
// can be held against all of them.
type limiter interface {
	call(now Instant, op string, cost int64) (answer, error)
	// counted is the instant that the state takes now for.
	counted(now Instant) Instant
	// before is what is held against the key at an instant, as text.
	before(now Instant) string
	next(now Instant) (time.Duration, error)
	expiry() Instant
	clone() limiter
	// state is the whole state as text, equal only for equal states.
	state() string
}

type answer struct {
	Decision
	wait time.Duration
}

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// asks reports that a call asks for something and may be denied.
func asks(op string) bool { return op == "TAKE" || op == "HIT" || op == "PEEK" }

// obey makes a call and holds the answer against the laws that every algorithm
// keeps. The label says in a failure which call it was.
func obey(t tester, label string, l limiter, now Instant, op string, cost int64) (answer, error) {
	t.Helper()
	before, at := l.state(), l.counted(now)
	peeked, peekErr := l.clone().call(now, "PEEK", cost)
	if l.state() != before {
		t.Fatalf("%s: PEEK changed the state", label)
	}
	got, err := l.call(now, op, cost)
	if err != nil && (got != answer{} || l.state() != before) {
		t.Fatalf("%s: error %v with %+v, state %s, before %s", label, err, got, l.state(), before)
	}
	if err == nil && !got.Allowed && l.state() != before {
		t.Fatalf("%s: a denial changed the state from %s to %s", label, before, l.state())
	}
	if asks(op) && (peekErr != err || peeked.Allowed != got.Allowed || peeked.RetryAfter != got.RetryAfter) {
		t.Fatalf("%s: PEEK said %+v %v, %s %+v %v", label, peeked, peekErr, op, got, err)
	}
	if err == nil {
		checkShape(t, label, got, op, cost)
		checkRetry(t, label, l, at, op, cost, got)
		checkReset(t, label, l, at, got)
		checkNext(t, label, l, at)
	}
	return got, err
}

// checkShape holds the fields of an answer against each other.
func checkShape(t tester, label string, got answer, op string, cost int64) {
	t.Helper()
	d := got.Decision
	ok := d.Remaining >= 0 && d.Remaining <= d.Limit && d.Used >= 0 && d.ResetAfter >= 0
	ok = ok && d.Remaining <= max(0, d.Limit-d.Used)
	ok = ok && d.Allowed == (d.RetryAfter == 0)
	if asks(op) {
		ok = ok && (d.RetryAfter == Never) == (cost > d.Limit)
	} else {
		ok = ok && d.Allowed
	}
	if !ok {
		t.Fatalf("%s: answer contradicts itself: %+v", label, got)
	}
}

// checkRetry waits exactly as long as was told: then the same call succeeds, and
// neither a nanosecond nor, rounded up, a millisecond earlier.
func checkRetry(t tester, label string, l limiter, at Instant, op string, cost int64, got answer) {
	t.Helper()
	if got.RetryAfter <= 0 {
		return
	}
	exact, millis := Instant(got.RetryAfter), Instant(Millis(got.RetryAfter))*Instant(time.Millisecond)
	for wait, want := range map[Instant]bool{
		exact: true, exact - 1: false, millis: true, millis - Instant(time.Millisecond): false,
	} {
		if at+wait > MaxInstant {
			continue
		}
		again, err := l.clone().call(at+wait, op, cost)
		if err != nil || again.Allowed != want {
			t.Fatalf("%s: retry %v, but after %v: %+v %v", label, got.RetryAfter, time.Duration(wait), again, err)
		}
	}
}

// checkReset waits until the state is as if never seen, and sees that it was not
// a nanosecond earlier.
func checkReset(t tester, label string, l limiter, at Instant, got answer) {
	t.Helper()
	want := max(0, l.expiry()-at)
	if l.expiry() == 0 && got.ResetAfter == 0 { // never seen, rather than the end of 1969
		want = 0
	}
	if Instant(got.ResetAfter) != want {
		t.Fatalf("%s: reset %v, but the state ends in %v", label, got.ResetAfter, time.Duration(want))
	}
	end := at + Instant(got.ResetAfter)
	if end > MaxInstant {
		return
	}
	fresh, err := l.clone().call(end, "PEEK", 1)
	if err != nil || fresh.Used != 0 || fresh.Remaining != fresh.Limit || fresh.ResetAfter != 0 {
		t.Fatalf("%s: after reset %v the answer is %+v %v", label, got.ResetAfter, fresh, err)
	}
	if got.ResetAfter == 0 {
		return
	}
	if held, err := l.clone().call(end-1, "PEEK", 1); err != nil || held.ResetAfter != 1 {
		t.Fatalf("%s: 1 ns before reset %v the answer is %+v %v", label, got.ResetAfter, held, err)
	}
}

// checkNext waits until there is more, and sees that there was not before.
func checkNext(t tester, label string, l limiter, at Instant) {
	t.Helper()
	next, err := l.next(at)
	stands, peekErr := l.clone().call(at, "PEEK", 1)
	if err == ErrClear || peekErr == ErrClear {
		return // no more can be granted, or PEEK cannot be used to look
	}
	if err != nil || peekErr != nil {
		t.Fatalf("%s: Next: %v, PEEK: %v", label, err, peekErr)
	}
	if next == 0 {
		if stands.Remaining != stands.Limit {
			t.Fatalf("%s: next is 0 with %d of %d remaining", label, stands.Remaining, stands.Limit)
		}
		return
	}
	if at+Instant(next) > MaxInstant {
		return
	}
	then, err1 := l.clone().call(at+Instant(next), "PEEK", 1)
	just, err2 := l.clone().call(at+Instant(next)-1, "PEEK", 1)
	if err1 == ErrClear || err2 == ErrClear {
		return
	}
	if err1 != nil || err2 != nil {
		t.Fatalf("%s: next %v: %v, %v", label, next, err1, err2)
	}
	if then.Remaining <= stands.Remaining || just.Remaining != stands.Remaining {
		t.Fatalf("%s: next %v, remaining %d, 1 ns before it %d, then %d",
			label, next, stands.Remaining, just.Remaining, then.Remaining)
	}
}

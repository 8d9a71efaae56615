package shard

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
	"pgregory.net/rapid"
)

func drawSpan(t *rapid.T, name string) time.Duration {
	return span(rapid.Int64Range(1, millis(limit.MaxPeriod)).Draw(t, name))
}

func drawInstant(t *rapid.T, name string) limit.Instant {
	return limit.Instant(rapid.Int64Range(1, int64(limit.MaxInstant)).Draw(t, name))
}

// through stores something and reads it back through a fresh Lookup.
func through(t *rapid.T, put, get func(d *Database, e *Entry)) {
	ks := NewKeyspace(Config{Clock: &testClock{now: 0}})
	d := ks.Database(0)
	e := d.Lookup([]byte("k"))
	put(d, &e)
	found := d.Lookup([]byte("k"))
	get(d, &found)
	if found.Exists() && !sound(found.Kind(), d.Value(&found)) {
		t.Fatalf("a state that limit may return counts as damaged: %x", d.Value(&found))
	}
}

// Every state that limit can return comes back as it was stored, but for
// Bucket.At, and expires when it is as if never seen, rounded up to the millisecond.
func TestStatesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.Int64Range(1, limit.MaxTokens).Draw(t, "tokens")
		b := limit.Bucket{Clear: drawInstant(t, "clear"), Rem: rapid.Int64Range(0, tokens-1).Draw(t, "rem"),
			At: drawInstant(t, "at"), Rate: limit.Rate{Tokens: tokens, Period: drawSpan(t, "period")}}
		through(t, func(d *Database, e *Entry) { d.PutBucket(e, b) }, func(d *Database, e *Entry) {
			want := b
			want.At = 0
			if got := d.Bucket(e); got != want || e.Kind() != KindBucket {
				t.Fatalf("%+v of kind %d, want %+v", got, e.Kind(), want)
			}
			expires(t, e, b.Expiry())
		})
		f := limit.Fixed{Count: tokens, Start: drawInstant(t, "start"), Window: drawSpan(t, "window"), First: rapid.Bool().Draw(t, "first")}
		through(t, func(d *Database, e *Entry) { d.PutFixed(e, f) }, func(d *Database, e *Entry) {
			if got := d.Fixed(e); got != f || e.Kind() != KindFixed {
				t.Fatalf("%+v of kind %d, want %+v", got, e.Kind(), f)
			}
			expires(t, e, f.Expiry())
		})
		s := limit.Sliding{Prev: b.Rem, Cur: tokens, Start: drawInstant(t, "start"), Window: drawSpan(t, "window")}
		through(t, func(d *Database, e *Entry) { d.PutSliding(e, s) }, func(d *Database, e *Entry) {
			if got := d.Sliding(e); got != s || e.Kind() != KindSliding {
				t.Fatalf("%+v of kind %d, want %+v", got, e.Kind(), s)
			}
			expires(t, e, s.Expiry())
		})
	})
}

// expires checks when e expires against the definition: the first millisecond
// that does not begin before end.
func expires(t *rapid.T, e *Entry, end limit.Instant) {
	ms := e.Expiry()
	if limit.Instant(ms*1e6) < end || limit.Instant((ms-1)*1e6) >= end {
		t.Fatalf("expires at %d ms, the state counts until %d ns", ms, end)
	}
}

func TestInts(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	for _, n := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		e := d.Lookup([]byte("n"))
		d.PutInt(&e, 0, n)
		if e = d.Lookup([]byte("n")); d.Int(&e) != n || e.Kind() != KindInt {
			t.Errorf("%d came back as %d of kind %d", n, d.Int(&e), e.Kind())
		}
	}
}

// Of a key that is absent or of another kind every view is the zero state; the
// zero state deletes.
func TestZeroStates(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	e := d.Lookup([]byte("k"))
	zero := func(kind Kind) {
		t.Helper()
		log := d.Log(&e)
		if (kind != KindInt && d.Int(&e) != 0) || (kind != KindBucket && d.Bucket(&e) != limit.Bucket{}) ||
			(kind != KindFixed && d.Fixed(&e) != limit.Fixed{}) || (kind != KindSliding && d.Sliding(&e) != limit.Sliding{}) ||
			(kind != KindLog && (log.Hits != nil || log.Window != 0)) || e.Kind() != kind {
			t.Fatalf("a state out of a record of kind %d, want %d", e.Kind(), kind)
		}
	}
	now := ks.Now()
	zero(KindNone)
	d.PutInt(&e, 0, 5)
	zero(KindInt)
	d.PutBucket(&e, limit.Bucket{Clear: now + 5e9, Rate: limit.Rate{Tokens: 1, Period: time.Second}})
	zero(KindBucket)
	d.PutBucket(&e, limit.Bucket{})
	zero(KindNone)
	d.PutFixed(&e, limit.Fixed{Count: 1, Start: now, Window: time.Second})
	zero(KindFixed)
	d.PutFixed(&e, limit.Fixed{})
	zero(KindNone)
	d.PutSliding(&e, limit.Sliding{Cur: 1, Start: now, Window: time.Second})
	zero(KindSliding)
	d.PutSliding(&e, limit.Sliding{})
	zero(KindNone)
	d.EditLog(&e, limit.LogEdit{HasAdd: true, Add: limit.Hit{At: ks.NowMillis(), Sum: 1}, Window: time.Second})
	zero(KindLog)
	d.EditLog(&e, limit.LogEdit{Window: time.Second})
	zero(KindNone)
	if d.Len() != 0 {
		t.Fatalf("%d records left", d.Len())
	}
}

// Edits that no call makes today, but which LogEdit allows.
func TestOtherLogEdits(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	e := d.Lookup([]byte("log"))
	now := ks.NowMillis()
	for i := range int64(4) {
		d.EditLog(&e, limit.LogEdit{Keep: int(i), Add: limit.Hit{At: now + i, Sum: i + 1}, HasAdd: true, Window: time.Second})
	}
	d.EditLog(&e, limit.LogEdit{Keep: 3, Window: time.Second})
	if l := d.Log(&e); len(l.Hits) != 3 || e.Expiry() != now+2+1000 {
		t.Fatalf("%+v, expires at %d", l, e.Expiry())
	}
	d.EditLog(&e, limit.LogEdit{Trim: 1, Keep: 2, Window: time.Minute, Base: 1})
	if l := d.Log(&e); len(l.Hits) != 2 || l.Hits[0].Sum != 2 || l.Base != 1 || l.Window != time.Minute || e.Expiry() != now+2+60_000 {
		t.Fatalf("%+v, expires at %d", l, e.Expiry())
	}
	d.PutInt(&e, 0, 7)
	d.EditLog(&e, limit.LogEdit{Add: limit.Hit{At: now, Sum: 1}, HasAdd: true, Window: time.Second})
	if l := d.Log(&e); len(l.Hits) != 1 || e.Kind() != KindLog {
		t.Fatalf("%+v of kind %d", l, e.Kind())
	}
}

// A log edited in place is the log that limit.Log.Apply makes; its effects give
// the same in a replica, and undoing them gives the log before.
func TestLogsInPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := &testClock{now: start}
		ks, replica := NewKeyspace(Config{Clock: clock}), NewKeyspace(Config{Clock: clock})
		var effects Effects
		var undo Undo
		ks.Record(&effects)
		d := ks.Database(3)
		twin := limit.Log{}
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			clock.now += limit.Instant(rapid.Int64Range(0, 400).Draw(t, "ms") * 1e6)
			ks.Tick()
			e := d.Lookup([]byte("log"))
			ks.Arm(&undo)
			before := records(ks)
			edit := drawEdit(t, d.Log(&e), ks.Now())
			d.EditLog(&e, edit)
			if rapid.IntRange(0, 5).Draw(t, "undo") == 0 {
				ks.Undo(&undo)
				effects.Reset()
				same(t, "after undo", records(ks), before)
				continue
			}
			undo.Reset()
			twin = limit.Log{Window: twin.Window, Base: twin.Base, Hits: slices.Clone(twin.Hits)}
			if !e.Exists() {
				twin = limit.Log{}
			} else {
				twin = twin.Apply(edit)
			}
			e = d.Lookup([]byte("log"))
			sameLog(t, d.Log(&e), twin, e.Expiry())
			if err := replica.Apply(effects.Bytes()); err != nil {
				t.Fatalf("replay: %v", err)
			}
			effects.Reset()
			same(t, "replica", records(replica), records(ks))
			if err := check(ks); err != nil {
				t.Fatalf("%v", err)
			}
		}
	})
}

// drawEdit is what a random call on a log decides.
func drawEdit(t *rapid.T, l limit.Log, now limit.Instant) limit.LogEdit {
	window := rapid.SampledFrom([]time.Duration{100 * time.Millisecond, time.Second}).Draw(t, "window")
	cost := rapid.Int64Range(1, 5).Draw(t, "cost")
	call := l.Hit
	if rapid.IntRange(0, 3).Draw(t, "give") == 0 {
		call = l.Give
	}
	edit, _, err := call(now, 20, window, cost)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return edit
}

func sameLog(t *rapid.T, got, want limit.Log, when int64) {
	if len(got.Hits) == 0 && len(want.Hits) == 0 {
		return
	}
	if got.Window != want.Window || got.Base != want.Base || !slices.Equal(got.Hits, want.Hits) {
		t.Fatalf("%+v, want %+v", got, want)
	}
	if newest := want.Hits[len(want.Hits)-1].At + millis(want.Window); when != newest {
		t.Fatalf("expires at %d, the newest hit leaves the window at %d", when, newest)
	}
}

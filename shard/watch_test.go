package shard

import (
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
	"pgregory.net/rapid"
)

// watchTwin knows for each key how often it was changed, and when it expires.
type watchTwin struct {
	ks      *Keyspace
	clock   *testClock
	changes map[watchPlace]int
	when    map[watchPlace]int64 // of keys with a record, expired ones included
	seen    []map[watchPlace]watchSight
	all     []*Watcher
}

type watchPlace struct {
	db  int
	key string
}

// watchSight is a key as it was when a Watcher began to watch it.
type watchSight struct {
	changes int
	present bool
}

func (w *watchTwin) present(p watchPlace) bool {
	when, ok := w.when[p]
	return ok && (when == 0 || when > w.ks.NowMillis())
}

func (w *watchTwin) draw(t *rapid.T) (p watchPlace, d *Database, e Entry) {
	p = watchPlace{rapid.SampledFrom([]int{0, 3}).Draw(t, "db"), rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "key")}
	d = w.ks.Database(p.db)
	return p, d, d.Lookup([]byte(p.key))
}

func (w *watchTwin) moment(t *rapid.T) int64 {
	ms := rapid.SampledFrom([]int64{0, 0, 1, 5, 50}).Draw(t, "ms")
	if ms == 0 {
		return 0
	}
	return w.ks.NowMillis() + ms
}

func (w *watchTwin) put(t *rapid.T) {
	p, d, e := w.draw(t)
	when := w.moment(t)
	d.Put(&e, KindString, when, []byte("value"))
	w.changes[p]++
	w.when[p] = when
}

// replay is a put that comes as an effect.
func (w *watchTwin) replay(t *rapid.T) {
	p, _, _ := w.draw(t)
	when := w.moment(t)
	var f Effects
	f.put(p.db, []byte(p.key), KindString, when, []byte("value"))
	if err := w.ks.Apply(f.Bytes()); err != nil {
		t.Fatalf("%v", err)
	}
	w.changes[p]++
	w.when[p] = when
}

func (w *watchTwin) delete(t *rapid.T) {
	p, d, e := w.draw(t)
	if d.Delete(&e) {
		w.changes[p]++
		delete(w.when, p)
	}
}

func (w *watchTwin) expiry(t *rapid.T) {
	p, d, e := w.draw(t)
	when := w.moment(t)
	if w.present(p) {
		if when != 0 || w.when[p] != 0 {
			w.changes[p]++
		}
		w.when[p] = when
	}
	d.SetExpiry(&e, when)
}

func (w *watchTwin) splice(t *rapid.T) {
	p, d, e := w.draw(t)
	if w.present(p) {
		d.Splice(&e, 1, 1, []byte("x"))
		w.changes[p]++
	}
}

func (w *watchTwin) flush(t *rapid.T) {
	p, d, _ := w.draw(t)
	for other := range w.when {
		if other.db == p.db {
			if w.present(other) {
				w.changes[other]++
			}
			delete(w.when, other)
		}
	}
	d.Flush()
}

func (w *watchTwin) wait(t *rapid.T) {
	w.clock.now += limit.Instant(rapid.IntRange(0, 20).Draw(t, "ms")) * limit.Instant(time.Millisecond)
	w.ks.Tick()
}

func (w *watchTwin) collect(*rapid.T) { w.ks.Collect() }

func (w *watchTwin) watch(t *rapid.T) {
	i := rapid.IntRange(0, len(w.all)-1).Draw(t, "watcher")
	p, d, _ := w.draw(t)
	if _, twice := w.seen[i][p]; twice {
		return
	}
	w.seen[i][p] = watchSight{w.changes[p], w.present(p)}
	w.all[i].Watch(d, p.key)
}

func (w *watchTwin) clear(t *rapid.T) {
	i := rapid.IntRange(0, len(w.all)-1).Draw(t, "watcher")
	w.all[i].Clear()
	clear(w.seen[i])
}

func (w *watchTwin) check(t *rapid.T) {
	places := map[watchPlace]bool{}
	for i, watcher := range w.all {
		want := false
		for p, then := range w.seen[i] {
			want = want || w.changes[p] != then.changes || then.present && !w.present(p)
			places[p] = true
		}
		if got := watcher.Touched(); got != want {
			t.Fatalf("watcher %d of %v is touched: %t, want %t", i, w.seen[i], got, want)
		}
	}
	if n := w.ks.Watched(); n > len(places) {
		t.Fatalf("%d keys are watched, at most %d should be", n, len(places))
	}
}

// A Watcher is touched when a key it watches was changed since, or was there and
// is gone: whatever time does, and whenever the wheel runs.
func TestWatchersSeeWhatTouchesThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := &testClock{now: start}
		w := &watchTwin{clock: clock, changes: map[watchPlace]int{}, when: map[watchPlace]int64{}}
		w.ks = NewKeyspace(Config{Clock: clock, Seed: Seed{1, 2}})
		for range 3 {
			w.all, w.seen = append(w.all, &Watcher{}), append(w.seen, map[watchPlace]watchSight{})
		}
		t.Repeat(map[string]func(*rapid.T){
			"": w.check, "put": w.put, "replay": w.replay, "delete": w.delete, "expiry": w.expiry, "splice": w.splice,
			"flush": w.flush, "wait": w.wait, "collect": w.collect, "watch": w.watch, "watch more": w.watch, "clear": w.clear,
		})
		for _, watcher := range w.all {
			watcher.Clear()
		}
		for n, d := range w.ks.databases {
			if d != nil && d.watched != nil {
				t.Fatalf("database %d has %d watched keys when nobody watches", n, len(d.watched))
			}
		}
	})
}

// Taking a change back touches what it was a change of.
func TestUndoTouches(t *testing.T) {
	for name, change := range map[string]func(d *Database, e *Entry){
		"put":    func(d *Database, e *Entry) { d.PutInt(e, 0, 7) },
		"delete": func(d *Database, e *Entry) { d.Delete(e) },
		"expiry": func(d *Database, e *Entry) { d.SetExpiry(e, d.ks.NowMillis()+1) },
		"splice": func(d *Database, e *Entry) { d.Splice(e, 0, 1, nil) },
		"flush":  func(d *Database, _ *Entry) { d.Flush() },
	} {
		ks, _ := newTestKeyspace(t, 1)
		d := ks.Database(0)
		e, other := d.Lookup([]byte("k")), d.Lookup([]byte("other"))
		d.Put(&e, KindString, 0, []byte("value"))
		var u Undo
		ks.Arm(&u)
		e = d.Lookup([]byte("k"))
		change(d, &e)
		var w, elsewhere Watcher
		w.Watch(d, "k")
		elsewhere.Watch(d, string(other.Key()))
		if w.Touched() {
			t.Errorf("%s: touched by what came before", name)
		}
		ks.Undo(&u)
		if !w.Touched() || elsewhere.Touched() {
			t.Errorf("undo of %s: touched %t, another key %t", name, w.Touched(), elsewhere.Touched())
		}
	}
}

package shard

import (
	"fmt"
	"sort"
	"testing"

	"github.com/limitstore/limitstore/limit"
)

// testClock is a clock for one goroutine that tests set at will, backwards too.
type testClock struct{ now limit.Instant }

func (c *testClock) Now() limit.Instant { return c.now }

const start = limit.Instant(1_700_000_000_000_000_000)

func newTestKeyspace(t testing.TB, budget int) (*Keyspace, *testClock) {
	t.Helper()
	clock := &testClock{now: start}
	return NewKeyspace(Config{Clock: clock, Seed: Seed{1, 2}, Expirations: budget}), clock
}

// twin is the deliberately dumb keyspace: maps, and no memory of its own.
type twin struct {
	now int64 // Unix ms
	dbs [Databases]map[string]twinRecord
}

type twinRecord struct {
	kind  Kind
	when  int64
	value string
}

func newTwin(now int64) *twin {
	w := &twin{now: now}
	for i := range w.dbs {
		w.dbs[i] = map[string]twinRecord{}
	}
	return w
}

func (w *twin) get(db int, key string) (twinRecord, bool) {
	r, ok := w.dbs[db][key]
	if ok && r.when != 0 && r.when <= w.now {
		return twinRecord{}, false
	}
	return r, ok
}

// clone is a copy, for undo.
func (w *twin) clone() *twin {
	c := newTwin(w.now)
	for i, db := range w.dbs {
		for k, r := range db {
			c.dbs[i][k] = r
		}
	}
	return c
}

// lines is the twin in the form of dump.
func (w *twin) lines() []string {
	var out []string
	for db := range w.dbs {
		keys := make([]string, 0, len(w.dbs[db]))
		for k := range w.dbs[db] {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			if r, ok := w.get(db, k); ok {
				out = append(out, line(db, []byte(k), r.kind, r.when, []byte(r.value)))
			}
		}
	}
	return out
}

func line(db int, key []byte, kind Kind, when int64, value []byte) string {
	return fmt.Sprintf("%d %q kind %d when %d %q", db, key, kind, when, value)
}

// dump is a keyspace as text.
func dump(ks *Keyspace) []string {
	var out []string
	ks.Dump(func(db int, key []byte, kind Kind, when int64, value []byte) {
		out = append(out, line(db, key, kind, when, value))
	})
	return out
}

// same fails the test unless two dumps are equal.
func same(t fataler, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Fatalf("%s: record %d of %d/%d is\n  %s\nwant\n  %s", what, i, len(got), len(want), g, w)
		}
	}
}

// fataler is what tests and rapid checks have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

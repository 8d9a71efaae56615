package shard

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
	"pgregory.net/rapid"
)

// machine drives a keyspace and its twin with the same random changes. Beside
// them a replica replays the effects, at its own pace and with a wheel of its
// own, and now and then a stretch of changes is taken back.
type machine struct {
	ks, replica *Keyspace
	clock, late *testClock
	twin        *twin
	effects     Effects
	undo        Undo
	saved       []savepoint
	keys        []string
}

// savepoint is what an undo has to restore.
type savepoint struct {
	twin    *twin
	records []string // expired ones included
	mark    int      // of undo
	effects int      // length then
}

func newMachine(t *rapid.T) *machine {
	m := &machine{clock: &testClock{now: start}, late: &testClock{now: start}}
	budget := rapid.SampledFrom([]int{1, 2, 5, 256}).Draw(t, "budget")
	m.ks = NewKeyspace(Config{Clock: m.clock, Seed: Seed{1, 2}, Expirations: budget})
	m.replica = NewKeyspace(Config{Clock: m.late, Seed: Seed{3, 4}, Expirations: 1})
	m.ks.SetGarbage(rapid.Bool().Draw(t, "wheel"))
	m.replica.SetGarbage(rapid.Bool().Draw(t, "replica's wheel"))
	m.ks.Record(&m.effects)
	m.twin = newTwin(m.ks.NowMillis())
	m.keys = []string{"", "\x00\xff binary", string(make([]byte, 300))}
	for i := range 12 {
		m.keys = append(m.keys, fmt.Sprintf("user:%d", i))
	}
	return m
}

// target draws a key in a database and looks it up in both worlds.
func (m *machine) target(t *rapid.T) (d *Database, e Entry, db int, key string) {
	db = rapid.SampledFrom([]int{0, 1, 15}).Draw(t, "db")
	key = rapid.SampledFrom(m.keys).Draw(t, "key")
	d = m.ks.Database(db)
	e = d.Lookup([]byte(key))
	m.agree(t, d, &e, db, key)
	return d, e, db, key
}

// agree compares what an Entry says with the twin.
func (m *machine) agree(t *rapid.T, d *Database, e *Entry, db int, key string) {
	r, ok := m.twin.get(db, key)
	if e.Exists() != ok || e.Kind() != r.kind || e.Expiry() != r.when || string(d.Value(e)) != r.value || string(e.Key()) != key {
		t.Fatalf("%d %q: exists %t kind %d expiry %d value %q, want %t %+v",
			db, key, e.Exists(), e.Kind(), e.Expiry(), d.Value(e), ok, r)
	}
}

// moment draws an expiry: none, past, near or far.
func (m *machine) moment(t *rapid.T) int64 {
	return rapid.OneOf(
		rapid.Just(int64(0)),
		rapid.Int64Range(m.twin.now-5, m.twin.now+60),
		rapid.Int64Range(m.twin.now, m.twin.now+1_000_000),
		rapid.SampledFrom([]int64{1, MaxWhen}),
	).Draw(t, "when")
}

// text draws a string, sometimes one that needs a cell of its own.
func text(t *rapid.T) []byte {
	n := rapid.OneOf(rapid.IntRange(0, 40), rapid.SampledFrom([]int{300, 5000, 20_000})).Draw(t, "length")
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + i%26)
	}
	return b
}

func drawValue(t *rapid.T) (Kind, []byte) {
	switch k := rapid.SampledFrom([]Kind{KindInt, KindString, KindBucket, KindFixed, KindSliding, KindLog, KindHash, KindSet, KindSorted, KindList}).Draw(t, "kind"); k {
	case KindInt:
		return k, packed{}.append(nil)[:8]
	case KindString:
		return k, text(t)
	case KindHash, KindSet:
		return k, drawRoster(t, k)
	case KindSorted:
		return k, drawSorted(t)
	case KindList:
		return k, wholeList(drawElements(t, 1))
	case KindLog:
		hits := rapid.IntRange(0, 30).Draw(t, "hits")
		return k, make([]byte, logHeader+hits*hitSize)
	default:
		b := rapid.Int64Range(1, limit.MaxTokens).Draw(t, "b")
		p := packed{limit.Instant(m64(t)), rapid.Int64Range(0, b-1).Draw(t, "a"), b, rapid.Int64Range(1, 1e9).Draw(t, "c")}
		if k == KindFixed {
			p.b = 1
		}
		return k, p.append(nil)
	}
}

func m64(t *rapid.T) int64 { return rapid.Int64().Draw(t, "at") }

func (m *machine) Put(t *rapid.T) {
	d, e, db, key := m.target(t)
	k, v := drawValue(t)
	when := m.moment(t)
	d.Put(&e, k, when, v)
	m.twin.dbs[db][key] = twinRecord{k, when, string(v)}
	m.agree(t, d, &e, db, key)
}

func (m *machine) Delete(t *rapid.T) {
	d, e, db, key := m.target(t)
	_, ok := m.twin.get(db, key)
	if got := d.Delete(&e); got != ok {
		t.Fatalf("Delete of %q: %t, want %t", key, got, ok)
	}
	if ok {
		delete(m.twin.dbs[db], key)
	}
	m.agree(t, d, &e, db, key)
}

func (m *machine) SetExpiry(t *rapid.T) {
	d, e, db, key := m.target(t)
	when := m.moment(t)
	d.SetExpiry(&e, when)
	if r, ok := m.twin.get(db, key); ok {
		m.twin.dbs[db][key] = twinRecord{r.kind, when, r.value}
	}
	m.agree(t, d, &e, db, key)
}

// Splice edits a string three times through one Entry, as APPEND does.
func (m *machine) Splice(t *rapid.T) {
	d, e, db, key := m.target(t)
	if e.Kind() != KindString {
		v := text(t)
		d.Put(&e, KindString, 0, v)
		m.twin.dbs[db][key] = twinRecord{KindString, 0, string(v)}
	}
	for range 3 {
		r, _ := m.twin.get(db, key)
		at := rapid.IntRange(0, len(r.value)).Draw(t, "at")
		remove := rapid.IntRange(0, len(r.value)-at).Draw(t, "remove")
		insert := text(t)
		d.Splice(&e, at, remove, insert)
		m.twin.dbs[db][key] = twinRecord{r.kind, r.when, r.value[:at] + string(insert) + r.value[at+remove:]}
		m.agree(t, d, &e, db, key)
	}
}

// Rename is delete and put, through two Entries looked up beforehand, maybe of
// two databases.
func (m *machine) Rename(t *rapid.T) {
	d, from, db, key := m.target(t)
	to := rapid.SampledFrom(m.keys).Draw(t, "to")
	other := rapid.SampledFrom([]int{db, 0}).Draw(t, "to database")
	r, ok := m.twin.get(db, key)
	if !ok || to == key && other == db {
		return
	}
	dest := m.ks.Database(other).Lookup([]byte(to))
	m.ks.Database(other).Put(&dest, from.Kind(), from.Expiry(), d.Value(&from))
	d.Delete(&from)
	delete(m.twin.dbs[db], key)
	m.twin.dbs[other][to] = r
	m.agree(t, m.ks.Database(other), &dest, other, to)
	m.agree(t, d, &from, db, key)
}

func (m *machine) Flush(t *rapid.T) {
	db := rapid.SampledFrom([]int{0, 1, 15}).Draw(t, "db")
	m.ks.Database(db).Flush()
	clear(m.twin.dbs[db])
}

func (m *machine) Wait(t *rapid.T) {
	ms := rapid.OneOf(rapid.Int64Range(-5, 20), rapid.Int64Range(0, 100_000)).Draw(t, "ms")
	m.clock.now += limit.Instant(ms * int64(time.Millisecond))
	m.ks.Tick()
	if ms < 0 && m.ks.NowMillis() < m.twin.now {
		t.Fatalf("the time went back to %d from %d", m.ks.NowMillis(), m.twin.now)
	}
	m.twin.now = max(m.twin.now, int64(m.clock.now)/1e6)
}

func (m *machine) Collect(t *rapid.T) {
	done, more := m.ks.Collect()
	if done > m.ks.expirations {
		t.Fatalf("%d collected in one step, at most %d may be", done, m.ks.expirations)
	}
	if more && m.ks.keep {
		t.Fatalf("work left for a wheel that is off")
	}
}

// Replay brings the replica up to date. Its clock is anywhere between where it
// was and the time of the keyspace.
func (m *machine) Replay(t *rapid.T) {
	if len(m.saved) > 0 {
		return // what may yet be undone is not shipped
	}
	if err := m.replica.Apply(m.effects.Bytes()); err != nil {
		t.Fatalf("replay: %v", err)
	}
	m.effects.Reset()
	m.late.now = limit.Instant(rapid.Int64Range(int64(m.late.now), int64(m.ks.Now())).Draw(t, "replica's time"))
	m.replica.Tick()
	m.replica.Collect()
}

func (m *machine) Save(t *rapid.T) {
	if len(m.saved) > 2 {
		return
	}
	m.ks.Arm(&m.undo)
	m.saved = append(m.saved, savepoint{m.twin.clone(), records(m.ks), m.undo.Len(), m.effects.Len()})
}

func (m *machine) Undo(t *rapid.T) {
	if len(m.saved) == 0 {
		return
	}
	n := rapid.IntRange(0, len(m.saved)-1).Draw(t, "savepoint")
	s := m.saved[n]
	m.saved = m.saved[:n]
	m.ks.UndoTo(&m.undo, s.mark)
	m.effects.Truncate(s.effects)
	if n == 0 {
		m.ks.Undo(&m.undo)
		m.ks.Arm(nil)
		if m.undo.Len() != 0 || m.undo.Bytes() != 0 || len(m.undo.dropped) != 0 {
			t.Fatalf("undo left %d inverses, %d bytes, %d tables", m.undo.Len(), m.undo.Bytes(), len(m.undo.dropped))
		}
	}
	same(t, "records after undo", records(m.ks), s.records)
	s.twin.now = m.twin.now
	m.twin = s.twin
}

// Stretch saves, changes things while time passes and the wheel runs, and takes
// it all back.
func (m *machine) Stretch(t *rapid.T) {
	m.Save(t)
	steps := []func(*rapid.T){m.Put, m.Put, m.Delete, m.SetExpiry, m.Splice, m.Roster, m.Roster, m.Ranking, m.Sequence, m.Rename, m.Flush, m.Wait, m.Collect, m.Collect, m.Evict}
	for range rapid.IntRange(1, 12).Draw(t, "steps") {
		rapid.SampledFrom(steps).Draw(t, "step")(t)
	}
	m.Undo(t)
}

// Keep ends the stretch that could have been undone.
func (m *machine) Keep(t *rapid.T) {
	m.saved = nil
	m.undo.Reset()
	m.ks.Arm(nil)
}

func (m *machine) Check(t *rapid.T) {
	for _, ks := range []*Keyspace{m.ks, m.replica} {
		if err := check(ks); err != nil {
			t.Fatalf("%v", err)
		}
	}
	same(t, "keyspace", dump(m.ks), m.twin.lines())
	if len(m.saved) == 0 && m.effects.Len() == 0 {
		now := m.replica.millis
		m.replica.millis = m.ks.millis // as seen at one time
		same(t, "replica", dump(m.replica), m.twin.lines())
		m.replica.millis = now
	}
}

// check checks every database in use.
func check(ks *Keyspace) error {
	for n, d := range ks.databases {
		if d == nil {
			continue
		}
		if err := d.Check(); err != nil {
			return fmt.Errorf("database %d: %w", n, err)
		}
	}
	return nil
}

// records is everything held, expired or not, as text.
func records(ks *Keyspace) []string {
	var out []string
	for n, d := range ks.databases {
		if d == nil {
			continue
		}
		for _, c := range d.sorted() {
			out = append(out, line(n, c.key(), c.kind(), c.when, d.tables.value(c)))
		}
	}
	return out
}

// The primitives do what maps would do, whatever time does and whenever the
// wheel runs; replaying their effects gives an equal keyspace, and undoing them gives the
// one before, record for record.
func TestMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		t.Repeat(map[string]func(*rapid.T){
			"": m.Check, "put": m.Put, "put again": m.Put, "delete": m.Delete, "expiry": m.SetExpiry,
			"splice": m.Splice, "roster": m.Roster, "roster again": m.Roster, "ranking": m.Ranking, "sequence": m.Sequence, "rename": m.Rename, "flush": m.Flush, "wait": m.Wait, "collect": m.Collect, "evict": m.Evict,
			"replay": m.Replay, "save": m.Save, "undo": m.Undo, "keep": m.Keep,
			"stretch": m.Stretch, "stretch again": m.Stretch, "replay again": m.Replay,
		})
		m.Keep(t)
		m.Replay(t)
		m.Check(t)
		replayFromNothing(t, m)
	})
}

// replayFromNothing checks that the dump itself, as effects, gives the dump.
func replayFromNothing(t *rapid.T, m *machine) {
	var all Effects
	m.ks.Dump(func(db int, key []byte, kind Kind, when int64, value []byte) {
		all.put(db, slices.Clone(key), kind, when, slices.Clone(value))
	})
	fresh := NewKeyspace(Config{Clock: m.clock, Seed: Seed{5, 6}})
	if err := fresh.Apply(all.Bytes()); err != nil {
		t.Fatalf("replay of a dump: %v", err)
	}
	fresh.millis = m.ks.millis
	same(t, "fresh keyspace", dump(fresh), m.twin.lines())
}

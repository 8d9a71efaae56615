package shard

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
	"pgregory.net/rapid"
)

// What a record remembers of until when it denies is never too early, and late
// by at most a part in 512 of what is left to its expiry.
func TestNoteIsLateByLittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &cell{meta: uint32(KindBucket)}
		if rapid.Bool().Draw(t, "aside") {
			c.node.Owner = asideBit
		}
		c.when = rapid.Int64Range(1, MaxWhen).Draw(t, "when")
		until := c.when - rapid.OneOf(rapid.Int64Range(0, min(c.when-1, 5000)), rapid.Int64Range(0, c.when-1)).Draw(t, "slack")
		aside := c.aside()
		c.note(until)
		if got := c.until(); got < until || got-until > (c.when-until)/512 || c.aside() != aside {
			t.Fatalf("expires at %d, denies until %d, noted %d", c.when, until, got)
		}
		if c.note(0); c.until() != 0 || c.aside() != aside {
			t.Fatalf("still denies until %d", c.until())
		}
	})
}

// Evict tells of some limiter states that they deny and of the others that they
// do not, and gives up some or all: never one that denies, never another key, and all
// that may go when it goes on for long enough.
func (m *machine) Evict(t *rapid.T) {
	m.ks.budget = rapid.Int64Range(0, 1).Draw(t, "budget")
	denying := map[string]bool{}
	may := 0
	for db, keys := range m.twin.dbs {
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			r, ok := m.twin.get(db, key)
			if !ok || !r.kind.limiter() || r.when == 0 {
				continue
			}
			until := int64(0)
			if rapid.Bool().Draw(t, "denies") {
				until = rapid.Int64Range(m.twin.now+1, r.when).Draw(t, "until")
				denying[fmt.Sprint(db, key)] = true
			} else {
				may++
			}
			e := m.ks.Database(db).Lookup([]byte(key))
			m.ks.Database(db).Deny(&e, until)
		}
	}
	before, n := m.ks.stats.Evicted, rapid.IntRange(0, 60).Draw(t, "evictions")
	for range n {
		if looks := evictionLooks; !m.ks.giveUp(&looks) {
			n = 60
			break
		}
	}
	gone := 0
	for db, keys := range m.twin.dbs {
		for key := range keys {
			r, ok := m.twin.get(db, key)
			e := m.ks.Database(db).Lookup([]byte(key))
			if !ok || e.Exists() {
				continue
			}
			if gone++; denying[fmt.Sprint(db, key)] || !r.kind.limiter() {
				t.Fatalf("%d %q is gone: %+v", db, key, r)
			}
			delete(keys, key)
		}
	}
	if got := m.ks.stats.Evicted - before; got != int64(gone) || n == 60 && gone != may {
		t.Fatalf("%d are gone, %d counted, %d might go", gone, got, may)
	}
	m.ks.budget = 0
}

// stock20 stores n buckets that expire one after another, a ms apart, beginning
// a second from now; their order in time is not that of their keys.
func stock20(d *Database, n int) {
	var buf [20]byte
	for i := range n {
		e := d.Lookup(key20(buf[:], i))
		d.PutBucket(&e, bucketAt(d.ks.millis+1000+int64(i*7919%n)))
	}
}

// expiries are those of all live records, ascending.
func expiries(d *Database) (all []int64) {
	for _, c := range d.sorted() {
		if d.alive(c) {
			all = append(all, c.when)
		}
	}
	slices.Sort(all)
	return all
}

// What is given up is what is the closest to as if never seen: of a thousand
// states, the hundred given up are among the first hundred, give or take the width
// of a slot and what the sample missed.
func TestWhatLosesLeastGoesFirst(t *testing.T) {
	ks, clock := newTestKeyspace(t, 1)
	d := ks.Database(0)
	stock20(d, 1000)
	all := expiries(d)
	for range 100 {
		if looks := evictionLooks; !ks.giveUp(&looks) {
			t.Fatal("nothing may go")
		}
	}
	left := expiries(d)
	if len(left) != 900 || ks.Stats().Evicted != 100 {
		t.Fatalf("%d left, %d evicted", len(left), ks.Stats().Evicted)
	}
	// A slot of the second level is 64 ms wide.
	if !slices.Equal(left[64:], all[164:]) {
		t.Errorf("among those given up are some that would have lived longer than %d others", 164)
	}
	// What has expired goes before, and is no eviction.
	clock.now += limit.Instant(1200 * time.Millisecond)
	ks.Tick()
	alive := len(expiries(d))
	for d.Len() > alive {
		if looks := evictionLooks; !ks.giveUp(&looks) {
			t.Fatal("the expired do not go")
		}
	}
	if ks.Stats().Evicted != 100 || len(expiries(d)) != alive {
		t.Errorf("%d evicted while there were expired ones", ks.Stats().Evicted-100)
	}
	checkAt(t, d, true)
}

// oneRecord is more than a record of these tests takes, its part of the index
// included.
const oneRecord = 64 << 10

// A flood of new keys of all lengths, that live from a second to years, of which
// some deny, leaves memory where it may be, drops none that denies, and is never
// refused: something may always go.
func TestFloodIsHeldToTheBudget(t *testing.T) {
	for name, longest := range map[string]int{"one length": 20, "many lengths": 150} {
		t.Run(name, func(t *testing.T) {
			const budget = 8 << 20
			ks, clock := newTestKeyspace(t, 256)
			ks.budget = budget
			d, rng := ks.Database(0), rand.New(rand.NewPCG(1, 2))
			denying := map[string]int64{}
			worst := int64(0)
			for i := range 400_000 {
				key := fmt.Appendf(nil, "%0*d", 20+rng.IntN(longest-19), i)
				clock.now += limit.Instant(10 * time.Microsecond)
				if ks.Tick(); i%64 == 0 {
					ks.Collect()
				}
				if !ks.MakeRoom() {
					t.Fatalf("new key %d is refused", i)
				}
				e := d.Lookup(key)
				ends := ks.millis + 1000 + int64(rng.ExpFloat64()*1e6)
				if d.PutBucket(&e, bucketAt(ends)); i%50 == 0 {
					denying[string(key)] = ends - 500
					d.Deny(&e, ends-500)
				}
				worst = max(worst, ks.Memory())
			}
			t.Logf("%d bytes at most, %d records, %d given up", worst, d.Len(), ks.Stats().Evicted)
			if worst > budget+chunkSize+oneRecord {
				t.Errorf("memory came to %d, %d over the budget", worst, worst-budget)
			}
			for key, until := range denying {
				if e := d.Lookup([]byte(key)); until > ks.millis && !e.Exists() {
					t.Fatalf("%s is gone though it denies for %d ms more", key, until-ks.millis)
				}
			}
			if ks.Stats().Evicted == 0 || float64(d.Usage().Records) < budget/4 {
				t.Errorf("%d given up, %d bytes of records are left", ks.Stats().Evicted, d.Usage().Records)
			}
			checkAt(t, d, true)
		})
	}
}

// When all that is left denies, or is no limiter, nothing is dropped and the
// answer is no; when the denial has passed it is yes.
func TestNothingThatDeniesGoes(t *testing.T) {
	for _, early := range []bool{true, false} {
		ks, clock := newTestKeyspace(t, 256)
		d := ks.Database(0)
		if early {
			ks.budget = 1 // it was there when they began to deny
		}
		stock20(d, 5000)
		for _, c := range d.sorted() {
			e := d.Lookup(slices.Clone(c.key()))
			d.Deny(&e, e.Expiry()-100)
		}
		for i := range 100 {
			e := d.Lookup(numbered(i))
			d.Put(&e, KindString, ks.millis+1, []byte("text"))
		}
		ks.budget = leastBudget
		before := dump(ks)
		for range 20 {
			if ks.MakeRoom() {
				t.Fatalf("there is room in %d bytes of %d", ks.Memory(), ks.budget)
			}
		}
		same(t, "keyspace", dump(ks), before)
		clock.now += limit.Instant(950 * time.Millisecond) // the first 50 expire in 50 ms
		ks.Tick()
		ks.MakeRoom()
		if n := ks.Stats().Evicted; n < 40 || n > 60 {
			t.Errorf("%d were given up, 50 do not deny any more", n)
		}
		checkAt(t, d, true)
	}
}

// leastBudget is a budget that an empty keyspace fits into and no more.
const leastBudget = 100 << 10

// What has expired goes first, whatever it was, and counts as expired.
func TestTheExpiredMakeRoomFirst(t *testing.T) {
	ks, clock := newTestKeyspace(t, 256)
	ks.budget = 2 << 20
	d := ks.Database(0)
	var buf [20]byte
	stored := 0
	for ; ks.packed() < ks.budget-1000; stored++ { // half of it strings that expire at once
		if stored%2 == 0 {
			e := d.Lookup(numbered(stored))
			d.Put(&e, KindString, ks.millis+1, []byte("a session of some length"))
			continue
		}
		e := d.Lookup(key20(buf[:], stored))
		d.PutBucket(&e, bucketAt(ks.millis+1e6))
	}
	clock.now += limit.Instant(time.Millisecond)
	ks.Tick()
	for i := range stored / 3 {
		if !ks.MakeRoom() {
			t.Fatalf("refused at %d", i)
		}
		e := d.Lookup(key20(buf[:], stored+i))
		d.PutBucket(&e, bucketAt(ks.millis+1e6))
	}
	if s := ks.Stats(); s.Evicted != 0 || s.Expired == 0 {
		t.Errorf("%d given up, %d expired", s.Evicted, s.Expired)
	}
}

// A limiter state without an expiry, which no command makes, is never given up.
func TestWhatNeverExpiresStays(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	e := ks.Database(0).Lookup([]byte("a"))
	ks.Database(0).Put(&e, KindBucket, 0, packed{c: 1, b: 1}.append(nil))
	ks.Database(0).Deny(&e, ks.millis+5)
	if looks := evictionLooks; ks.giveUp(&looks) || !e.Exists() {
		t.Error("it was given up")
	}
}

// Long-lived records that are all that is left of their chunks are moved
// together, and the chunks go back; every record is found afterwards.
func TestSparseChunksAreEmptied(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	stock20(d, 40_000)
	for i := range 200 {
		e := d.Lookup(numbered(i))
		d.Put(&e, KindString, 0, make([]byte, 5000)) // of another size, with chunks of their own
	}
	before := ks.Usage()
	var buf [20]byte
	for i := range 40_000 {
		if i%100 != 0 {
			e := d.Lookup(key20(buf[:], i))
			d.Delete(&e)
		}
	}
	if u := ks.Usage(); u.Free < before.Records/2 {
		t.Fatalf("the test needs sparse chunks: %+v", u)
	}
	records, steps := dump(ks), 0
	for ks.Compact() {
		steps++
		checkAt(t, d, true)
	}
	same(t, "keyspace", dump(ks), records)
	if u := ks.Usage(); u.Free > 2*chunkSize || steps < 10 {
		t.Errorf("after %d steps %+v", steps, u)
	}
	e := d.Lookup(key20(buf[:], 100))
	d.Delete(&e)
	checkAt(t, d, true)
}

// Entries looked up before chunks were emptied find their records again.
func TestEntriesOutliveCompaction(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	stock20(d, 3000)
	var entries []Entry
	var want []limit.Bucket
	for i := range 3000 {
		e := d.Lookup(key20(make([]byte, 20), i))
		if i%30 != 0 {
			d.Delete(&e)
			continue
		}
		entries, want = append(entries, e), append(want, d.Bucket(&e))
	}
	for i := range entries {
		entries[i] = d.Lookup(entries[i].key)
	}
	for ks.Compact() {
	}
	moved := 0
	for i := range entries {
		before := entries[i].ref
		d.SetExpiry(&entries[i], entries[i].Expiry()+5)
		if got := d.Bucket(&entries[i]); got != want[i] || !entries[i].Exists() {
			t.Errorf("%+v, want %+v", got, want[i])
		}
		if entries[i].ref != before {
			moved++
		}
	}
	if moved < 20 {
		t.Errorf("%d of %d have moved", moved, len(entries))
	}
	checkAt(t, d, true)
}

// An attacker leaves a few keys that live for long in every chunk of keys of one
// length, and then goes on to another length: memory is held all the same.
func TestPinnedChunksAreNoWayAround(t *testing.T) {
	const budget = 4 << 20
	ks, _ := newTestKeyspace(t, 256)
	ks.budget = budget
	d, worst := ks.Database(0), int64(0)
	for length := 20; length < 200; length += 16 {
		for i := range 40_000 {
			if !ks.MakeRoom() {
				t.Fatalf("key %d of %d bytes is refused", i, length)
			}
			e := d.Lookup(fmt.Appendf(nil, "%0*d", length, i))
			lives := int64(1000)
			if i%200 == 0 {
				lives = 1e9
			}
			d.PutBucket(&e, bucketAt(ks.millis+lives))
			worst = max(worst, ks.Memory())
		}
	}
	if worst > budget+2*chunkSize {
		t.Errorf("memory came to %d, %d over the budget", worst, worst-budget)
	}
	checkAt(t, d, true)
}

// A database whose chunks are nearly numbered out says so before a command is
// run, and takes what it promised to.
func TestRoomForChunks(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	ks.LimitChunks(40)
	d := ks.Database(0)
	large := make([]byte, largestShared+1)
	n := 0
	for ; d.Room(1); n++ {
		e := d.Lookup(numbered(n))
		d.Put(&e, KindString, 0, large)
	}
	if n != 30 { // a quarter is kept for what is not refused
		t.Errorf("%d chunks of 40 were used", n)
	}
	for i := n; i < 40; i++ {
		e := d.Lookup(numbered(i))
		d.Put(&e, KindString, 0, large)
	}
	if d.Flush(); !d.Room(30) || d.Room(31) {
		t.Error("the limit is another one after a flush")
	}
}

// Usage adds up to Memory.
func TestUsageAddsUp(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	stock20(ks.Database(0), 3000)
	for i := range 100 {
		e := ks.Database(3).Lookup(numbered(i))
		ks.Database(3).Put(&e, KindString, 0, make([]byte, i*400))
	}
	u := ks.Usage()
	if u.Total() != ks.Memory() {
		t.Errorf("%+v is %d, Memory says %d", u, u.Total(), ks.Memory())
	}
	// 24 bytes of header, the key, and 24 bytes of state rounded up to 8.
	if want := int64(3000 * (24 + 24 + 24)); ks.Database(0).Usage().Records != want {
		t.Errorf("records of %d bytes, want %d", ks.Database(0).Usage().Records, want)
	}
}

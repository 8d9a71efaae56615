package shard

import (
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
)

// allocates checks that fn does not allocate once it has warmed up.
func allocates(t *testing.T, what string, fn func()) {
	t.Helper()
	for range 2000 {
		fn()
	}
	if n := testing.AllocsPerRun(2000, fn); n != 0 {
		t.Errorf("%s: %v allocations", what, n)
	}
}

// take is what TB.TAKE does to a keyspace.
func take(ks *Keyspace, key []byte) {
	d := ks.Database(0)
	e := d.Lookup(key)
	b, dec, err := d.Bucket(&e).Take(ks.Now(), 1e9, limit.Rate{Tokens: 10, Period: time.Second}, 1)
	if err != nil || !dec.Allowed {
		panic("not allowed")
	}
	d.PutBucket(&e, b)
}

// The changes of the hot commands do not allocate: on their own, with effects
// recorded, and with undo armed.
func TestChangesDoNotAllocate(t *testing.T) {
	for name, prepare := range map[string]func(*Keyspace, *Effects, *Undo){
		"standalone": func(*Keyspace, *Effects, *Undo) {},
		"effects":    func(ks *Keyspace, f *Effects, _ *Undo) { ks.Record(f) },
		"undo":       func(ks *Keyspace, f *Effects, u *Undo) { ks.Record(f); ks.Arm(u) },
	} {
		t.Run(name, func(t *testing.T) {
			ks, clock := newTestKeyspace(t, 256)
			var f Effects
			var u Undo
			prepare(ks, &f, &u)
			d, key, other := ks.Database(0), []byte("user:42"), []byte("user:43")
			log, text := []byte("log"), []byte("text")
			done := func() { f.Reset(); u.Reset() }
			allocates(t, "take", func() { take(ks, key); done() })
			allocates(t, "create and delete", func() {
				e := d.Lookup(other)
				d.PutInt(&e, ks.NowMillis()+5, 1)
				d.Delete(&e)
				done()
			})
			allocates(t, "create and collect", func() {
				e := d.Lookup(other)
				d.PutInt(&e, ks.NowMillis()+1, 1)
				clock.now += 1e6
				ks.Tick()
				ks.Collect()
				done()
			})
			allocates(t, "log", func() {
				clock.now += 1e6
				ks.Tick()
				e := d.Lookup(log)
				edit, _, _ := d.Log(&e).Hit(ks.Now(), 100, 50*time.Millisecond, 1)
				d.EditLog(&e, edit)
				done()
			})
			piece := []byte("0123456789")
			allocates(t, "append", func() {
				e := d.Lookup(text)
				d.Put(&e, KindString, 0, piece)
				d.Splice(&e, 10, 0, piece)
				done()
			})
			hash, set := []byte("hash"), []byte("set")
			turn := 0
			for i := range 20 {
				e := d.Lookup(hash)
				d.HashSet(&e, numbered(i), piece)
				e = d.Lookup(set)
				d.SetAdd(&e, numbered(i))
			}
			values := [][]byte{[]byte("9876543210"), piece}
			allocates(t, "hash field", func() {
				turn++
				e := d.Lookup(hash)
				d.HashSet(&e, key[:0], values[turn%2])
				d.Hash(&e).Get(key)
				done()
			})
			allocates(t, "undo", func() { take(ks, key); ks.Undo(&u); f.Reset() })
		})
	}
}

// taker is a batch as the engine's are: made once, used again.
type taker struct{ key []byte }

func (b *taker) Run(ks *Keyspace) { take(ks, b.key) }

// Handing batches over and going through the door do not allocate either.
func TestHandingOverDoesNotAllocate(t *testing.T) {
	door, shards := newDoor(t, 3, newSharedClock())
	var ticket Ticket
	batches := []*taker{{[]byte("a")}, {[]byte("b")}, {[]byte("c")}}
	allocates(t, "submit", func() {
		ticket.Add(3)
		for i, s := range shards {
			s.Submit(batches[i], &ticket)
		}
		ticket.Wait()
	})
	ids := []int{0, 2}
	key := []byte("d")
	inside := func(held []*Keyspace) { take(held[0], key); take(held[2], key) }
	allocates(t, "door", func() { door.Through(ids, inside) })
}

// A scan allocates once, for the Entry it shows.
func TestScanAllocatesOnce(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	put(d, 5000, numbered)
	visit := func(*Entry) {}
	if n := testing.AllocsPerRun(100, func() { d.Scan(0, 1000, visit) }); n > 1 {
		t.Errorf("%v allocations for 1000 records", n)
	}
}

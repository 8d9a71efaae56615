package shard

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
)

// bucketAt is a bucket that needs until ms to be full again.
func bucketAt(ms int64) limit.Bucket {
	return limit.Bucket{Clear: limit.Instant(ms * 1e6), Rate: limit.Rate{Tokens: 1, Period: time.Second}}
}

// key20 writes a key of 20 bytes into buf.
func key20(buf []byte, i int) []byte { return fmt.Appendf(buf[:0], "user:%015d", i) }

// putBuckets stores buckets under the keys from first to last-1. Their expiries
// lie within a second after ms.
func putBuckets(d *Database, first, last int, ms int64) {
	var buf [20]byte
	for i := first; i < last; i++ {
		e := d.Lookup(key20(buf[:], i))
		d.PutBucket(&e, bucketAt(ms+int64(i)%1000))
	}
}

// A token bucket with a key of 20 bytes takes at most 96 bytes, everything
// counted, at any size over two doublings and more: there is no step at which a
// table doubles.
func TestMemoryPerBucket(t *testing.T) {
	const keys, bar = 1_000_000, 96
	before := heap()
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	var worst float64
	for n := 0; n < keys; n += 20_000 { // more than eight sizes within each doubling
		putBuckets(d, n, n+20_000, ks.NowMillis()+1000)
		if n < 100_000 {
			continue
		}
		each := float64(ks.Memory()) / float64(d.Len())
		worst = max(worst, each)
		if each > bar {
			t.Fatalf("%.1f bytes a bucket at %d", each, d.Len())
		}
	}
	used, said := heap()-before, ks.Memory()
	if ratio := float64(used) / float64(said); ratio < 0.8 || ratio > 1.2 {
		t.Errorf("the heap grew by %d, Memory says %d", used, said)
	}
	t.Logf("%.1f bytes a bucket at worst, %.1f on the heap at the end", worst, float64(used)/keys)
	runtime.KeepAlive(ks)
}

// What Memory says is what the runtime has given out.
func TestMemoryIsHonest(t *testing.T) {
	before := heap()
	ks, _ := newTestKeyspace(t, 1)
	putBuckets(ks.Database(0), 0, 200_000, ks.NowMillis()+1000)
	for i := range 200 {
		e := ks.Database(1).Lookup(numbered(i))
		ks.Database(1).Put(&e, KindString, 0, make([]byte, 1<<uint(i%18)))
	}
	used, said := heap()-before, ks.Memory()
	if ratio := float64(used) / float64(said); ratio < 0.98 || ratio > 1.02 {
		t.Fatalf("the heap grew by %d, Memory says %d", used, said)
	}
	runtime.KeepAlive(ks)
}

// heap is the number of bytes in live objects.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// After everything expired the memory is given back: chunks are released,
// segments merged, and what is left is what an empty database takes, a spare
// chunk, and tables of a few bytes a chunk.
func TestMemoryIsReturned(t *testing.T) {
	const keys = 100_000
	ks, clock := newTestKeyspace(t, 256)
	d := ks.Database(0)
	empty := ks.Memory()
	putBuckets(d, 0, keys, ks.NowMillis())
	full := ks.Memory()
	clock.now += 2e9
	ks.Tick()
	steps := 0
	for more := true; more; steps++ {
		var done int
		if done, more = ks.Collect(); done > 256 {
			t.Fatalf("%d collected in one step", done)
		}
	}
	if d.Len() != 0 || ks.Stats().Expired != keys || steps < keys/256 {
		t.Fatalf("%d records left, %d collected in %d steps", d.Len(), ks.Stats().Expired, steps)
	}
	left := empty + chunkSize + full/100
	if got := ks.Memory(); got > left {
		t.Fatalf("%d bytes without records, %d with %d, %d when new", got, full, keys, empty)
	}
	putBuckets(d, keys, 2*keys, ks.NowMillis()+1000)
	if got := ks.Memory(); float64(got) > 1.02*float64(full) {
		t.Fatalf("%d bytes with as many again, %d before", got, full)
	}
	checkAt(t, d, true)
}

// A database with a storm of expiries does not keep the others waiting.
func TestCollectTakesTurns(t *testing.T) {
	ks, clock := newTestKeyspace(t, 10)
	for i := range 1000 {
		e := ks.Database(0).Lookup(numbered(i))
		ks.Database(0).PutInt(&e, ks.NowMillis()+1, 1)
	}
	for n := 1; n < Databases; n++ {
		e := ks.Database(n).Lookup(numbered(n))
		ks.Database(n).PutInt(&e, ks.NowMillis()+1, 1)
	}
	clock.now += 1e6
	ks.Tick()
	for range Databases {
		ks.Collect()
	}
	for n := 1; n < Databases; n++ {
		if ks.Database(n).Len() != 0 {
			t.Errorf("database %d still waits", n)
		}
	}
}

// Half of the records at random come and go: the memory stays where it was.
func TestMemoryDoesNotCreep(t *testing.T) {
	const keys = 20_000
	ks, _ := newTestKeyspace(t, 256)
	d := ks.Database(0)
	putBuckets(d, 0, keys, ks.NowMillis()+1000)
	full := ks.Memory()
	next := keys
	for range 10 {
		var buf [20]byte
		for i := range keys / 2 {
			e := d.Lookup(key20(buf[:], next-keys+i))
			d.Delete(&e)
		}
		putBuckets(d, next, next+keys/2, ks.NowMillis()+1000)
		next += keys / 2
	}
	if got := ks.Memory(); float64(got) > 1.05*float64(full) {
		t.Fatalf("%d bytes after churn, %d before, with %d records", got, full, d.Len())
	}
	checkAt(t, d, true)
}

// A string that shrank or grew holds memory in proportion to what it is now.
func TestMemoryFollowsStrings(t *testing.T) {
	ks, _ := newTestKeyspace(t, 1)
	d := ks.Database(0)
	e := d.Lookup([]byte("s"))
	d.Put(&e, KindString, 0, nil)
	small := ks.Memory()
	piece := []byte(strings.Repeat("x", 1000))
	moves := 0
	for n := 0; n < 1_000_000; n += len(piece) {
		before := e.ref
		if d.Splice(&e, n, 0, piece); e.ref != before {
			moves++
		}
	}
	if moves > 50 {
		t.Fatalf("the string was copied %d times in 1000 appends", moves)
	}
	if got := ks.Memory() - small; got < 1_000_000 || got > 1_300_000 {
		t.Fatalf("%d bytes for a string of 1000000", got)
	}
	checkAt(t, d, true)
	d.Splice(&e, 10, 999_990, nil)
	if got := ks.Memory() - small; got > chunkSize {
		t.Fatalf("%d bytes more for a string of 10", got)
	}
	checkAt(t, d, true)
}

// Cells waste little: the sizes go up in steps of 8 bytes, later of an
// eighth, at the very end of a quarter.
func TestClassSizes(t *testing.T) {
	for i, size := range classSizes {
		if size%grain != 0 || i > 0 && size <= classSizes[i-1] {
			t.Errorf("size %d of class %d", size, i)
		}
		if i > 0 && size > classSizes[i-1]*5/4+grain {
			t.Errorf("a step from %d to %d", classSizes[i-1], size)
		}
		if cells := chunkSize / size; cells*size < chunkSize*9/10 {
			t.Errorf("%d cells of %d leave much of a chunk", cells, size)
		}
	}
	for size := 1; size <= largestShared; size++ {
		class := classFor(size)
		if got := int(classSizes[class]); got < size || class > 0 && int(classSizes[class-1]) >= size {
			t.Fatalf("%d bytes go to cells of %d", size, got)
		}
	}
	if last := classSizes[len(classSizes)-1]; last != largestShared || len(classSizes) >= ownClass {
		t.Errorf("%d classes up to %d", len(classSizes), last)
	}
}

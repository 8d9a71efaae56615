package shard

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// sizes are the numbers of keys that the benchmarks run with.
var sizes = []struct {
	name string
	keys int
}{{"keys=1k", 1000}, {"keys=1M", 1_000_000}}

// benchKeys fills a keyspace with buckets and returns the keys in random order.
func benchKeys(b *testing.B, n int) (*Keyspace, [][]byte) {
	ks, _ := newTestKeyspace(b, 256)
	putBuckets(ks.Database(0), 0, n, ks.NowMillis()+1e6)
	keys := make([][]byte, n)
	memory := make([]byte, 0, 20*n)
	for i, at := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		memory = fmt.Appendf(memory, "user:%015d", at)
		keys[i] = memory[20*i:]
	}
	return ks, keys
}

func BenchmarkLookup(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			ks, keys := benchKeys(b, size.keys)
			d := ks.Database(0)
			i := 0
			for b.Loop() {
				if e := d.Lookup(keys[i]); !e.Exists() {
					b.Fatal("a key is missing")
				}
				if i++; i == len(keys) {
					i = 0
				}
			}
		})
	}
}

// BenchmarkPutBucket is what TB.TAKE does to a keyspace: lookup, decision,
// update.
func BenchmarkPutBucket(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			ks, keys := benchKeys(b, size.keys)
			i := 0
			for b.Loop() {
				take(ks, keys[i])
				if i++; i == len(keys) {
					i = 0
				}
			}
		})
	}
}

// BenchmarkPutBucketAhead is the same in a pipeline of 64, which looks ahead.
func BenchmarkPutBucketAhead(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			ks, keys := benchKeys(b, size.keys)
			var places [64]Place
			ahead, i := 0, 0
			for b.Loop() {
				if i == ahead {
					ahead = min(len(keys), i+len(places))
					for j, key := range keys[i:ahead] {
						places[j] = ks.seed.Place(key)
					}
					ks.Database(0).Warm(places[:ahead-i])
				}
				take(ks, keys[i])
				if i++; i == len(keys) {
					ahead, i = 0, 0
				}
			}
		})
	}
}

// BenchmarkMiss is the yardstick for the two above: one read of a random cache
// line in as many bytes as a million keys take.
func BenchmarkMiss(b *testing.B) {
	memory := make([]uint64, 90_000_000/8)
	at, sum := uint64(1), uint64(0)
	for b.Loop() {
		at = at*6364136223846793005 + 1442695040888963407 + sum
		sum += memory[(at>>32)*uint64(len(memory))>>32]
	}
	if sum != 0 {
		b.Fatal("the memory is not zero")
	}
}

func BenchmarkCreateDelete(b *testing.B) {
	ks, keys := benchKeys(b, 1000)
	d := ks.Database(1)
	for b.Loop() {
		e := d.Lookup(keys[0])
		d.PutInt(&e, ks.NowMillis()+5, 1)
		d.Delete(&e)
	}
}

// BenchmarkGrow makes a million buckets; the time is per bucket.
func BenchmarkGrow(b *testing.B) {
	ks, _ := newTestKeyspace(b, 256)
	n := 0
	for b.Loop() {
		if n%1_000_000 == 0 {
			ks.Database(0).Flush()
		}
		putBuckets(ks.Database(0), n, n+1, ks.NowMillis()+1e6)
		n++
	}
}

// BenchmarkSubmitWait is the hand-over of a batch to a shard and back, by one
// sender and by many.
func BenchmarkSubmitWait(b *testing.B) {
	for _, senders := range []int{1, 50} {
		b.Run(fmt.Sprintf("senders=%d", senders), func(b *testing.B) {
			s := newShard(b, Config{})
			b.SetParallelism(senders)
			if senders == 1 {
				submitUntil(s, b.Loop)
				return
			}
			b.RunParallel(func(pb *testing.PB) { submitUntil(s, pb.Next) })
		})
	}
}

func submitUntil(s *Shard, more func() bool) {
	var ticket Ticket
	batch := &taker{[]byte("user:42")}
	for more() {
		ticket.Add(1)
		s.Submit(batch, &ticket)
		ticket.Wait()
	}
}

func BenchmarkDoor(b *testing.B) {
	door, _ := newDoor(b, 4, newSharedClock())
	for _, ids := range [][]int{{0}, {0, 2}, {0, 1, 2, 3}} {
		b.Run(fmt.Sprintf("shards=%d", len(ids)), func(b *testing.B) {
			inside := func([]*Keyspace) {}
			for b.Loop() {
				door.Through(ids, inside)
			}
		})
	}
}

// BenchmarkBytesPerKey fills a keyspace with buckets under keys of 20 bytes and
// reports the worst of eight sizes from 5 to 10 million, as counted and as the heap
// grew.
func BenchmarkBytesPerKey(b *testing.B) {
	for b.Loop() {
		before := heap()
		ks, _ := newTestKeyspace(b, 256)
		d, counted, grown := ks.Database(0), 0.0, 0.0
		for size := range 8 {
			n := 5_000_000 + size*5_000_000/7
			putBuckets(d, d.Len(), n, ks.NowMillis()+1e6)
			counted = max(counted, float64(ks.Memory())/float64(n))
			grown = max(grown, float64(heap()-before)/float64(n))
		}
		b.ReportMetric(counted, "counted-B/key")
		b.ReportMetric(grown, "heap-B/key")
		runtime.KeepAlive(ks)
	}
}

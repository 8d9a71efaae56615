package engine

import (
	"fmt"
	"io"
	"testing"

	"github.com/limitstore/limitstore/clock"
	"github.com/limitstore/limitstore/shard"
)

// BenchmarkTake measures a token bucket decision through the engine: queue,
// route, hand over, run, encode, gather. No socket and no parser.
func BenchmarkTake(b *testing.B) {
	for _, shards := range []int{1, 2} {
		for _, depth := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("shards=%d/depth=%d", shards, depth), func(b *testing.B) {
				takeInPipelines(b, shards, depth)
			})
		}
	}
}

func takeInPipelines(b *testing.B, shards, depth int) {
	table, err := NewTable(Commands())
	if err != nil {
		b.Fatal(err)
	}
	system := clock.NewManual(midnight)
	e := New(Config{Shards: shards, Clock: system, Seed: shard.Seed{1, 2}, Table: table})
	defer e.Close()
	s := e.NewSession(nil, io.Discard)
	calls := make([][][]byte, 100_000)
	for i := range calls {
		calls[i] = [][]byte{[]byte("TB.TAKE"), fmt.Appendf(nil, "key:%012d", i), []byte("1000000"), []byte("1000000"), []byte("1s")}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; {
		for range depth {
			args := calls[i%len(calls)]
			i++
			row, _ := table.Resolve(args)
			if err := s.Queue(row, args); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Flush(); err != nil {
			b.Fatal(err)
		}
	}
}

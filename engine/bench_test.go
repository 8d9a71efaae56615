package engine

import (
	"fmt"
	"io"
	"math/rand/v2"
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
	e := benchEngine(b, shards)
	p := newSender(e, depth, takes(100_000))
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += depth {
		if err := p.send(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScale is one decision when as many callers as there are processors
// send pipelines of 64, by number of shards: what more shards cost, and bring where
// there are more processors. One call in the engine's own terms is one decision.
func BenchmarkScale(b *testing.B) {
	for _, shards := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			e, calls := benchEngine(b, shards), takes(100_000)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				p := newSender(e, 64, calls)
				for i := 0; pb.Next(); i++ {
					if i%p.depth == 0 {
						if err := p.send(); err != nil {
							b.Error(err)
							return
						}
					}
				}
			})
		})
	}
}

// BenchmarkMillion is a decision of one shard that holds a million keys, in
// pipelines of 64 over keys in random order. BenchmarkMiss in shard is its yardstick.
func BenchmarkMillion(b *testing.B) {
	e := benchEngine(b, 1)
	calls := takes(1_000_000)
	p := newSender(e, 64, calls)
	for range len(calls) / p.depth {
		if err := p.send(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += p.depth {
		if err := p.send(); err != nil {
			b.Fatal(err)
		}
	}
}

// benchEngine is an engine whose clock stands.
func benchEngine(b *testing.B, shards int) *Engine {
	table, err := NewTable(Commands())
	if err != nil {
		b.Fatal(err)
	}
	e := New(Config{Shards: shards, Clock: clock.NewManual(midnight), Seed: shard.Seed{1, 2}, Table: table})
	b.Cleanup(e.Close)
	return e
}

// takes are n TB.TAKE of as many keys in random order, with limits that allow them
// all. In memory they lie as they will be sent: as in a read buffer.
func takes(n int) [][][]byte {
	calls, key := make([][][]byte, n), make([]byte, 0, 20*n)
	words := make([][]byte, 0, 5*n)
	name, capacity, tokens, period := []byte("TB.TAKE"), []byte("1000000"), []byte("1"), []byte("1s")
	for i, at := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		key = fmt.Appendf(key, "user:%015d", at)
		words = append(words, name, key[20*i:], capacity, tokens, period)
		calls[i] = words[5*i : 5*i+5 : 5*i+5]
	}
	return calls
}

// sender sends calls in turn, depth at once.
type sender struct {
	session *Session
	depth   int
	calls   [][][]byte
	at      int
	row     *Command
}

func newSender(e *Engine, depth int, calls [][][]byte) *sender {
	row, _ := e.Table().Resolve(calls[0])
	return &sender{session: e.NewSession(nil, io.Discard), depth: depth, calls: calls, row: row}
}

func (p *sender) send() error {
	for range p.depth {
		if err := p.session.Queue(p.row, p.calls[p.at]); err != nil {
			return err
		}
		if p.at++; p.at == len(p.calls) {
			p.at = 0
		}
	}
	return p.session.Flush()
}

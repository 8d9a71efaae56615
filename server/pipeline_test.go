package server

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPipelinesAreAnsweredInOrder mixes commands of every scope: on one shard or
// another, through the door, here. Whatever way each takes, its reply stands
// where its command stood.
func TestPipelinesAreAnsweredInOrder(t *testing.T) {
	for _, shards := range []int{1, 2, 8} {
		c := newRig(t, func(s *setup) { s.shards = shards }).call()
		var ask, want strings.Builder
		for i := range 500 {
			key := fmt.Sprintf("k%d", i)
			ask.WriteString(request("SET", key, key) + request("GET", key) + request("ECHO", key) + request("MGET", key, "nobody") + request("NOSUCH") +
				request("SELECT", "1") + request("GET", key) + request("SELECT", "0") + request("TB.TAKE", "t"+key, "5", "1", "1s"))
			bulk := fmt.Sprintf("$%d\r\n%s\r\n", len(key), key)
			want.WriteString("+OK\r\n" + bulk + bulk + "*2\r\n" + bulk + "$-1\r\n" + "-ERR unknown command 'NOSUCH', with args beginning with: \r\n" +
				"+OK\r\n$-1\r\n+OK\r\n" + "*5\r\n:1\r\n:5\r\n:4\r\n:0\r\n:1000\r\n")
		}
		go c.send(ask.String())
		if got := c.replies(500 * 9); got != want.String() {
			at := 0
			for got[at] == want.String()[at] {
				at++
			}
			t.Errorf("%d shards: after %d bytes\ngot  %.200q\nwant %.200q", shards, at, got[at:], want.String()[at:])
		}
	}
}

// TestPipelinedIsSingle runs random conversations in one write and one command
// at a time: the bytes answered are the same.
func TestPipelinedIsSingle(t *testing.T) {
	lines := []string{
		"SET a 1", "INCR a", "GET a", "MSET a 1 b 2 c 3", "MGET a b c", "DEL a b", "PING", "SELECT 1", "SELECT 0", "HELLO 2", "HELLO 3", "AUTH default x",
		"TB.TAKE l 3 1 1s", "FW.HIT w 3 1m FULL", "FLUSHALL", "RESET", "NOSUCH", "GET", "CLIENT GETNAME", "CLIENT SETNAME x", "DBSIZE", "TIME",
		"MULTI", "MULTI", "EXEC", "EXEC", "DISCARD", "WATCH a b", "UNWATCH",
	}
	rapid.Check(t, func(rt *rapid.T) {
		said := rapid.SliceOfN(rapid.SampledFrom(lines), 1, 40).Draw(rt, "lines")
		together, single := newRig(t).call(), newRig(t).call()
		var all, want strings.Builder
		for _, line := range said {
			all.WriteString(request(strings.Fields(line)...))
			want.WriteString(single.do(line))
		}
		together.send(all.String())
		if got := together.replies(len(said)); got != want.String() {
			rt.Fatalf("%q\ntogether %q\nsingle   %q", said, got, want.String())
		}
	})
}

// TestAFenceInMidPipeline changes what the rest of the pipeline means.
func TestAFenceInMidPipeline(t *testing.T) {
	c := newRig(t, func(s *setup) { s.Password = "secret" }).call()
	c.send("GET a\r\nAUTH secret\r\nSET a 1\r\nGET nobody\r\nHELLO 3\r\nGET nobody\r\nSELECT 2\r\nGET a\r\nRESET\r\nGET a\r\nAUTH secret\r\nGET a\r\n")
	hello := "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n" + redisVersion + "\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n"
	refused := "-NOAUTH Authentication required.\r\n"
	want := refused + "+OK\r\n+OK\r\n$-1\r\n" + hello + "_\r\n+OK\r\n_\r\n+RESET\r\n" + refused + "+OK\r\n$1\r\n1\r\n"
	if got := c.replies(12); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestHalfClosed answers a client that says no more but listens.
func TestHalfClosed(t *testing.T) {
	c := newRig(t).call()
	c.send("SET a 1\r\nGET a\r\n" + request("GET", "nobody") + "*2\r\n$3\r\nGET\r\n") // the last is not whole
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, want := c.rest(), "+OK\r\n$1\r\n1\r\n$-1\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOneReadAndOneWrite counts what the kernel is asked for.
func TestOneReadAndOneWrite(t *testing.T) {
	r := newRig(t)
	line := newWire()
	c := r.over(line)
	pipeline := strings.Repeat(request("TB.TAKE", "user:1", "1000000", "1", "1s")+request("TB.TAKE", "user:2", "1000000", "1", "1s")+request("PING"), 5)
	for range 10 { // until the buffers have grown
		line.say(pipeline)
		if err := c.turn(); err != nil {
			t.Fatal(err)
		}
	}
	line.reads, line.writes = 0, 0
	line.say(pipeline)
	if err := c.turn(); err != nil {
		t.Fatal(err)
	}
	if line.reads != 1 || line.writes != 1 {
		t.Errorf("a pipeline took %d reads and %d writes, want one of each", line.reads, line.writes)
	}
}

// TestCommandsDoNotAllocate holds the whole way of a pipeline, from the bytes that
// arrive to the bytes that go out.
func TestCommandsDoNotAllocate(t *testing.T) {
	for _, shards := range []int{1, 4} {
		r := newRig(t, func(s *setup) { s.shards, s.Password = shards, "secret" })
		line := newWire()
		c := r.over(line)
		line.say(request("HELLO", "3", "AUTH", "default", "secret", "SETNAME", "me"))
		if err := c.turn(); err != nil {
			t.Fatal(err)
		}
		for _, pipeline := range []string{
			request("TB.TAKE", "user:1", "1000000000", "1", "1s"),
			strings.Repeat(request("TB.TAKE", "user:1", "1000000000", "1", "1s")+request("TB.TAKE", "user:2", "1000000000", "1", "1s"), 32),
			strings.Repeat(request("tb.take", "user:3", "1", "1", "1s"), 16),
			request("PING") + request("INCR", "n") + request("GET", "n") + request("FW.HIT", "w", "5", "1m", "COST", "2"),
			strings.Repeat(request("MULTI")+request("INCR", "n")+request("PEXPIRE", "n", "60000", "NX")+request("PTTL", "n")+request("EXEC"), 8),
		} {
			n := testing.AllocsPerRun(200, func() {
				line.say(pipeline)
				if err := c.turn(); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("%d shards: %.40q... allocates %v times", shards, pipeline, n)
			}
		}
	}
}

// BenchmarkTurn is the server's own part of a pipeline: no kernel, no client.
func BenchmarkTurn(b *testing.B) {
	for _, depth := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("P=%d", depth), func(b *testing.B) {
			r := newRig(b, func(s *setup) { s.shards = 1 })
			line := newWire()
			c := r.over(line)
			pipeline := strings.Repeat(request("TB.TAKE", "user:1", "1000000000000", "1000000", "1s"), depth)
			b.ReportAllocs()
			for b.Loop() {
				line.say(pipeline)
				if err := c.turn(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*depth), "ns/command")
		})
	}
}

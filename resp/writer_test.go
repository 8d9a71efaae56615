package resp_test

import (
	"math"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/resp"
	"pgregory.net/rapid"
)

// The bytes come from the RESP specification (redis.io/docs/reference/protocol-spec,
// one example of each type) and, for what RESP3 types become in RESP2, from the
// addReply functions in networking.c of Redis 7.0. diff_test.go compares the types
// that Redis can be made to send.
var replies = []struct {
	name         string
	write        func(w *resp.Writer)
	resp2, resp3 string
}{
	{"OK", func(w *resp.Writer) { w.OK() }, "+OK\r\n", "+OK\r\n"},
	{"simple string", func(w *resp.Writer) { w.SimpleString("PONG") }, "+PONG\r\n", "+PONG\r\n"},
	{"empty simple string", func(w *resp.Writer) { w.SimpleString("") }, "+\r\n", "+\r\n"},
	{"simple string with line ends", func(w *resp.Writer) { w.SimpleString("a\r\n+b\nc") }, "+a  +b c\r\n", "+a  +b c\r\n"},
	{"error", func(w *resp.Writer) { w.Error("ERR unknown command 'asdf'") }, "-ERR unknown command 'asdf'\r\n", "-ERR unknown command 'asdf'\r\n"},
	{"error with line ends", func(w *resp.Writer) { w.Error("ERR no '\r\n+OK\n'") }, "-ERR no '  +OK '\r\n", "-ERR no '  +OK '\r\n"},
	{"integer 0", func(w *resp.Writer) { w.Int(0) }, ":0\r\n", ":0\r\n"},
	{"integer", func(w *resp.Writer) { w.Int(1000) }, ":1000\r\n", ":1000\r\n"},
	{"negative integer", func(w *resp.Writer) { w.Int(-1) }, ":-1\r\n", ":-1\r\n"},
	{"largest integer", func(w *resp.Writer) { w.Int(math.MaxInt64) }, ":9223372036854775807\r\n", ":9223372036854775807\r\n"},
	{"smallest integer", func(w *resp.Writer) { w.Int(math.MinInt64) }, ":-9223372036854775808\r\n", ":-9223372036854775808\r\n"},
	{"bulk", func(w *resp.Writer) { w.Bulk([]byte("hello")) }, "$5\r\nhello\r\n", "$5\r\nhello\r\n"},
	{"binary bulk", func(w *resp.Writer) { w.Bulk([]byte("a\r\n\x00\xff")) }, "$5\r\na\r\n\x00\xff\r\n", "$5\r\na\r\n\x00\xff\r\n"},
	{"nil bulk", func(w *resp.Writer) { w.Bulk(nil) }, "$0\r\n\r\n", "$0\r\n\r\n"},
	{"bulk string", func(w *resp.Writer) { w.BulkString("hello world") }, "$11\r\nhello world\r\n", "$11\r\nhello world\r\n"},
	{"empty bulk string", func(w *resp.Writer) { w.BulkString("") }, "$0\r\n\r\n", "$0\r\n\r\n"},
	{"bulk integer", func(w *resp.Writer) { w.BulkInt(-42) }, "$3\r\n-42\r\n", "$3\r\n-42\r\n"},
	{"smallest bulk integer", func(w *resp.Writer) { w.BulkInt(math.MinInt64) }, "$20\r\n-9223372036854775808\r\n", "$20\r\n-9223372036854775808\r\n"},
	{"null", func(w *resp.Writer) { w.Null() }, "$-1\r\n", "_\r\n"},
	{"null array", func(w *resp.Writer) { w.NullArray() }, "*-1\r\n", "_\r\n"},
	{"array", func(w *resp.Writer) { w.Array(12) }, "*12\r\n", "*12\r\n"},
	{"empty array", func(w *resp.Writer) { w.Array(0) }, "*0\r\n", "*0\r\n"},
	{"map", func(w *resp.Writer) { w.Map(7) }, "*14\r\n", "%7\r\n"},
	{"set", func(w *resp.Writer) { w.Set(3) }, "*3\r\n", "~3\r\n"},
	{"push", func(w *resp.Writer) { w.Push(3) }, "*3\r\n", ">3\r\n"},
	{"double", func(w *resp.Writer) { w.Double(1.23) }, "$4\r\n1.23\r\n", ",1.23\r\n"},
	{"infinity", func(w *resp.Writer) { w.Double(math.Inf(1)) }, "$3\r\ninf\r\n", ",inf\r\n"},
	{"negative infinity", func(w *resp.Writer) { w.Double(math.Inf(-1)) }, "$4\r\n-inf\r\n", ",-inf\r\n"},
	{"not a number", func(w *resp.Writer) { w.Double(math.NaN()) }, "$3\r\nnan\r\n", ",nan\r\n"},
	{"decimal", func(w *resp.Writer) { w.Decimal([]byte("0.10000000000000000000001")) }, "$25\r\n0.10000000000000000000001\r\n", ",0.10000000000000000000001\r\n"},
	{"true", func(w *resp.Writer) { w.Bool(true) }, ":1\r\n", "#t\r\n"},
	{"false", func(w *resp.Writer) { w.Bool(false) }, ":0\r\n", "#f\r\n"},
	{"verbatim", func(w *resp.Writer) { w.Verbatim("txt", "Some string") }, "$11\r\nSome string\r\n", "=15\r\ntxt:Some string\r\n"},
	{"verbatim, short format", func(w *resp.Writer) { w.Verbatim("m", "x") }, "$1\r\nx\r\n", "=5\r\nm  :x\r\n"},
	{"verbatim, no format", func(w *resp.Writer) { w.Verbatim("", "") }, "$0\r\n\r\n", "=4\r\n   :\r\n"},
	{"verbatim, long format", func(w *resp.Writer) { w.Verbatim("text", "x") }, "$1\r\nx\r\n", "=5\r\ntex:x\r\n"},
	{"integers", func(w *resp.Writer) { w.Ints(1, 10, 9, -1, 6000) }, "*5\r\n:1\r\n:10\r\n:9\r\n:-1\r\n:6000\r\n", "*5\r\n:1\r\n:10\r\n:9\r\n:-1\r\n:6000\r\n"},
	{"no integers", func(w *resp.Writer) { w.Ints() }, "*0\r\n", "*0\r\n"},
	{"raw", func(w *resp.Writer) { w.Raw([]byte("+a\r\n:1\r\n")) }, "+a\r\n:1\r\n", "+a\r\n:1\r\n"},
}

func TestReplies(t *testing.T) {
	for _, c := range replies {
		t.Run(c.name, func(t *testing.T) {
			for proto, want := range map[int]string{resp.RESP2: c.resp2, resp.RESP3: c.resp3} {
				var w resp.Writer
				w.Reset(proto)
				c.write(&w)
				if got := string(w.Bytes()); got != want {
					t.Errorf("RESP%d: %q, want %q", proto, got, want)
				}
				if w.Len() != len(want) || w.Proto() != proto {
					t.Errorf("RESP%d: Len %d, Proto %d", proto, w.Len(), w.Proto())
				}
			}
		})
	}
}

func TestTheZeroWriterSpeaksRESP2(t *testing.T) {
	var w resp.Writer
	w.Map(1)
	if got := string(w.Bytes()); got != "*2\r\n" || w.Proto() != resp.RESP2 || w.Overflowed() {
		t.Errorf("%q, RESP%d, overflowed %v", got, w.Proto(), w.Overflowed())
	}
}

// HELLO in the middle of a pipeline: what came before stays as it is.
func TestProtocolChangesBetweenReplies(t *testing.T) {
	var w resp.Writer
	w.Null()
	w.SetProto(resp.RESP3)
	w.Null()
	w.SetProto(resp.RESP2)
	w.Null()
	if got := string(w.Bytes()); got != "$-1\r\n_\r\n$-1\r\n" {
		t.Errorf("%q", got)
	}
}

func TestTruncate(t *testing.T) {
	var w resp.Writer
	w.OK()
	mark := w.Len()
	w.Array(2)
	w.Int(1)
	w.Truncate(mark)
	w.Error("ERR no")
	if got := string(w.Bytes()); got != "+OK\r\n-ERR no\r\n" {
		t.Errorf("%q", got)
	}
}

// Whatever is written, the buffer never passes the limit and holds the replies
// from the first on, each whole, up to the one that did not fit.
func TestLimitDropsWholeReplies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 400).Draw(t, "limit")
		proto := rapid.SampledFrom([]int{resp.RESP2, resp.RESP3}).Draw(t, "proto")
		chosen := rapid.SliceOf(rapid.SampledFrom(replies)).Draw(t, "replies")
		var w, free resp.Writer
		w.SetLimit(limit)
		w.Reset(proto)
		free.Reset(proto)
		kept := 0
		for _, c := range chosen {
			c.write(&w)
			c.write(&free)
			if !w.Overflowed() {
				kept = free.Len()
			}
		}
		if got, want := string(w.Bytes()), string(free.Bytes()[:kept]); got != want || w.Len() > limit {
			t.Fatalf("%q, want %q, at most %d bytes", got, want, limit)
		}
		// Room is reckoned with the longest number, so it may run out this much early.
		const early = 30 * 6
		if w.Overflowed() && free.Len() <= limit-early || !w.Overflowed() && free.Len() > limit {
			t.Fatalf("%d bytes, limit %d: overflowed %v", free.Len(), limit, w.Overflowed())
		}
		w.Reset(proto)
		if w.Overflowed() || w.Len() != 0 {
			t.Fatal("an overflow outlives Reset")
		}
	})
}

func TestOverflow(t *testing.T) {
	var w resp.Writer
	w.SetLimit(40)
	w.OK()
	w.BulkString(strings.Repeat("x", 50))
	w.OK() // would fit, but comes after one that is missing
	if got := string(w.Bytes()); got != "+OK\r\n" || !w.Overflowed() {
		t.Errorf("%q, overflowed %v", got, w.Overflowed())
	}
	w.Truncate(w.Len())
	if !w.Overflowed() {
		t.Error("nothing was taken back, yet the overflow is forgotten")
	}
	w.Truncate(0)
	w.OK()
	if got := string(w.Bytes()); got != "+OK\r\n" || w.Overflowed() {
		t.Errorf("after taking all back: %q, overflowed %v", got, w.Overflowed())
	}
	w.SetLimit(0)
	w.BulkString(strings.Repeat("x", 100))
	if w.Overflowed() {
		t.Error("overflowed without a limit")
	}
}

func TestResetGivesALargeBufferBack(t *testing.T) {
	var w resp.Writer
	grown := held(func() {
		w.BulkString(strings.Repeat("x", 16<<20))
		w.Reset(resp.RESP2)
		w.OK()
	})
	if grown > 128<<10 {
		t.Errorf("holds %d bytes after one large reply", grown)
	}
	if got := string(w.Bytes()); got != "+OK\r\n" {
		t.Errorf("%q", got)
	}
}

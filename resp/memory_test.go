package resp_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/resp"
	"pgregory.net/rapid"
)

// meter is a source that notes how much space each read offered.
type meter struct {
	parts   pieces
	offered []int
}

func (m *meter) Read(p []byte) (int, error) {
	m.offered = append(m.offered, len(p))
	return m.parts.Read(p)
}

// allocated returns how many bytes fn takes from the allocator.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// held returns how many bytes of the heap are still in use after fn.
func held(fn func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	fn()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

func TestAnIdleConnectionHoldsLittle(t *testing.T) {
	m := &meter{}
	if _, end := readAll(resp.NewReader(m, resp.DefaultLimits())); end != io.EOF {
		t.Fatal(end)
	}
	if m.offered[0] > 4<<10 {
		t.Errorf("the first read is offered %d bytes, want at most 4 KiB", m.offered[0])
	}
}

// What is announced is as much as the limits allow, what arrives is a few bytes.
func TestAnnouncedMemoryIsNotTaken(t *testing.T) {
	for _, in := range []string{
		"*1048576\r\n",
		"*1048576\r\n$67108864\r\n",
		"*1048576\r\n$4\r\nMGET\r\n$1\r\na\r\n$67108864\r\nabc",
		"*9223372036854775807\r\n",
		"*1\r\n$9223372036854775807\r\n",
	} {
		size := allocated(func() { readAll(resp.NewReader(&pieces{in}, resp.DefaultLimits())) })
		if size > 64<<10 {
			t.Errorf("%q made it allocate %d bytes", in, size)
		}
	}
}

// An announced argument that arrives in drops: the buffer may double what is there.
func TestBufferGrowsAsBytesArrive(t *testing.T) {
	const size = 1 << 20
	m := &meter{parts: pieces{fmt.Sprintf("*1\r\n$%d\r\n", size)}}
	for range size / 512 {
		m.parts = append(m.parts, strings.Repeat("x", 512))
	}
	m.parts = append(m.parts, "\r\n")
	got, end := readAll(resp.NewReader(m, resp.DefaultLimits()))
	if len(got) != 1 || len(got[0][0]) != size || end != io.EOF {
		t.Fatalf("%d commands, %v", len(got), end)
	}
	for i, n := range m.offered {
		if arrived := 512 * i; n > max(4<<10, 2*arrived) {
			t.Errorf("with %d bytes there, the next read was offered %d", arrived, n)
		}
		if n > 256<<10 {
			t.Errorf("a read was offered %d bytes, want at most 256 KiB", n)
		}
	}
}

func TestALargeCommandLeavesNothingBehind(t *testing.T) {
	const n = 200_000
	many := fmt.Sprintf("*%d\r\n", n) + strings.Repeat("$20\r\naaaaaaaaaaaaaaaaaaaa\r\n", n)
	large := "*1\r\n$8000000\r\n" + strings.Repeat("x", 8_000_000) + "\r\n"
	r := resp.NewReader(&pieces{many, large, "PING\r\n", "PING\r\n"}, resp.DefaultLimits())
	grown := held(func() {
		for _, want := range []int{n, 1, 1} {
			args, err := r.Next()
			for args == nil && err == nil {
				if err = r.Fill(); err == nil {
					args, err = r.Next()
				}
			}
			if len(args) != want || err != nil {
				t.Fatalf("%d arguments, %v; want %d", len(args), err, want)
			}
		}
	})
	if grown > 256<<10 {
		t.Errorf("holds %d bytes after small commands again", grown)
	}
	runtime.KeepAlive(r)
}

// A connection that pipelined once and is quiet since has the small buffer again.
func TestABurstIsForgotten(t *testing.T) {
	m := &meter{parts: pieces{strings.Repeat("PING\r\n", 10_000)}}
	for range 1000 {
		m.parts = append(m.parts, "PING\r\n")
	}
	if got, end := readAll(resp.NewReader(m, resp.DefaultLimits())); len(got) != 11_000 || end != io.EOF {
		t.Fatalf("%d commands, %v", len(got), end)
	}
	most, last := slices.Max(m.offered), m.offered[len(m.offered)-1]
	if most <= 4<<10 || most > 64<<10 {
		t.Errorf("at most %d bytes were offered to a read, want more than 4 KiB for a pipeline, at most 64 KiB", most)
	}
	if last > 4<<10 {
		t.Errorf("the last read was offered %d bytes, want at most 4 KiB", last)
	}
}

func TestQueryLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := tight()
		l.Query = rapid.IntRange(1, 200).Draw(t, "limit")
		first := rapid.IntRange(0, 40).Draw(t, "bytes")
		second := rapid.IntRange(0, 40).Draw(t, "bytes of the second")
		frame := fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", first, strings.Repeat("x", first), second, strings.Repeat("y", second))
		whole, end := []string(nil), error(resp.ErrQueryLimit)
		if len(frame) <= l.Query {
			whole, end = []string{strings.Repeat("x", first), strings.Repeat("y", second)}, io.EOF
		}
		m := &meter{parts: cut(t, "a\n"+frame)}
		if l.Query < 2 {
			m.parts = cut(t, frame)
		}
		got, err := readAll(resp.NewReader(m, l))
		if l.Query >= 2 {
			got = got[1:]
		}
		if (whole == nil) != (len(got) == 0) || len(got) > 0 && !slices.Equal(got[0], whole) || err != end {
			t.Fatalf("%d of %d bytes: %q, %v; want %q, %v", len(frame), l.Query, got, err, whole, end)
		}
		if most := slices.Max(m.offered); most > l.Query {
			t.Fatalf("a read was offered %d bytes, the limit is %d", most, l.Query)
		}
	})
}

func TestQueryLimitIsSaidAgain(t *testing.T) {
	r := resp.NewReader(&pieces{"*1\r\n$10\r\nabcdefghij\r\n"}, resp.Limits{Query: 16})
	for range 2 {
		if _, end := readAll(r); end != resp.ErrQueryLimit {
			t.Errorf("ended with %v, want %v", end, resp.ErrQueryLimit)
		}
	}
}

func TestLimitsLeftOpenAreTheDefaults(t *testing.T) {
	for in, failure := range map[string]string{
		"*1048577\r\n":        "Protocol error: invalid multibulk length",
		"*1\r\n$67108865\r\n": "Protocol error: invalid bulk length",
	} {
		_, end := readAll(resp.NewReader(strings.NewReader(in), resp.Limits{}))
		checkEnd(t, end, failure)
	}
}

func TestLimitsOfOneDigit(t *testing.T) {
	for in, failure := range map[string]string{
		"*3\r\n$1\r\na\r\n$1\r\nb\r\n$5\r\nccccc\r\n": "",
		"*4\r\n$1\r\na\r\n":                           "Protocol error: invalid multibulk length",
		"*1\r\n$6\r\nabcdef\r\n":                      "Protocol error: invalid bulk length",
		"*1\r\n$12\r\nabcdefghijkl\r\n":               "Protocol error: invalid bulk length",
		"a b c\n":                                     "",
		"a b c d\n":                                   "Protocol error: invalid multibulk length",
	} {
		_, end := readAll(resp.NewReader(strings.NewReader(in), resp.Limits{Args: 3, Bulk: 5}))
		checkEnd(t, end, failure)
	}
}

// The largest int as a limit must not overflow anything.
func TestNoLimits(t *testing.T) {
	all := resp.Limits{Args: math.MaxInt, Bulk: math.MaxInt, Query: math.MaxInt, Inline: math.MaxInt}
	for _, in := range []string{"*9223372036854775807\r\n$1\r\na\r\n", "*1\r\n$9223372036854775807\r\nabc", "abc", "*1"} {
		if got, end := readAll(resp.NewReader(&pieces{in}, all)); got != nil || end != io.EOF {
			t.Errorf("%q: %q, %v", in, got, end)
		}
	}
}

func TestNextAndFillDoNotAllocate(t *testing.T) {
	for _, pipeline := range []string{string(take), strings.Repeat(string(take), 64), strings.Repeat(string(take), 1000), mixed} {
		r := resp.NewReader(&again{text: []byte(pipeline)}, resp.DefaultLimits())
		if n := allocations(t, r); n != 0 {
			t.Errorf("%d bytes a time: %v allocations", len(pipeline), n)
		}
	}
}

// A buffer that the limit keeps small is not made anew for each pipeline.
func TestASmallQueryLimitDoesNotAllocate(t *testing.T) {
	r := resp.NewReader(&again{text: bytes.Repeat(take, 64)}, resp.Limits{Query: 2048})
	if n := allocations(t, r); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// allocations counts those of two thousand commands, once the buffers have grown.
// It counts so many because the count of a run is rounded down.
func allocations(t *testing.T, r *resp.Reader) float64 {
	round := func() {
		for range 2000 {
			args, err := r.Next()
			if args == nil && err == nil {
				err = r.Fill()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	round()
	return testing.AllocsPerRun(20, round)
}

func TestWriterDoesNotAllocate(t *testing.T) {
	for _, proto := range []int{resp.RESP2, resp.RESP3} {
		var w resp.Writer
		bulk := bytes.Repeat([]byte{'x'}, 100)
		round := func() {
			w.Reset(proto)
			w.Ints(1, 10, 9, -1, 6000)
			w.OK()
			w.SimpleString("PONG")
			w.Error("ERR syntax error")
			w.Int(math.MinInt64)
			w.Bulk(bulk)
			w.BulkString("hello")
			w.BulkInt(math.MinInt64)
			w.Null()
			w.NullArray()
			w.Array(100)
			w.Map(100)
			w.Set(100)
			w.Push(100)
			w.Double(-0.1)
			w.Decimal(bulk)
			w.Bool(true)
			w.Verbatim("txt", "hello")
			w.Raw(bulk)
		}
		round()
		if n := testing.AllocsPerRun(100, round); n != 0 {
			t.Errorf("RESP%d: %v allocations", proto, n)
		}
	}
}

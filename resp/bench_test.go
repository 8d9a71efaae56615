package resp_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/resp"
)

// take is a limiter call as clients send it: 6 arguments, 66 bytes.
var take = []byte("*6\r\n$7\r\nTB.TAKE\r\n$9\r\nuser:4242\r\n$2\r\n10\r\n$1\r\n1\r\n$2\r\n6s\r\n$1\r\n1\r\n")

// again sends one text over and over, no more of it at a time than is left of it:
// a client that waits for the replies to its pipeline.
type again struct {
	text []byte
	sent int
}

func (a *again) Read(p []byte) (int, error) {
	n := copy(p, a.text[a.sent:])
	a.sent = (a.sent + n) % len(a.text)
	return n, nil
}

func BenchmarkReaderNext(b *testing.B) {
	for _, depth := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			r := resp.NewReader(&again{text: bytes.Repeat(take, depth)}, resp.DefaultLimits())
			b.ReportAllocs()
			for b.Loop() {
				args, err := r.Next()
				for args == nil && err == nil {
					if err = r.Fill(); err == nil {
						args, err = r.Next()
					}
				}
				if err != nil || len(args) != 6 {
					b.Fatal(len(args), err)
				}
			}
		})
	}
}

// A large command in pieces of 16 KiB: the time per byte must not grow with it.
func BenchmarkReaderLarge(b *testing.B) {
	for _, size := range []int{1 << 20, 16 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			var parts pieces
			whole := fmt.Sprintf("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$%d\r\n%s\r\n", size, strings.Repeat("x", size))
			for part := range slices.Chunk([]byte(whole), 16<<10) {
				parts = append(parts, string(part))
			}
			b.SetBytes(int64(len(whole)))
			for b.Loop() {
				left := slices.Clone(parts)
				if got, end := readAll(resp.NewReader(&left, resp.DefaultLimits())); len(got) != 1 {
					b.Fatal(len(got), end)
				}
			}
		})
	}
}

func BenchmarkWriterInts(b *testing.B) {
	var w resp.Writer
	b.ReportAllocs()
	for b.Loop() {
		if w.Len() > 4096 {
			w.Reset(resp.RESP2)
		}
		w.Ints(1, 10, 9, -1, 6000)
	}
}

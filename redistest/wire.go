package redistest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/resp"
)

// Request is a command as it is sent.
func Request(words ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b
}

// AppendReply reads one reply as it is, with all that is inside, and appends it
// to b.
func AppendReply(b []byte, in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadBytes('\n')
	b = append(b, line...)
	if err != nil {
		return b, err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(line[1:])))
	switch line[0] {
	case '$', '=':
		if n < 0 {
			return b, nil
		}
		body := make([]byte, n+2)
		_, err = io.ReadFull(in, body)
		return append(b, body...), err
	case '%':
		n *= 2
	case '*', '~', '>':
	default:
		return b, nil
	}
	for ; n > 0 && err == nil; n-- {
		b, err = AppendReply(b, in)
	}
	return b, err
}

// Words splits a line as redis-cli does; the wire's inline form has the same
// rules.
func Words(t testing.TB, line string) []string {
	t.Helper()
	r := resp.NewReader(strings.NewReader(line+"\r\n"), resp.DefaultLimits())
	if err := r.Fill(); err != nil {
		t.Fatal(err)
	}
	args, err := r.Next()
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = string(a)
	}
	return words
}

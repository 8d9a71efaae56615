package resp_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/limitstore/limitstore/resp"
)

// The expectations are those of Redis 7.0.15: processMultibulkBuffer and
// processInlineBuffer in networking.c, string2ll in util.c. diff_test.go asks a
// running one.
var streams = []struct {
	name, in string
	want     [][]string
	failure  string
}{
	{"nothing", "", nil, ""},
	{"one", "*1\r\n$4\r\nPING\r\n", [][]string{{"PING"}}, ""},
	{"two", "*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n*1\r\n$4\r\nPING\r\n", [][]string{{"ECHO", "hi"}, {"PING"}}, ""},
	{"empty argument", "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", [][]string{{"ECHO", ""}}, ""},
	{"line ends inside an argument", "*1\r\n$6\r\n\r\n$9\r\n\r\n", [][]string{{"\r\n$9\r\n"}}, ""},
	{"null bytes inside an argument", "*2\r\n$4\r\nECHO\r\n$3\r\n\x00\xff\x00\r\n", [][]string{{"ECHO", "\x00\xff\x00"}}, ""},
	{"argument of three digits", "*1\r\n$100\r\n" + strings.Repeat("x", 100) + "\r\n", [][]string{{strings.Repeat("x", 100)}}, ""},
	{"any byte may follow a carriage return", "*1\rX$4\rYPINGZZ", [][]string{{"PING"}}, ""},
	{"no arguments", "*0\r\n*1\r\n$4\r\nPING\r\n", [][]string{{"PING"}}, ""},
	{"less than no arguments", "*-1\r\n*-10\r\n*-9223372036854775808\r\nPING\r\n", [][]string{{"PING"}}, ""},

	{"arguments: most an int64 holds", "*9223372036854775807\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: more than an int64 holds", "*9223372036854775808\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: below an int64", "*-9223372036854775809\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: one over the limit", "*1048577\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: the limit", "*1048576\r\n", nil, ""},
	{"arguments: empty", "*\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: a sign", "*+5\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: only a sign", "*-\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: less than nothing is not nothing", "*-0\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: a space", "* 5\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: a space behind", "*5 \r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: a leading zero", "*05\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: two zeros", "*00\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: letters", "*abc\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: hexadecimal", "*0x1\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: a null byte", "*1\x00\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: line feed alone is no end", "*1\n$4\nPING\n", nil, ""},
	{"arguments: line feed inside", "*1\n$4\r\nPING\r\n", nil, "Protocol error: invalid multibulk length"},
	{"arguments: no end in 64 KiB", "*" + strings.Repeat("1", 65535), nil, ""},
	{"arguments: no end in more", "*" + strings.Repeat("1", 65536), nil, "Protocol error: too big mbulk count string"},

	{"bytes: negative", "*1\r\n$-1\r\n", nil, "Protocol error: invalid bulk length"},
	{"bytes: very negative", "*1\r\n$-9223372036854775808\r\n", nil, "Protocol error: invalid bulk length"},
	{"bytes: over the limit", "*1\r\n$67108865\r\n", nil, "Protocol error: invalid bulk length"},
	{"bytes: the limit", "*1\r\n$67108864\r\nabc", nil, ""},
	{"bytes: far over the limit", "*1\r\n$99999999999\r\n", nil, "Protocol error: invalid bulk length"},
	{"bytes: most an int64 holds", "*1\r\n$9223372036854775807\r\n", nil, "Protocol error: invalid bulk length"},
	{"bytes: twenty digits", "*1\r\n$99999999999999999999\r\n", nil, "Protocol error: invalid bulk length"},
	{"bytes: a space", "*1\r\n$ 5\r\n", nil, "Protocol error: invalid bulk length"},
	{"bytes: a sign", "*1\r\n$+5\r\n", nil, "Protocol error: invalid bulk length"},
	{"bytes: a leading zero", "*1\r\n$04\r\nPING\r\n", nil, "Protocol error: invalid bulk length"},
	{"bytes: two zeros", "*1\r\n$00\r\n\r\n", nil, "Protocol error: invalid bulk length"},
	{"bytes: less than nothing is not nothing", "*1\r\n$-0\r\n\r\n", nil, "Protocol error: invalid bulk length"},
	{"bytes: empty", "*1\r\n$\r\n", nil, "Protocol error: invalid bulk length"},
	{"bytes: not a digit", "*1\r\n$4x\r\n", nil, "Protocol error: invalid bulk length"},
	{"bytes: no end in 64 KiB", "*1\r\n$" + strings.Repeat("1", 65535), nil, ""},
	{"bytes: no end in more", "*1\r\n$" + strings.Repeat("1", 65536), nil, "Protocol error: too big bulk count string"},
	{"another type", "*3\r\n$3\r\nfoo\r\n:5\r\n", nil, "Protocol error: expected '$', got ':'"},
	{"another type, line not ended", "*3\r\n$3\r\nfoo\r\n:5", nil, ""},
	{"a nested array", "*1\r\n*1\r\n$4\r\nPING\r\n", nil, "Protocol error: expected '$', got '*'"},
	{"an empty line", "*1\r\n\r\n", nil, "Protocol error: expected '$', got '\r'"},
	{"a byte beyond ASCII", "*1\r\n\xff\r\n", nil, "Protocol error: expected '$', got '\xff'"},
	{"too long a type", "*1\r\n" + strings.Repeat(":", 65537), nil, "Protocol error: too big bulk count string"},
	{"an argument longer than announced", "*2\r\n$1\r\nabcd\r\n", nil, "Protocol error: expected '$', got 'd'"},
	{"what came before the error counts", "PING\r\n*1\r\n$-1\r\nPING\r\n", [][]string{{"PING"}}, "Protocol error: invalid bulk length"},

	{"inline", "PING\r\n", [][]string{{"PING"}}, ""},
	{"inline, line feed alone", "PING\nECHO a\n", [][]string{{"PING"}, {"ECHO", "a"}}, ""},
	{"inline, blank lines", "\r\n\n \t\r\nPING\r\n", [][]string{{"PING"}}, ""},
	{"inline, other types", "$4\r\n:5\r\n+OK\r\n", [][]string{{"$4"}, {":5"}, {"+OK"}}, ""},
	{"inline, a null byte is a byte", "ECHO a\x00b\r\n", [][]string{{"ECHO", "a\x00b"}}, ""},
	{"inline, then not", "PING\r\n*1\r\n$4\r\nPING\r\nPING\n", [][]string{{"PING"}, {"PING"}, {"PING"}}, ""},
	{"inline, unbalanced", "ECHO \"a\r\nPING\r\n", nil, "Protocol error: unbalanced quotes in request"},
	{"inline, no end", "PING", nil, ""},
	{"inline, no end in 64 KiB", strings.Repeat("a", 65536), nil, ""},
	{"inline, no end in more", strings.Repeat("a", 65537), nil, "Protocol error: too big inline request"},
	{"inline, longest", strings.Repeat("a", 65536) + "\n", [][]string{{strings.Repeat("a", 65536)}}, ""},
	{"inline, too long though it ends", strings.Repeat("a", 65537) + "\n", nil, "Protocol error: too big inline request"},
}

func TestReader(t *testing.T) {
	for _, c := range streams {
		t.Run(c.name, func(t *testing.T) {
			for size, arrives := range map[string]func(string) io.Reader{
				"at once":      func(s string) io.Reader { return strings.NewReader(s) },
				"byte by byte": func(s string) io.Reader { return iotest.OneByteReader(strings.NewReader(s)) },
			} {
				got, end := readAll(resp.NewReader(arrives(c.in), resp.DefaultLimits()))
				if !slices.EqualFunc(got, c.want, slices.Equal) {
					t.Errorf("%s: read %.200q, want %.200q", size, got, c.want)
				}
				checkEnd(t, end, c.failure)
			}
		})
	}
}

// checkEnd compares how a stream ended with the text of the expected protocol
// error, or with io.EOF if there is none.
func checkEnd(t *testing.T, end error, failure string) {
	t.Helper()
	if failure == "" {
		if !errors.Is(end, io.EOF) {
			t.Errorf("ended with %v, want io.EOF", end)
		}
		return
	}
	var broken resp.ProtocolError
	if !errors.As(end, &broken) || broken.Error() != failure {
		t.Errorf("ended with %v, want %s", end, failure)
	}
}

// mixed holds one command of each kind, each with something to trip over.
const mixed = "*3\r\n$3\r\nSET\r\n$6\r\na\r\n$1\r\r\n$0\r\n\r\n" + "ECHO \"a \\x41\" 'b'\r\n" + "*0\r\n" + "\r\n" +
	"*2\r\n$4\r\nECHO\r\n$12\r\n*1\r\n$4\r\nPING\r\n" + "PING\n"

var mixedCommands = [][]string{{"SET", "a\r\n$1\r", ""}, {"ECHO", "a A", "b"}, {"ECHO", "*1\r\n$4\r\nPING"}, {"PING"}}

func TestCommandsMayBeCutAnywhere(t *testing.T) {
	for i := 1; i < len(mixed); i++ {
		for j := i; j < len(mixed); j++ {
			parts := pieces{mixed[:i], mixed[i:j], mixed[j:]}
			if i == j {
				parts = slices.Delete(parts, 1, 2)
			}
			got, end := readAll(resp.NewReader(&parts, resp.DefaultLimits()))
			if !slices.EqualFunc(got, mixedCommands, slices.Equal) || end != io.EOF {
				t.Fatalf("cut at %d and %d: %q, %v", i, j, got, end)
			}
		}
	}
}

func TestHalfACommandIsNone(t *testing.T) {
	const whole = "*2\r\n$4\r\nECHO\r\n$12\r\nhello world!\r\n"
	for i := range len(whole) {
		r := resp.NewReader(strings.NewReader(whole[:i]), resp.DefaultLimits())
		if got, end := readAll(r); got != nil || end != io.EOF {
			t.Errorf("%q: %q, %v", whole[:i], got, end)
		}
		if r.Buffered() != i {
			t.Errorf("%q: %d bytes buffered, want %d", whole[:i], r.Buffered(), i)
		}
	}
}

func TestBufferedCountsWhatNextHasNotReturned(t *testing.T) {
	r := resp.NewReader(strings.NewReader("PING\r\n*1\r\n$4\r\nPING\r\nEC"), resp.DefaultLimits())
	want := []int{0, 22, 16, 2, 2}
	if got := r.Buffered(); got != want[0] {
		t.Errorf("at first: %d, want %d", got, want[0])
	}
	if err := r.Fill(); err != nil {
		t.Fatal(err)
	}
	for i, n := range want[1:] {
		if got := r.Buffered(); got != n {
			t.Errorf("after %d calls of Next: %d, want %d", i, got, n)
		}
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
}

// An append to an argument must not run over what follows it in the buffer.
func TestArgumentsHaveNoRoomBehindThem(t *testing.T) {
	r := resp.NewReader(strings.NewReader(mixed), resp.DefaultLimits())
	if err := r.Fill(); err != nil {
		t.Fatal(err)
	}
	for args, _ := r.Next(); args != nil; args, _ = r.Next() {
		if cap(args) != len(args) {
			t.Errorf("%q: the list has room for %d more", args, cap(args)-len(args))
		}
		for _, a := range args {
			if cap(a) != len(a) {
				t.Errorf("%q: %q has room for %d bytes more", args, a, cap(a)-len(a))
			}
		}
	}
}

func TestPipelineOfThousands(t *testing.T) {
	const n = 20_000
	stream := strings.Repeat("*2\r\n$4\r\nINCR\r\n$5\r\nkey:1\r\n"+"PING\r\n", n)
	got, end := readAll(resp.NewReader(strings.NewReader(stream), resp.DefaultLimits()))
	if len(got) != 2*n || end != io.EOF {
		t.Fatalf("%d commands, %v; want %d", len(got), end, 2*n)
	}
	for i, command := range got {
		want := [][]string{{"INCR", "key:1"}, {"PING"}}[i%2]
		if !slices.Equal(command, want) {
			t.Fatalf("command %d is %q, want %q", i, command, want)
		}
	}
}

func TestUnauthenticated(t *testing.T) {
	args := func(n int) string { return fmt.Sprintf("*%d\r\n", n) + strings.Repeat("$1\r\na\r\n", n) }
	bytes := func(n int) string { return fmt.Sprintf("*1\r\n$%d\r\n", n) + strings.Repeat("a", n) + "\r\n" }
	for name, c := range map[string]struct {
		in, failure string
	}{
		"10 arguments":                        {args(10), ""},
		"11 arguments":                        {args(11), "Protocol error: unauthenticated multibulk length"},
		"16384 bytes":                         {bytes(16384), ""},
		"16385 bytes":                         {bytes(16385), "Protocol error: unauthenticated bulk length"},
		"11 words":                            {"a b c d e f g h i j k\r\n", ""},
		"more arguments than anyone may send": {"*2000000000\r\n", "Protocol error: invalid multibulk length"},
		"more bytes than anyone may send":     {"*1\r\n$2000000000\r\n", "Protocol error: invalid bulk length"},
	} {
		t.Run(name, func(t *testing.T) {
			r := resp.NewReader(strings.NewReader(c.in), resp.DefaultLimits())
			r.SetUnauthenticated(true)
			_, end := readAll(r)
			checkEnd(t, end, c.failure)
		})
	}
}

func TestAuthenticatingWithinAPipeline(t *testing.T) {
	r := resp.NewReader(strings.NewReader("AUTH pw\r\n*11\r\n"+strings.Repeat("$1\r\na\r\n", 11)), resp.DefaultLimits())
	r.SetUnauthenticated(true)
	if err := r.Fill(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{2, 11} {
		args, err := r.Next()
		if len(args) != want || err != nil {
			t.Fatalf("%q, %v; want %d arguments", args, err, want)
		}
		r.SetUnauthenticated(false)
	}
}

func TestAProtocolErrorIsFinal(t *testing.T) {
	const stream = "*11\r\n$1\r\na\r\nPING\r\n"
	r := resp.NewReader(strings.NewReader(stream), resp.DefaultLimits())
	r.SetUnauthenticated(true)
	_, first := readAll(r)
	checkEnd(t, first, "Protocol error: unauthenticated multibulk length")
	r.SetUnauthenticated(false)
	if args, err := r.Next(); args != nil || err != first {
		t.Errorf("Next again: %q, %v; want %v", args, err, first)
	}
	if err := r.Fill(); err != first {
		t.Errorf("Fill: %v, want %v", err, first)
	}
	if r.Buffered() != len(stream) {
		t.Errorf("%d bytes buffered, want %d", r.Buffered(), len(stream))
	}
}

// source brings what its functions return, one at each read.
type source []func(p []byte) (int, error)

func (s *source) Read(p []byte) (int, error) {
	next := (*s)[0]
	*s = (*s)[1:]
	return next(p)
}

func TestErrorsOfTheSource(t *testing.T) {
	src := source{
		func(p []byte) (int, error) { return copy(p, "PING\r\nPI"), os.ErrDeadlineExceeded },
		func(p []byte) (int, error) { return 0, nil },
		func(p []byte) (int, error) { return 0, os.ErrDeadlineExceeded },
		func(p []byte) (int, error) { return copy(p, "NG\r\n"), io.EOF },
	}
	r := resp.NewReader(&src, resp.DefaultLimits())
	fills := []error{nil, os.ErrDeadlineExceeded, nil, os.ErrDeadlineExceeded, nil, io.EOF}
	commands := []int{1, 0, 0, 0, 1, 0}
	for i, want := range fills {
		if err := r.Fill(); err != want {
			t.Fatalf("Fill %d: %v, want %v", i, err, want)
		}
		for n := range commands[i] {
			if args, err := r.Next(); len(args) != 1 || string(args[0]) != "PING" {
				t.Fatalf("command %d after Fill %d: %q, %v", n, i, args, err)
			}
		}
		if args, err := r.Next(); args != nil || err != nil {
			t.Fatalf("after Fill %d: %q, %v; want nothing more", i, args, err)
		}
	}
}

func TestASourceThatBringsNothingIsGivenUp(t *testing.T) {
	idle := iotest.ErrReader(nil)
	_, end := readAll(resp.NewReader(idle, resp.DefaultLimits()))
	if end != io.ErrNoProgress {
		t.Errorf("ended with %v, want %v", end, io.ErrNoProgress)
	}
}

package resp_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/limitstore/limitstore/resp"
	"pgregory.net/rapid"
)

// readReplies reads all replies of src, and how it ended.
func readReplies(src io.Reader, limit int) (all []string, end error) {
	r := resp.NewReplies(src, limit)
	for {
		reply, ok, err := r.Next()
		if err == nil && !ok {
			err = r.Fill()
		}
		if err != nil {
			return all, err
		}
		if ok {
			all = append(all, string(reply.Raw))
		}
	}
}

// wholeReplies are single replies, by the RESP specification.
var wholeReplies = []string{
	"+OK\r\n", "-ERR no\r\n", ":-7\r\n", "$0\r\n\r\n", "$2\r\n\r\n\r\n", "$-1\r\n", "*-1\r\n", "*0\r\n", "*2\r\n:1\r\n$1\r\na\r\n",
	"*2\r\n*1\r\n*0\r\n*1\r\n+a\r\n", "_\r\n", "#t\r\n", ",1.5\r\n", "(123\r\n", "!5\r\nERR a\r\n", "=5\r\ntxt:a\r\n",
	"%1\r\n+a\r\n*1\r\n:1\r\n", "~2\r\n:1\r\n:2\r\n", ">1\r\n+a\r\n", "|1\r\n+ttl\r\n:1\r\n*1\r\n:9\r\n", "%0\r\n", "|0\r\n+a\r\n",
}

func TestRepliesMayBeCutAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.SampledFrom(wholeReplies)).Draw(t, "replies")
		text, parts := strings.Join(want, ""), pieces{}
		for len(text) > 0 {
			n := rapid.IntRange(1, len(text)).Draw(t, "piece")
			parts, text = append(parts, text[:n]), text[n:]
		}
		got, end := readReplies(&parts, 1<<20)
		if strings.Join(got, "|") != strings.Join(want, "|") || end != io.EOF {
			t.Fatalf("read %q, %v; want %q", got, end, want)
		}
	})
}

func TestWhatIsNoReply(t *testing.T) {
	for _, text := range []string{"HTTP/1.1 400 Bad Request\r\n", "\r\n", "$x\r\n", "*99999999999\r\n", "$-2\r\n", "*1\r\nx\r\n"} {
		if got, end := readReplies(strings.NewReader(text), 1<<20); len(got) != 0 || !errors.Is(end, resp.ErrNoReply) {
			t.Errorf("%q: %q, %v", text, got, end)
		}
	}
}

func TestRepliesHaveALimit(t *testing.T) {
	whole := "$40\r\n" + strings.Repeat("x", 40) + "\r\n"
	if got, end := readReplies(strings.NewReader(whole+whole), len(whole)); len(got) != 2 || end != io.EOF {
		t.Errorf("at the limit: %d replies, %v", len(got), end)
	}
	if got, end := readReplies(strings.NewReader(whole), len(whole)-1); len(got) != 0 || !errors.Is(end, resp.ErrReplyLimit) {
		t.Errorf("one byte less: %d replies, %v", len(got), end)
	}
	if _, end := readReplies(silent{}, 100); end != io.ErrNoProgress {
		t.Errorf("a source that brings nothing: %v", end)
	}
}

// silent is a source that never brings anything.
type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

func TestRepliesAtAGlance(t *testing.T) {
	for text, want := range map[string]struct {
		kind  byte
		first int64
		line  string
	}{
		"*5\r\n:1\r\n:10\r\n:9\r\n:0\r\n:6000\r\n": {'*', 1, "5"},
		"*5\r\n:0\r\n:10\r\n:0\r\n:-1\r\n:6\r\n":   {'*', 0, "5"},
		":-42\r\n":                                 {':', -42, "-42"},
		"-ERR wrong\r\n":                           {'-', 0, "ERR wrong"},
		"*0\r\n":                                   {'*', 0, "0"},
		"*2\r\n$1\r\n7\r\n:8\r\n":                  {'*', 0, "2"},
		"$2\r\n:7\r\n":                             {'$', 0, "2"},
		"*1\r\n*1\r\n:5\r\n":                       {'*', 0, "1"},
		"%1\r\n:5\r\n:6\r\n":                       {'%', 0, "1"},
		"*1\r\n:00000000000005\r\n":                {'*', 0, "1"}, // no number of RESP
	} {
		r := resp.NewReplies(iotest.OneByteReader(strings.NewReader(text)), 1<<10)
		for {
			reply, ok, err := r.Next()
			if err == nil && !ok {
				err = r.Fill()
			}
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if ok {
				if reply.Kind != want.kind || reply.First != want.first || reply.Text() != want.line {
					t.Errorf("%q: %q %d %q", text, reply.Kind, reply.First, reply.Text())
				}
				break
			}
		}
	}
}

func TestRepliesDoNotAllocate(t *testing.T) {
	r := resp.NewReplies(&again{text: []byte(strings.Repeat("*5\r\n:1\r\n:10\r\n:9\r\n:0\r\n:6000\r\n", 64))}, 1<<20)
	n := testing.AllocsPerRun(1000, func() {
		for {
			_, ok, err := r.Next()
			if ok {
				return
			}
			if err == nil {
				err = r.Fill()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	if n != 0 {
		t.Errorf("a reply allocates %v times", n)
	}
}

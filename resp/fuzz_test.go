package resp_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/resp"
)

// The seeds are in testdata/fuzz, a dozen for each target.

// FuzzReader compares the Reader with its twin on any stream; step says in pieces
// of how many bytes it arrives, 0 being all at once.
func FuzzReader(f *testing.F) {
	f.Fuzz(func(t *testing.T, stream []byte, step byte, unauthenticated bool) {
		want, failure := slowCommands(string(stream), tight(), unauthenticated)
		size := int(step)
		if size == 0 {
			size = max(len(stream), 1)
		}
		var parts pieces
		for part := range slices.Chunk(stream, size) {
			parts = append(parts, string(part))
		}
		r := resp.NewReader(&parts, tight())
		r.SetUnauthenticated(unauthenticated)
		got, end := readAll(r)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("read %q, want %q", got, want)
		}
		checkEnd(t, end, failure)
	})
}

// FuzzInline compares how a typed line is split with the twin of sdssplitargs.
func FuzzInline(f *testing.F) {
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.HasPrefix(line, []byte{'*'}) || bytes.IndexByte(line, '\n') >= 0 || len(line) > 1<<16 {
			return // not one inline command
		}
		want, ok := slowSplit(string(bytes.TrimSuffix(line, []byte{'\r'})))
		got, end := readAll(resp.NewReader(&pieces{string(line) + "\n"}, resp.DefaultLimits()))
		if !ok {
			checkEnd(t, end, "Protocol error: unbalanced quotes in request")
			return
		}
		if end != io.EOF || len(got) != min(len(want), 1) || len(got) == 1 && !slices.Equal(got[0], want) {
			t.Errorf("%q, %v; want %q", got, end, want)
		}
	})
}

// FuzzReplies reads any stream at once and in pieces of step bytes: what was read and
// how it ended is the same, and the replies are the stream from its beginning.
func FuzzReplies(f *testing.F) {
	for i, text := range wholeReplies {
		f.Add([]byte(text+text), byte(i%5+1))
	}
	f.Fuzz(func(t *testing.T, stream []byte, step byte) {
		want, end := readReplies(bytes.NewReader(stream), 1<<16)
		var parts pieces
		for part := range slices.Chunk(stream, max(int(step), 1)) {
			parts = append(parts, string(part))
		}
		got, again := readReplies(&parts, 1<<16)
		if !slices.Equal(got, want) || end != again {
			t.Errorf("at once %q, %v; in pieces %q, %v", want, end, got, again)
		}
		if !bytes.HasPrefix(stream, []byte(strings.Join(want, ""))) {
			t.Errorf("%q is not the beginning of what was sent", want)
		}
	})
}

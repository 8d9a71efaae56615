package resp_test

import (
	"bytes"
	"io"
	"slices"
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

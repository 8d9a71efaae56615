package engine

import (
	"bytes"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
)

// pieces is a connection that notes how much is written at once.
type pieces struct {
	bytes.Buffer
	largest int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.largest = max(p.largest, len(b))
	return p.Buffer.Write(b)
}

// TestManyRepliesAreWrittenInPieces, however many shards they come from, and in
// order.
func TestManyRepliesAreWrittenInPieces(t *testing.T) {
	d := newDesk(t, 8)
	value := strings.Repeat("v", 64<<10)
	keys := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	for _, k := range keys {
		d.do("SET", k, k+value)
	}
	var to pieces
	s := d.engine.NewSession(nil, &to)
	var want strings.Builder
	for n := range 200 {
		args := [][]byte{[]byte("GET"), []byte(keys[n%len(keys)])}
		row, _ := d.engine.table.Resolve(args)
		if err := s.Queue(row, args); err != nil {
			t.Fatal(err)
		}
		want.WriteString("$65537\r\n" + keys[n%len(keys)] + value + "\r\n")
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if to.String() != want.String() {
		t.Error("the replies are not those asked for, in order")
	}
	if most := d.engine.limits.Reply + len(value) + 100; to.largest > most {
		t.Errorf("%d bytes in one write, want at most %d", to.largest, most)
	}
}

// TestASessionOfAClosedEngineEnds with an error, for each way to run.
func TestASessionOfAClosedEngineEnds(t *testing.T) {
	for _, line := range []string{"GET a", "MSET a 1 b 2 c 3 d 4", "FLUSHALL"} {
		d := newDesk(t, 4)
		d.engine.Close()
		args := make([][]byte, 0, 9)
		for _, w := range redistest.Words(t, line) {
			args = append(args, []byte(w))
		}
		row, _ := d.engine.table.Resolve(args)
		err := d.session.Queue(row, args)
		if err == nil {
			err = d.session.Flush()
		}
		if err != ErrClosed || d.sent.Len() != 0 {
			t.Errorf("%s: %v, replied %q", line, err, d.sent.Bytes())
		}
	}
}

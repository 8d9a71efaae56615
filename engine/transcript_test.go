package engine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/limitstore/limitstore/clock"
	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/shard"
)

// midnight is where transcripts and examples begin: 2026-01-01 00:00:00 UTC, an
// edge of every window up to a day.
const midnight = limit.Instant(1767225600 * int64(time.Second))

// desk is a small store on a clock that tests turn by hand.
type desk struct {
	clock   *clock.Manual
	engine  *Engine
	session *Session
	sent    bytes.Buffer
}

// newDesk starts an engine of the given number of shards; it ends with the test.
func newDesk(t testing.TB, shards int) *desk {
	t.Helper()
	table, err := NewTable(Commands())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{clock: clock.NewManual(midnight)}
	d.engine = New(Config{Shards: shards, Clock: d.clock, Seed: shard.Seed{1, 2}, Table: table})
	d.session = d.engine.NewSession(nil, &d.sent)
	t.Cleanup(d.engine.Close)
	return d
}

// queue adds one command to the pipeline.
func (d *desk) queue(args ...string) {
	words := make([][]byte, len(args))
	for i, a := range args {
		words[i] = []byte(a)
	}
	row, refusal := d.engine.table.Resolve(words)
	if row == nil {
		d.session.Refuse(words, refusal)
		return
	}
	if err := d.session.Queue(row, words); err != nil {
		panic(err)
	}
}

// flush runs the pipeline and returns the raw replies.
func (d *desk) flush() []byte {
	d.sent.Reset()
	if err := d.session.Flush(); err != nil {
		panic(err)
	}
	return bytes.Clone(d.sent.Bytes())
}

// stats sums the counters of all shards.
func (d *desk) stats() *Stats {
	sum := d.engine.NewStats()
	d.engine.Each(func(_ int, _ *shard.Keyspace, st *Stats) { sum.Add(st) })
	return sum
}

// do runs one command and returns its reply as redis-cli shows it.
func (d *desk) do(args ...string) string {
	d.queue(args...)
	text, rest := redistest.Show(d.flush())
	if len(rest) != 0 {
		panic(fmt.Sprintf("%q: more than one reply: %q", args, rest))
	}
	return text
}

// TestTranscripts plays testdata/*.txt. A transcript reads as a terminal does:
//
//	# a comment
//	at +1500ms            the clock moves on (or: at 1767225600000, Unix ms)
//	shards 4              a new, empty store of so many shards
//	maxmemory 2097152     a new, empty store of one shard with so many bytes
//	resp 3                the protocol of what follows
//	> SET k v             a command, words split and quoted as in redis-cli
//	OK                    what redis-cli shows, until the next empty or special line
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			play(t, strings.Split(string(text), "\n"))
		})
	}
}

func play(t *testing.T, lines []string) {
	d := newDesk(t, 1)
	for i := 0; i < len(lines); i++ {
		word, rest, _ := strings.Cut(lines[i], " ")
		switch {
		case word == "" || strings.HasPrefix(word, "#"):
		case word == "at":
			d.at(t, rest)
		case word == "shards":
			n, _ := strconv.Atoi(rest)
			d = newDesk(t, n)
		case word == "maxmemory":
			n, _ := strconv.Atoi(rest)
			d = newTightDesk(t, 1, n)
			t.Cleanup(d.engine.Close)
		case word == "resp":
			n, _ := strconv.Atoi(rest)
			d.session.SetProto(n)
		case word == ">":
			want, used := expectation(lines[i+1:])
			if got := d.do(redistest.Words(t, rest)...); got != want {
				t.Errorf("line %d: %s\ngot:\n%s\nwant:\n%s", i+1, rest, got, want)
			}
			i += used
		default:
			t.Fatalf("line %d: %q is neither a command nor a reply to one", i+1, lines[i])
		}
	}
}

// expectation is the reply written below a command, and its number of lines.
func expectation(lines []string) (string, int) {
	n := 0
	for n < len(lines) && lines[n] != "" && !strings.HasPrefix(lines[n], "> ") && !strings.HasPrefix(lines[n], "at ") && !strings.HasPrefix(lines[n], "# ") {
		n++
	}
	return strings.Join(lines[:n], "\n"), n
}

func (d *desk) at(t *testing.T, when string) {
	if step, ok := strings.CutPrefix(when, "+"); ok {
		by, err := time.ParseDuration(step)
		if err != nil {
			t.Fatal(err)
		}
		d.clock.Advance(by)
		return
	}
	ms, err := strconv.ParseInt(when, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	d.clock.Set(limit.Instant(ms * int64(time.Millisecond)))
}

package engine

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/shard"
	"pgregory.net/rapid"
)

// in queues the calls of a pipeline between MULTI and EXEC. Before each command it
// may send what is queued so far, and then the read buffer is used again.
func (d *desk) in(calls [][]string, flushes func() bool) (replies []string) {
	all := slices.Concat([][]string{{"MULTI"}}, calls, [][]string{{"EXEC"}})
	var buffers [][]byte
	var raw []byte
	for _, call := range all {
		if flushes() {
			raw = append(raw, d.flush()...)
			for _, b := range buffers {
				copy(b, bytes.Repeat([]byte{'#'}, len(b)))
			}
		}
		words := make([][]byte, len(call))
		for i, w := range call {
			words[i] = []byte(w)
		}
		buffers = append(buffers, words...)
		row, refusal := d.engine.table.Resolve(words)
		if row == nil {
			d.session.Refuse(words, refusal)
		} else if err := d.session.Queue(row, words); err != nil {
			panic(err)
		}
	}
	replies = split(append(raw, d.flush()...))
	exec := replies[len(replies)-1]
	head := fmt.Sprintf("*%d\r\n", len(calls))
	if !strings.HasPrefix(exec, head) {
		panic(fmt.Sprintf("EXEC of %q: %q", calls, exec))
	}
	return split([]byte(exec[len(head):]))
}

// A program's pipelines answer and leave the same when each is a transaction,
// however it arrives and wherever its keys are.
func TestTransactionsChangeNoAnswer(t *testing.T) {
	rows := programmable(t)
	rapid.Check(t, func(t *rapid.T) {
		p := program(t, rows)
		shards := rapid.SampledFrom([]int{1, 3, 8}).Draw(t, "shards")
		plain, inside := newShards(t, shards), newShards(t, shards)
		defer plain.engine.Close()
		defer inside.engine.Close()
		var got []string
		for _, one := range p {
			inside.clock.Advance(one.after)
			inside.session.SetDB(one.db)
			got = append(got, inside.in(one.calls, func() bool { return rapid.IntRange(0, 3).Draw(t, "flush") == 0 })...)
		}
		compare(t, p, plain.play(p, true), got, "plain", "inside")
		if want, got := plain.dump(), inside.dump(); got != want {
			t.Fatalf("plain left\n%sinside\n%s", want, got)
		}
	})
}

// another is a further caller of the same store.
func (d *desk) another() *desk {
	other := &desk{clock: d.clock, engine: d.engine}
	other.session = d.engine.NewSession(nil, &other.sent)
	return other
}

// apart are n keys of as many shards.
func apart(t *testing.T, n int) (keys []string) {
	for i := range n {
		for c := 0; ; c++ {
			if key := fmt.Sprintf("key%d", c); route([]byte(key), n) == i {
				keys = append(keys, key)
				break
			}
		}
	}
	return keys
}

func never() bool { return false }

// Counters of different shards that are only incremented together are equal to
// everybody who looks at both, whichever way.
func TestTransactionsAreWholeToOthers(t *testing.T) {
	d := newDesk(t, 8)
	keys := apart(t, 8)
	var writers, readers sync.WaitGroup
	var done atomic.Bool
	const each = 300
	for range 4 {
		writers.Go(func() {
			c := d.another()
			for range each {
				c.in([][]string{{"INCR", keys[1]}, {"GET", keys[6]}, {"INCR", keys[6]}}, never)
			}
		})
	}
	looks := []func(c *desk) []string{
		func(c *desk) []string {
			c.queue("MGET", keys[1], keys[6])
			return elements(c.flush())
		},
		func(c *desk) []string { return c.in([][]string{{"GET", keys[6]}, {"GET", keys[1]}}, never) },
	}
	for _, look := range looks {
		readers.Go(func() {
			for c := d.another(); !done.Load(); {
				if values := look(c); len(values) != 2 || values[0] != values[1] {
					t.Errorf("half a transaction is seen: %q", values)
					return
				}
			}
		})
	}
	writers.Wait()
	done.Store(true)
	readers.Wait()
	if got, want := d.do("MGET", keys[1], keys[6]), fmt.Sprintf("1) \"%d\"\n2) \"%d\"", 4*each, 4*each); got != want {
		t.Errorf("at the end %s, want %s", got, want)
	}
}

// Callers that read, watch and set lose no update.
func TestWatchLosesNoUpdate(t *testing.T) {
	for _, shards := range []int{1, 8} {
		d := newDesk(t, shards)
		keys := apart(t, 8)
		d.do("SET", keys[0], "0")
		d.do("SET", keys[5], "0")
		var callers sync.WaitGroup
		const each = 100
		for range 4 {
			callers.Go(func() {
				c := d.another()
				defer c.session.Close()
				for range each {
					for !c.increment(keys[0], keys[5]) {
					}
				}
			})
		}
		callers.Wait()
		if got, want := d.do("MGET", keys[0], keys[5]), fmt.Sprintf("1) \"%d\"\n2) \"%d\"", 4*each, 4*each); got != want {
			t.Errorf("%d shards: %s, want %s", shards, got, want)
		}
		d.engine.Each(func(i int, ks *shard.Keyspace, _ *Stats) {
			if n := ks.Watched(); n != 0 {
				t.Errorf("%d keys are still watched in shard %d", n, i)
			}
		})
	}
}

// increment adds one to two counters by reading them first; false when somebody
// else was faster.
func (d *desk) increment(one, other string) bool {
	d.do("WATCH", one, other)
	n, _ := strconv.Atoi(strings.Trim(d.do("GET", one), `"`))
	next := strconv.Itoa(n + 1)
	d.queue("MULTI")
	d.queue("SET", one, next)
	d.queue("SET", other, next)
	d.queue("EXEC")
	return strings.HasSuffix(string(d.flush()), "*2\r\n+OK\r\n+OK\r\n")
}

// running is a clock that goes on by a millisecond whenever somebody looks.
type running struct{ now atomic.Int64 }

func (r *running) Now() limit.Instant { return limit.Instant(r.now.Add(int64(time.Millisecond))) }

// Time stands still from the first command of a transaction to the last, in one
// shard and in several, also behind commands after which a shard reads the clock.
func TestTimeStandsStillInside(t *testing.T) {
	for _, shards := range []int{1, 8} {
		system := &running{}
		system.now.Store(int64(midnight))
		e := New(Config{Shards: shards, Clock: system, Seed: shard.Seed{1, 2}, Table: newTable(t)})
		t.Cleanup(e.Close)
		d := &desk{engine: e}
		d.session = e.NewSession(nil, &d.sent)
		keys := apart(t, 8)
		replies := d.in([][]string{
			{"SET", keys[2], "v", "PX", "1"}, {"MSET", "{a}1", "v", "{a}2", "v"}, {"RENAME", "{a}1", "{a}3"}, {"KEYS", "*"}, {"PTTL", keys[2]},
			{"SET", keys[3], "v", "PX", "1"}, {"DBSIZE"}, {"PTTL", keys[3]}, {"PTTL", keys[2]},
		}, never)
		for _, i := range []int{4, 7, 8} {
			if replies[i] != ":1\r\n" {
				t.Errorf("%d shards: reply %d is %q, want one millisecond left", shards, i, replies[i])
			}
		}
		replies = d.in([][]string{{"SET", "k", "v", "PX", "1"}, {"GETRANGE", "k", "0", "9"}, {"APPEND", "k", "w"}, {"PTTL", "k"}}, never)
		if replies[3] != ":1\r\n" {
			t.Errorf("%d shards, one key: %q", shards, replies)
		}
	}
}

// limitedEngine is a desk whose transactions are small.
func limitedEngine(t *testing.T, l Limits) *desk {
	d, err := makeDesk(4, midnight)
	if err != nil {
		t.Fatal(err)
	}
	d.engine.Close()
	d.engine = New(Config{Shards: 4, Clock: d.clock, Seed: shard.Seed{1, 2}, Table: newTable(t), Limits: l})
	d.session = d.engine.NewSession(nil, &d.sent)
	t.Cleanup(d.engine.Close)
	return d
}

// What goes beyond a limit is refused, and EXEC does not run then; DISCARD makes
// room again.
func TestTransactionsHaveLimits(t *testing.T) {
	const bytes = 1000
	d := limitedEngine(t, Limits{Transaction: 3, TransactionBytes: bytes, Key: 100})
	fits := strings.Repeat("v", bytes-callBytes-3*wordBytes-len("SETa"))
	for _, c := range []struct {
		name  string
		lines [][]string
		want  string
	}{
		{"commands", [][]string{{"GET", "a"}, {"GET", "a"}, {"GET", "a"}, {"SET", "a", "b"}}, "(error) ERR a transaction has at most 3 commands"},
		{"bytes", [][]string{{"SET", "a", fits + "v"}}, "(error) ERR a transaction takes at most 1000 bytes"},
		{"bytes of two", [][]string{{"SET", "a", fits}, {"DBSIZE"}}, "(error) ERR a transaction takes at most 1000 bytes"},
		{"key", [][]string{{"MSET", "a", "b", strings.Repeat("k", 101), "c"}}, "(error) ERR key is longer than 100 bytes"},
	} {
		d.do("MULTI")
		for _, line := range c.lines[:len(c.lines)-1] {
			if got := d.do(line...); got != "QUEUED" {
				t.Errorf("%s: %s", c.name, got)
			}
		}
		if got := d.do(c.lines[len(c.lines)-1]...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if got := d.do("EXEC"); got != "(error) "+ExecAborted.Text() {
			t.Errorf("%s: EXEC: %s", c.name, got)
		}
	}
	if got := d.do("GET", "a"); got != "(nil)" {
		t.Errorf("a refused transaction has set %s", got)
	}
	if replies := d.in([][]string{{"SET", "a", fits}}, never); replies[0] != "+OK\r\n" {
		t.Errorf("one that fits: %q", replies)
	}
}

// A connection watches so many keys and no more; a WATCH that is refused has
// watched nothing, and what was watched stays so.
func TestWatchesHaveALimit(t *testing.T) {
	d := limitedEngine(t, Limits{Watches: 3, Key: 100})
	full := "(error) ERR a connection watches at most 3 keys"
	for _, c := range []struct{ line, want string }{
		{"WATCH a b c d", full}, {"WATCH a a b", "OK"}, {"WATCH a b c c a", "OK"}, {"WATCH a", "OK"}, {"WATCH a d", full},
		{"WATCH " + strings.Repeat("k", 101), "(error) ERR key is longer than 100 bytes"},
		{"SET d 1", "OK"}, {"MULTI", "OK"}, {"EXEC", "(empty array)"},
		{"WATCH a b c", "OK"}, {"UNWATCH", "OK"}, {"WATCH d e f", "OK"}, {"WATCH g", full}, {"SET e 1", "OK"}, {"MULTI", "OK"}, {"EXEC", "(nil)"},
	} {
		if got := d.do(redistest.Words(t, c.line)...); got != c.want {
			t.Errorf("%s: %s, want %s", c.line, got, c.want)
		}
	}
}

// What was queued is let go, and who goes away watches nothing any more.
func TestTransactionsAreLetGo(t *testing.T) {
	d := newDesk(t, 2)
	large := strings.Repeat("v", 1<<20)
	for range 3 * keptIdle {
		d.in([][]string{{"SET", "a", large}, {"SET", "b", large}}, func() bool { return true })
		d.do("MULTI")
		d.do("SET", "a", large)
		d.do("DISCARD")
	}
	held := 0
	for _, idle := range d.session.deals.idle {
		held += cap(idle.room) + wordBytes*cap(idle.words) + callBytes*cap(idle.calls)
	}
	if held > keptIdle*(roomBytes+4*callBytes+8*wordBytes) || len(d.session.deals.sent) != 0 {
		t.Errorf("%d bytes are kept", held)
	}
	d.do("WATCH", "a", "b", "c")
	d.session.Close()
	d.engine.Each(func(i int, ks *shard.Keyspace, _ *Stats) {
		if n := ks.Watched(); n != 0 {
			t.Errorf("shard %d has %d watched keys when nobody is there", i, n)
		}
	})
}

// A transaction in one shard and one pipeline allocates nothing, however many
// there are.
func TestTransactionsDoNotAllocate(t *testing.T) {
	d := newDesk(t, 2)
	s := d.engine.NewSession(nil, io.Discard)
	var pipeline [][][]byte
	for _, line := range slices.Repeat([]string{"MULTI", "INCR hits", "PEXPIRE hits 60000 NX", "PTTL hits", "TB.TAKE bucket{hits} 10 1 1s", "EXEC"}, 4) {
		var words [][]byte
		for _, w := range strings.Fields(line) {
			words = append(words, []byte(w))
		}
		pipeline = append(pipeline, words)
	}
	run := func() {
		for _, words := range pipeline {
			row, _ := d.engine.table.Resolve(words)
			if err := s.Queue(row, words); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		run()
	}
	if n := testing.AllocsPerRun(200, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

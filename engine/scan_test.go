package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/shard"
	"pgregory.net/rapid"
)

// scanOnce makes one call of SCAN and returns the next cursor and the keys.
func scanOnce(t fataler, d *desk, cursor string, options ...string) (string, []string) {
	reply := string(d.raw(t, redistest.Request(append([]string{"SCAN", cursor}, options...)...)))
	words := strings.Split(reply, "\r\n")
	if words[0] != "*2" || len(words) < 4 {
		t.Fatalf("SCAN %s %q replied %q", cursor, options, reply)
	}
	next, err := strconv.ParseUint(words[2], 10, 64)
	if err != nil || next >= 1<<53 {
		t.Fatalf("SCAN %s %q: the next cursor is %s", cursor, options, words[2])
	}
	var keys []string
	for i := 5; i < len(words); i += 2 {
		keys = append(keys, words[i])
	}
	return words[2], keys
}

// fill sets so many keys of a name.
func fill(d *desk, name string, n int) {
	for i := range n {
		d.queue("SET", fmt.Sprintf("%s:%d", name, i), "v")
	}
	d.flush()
}

// TestScanSeesEveryKey scans while other keys come and go, in numbers that make
// the tables grow and shrink: what is there throughout is seen exactly once, and
// nothing is seen twice.
func TestScanSeesEveryKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newShards(t, rapid.SampledFrom([]int{1, 3, 8}).Draw(t, "shards"))
		defer d.engine.Close()
		stay, leave := rapid.IntRange(0, 300).Draw(t, "stay"), rapid.IntRange(0, 1500).Draw(t, "leave")
		fill(d, "stay", stay)
		fill(d, "leave", leave)
		seen := map[string]int{}
		cursor, gone := "0", 0
		for round := 0; round == 0 || cursor != "0"; round++ {
			var keys []string
			cursor, keys = scanOnce(t, d, cursor, "COUNT", strconv.Itoa(rapid.IntRange(1, 100).Draw(t, "count")))
			for _, key := range keys {
				seen[key]++
			}
			if rapid.Bool().Draw(t, "grow") {
				fill(d, fmt.Sprint("come:", round), rapid.IntRange(0, 300).Draw(t, "more"))
			}
			for range min(leave-gone, rapid.IntRange(0, 300).Draw(t, "fewer")) {
				d.queue("DEL", fmt.Sprintf("leave:%d", gone))
				gone++
			}
			d.flush()
		}
		for i := range stay {
			if key := fmt.Sprintf("stay:%d", i); seen[key] != 1 {
				t.Fatalf("%s was seen %d times", key, seen[key])
			}
		}
		for key, times := range seen {
			if times != 1 {
				t.Fatalf("%s was seen %d times", key, times)
			}
		}
	})
}

// newShards is newDesk for a property, which ends it itself.
func newShards(t fataler, shards int) *desk {
	d, err := makeDesk(shards, midnight)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return d
}

func TestKeysListsAll(t *testing.T) {
	d := newDesk(t, 3)
	const n = 5 * walkStretch
	fill(d, "k", n)
	fill(d, "other", 10)
	got := elements(d.raw(t, redistest.Request("KEYS", "k:*")))
	slices.Sort(got)
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("k:%d", i))
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d keys, want %d", len(got), n)
	}
}

// TestScanWorkIsBounded: a call with the default COUNT must not walk a whole
// table for a pattern that nothing matches, nor for keys that have expired.
func TestScanWorkIsBounded(t *testing.T) {
	for _, expired := range []bool{false, true} {
		d := newDesk(t, 2)
		d.engine.Each(func(_ int, ks *shard.Keyspace, _ *Stats) { ks.SetGarbage(false) })
		for i := range 10_000 {
			d.queue("SET", fmt.Sprint("k:", i), "v", "PX", "10")
		}
		d.flush()
		if expired {
			d.clock.Advance(time.Second)
		}
		calls, cursor := 0, "0"
		for calls == 0 || cursor != "0" {
			cursor, _ = scanOnce(t, d, cursor, "MATCH", "nothing")
			calls++
		}
		if calls < 100 {
			t.Errorf("10000 keys, expired %v, took %d calls of about 10", expired, calls)
		}
	}
}

// TestWalksStopAtTheOutputLimit: the connection is closed, and not the whole
// keyspace gathered for it.
func TestWalksStopAtTheOutputLimit(t *testing.T) {
	d := newDesk(t, 2)
	fill(d, "k", 10*walkStretch)
	d.engine.limits.Output = walkStretch
	for _, line := range []string{"KEYS *", "SCAN 0 COUNT 1000000"} {
		d.session = d.engine.NewSession(nil, &d.sent)
		d.queue(strings.Fields(line)...)
		if err := d.session.Flush(); err != ErrOutput {
			t.Errorf("%s: %v, want %v", line, err, ErrOutput)
		}
		w := every(1 << 40)
		w.from(&d.session.call, 0)
		if most := 3 * 2 * walkStretch * len("k:12345"); len(w.found.bytes) > most {
			t.Errorf("gathered %d bytes, want at most %d", len(w.found.bytes), most)
		}
	}
}

func TestScanSelectsDatabase(t *testing.T) {
	d := newDesk(t, 2)
	fill(d, "zero", 3)
	d.session.SetDB(3)
	fill(d, "three", 2)
	_, keys := scanOnce(t, d, "0", "COUNT", "100")
	slices.Sort(keys)
	if want := []string{"three:0", "three:1"}; !slices.Equal(keys, want) {
		t.Errorf("database 3 holds %q, want %q", keys, want)
	}
	for _, v := range []struct{ command, want string }{{"DBSIZE", "(integer) 2"}, {"FLUSHDB", "OK"}, {"DBSIZE", "(integer) 0"}} {
		if got := d.do(v.command); got != v.want {
			t.Errorf("%s in database 3: %s, want %s", v.command, got, v.want)
		}
	}
	d.session.SetDB(0)
	if got := d.do("DBSIZE"); got != "(integer) 3" {
		t.Errorf("database 0 has %s keys, want 3", got)
	}
	d.session.SetDB(3)
	fill(d, "three", 2)
	d.do("FLUSHALL")
	if got := d.do("DBSIZE"); got != "(integer) 0" {
		t.Errorf("database 3 has %s keys after FLUSHALL", got)
	}
	d.session.SetDB(0)
	if got := d.do("DBSIZE"); got != "(integer) 0" {
		t.Errorf("database 0 has %s keys after FLUSHALL", got)
	}
}

// TestRandomKey finds the only live key wherever it is, and comes by every key
// in the end.
func TestRandomKey(t *testing.T) {
	d := newDesk(t, 8)
	for i := range 100 {
		d.do("SET", fmt.Sprint("dead:", i), "v", "PX", "10")
	}
	d.clock.Advance(10 * time.Millisecond)
	d.do("SET", "alive", "v")
	for range 20 {
		if got := d.do("RANDOMKEY"); got != `"alive"` {
			t.Fatalf("RANDOMKEY: %s", got)
		}
	}
	fill(d, "k", 9)
	seen := map[string]bool{}
	// A key is missed when it is never the first after a random place of its shard.
	// The shares of ten keys are all above 1/1000 with this seed.
	for range 20_000 {
		seen[d.do("RANDOMKEY")] = true
	}
	if len(seen) != 10 {
		t.Errorf("saw %d keys of 10: %v", len(seen), seen)
	}
}

// TestLongPatternsAreRefused: matching takes as many steps as pattern times key.
func TestLongPatternsAreRefused(t *testing.T) {
	d := newDesk(t, 1)
	d.do("SET", "a", "1")
	fits := "*" + strings.Repeat("?", d.engine.limits.Key-1)
	if got := d.do("KEYS", fits); got != "(empty array)" {
		t.Errorf("a pattern as long as a key: %s", got)
	}
	want := "(error) " + PatternTooLong.Text(d.engine.limits.Key)
	for _, line := range [][]string{{"KEYS", fits + "?"}, {"SCAN", "0", "MATCH", fits + "?"}} {
		if got := d.do(line...); got != want {
			t.Errorf("%s: %s, want %s", line[0], got, want)
		}
	}
}

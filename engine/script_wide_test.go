package engine

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/clock"
	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/shard"
)

// loggedDesk is a store that tells how often scripts have logged: once for each
// time that they start.
func loggedDesk(t *testing.T, shards int) (d *desk, lines *[]string) {
	t.Helper()
	lines = new([]string)
	d = &desk{clock: clock.NewManual(midnight)}
	d.engine = New(Config{Shards: shards, Clock: d.clock, Seed: shard.Seed{1, 2}, Table: newTable(t), Log: func(_ int, line string) { *lines = append(*lines, line) }})
	d.session = d.engine.NewSession(nil, &d.sent)
	t.Cleanup(d.engine.Close)
	return d, lines
}

func shaOf(source string) string {
	sum := sha1.Sum([]byte(source))
	return hex.EncodeToString(sum[:])
}

// A script that goes beyond the shards of its keys starts again, once, and has run
// once in effect, whatever it made of being stopped; then it is known, and starts
// where it can go anywhere.
func TestScriptsThatGoBeyondRunOnce(t *testing.T) {
	keys := apart(t, 4)
	near, far := keys[0], keys[3]
	for name, body := range map[string]string{
		"plain":        "redis.call('INCR', 'FAR') return redis.call('INCR', KEYS[1])",
		"in pcall":     "pcall(redis.call, 'INCR', 'FAR') redis.call('INCR', KEYS[1]) return 1",
		"by pcall":     "redis.pcall('INCR', 'FAR') redis.pcall('INCR', KEYS[1]) return 1",
		"last of all":  "redis.call('INCR', KEYS[1]) pcall(function() redis.call('INCR', 'FAR') end) return 1",
		"in coroutine": "redis.call('INCR', KEYS[1]) coroutine.wrap(function() redis.call('INCR', 'FAR') coroutine.yield() end)() return 1",
		"many":         "redis.call('INCR', KEYS[1]) redis.call('MSET', 'FAR', 1, 'other1', 2, 'other2', 2) return 1",
		"all keys":     "redis.call('KEYS', '*') redis.call('INCR', KEYS[1]) redis.call('INCR', 'FAR') return 1",
	} {
		for _, declared := range [][]string{{"1", near}, {"2", near, keys[1]}} {
			tryBeyond(t, name, body, near, far, declared)
		}
	}
}

// tryBeyond runs a script that has more keys declared or fewer three times.
func tryBeyond(t *testing.T, name, body, near, far string, declared []string) {
	d, lines := loggedDesk(t, 4)
	source := "redis.log(3, 'start') redis.call('RPUSH', KEYS[1] .. 'NEARLIST', 1) redis.call('LPOP', KEYS[1] .. 'NEARLIST') " + strings.ReplaceAll(body, "FAR", far)
	source = strings.ReplaceAll(source, "KEYS[1] .. 'NEARLIST'", "'{"+near+"}list'")
	d.do("SCRIPT", "LOAD", source)
	for i, want := range []int{2, 3, 4} {
		d.queue(append([]string{"EVALSHA", shaOf(source)}, declared...)...)
		d.queue("GET", near)
		d.queue("GET", far)
		raw := d.flush()
		replies := split(raw)
		if len(replies) != 3 || replies[1] != fmt.Sprintf("$1\r\n%d\r\n", i+1) || name != "many" && replies[2] != replies[1] {
			t.Errorf("%s, time %d: %q", name, i+1, raw)
		}
		if len(*lines) != want {
			t.Errorf("%s, time %d: started %d times in all, want %d", name, i+1, len(*lines), want)
		}
	}
}

// A script that is killed when it has nothing more to do is killed all the same: one
// answer, and no change.
func TestKilledAtTheEnd(t *testing.T) {
	for _, shards := range []int{1, 4} {
		d, _ := loggedDesk(t, shards)
		log := d.engine.log
		d.engine.log = func(level int, line string) { log(level, line); d.engine.scripting.kill() }
		for range 2 {
			d.queue("EVAL", "redis.call('SET', KEYS[1], 1) redis.log(3, 'done') return 'done'", "1", "k")
			d.queue("EXISTS", "k")
			if got := string(d.flush()); got != "-"+ScriptKilled.Text()+"\r\n:0\r\n" {
				t.Errorf("%d shards: %q", shards, got)
			}
		}
	}
}

// Replies and effects are in the order asked, whatever lies between scripts that go
// beyond their shards: the same as one command at a time, and as with one shard.
func TestPipelinesAroundScriptsKeepTheirOrder(t *testing.T) {
	keys := apart(t, 8)
	wide := "local n = redis.call('INCR', '" + keys[6] + "') redis.call('APPEND', '" + keys[7] + "', 'w' .. n) return redis.call('GET', '" + keys[7] + "')"
	caught := "pcall(redis.call, 'APPEND', '" + keys[7] + "', 'c') return redis.call('APPEND', KEYS[1], 'c')"
	var calls [][]string
	for i := range 60 {
		switch i % 6 {
		case 0:
			calls = append(calls, []string{"EVAL", wide + strings.Repeat(" ", i%4), "1", keys[i%8]})
		case 1:
			calls = append(calls, []string{"APPEND", keys[7], "a"})
		case 2:
			calls = append(calls, []string{"EVAL", caught, "1", keys[i%8]})
		case 3:
			calls = append(calls, []string{"MGET", keys[6], keys[7], keys[0]})
		case 4:
			calls = append(calls, []string{"EVAL", "return redis.call('GET', KEYS[1])", "1", keys[i%8]})
		case 5:
			calls = append(calls, []string{"GET", keys[7]}, []string{"SET", keys[i%8], "v"}, []string{"SCRIPT", "EXISTS", shaOf(wide)})
		}
		if i%10 == 9 {
			calls = append(calls, []string{"SCRIPT", "FLUSH"})
		}
	}
	want := newDesk(t, 1).play([]pipeline{{calls: calls}}, true)
	for _, shards := range []int{1, 2, 8} {
		for _, single := range []bool{true, false} {
			got := newDesk(t, shards).play([]pipeline{{calls: calls}}, single)
			if len(got) != len(want) {
				t.Fatalf("%d shards: %d replies, want %d", shards, len(got), len(want))
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%d shards, one at a time %v: %q\ngot  %q\nwant %q", shards, single, calls[i], got[i], want[i])
				}
			}
		}
	}
}

// The cache keeps as many scripts that EVAL brought as it should, the newest, and
// those that were loaded whatever comes.
func TestTheCacheOfScriptsHasLimits(t *testing.T) {
	d := limitedEngine(t, Limits{Scripts: 3, ScriptCache: 12 << 10, Script: 1 << 10})
	source := func(n int) string { return fmt.Sprintf("return %d", n) }
	exists := func(n int) bool { return d.do("SCRIPT", "EXISTS", shaOf(source(n))) == "1) (integer) 1" }
	d.do("SCRIPT", "LOAD", source(0))
	for n := 1; n <= 5; n++ {
		d.do("EVAL", source(n), "0")
		d.do("EVAL", source(n), "0")
	}
	for n, want := range []bool{true, false, false, true, true, true} {
		if exists(n) != want {
			t.Errorf("script %d is in the cache: %v", n, !want)
		}
	}
	d.do("SCRIPT", "LOAD", source(3)) // now it stays
	for n := 6; n <= 9; n++ {
		d.do("EVAL", source(n), "0")
	}
	if !exists(3) || exists(6) || !exists(7) {
		t.Errorf("after SCRIPT LOAD of one that EVAL had brought: %v %v %v", exists(3), exists(6), exists(7))
	}
	for n := 10; n < 19; n++ {
		d.do("SCRIPT", "LOAD", source(n))
	}
	if got := d.do("SCRIPT", "LOAD", source(19)); got != told(ScriptCacheFull, 12<<10) || exists(19) || exists(7) || !exists(18) || !exists(0) {
		t.Errorf("a full cache: %s", got)
	}
	if got := d.do("EVAL", source(20), "0"); got != "(integer) 20" || exists(20) {
		t.Errorf("EVAL with a full cache: %s", got)
	}
	if got := d.do("EVAL", "return '"+strings.Repeat("x", 1<<10)+"'", "0"); got != told(ScriptLong, 1<<10) {
		t.Errorf("a long script: %s", got)
	}
	d.do("SCRIPT", "FLUSH")
	if k := &d.engine.scripting.cache; k.bytes != 0 || len(k.order) != 0 || exists(0) {
		t.Error("a flushed cache is not empty")
	}
	if got := d.do("EVALSHA", shaOf(source(0)), "0"); got != told(NoSuchScript) {
		t.Errorf("after a flush: %s", got)
	}
}

// Scripts in a transaction need no warm cache, and one that is not there is an
// answer among others.
func TestScriptsInTransactions(t *testing.T) {
	for _, shards := range []int{1, 8} {
		d := newDesk(t, shards)
		keys := apart(t, 8)
		source := "redis.call('INCR', '" + keys[5] + "') return redis.call('INCR', KEYS[1])"
		for round := 1; round <= 2; round++ {
			for _, line := range [][]string{{"MULTI"}, {"INCR", keys[1]}, {"EVAL", source, "1", keys[2]}, {"EVALSHA", shaOf(source), "1", keys[2]}, {"EVALSHA", shaOf("absent"), "0"}, {"EVAL", "error('half')", "0"}, {"INCR", keys[1]}} {
				d.do(line...)
			}
			n := 2 * round
			want := fmt.Sprintf("1) (integer) %d\n2) (integer) %d\n3) (integer) %d\n4) %s\n5) (error) ERR user_script:1: half script: %s, on @user_script:1.\n6) (integer) %d", n-1, n-1, n, told(NoSuchScript), shaOf("error('half')"), n)
			if got := d.do("EXEC"); got != want {
				t.Errorf("%d shards: %s, want %s", shards, got, want)
			}
			d.do("SCRIPT", "FLUSH")
		}
		if got := d.do("MGET", keys[1], keys[2], keys[5]); got != "1) \"4\"\n2) \"4\"\n3) \"4\"" {
			t.Errorf("%d shards: %s", shards, got)
		}
	}
}

// A script that a touched key keeps from running has not run.
func TestWatchKeepsScriptsFromRunning(t *testing.T) {
	d := newDesk(t, 4)
	d.do("WATCH", "k")
	d.another().do("SET", "k", "1")
	d.do("MULTI")
	d.do("EVAL", "return redis.call('SET', 'far', 1)", "0")
	if got := d.do("EXEC") + d.do("EXISTS", "far"); got != "(nil)(integer) 0" {
		t.Error(got)
	}
	d.do("WATCH", "{k}2")
	d.another().do("EVAL", "redis.call('SET', '{k}2', 1)", "0")
	d.do("MULTI")
	d.do("PTTL", "k")
	if got := d.do("EXEC"); got != "(nil)" {
		t.Errorf("a script touched the key: %s", got)
	}
	d.raw(t, redistest.Request("UNWATCH"))
}

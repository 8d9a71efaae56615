package server

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/redistest"
)

// endless are limits under which a script that does not end is not stopped.
func endless(shards int) func(*setup) {
	return func(s *setup) { s.shards, s.limits.ScriptSteps = shards, 1<<62 }
}

// eval is EVAL as it is sent.
func eval(source string, keysAndArgs ...string) string {
	return request(append([]string{"EVAL", source}, keysAndArgs...)...)
}

// killScript sends SCRIPT KILL until there was a script to kill.
func killScript(c *caller) {
	for c.do("SCRIPT KILL") != "+OK\r\n" {
	}
}

// TestScriptKill ends scripts that do not end by themselves, from another
// connection: they have changed nothing, and what waited behind them goes on.
func TestScriptKill(t *testing.T) {
	const told = "-ERR Error running script, script killed by user with SCRIPT KILL.\r\n"
	for _, shards := range []int{1, 8} {
		r := newRig(t, endless(shards))
		victim, killer := r.call(), r.call()
		killer.do("SET k before")
		for _, loop := range []string{
			"while true do end", "while true do pcall(error, 'x') end", "while true do redis.call('INCR', 'n') end", "while true do redis.pcall('INCR', KEYS[1]) end",
			"local f = coroutine.wrap(function() while true do coroutine.yield() end end) while true do f() end", "repeat local ok = pcall(function() while true do end end) until false",
		} {
			source := "redis.call('SET', KEYS[1], 'after') redis.call('DEL', 'k', 'other') redis.call('SET', KEYS[1], 'again') " + loop
			for range 3 { // not cached yet, then known to go beyond its shards
				victim.send(eval(source, "1", "k") + request("GET", "k"))
				killScript(killer)
				if got := victim.replies(2); got != told+"$6\r\nbefore\r\n" {
					t.Errorf("%d shards, %s: %q", shards, loop, got)
				}
			}
		}
		if got := killer.do("SCRIPT KILL"); got != "-NOTBUSY No scripts in execution right now.\r\n" {
			t.Errorf("%d shards: nothing runs, and %q", shards, got)
		}
		if got := killer.do("DBSIZE"); got != ":1\r\n" {
			t.Errorf("%d shards: %q keys", shards, got)
		}
	}
}

// TestScriptKillInATransaction ends the script; the rest of the transaction runs.
func TestScriptKillInATransaction(t *testing.T) {
	r := newRig(t, endless(2))
	victim, killer := r.call(), r.call()
	victim.send(request("MULTI") + request("SET", "a", "1") + eval("redis.call('SET', 'a', 2) while true do end", "0") + request("INCR", "a") + request("EXEC"))
	killScript(killer)
	want := "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n+OK\r\n-ERR Error running script, script killed by user with SCRIPT KILL.\r\n:2\r\n"
	if got := victim.replies(5); got != want {
		t.Errorf("got %q", got)
	}
}

// TestScriptsPublishOnce, in the order of what they do, also when they start again
// for it.
func TestScriptsPublishOnce(t *testing.T) {
	for _, shards := range []int{1, 8} {
		r := newRig(t, func(s *setup) { s.shards = shards })
		listener, c := r.call(), r.call()
		listener.do("SUBSCRIBE news")
		const source = "redis.call('INCR', KEYS[1]) local n = redis.call('PUBLISH', 'news', ARGV[1]) pcall(redis.call, 'INCR', 'elsewhere' .. ARGV[1]) return n"
		var want strings.Builder
		for i := range 40 {
			text := fmt.Sprint("m", i)
			c.send(eval(source, "1", fmt.Sprint("k", i), text) + request("PUBLISH", "news", "between"))
			want.WriteString("*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n" + fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) + "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$7\r\nbetween\r\n")
			if got := c.replies(2); got != ":1\r\n:1\r\n" {
				t.Fatalf("%d shards: %q", shards, got)
			}
		}
		if got := listener.replies(80); got != want.String() {
			t.Errorf("%d shards: heard %q", shards, got)
		}
	}
}

// TestScriptsOfTheMute run without a reply, wherever they run.
func TestScriptsOfTheMute(t *testing.T) {
	for _, shards := range []int{1, 8} {
		c := newRig(t, func(s *setup) { s.shards = shards }).call()
		const near, far = "return redis.call('INCR', KEYS[1])", "redis.call('INCR', 'far1') redis.call('INCR', 'far2') return redis.call('INCR', KEYS[1])"
		c.send(request("CLIENT", "REPLY", "OFF"))
		for i := range 20 {
			key := fmt.Sprint("k", i)
			c.send(eval(near, "1", key) + eval(far, "1", key) + eval("error('x')", "0") + eval("return (", "0"))
		}
		c.send(request("CLIENT", "REPLY", "ON") + request("CLIENT", "REPLY", "SKIP") + eval(far, "1", "k0") + eval(near, "1", "k0"))
		if got := c.replies(2); got != "+OK\r\n:4\r\n" {
			t.Errorf("%d shards: %q", shards, got)
		}
		if got := c.do("MGET far1 far2 k7"); got != "*3\r\n$2\r\n21\r\n$2\r\n21\r\n$1\r\n2\r\n" {
			t.Errorf("%d shards: %q", shards, got)
		}
	}
}

// TestScriptsOfManyWhileTheCacheIsFlushed: everybody is answered with a number or
// with NOSCRIPT, and what was answered with a number has happened, once.
func TestScriptsOfManyWhileTheCacheIsFlushed(t *testing.T) {
	r := newRig(t, func(s *setup) { s.shards = 4 })
	const source = "redis.call('INCR', KEYS[1]) return redis.call('INCR', 'sum')"
	sha := strings.TrimSpace(strings.SplitN(r.call().loaded(source), "\r\n", 3)[1])
	done := make([]int, 6)
	var all sync.WaitGroup
	for i := range done {
		c := r.call()
		all.Go(func() {
			for n := range 200 {
				switch n % 5 {
				case 0:
					c.send(request("SCRIPT", "FLUSH"))
				case 1:
					c.send(eval(source, "1", fmt.Sprint("k", n)))
				case 4:
					c.send(request("MULTI") + request("EVALSHA", sha, "1", "x") + request("EXEC"))
					c.replies(2)
				default:
					c.send(request("EVALSHA", sha, "1", fmt.Sprint("k", n)))
				}
				reply := strings.TrimPrefix(c.reply(), "*1\r\n")
				switch {
				case n%5 == 0 && reply == "+OK\r\n", strings.HasPrefix(reply, "-NOSCRIPT "):
				case reply[0] == ':' && n%5 != 0:
					done[i]++
				default:
					t.Errorf("%d: %q", n, reply)
				}
			}
		})
	}
	all.Wait()
	sum := 0
	for _, n := range done {
		sum += n
	}
	if got := r.call().do("GET sum"); got != fmt.Sprintf("$%d\r\n%d\r\n", len(fmt.Sprint(sum)), sum) || sum < 6*40 {
		t.Errorf("sum is %q, answered were %d", got, sum)
	}
}

// loaded is the reply to SCRIPT LOAD.
func (c *caller) loaded(source string) string {
	c.send(request("SCRIPT", "LOAD", source))
	return c.reply()
}

// TestEveryCommandMayBeInAScript, or is refused; none makes the server wait for
// itself, and the connection is then as before.
func TestEveryCommandMayBeInAScript(t *testing.T) {
	table, err := engine.NewTable(engine.Commands(), Commands())
	if err != nil {
		t.Fatal(err)
	}
	for _, shards := range []int{1, 8} {
		c := newRig(t, func(s *setup) { s.shards = shards }).call()
		for _, row := range table.Rows() {
			calls := [][]string{strings.Split(row.Name, "|")}
			for _, e := range row.Examples {
				calls = append(calls, redistest.Words(t, e.In))
			}
			for n := range 5 {
				calls = append(calls, append(strings.Split(row.Name, "|"), []string{"a", "1", "b", "2", "c"}[:n+1]...))
			}
			for _, words := range calls {
				for _, source := range []string{"return redis.call(unpack(ARGV))", "return {redis.pcall(unpack(ARGV))}", "redis.setresp(3) return {redis.pcall(unpack(ARGV))}"} {
					c.send(eval(source, append([]string{"0"}, words...)...) + request("ECHO", "marker"))
					reply := c.reply()
					if next := c.reply(); next != "$6\r\nmarker\r\n" {
						t.Fatalf("%d shards, %q: %q, then %q", shards, words, reply, next)
					}
				}
			}
			if got := c.do("CLIENT GETNAME"); got != "$-1\r\n" {
				t.Fatalf("%d shards, after %s: %q", shards, row.Name, got)
			}
		}
	}
}

// TestOutputLimitOfScripts: who asks for a reply beyond it is cut off.
func TestOutputLimitOfScripts(t *testing.T) {
	for _, shards := range []int{1, 8} {
		r := newRig(t, func(s *setup) { s.shards, s.limits.Output = shards, 1<<20 })
		for _, source := range []string{"return ('x'):rep(2^20)", "local t = {} for i = 1, 2000 do t[i] = ('x'):rep(1000) end return t", "redis.call('SET', 'far', ('x'):rep(2^20)) return {redis.call('GET', 'far')}"} {
			for range 2 {
				c := r.call()
				c.send(eval(source, "1", "k"))
				if got := c.rest(); got != "" {
					t.Errorf("%d shards, %s: %.60q", shards, source, got)
				}
			}
		}
		if got := r.call().do("PING"); got != "+PONG\r\n" {
			t.Error(got)
		}
	}
}

// TestScriptsForWhoDoesNotRead cost no more than what a pipeline may hold.
func TestScriptsForWhoDoesNotRead(t *testing.T) {
	r := newRig(t)
	near, far := net.Pipe()
	done := r.serveOver(far)
	before := memoryHeld()
	go io.WriteString(near, strings.Repeat(eval("return ('x'):rep(2^20)", "1", "k"), 300))
	c := func() *conn { r.mu.Lock(); defer r.mu.Unlock(); return r.conns[1<<20] }()
	eventually(t, "it is being answered", func() bool { return c.pulse.due.Load() > 0 })
	if grown := memoryHeld() - before; grown > slowBytes {
		t.Errorf("300 MiB asked for and not read cost %d bytes, at most %d", grown, slowBytes)
	}
	near.Close()
	<-done
}

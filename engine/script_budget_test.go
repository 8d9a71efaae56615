package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/limitstore/limitstore/engine/script"
	"github.com/limitstore/limitstore/resp"
	"github.com/limitstore/limitstore/shard"
)

// scriptDesk is a store whose scripts have the given limits, on a clock that goes
// on by a millisecond whenever somebody looks.
func scriptDesk(t *testing.T, shards int, l Limits) *desk {
	t.Helper()
	system := &running{}
	system.now.Store(int64(midnight))
	d := &desk{}
	d.engine = New(Config{Shards: shards, Clock: system, Seed: shard.Seed{1, 2}, Table: newTable(t), Limits: l})
	d.session = d.engine.NewSession(nil, &d.sent)
	t.Cleanup(d.engine.Close)
	return d
}

// writes are what a script does to the key k before it goes too far.
var writes = map[string]string{
	"a string":          "redis.call('SET', k, 'new')",
	"a new key":         "redis.call('SET', k .. 'new', 1, 'EX', 100)",
	"a part":            "redis.call('APPEND', k, 'more') redis.call('SETRANGE', k, 1, 'x')",
	"an expiry":         "redis.call('EXPIRE', k, 77)",
	"no expiry":         "redis.call('PERSIST', k)",
	"a delete":          "redis.call('DEL', k, k .. 'hash', k .. 'none')",
	"a hash":            "for i = 1, 40 do redis.call('HSET', k .. 'hash', 'f' .. i, i) end redis.call('HDEL', k .. 'hash', 'f')",
	"a list":            "redis.call('RPUSH', k .. 'list', 1, 2) redis.call('LPOP', k .. 'list') redis.call('DEL', k .. 'list') redis.call('LPUSH', k .. 'list', 'z')",
	"a sorted set":      "redis.call('ZADD', k .. 'zset', 5, 'm', 6, 'n') redis.call('ZREM', k .. 'zset', 'm')",
	"a set":             "redis.call('SADD', k .. 'set', 1, 'x') redis.call('DEL', k .. 'set')",
	"another type":      "redis.call('DEL', k) redis.call('HSET', k, 'f', 1)",
	"a limiter":         "redis.call('TB.TAKE', k .. 'tb', 10, 1, '1s')",
	"a caught error":    "redis.call('SET', k, 'x') redis.pcall('INCR', k) redis.call('INCR', k .. 'n')",
	"all in one script": "redis.call('DEL', k) redis.call('SET', k, 1) redis.call('EXPIRE', k, 5) redis.call('DEL', k) redis.call('RPUSH', k, 1) redis.call('RENAME', k, k .. 'hash')",
}

// excesses are the ways to go too far, each with what a client is told.
var excesses = []struct {
	name, source string
	told         ErrorID
	limit        any
}{
	{"steps", "while true do end", ScriptSteps, 300_000},
	{"steps in pcall", "while true do pcall(function() while true do end end) end", ScriptSteps, 300_000},
	{"steps in coroutines", "local f = coroutine.wrap(function() while true do coroutine.yield() end end) while true do f() end", ScriptSteps, 300_000},
	{"a catastrophic pattern", "return string.find(('a'):rep(200), ('a*'):rep(30) .. 'b')", ScriptSteps, 300_000},
	{"commands", "while true do redis.call('INCR', k .. 'n') end", ScriptSteps, 300_000},
	{"bytes", "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end", ScriptBytes, 1 << 20},
	{"bytes in pcall", "while true do pcall(string.rep, 'x', 1000) end", ScriptBytes, 1 << 20},
	{"one long string", "return ('a'):rep(1e10)", ScriptBytes, 1 << 20},
	{"doubling", "local s = 'x' while true do s = s .. s end", ScriptBytes, 1 << 20},
	{"JSON", "local t = {} for i = 1, 500 do t[i] = ('x'):rep(100) end local u = {} for i = 1, 500 do u[i] = t end return cjson.encode(u)", ScriptBytes, 1 << 20},
	{"coroutines", "local t = {} while true do t[#t + 1] = coroutine.wrap(function() coroutine.yield() end) t[#t]() end", ScriptBytes, 1 << 20},
	{"the stack", "local a = {} for i = 1, 150 do a[i] = 'a' .. i end a = table.concat(a, ',') loadstring('local function f(n) local ' .. a .. ' = n if n > 0 then f(n - 1) end end f(1000)')()", ScriptBytes, 1 << 20},
	{"a large reply", "local t = {} for i = 1, 60 do t[i] = 'large' end return redis.call('MGET', unpack(t))", ScriptBytes, 1 << 20},
	{"what takes changes back", "local v = ('v'):rep(1000) for i = 1, 2000 do redis.call('SET', k, v) redis.call('SETRANGE', k, 0, v) end", ScriptBytes, 1 << 20},
	{"what takes back a list", "local v = ('v'):rep(1000) for i = 1, 2000 do redis.call('LPUSH', k .. 'list', v) redis.call('DEL', k .. 'list') end", ScriptBytes, 1 << 20},
}

// withinLimits are the limits of these tests.
var withinLimits = Limits{ScriptSteps: 300_000, ScriptBytes: 1 << 20, ScriptTime: time.Hour}

// prelude fills the store of a test.
func (d *desk) prelude(key string) {
	for _, words := range [][]string{
		{"SET", "{K}", "value", "EX", "5000"}, {"HSET", "{K}hash", "f", "1", "g", "2"}, {"RPUSH", "{K}list", "a", "b"}, {"ZADD", "{K}zset", "1", "m"}, {"SADD", "{K}set", "1", "2"},
		{"TB.TAKE", "{K}tb", "10", "1", "1h"}, {"SET", "large", strings.Repeat("large", 5000)}, {"SET", "other", "1"}, {"SET", "another", "1"},
	} {
		for i, w := range words {
			words[i] = strings.ReplaceAll(w, "{K}", key)
		}
		d.do(words...)
	}
}

// told is a reply with an error of the table.
func told(id ErrorID, words ...any) string { return "(error) " + id.Text(words...) }

// A script that goes too far after it has written has changed nothing, on the
// shard of its key, beyond it, and in a transaction; neither effects nor inverses
// tell of it.
func TestStoppedScriptsChangeNothing(t *testing.T) {
	for _, shards := range []int{1, 4} {
		d := scriptDesk(t, shards, withinLimits)
		const key = "{tag}"
		d.prelude(key)
		r := newRecording(shards)
		d.record(r, true)
		d.do("SET", "outer", "1")
		before := d.dump()
		for about, write := range writes {
			for _, excess := range excesses {
				source := "local k = KEYS[1] or ARGV[1] " + write + " " + excess.source
				for name, run := range map[string]func() string{
					"here": func() string { return d.do("EVAL", source, "1", key) },
					"beyond": func() string {
						return d.do("EVAL", "redis.call('SET', 'other', 2) redis.call('DEL', 'another') "+source, "0", key)
					},
					"in EXEC": func() string {
						d.do("MULTI")
						d.do("GET", "outer")
						d.do("EVAL", source, "1", key)
						return strings.TrimPrefix(d.do("EXEC"), "1) \"1\"\n2) ")
					},
				} {
					effects, inverses := r.sizes()
					if got, want := run(), told(excess.told, excess.limit); got != want {
						t.Fatalf("%d shards, %s, %s, %s: %s, want %s", shards, about, excess.name, name, got, want)
					}
					if after := d.dump(); after != before {
						t.Fatalf("%d shards, %s, %s, %s: changed\n%sfrom\n%s", shards, about, excess.name, name, after, before)
					}
					if e, i := r.sizes(); e != effects || i != inverses {
						t.Fatalf("%d shards, %s, %s, %s: %d bytes of effects and %d inverses, before %d and %d", shards, about, excess.name, name, e, i, effects, inverses)
					}
				}
			}
		}
		d.takeBack(r)
		if d.do("EXISTS", "outer") != "(integer) 0" {
			t.Errorf("%d shards: what was armed before does not take back what came before", shards)
		}
	}
}

// sizes are the bytes of effects and the number of inverses of all shards.
func (r *recording) sizes() (effects, inverses int) {
	for i := range r.effects {
		effects += r.effects[i].Len()
		inverses += r.undo[i].Len()
	}
	return effects, inverses
}

// takeBack undoes what was recorded.
func (d *desk) takeBack(r *recording) {
	d.engine.Each(func(i int, ks *shard.Keyspace, _ *Stats) {
		ks.Record(nil)
		ks.Arm(nil)
		ks.Undo(&r.undo[i])
	})
}

// A script that takes too long has changed nothing either.
func TestSlowScriptsChangeNothing(t *testing.T) {
	d := scriptDesk(t, 4, Limits{ScriptTime: 20 * time.Millisecond})
	d.prelude("k")
	before := d.dump()
	for about, write := range writes {
		source := "local k = KEYS[1] or ARGV[1] " + write + " while true do pcall(string.rep, 'x', 3) end"
		for _, call := range [][]string{{"EVAL", source, "1", "k"}, {"EVAL", source, "0", "k"}} {
			if got, want := d.do(call...), told(ScriptTime, 20*time.Millisecond); got != want {
				t.Errorf("%s: %s, want %s", about, got, want)
			}
		}
		if after := d.dump(); after != before {
			t.Fatalf("%s: changed\n%sfrom\n%s", about, after, before)
		}
	}
}

// Filling a database and flushing it over and over holds what was flushed: it
// counts. One flush of what was there does not.
func TestFlushesCountAsMemory(t *testing.T) {
	d := scriptDesk(t, 1, withinLimits)
	d.do("SET", "old", strings.Repeat("v", 8<<20))
	before := d.dump()
	got := d.do("EVAL", "local v = ('v'):rep(100000) for i = 1, 50 do redis.call('SET', 'k', v) redis.call('FLUSHALL') end", "0")
	if want := told(ScriptBytes, 1<<20); got != want || d.dump() != before {
		t.Errorf("%s, want %s", got, want)
	}
	if got := d.do("EVAL", "return redis.call('FLUSHALL')", "0"); got != "OK" || d.dump() != "" {
		t.Errorf("one flush: %s", got)
	}
}

// Recursion and nesting end in errors that a script can catch, and the next script
// runs as ever.
func TestDeepScriptsFail(t *testing.T) {
	d := newDesk(t, 1)
	for _, source := range []string{
		"local function f() return 1 + f() end f()",
		"local function f() pcall(f) end f() error('unwound')",
		"local t = setmetatable({}, {__index = function(t, k) return t[k .. 'x'] end}) return t.x",
		"local function f(s) return (s:gsub('.', f)) end f('x')",
		"local t = {} for i = 1, 5000 do t = {t} end return cjson.encode(t)",
		"return cjson.decode(('['):rep(100000))",
		"local t = {} t[1] = t return cjson.encode(t)",
		"return loadstring(('('):rep(100000))() ",
		"return loadstring('return ' .. ('{'):rep(100000))()",
		"return loadstring('return ' .. ('- '):rep(100000) .. '1')()",
		"return loadstring('return ' .. ('1^'):rep(100000) .. '1')()",
		"return loadstring('return ' .. ('not '):rep(100000) .. '1')()",
		"return loadstring(('do '):rep(100000))()",
		"return loadstring(('f('):rep(100000))()",
		"return loadstring(('function f() '):rep(100000))()",
		"return loadstring('return ' .. (\"''..\"):rep(100000) .. \"''\")()",
		"local t = {} for i = 1, 300 do t[i] = i end table.sort(t, function(a, b) table.sort(t, function() return true end) return true end) error('sorted')",
		"local function f() return coroutine.wrap(f)() end f()",
		"return cmsgpack.unpack(('\\145'):rep(100000))",
		"local t = {} t.t = t cmsgpack.pack(t) error('packed')",
		"return string.rep('x', 100):find(('(x)'):rep(40))",
		"return ('x'):rep(300000):match(('(.-)'):rep(30) .. 'y')",
		"return tostring(setmetatable({}, {__tostring = function(t) return tostring(t) end}))",
		"local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x",
		"local t = setmetatable({}, {}) getmetatable(t).__call = t return t()",
	} {
		if got := d.do("EVAL", source, "0"); !strings.HasPrefix(got, "(error) ") {
			t.Errorf("%s: %.100s", source, got)
		}
		if got := d.do("EVAL", "return redis.call('INCR', KEYS[1])", "1", "n"); !strings.HasPrefix(got, "(integer) ") {
			t.Fatalf("after %s: %s", source, got)
		}
	}
	if got := d.do("EVAL", "local t = {} t[1] = t return t", "0"); !strings.Contains(got, "stack") {
		t.Errorf("a table within itself: %.100s", got)
	}
}

// faulty is a host whose commands have a fault.
type faulty struct{}

func (faulty) Call([][]byte, int, []byte) []byte       { panic("a fault") }
func (faulty) Allowed([][]byte) (allowed, exists bool) { return true, true }
func (faulty) Log(int, string)                         {}

// A fault in a command ends the process, in a script as everywhere: no pcall
// hides it, and half a change is never kept.
func TestFaultsAreNotHidden(t *testing.T) {
	s, err := script.Compile([]byte("return pcall(redis.call, 'GET', 'k')"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); fmt.Sprint(r) != "a fault" {
			t.Errorf("recovered %v", r)
		}
	}()
	err = script.NewMachine(script.Options{}).Run(s, nil, nil, faulty{}, &resp.Writer{})
	t.Errorf("it goes on, with %v", err)
}

package script

import (
	"errors"
	"slices"
	"testing"

	"github.com/limitstore/limitstore/resp"
)

// nosy are scripts that try to leave something for the next one, or to break what
// is shared.
var nosy = []string{
	"x = 1", "_G.x = 1", "rawset(_G, 'x', 1)", "string.x = 1", "getmetatable('').x = 1", "getmetatable('').__index = {}",
	"getmetatable(_G).__index = nil", "setmetatable(_G, nil)", "redis.call = nil", "cjson.null = 1", "table.insert(math, 1)",
	"cjson.encode_max_depth(1) cjson.encode_number_precision(3) cjson.encode_sparse_array(true)", "math.randomseed(7)",
	"redis.setresp(3)", "KEYS[1] = 'mine' ARGV[5] = 'mine'", "setmetatable(KEYS, {__index = function() return 'mine' end})",
	"local co = coroutine.create(function() coroutine.yield() end) coroutine.resume(co)",
	"error('x')", "local t = {} t.x.y = 1", "local function f() return f() + 1 end f()",
	"table.sort({3, 1, {}})", "table.sort({2, 1, 3}, function() error('x') end)", "coroutine.wrap(function() error({}) end)()",
	"local s = ('x'):rep(20000) return s", "local t = {} for i = 1, 2000 do t[i] = {i} end return t",
}

// observations is a script that tells all that a script before it could have
// changed.
const observations = `
local t = {}
for k in pairs(_G) do t[#t + 1] = k end
for _, lib in ipairs({'string', 'table', 'math', 'cjson', 'redis'}) do
  for k, v in pairs(_G[lib]) do t[#t + 1] = lib .. k .. type(v) end
end
table.sort(t)
t[#t + 1] = tostring(rawget(_G, 'x')) .. tostring(string.x) .. tostring(('x').x) .. #KEYS .. #ARGV .. tostring(KEYS[1])
t[#t + 1] = cjson.encode({{{1.23456789}}}) .. math.random() .. tostring(getmetatable(KEYS))
t[#t + 1] = tostring({}) .. tostring(string.rep) .. tostring(string) .. collectgarbage('count')
t[#t + 1] = true
t[#t + 1] = select(2, pcall(function() local u = nil; u.x = 1 end))
return t`

// TestNothingIsLeftForTheNextScript compares what a script sees on a machine that
// others used with what it sees on a new one.
func TestNothingIsLeftForTheNextScript(t *testing.T) {
	want, err := run(t, NewMachine(Options{}), observations)
	if err != nil {
		t.Fatal(err)
	}
	used := NewMachine(Options{})
	for _, source := range nosy {
		_, _ = run(t, used, source)
		if got, err := run(t, used, observations); err != nil || got != want {
			t.Errorf("after %s: %v\n got %q\nwant %q", source, err, got, want)
		}
	}
}

// TestAScriptServesManyMachines runs one script on machines in parallel, for the
// race detector.
func TestAScriptServesManyMachines(t *testing.T) {
	s, err := Compile([]byte("local t = {a = ARGV[1], b = 'x' .. 1} local r = 0 for i = 1, 100 do r = r + #t.b end return {t.a, r}"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan string)
	for range 4 {
		go func() {
			m, w := NewMachine(Options{}), &resp.Writer{}
			for range 100 {
				w.Truncate(0)
				if err := m.Run(s, nil, words("v"), commandless{}, w); err != nil {
					done <- err.Error()
					return
				}
			}
			done <- string(w.Bytes())
		}()
	}
	for range 4 {
		if got := <-done; got != "*2\r\n$1\r\nv\r\n:200\r\n" {
			t.Errorf("%q", got)
		}
	}
}

func TestARunDoesNotAllocate(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		args   []string
	}{
		"GCRA":         {gcraScript, []string{"10", "10", "60", "1"}},
		"token bucket": {bucketScript, []string{"10", "100", "1783228801.25", "1"}},
		"increment":    {incrScript, []string{"60000"}},
	} {
		s, err := Compile([]byte(c.source))
		if err != nil {
			t.Fatal(err)
		}
		m, w := NewMachine(Options{}), &resp.Writer{}
		keys, args := words("k"), words(c.args...)
		if n := testing.AllocsPerRun(100, func() {
			w.Truncate(0)
			if err := m.Run(s, keys, args, canned{}, w); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func TestKeysAndArguments(t *testing.T) {
	s, err := Compile([]byte("return {KEYS[1], KEYS[2], #KEYS, ARGV[1], #ARGV}"))
	if err != nil {
		t.Fatal(err)
	}
	var w resp.Writer
	if err := NewMachine(Options{}).Run(s, words("a", "b\x00"), words("1"), commandless{}, &w); err != nil {
		t.Fatal(err)
	}
	if got := string(w.Bytes()); got != "*5\r\n$1\r\na\r\n$2\r\nb\x00\r\n:2\r\n$1\r\n1\r\n:1\r\n" {
		t.Errorf("%q", got)
	}
}

func TestCompile(t *testing.T) {
	s, err := Compile([]byte("#!lua flags=no-writes,allow-stale\nreturn nope"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Flags(), []string{"no-writes", "allow-stale"}) || !s.HasFlags() {
		t.Errorf("flags %q", s.Flags())
	}
	one, err := Compile([]byte("return 1"))
	if err != nil || one.SHA() != "e0e1f9fabfc9d4800c877a703b823ac0578ff8db" || one.Flags() != nil || one.HasFlags() {
		t.Errorf("return 1: SHA %s, flags %q, %v", one.SHA(), one.Flags(), err)
	}
	var e *Error
	if err := NewMachine(Options{}).Run(s, nil, nil, commandless{}, &resp.Writer{}); !errors.As(err, &e) || e.Line != 2 {
		t.Errorf("%v: an error on the second line", err)
	}
}

// TestShebangAsRedis wants what redis-server answers to first lines.
func TestShebangAsRedis(t *testing.T) {
	redis := startRedis(t)
	m := NewMachine(Options{})
	for _, source := range []string{
		"#!lua\nreturn 1", "#!lua name=x\nreturn 1", "#!lua flags=\nreturn 1", "#!lua flags=no-writes\nreturn 1", "#!lua flags=no-writes,allow-oom\nreturn 1",
		"#!lua flags=nope\nreturn 1", "#!js\nreturn 1", "#!lua", "#!\nreturn 1", "#!lua flags=no-writes \nreturn 1", "#!lua what\nreturn 1",
		"#!lua\nreturn x", "#!lua\n\nx x", "# comment\nreturn 1", "#!lua flags=no-writes flags=allow-oom\nreturn 1",
	} {
		if got, want := reply(m, source), redis.eval(t, source); got != want {
			t.Errorf("%q\n got %q\nwant %q", source, got, want)
		}
	}
}

// TestAPanicIsAnError lets the host break its promise.
func TestAPanicIsAnError(t *testing.T) {
	s, err := Compile([]byte("return pcall(redis.call, 'X')"))
	if err != nil {
		t.Fatal(err)
	}
	var w resp.Writer
	err = NewMachine(Options{}).Run(s, nil, nil, broken{}, &w)
	if !errors.Is(err, ErrFailed) || w.Len() != 0 {
		t.Errorf("%v, %q", err, w.Bytes())
	}
}

// broken is a Host that answers half a reply.
type broken struct{ commandless }

func (broken) Call(_ [][]byte, _ int, reply []byte) []byte { return append(reply, "*3\r\n:1\r\n"...) }

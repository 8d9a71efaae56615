package script

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/limitstore/limitstore/resp"
)

// run runs a source without keys and returns the reply and the error.
func run(t testing.TB, m *Machine, source string) (string, error) {
	t.Helper()
	s, err := Compile([]byte(source))
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	var w resp.Writer
	w.Reset(resp.RESP2)
	err = m.Run(s, nil, nil, commandless{}, &w)
	return string(w.Bytes()), err
}

// greedy are scripts that want more than they may have.
var greedy = map[error][]string{
	ErrSteps: {
		"while true do end",
		"repeat until false",
		"for i = 1, 1e18 do end",
		"local function f() return f() end f()",
		"local t = {} for i = 1, 100 do t[i] = i end while true do table.sort(t, function(a, b) return a < b end) end",
		"while true do pcall(error) end",
		"pcall(function() while true do end end)",
		"xpcall(function() while true do end end, function() end)",
		"local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do co() end",
		"local t = setmetatable({}, {__index = function(t, k) return k end}) while true do local x = t[1] end",
		"local s = ('a'):rep(30) return s:find(('a?'):rep(30) .. ('a'):rep(30) .. 'b')",
		"local s = ('a'):rep(2000) return s:find('.-.-.-.-.-b')",
		"local s = ('a'):rep(2000) return s:gsub('.*.*.*.*b', '')",
		"local s = ('('):rep(1e5) return s:gsub('%b()', '')",
		"local s = ('x'):rep(1e6) while true do local r = s:reverse() s:find('y', 1, true) end",
		"return unpack({}, 1, 7000), (function() while true do unpack({}, 1, 7000) end end)()",
		"local t = {} for i = 1, 1e4 do t[i] = i end while true do table.insert(t, 1, 0) table.remove(t, 1) end",
		"local t = {} for i = 1, 1e5 do t[i] = 1 end while true do cjson.encode(t) end",
		"for i = 1, 1e9 do redis.pcall('PING') end",
		"while true do loadstring('return 1') end",
		"local t = {} for i = 1, 1e5 do t[i] = i end for i = 1, 1e9 do table.maxn(t) end",
	},
	ErrBytes: {
		"return ('a'):rep(1e10)",
		"local s = 'a' while true do s = s .. s end",
		"local s = 'a' while true do s = s .. 1 .. s end",
		"local t = {} for i = 1, 1e9 do t[i] = i end",
		"local t = {} for i = 1, 1e9 do t['k' .. i] = i end",
		"local t = {} while true do t = {t} end",
		"local t = {} while true do t[#t+1] = function() return t end end",
		"local t = {} while true do t[#t+1] = coroutine.create(function() end) end",
		"return cjson.decode('[' .. ('1,'):rep(2e7) .. '1]')",
		"local s = ('x'):rep(1e7) local t = {} for i = 1, 100 do t[i] = s end return #cjson.encode(t)",
		"local s = ('x'):rep(1e7) local t = {} for i = 1, 100 do t[i] = s end return #table.concat(t)",
		"local s = ('x'):rep(1e7) local t = {} for i = 1, 100 do t[i] = s end return #cmsgpack.pack(t)",
		"local s = ('x'):rep(1e7) return #s:gsub('x', s)",
		"return #string.format('%s%s', ('x'):rep(1e8), ('x'):rep(1e8))",
		"local s = ('x'):rep(1e7) while true do s:upper() end",
		"return struct.pack(('c0'):rep(100), unpack((function() local t = {} for i = 1, 100 do t[i] = ('x'):rep(1e6) end return t end)(), 1, 100)), ('x'):rep(1e9)",
		"local t = {} while true do t[#t+1] = redis.sha1hex('x') .. ('y'):rep(1000) end",
		"return loadstring('return ' .. ('1,'):rep(5e6) .. '1')",
	},
}

// TestGreedyScriptsAreStopped wants the limit that each runs into, under limits
// small enough for a test.
func TestGreedyScriptsAreStopped(t *testing.T) {
	for want, sources := range greedy {
		for _, source := range sources {
			limits := Limits{Steps: 3_000_000, Bytes: 1 << 40}
			if want == ErrBytes {
				limits = Limits{Steps: 1 << 40, Bytes: 64 << 20}
			}
			out, err := run(t, NewMachine(Options{Limits: limits}), source)
			if !errors.Is(err, want) || out != "" {
				t.Errorf("%s: %q, %v; want %v", source, out, err, want)
			}
		}
	}
}

// deep are scripts that go deeper than there is room for; they fail as in Lua.
var deep = map[string]string{
	"local function f() return 1 + f() end f()":                                                        "stack overflow",
	"local t = setmetatable({}, {__index = function(t, k) return t[k] end}) return t.x":                "C stack overflow",
	"local function f() local ok, e = pcall(f) if not ok then error(e, 0) end end f()":                 "C stack overflow",
	"local function f() local co = coroutine.wrap(f) co() end f()":                                     "C stack overflow",
	"local function f() ('x'):gsub('x', f) end f()":                                                    "C stack overflow",
	"local m = {} m.__lt = function(a, b) return a < b end local a = setmetatable({}, m) return a < a": "C stack overflow",
	"return ('x'):rep(3e5):find(('x?'):rep(1e5))":                                                      "pattern too complex",
	"return loadstring(('('):rep(1e6))()":                                                              "attempt to call a nil value",
	"return cjson.decode(('['):rep(1e6))":                                                              "Found too many nested data structures",
	"cjson.decode_max_depth(1e9) return cjson.decode(('['):rep(1e6))":                                  "Found too many nested data structures (5001)",
	"cjson.encode_max_depth(1e9) local t = {} t[1] = t return cjson.encode(t)":                         "excessive nesting (5001)",
	"local f, e = loadstring('return 1' .. ('+x'):rep(1e5)) error(e, 0)":                               "chunk has too many syntax levels",
	"local f, e = loadstring('return x' .. ('.x'):rep(1e5)) error(e, 0)":                               "chunk has too many syntax levels",
	"local f, e = loadstring('return x' .. ('()'):rep(1e5)) error(e, 0)":                               "chunk has too many syntax levels",
	"return cmsgpack.unpack(('\\145'):rep(1e6))":                                                       "stack overflow",
}

func TestDeepScriptsFail(t *testing.T) {
	for source, want := range deep {
		_, err := run(t, NewMachine(Options{}), source)
		if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Text, want) {
			t.Errorf("%s: %v, want %q", source, err, want)
		}
	}
}

func TestATableInItselfIsCutInAReply(t *testing.T) {
	out, err := run(t, NewMachine(Options{}), "local t = {} t[1] = t return t")
	if err != nil || !strings.HasSuffix(out, "-ERR reached lua stack limit\r\n") {
		t.Errorf("%.40q, %v", out, err)
	}
}

// endless is a script that pcall does not save.
const endless = "while true do pcall(function() while true do end end) end"

func TestAScriptIsKilled(t *testing.T) {
	asked := 0
	m := NewMachine(Options{Killed: func() bool { asked++; return asked == 3 }})
	if _, err := run(t, m, endless); !errors.Is(err, ErrKilled) || asked != 3 {
		t.Errorf("%v after %d questions", err, asked)
	}
}

func TestAScriptRunsOutOfTime(t *testing.T) {
	now := time.Duration(0)
	m := NewMachine(Options{Limits: Limits{Duration: time.Second}, Now: func() time.Duration {
		now += 400 * time.Millisecond
		return now
	}})
	if _, err := run(t, m, endless); !errors.Is(err, ErrDuration) || now != 1600*time.Millisecond {
		t.Errorf("%v at %v", err, now)
	}
}

// TestStepsAreExact counts the turns of a loop whose body has a known length.
func TestStepsAreExact(t *testing.T) {
	steps := func(turns string) int64 {
		m := NewMachine(Options{Limits: Limits{Steps: 1 << 40}})
		if _, err := run(t, m, "for i = 1, "+turns+" do end"); err != nil {
			t.Fatal(err)
		}
		return m.options.Limits.Steps - m.steps + int64(m.granted-m.fuel)
	}
	if per := (steps("2000000") - steps("1000000")); per != 1_000_000 {
		t.Errorf("a million empty turns took %d steps", per)
	}
}

// TestAfterAStopTheMachineIsAsNew runs what was stopped and then something else.
func TestAfterAStopTheMachineIsAsNew(t *testing.T) {
	m := NewMachine(Options{Limits: Limits{Steps: 100_000, Bytes: 10 << 20}})
	for _, sources := range greedy {
		for _, source := range sources {
			if _, err := run(t, m, source); err == nil {
				t.Errorf("%s: not stopped", source)
			}
			if out, err := run(t, m, "return {1, 'x', #{1,2,3}}"); out != "*3\r\n:1\r\n$1\r\nx\r\n:3\r\n" || err != nil {
				t.Fatalf("after %s: %q, %v", source, out, err)
			}
		}
	}
}

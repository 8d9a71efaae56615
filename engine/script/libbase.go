package script

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// open makes the globals, once; they are read-only from then on.
func (m *Machine) open() {
	setup := &heap{left: 1 << 40, lasting: true}
	used := m.heap
	m.heap, m.main.heap = setup, setup
	m.globals = m.library(baseLibrary())
	m.nextFn, m.iterFn = m.globals.get(constant("next")), m.heap.native(iterate)
	names := constants(strings.Fields("KEYS ARGV redis server")...)
	m.keysName, m.argvName, m.redisName, m.serverName = names[0], names[1], names[2], names[3]
	m.setGlobal("_G", value{o: &m.globals.obj})
	m.setGlobal("_VERSION", constant("Lua 5.1"))
	libs := map[string]func() *table{
		"string": m.stringLibrary, "math": m.mathLibrary, "cjson": m.jsonLibrary, "cmsgpack": m.msgpackLibrary,
		"redis": m.redisLibrary,
		"table": func() *table { return m.library(tableLibrary()) }, "bit": func() *table { return m.library(bitLibrary()) },
		"coroutine": func() *table { return m.library(coroutineLibrary()) }, "struct": func() *table { return m.library(structLibrary()) },
	}
	for _, name := range slices.Sorted(maps.Keys(libs)) {
		lib := libs[name]()
		lib.readonly = true
		m.setGlobal(name, value{o: &lib.obj})
	}
	m.redisTable, m.loadTable = m.globals.get(m.redisName).table(), m.registerLibrary()
	m.setRedis(m.redisTable)
	m.globals.set(m.keysName, boolean(false)) // so that a run only replaces them
	m.globals.set(m.argvName, boolean(false))
	meta := m.library(map[string]builtin{"__index": missingGlobal})
	meta.readonly = true
	m.globals.meta, m.globals.readonly = meta, true
	m.heap, m.main.heap = used, used
}

func (m *Machine) setGlobal(name string, v value) { m.globals.set(constant(name), v) }

// missingGlobal is what reading an undefined global calls.
func missingGlobal(t *thread, args []value) []value {
	t.fail("Script attempted to access nonexistent global variable '%s'", t.wantString(args, 1))
	return nil
}

func baseLibrary() map[string]builtin {
	return map[string]builtin{
		"assert": assert, "collectgarbage": collectgarbage, "error": raise, "gcinfo": gcinfo, "getmetatable": getmetatable,
		"ipairs": ipairs, "load": load, "loadstring": loadstring, "next": next, "pairs": pairs, "pcall": pcall,
		"rawequal": rawequal, "rawget": rawget, "rawset": rawset, "select": selectArgs, "setmetatable": setmetatable,
		"tonumber": tonumber, "tostring": tostring, "type": typeOf, "unpack": unpack, "xpcall": xpcall,
		"__redis__err__handler": wrapError,
	}
}

// wrapError makes a table with a message of an error, as Redis' handler does.
func wrapError(t *thread, args []value) []value {
	v := arg(args, 0)
	if v.table() != nil {
		return t.one(v)
	}
	tab := t.heap.table(0, 1)
	tab.setText("err", t.heap.text("ERR "+describeValue(t.heap, v)))
	return t.one(value{o: &tab.obj})
}

func assert(t *thread, args []value) []value {
	if t.wantAny(args, 0).isFalse() {
		message := []byte("assertion failed!")
		if given(args, 1) {
			message = t.wantString(args, 1)
		}
		t.fail("%s", message)
	}
	return args
}

func collectgarbage(t *thread, args []value) []value {
	option := "collect"
	if given(args, 0) {
		option = string(t.wantString(args, 0))
	}
	switch option {
	case "count":
		return t.one(number(t.m.used() / 1024))
	case "collect", "stop", "restart", "setpause", "setstepmul":
		return t.one(number(0))
	case "step":
		return t.one(boolean(true))
	}
	t.failArg(0, "invalid option '%s'", option)
	return nil
}

func gcinfo(t *thread, _ []value) []value { return t.one(number(float64(int(t.m.used() / 1024)))) }

// used is how many bytes the run has taken.
func (m *Machine) used() float64 { return float64(m.options.Limits.Bytes - m.heap.left) }

func raise(t *thread, args []value) []value {
	v, level := arg(args, 0), t.optInt(args, 1, 1)
	if isText(v) && level > 0 {
		v = t.heap.text(t.where(level) + string(appendText(nil, v)))
	}
	t.throw(v)
	return nil
}

func getmetatable(t *thread, args []value) []value {
	meta := t.metatable(t.wantAny(args, 0))
	if meta == nil {
		return t.one(value{})
	}
	if hidden := meta.getString(eventNames[eventMetatable].o); !hidden.isNil() {
		return t.one(hidden)
	}
	return t.one(value{o: &meta.obj})
}

func setmetatable(t *thread, args []value) []value {
	tab := t.wantTable(args, 0)
	meta := arg(args, 1)
	if len(args) < 2 || !meta.isNil() && meta.table() == nil {
		t.failArg(1, "nil or table expected")
	}
	if tab.meta != nil && !tab.meta.getString(eventNames[eventMetatable].o).isNil() {
		t.fail("cannot change a protected metatable")
	}
	if tab.readonly {
		t.failBare("Attempt to modify a readonly table")
	}
	tab.meta = meta.table()
	return args[:1]
}

func pairs(t *thread, args []value) []value {
	t.wantTable(args, 0)
	return t.three(t.m.nextFn, args[0], value{})
}

func next(t *thread, args []value) []value {
	key, val, ok := t.wantTable(args, 0).next(arg(args, 1))
	if !ok {
		t.failBare("invalid key to 'next'")
	}
	if key.isNil() {
		return t.one(value{})
	}
	return t.two(key, val)
}

func ipairs(t *thread, args []value) []value {
	t.wantTable(args, 0)
	return t.three(t.m.iterFn, args[0], number(0))
}

// iterate is the function that ipairs returns.
func iterate(t *thread, args []value) []value {
	i := t.wantInt(args, 1) + 1
	v := t.wantTable(args, 0).getInt(i)
	if v.isNil() {
		return nil
	}
	return t.two(number(float64(i)), v)
}

// loadstring compiles a string.
func loadstring(t *thread, args []value) []value {
	src := t.wantString(args, 0)
	name := src
	if given(args, 1) {
		name = t.wantString(args, 1)
	}
	return t.load(src, name)
}

// load compiles what a function returns piece by piece.
func load(t *thread, args []value) []value {
	fn := t.wantFunction(args, 0)
	name := []byte("=(load)")
	if given(args, 1) {
		name = t.wantString(args, 1)
	}
	src := buffer{heap: t.heap}
	for {
		piece := first(t.callback(fn))
		if piece.isNil() || piece.isString() && len(piece.o.str) == 0 {
			return t.load(src.b, name)
		}
		if !isText(piece) {
			return t.two(value{}, t.heap.text("reader function must return a string"))
		}
		src.add(appendText(nil, piece))
	}
}

// sourceFactor is how many bytes a function takes for one of its source.
const sourceFactor = 40

func (t *thread) load(src, name []byte) []value {
	t.m.spend(len(src))
	t.heap.take(len(src) * sourceFactor)
	if len(src) > 0 && src[0] == 0x1b {
		return t.two(value{}, t.heap.text("attempt to load chunk with wrong mode"))
	}
	p, err := compile(string(name), chunkText(name), src)
	if err != nil {
		return t.two(value{}, t.heap.text(err.Error()))
	}
	return t.one(value{o: &t.heap.closure(p).obj})
}

// longestChunk is how long the name of a chunk can be in messages.
const longestChunk = 60

// chunkText is how messages show the name of a chunk: a text by its first line.
func chunkText(name []byte) string {
	if len(name) > 0 && (name[0] == '=' || name[0] == '@') {
		return string(name[1:min(len(name), longestChunk)])
	}
	line := name
	if end := bytes.IndexAny(name, "\r\n"); end >= 0 {
		line = name[:end]
	}
	room := longestChunk - len(`[string "..."] `) - 2
	if len(line) < len(name) || len(line) > room {
		return `[string "` + string(line[:min(len(line), room)]) + `..."]`
	}
	return `[string "` + string(line) + `"]`
}

// pcall is Redis' own: of an error that is a table with a message it returns the
// message.
func pcall(t *thread, args []value) []value {
	if len(args) == 0 {
		return t.one(boolean(false))
	}
	results, err := t.protect(func() []value { return t.callback(args[0], args[1:]...) })
	if err != nil {
		if tab := err.v.table(); tab != nil && isText(tab.getString(errName.o)) {
			return t.two(boolean(false), tab.getString(errName.o))
		}
		return t.two(boolean(false), err.v)
	}
	return append([]value{boolean(true)}, results...)
}

func xpcall(t *thread, args []value) []value {
	fn, handler := arg(args, 0), t.wantAny(args, 1)
	results, err := t.protect(func() []value { return t.callback(fn) })
	if err != nil {
		handled, err := t.protect(func() []value { return t.callback(handler, err.v) })
		if err != nil {
			return t.two(boolean(false), t.heap.text("error in error handling"))
		}
		return t.two(boolean(false), first(handled))
	}
	return append([]value{boolean(true)}, results...)
}

func rawequal(t *thread, args []value) []value {
	return t.one(boolean(same(t.wantAny(args, 0), t.wantAny(args, 1))))
}

func rawget(t *thread, args []value) []value {
	return t.one(t.wantTable(args, 0).get(t.wantAny(args, 1)))
}

func rawset(t *thread, args []value) []value {
	tab := t.wantTable(args, 0)
	t.setBare(tab, t.wantAny(args, 1), t.wantAny(args, 2))
	return args[:1]
}

func selectArgs(t *thread, args []value) []value {
	if v := arg(args, 0); v.isString() && string(v.o.str) == "#" {
		return t.one(number(float64(len(args) - 1)))
	}
	n := t.wantInt(args, 0)
	switch {
	case n < 0:
		n += len(args)
	case n > len(args):
		n = len(args)
	}
	if n < 1 {
		t.failArg(0, "index out of range")
	}
	return args[n:]
}

func tonumber(t *thread, args []value) []value {
	base := t.optInt(args, 1, 10)
	if base == 10 {
		if n, ok := toNumber(t.wantAny(args, 0)); ok {
			return t.one(number(n))
		}
		return t.one(value{})
	}
	s := t.wantString(args, 0)
	if base < 2 || base > 36 {
		t.failArg(1, "base out of range")
	}
	if n, ok := parseBase(s, base); ok {
		return t.one(number(n))
	}
	return t.one(value{})
}

func tostring(t *thread, args []value) []value {
	v := t.wantAny(args, 0)
	if v.isString() {
		return t.one(v)
	}
	if v.isNumber() {
		return t.one(t.numberText(v.n))
	}
	if handler := t.metamethod(v, eventTostring); !handler.isNil() {
		return t.one(first(t.callback(handler, v)))
	}
	return t.one(t.heap.text(describeValue(t.heap, v)))
}

// numberText is a number as a string.
func (t *thread) numberText(n float64) value {
	var b [maxNumber]byte
	return t.heap.copied(appendNumber(b[:0], n))
}

// describeValue is tostring without metamethods.
func describeValue(h *heap, v value) string {
	switch v.kind() {
	case kindNil:
		return "nil"
	case kindBool:
		return fmt.Sprint(v.n != 0)
	case kindNumber, kindString:
		return string(appendText(nil, v))
	case kindUserdata:
		return "userdata: (nil)"
	}
	return fmt.Sprintf("%s: 0x%012x", v.typeName(), 0x7f0000000000+int64(h.identity(v.o))*0x20)
}

func typeOf(t *thread, args []value) []value {
	return t.one(typeNames[t.wantAny(args, 0).kind()])
}

// typeNames are what type returns.
var typeNames = constants(kindNames[:]...)

func unpack(t *thread, args []value) []value {
	tab := t.wantTable(args, 0)
	from, to := t.optInt(args, 1, 1), 0
	if given(args, 2) {
		to = t.wantInt(args, 2)
	} else {
		to = tab.length()
	}
	if from > to {
		return nil
	}
	n := to - from + 1
	if n <= 0 || n+len(args) > maxValues {
		t.fail("too many results to unpack")
	}
	t.m.spend(n)
	list := t.heap.vector(n)
	for i := range list {
		list[i] = tab.getInt(from + i)
	}
	return list
}

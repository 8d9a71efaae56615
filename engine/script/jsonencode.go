package script

import (
	"fmt"
	"math"
)

// jsonSettings are what the functions of cjson set. They are as new in each run.
type jsonSettings struct {
	sparseConvert bool
	sparseRatio   int
	sparseSafe    int
	encodeDepth   int
	decodeDepth   int
	encodeInvalid string // off, on or null
	decodeInvalid bool
	precision     int
	keepBuffer    bool
}

// maxJSONDepth is how deep tables may lie in each other whatever a script sets.
const maxJSONDepth = 5000

func defaultJSON() jsonSettings {
	return jsonSettings{
		sparseRatio: 2, sparseSafe: 10, encodeDepth: 1000, decodeDepth: 1000, encodeInvalid: "off", decodeInvalid: true,
		precision: 14, keepBuffer: true,
	}
}

func (m *Machine) jsonLibrary() *table {
	tab := m.library(map[string]builtin{
		"encode": jsonEncode, "decode": jsonDecode, "new": jsonNew, "encode_sparse_array": jsonSparse,
		"encode_max_depth":        jsonInt(func(j *jsonSettings) *int { return &j.encodeDepth }, math.MaxInt32),
		"decode_max_depth":        jsonInt(func(j *jsonSettings) *int { return &j.decodeDepth }, math.MaxInt32),
		"encode_number_precision": jsonInt(func(j *jsonSettings) *int { return &j.precision }, 14),
		"encode_keep_buffer":      jsonFlag(func(j *jsonSettings) *bool { return &j.keepBuffer }),
		"decode_invalid_numbers":  jsonFlag(func(j *jsonSettings) *bool { return &j.decodeInvalid }),
		"encode_invalid_numbers":  jsonInvalid,
	})
	tab.set(constant("null"), value{o: &nullObj})
	tab.set(constant("_NAME"), constant("cjson"))
	tab.set(constant("_VERSION"), constant("2.1.0"))
	return tab
}

// jsonNew returns the same library: its settings are those of the run.
func jsonNew(t *thread, _ []value) []value { return t.one(t.m.globals.get(constant("cjson"))) }

// jsonInt makes a builtin that sets and returns a number.
func jsonInt(which func(*jsonSettings) *int, top int) builtin {
	return func(t *thread, args []value) []value {
		n := which(&t.m.json)
		t.jsonArgs(args, 1)
		if given(args, 0) {
			*n = t.jsonRange(args, 0, 1, top)
		}
		return t.one(number(float64(*n)))
	}
}

func (t *thread) jsonArgs(args []value, most int) {
	if len(args) > most {
		t.failArg(most, "found too many arguments")
	}
}

func (t *thread) jsonRange(args []value, i, low, high int) int {
	n := t.wantInt(args, i)
	if n < low || n > high {
		t.failArg(i, "expected integer between %d and %d", low, high)
	}
	return n
}

func jsonFlag(which func(*jsonSettings) *bool) builtin {
	return func(t *thread, args []value) []value {
		b := which(&t.m.json)
		t.jsonArgs(args, 1)
		if given(args, 0) {
			*b = t.jsonOption(args, 0, "off", "on") == "on"
		}
		return t.one(boolean(*b))
	}
}

// jsonOption is an argument that is a boolean or one of the words.
func (t *thread) jsonOption(args []value, i int, words ...string) string {
	if args[i].kind() == kindBool {
		return words[int(args[i].n)]
	}
	s := string(t.wantString(args, i))
	for _, word := range words {
		if s == word {
			return s
		}
	}
	t.failArg(i, "invalid option '%s'", s)
	return ""
}

func jsonInvalid(t *thread, args []value) []value {
	t.jsonArgs(args, 1)
	j := &t.m.json
	if given(args, 0) {
		j.encodeInvalid = t.jsonOption(args, 0, "off", "on", "null")
	}
	if j.encodeInvalid == "null" {
		return t.one(constant("null"))
	}
	return t.one(boolean(j.encodeInvalid == "on"))
}

func jsonSparse(t *thread, args []value) []value {
	j := &t.m.json
	t.jsonArgs(args, 3)
	if given(args, 0) {
		j.sparseConvert = t.jsonOption(args, 0, "off", "on") == "on"
	}
	if given(args, 1) {
		j.sparseRatio = t.jsonRange(args, 1, 0, math.MaxInt32)
	}
	if given(args, 2) {
		j.sparseSafe = t.jsonRange(args, 2, 0, math.MaxInt32)
	}
	return t.three(boolean(j.sparseConvert), number(float64(j.sparseRatio)), number(float64(j.sparseSafe)))
}

func jsonEncode(t *thread, args []value) []value {
	if len(args) != 1 {
		t.failArg(0, "expected 1 argument")
	}
	e := encoder{t: t, buffer: buffer{heap: t.heap}}
	e.encode(args[0], 0)
	return t.one(e.done())
}

// encoder writes JSON.
type encoder struct {
	buffer
	t *thread
}

func (e *encoder) failOn(v value, why string) {
	e.t.fail("Cannot serialise %s: %s", v.typeName(), why)
}

func (e *encoder) encode(v value, depth int) {
	e.t.m.spend(1)
	switch v.kind() {
	case kindNil, kindUserdata:
		e.addString("null")
	case kindBool:
		e.addString(fmt.Sprint(v.n != 0))
	case kindNumber:
		e.number(v)
	case kindString:
		e.text(v.o.str)
	case kindTable:
		e.table(v, depth+1)
	default:
		e.failOn(v, "type not supported")
	}
}

func (e *encoder) number(v value) {
	j := &e.t.m.json
	if n := v.n; math.IsInf(n, 0) || math.IsNaN(n) {
		switch j.encodeInvalid {
		case "off":
			e.failOn(v, "must not be NaN or Inf")
		case "null":
			e.addString("null")
			return
		}
		word := map[bool]string{true: "NaN", false: "Infinity"}[math.IsNaN(n)]
		if math.IsInf(n, -1) {
			word = "-" + word
		}
		e.addString(word)
		return
	}
	e.grow(maxNumber)
	e.b = appendGeneral(e.b, v.n, j.precision)
}

// text writes a string with its escapes.
func (e *encoder) text(s []byte) {
	e.t.m.spend(len(s) / bytesPerStep)
	e.addByte('"')
	for _, c := range s {
		switch c {
		case '"', '\\', '/':
			e.addByte('\\')
			e.addByte(c)
		case '\b':
			e.addString(`\b`)
		case '\t':
			e.addString(`\t`)
		case '\n':
			e.addString(`\n`)
		case '\f':
			e.addString(`\f`)
		case '\r':
			e.addString(`\r`)
		default:
			if c < 32 || c == 127 {
				e.addString(fmt.Sprintf(`\u%04x`, c))
			} else {
				e.addByte(c)
			}
		}
	}
	e.addByte('"')
}

func (e *encoder) table(v value, depth int) {
	if depth > min(e.t.m.json.encodeDepth, maxJSONDepth) {
		e.t.fail("Cannot serialise, excessive nesting (%d)", depth)
	}
	tab := v.o.tab
	if n := e.arrayLength(v); n > 0 {
		e.addByte('[')
		for i := 1; i <= n; i++ {
			if i > 1 {
				e.addByte(',')
			}
			e.encode(tab.getInt(i), depth)
		}
		e.addByte(']')
		return
	}
	e.addByte('{')
	comma := false
	for key, val, _ := tab.next(value{}); !key.isNil(); key, val, _ = tab.next(key) {
		if comma {
			e.addByte(',')
		}
		comma = true
		switch {
		case key.isNumber():
			e.addByte('"')
			e.number(key)
			e.addByte('"')
		case key.isString():
			e.text(key.o.str)
		default:
			e.failOn(key, "table key must be a number or string")
		}
		e.addByte(':')
		e.encode(val, depth)
	}
	e.addByte('}')
}

// arrayLength is the length of a table that is to be an array, or less than 1.
func (e *encoder) arrayLength(v value) int {
	top, items := 0.0, 0
	tab := v.o.tab
	e.t.m.spend(len(tab.arr) + len(tab.nodes))
	for key, _, _ := tab.next(value{}); !key.isNil(); key, _, _ = tab.next(key) {
		if !key.isNumber() || key.n < 1 || key.n != math.Trunc(key.n) {
			return -1
		}
		top = math.Max(top, key.n)
		items++
	}
	j := &e.t.m.json
	if j.sparseRatio > 0 && top > float64(items*j.sparseRatio) && top > float64(j.sparseSafe) {
		if !j.sparseConvert {
			e.failOn(v, "excessively sparse array")
		}
		return -1
	}
	return int(top)
}

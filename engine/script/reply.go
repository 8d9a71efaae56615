package script

import (
	"bytes"
	"math"
	"strings"

	"github.com/limitstore/limitstore/resp"
)

// replyReader makes values of the reply to a command. Replies come from the
// engine: one that is cut short is a fault there, and panics.
type replyReader struct {
	t    *thread
	data []byte
}

// The keys of tables that stand for types of RESP.
var (
	okName       = constant("ok")
	errName      = constant("err")
	countedName  = constant("ignore_error_stats_update")
	doubleName   = constant("double")
	mapName      = constant("map")
	setName      = constant("set")
	bigName      = constant("big_number")
	verbatimName = constant("verbatim_string")
	formatName   = constant("format")
	stringName   = constant("string")
)

// line cuts a line off.
func (r *replyReader) line() []byte {
	end := bytes.IndexByte(r.data, '\r')
	line := r.data[:end]
	r.data = r.data[end+2:]
	return line
}

// count reads a whole number.
func (r *replyReader) count() int {
	n, negative := 0, false
	for _, c := range r.line() {
		if c == '-' {
			negative = true
		} else {
			n = n*10 + int(c-'0')
		}
	}
	if negative {
		return -n
	}
	return n
}

// bulk cuts a string of n bytes off.
func (r *replyReader) bulk(n int) []byte {
	b := r.data[:n]
	r.data = r.data[n+2:]
	return b
}

func (r *replyReader) read() value {
	kind := r.data[0]
	r.data = r.data[1:]
	switch kind {
	case '$':
		if n := r.count(); n >= 0 {
			return r.t.heap.copied(r.bulk(n))
		}
		return boolean(false)
	case ':':
		return number(float64(r.count()))
	case '+':
		return r.named(okName, r.t.heap.copied(r.line()))
	case '-':
		tab := r.t.errorTable("-" + string(r.line()))
		tab.set(countedName, boolean(true))
		return value{o: &tab.obj}
	case '*', '>':
		if n := r.count(); n >= 0 {
			return r.array(n)
		}
		return boolean(false)
	}
	return r.read3(kind)
}

// read3 reads what only RESP3 has.
func (r *replyReader) read3(kind byte) value {
	switch kind {
	case '_':
		r.line()
		return value{}
	case '#':
		return boolean(r.line()[0] == 't')
	case ',':
		n, _ := parseNumber(r.line())
		return r.named(doubleName, number(n))
	case '(':
		return r.named(bigName, r.t.heap.copied(r.line()))
	case '%':
		return r.pairs(r.count())
	case '~':
		return r.set(r.count())
	case '=':
		text := r.bulk(r.count())
		tab := r.t.heap.table(0, 2)
		tab.set(stringName, r.t.heap.copied(text[4:]))
		tab.set(formatName, r.t.heap.copied(text[:3]))
		return r.named(verbatimName, value{o: &tab.obj})
	case '|':
		r.pairs(r.count())
		return r.read()
	}
	panic("script: a reply of no known type")
}

func (r *replyReader) named(name, v value) value {
	tab := r.t.heap.table(0, 1)
	tab.set(name, v)
	return value{o: &tab.obj}
}

func (r *replyReader) array(n int) value {
	tab := r.t.heap.table(wholePower(min(n, len(r.data))), 0)
	for i := 1; i <= n; i++ {
		tab.setInt(i, r.read())
	}
	return value{o: &tab.obj}
}

func (r *replyReader) pairs(n int) value {
	tab := r.t.heap.table(0, 0)
	for range n {
		key := r.read()
		val := r.read()
		if !key.isNil() {
			tab.set(key, val)
		}
	}
	return r.named(mapName, value{o: &tab.obj})
}

func (r *replyReader) set(n int) value {
	tab := r.t.heap.table(0, 0)
	for range n {
		if key := r.read(); !key.isNil() {
			tab.set(key, boolean(true))
		}
	}
	return r.named(setName, value{o: &tab.obj})
}

// maxReplyDepth is how deep tables may lie in each other in a reply.
const maxReplyDepth = 2000

// replier writes the value that a script returns as a reply.
type replier struct {
	m   *Machine
	out *resp.Writer
}

func (r *replier) write(v value, depth int) {
	r.m.spend(1)
	if depth > maxReplyDepth {
		r.out.Error("ERR reached lua stack limit")
		return
	}
	switch v.kind() {
	case kindString:
		r.out.Bulk(v.o.str)
	case kindNumber:
		r.out.Int(toInteger(v.n))
	case kindBool:
		r.bool(v.n != 0)
	case kindTable:
		r.table(v.o.tab, depth)
	default:
		r.out.Null()
	}
}

func (r *replier) bool(b bool) {
	switch {
	case r.m.version == resp.RESP3:
		r.out.Bool(b)
	case b:
		r.out.Int(1)
	default:
		r.out.Null()
	}
}

// toInteger cuts a number to an integer; what is beyond becomes the least one, as
// on the machines that Redis runs on.
func toInteger(n float64) int64 {
	if n != n || n >= math.MaxInt64 || n < math.MinInt64 {
		return math.MinInt64
	}
	return int64(n)
}

func (r *replier) table(tab *table, depth int) {
	if len(tab.nodes) > 0 && r.special(tab, depth) {
		return
	}
	n := 0
	for !tab.getInt(n + 1).isNil() {
		n++
	}
	r.m.spend(n)
	r.out.Array(n)
	for i := 1; i <= n; i++ {
		r.write(tab.getInt(i), depth+1)
	}
}

// special writes a table that stands for a type of RESP.
func (r *replier) special(tab *table, depth int) bool {
	if v := tab.getString(errName.o); v.isString() {
		r.out.Error(oneLine(string(v.o.str)))
		return true
	}
	if v := tab.getString(okName.o); v.isString() {
		r.out.SimpleString(oneLine(string(v.o.str)))
		return true
	}
	if v := tab.getString(doubleName.o); v.isNumber() {
		r.out.Double(v.n)
		return true
	}
	if v := tab.getString(mapName.o).table(); v != nil {
		n, _ := v.shape()
		r.out.Map(n)
		for key, val, _ := v.next(value{}); !key.isNil(); key, val, _ = v.next(key) {
			r.write(key, depth+1)
			r.write(val, depth+1)
		}
		return true
	}
	if v := tab.getString(setName.o).table(); v != nil {
		n, _ := v.shape()
		r.out.Set(n)
		for key, _, _ := v.next(value{}); !key.isNil(); key, _, _ = v.next(key) {
			r.write(key, depth+1)
		}
		return true
	}
	return r.text(tab)
}

// text writes a table that stands for a big number or a verbatim string.
func (r *replier) text(tab *table) bool {
	if v := tab.getString(bigName.o); v.isString() {
		r.out.BigNumber(oneLine(string(v.o.str)))
		return true
	}
	v := tab.getString(verbatimName.o).table()
	if v == nil {
		return false
	}
	format, text := v.getString(formatName.o), v.getString(stringName.o)
	if !format.isString() || !text.isString() {
		return false
	}
	r.out.Verbatim(string(format.o.str), string(text.o.str))
	return true
}

// oneLine makes spaces of ends of lines, which a reply of one line cannot have.
func oneLine(s string) string {
	if strings.ContainsAny(s, "\r\n") {
		s = strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
	}
	return s
}

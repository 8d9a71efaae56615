package script

import (
	"bytes"
	"unicode/utf8"
)

// jsonToken is a kind of word in JSON; its name is what messages call it.
type jsonToken string

const (
	jsonObject  jsonToken = "T_OBJ_BEGIN"
	jsonEndObj  jsonToken = "T_OBJ_END"
	jsonArray   jsonToken = "T_ARR_BEGIN"
	jsonEndArr  jsonToken = "T_ARR_END"
	jsonString  jsonToken = "T_STRING"
	jsonNumber  jsonToken = "T_NUMBER"
	jsonBoolean jsonToken = "T_BOOLEAN"
	jsonNull    jsonToken = "T_NULL"
	jsonColon   jsonToken = "T_COLON"
	jsonComma   jsonToken = "T_COMMA"
	jsonEnd     jsonToken = "T_END"
)

// jsonSigns are the tokens of one character.
var jsonSigns = map[byte]jsonToken{'{': jsonObject, '}': jsonEndObj, '[': jsonArray, ']': jsonEndArr, ':': jsonColon, ',': jsonComma}

// decoder reads JSON.
type decoder struct {
	t     *thread
	data  []byte
	pos   int
	depth int

	tok   jsonToken
	wrong string // what is wrong instead of a token
	start int
	val   value
}

func jsonDecode(t *thread, args []value) []value {
	if len(args) != 1 {
		t.failArg(0, "expected 1 argument")
	}
	d := &decoder{t: t, data: t.wantString(args, 0)}
	if len(d.data) >= 2 && (d.data[0] == 0 || d.data[1] == 0) {
		t.fail("JSON parser does not support UTF-16 or UTF-32")
	}
	d.next()
	v := d.value()
	if d.next(); d.tok != jsonEnd {
		d.expected("the end")
	}
	return t.one(v)
}

func (d *decoder) expected(what string) {
	found := string(d.tok)
	if d.wrong != "" {
		found = d.wrong
	}
	d.t.fail("Expected %s but found %s at character %d", what, found, d.start+1)
}

// value reads the value that begins with the current token.
func (d *decoder) value() value {
	switch d.tok {
	case jsonString, jsonNumber, jsonBoolean, jsonNull:
		return d.val
	case jsonObject:
		return d.object()
	case jsonArray:
		return d.array()
	}
	d.expected("value")
	return value{}
}

func (d *decoder) descend() {
	if d.depth++; d.depth > min(d.t.m.json.decodeDepth, maxJSONDepth) {
		d.t.fail("Found too many nested data structures (%d) at character %d", d.depth, d.start+1)
	}
}

func (d *decoder) object() value {
	d.descend()
	tab := d.t.heap.table(0, 0)
	if d.next(); d.tok == jsonEndObj {
		d.depth--
		return value{o: &tab.obj}
	}
	for {
		if d.tok != jsonString {
			d.expected("object key string")
		}
		key := d.val
		if d.next(); d.tok != jsonColon {
			d.expected("colon")
		}
		d.next()
		tab.set(key, d.value())
		d.next()
		if d.tok == jsonEndObj {
			d.depth--
			return value{o: &tab.obj}
		}
		if d.tok != jsonComma {
			d.expected("comma or object end")
		}
		d.next()
	}
}

func (d *decoder) array() value {
	d.descend()
	tab := d.t.heap.table(0, 0)
	if d.next(); d.tok == jsonEndArr {
		d.depth--
		return value{o: &tab.obj}
	}
	for i := 1; ; i++ {
		tab.setInt(i, d.value())
		d.next()
		if d.tok == jsonEndArr {
			d.depth--
			return value{o: &tab.obj}
		}
		if d.tok != jsonComma {
			d.expected("comma or array end")
		}
		d.next()
	}
}

// next reads a token.
func (d *decoder) next() {
	d.t.m.spend(1)
	for d.pos < len(d.data) && bytes.IndexByte([]byte(" \t\n\r"), d.data[d.pos]) >= 0 {
		d.pos++
	}
	d.start, d.wrong = d.pos, ""
	if d.pos >= len(d.data) || d.data[d.pos] == 0 {
		d.tok = jsonEnd
		return
	}
	c := d.data[d.pos]
	if sign, ok := jsonSigns[c]; ok {
		d.tok = sign
		d.pos++
		return
	}
	switch {
	case c == '"':
		d.string()
	case c == '-' || isDigit(c):
		if !d.t.m.json.decodeInvalid && d.isInvalidNumber() {
			d.invalid("invalid number", d.pos)
			return
		}
		d.number()
	case d.word("true", jsonBoolean, boolean(true)), d.word("false", jsonBoolean, boolean(false)),
		d.word("null", jsonNull, value{o: &nullObj}):
	case d.t.m.json.decodeInvalid && d.isInvalidNumber():
		d.number()
	default:
		d.invalid("invalid token", d.pos)
	}
}

func (d *decoder) word(word string, tok jsonToken, v value) bool {
	if !bytes.HasPrefix(d.data[d.pos:], []byte(word)) {
		return false
	}
	d.pos += len(word)
	d.tok, d.val = tok, v
	return true
}

func (d *decoder) invalid(why string, at int) {
	d.tok, d.wrong, d.start = "T_ERROR", why, at
}

// isInvalidNumber says whether what follows is a number that is none in JSON: with
// a plus, leading zeros, hexadecimal, inf or nan.
func (d *decoder) isInvalidNumber() bool {
	p := d.data[d.pos:]
	if len(p) > 0 && p[0] == '+' {
		return true
	}
	if len(p) > 0 && p[0] == '-' {
		p = p[1:]
	}
	if len(p) == 0 {
		return false
	}
	if p[0] == '0' {
		return len(p) > 1 && (p[1]|0x20 == 'x' || isDigit(p[1]))
	}
	if p[0] <= '9' {
		return false
	}
	low := bytes.ToLower(p[:min(len(p), 3)])
	return bytes.HasPrefix(low, []byte("inf")) || bytes.HasPrefix(low, []byte("nan"))
}

// number reads the longest number there is.
func (d *decoder) number() {
	n, length := prefixNumber(d.data[d.pos:])
	if length == 0 {
		d.invalid("invalid number", d.pos)
		return
	}
	d.tok, d.val = jsonNumber, number(n)
	d.pos += length
}

// prefixNumber reads a number at the front of s, as strtod does.
func prefixNumber(s []byte) (float64, int) {
	end := 0
	if end < len(s) && (s[end] == '-' || s[end] == '+') {
		end++
	}
	low := bytes.ToLower(s[end:min(len(s), end+8)])
	for _, word := range []string{"infinity", "inf", "nan"} {
		if bytes.HasPrefix(low, []byte(word)) {
			n, _ := parseNumber(s[:end+len(word)])
			return n, end + len(word)
		}
	}
	is, mark := isDigit, byte('e')
	if bytes.HasPrefix(low, []byte("0x")) {
		if digits, _ := countDigits(s[end+2:], isHex); digits > 0 {
			is, mark = isHex, 'p'
			end += 2
		}
	}
	digits, rest := countDigits(s[end:], is)
	if digits == 0 {
		return 0, 0
	}
	end = len(s) - len(rest)
	for n := min(len(rest), maxExponent); n > 0; n-- {
		if isExponent(rest[:n], mark) {
			end += n
			break
		}
	}
	n, _ := parseNumber(s[:end])
	return n, end
}

// maxExponent is the longest exponent that is read.
const maxExponent = 8

func (d *decoder) string() {
	b := buffer{heap: d.t.heap}
	for i := d.pos + 1; ; i++ {
		if i >= len(d.data) || d.data[i] == 0 {
			d.invalid("unexpected end of string", i)
			return
		}
		switch c := d.data[i]; c {
		case '"':
			d.t.m.spend((i - d.pos) / bytesPerStep)
			d.tok, d.val, d.pos = jsonString, b.done(), i+1
			return
		case '\\':
			n := d.escape(&b, i+1)
			if n == 0 {
				return
			}
			i += n
		default:
			b.addByte(c)
		}
	}
}

// escape reads what follows a backslash and returns its length; 0 when it is
// wrong.
func (d *decoder) escape(b *buffer, i int) int {
	var c byte
	if i < len(d.data) {
		c = d.data[i]
	}
	switch c {
	case '"', '\\', '/':
		b.addByte(c)
		return 1
	case 'b', 'f', 'n', 'r', 't':
		b.addByte("\b\f\n\r\t"[bytes.IndexByte([]byte("bfnrt"), c)])
		return 1
	case 'u':
		if n := d.unicode(b, i+1); n > 0 {
			return n + 1
		}
		d.invalid("invalid unicode escape code", i-1)
		return 0
	}
	d.invalid("invalid escape code", i-1)
	return 0
}

// unicode reads four digits, and another escape when they are the first half of a
// pair.
func (d *decoder) unicode(b *buffer, i int) int {
	r := d.hex4(i)
	if r < 0 || r&0xfc00 == 0xdc00 {
		return 0
	}
	length := 4
	if r&0xf800 == 0xd800 {
		if !bytes.HasPrefix(d.data[min(i+4, len(d.data)):], []byte(`\u`)) {
			return 0
		}
		low := d.hex4(i + 6)
		if low < 0 || low&0xfc00 != 0xdc00 {
			return 0
		}
		r = (r&0x3ff)<<10 + low&0x3ff + 0x10000
		length = 10
	}
	b.grow(utf8.UTFMax)
	b.b = utf8.AppendRune(b.b, rune(r))
	return length
}

// hex4 reads four digits, or returns -1.
func (d *decoder) hex4(i int) int {
	if i+4 > len(d.data) {
		return -1
	}
	n := 0
	for _, c := range d.data[i : i+4] {
		v := digit(c)
		if v > 15 {
			return -1
		}
		n = n<<4 | v
	}
	return n
}

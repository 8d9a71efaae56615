package script

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// directive is one % of a format.
type directive struct {
	flags     string
	width     int
	precision int // -1 when not given
	verb      byte
}

func stringFormat(t *thread, args []value) []value {
	format := t.wantString(args, 0)
	b := buffer{heap: t.heap}
	next := 1
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.addByte(format[i])
			continue
		}
		if i++; i < len(format) && format[i] == '%' {
			b.addByte('%')
			continue
		}
		d, length := t.directive(format[i:])
		i += length - 1
		t.directed(&b, d, args, next)
		next++
	}
	return t.one(b.done())
}

// directive reads what follows a %.
func (t *thread) directive(s []byte) (d directive, length int) {
	d.precision = -1
	i := 0
	for i < len(s) && bytes.IndexByte([]byte("-+ #0"), s[i]) >= 0 {
		i++
	}
	if i > 5 {
		t.fail("invalid format (repeated flags)")
	}
	d.flags = string(s[:i])
	d.width, i = twoDigits(s, i)
	if i < len(s) && s[i] == '.' {
		d.precision, i = twoDigits(s, i+1)
	}
	if i < len(s) && isDigit(s[i]) {
		t.fail("invalid format (width or precision too long)")
	}
	if i < len(s) {
		d.verb = s[i]
	}
	return d, i + 1
}

func twoDigits(s []byte, i int) (n, next int) {
	for next = i; next < len(s) && next < i+2 && isDigit(s[next]); next++ {
		n = n*10 + int(s[next]-'0')
	}
	return n, next
}

// directed adds argument i as a directive wants it.
func (t *thread) directed(b *buffer, d directive, args []value, i int) {
	if i >= len(args) {
		t.failArg(i, "no value")
	}
	switch d.verb {
	case 'c':
		b.addString(untilZero(d.pad(string([]byte{byte(t.wantInt(args, i))}))))
	case 'd', 'i':
		b.addString(d.integer(uint64(toInteger(t.wantNumber(args, i))), false))
	case 'u', 'o', 'x', 'X':
		b.addString(d.integer(unsigned(t.wantNumber(args, i)), true))
	case 'e', 'E', 'f', 'g', 'G':
		b.addString(d.float(t.wantNumber(args, i)))
	case 'q':
		addQuoted(b, t.wantString(args, i))
	case 's':
		t.addText(b, d, t.wantString(args, i))
	default:
		shown := ""
		if d.verb != 0 {
			shown = string([]byte{d.verb})
		}
		t.fail("invalid option '%%%s' to 'format'", shown)
	}
}

// whole is the length from which a string is added as it is.
const whole = 100

// addText adds a string; a short one, or one that is cut, as C formats it.
func (t *thread) addText(b *buffer, d directive, s []byte) {
	if d.precision < 0 && len(s) >= whole {
		b.add(s)
		return
	}
	text := untilZero(string(s))
	if d.precision >= 0 && d.precision < len(text) {
		text = text[:d.precision]
	}
	b.addString(d.pad(text))
}

// untilZero is s as a string of C.
func untilZero(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s
}

// spec is the directive without its verb.
func (d directive) spec() string {
	s := d.flags
	if d.width > 0 {
		s += strconv.Itoa(d.width)
	}
	if d.precision >= 0 {
		s += "." + strconv.Itoa(d.precision)
	}
	return s
}

func (d directive) has(flag string) bool { return strings.Contains(d.flags, flag) }

// pad fills up to the width with spaces.
func (d directive) pad(s string) string {
	if n := d.width - len(s); n > 0 {
		if d.has("-") {
			return s + strings.Repeat(" ", n)
		}
		return strings.Repeat(" ", n) + s
	}
	return s
}

// unsigned casts a double to an unsigned 64-bit integer as C does on the machines
// that Redis runs on.
func unsigned(n float64) uint64 {
	if n >= math.MaxInt64 {
		return uint64(toInteger(n-math.MaxInt64)) ^ 1<<63
	}
	return uint64(toInteger(n))
}

func (d directive) integer(n uint64, plain bool) string {
	verb := map[byte]string{'i': "d", 'u': "d"}[d.verb]
	if verb == "" {
		verb = string([]byte{d.verb})
	}
	flags := d.flags
	if n == 0 || d.verb == 'd' || d.verb == 'i' || d.verb == 'u' {
		flags = strings.ReplaceAll(flags, "#", "")
	}
	if d.precision >= 0 || d.has("-") {
		flags = strings.ReplaceAll(flags, "0", "")
	}
	d.flags = flags
	if plain {
		d.flags = strings.NewReplacer("+", "", " ", "").Replace(flags)
		return fmt.Sprintf("%"+d.spec()+verb, n)
	}
	return fmt.Sprintf("%"+d.spec()+verb, int64(n))
}

func (d directive) float(n float64) string {
	if d.has("-") {
		d.flags = strings.ReplaceAll(d.flags, "0", "")
	}
	if math.IsInf(n, 0) || math.IsNaN(n) {
		word := special(n)
		if word[0] != '-' && d.has("+") {
			word = "+" + word
		} else if word[0] != '-' && d.has(" ") {
			word = " " + word
		}
		if d.verb < 'a' {
			word = strings.ToUpper(word)
		}
		return d.pad(word)
	}
	if d.precision < 0 {
		d.precision = 6
	}
	return fmt.Sprintf("%"+d.spec()+string([]byte{d.verb}), n)
}

// addQuoted adds a string as Lua can read it.
func addQuoted(b *buffer, s []byte) {
	b.addByte('"')
	for _, c := range s {
		switch c {
		case '"', '\\', '\n':
			b.addByte('\\')
			b.addByte(c)
		case '\r':
			b.addString("\\r")
		case 0:
			b.addString("\\000")
		default:
			b.addByte(c)
		}
	}
	b.addByte('"')
}

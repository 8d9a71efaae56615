package script

import (
	"bytes"
	"math"
)

// stringLibrary makes the table string, which strings are indexed by.
func (m *Machine) stringLibrary() *table {
	tab := m.library(map[string]builtin{
		"byte": stringByte, "char": stringChar, "dump": stringDump, "find": stringFind, "format": stringFormat,
		"gfind": gmatch, "gmatch": gmatch, "gsub": gsub, "len": stringLen, "lower": mapped(toLower), "match": stringMatch,
		"rep": stringRep, "reverse": stringReverse, "sub": stringSub, "upper": mapped(toUpper),
	})
	meta := m.heap.table(0, 1)
	meta.set(eventNames[eventIndex], value{o: &tab.obj})
	meta.readonly = true
	m.stringMeta = meta
	return tab
}

// from is a position in a string of a length, counted from its end when
// negative.
func from(pos, length int) int {
	if pos < 0 {
		pos += length + 1
	}
	return max(pos, 0)
}

func stringLen(t *thread, args []value) []value {
	return t.one(number(float64(len(t.wantString(args, 0)))))
}

func stringSub(t *thread, args []value) []value {
	s := t.wantString(args, 0)
	start := max(from(t.wantInt(args, 1), len(s)), 1)
	end := min(from(t.optInt(args, 2, -1), len(s)), len(s))
	if start > end {
		return t.one(emptyString)
	}
	return t.one(t.heap.copied(s[start-1 : end]))
}

var emptyString = constant("")

func stringByte(t *thread, args []value) []value {
	s := t.wantString(args, 0)
	start := from(t.optInt(args, 1, 1), len(s))
	end := min(from(t.optInt(args, 2, start), len(s)), len(s))
	start = max(start, 1)
	if start > end {
		return nil
	}
	n := end - start + 1
	if n+len(args) > maxValues {
		t.fail("stack overflow (string slice too long)")
	}
	list := t.heap.vector(n)
	for i := range list {
		list[i] = number(float64(s[start-1+i]))
	}
	return list
}

func stringChar(t *thread, args []value) []value {
	b := t.heap.room(len(args))
	for i := range args {
		c := t.wantInt(args, i)
		if c != int(byte(c)) {
			t.failArg(i, "invalid value")
		}
		b[i] = byte(c)
	}
	return t.one(t.heap.owned(b))
}

func stringDump(t *thread, args []value) []value {
	t.wantFunction(args, 0)
	t.fail("unable to dump given function")
	return nil
}

func stringRep(t *thread, args []value) []value {
	s, n := t.wantString(args, 0), t.wantInt(args, 1)
	if n <= 0 || len(s) == 0 {
		return t.one(emptyString)
	}
	if n > math.MaxInt32*16/len(s) {
		t.heap.take(math.MaxInt64 >> 1)
	}
	b := t.heap.room(len(s) * n)
	t.m.spend(len(b) / bytesPerStep)
	for i := copy(b, s); i < len(b); i *= 2 {
		copy(b[i:], b[:i])
	}
	return t.one(t.heap.owned(b))
}

func stringReverse(t *thread, args []value) []value {
	s := t.wantString(args, 0)
	b := t.heap.room(len(s))
	for i, c := range s {
		b[len(s)-1-i] = c
	}
	t.m.spend(len(b) / bytesPerStep)
	return t.one(t.heap.owned(b))
}

func toLower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func toUpper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

// mapped makes a builtin that changes each byte.
func mapped(fn func(byte) byte) builtin {
	return func(t *thread, args []value) []value {
		s := t.wantString(args, 0)
		b := t.heap.room(len(s))
		for i, c := range s {
			b[i] = fn(c)
		}
		t.m.spend(len(b) / bytesPerStep)
		return t.one(t.heap.owned(b))
	}
}

func stringFind(t *thread, args []value) []value  { return t.find(args, true) }
func stringMatch(t *thread, args []value) []value { return t.find(args, false) }

// find is find and match.
func (t *thread) find(args []value, positions bool) []value {
	s, pattern := t.wantString(args, 0), t.wantString(args, 1)
	start := from(t.optInt(args, 2, 1), len(s)) - 1
	start = min(max(start, 0), len(s))
	if positions && (!arg(args, 3).isFalse() || !bytes.ContainsAny(pattern, "^$*+?.([%-")) {
		t.m.spend((len(s) - start) / bytesPerStep)
		at := bytes.Index(s[start:], pattern)
		if at < 0 {
			return t.one(value{})
		}
		at += start
		return t.two(number(float64(at+1)), number(float64(at+len(pattern))))
	}
	m := &matcher{t: t, src: s, pattern: pattern}
	anchored := len(pattern) > 0 && pattern[0] == '^'
	if anchored {
		m.pattern = pattern[1:]
	}
	for ; start <= len(s); start++ {
		m.level = 0
		if end := m.match(start, 0); end >= 0 {
			if positions {
				found := []value{number(float64(start + 1)), number(float64(end))}
				return append(found, m.captures(-1, 0)...)
			}
			return m.captures(start, end)
		}
		if anchored {
			break
		}
	}
	return t.one(value{})
}

func gmatch(t *thread, args []value) []value {
	s, pattern := t.wantString(args, 0), t.wantString(args, 1)
	pos := 0
	return t.one(t.heap.native(func(t *thread, _ []value) []value {
		m := &matcher{t: t, src: s, pattern: pattern}
		for start := pos; start <= len(s); start++ {
			m.level = 0
			if end := m.match(start, 0); end >= 0 {
				if pos = end; end == start {
					pos++
				}
				return m.captures(start, end)
			}
		}
		return nil
	}))
}

func gsub(t *thread, args []value) []value {
	s, pattern := t.wantString(args, 0), t.wantString(args, 1)
	with := arg(args, 2)
	switch with.kind() {
	case kindNumber, kindString, kindTable, kindFunction:
	default:
		t.failArg(2, "string/function/table expected")
	}
	limit := t.optInt(args, 3, len(s)+1)
	m := &matcher{t: t, src: s, pattern: pattern}
	anchored := len(pattern) > 0 && pattern[0] == '^'
	if anchored {
		m.pattern = pattern[1:]
	}
	b := buffer{heap: t.heap}
	pos, n := 0, 0
	for n < limit {
		m.level = 0
		end := m.match(pos, 0)
		if end >= 0 {
			n++
			m.substitute(&b, pos, end, with)
		}
		if end > pos {
			pos = end
		} else if pos < len(s) {
			b.addByte(s[pos])
			pos++
		} else {
			break
		}
		if anchored {
			break
		}
	}
	b.add(s[min(pos, len(s)):])
	return t.two(b.done(), number(float64(n)))
}

// substitute adds what replaces a match.
func (m *matcher) substitute(b *buffer, start, end int, with value) {
	t := m.t
	var result value
	switch with.kind() {
	case kindNumber, kindString:
		m.expand(b, appendText(nil, with), start, end)
		return
	case kindTable:
		result = t.indexFast(with, m.capture(0, start, end))
	case kindFunction:
		result = first(t.callback(with, m.captures(start, end)...))
	}
	switch {
	case result.isFalse():
		b.add(m.src[start:end])
	case isText(result):
		b.add(appendText(nil, result))
	default:
		t.fail("invalid replacement value (a %s)", result.typeName())
	}
}

// expand adds a replacement with its %0 to %9.
func (m *matcher) expand(b *buffer, with []byte, start, end int) {
	for i := 0; i < len(with); i++ {
		if with[i] != '%' {
			b.addByte(with[i])
			continue
		}
		i++
		switch {
		case i >= len(with):
			b.addByte(0)
		case !isDigit(with[i]):
			b.addByte(with[i])
		case with[i] == '0':
			b.add(m.src[start:end])
		default:
			b.add(appendText(nil, m.capture(int(with[i]-'1'), start, end)))
		}
	}
}

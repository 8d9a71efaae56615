package script

import "bytes"

// The sizes of patterns.
const (
	maxCaptures     = 32
	maxPatternDepth = 20000 // items that wait for what follows them
)

// The lengths that mark captures without one.
const (
	openCapture     = -1
	positionCapture = -2
)

// matcher matches a pattern of Lua. Every try to match a character is a step.
type matcher struct {
	t       *thread
	src     []byte
	pattern []byte
	level   int // captures begun
	depth   int
	found   [maxCaptures]struct{ start, length int }
}

// match matches the pattern from p on at s, and returns the end of the match or
// -1.
func (m *matcher) match(s, p int) int {
	if m.depth++; m.depth > maxPatternDepth {
		m.t.fail("pattern too complex")
	}
	defer func() { m.depth-- }()
	for p < len(m.pattern) {
		m.t.m.spend(1)
		switch c := m.pattern[p]; {
		case c == '(':
			return m.begin(s, p+1)
		case c == ')':
			return m.finish(s, p+1)
		case c == '$' && p+1 == len(m.pattern):
			if s == len(m.src) {
				return s
			}
			return -1
		case c == '%' && m.at(p+1) == 'b':
			if s = m.balance(s, p+2); s < 0 {
				return -1
			}
			p += 4
			continue
		case c == '%' && m.at(p+1) == 'f':
			var ok bool
			if p, ok = m.frontier(s, p+2); !ok {
				return -1
			}
			continue
		case c == '%' && isDigit(m.at(p+1)):
			if s = m.back(s, m.at(p+1)); s < 0 {
				return -1
			}
			p += 2
			continue
		}
		end := m.classEnd(p)
		switch m.at(end) {
		case '?':
			if m.single(s, p, end) {
				if r := m.match(s+1, end+1); r >= 0 {
					return r
				}
			}
			p = end + 1
		case '*':
			return m.expandMax(s, p, end)
		case '+':
			if !m.single(s, p, end) {
				return -1
			}
			return m.expandMax(s+1, p, end)
		case '-':
			return m.expandMin(s, p, end)
		default:
			if !m.single(s, p, end) {
				return -1
			}
			s, p = s+1, end
		}
	}
	return s
}

// at is a byte of the pattern, 0 behind its end.
func (m *matcher) at(p int) byte {
	if p < len(m.pattern) {
		return m.pattern[p]
	}
	return 0
}

func (m *matcher) expandMax(s, p, end int) int {
	n := 0
	for m.single(s+n, p, end) {
		n++
	}
	m.t.m.spend(n)
	for ; n >= 0; n-- {
		if r := m.match(s+n, end+1); r >= 0 {
			return r
		}
	}
	return -1
}

func (m *matcher) expandMin(s, p, end int) int {
	for {
		if r := m.match(s, end+1); r >= 0 {
			return r
		}
		if !m.single(s, p, end) {
			return -1
		}
		s++
	}
}

// classEnd is where the item at p ends.
func (m *matcher) classEnd(p int) int {
	c := m.pattern[p]
	p++
	switch c {
	case '%':
		if p >= len(m.pattern) {
			m.t.fail("malformed pattern (ends with '%%')")
		}
		return p + 1
	case '[':
		if m.at(p) == '^' {
			p++
		}
		for first := true; first || m.at(p) != ']'; first = false {
			if p >= len(m.pattern) {
				m.t.fail("malformed pattern (missing ']')")
			}
			if m.pattern[p] == '%' {
				p++
			}
			p++
		}
		return p + 1
	}
	return p
}

// single matches one character.
func (m *matcher) single(s, p, end int) bool {
	if s >= len(m.src) {
		return false
	}
	c := m.src[s]
	switch m.pattern[p] {
	case '.':
		return true
	case '%':
		return inClass(c, m.pattern[p+1])
	case '[':
		m.t.m.spend((end - p) / 8)
		return m.inSet(c, p, min(end, len(m.pattern))-1)
	}
	return m.pattern[p] == c
}

// inSet says whether c is in the set from p to the bracket at last.
func (m *matcher) inSet(c byte, p, last int) bool {
	in := true
	p++
	if m.at(p) == '^' {
		in = false
		p++
	}
	for ; p < last; p++ {
		switch {
		case m.pattern[p] == '%':
			p++
			if inClass(c, m.at(p)) {
				return in
			}
		case m.at(p+1) == '-' && p+2 < last:
			if m.pattern[p] <= c && c <= m.pattern[p+2] {
				return in
			}
			p += 2
		case m.pattern[p] == c:
			return in
		}
	}
	return !in
}

// inClass says whether c is in the class that a letter stands for.
func inClass(c, class byte) bool {
	in := false
	switch toLower(class) {
	case 'a':
		in = isLetter(c) && c != '_'
	case 'c':
		in = c < 32 || c == 127
	case 'd':
		in = isDigit(c)
	case 'l':
		in = c >= 'a' && c <= 'z'
	case 'p':
		in = c > 32 && c < 127 && !isDigit(c) && (!isLetter(c) || c == '_')
	case 's':
		in = bytes.IndexByte([]byte(spaces), c) >= 0
	case 'u':
		in = c >= 'A' && c <= 'Z'
	case 'w':
		in = isDigit(c) || isLetter(c) && c != '_'
	case 'x':
		in = isHex(c)
	case 'z':
		in = c == 0
	default:
		return c == class
	}
	return in == (class >= 'a')
}

func (m *matcher) begin(s, p int) int {
	length := openCapture
	if m.at(p) == ')' {
		length = positionCapture
		p++
	}
	if m.level >= maxCaptures {
		m.t.fail("too many captures")
	}
	m.found[m.level].start, m.found[m.level].length = s, length
	m.level++
	r := m.match(s, p)
	if r < 0 {
		m.level--
	}
	return r
}

func (m *matcher) finish(s, p int) int {
	at := m.level - 1
	for at >= 0 && m.found[at].length != openCapture {
		at--
	}
	if at < 0 {
		m.t.fail("invalid pattern capture")
	}
	m.found[at].length = s - m.found[at].start
	r := m.match(s, p)
	if r < 0 {
		m.found[at].length = openCapture
	}
	return r
}

// balance matches %bxy and returns the end, or -1.
func (m *matcher) balance(s, p int) int {
	if p+1 >= len(m.pattern) {
		m.t.fail("unbalanced pattern")
	}
	if s >= len(m.src) || m.src[s] != m.pattern[p] {
		return -1
	}
	open, closing, depth := m.pattern[p], m.pattern[p+1], 1
	for i := s + 1; i < len(m.src); i++ {
		switch m.src[i] {
		case closing:
			if depth--; depth == 0 {
				m.t.m.spend(i - s)
				return i + 1
			}
		case open:
			depth++
		}
	}
	m.t.m.spend(len(m.src) - s)
	return -1
}

// frontier matches %f[set] and returns what follows it in the pattern.
func (m *matcher) frontier(s, p int) (int, bool) {
	if m.at(p) != '[' {
		m.t.fail("missing '[' after '%%f' in pattern")
	}
	end := m.classEnd(p)
	var before, here byte
	if s > 0 {
		before = m.src[s-1]
	}
	if s < len(m.src) {
		here = m.src[s]
	}
	return end, !m.inSet(before, p, end-1) && m.inSet(here, p, end-1)
}

// back matches what a capture matched and returns the end, or -1.
func (m *matcher) back(s int, digit byte) int {
	at := int(digit) - '1'
	if at < 0 || at >= m.level || m.found[at].length == openCapture {
		m.t.fail("invalid capture index")
	}
	c := m.found[at]
	if c.length < 0 || !bytes.HasPrefix(m.src[s:], m.src[c.start:c.start+c.length]) {
		return -1
	}
	m.t.m.spend(c.length / bytesPerStep)
	return s + c.length
}

// capture is what a capture matched, or the whole match without any.
func (m *matcher) capture(i, start, end int) value {
	if i >= m.level {
		if i != 0 {
			m.t.fail("invalid capture index")
		}
		return m.t.heap.copied(m.src[start:end])
	}
	c := m.found[i]
	switch c.length {
	case openCapture:
		m.t.fail("unfinished capture")
	case positionCapture:
		return number(float64(c.start + 1))
	}
	return m.t.heap.copied(m.src[c.start : c.start+c.length])
}

// captures are all captures, or the whole match without any unless start is
// negative.
func (m *matcher) captures(start, end int) []value {
	n := m.level
	if n == 0 && start >= 0 {
		n = 1
	}
	list := m.t.heap.vector(n)
	for i := range list {
		list[i] = m.capture(i, start, end)
	}
	return list
}

package script

import (
	"bytes"
	"fmt"
)

// token is a kind of word in a source: a byte that stands for itself, or one of
// these.
type token int

const (
	tokEOF token = iota + 256
	tokName
	tokNumber
	tokString
	tokConcat
	tokDots
	tokEq
	tokGe
	tokLe
	tokNe
	tokAnd
	tokBreak
	tokDo
	tokElse
	tokElseif
	tokEnd
	tokFalse
	tokFor
	tokFunction
	tokIf
	tokIn
	tokLocal
	tokNil
	tokNot
	tokOr
	tokRepeat
	tokReturn
	tokThen
	tokTrue
	tokUntil
	tokWhile
)

var tokenNames = [...]string{
	"<eof>", "<name>", "<number>", "<string>", "..", "...", "==", ">=", "<=", "~=",
	"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or",
	"repeat", "return", "then", "true", "until", "while",
}

// keywords are the words that are no names.
var keywords = reserved()

func reserved() map[string]token {
	words := map[string]token{}
	for t := tokAnd; t <= tokWhile; t++ {
		words[tokenNames[t-tokEOF]] = t
	}
	return words
}

func (t token) String() string {
	switch {
	case t >= tokEOF:
		return tokenNames[t-tokEOF]
	case t < 32:
		return fmt.Sprintf("char(%d)", int(t))
	}
	return string([]byte{byte(t)})
}

// lexer cuts a source into tokens.
type lexer struct {
	chunk string // its name in messages
	src   []byte
	pos   int
	line  int

	tok    token // the current one
	start  int   // where it begins
	num    float64
	str    []byte
	prior  int // line of the token before
	ahead  bool
	future struct {
		tok   token
		start int
		num   float64
		str   []byte
		line  int
	}
}

// peek is the byte at pos+i, or 0 at the end.
func (l *lexer) peek(i int) byte {
	if l.pos+i < len(l.src) {
		return l.src[l.pos+i]
	}
	return 0
}

// next moves to the following token.
func (l *lexer) next() {
	l.prior = l.line
	if l.ahead {
		l.ahead = false
		l.tok, l.start, l.num, l.str, l.line = l.future.tok, l.future.start, l.future.num, l.future.str, l.future.line
		return
	}
	l.tok = l.scan()
}

// lookahead is the token after the current one.
func (l *lexer) lookahead() token {
	tok, start, num, str, line := l.tok, l.start, l.num, l.str, l.line
	l.future.tok = l.scan()
	l.future.start, l.future.num, l.future.str, l.future.line = l.start, l.num, l.str, l.line
	l.tok, l.start, l.num, l.str, l.line = tok, start, num, str, line
	l.ahead = true
	return l.future.tok
}

func (l *lexer) scan() token {
	for l.skipBlank() {
	}
	l.start = l.pos
	if l.pos >= len(l.src) {
		return tokEOF
	}
	c := l.src[l.pos]
	switch {
	case isLetter(c):
		return l.word()
	case isDigit(c) || c == '.' && isDigit(l.peek(1)):
		return l.numeral()
	case c == '"' || c == '\'':
		return l.quoted(c)
	case c == '[' && (l.peek(1) == '[' || l.peek(1) == '='):
		return l.bracket()
	}
	return l.sign(c)
}

// skipBlank passes over a space, a line's end or a comment; false when there is
// none.
func (l *lexer) skipBlank() bool {
	c := l.peek(0)
	switch {
	case l.pos >= len(l.src):
		return false
	case c == '\n' || c == '\r':
		l.newline()
	case c == ' ' || c == '\t' || c == '\v' || c == '\f':
		l.pos++
	case c == '-' && l.peek(1) == '-':
		l.comment()
	default:
		return false
	}
	return true
}

// newline passes over one end of line: \n, \r, \r\n or \n\r.
func (l *lexer) newline() {
	first := l.src[l.pos]
	l.pos++
	if second := l.peek(0); (second == '\n' || second == '\r') && second != first && l.pos < len(l.src) {
		l.pos++
	}
	l.line++
}

func (l *lexer) comment() {
	l.start = l.pos
	l.pos += 2
	if l.peek(0) == '[' {
		if level := l.level(); level >= 0 {
			l.long(level, "unfinished long comment")
			return
		}
	}
	if end := bytes.IndexAny(l.src[l.pos:], "\r\n"); end >= 0 {
		l.pos += end
	} else {
		l.pos = len(l.src)
	}
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func (l *lexer) word() token {
	for isLetter(l.peek(0)) || isDigit(l.peek(0)) {
		l.pos++
	}
	l.str = l.src[l.start:l.pos]
	if t, ok := keywords[string(l.str)]; ok {
		return t
	}
	return tokName
}

func (l *lexer) numeral() token {
	for isDigit(l.peek(0)) || l.peek(0) == '.' {
		l.pos++
	}
	if l.peek(0)|0x20 == 'e' {
		l.pos++
		if l.peek(0) == '+' || l.peek(0) == '-' {
			l.pos++
		}
	}
	for isLetter(l.peek(0)) || isDigit(l.peek(0)) {
		l.pos++
	}
	n, ok := parseNumber(l.src[l.start:l.pos])
	if !ok {
		l.failNear("malformed number", string(l.src[l.start:l.pos]))
	}
	l.num = n
	return tokNumber
}

// sign reads a token of signs.
func (l *lexer) sign(c byte) token {
	if c == '.' && l.peek(1) == '.' {
		if l.peek(2) == '.' {
			l.pos += 3
			return tokDots
		}
		l.pos += 2
		return tokConcat
	}
	if l.peek(1) == '=' {
		pairs := map[byte]token{'=': tokEq, '<': tokLe, '>': tokGe, '~': tokNe}
		if t, ok := pairs[c]; ok {
			l.pos += 2
			return t
		}
	}
	l.pos++
	return token(c)
}

// level is the number of = in an opening long bracket at pos, or -1.
func (l *lexer) level() int {
	n := 1
	for l.peek(n) == '=' {
		n++
	}
	if l.peek(n) != '[' {
		return -1
	}
	return n - 1
}

func (l *lexer) bracket() token {
	level := l.level()
	if level < 0 {
		l.pos = l.start + 1
		for l.peek(0) == '=' {
			l.pos++
		}
		l.failNear("invalid long string delimiter", string(l.src[l.start:l.pos]))
	}
	l.str = l.long(level, "unfinished long string")
	return tokString
}

// long reads up to the closing bracket of the level; ends of lines become \n.
func (l *lexer) long(level int, unfinished string) []byte {
	l.pos += level + 2
	if c := l.peek(0); l.pos < len(l.src) && (c == '\n' || c == '\r') {
		l.newline()
	}
	closing := append(append([]byte{']'}, bytes.Repeat([]byte{'='}, level)...), ']')
	var text []byte
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ']' && bytes.HasPrefix(l.src[l.pos:], closing):
			l.pos += len(closing)
			return text
		case c == '[' && level == 0 && l.peek(1) == '[':
			l.failNear("nesting of [[...]] is deprecated", "[")
		case c == '\n' || c == '\r':
			l.newline()
			text = append(text, '\n')
		default:
			text = append(text, c)
			l.pos++
		}
	}
	l.failNear(unfinished, "<eof>")
	return nil
}

func (l *lexer) quoted(quote byte) token {
	l.pos++
	var text []byte
	for {
		if l.pos >= len(l.src) {
			l.failNear("unfinished string", "<eof>")
		}
		switch c := l.src[l.pos]; c {
		case quote:
			l.pos++
			l.str = text
			return tokString
		case '\n', '\r':
			l.failNear("unfinished string", string(l.src[l.start:l.start+1])+string(text))
		case '\\':
			l.pos++
			text = l.escape(text)
		default:
			text = append(text, c)
			l.pos++
		}
	}
}

// escape reads what follows a backslash.
func (l *lexer) escape(text []byte) []byte {
	if l.pos >= len(l.src) {
		return text
	}
	c := l.src[l.pos]
	if c == '\n' || c == '\r' {
		l.newline()
		return append(text, '\n')
	}
	if isDigit(c) {
		n := 0
		for i := 0; i < 3 && isDigit(l.peek(0)); i++ {
			n = n*10 + int(l.src[l.pos]-'0')
			l.pos++
		}
		if n > 255 {
			l.failNear("escape sequence too large", string(l.src[l.start:l.start+1])+string(text))
		}
		return append(text, byte(n))
	}
	l.pos++
	if i := bytes.IndexByte([]byte("abfnrtv"), c); i >= 0 {
		c = "\a\b\f\n\r\t\v"[i]
	}
	return append(text, c)
}

// syntaxError is what is wrong with a source.
type syntaxError struct{ text string }

func (l *lexer) fail(text string) {
	panic(syntaxError{fmt.Sprintf("%s:%d: %s", l.chunk, l.line, text)})
}

func (l *lexer) failNear(text, near string) { l.fail(text + " near '" + near + "'") }

// failHere complains about the current token.
func (l *lexer) failHere(text string) {
	near := l.tok.String()
	if l.tok == tokName || l.tok == tokNumber || l.tok == tokString {
		end := l.pos
		if l.ahead {
			end = l.future.start
		}
		near = string(bytes.TrimRight(l.src[l.start:end], spaces))
	}
	l.failNear(text, near)
}

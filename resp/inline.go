package resp

import "bytes"

// inline reads a command typed as one line of words, what a person sends with
// nc. It returns false when the line has not arrived or is wrong.
func (r *Reader) inline() bool {
	end := r.lineEnd('\n', r.pos, errBigInline)
	if end < 0 {
		return false
	}
	line := bytes.TrimSuffix(r.buf[r.pos:end], []byte{'\r'})
	args, ok := splitLine(r.args, line)
	switch {
	case !ok:
		return r.fail(errQuotes)
	case len(args)-r.first > r.limits.Args:
		return r.fail(errMultibulk)
	}
	r.args, r.pos = args, end+1
	return true
}

// blanks separate words: isspace in the C locale.
const blanks = " \t\n\v\f\r"

// splitLine appends the words of line to args, by the rules of sdssplitargs in
// Redis' sds.c. It returns false when a quote is not closed, or closed in the
// middle of a word. Words are views of the line, and escapes are resolved where
// they stand: what they mean is never longer than how they are written.
func splitLine(args [][]byte, line []byte) ([][]byte, bool) {
	for {
		line = bytes.TrimLeft(line, blanks)
		if len(line) == 0 {
			return args, true
		}
		word, rest, ok := firstWord(line)
		if !ok {
			return args, false
		}
		args, line = append(args, word), rest
	}
}

// firstWord splits off the word that line begins with. A quote may open anywhere
// in the word and ends it where it closes. A vertical tab and a form feed separate
// words but do not end one, which is an oddity of Redis.
func firstWord(line []byte) (word, rest []byte, ok bool) {
	word = line[:0]
	for i, c := range line {
		switch c {
		case ' ', '\n', '\r', '\t':
			return word[:len(word):len(word)], line[i:], true
		case '"', '\'':
			word, rest, ok = unquote(word, line[i+1:], c)
			if !ok || len(rest) > 0 && bytes.IndexByte([]byte(blanks), rest[0]) < 0 {
				return nil, nil, false
			}
			return word[:len(word):len(word)], rest, true
		}
		word = append(word, c)
	}
	return word[:len(word):len(word)], nil, true
}

// unquote appends to word what text holds up to the closing quote, and returns
// what follows that. Between double quotes a backslash escapes; between single
// quotes it does so only before a single quote.
func unquote(word, text []byte, quote byte) (quoted, rest []byte, ok bool) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == quote {
			return word, text[i+1:], true
		}
		if c == '\\' && i+1 < len(text) && (quote == '"' || text[i+1] == quote) {
			var size int
			c, size = unescape(text[i+1:])
			i += size
		}
		word = append(word, c)
	}
	return nil, nil, false
}

// unescape returns the byte that the text after a backslash stands for, and how
// many bytes of the text that took.
func unescape(text []byte) (c byte, size int) {
	switch text[0] {
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'b':
		return '\b', 1
	case 'a':
		return '\a', 1
	case 'x':
		if len(text) >= 3 && isHex(text[1]) && isHex(text[2]) {
			return hexDigit(text[1])<<4 | hexDigit(text[2]), 3
		}
	}
	return text[0], 1
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// hexDigit returns the value of a hexadecimal digit. The low four bits of a letter
// count from 1, in both cases.
func hexDigit(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&0xf + 9
}

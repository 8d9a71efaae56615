package redistest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Show renders the first reply in b as redis-cli does, and returns what follows
// it. It panics on what is no reply.
func Show(b []byte) (text string, rest []byte) { return show(b, "") }

// show renders with the lines after the first indented.
func show(b []byte, indent string) (string, []byte) {
	head, rest, ok := bytes.Cut(b, []byte("\r\n"))
	if !ok || len(head) == 0 {
		panic(fmt.Sprintf("not a reply: %q", b))
	}
	text := string(head[1:])
	switch head[0] {
	case '+':
		return text, rest
	case '-':
		return "(error) " + text, rest
	case ':':
		return "(integer) " + text, rest
	case ',':
		return "(double) " + text, rest
	case '#':
		return map[string]string{"t": "(true)", "f": "(false)"}[text], rest
	case '_':
		return "(nil)", rest
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("not a reply: %q", b))
	}
	switch head[0] {
	case '$', '=':
		if n < 0 {
			return "(nil)", rest
		}
		return quote(rest[:n]), rest[n+2:]
	case '*', '~', '>':
		return showAll(rest, n, indent, ") ", 1)
	case '%':
		return showAll(rest, n, indent, "# ", 2)
	}
	panic(fmt.Sprintf("not a reply: %q", b))
}

// showAll renders n elements, or n pairs, numbered.
func showAll(b []byte, n int, indent, mark string, per int) (string, []byte) {
	if n < 0 {
		return "(nil)", b
	}
	if n == 0 {
		return map[int]string{1: "(empty array)", 2: "(empty hash)"}[per], b
	}
	width := len(strconv.Itoa(n))
	var out []string
	for i := 1; i <= n; i++ {
		label := fmt.Sprintf("%*d%s", width, i, mark)
		deeper := indent + strings.Repeat(" ", len(label))
		var element string
		element, b = show(b, deeper)
		if per == 2 {
			var value string
			value, b = show(b, deeper)
			element += " => " + value
		}
		if i > 1 {
			label = indent + label
		}
		out = append(out, label+element)
	}
	return strings.Join(out, "\n"), b
}

// quote writes a bulk string as redis-cli does.
func quote(b []byte) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range b {
		switch {
		case c == '"' || c == '\\':
			out.WriteString(`\` + string(rune(c)))
		case c == '\n':
			out.WriteString(`\n`)
		case c == '\r':
			out.WriteString(`\r`)
		case c == '\t':
			out.WriteString(`\t`)
		case c < 32 || c > 126:
			fmt.Fprintf(&out, `\x%02x`, c)
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}

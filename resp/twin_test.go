package resp_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/resp"
	"pgregory.net/rapid"
)

// slowCommands is the Reader's twin: it takes a whole stream at once, copies
// everything, and follows the C code of Redis line by line rather than fast. What
// is left when it returns has not arrived whole.
func slowCommands(in string, l resp.Limits, unauthenticated bool) (commands [][]string, failure string) {
	for in != "" {
		var command []string
		var whole bool
		if in[0] == '*' {
			command, in, whole, failure = slowFrame(in, l, unauthenticated)
		} else {
			command, in, whole, failure = slowLine(in, l)
		}
		if failure != "" || !whole {
			return commands, failure
		}
		if len(command) > 0 {
			commands = append(commands, command)
		}
	}
	return commands, ""
}

func slowLine(in string, l resp.Limits) (words []string, rest string, whole bool, failure string) {
	line, rest, whole := strings.Cut(in, "\n")
	if len(line) > l.Inline {
		return nil, "", false, "Protocol error: too big inline request"
	}
	if !whole {
		return nil, "", false, ""
	}
	words, ok := slowSplit(strings.TrimSuffix(line, "\r"))
	if !ok {
		return nil, "", false, "Protocol error: unbalanced quotes in request"
	}
	if len(words) > l.Args {
		return nil, "", false, "Protocol error: invalid multibulk length"
	}
	return words, rest, true, ""
}

func slowFrame(in string, l resp.Limits, unauthenticated bool) (words []string, rest string, whole bool, failure string) {
	line, rest, whole, failure := slowHeader(in, l, "mbulk")
	if !whole {
		return nil, "", false, failure
	}
	count, ok := slowNumber(line[1:])
	if !ok || count > int64(l.Args) {
		return nil, "", false, "Protocol error: invalid multibulk length"
	}
	if unauthenticated && count > 10 {
		return nil, "", false, "Protocol error: unauthenticated multibulk length"
	}
	for ; count > 0; count-- {
		line, rest, whole, failure = slowHeader(rest, l, "bulk")
		if !whole {
			return nil, "", false, failure
		}
		if !strings.HasPrefix(line, "$") {
			got := (line + "\r")[:1]
			return nil, "", false, "Protocol error: expected '$', got '" + got + "'"
		}
		size, ok := slowNumber(line[1:])
		if !ok || size < 0 || size > int64(l.Bulk) {
			return nil, "", false, "Protocol error: invalid bulk length"
		}
		if unauthenticated && size > 16384 {
			return nil, "", false, "Protocol error: unauthenticated bulk length"
		}
		if int64(len(rest)) < size+2 {
			return nil, "", false, ""
		}
		words = append(words, rest[:size])
		rest = rest[size+2:]
	}
	return words, rest, true, ""
}

func slowHeader(in string, l resp.Limits, kind string) (line, rest string, whole bool, failure string) {
	line, rest, whole = strings.Cut(in, "\r")
	if len(line) > l.Inline {
		return "", "", false, "Protocol error: too big " + kind + " count string"
	}
	if !whole || rest == "" {
		return "", "", false, ""
	}
	return line, rest[1:], true, ""
}

// slowNumber: Redis takes the numbers that it would write itself.
func slowNumber(text string) (n int64, ok bool) {
	_, err := fmt.Sscanf(text, "%d", &n)
	return n, err == nil && fmt.Sprint(n) == text
}

// slowSplit is sdssplitargs with the end of the string in place of a null byte.
func slowSplit(line string) (words []string, ok bool) {
	const blank = " \t\n\v\f\r"
	at := func(i int) string {
		if i < len(line) {
			return line[i : i+1]
		}
		return ""
	}
	for i := 0; ; {
		for at(i) != "" && strings.Contains(blank, at(i)) {
			i++
		}
		if at(i) == "" {
			return words, true
		}
		word, quote := "", ""
		for {
			c := at(i)
			i++
			if quote == "" {
				if c == "" || strings.Contains(" \n\r\t", c) {
					break
				}
				if c == `"` || c == `'` {
					quote = c
					continue
				}
				word += c
				continue
			}
			if c == "" {
				return nil, false
			}
			if c == quote {
				if at(i) != "" && !strings.Contains(blank, at(i)) {
					return nil, false
				}
				break
			}
			if c == `\` && (quote == `"` && at(i) != "" || quote == `'` && at(i) == `'`) {
				text, used := slowEscape(line[i:])
				word += text
				i += used
				continue
			}
			word += c
		}
		words = append(words, word)
	}
}

// slowEscape reads what follows a backslash.
func slowEscape(text string) (meaning string, used int) {
	var b byte
	if len(text) >= 3 && strings.Trim(text[1:3], "0123456789abcdefABCDEF") == "" {
		if _, err := fmt.Sscanf(text[:3], "x%02x", &b); err == nil {
			return string([]byte{b}), 3
		}
	}
	switch text[:1] {
	case "n", "r", "t", "b", "a":
		return strings.NewReplacer("n", "\n", "r", "\r", "t", "\t", "b", "\b", "a", "\a").Replace(text[:1]), 1
	}
	return text[:1], 1
}

// pieces is a source that brings one piece at each read, then io.EOF.
type pieces []string

func (p *pieces) Read(to []byte) (int, error) {
	if len(*p) == 0 {
		return 0, io.EOF
	}
	n := copy(to, (*p)[0])
	if (*p)[0] = (*p)[0][n:]; (*p)[0] == "" {
		*p = (*p)[1:]
	}
	return n, nil
}

// readAll returns the commands of a Reader and how they ended: io.EOF, a protocol
// error, or what else Fill said. The arguments are copied only just before the
// Fill that ends their life.
func readAll(r *resp.Reader) (commands [][]string, end error) {
	var held [][][]byte
	keep := func() {
		for _, args := range held {
			commands = append(commands, texts(args))
		}
		held = held[:0]
	}
	for {
		args, err := r.Next()
		switch {
		case err != nil:
			keep()
			return commands, err
		case args != nil:
			held = append(held, args)
			continue
		}
		keep()
		if err := r.Fill(); err != nil {
			return commands, err
		}
	}
}

func texts(args [][]byte) (words []string) {
	for _, a := range args {
		words = append(words, string(a))
	}
	return words
}

// tight limits are within reach of a generator.
func tight() resp.Limits { return resp.Limits{Args: 12, Bulk: 40, Query: 1 << 20, Inline: 60} }

// anyStream draws what a client might send: whole commands, and in some streams
// one that is broken or over the limits.
func anyStream() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		good := rapid.SliceOfN(rapid.OneOf(anyMultibulk(12, 40), anyTyped()), 0, 9)
		bad := rapid.SliceOfN(rapid.OneOf(anyMultibulk(14, 42), anyBroken()), 0, 2)
		frames := slices.Concat(good.Draw(t, "good"), bad.Draw(t, "bad"), good.Draw(t, "more"))
		return strings.Join(frames, "")
	})
}

func anyBroken() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"\r\n", "\n", "*0\r\n", "*-1\r\n", "*-10\r\n", "*2\r\n", "*1\r\n$-1\r\n", "*1\r\n$ 5\r\n", "*1\r\n$+5\r\n",
			"*1\r\n$05\r\n", "*05\r\n", "*+1\r\n", "*1\n$4\nPING\n", "*1\r\n:5\r\n", "*1\r\n$4\rXPINGYZ", "*1\r\n\r\n",
			"*9223372036854775807\r\n", "*9223372036854775808\r\n", "*1\r\n$99999999999\r\n", "*1\r\n$-0\r\n", "*\r\n",
		}),
		rapid.StringMatching(`[*$:+0-9a \r\n"']{0,12}`),
		rapid.StringMatching(`([a-c]{1,3}|"[a-c\\'x2n\t ]{0,9}"|'[a-c\\" ]{0,5}'|[ \t\x0b"'\\]{1,2}){0,8}\r?\n`),
		rapid.Map(rapid.IntRange(55, 65), func(n int) string { return strings.Repeat("a", n) + "\r\n" }),
		rapid.Map(rapid.IntRange(10, 15), func(n int) string { return strings.Repeat("a ", n) + "\r\n" }),
	)
}

func anyMultibulk(mostArgs, mostBytes int) *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, mostBytes), 0, mostArgs), func(args [][]byte) string {
		frame := fmt.Sprintf("*%d\r\n", len(args))
		for _, a := range args {
			frame += fmt.Sprintf("$%d\r\n%s\r\n", len(a), a)
		}
		return frame
	})
}

// anyTyped draws an inline command whose quotes are in order.
func anyTyped() *rapid.Generator[string] {
	word := `([a-c]{0,3}("([a-c' ]|\\[!-~]|\\x[0-9a-fA-F]{2}){0,4}"|'([a-c" ]|\\'){0,4}')|[a-c\\]{1,3})`
	return rapid.StringMatching(`( ?` + word + `[ \t\x0b]{0,1} ){0,4}\r?\n`)
}

// cut splits a text at drawn places.
func cut(t *rapid.T, text string) (parts pieces) {
	for text != "" {
		n := rapid.IntRange(1, len(text)).Draw(t, "piece")
		parts, text = append(parts, text[:n]), text[n:]
	}
	return parts
}

func TestAnyStreamReadsAsItsTwinHoweverItArrives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := anyStream().Draw(t, "stream")
		unauthenticated := rapid.Bool().Draw(t, "unauthenticated")
		want, failure := slowCommands(stream, tight(), unauthenticated)

		parts := cut(t, stream)
		r := resp.NewReader(&parts, tight())
		r.SetUnauthenticated(unauthenticated)
		got, end := readAll(r)

		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("%q reads as %q, want %q", stream, got, want)
		}
		if failure == "" {
			failure = io.EOF.Error()
		}
		if end.Error() != failure {
			t.Fatalf("%q ends with %q, want %q", stream, end, failure)
		}
	})
}

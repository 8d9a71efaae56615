package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
	"pgregory.net/rapid"
)

// set is one element of a pattern that stands for one byte; nil is a star.
type set func(byte) bool

// elementsOf takes a pattern apart, one element after another.
func elementsOf(pattern string) (all []set) {
	for len(pattern) > 0 {
		head, rest := pattern[0], pattern[1:]
		switch {
		case head == '*':
			all = append(all, nil)
		case head == '?':
			all = append(all, func(byte) bool { return true })
		case head == '[':
			var one set
			one, rest = classOf(rest)
			all = append(all, one)
		case head == '\\' && rest != "":
			head, rest = rest[0], rest[1:]
			fallthrough
		default:
			all = append(all, func(c byte) bool { return c == head })
		}
		pattern = rest
	}
	return all
}

// classOf reads the inside of a class, and returns what follows it.
func classOf(inside string) (set, string) {
	inside, not := strings.CutPrefix(inside, "^")
	in := map[byte]bool{}
	for inside != "" && inside[0] != ']' {
		from, to := inside[0], inside[0]
		switch {
		case len(inside) >= 2 && from == '\\':
			from, to, inside = inside[1], inside[1], inside[2:]
		case len(inside) >= 3 && inside[1] == '-':
			to, inside = inside[2], inside[3:]
		default:
			inside = inside[1:]
		}
		if int8(from) > int8(to) {
			from, to = to, from
		}
		for c := int(int8(from)); c <= int(int8(to)); c++ {
			in[byte(c)] = true
		}
	}
	return func(c byte) bool { return in[c] != not }, strings.TrimPrefix(inside, "]")
}

// dumbMatch tries every length for every star.
func dumbMatch(elements []set, text string) bool {
	switch {
	case len(elements) == 0:
		return text == ""
	case elements[0] == nil:
		return dumbMatch(elements[1:], text) || (text != "" && dumbMatch(elements, text[1:]))
	default:
		return text != "" && elements[0](text[0]) && dumbMatch(elements[1:], text[1:])
	}
}

// dumbGlob is dumbMatch with Redis' word on the empty text.
func dumbGlob(pattern, text string) bool {
	if text == "" {
		return pattern == ""
	}
	return dumbMatch(elementsOf(pattern), text)
}

// globPattern draws patterns that are worth something more often than not,
// unfinished ones among them.
var globPattern = rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
	"a", "b", "c", "*", "*", "?", "[a-b]", "[^a-b]", "[ab", "[a-b", "[b-a]", "[\\", "[\\]]", "[^", "[", "]", "[]", "[a-", "[a-]", "^", "-", "\\", "\\*", "\x80", "[\x80-\xff]", "[a-\xff]",
}), 0, 6), func(parts []string) string { return strings.Join(parts, "") })

func globText(bytes string, most int) *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte(bytes)), 0, most), func(b []byte) string { return string(b) })
}

func TestGlobLikeTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := globPattern.Draw(t, "pattern")
		text := globText("ab[]^-\\c*\x80\xff", 8).Draw(t, "text")
		got, steps := glob([]byte(pattern), []byte(text))
		if want := dumbGlob(pattern, text); got != want {
			t.Fatalf("glob(%q, %q) = %v, want %v", pattern, text, got, want)
		}
		if most := (len(pattern) + 1) * (len(text) + 1); steps > most {
			t.Fatalf("glob(%q, %q) took %d steps, at most %d", pattern, text, steps, most)
		}
	})
}

// TestGlobLikeRedis asks redis-server which of some keys match.
func TestGlobLikeRedis(t *testing.T) {
	redis := startRedis(t)
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(globText("ab[]^-\\c*\x80\xff", 6), 1, 20, rapid.ID[string]).Draw(t, "keys")
		set := []string{"MSET"}
		for _, key := range keys {
			set = append(set, key, "")
		}
		redis.send(t, redistest.Request("FLUSHALL"), redistest.Request(set...))
		for range 20 {
			pattern := globPattern.Draw(t, "pattern")
			w := every(1)
			w.match([]byte(pattern))
			var got []string
			for _, key := range keys {
				if ok, _ := glob(w.pattern, []byte(key)); ok || w.pattern == nil {
					got = append(got, key)
				}
			}
			want := elements(redis.send(t, redistest.Request("KEYS", pattern))[0])
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("KEYS %q\nredis: %q\nours:  %q", pattern, want, got)
			}
		}
	})
}

// TestGlobIsBounded counts steps on patterns that make a recursive matcher work
// for hours.
func TestGlobIsBounded(t *testing.T) {
	text := []byte(strings.Repeat("a", 2000))
	for _, pattern := range []string{
		strings.Repeat("a*", 100) + "b", strings.Repeat("*a", 100) + "b", strings.Repeat("*", 200) + "b",
		strings.Repeat("*[a-c]", 100) + "[^a]", strings.Repeat("?*", 100) + "b", strings.Repeat("*aa", 50) + "*b*",
	} {
		matches, steps := glob([]byte(pattern), text)
		if matches {
			t.Errorf("%.20q... matches", pattern)
		}
		if most := (len(text) + 1) * (len(pattern) + 1); steps > most || steps < len(text) {
			t.Errorf("%.20q...: %d steps, want %d to %d", pattern, steps, len(text), most)
		}
	}
}

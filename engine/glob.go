package engine

import "math"

// glob says whether text matches pattern by the rules of Redis' KEYS and SCAN
// MATCH, its odd corners included:
//
//	?        one byte
//	*        any bytes
//	[a-z\]]  one byte of the class; [^a-z] one that is not in it
//	\x       the byte x itself
//
// An empty text matches only an empty pattern, and a class without its ] ends
// with the pattern. The steps counted are the bytes of pattern looked at; there
// are at most (len(text)+1) * (len(pattern)+1) of them, whatever the pattern:
// only the last * is ever tried again.
func glob(pattern, text []byte) (matches bool, steps int) {
	return globWithin(pattern, text, math.MaxInt)
}

// globWithin is glob that gives up, and says false, after so many steps: it has
// then counted more.
func globWithin(pattern, text []byte, most int) (matches bool, steps int) {
	if len(text) == 0 {
		return len(pattern) == 0, 0
	}
	p, t := 0, 0
	star, swallowed := -1, 0 // what follows the last *, and where the text it took ends
	for t < len(text) && steps <= most {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			steps++
			star, swallowed = p, t
			continue
		}
		next, ok := globOne(pattern, p, text[t])
		steps += max(next-p, 1)
		switch {
		case ok:
			p, t = next, t+1
		case star < 0:
			return false, steps
		default:
			swallowed++
			p, t = star, swallowed
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return t == len(text) && p == len(pattern), steps
}

// globOne compares one byte with the element of pattern at p, which is no *. It
// returns where the next element begins.
func globOne(pattern []byte, p int, c byte) (next int, ok bool) {
	if p == len(pattern) {
		return p, false
	}
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		return globClass(pattern, p+1, c)
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	}
	return p + 1, pattern[p] == c
}

// globClass compares one byte with the class whose inside begins at p.
func globClass(pattern []byte, p int, c byte) (next int, ok bool) {
	not := p < len(pattern) && pattern[p] == '^'
	if not {
		p++
	}
	for p < len(pattern) && pattern[p] != ']' {
		switch left := len(pattern) - p; {
		case left >= 2 && pattern[p] == '\\':
			ok = ok || pattern[p+1] == c
			p += 2
		case left >= 3 && pattern[p+1] == '-':
			ok = ok || globRange(pattern[p], pattern[p+2], c)
			p += 3
		default:
			ok = ok || pattern[p] == c
			p++
		}
	}
	return min(p+1, len(pattern)), ok != not
}

// globRange compares one byte with a range, whose ends may stand in any order.
// Bytes count as signed, as in Redis on the machines it runs on.
func globRange(from, to, c byte) bool {
	low, high := min(int8(from), int8(to)), max(int8(from), int8(to))
	return low <= int8(c) && int8(c) <= high
}

// Match says whether text matches pattern by the rules of KEYS.
func Match(pattern, text []byte) bool {
	matches, _ := glob(pattern, text)
	return matches
}

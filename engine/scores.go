package engine

import (
	"bytes"
	"iter"
	"math"
	"strconv"

	"github.com/limitstore/limitstore/resp"
	"github.com/limitstore/limitstore/shard"
)

// Scores are doubles, calculated with here and kept in shard as their bits. Zero
// has no sign: Redis loses it in small sorted sets, and it is lost in all here.

// scoreOf is a number, not NaN, as it is kept.
func scoreOf(f float64) shard.Score {
	if f == 0 {
		return 0
	}
	return shard.Score(math.Float64bits(f))
}

// float is the number that a score is.
func float(s shard.Score) float64 { return math.Float64frombits(uint64(s)) }

// strtod reads a number as C's strtod does when it must use up the whole word; NaN
// is none here. beyond says that it is not a double: the value is infinite, or
// zero, instead.
func strtod(word []byte) (value float64, beyond, ok bool) {
	digits, sign := word, 1.0
	if len(word) > 0 && (word[0] == '-' || word[0] == '+') {
		digits = word[1:]
		if word[0] == '-' {
			sign = -1
		}
	}
	if EqualFold(digits, "INF") || EqualFold(digits, "INFINITY") {
		return math.Inf(int(sign)), false, true
	}
	n, ok := spell(digits)
	if !ok {
		return 0, false, false
	}
	text := string(digits)
	if n.base == 16 && n.exponent == nil {
		text += "p0" // Go insists on what C leaves out
	}
	value, err := strconv.ParseFloat(text, 64)
	beyond = err != nil || value == 0 && bytes.ContainsAny(n.mantissa, "123456789abcdefABCDEF")
	return sign * value, beyond, true
}

// parseDouble reads a double as Redis reads a score; false when it is none, NaN
// and what is too large or too small included.
func parseDouble(word []byte) (float64, bool) {
	if n, ok := Int(word); ok && -1<<53 <= n && n <= 1<<53 {
		return float64(n), true
	}
	value, beyond, ok := strtod(word)
	return value, ok && !beyond
}

// blanks are what C skips before a number.
const blanks = " \t\n\v\f\r"

// scoreBound is one end of a range of scores.
type scoreBound struct {
	score     shard.Score
	exclusive bool
}

// parseScoreBound reads an end of a range as Redis does: with "(" before it to
// exclude it, up to a zero byte, after blanks, and nothing at all is 0.
func parseScoreBound(word []byte) (b scoreBound, ok bool) {
	word, _, _ = bytes.Cut(word, []byte{0})
	if len(word) > 0 && word[0] == '(' {
		b.exclusive, word = true, word[1:]
	}
	if len(word) == 0 {
		return b, true
	}
	value, _, ok := strtod(bytes.TrimLeft(word, blanks))
	b.score = scoreOf(value)
	return b, ok
}

// memberBound is one end of a range of members.
type memberBound struct {
	member    []byte
	exclusive bool
	end       int // -1 before all members, 1 after all
}

// parseMemberBound reads an end of a range of members: "-", "+", or a member
// after "(" or "[".
func parseMemberBound(word []byte) (b memberBound, ok bool) {
	if len(word) == 0 {
		return b, false
	}
	b.member = word[1:]
	switch alone := len(word) == 1 || word[1] == 0; word[0] {
	case '-':
		b.end, ok = -1, alone
	case '+':
		b.end, ok = 1, alone
	case '(':
		b.exclusive, ok = true, true
	case '[':
		ok = true
	}
	return b, ok
}

// ranks are a range of members, as the ranks from first to end-1.
type ranks struct{ first, end int }

func (r ranks) len() int { return max(0, r.end-r.first) }

// rank is how many members lie before the bound, or on it if orEqual.
func (b memberBound) rank(z *shard.SortedSet, orEqual bool) int {
	switch {
	case b.end < 0:
		return 0
	case b.end > 0:
		return z.Len()
	}
	return z.Before(b.member, orEqual)
}

// span is the part of n elements from start to stop, both included and counted
// from the end when negative, as ranks.
func span(n int, start, stop int64) ranks {
	length := int64(n)
	if start < 0 {
		start = max(0, start+length)
	}
	if stop < 0 {
		stop += length
	}
	stop = min(stop, length-1)
	if start > stop {
		return ranks{}
	}
	return ranks{int(start), int(stop) + 1}
}

// ranked replies with n members, and their scores if wanted: pairs in RESP3, one
// after the other in RESP2.
func (c *Call) ranked(members iter.Seq[shard.Ranked], n int, scores bool) {
	switch {
	case !scores:
		c.Out.Array(n)
		for x := range members {
			c.Out.Bulk(x.Member)
		}
	case c.Out.Proto() == resp.RESP3:
		c.Out.Array(n)
		for x := range members {
			c.Out.Array(2)
			c.Out.Bulk(x.Member)
			c.Out.Double(float(x.Score))
		}
	default:
		c.flat(members, n)
	}
}

// flat replies with n members and their scores, one after the other.
func (c *Call) flat(members iter.Seq[shard.Ranked], n int) {
	c.Out.Array(2 * n)
	for x := range members {
		c.Out.Bulk(x.Member)
		c.Out.Double(float(x.Score))
	}
}

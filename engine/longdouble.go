package engine

import (
	"bytes"
	"math/big"
	"strconv"

	"github.com/limitstore/limitstore/shard"
)

// INCRBYFLOAT and INCREX BYFLOAT calculate as Redis does on x86-64, in C's long
// double: a significand of 64 bits, rounded to nearest even, and an exponent of
// 15 bits. big.Float does the same bit for bit and on every machine. One
// difference is left, and no reply shows it: what lies below the smallest normal
// number (3.4e-4932) keeps its 64 bits here.
const (
	significandBits = 64
	largestExponent = 16384      // of a value in [0.5,1) * 2^exponent
	leastExponent   = -16445     // of the smallest number, likewise
	longestNumber   = 5*1024 - 1 // bytes of text; Redis' own limit
	farExponent     = 10_100     // no text of longestNumber bytes with a larger decimal exponent is in range
	shownDecimals   = 17         // digits written after the point
)

// largestLongDouble is the largest finite long double.
func largestLongDouble() *big.Float {
	ones := new(big.Float).SetPrec(significandBits).SetUint64(1<<64 - 1)
	return ones.SetMantExp(ones, largestExponent-significandBits)
}

// parseLongDouble reads a number as C's strtold does when it must use up the
// whole word: decimal or hexadecimal, with an optional exponent, or inf. It says
// false for anything else, NaN, blanks and numbers out of range included.
func parseLongDouble(word []byte) (*big.Float, bool) {
	if len(word) == 0 || len(word) > longestNumber {
		return nil, false
	}
	digits, negative := word, false
	if word[0] == '-' || word[0] == '+' {
		digits, negative = word[1:], word[0] == '-'
	}
	if EqualFold(digits, "INF") || EqualFold(digits, "INFINITY") {
		return new(big.Float).SetInf(negative), true
	}
	value, ok := parseDigits(digits)
	if !ok {
		return nil, false
	}
	if negative {
		value.Neg(value)
	}
	return value, inRange(value)
}

// inRange says whether a finite value is a long double: neither too large nor
// rounded to zero without being zero.
func inRange(value *big.Float) bool {
	exponent := value.MantExp(nil)
	least := exponent > leastExponent || (exponent == leastExponent && value.MinPrec() > 1)
	return value.Sign() == 0 || (exponent <= largestExponent && least)
}

// parseDigits reads a number without its sign.
func parseDigits(word []byte) (*big.Float, bool) {
	n, ok := spell(word)
	if !ok {
		return nil, false
	}
	return scale(n.mantissa, n.exponent, n.base)
}

// numeral is a number without its sign as C writes one, taken apart.
type numeral struct {
	mantissa, exponent []byte // exponent is nil where there is none
	base               int    // of the mantissa: 10, or 16
}

// spell takes a number apart; false when the word is none.
func spell(word []byte) (n numeral, ok bool) {
	marker, digit := "eE", isDecimal
	n.base = 10
	if len(word) > 2 && word[0] == '0' && word[1]|0x20 == 'x' {
		n.base, marker, digit = 16, "pP", isHex
		word = word[2:]
	}
	n.mantissa = word
	if at := bytes.IndexAny(word, marker); at >= 0 {
		n.mantissa, n.exponent = word[:at], word[at+1:]
		if !isExponent(n.exponent) {
			return n, false
		}
	}
	return n, isMantissa(n.mantissa, digit)
}

// isExponent says whether word is a whole number with an optional sign.
func isExponent(word []byte) bool {
	if len(word) > 0 && (word[0] == '-' || word[0] == '+') {
		word = word[1:]
	}
	for _, b := range word {
		if !isDecimal(b) {
			return false
		}
	}
	return len(word) > 0
}

// isMantissa says whether word is digits with at most one point among them.
func isMantissa(word []byte, digit func(byte) bool) bool {
	digits, points := 0, 0
	for _, b := range word {
		switch {
		case digit(b):
			digits++
		case b == '.':
			points++
		default:
			return false
		}
	}
	return digits > 0 && points <= 1
}

func isDecimal(b byte) bool { return '0' <= b && b <= '9' }

func isHex(b byte) bool { return isDecimal(b) || 'a' <= b|0x20 && b|0x20 <= 'f' }

// scale is the mantissa times ten, or two for hexadecimal, to the exponent,
// rounded once. It says false when the exponent alone puts it out of range.
func scale(mantissa, exponent []byte, base int) (*big.Float, bool) {
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	n, _ := new(big.Int).SetString(string(whole)+string(fraction), base)
	if n.Sign() == 0 {
		return new(big.Float).SetPrec(significandBits), true
	}
	power := 0
	if exponent != nil {
		var err error
		if power, err = strconv.Atoi(string(exponent)); err != nil {
			return nil, false
		}
	}
	if base == 16 {
		if power < -4*farExponent || power > 4*farExponent {
			return nil, false
		}
		value := new(big.Float).SetPrec(significandBits).SetInt(n)
		return value.SetMantExp(value, power-4*len(fraction)), true
	}
	if power < -farExponent || power > farExponent {
		return nil, false
	}
	return timesTen(n, power-len(fraction)), true
}

// timesTen is n times ten to the power, rounded once.
func timesTen(n *big.Int, power int) *big.Float {
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(power, -power))), nil)
	exact := new(big.Rat)
	if power < 0 {
		exact.SetFrac(n, ten)
	} else {
		exact.SetInt(n.Mul(n, ten))
	}
	return new(big.Float).SetPrec(significandBits).SetRat(exact)
}

// addLongDouble is a + b; infinite when that is too large. Not both may be
// infinite themselves.
func addLongDouble(a, b *big.Float) *big.Float {
	sum := new(big.Float).SetPrec(significandBits).Add(a, b)
	if sum.MantExp(nil) > largestExponent {
		sum.SetInf(sum.Signbit())
	}
	return sum
}

// formatLongDouble writes a finite number as Redis does for people: 17 digits
// after the point, without the zeros they end in, never in exponent form.
func formatLongDouble(value *big.Float) []byte {
	text := value.Append(nil, 'f', shownDecimals)
	text = bytes.TrimRight(text, "0")
	text = bytes.TrimSuffix(text, []byte("."))
	if string(text) == "-0" {
		return text[1:]
	}
	return text
}

// number is the value of a key as a long double, 0 when there is no key; false
// when the string there is no number.
func number(db *shard.Database, e *shard.Entry) (*big.Float, bool) {
	if !e.Exists() {
		return new(big.Float).SetPrec(significandBits), true
	}
	var room [maxDigits]byte
	return parseLongDouble(text(db, e, room[:]))
}

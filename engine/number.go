package engine

import (
	"bytes"
	"math"
	"math/bits"
)

// Int reads a decimal 64-bit integer as Redis does: an optional minus, no plus,
// no leading zeros, no spaces. It does not allocate.
func Int(word []byte) (int64, bool) {
	digits, negative := word, false
	if len(word) > 1 && word[0] == '-' {
		digits, negative = word[1:], true
	}
	if len(digits) == 0 || len(digits) > 19 {
		return 0, false
	}
	if digits[0] == '0' {
		return 0, len(word) == 1
	}
	var n uint64
	for _, b := range digits {
		if b < '0' || b > '9' {
			return 0, false
		}
		n = n*10 + uint64(b-'0')
	}
	switch {
	case negative && n <= 1<<63:
		return -int64(n), true
	case !negative && n <= math.MaxInt64:
		return int64(n), true
	}
	return 0, false
}

// unitMillis is the length of each unit of a duration.
func unitMillis(unit []byte) (uint64, bool) {
	switch string(unit) {
	case "ms":
		return 1, true
	case "", "s":
		return 1000, true
	case "m":
		return 60_000, true
	case "h":
		return 3_600_000, true
	case "d":
		return 86_400_000, true
	case "w":
		return 7 * 86_400_000, true
	}
	return 0, false
}

// Millis reads a duration: a number with a unit (ms s m h d w), or a bare number
// of seconds. Decimals are allowed when the result comes out in whole
// milliseconds: 1.5s is 1500. What does not fit 64 bits is math.MaxInt64, so
// that a range check names the range. It says false for anything that is no
// duration, a signed number included, and does not allocate.
func Millis(word []byte) (int64, bool) {
	whole := leadingDigits(word)
	rest := word[len(whole):]
	var decimals []byte
	if len(rest) > 0 && rest[0] == '.' {
		decimals = leadingDigits(rest[1:])
		rest = rest[1+len(decimals):]
		if len(decimals) == 0 {
			return 0, false
		}
	}
	unit, ok := unitMillis(rest)
	if len(whole) == 0 || !ok {
		return 0, false
	}
	part, ok := shareOf(decimals, unit)
	if !ok {
		return 0, false
	}
	high, low := bits.Mul64(spelled(whole), unit)
	if high != 0 || low > math.MaxInt64 || low+part > math.MaxInt64 {
		return math.MaxInt64, true
	}
	return int64(low + part), true
}

// leadingDigits is the run of decimal digits that word begins with.
func leadingDigits(word []byte) []byte {
	end := 0
	for end < len(word) && '0' <= word[end] && word[end] <= '9' {
		end++
	}
	return word[:end]
}

// spelled is the number that digits spell, or the largest there is when that is
// larger.
func spelled(digits []byte) uint64 {
	var n uint64
	for _, b := range digits {
		if n > (math.MaxUint64-9)/10 {
			return math.MaxUint64
		}
		n = n*10 + uint64(b-'0')
	}
	return n
}

// mostDecimals bounds the decimals of a duration, trailing zeros aside. No unit
// divides into a tenth of the powers of ten beyond it.
const mostDecimals = 18

// shareOf is the part of unit that decimals ask for, 0.5 of a minute being 30,000;
// false when that is not whole.
func shareOf(decimals []byte, unit uint64) (uint64, bool) {
	decimals = bytes.TrimRight(decimals, "0")
	if len(decimals) > mostDecimals {
		return 0, false
	}
	scale := uint64(1)
	for range decimals {
		scale *= 10
	}
	high, low := bits.Mul64(spelled(decimals), unit)
	part, left := bits.Div64(high, low, scale) // high < scale, as the decimals are
	return part, left == 0
}

package script

import (
	"bytes"
	"math"
	"strconv"
)

const spaces = " \t\n\v\f\r"

// parseNumber reads a number as Lua 5.1 on glibc does: decimal or hexadecimal,
// with spaces around it, also inf and nan.
func parseNumber(s []byte) (float64, bool) {
	if n, ok := parseDigits(s); ok {
		return n, true
	}
	if end := bytes.IndexByte(s, 0); end >= 0 { // it ends a string of C
		s = s[:end]
	}
	s = bytes.Trim(s, spaces)
	if len(s) == 0 {
		return 0, false
	}
	body, negative := s, s[0] == '-'
	if negative || s[0] == '+' {
		body = s[1:]
	}
	n, ok := parseBody(body)
	if negative {
		n = -n
	}
	return n, ok
}

// parseDigits is the short way for what is most often seen.
func parseDigits(s []byte) (float64, bool) {
	if len(s) == 0 || len(s) > 15 {
		return 0, false
	}
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return float64(n), true
}

// parseBody reads what follows the sign.
func parseBody(s []byte) (float64, bool) {
	if len(s) == 0 {
		return 0, false
	}
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		return parseHex(s)
	}
	if s[0]|0x20 == 'i' || s[0]|0x20 == 'n' {
		return parseWord(string(bytes.ToLower(s)))
	}
	digits, rest := countDigits(s, isDigit)
	if digits == 0 || !isExponent(rest, 'e') {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(s), 64)
	return n, err == nil || math.IsInf(n, 0) || n == 0
}

func parseWord(s string) (float64, bool) {
	switch s {
	case "inf", "infinity":
		return math.Inf(1), true
	case "nan":
		return math.Float64frombits(0x7ff8 << 48), true
	}
	return 0, false
}

// parseHex reads 0x1F, 0x1.8 and 0x1p4.
func parseHex(s []byte) (float64, bool) {
	digits, rest := countDigits(s[2:], isHex)
	if digits == 0 || !isExponent(rest, 'p') {
		return 0, false
	}
	text := string(s)
	if len(rest) == 0 {
		text += "p0"
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil || math.IsInf(n, 0) || n == 0
}

// countDigits counts the digits before and after a point.
func countDigits(s []byte, is func(byte) bool) (n int, rest []byte) {
	for point := false; len(s) > 0; s = s[1:] {
		if s[0] == '.' && !point {
			point = true
		} else if is(s[0]) {
			n++
		} else {
			break
		}
	}
	return n, s
}

// isExponent says whether s is nothing or a whole exponent.
func isExponent(s []byte, mark byte) bool {
	if len(s) == 0 {
		return true
	}
	if s[0]|0x20 != mark {
		return false
	}
	s = s[1:]
	if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	for _, c := range s {
		if !isDigit(c) {
			return false
		}
	}
	return len(s) > 0
}

func isDigit(c byte) bool { return c-'0' < 10 }
func isHex(c byte) bool   { return isDigit(c) || c|0x20-'a' < 6 && c >= 'A' }

// invalid is the NaN that the machines Redis runs on make of an operation on
// numbers that has no result.
func invalid() float64 { return math.Float64frombits(0xfff8 << 48) }

// orInvalid is n, or, when n is no number though x and y are, the machine's NaN.
func orInvalid(n, x, y float64) float64 {
	if n != n && x == x && y == y {
		return invalid()
	}
	return n
}

// parseBase reads a whole number as strtoul does, for tonumber with a base.
func parseBase(s []byte, base int) (float64, bool) {
	s = bytes.Trim(s, spaces)
	negative := len(s) > 0 && s[0] == '-'
	if negative || len(s) > 0 && s[0] == '+' {
		s = s[1:]
	}
	if base == 16 && len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		s = s[2:]
	}
	n, over := uint64(0), false
	for _, c := range s {
		d := digit(c)
		if d >= base {
			return 0, false
		}
		next := n*uint64(base) + uint64(d)
		over = over || n > (math.MaxUint64-uint64(d))/uint64(base)
		n = next
	}
	switch {
	case over:
		n = math.MaxUint64
	case negative:
		n = -n
	}
	return float64(n), len(s) > 0
}

// digit is the value of a digit in a base up to 36, or 36.
func digit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return int(c|0x20-'a') + 10
	}
	return 36
}

// appendNumber writes n as tostring does, by %.14g.
func appendNumber(b []byte, n float64) []byte {
	if i := int64(n); float64(i) == n && i > -1e14 && i < 1e14 && (i != 0 || !math.Signbit(n)) {
		return strconv.AppendInt(b, i, 10)
	}
	return appendGeneral(b, n, 14)
}

// appendGeneral writes n by %.<precision>g.
func appendGeneral(b []byte, n float64, precision int) []byte {
	if math.IsInf(n, 0) || math.IsNaN(n) {
		return append(b, special(n)...)
	}
	return strconv.AppendFloat(b, n, 'g', precision, 64)
}

// special writes what is no number as glibc does.
func special(n float64) string {
	word := "inf"
	if math.IsNaN(n) {
		word = "nan"
	}
	if math.Signbit(n) {
		return "-" + word
	}
	return word
}

// appendArgument writes n as an argument of a command: whole numbers in full,
// others so that they read back.
func appendArgument(b []byte, n float64) []byte {
	if n >= -1<<62 && n <= 1<<62 && n == math.Trunc(n) && (n != 0 || !math.Signbit(n)) {
		return strconv.AppendInt(b, int64(n), 10)
	}
	return appendGeneral(b, n, 17)
}

package resp

import (
	"bytes"
	"math"
	"strconv"
)

// maxDouble is the most bytes AppendDouble appends: a sign and 24 digits.
const maxDouble = 25

// AppendDouble appends f as Redis formats a double since 7.2 (d2string in its
// util.c): an integer up to 2^62 plainly, any other number in the shortest digits
// that read back as f. Redis' own digits are now and then one longer or another
// last one: its Grisu2 does not always find the shortest. They read back the same.
func AppendDouble(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "nan"...)
	case math.IsInf(f, 1):
		return append(b, "inf"...)
	case math.IsInf(f, -1):
		return append(b, "-inf"...)
	case f == 0 && math.Signbit(f):
		return append(b, "-0"...)
	case f == math.Trunc(f) && math.Abs(f) <= 1<<62:
		return strconv.AppendInt(b, int64(f), 10)
	case f < 0:
		b = append(b, '-')
	}
	// From "d.ddde±xx" to all digits and the power of ten of the last one.
	var text [maxDouble]byte
	digits, tail, _ := bytes.Cut(strconv.AppendFloat(text[:0], math.Abs(f), 'e', -1, 64), []byte{'e'})
	power := exponent(tail)
	if len(digits) > 1 {
		digits = append(digits[:1], digits[2:]...)
	}
	return appendDigits(b, digits, power-len(digits)+1)
}

// exponent reads what stands after the 'e' of a formatted float.
func exponent(tail []byte) int {
	n := 0
	for _, c := range tail[1:] {
		n = n*10 + int(c-'0')
	}
	if tail[0] == '-' {
		return -n
	}
	return n
}

// appendDigits appends digits times ten to the power of last. Where it turns from
// plain to exponent is emit_digits' choice in Redis' fpconv library; no verb of
// strconv draws that line in the same place.
func appendDigits(b, digits []byte, last int) []byte {
	first := last + len(digits) - 1 // the power of the first digit
	size := max(first, -first)
	switch point := len(digits) + last; {
	case last >= 0 && size < len(digits)+7:
		b = append(b, digits...)
		return append(b, "000000000000000000000000"[:last]...)
	case last < 0 && (last > -7 || size < 4) && point > 0:
		b = append(append(b, digits[:point]...), '.')
		return append(b, digits[point:]...)
	case last < 0 && (last > -7 || size < 4):
		b = append(append(b, "0."...), "000000000000000000000000"[:-point]...)
		return append(b, digits...)
	}
	b = append(b, digits[0])
	if len(digits) > 1 {
		b = append(append(b, '.'), digits[1:]...)
	}
	if first < 0 {
		return strconv.AppendInt(append(b, 'e'), int64(first), 10)
	}
	return strconv.AppendInt(append(b, "e+"...), int64(first), 10)
}

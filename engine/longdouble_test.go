package engine

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
	"pgregory.net/rapid"
)

// addText is INCRBYFLOAT on two words; false for what Redis refuses.
func addText(a, b string) (string, bool) {
	x, ok := parseLongDouble([]byte(a))
	y, ok2 := parseLongDouble([]byte(b))
	if !ok || !ok2 || x.IsInf() || y.IsInf() {
		return "", false
	}
	sum := addLongDouble(x, y)
	if sum.IsInf() {
		return "", false
	}
	return string(formatLongDouble(sum)), true
}

// TestLongDoubleVectors are sums from the documentation of INCRBYFLOAT, and the
// edges of the format.
func TestLongDoubleVectors(t *testing.T) {
	largest := largestLongDouble().Text('f', 0)
	for _, v := range []struct{ a, b, sum string }{
		{"10.50", "0.1", "10.6"},
		{"10.6", "-5", "5.6"},
		{"5.0e3", "2.0e2", "5200"},
		{"0.1", "0.2", "0.3"},
		{"1e18", "1", "1000000000000000001"},
		{"18446744073709551615", "1", "18446744073709551616"}, // 2^64: the last whole number that is followed by the next
		{"18446744073709551616", "1", "18446744073709551616"},
		{"0", "1e-17", "0.00000000000000001"},
		{"0", "4e-18", "0"},
		{"-1e-20", "0", "0"},
		{"0x10", "0x.8p1", "17"},
		{largest, "-" + largest, "0"},
	} {
		if got, ok := addText(v.a, v.b); !ok || got != v.sum {
			t.Errorf("%s + %s = %q %v, want %s", v.a, v.b, got, ok, v.sum)
		}
	}
	if _, ok := addText(largest, largest); ok {
		t.Error("the largest number twice is no number")
	}
}

func TestNoLongDouble(t *testing.T) {
	for _, word := range []string{
		"", " 1", "1 ", "+", "-", ".", "e1", "1e", "1e+", "--1", "1.2.3", "0x", "0xg", "0x1p", "1p3", "1_000", "nan", "infi", "1e5000", "-1e5000",
		"1e-5000", "1.8e-4951", "1e99999999999999999999", "1e-99999999999999999999", "0x1p99999999", "1\x00", strings.Repeat("1", longestNumber+1),
	} {
		if value, ok := parseLongDouble([]byte(word)); ok {
			t.Errorf("%.30q is %v", word, value)
		}
	}
	for _, word := range []string{"inf", "-INF", "+Infinity"} {
		if value, ok := parseLongDouble([]byte(word)); !ok || !value.IsInf() || value.Signbit() != (word[0] == '-') {
			t.Errorf("%q is %v", word, value)
		}
	}
	for _, word := range []string{"1.9e-4951", "0x1p-16445", "1.18973149535723176502e4932"} { // half the smallest, the smallest, the largest
		if value, ok := parseLongDouble([]byte(word)); !ok || value.Sign() != 1 {
			t.Errorf("%s is %v %v", word, value, ok)
		}
	}
	if value, ok := parseLongDouble([]byte("0e99999999999999999999")); !ok || value.Sign() != 0 {
		t.Errorf("zero with a large exponent is %v", value)
	}
}

// decimals draws numbers of all sizes and as many digits as decide a rounding.
var decimals = rapid.Custom(func(t *rapid.T) string {
	digits := rapid.StringMatching(`-?[0-9]{1,22}(\.[0-9]{0,22})?`).Draw(t, "digits")
	switch rapid.IntRange(0, 3).Draw(t, "exponent") {
	case 0:
		return digits + fmt.Sprintf("e%d", rapid.IntRange(-40, 40).Draw(t, "small"))
	case 1:
		return digits + fmt.Sprintf("E%+d", rapid.IntRange(-5000, 5000).Draw(t, "large"))
	}
	return digits
})

// TestLongDoubleLikeRedis adds in redis-server and here. It needs a machine
// whose long double has 64 bits, such as x86-64; elsewhere Redis differs from
// itself.
func TestLongDoubleLikeRedis(t *testing.T) {
	redis := startRedis(t)
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			a, b := decimals.Draw(t, "a"), decimals.Draw(t, "b")
			reply := redis.send(t, redistest.Request("SET", "k", a), redistest.Request("INCRBYFLOAT", "k", b))[1]
			sum, ok := addText(a, b)
			if want := fmt.Sprintf("$%d\r\n%s\r\n", len(sum), sum); (ok && string(reply) != want) || (!ok && reply[0] != '-') {
				t.Fatalf("%s + %s\nredis: %q\nours:  %q %v", a, b, reply, sum, ok)
			}
		}
	})
}

// TestLongDoubleRoundsOnce holds the reading of numbers against exact fractions.
func TestLongDoubleRoundsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := decimals.Draw(t, "number")
		exact, ok := new(big.Rat).SetString(word)
		if !ok {
			t.Fatalf("%q is no fraction", word)
		}
		want := new(big.Float).SetPrec(significandBits).SetRat(exact)
		if got, ok := parseLongDouble([]byte(word)); ok && got.Cmp(want) != 0 {
			t.Fatalf("%s is %v, want %v", word, got, want)
		}
	})
}

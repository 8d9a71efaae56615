package resp_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/resp"
	"pgregory.net/rapid"
)

// spelled returns the text of a double reply.
func spelled(f float64) string {
	var w resp.Writer
	w.Reset(resp.RESP3)
	w.Double(f)
	return strings.TrimSuffix(strings.TrimPrefix(string(w.Bytes()), ","), "\r\n")
}

// The texts are those of d2string in util.c and fpconv_dtoa in deps/fpconv, Redis
// 7.2, got by compiling the two and running them on these numbers.
func TestDoubles(t *testing.T) {
	for text, f := range doubles {
		if got := spelled(f); got != text {
			t.Errorf("%v: %s, want %s", f, got, text)
		}
	}
}

func TestDoublesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		text := spelled(f)
		back, err := strconv.ParseFloat(text, 64)
		if err != nil || back != f && !math.IsNaN(f) {
			t.Fatalf("%v spelled %s reads as %v, %v", f, text, back, err)
		}
		if len(text) > 25 {
			t.Fatalf("%s is %d bytes long", text, len(text))
		}
	})
}

var doubles = map[string]float64{
	"0.5":                       0.5,
	"1.5":                       1.5,
	"-1.5":                      -1.5,
	"3.14":                      3.14,
	"0.1":                       0.1,
	"-0.1":                      -0.1,
	"0.3333333333333333":        1.0 / 3,
	"0.6666666666666666":        2.0 / 3,
	"1e+21":                     1e21,
	"1e+22":                     1e22,
	"-123456789012345670000000": -1.2345678901234567e23,
	"1.2345678901234568e+24":    1.2345678901234567e24,
	"5e+18":                     5e18,
	"4611686018427387904":       4611686018427387904,
	"4611686018427389000":       4611686018427388928,
	"0.01":                      1e-2,
	"0.00001":                   1e-5,
	"0.000001":                  1e-6,
	"1e-7":                      1e-7,
	"1e-8":                      1e-8,
	"1.5e-6":                    1.5e-6,
	"1.5e-7":                    1.5e-7,
	"1.2345678901234567e-4":     0.00012345678901234567,
	"0.0012345678901234567":     0.0012345678901234567,
	"123456789.125":             123456789.125,
	"1e+300":                    1e300,
	"1e+100":                    1e100,
	"1e+99":                     1e99,
	"-1e-300":                   -1e-300,
	"5e-324":                    5e-324,
	"1.7976931348623157e+308":   1.7976931348623157e308,
	"2.2250738585072014e-308":   2.2250738585072014e-308,
	"12345678901.234568":        12345678901.234567,
	"100":                       100,
	"-9007199254740992":         -9007199254740993,
	"-0":                        math.Copysign(0, -1),
	"0":                         0,
	"inf":                       math.Inf(1),
	"-inf":                      math.Inf(-1),
	"nan":                       math.NaN(),
	"1.234567e-4":               123456.7e-9,
	"1.25e+20":                  1.25e20,
	"0.000095":                  9.5e-5,
	"1e+19":                     1e19,
	"1200000000000000000":       12e17,
}

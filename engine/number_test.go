package engine

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// plainInt is how Redis spells an integer.
var plainInt = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// twinInt is Int, dumb.
func twinInt(word []byte) (int64, bool) {
	if !plainInt.Match(word) {
		return 0, false
	}
	n, err := strconv.ParseInt(string(word), 10, 64)
	if err != nil {
		return 0, false
	}
	return n, true
}

var duration = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d|w)?$`)

// twinMillis is Millis, dumb.
func twinMillis(word []byte) (int64, bool) {
	parts := duration.FindStringSubmatch(string(word))
	if parts == nil {
		return 0, false
	}
	units := map[string]int64{"ms": 1, "": 1000, "s": 1000, "m": 60e3, "h": 3600e3, "d": 86400e3, "w": 7 * 86400e3}
	ms, _ := new(big.Rat).SetString(parts[1])
	ms.Mul(ms, new(big.Rat).SetInt64(units[parts[2]]))
	switch {
	case !ms.IsInt():
		return 0, false
	case !ms.Num().IsInt64():
		return math.MaxInt64, true
	}
	return ms.Num().Int64(), true
}

var integers = []struct {
	word string
	want int64
	ok   bool
}{
	{"0", 0, true}, {"7", 7, true}, {"-7", -7, true}, {"1000000000000", 1e12, true},
	{"9223372036854775807", math.MaxInt64, true}, {"-9223372036854775808", math.MinInt64, true},
	{"9223372036854775808", 0, false}, {"-9223372036854775809", 0, false}, {"18446744073709551616", 0, false},
	{"", 0, false}, {"-", 0, false}, {"-0", 0, false}, {"+1", 0, false}, {"01", 0, false}, {" 1", 0, false}, {"1 ", 0, false},
	{"1.0", 0, false}, {"1e3", 0, false}, {"0x10", 0, false}, {"\x001", 0, false}, {"99999999999999999999999999", 0, false},
}

func TestInt(t *testing.T) {
	for _, c := range integers {
		if n, ok := Int([]byte(c.word)); n != c.want || ok != c.ok {
			t.Errorf("Int(%q) = %d, %v; want %d, %v", c.word, n, ok, c.want, c.ok)
		}
	}
}

var durations = []struct {
	word string
	want int64
	ok   bool
}{
	{"1ms", 1, true}, {"500ms", 500, true}, {"6s", 6000, true}, {"6", 6000, true}, {"0", 0, true}, {"1m", 60_000, true},
	{"2h", 7_200_000, true}, {"1d", 86_400_000, true}, {"1w", 604_800_000, true}, {"007s", 7000, true},
	{"1.5s", 1500, true}, {"1.5", 1500, true}, {"0.25m", 15_000, true}, {"0.001s", 1, true}, {"1.000000000000000000000s", 1000, true},
	{"0.00001w", 6048, true}, {"0.0078125w", 4_725_000, true}, {"2.50ms", 0, false}, {"2.0ms", 2, true},
	{"0.5ms", 0, false}, {"0.0001s", 0, false}, {"0.0000001w", 0, false}, {"0.3333m", 19_998, true}, {"0.33333m", 0, false},
	{"0.0000000000000000001w", 0, false}, {"0.99999999999999999999999w", 0, false},
	{"0." + strings.Repeat("3", 70) + "w", 0, false}, {"0.5" + strings.Repeat("0", 70) + "s", 500, true},
	{"", 0, false}, {"s", 0, false}, {"1x", 0, false}, {"1 s", 0, false}, {"-1s", 0, false}, {"+1s", 0, false}, {"1S", 0, false},
	{".5s", 0, false}, {"1.s", 0, false}, {".", 0, false}, {"1..5s", 0, false}, {"1.5.0s", 0, false}, {"1e3s", 0, false}, {"1sm", 0, false},
	{"9223372036854775807ms", math.MaxInt64, true}, {"9223372036854775806ms", math.MaxInt64 - 1, true},
	{"9223372036854775807", math.MaxInt64, true}, {"99999999999999999999999w", math.MaxInt64, true},
}

func TestMillis(t *testing.T) {
	for _, c := range durations {
		if ms, ok := Millis([]byte(c.word)); ms != c.want || ok != c.ok {
			t.Errorf("Millis(%q) = %d, %v; want %d, %v", c.word, ms, ok, c.want, c.ok)
		}
	}
}

// FuzzInt compares Int with its twin.
func FuzzInt(f *testing.F) {
	for _, c := range integers {
		f.Add([]byte(c.word))
	}
	f.Fuzz(func(t *testing.T, word []byte) {
		n, ok := Int(word)
		if want, wantOK := twinInt(word); n != want || ok != wantOK {
			t.Errorf("Int(%q) = %d, %v; want %d, %v", word, n, ok, want, wantOK)
		}
	})
}

// FuzzMillis compares Millis with its twin.
func FuzzMillis(f *testing.F) {
	for _, c := range durations {
		f.Add([]byte(c.word))
	}
	f.Fuzz(func(t *testing.T, word []byte) {
		ms, ok := Millis(word)
		if want, wantOK := twinMillis(word); ms != want || ok != wantOK {
			t.Errorf("Millis(%q) = %d, %v; want %d, %v", word, ms, ok, want, wantOK)
		}
	})
}

func TestNumbersDoNotAllocate(t *testing.T) {
	n, d := []byte("1000000000000"), []byte("0.25m")
	got := testing.AllocsPerRun(100, func() {
		Int(n)
		Millis(d)
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}

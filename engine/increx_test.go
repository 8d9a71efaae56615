package engine

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// edges are integers near the ends, the middle and the bounds that others draw.
var edges = rapid.OneOf(
	rapid.Int64Range(-10, 10), rapid.Int64(), rapid.Int64Range(math.MaxInt64-5, math.MaxInt64), rapid.Int64Range(math.MinInt64, math.MinInt64+5),
)

// increxTwin is what INCREX replies for integers, calculated without an end to
// them.
func increxTwin(old, step, low, high int64, saturate bool) string {
	value := new(big.Int).Add(big.NewInt(old), big.NewInt(step))
	least, most := big.NewInt(low), big.NewInt(high)
	outside := value.Cmp(least) < 0 || value.Cmp(most) > 0
	switch {
	case outside && !saturate:
		value = big.NewInt(old)
	case value.Cmp(least) < 0:
		value = least
	case value.Cmp(most) > 0:
		value = most
	}
	applied := new(big.Int).Sub(value, big.NewInt(old))
	if !applied.IsInt64() {
		return "(error) " + AppliedOverflow.Text()
	}
	return "1) (integer) " + value.String() + "\n2) (integer) " + applied.String()
}

func TestIncrExLikeTwin(t *testing.T) {
	d := newDesk(t, 1)
	decimal := func(n int64) string { return strconv.FormatInt(n, 10) }
	rapid.Check(t, func(t *rapid.T) {
		old, step := edges.Draw(t, "old"), edges.Draw(t, "step")
		low, high := int64(math.MinInt64), int64(math.MaxInt64)
		call := []string{"INCREX", "k", "BYINT", decimal(step)}
		if rapid.Bool().Draw(t, "bounded") {
			low, high = edges.Draw(t, "low"), edges.Draw(t, "high")
			low, high = min(low, high), max(low, high)
			call = append(call, "UBOUND", decimal(high), "LBOUND", decimal(low))
		}
		saturate := rapid.Bool().Draw(t, "saturate")
		if saturate {
			call = append(call, "SATURATE")
		}
		d.do("SET", "k", decimal(old))
		if got, want := d.do(call...), increxTwin(old, step, low, high, saturate); got != want {
			t.Fatalf("%d: %q\n%s\nwant\n%s", old, call, got, want)
		}
	})
}

// TestIncrExByFloatIsIncrByFloat: without bounds and expiry they are one.
func TestIncrExByFloatIsIncrByFloat(t *testing.T) {
	d := newDesk(t, 1)
	rapid.Check(t, func(t *rapid.T) {
		old, step := decimals.Draw(t, "old"), decimals.Draw(t, "step")
		d.do("MSET", "x", old, "y", old)
		if d.do("INCRBYFLOAT", "x", step)[0] == '(' {
			return // an error: they have texts of their own
		}
		d.do("INCREX", "y", "BYFLOAT", step)
		if x, y := d.do("GET", "x"), d.do("GET", "y"); x != y {
			t.Fatalf("%s + %s: INCRBYFLOAT %s, INCREX %s", old, step, x, y)
		}
	})
}

// TestIncrExByFloatSaturates at the largest number when there is no bound, and
// says how far it came.
func TestIncrExByFloatSaturates(t *testing.T) {
	d := newDesk(t, 1)
	largest := largestLongDouble().Text('f', 0)
	d.do("SET", "k", "1.1e4932")
	if got, want := d.do("INCREX", "k", "BYFLOAT", "1.1e4932")[len(`1) "1`):], `2) "0"`; got[len(got)-len(want):] != want {
		t.Errorf("out of range: ...%s, want ...%s", got[len(got)-20:], want)
	}
	d.do("INCREX", "k", "BYFLOAT", "1.1e4932", "SATURATE")
	if got := d.do("GET", "k"); got != `"`+largest+`"` {
		t.Errorf("saturated at %.20s..., want %.20s...", got, largest)
	}
}

package limit

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// words are 64-bit words, the edges among them.
func words() *rapid.Generator[uint64] {
	return rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 3),
		rapid.SampledFrom([]uint64{1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, math.MaxUint64}))
}

// positives are int64 above 0, the edges among them.
func positives() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64Range(1, math.MaxInt64), rapid.Int64Range(1, 5),
		rapid.SampledFrom([]int64{1 << 32, 1<<32 - 1, MaxTokens, math.MaxInt64, math.MaxInt64 - 1}))
}

func (w wide) big() *big.Int {
	n := new(big.Int).SetUint64(w.hi)
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(w.lo))
}

// TestWide holds the 128-bit arithmetic, with its short way for numbers that fit
// 64 bits, against math/big.
func TestWide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := positives().Draw(t, "a"), positives().Draw(t, "b")
		if got, want := product(a, b).big(), new(big.Int).Mul(big.NewInt(a), big.NewInt(b)); got.Cmp(want) != 0 {
			t.Fatalf("%d * %d is %v, want %v", a, b, got, want)
		}
		high := rapid.OneOf(rapid.Just[uint64](0), rapid.Uint64Range(0, math.MaxInt64))
		v := wide{high.Draw(t, "v.hi"), words().Draw(t, "v.lo")}
		w := wide{high.Draw(t, "w.hi"), words().Draw(t, "w.lo")}
		if got, want := v.plus(w).big(), new(big.Int).Add(v.big(), w.big()); got.Cmp(want) != 0 {
			t.Fatalf("%v + %v is %v, want %v", v, w, got, want)
		}
		if got, want := v.above(w), v.big().Cmp(w.big()) > 0; got != want {
			t.Fatalf("%v > %v is %v", v, w, got)
		}
		if got, want := v.zero(), v.big().Sign() == 0; got != want {
			t.Fatalf("%v == 0 is %v", v, got)
		}
		if w.above(v) {
			v, w = w, v
		}
		if got, want := v.minus(w).big(), new(big.Int).Sub(v.big(), w.big()); got.Cmp(want) != 0 {
			t.Fatalf("%v - %v is %v, want %v", v, w, got, want)
		}
		checkOver(t, v, positives().Draw(t, "y"))
	})
}

// checkOver divides, and divides again by numbers whose quotient is at the edge
// of int64.
func checkOver(t *rapid.T, v wide, y int64) {
	edge := product(y, math.MaxInt64)
	top := edge.plus(wide{lo: uint64(y - 1)}) // the last with a quotient that fits
	for _, n := range []wide{v, edge, top, top.plus(wide{lo: 1})} {
		q, r := new(big.Int).QuoRem(n.big(), big.NewInt(y), new(big.Int))
		gotQ, gotR, ok := n.over(y)
		if ok != q.IsInt64() || ok && (gotQ != q.Int64() || gotR != r.Int64()) {
			t.Fatalf("%v / %d is %d, %d, %v, want %v, %v", n, y, gotQ, gotR, ok, q, r)
		}
		if r.Sign() > 0 {
			q.Add(q, big.NewInt(1))
		}
		gotUp, ok := n.overUp(y)
		if ok != q.IsInt64() || ok && gotUp != q.Int64() {
			t.Fatalf("%v / %d rounded up is %d, %v, want %v", n, y, gotUp, ok, q)
		}
	}
}

func TestMillis(t *testing.T) {
	for d, want := range map[int64]int64{
		0: 0, 1: 1, 999_999: 1, 1_000_000: 1, 1_000_001: 2, 7_000_000_000: 7000, int64(Never): -1,
		int64(MaxClear): 3_153_600_000_000, math.MaxInt64: 9_223_372_036_855,
	} {
		if got := Millis(time.Duration(d)); got != want {
			t.Errorf("Millis(%d ns) is %d, want %d", d, got, want)
		}
	}
}

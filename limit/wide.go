package limit

import "math/bits"

// wide is an unsigned 128-bit integer, hi * 2^64 + lo.
//
// Why it is needed: a debt is a number of tokens times a period in nanoseconds.
// With 10^12 tokens and ten years that is 3.2 * 10^29, or 2^98. 128 bits hold
// every product of this package, so nothing is rounded before the last step and
// nothing wraps. math/bits turns each operation into one or two instructions;
// the division, the only dear one, is the ordinary 64-bit one whenever the
// number fits.
//
// All values are below 2^127: sums of two cannot overflow.
type wide struct{ hi, lo uint64 }

// product is a * b, for a and b >= 0.
func product(a, b int64) wide {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return wide{hi, lo}
}

// plus is w + v.
func (w wide) plus(v wide) wide {
	lo, carry := bits.Add64(w.lo, v.lo, 0)
	hi, _ := bits.Add64(w.hi, v.hi, carry)
	return wide{hi, lo}
}

// minus is w - v, for v <= w.
func (w wide) minus(v wide) wide {
	lo, borrow := bits.Sub64(w.lo, v.lo, 0)
	hi, _ := bits.Sub64(w.hi, v.hi, borrow)
	return wide{hi, lo}
}

// above reports w > v.
func (w wide) above(v wide) bool {
	_, borrow := bits.Sub64(v.lo, w.lo, 0)
	_, borrow = bits.Sub64(v.hi, w.hi, borrow)
	return borrow != 0
}

// zero reports w == 0.
func (w wide) zero() bool { return w.hi|w.lo == 0 }

// over is w / y and w % y, for y > 0; ok is false when the quotient does not fit
// an int64.
func (w wide) over(y int64) (quotient, remainder int64, ok bool) {
	d := uint64(y)
	if w.hi >= d {
		return 0, 0, false // the quotient does not fit 64 bits; Div64 would panic
	}
	var q, r uint64
	if w.hi == 0 {
		q = w.lo / d
		r = w.lo - q*d
	} else {
		q, r = bits.Div64(w.hi, w.lo, d)
	}
	return int64(q), int64(r), int64(q) >= 0
}

// overUp is w / y rounded up, for y > 0; ok as for over.
func (w wide) overUp(y int64) (quotient int64, ok bool) {
	q, r, ok := w.over(y)
	q = upward(q, r)
	return q, ok && q >= 0
}

// upward rounds n and a remainder to the next whole number.
func upward(n, rem int64) int64 {
	if rem > 0 {
		return n + 1
	}
	return n
}

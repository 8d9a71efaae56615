package script

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
)

func bitLibrary() map[string]builtin {
	return map[string]builtin{
		"tobit":   bitOne(func(x uint32) uint32 { return x }),
		"bnot":    bitOne(func(x uint32) uint32 { return ^x }),
		"bswap":   bitOne(bits.ReverseBytes32),
		"band":    bitMany(func(x, y uint32) uint32 { return x & y }),
		"bor":     bitMany(func(x, y uint32) uint32 { return x | y }),
		"bxor":    bitMany(func(x, y uint32) uint32 { return x ^ y }),
		"lshift":  bitShift(func(x, n uint32) uint32 { return x << n }),
		"rshift":  bitShift(func(x, n uint32) uint32 { return x >> n }),
		"arshift": bitShift(func(x, n uint32) uint32 { return uint32(int32(x) >> n) }),
		"rol":     bitShift(func(x, n uint32) uint32 { return bits.RotateLeft32(x, int(n)) }),
		"ror":     bitShift(func(x, n uint32) uint32 { return bits.RotateLeft32(x, -int(n)) }),
		"tohex":   bitHex,
	}
}

// roundToBits is added to a double so that its last bits are the whole number
// nearest to it.
const roundToBits = 6755399441055744.0

func (t *thread) wantBits(args []value, i int) uint32 {
	return uint32(math.Float64bits(t.wantNumber(args, i) + roundToBits))
}

func signed(x uint32) value { return number(float64(int32(x))) }

func bitOne(fn func(uint32) uint32) builtin {
	return func(t *thread, args []value) []value { return t.one(signed(fn(t.wantBits(args, 0)))) }
}

func bitMany(fn func(x, y uint32) uint32) builtin {
	return func(t *thread, args []value) []value {
		x := t.wantBits(args, 0)
		for i := len(args) - 1; i > 0; i-- { // as the original, which shows in errors
			x = fn(x, t.wantBits(args, i))
		}
		return t.one(signed(x))
	}
}

func bitShift(fn func(x, n uint32) uint32) builtin {
	return func(t *thread, args []value) []value {
		x := t.wantBits(args, 0)
		return t.one(signed(fn(x, t.wantBits(args, 1)&31)))
	}
}

func bitHex(t *thread, args []value) []value {
	x, digits := t.wantBits(args, 0), int32(8)
	if len(args) > 1 {
		digits = int32(t.wantBits(args, 1))
	}
	upper := digits < 0
	if upper {
		digits = -digits
	}
	if digits > 8 || digits < 0 {
		digits = 8
	}
	s := fmt.Sprintf("%08x", x)[8-digits:]
	if upper {
		s = strings.ToUpper(s)
	}
	return t.one(t.heap.text(s))
}

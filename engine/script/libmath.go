package script

import "math"

// mathLibrary makes the table math.
func (m *Machine) mathLibrary() *table {
	lib := map[string]builtin{
		"atan2": two(math.Atan2), "fmod": two(math.Mod), "mod": two(math.Mod), "pow": two(math.Pow),
		"frexp": frexp, "ldexp": ldexp, "modf": modf, "max": largest, "min": smallest, "random": random, "randomseed": randomseed,
	}
	for name, fn := range map[string]func(float64) float64{
		"abs": math.Abs, "atan": math.Atan, "ceil": math.Ceil, "cos": math.Cos,
		"cosh": math.Cosh, "deg": func(x float64) float64 { return x / (math.Pi / 180) }, "exp": math.Exp, "floor": math.Floor,
		"log": math.Log, "log10": math.Log10, "rad": func(x float64) float64 { return x * (math.Pi / 180) }, "sin": math.Sin,
		"sinh": math.Sinh, "sqrt": math.Sqrt, "tan": math.Tan, "tanh": math.Tanh,
	} {
		lib[name] = func(t *thread, args []value) []value {
			x := t.wantNumber(args, 0)
			return t.one(number(orInvalid(fn(x), x, x)))
		}
	}
	for name, fn := range map[string]func(float64) float64{"acos": math.Acos, "asin": math.Asin} {
		lib[name] = func(t *thread, args []value) []value { // no result is a NaN without a sign
			return t.one(number(fn(t.wantNumber(args, 0))))
		}
	}
	tab := m.library(lib)
	tab.set(constant("pi"), number(math.Pi))
	tab.set(constant("huge"), number(math.Inf(1)))
	return tab
}

// two makes a builtin of a function of two numbers.
func two(fn func(x, y float64) float64) builtin {
	return func(t *thread, args []value) []value {
		y := t.wantNumber(args, 1) // C looks at the last argument first
		x := t.wantNumber(args, 0)
		return t.one(number(orInvalid(fn(x, y), x, y)))
	}
}

func frexp(t *thread, args []value) []value {
	fraction, exponent := math.Frexp(t.wantNumber(args, 0))
	return t.two(number(fraction), number(float64(exponent)))
}

func ldexp(t *thread, args []value) []value {
	exponent := t.wantInt(args, 1)
	return t.one(number(math.Ldexp(t.wantNumber(args, 0), exponent)))
}

func modf(t *thread, args []value) []value {
	x := t.wantNumber(args, 0)
	if math.IsInf(x, 0) {
		return t.two(number(x), number(math.Copysign(0, x)))
	}
	whole := math.Trunc(x)
	return t.two(number(whole), number(math.Copysign(x-whole, x)))
}

func largest(t *thread, args []value) []value {
	top := t.wantNumber(args, 0)
	for i := 1; i < len(args); i++ {
		if n := t.wantNumber(args, i); n > top {
			top = n
		}
	}
	return t.one(number(top))
}

func smallest(t *thread, args []value) []value {
	least := t.wantNumber(args, 0)
	for i := 1; i < len(args); i++ {
		if n := t.wantNumber(args, i); n < least {
			least = n
		}
	}
	return t.one(number(least))
}

// The generator of random numbers is that of drand48, as in Redis. Every run
// begins where Redis begins when it starts.
const (
	randomStart  = 0x1234abcd330e
	randomFactor = 25214903917
	randomAdd    = 11
	randomMask   = 1<<48 - 1
	randomTop    = math.MaxInt32
)

func seedRandom(seed int32) uint64 { return uint64(uint32(seed))<<16 | 0x330e }

func random(t *thread, args []value) []value {
	t.m.random = (t.m.random*randomFactor + randomAdd) & randomMask
	r := float64(t.m.random>>17%randomTop) / randomTop
	low, high := 1, 0
	switch len(args) {
	case 0:
		return t.one(number(r))
	case 1:
		high = int(int32(t.wantInt(args, 0)))
	case 2:
		low, high = int(int32(t.wantInt(args, 0))), int(int32(t.wantInt(args, 1)))
	default:
		t.fail("wrong number of arguments")
	}
	if low > high {
		t.failArg(len(args)-1, "interval is empty")
	}
	return t.one(number(math.Floor(r*float64(high-low+1)) + float64(low)))
}

func randomseed(t *thread, args []value) []value {
	t.m.random = seedRandom(int32(t.wantInt(args, 0)))
	return nil
}

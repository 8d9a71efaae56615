package script

import (
	"maps"
	"slices"
)

// arg is argument i, nil when there is none.
func arg(args []value, i int) value {
	if i < len(args) {
		return args[i]
	}
	return value{}
}

// given says whether an optional argument is there.
func given(args []value, i int) bool { return i < len(args) && !args[i].isNil() }

// wantAny wants argument i to be there.
func (t *thread) wantAny(args []value, i int) value {
	if i >= len(args) {
		t.failArg(i, "value expected")
	}
	return args[i]
}

// wantString is argument i as a string. It must not be changed.
func (t *thread) wantString(args []value, i int) []byte {
	v := arg(args, i)
	switch {
	case v.isString():
		return v.o.str
	case v.isNumber():
		return appendNumber(nil, v.n)
	}
	t.failWant(args, i, "string")
	return nil
}

func (t *thread) wantNumber(args []value, i int) float64 {
	n, ok := toNumber(arg(args, i))
	if !ok {
		t.failWant(args, i, "number")
	}
	return n
}

// wantInt is argument i as C casts a double to an int64.
func (t *thread) wantInt(args []value, i int) int { return int(toInteger(t.wantNumber(args, i))) }

func (t *thread) optInt(args []value, i, otherwise int) int {
	if !given(args, i) {
		return otherwise
	}
	return t.wantInt(args, i)
}

func (t *thread) wantTable(args []value, i int) *table {
	tab := arg(args, i).table()
	if tab == nil {
		t.failWant(args, i, "table")
	}
	return tab
}

func (t *thread) wantFunction(args []value, i int) value {
	v := arg(args, i)
	if v.function() == nil {
		t.failWant(args, i, "function")
	}
	return v
}

// library makes a table of builtins.
func (m *Machine) library(builtins map[string]builtin) *table {
	tab := m.heap.table(0, len(builtins))
	for _, name := range slices.Sorted(maps.Keys(builtins)) { // in an order that machines share
		tab.set(constant(name), m.heap.native(builtins[name]))
	}
	return tab
}

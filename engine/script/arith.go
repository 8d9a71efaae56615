package script

import "bytes"

// toNumber is v as a number, if it is one or a string that reads as one.
func toNumber(v value) (float64, bool) {
	if v.isNumber() {
		return v.n, true
	}
	if v.isString() {
		return parseNumber(v.o.str)
	}
	return 0, false
}

// arith computes on what are not two numbers.
func (t *thread) arith(op opcode, a, b value) value {
	x, okA := toNumber(a)
	y, okB := toNumber(b)
	if okA && okB {
		return number(arithmetic(op, x, y))
	}
	if result, ok := t.binary(a, b, eventAdd+event(op-opAdd)); ok {
		return result
	}
	culprit, operand := a, 0
	if okA {
		culprit, operand = b, 1
	}
	t.failType(culprit, operand, "perform arithmetic on")
	return value{}
}

// binary calls the metamethod that either operand has.
func (t *thread) binary(a, b value, e event) (value, bool) {
	handler := t.metamethod(a, e)
	if handler.isNil() {
		handler = t.metamethod(b, e)
	}
	if handler.isNil() {
		return value{}, false
	}
	return first(t.invoke(handler, t.pair(a, b))), true
}

func (t *thread) negate(v value) value {
	if n, ok := toNumber(v); ok {
		return number(-n)
	}
	result, ok := t.binary(v, v, eventUnm)
	if !ok {
		t.failType(v, 0, "perform arithmetic on")
	}
	return result
}

func (t *thread) lengthOf(v value) value {
	switch v.kind() {
	case kindTable:
		return number(float64(v.o.tab.length()))
	case kindString:
		return number(float64(len(v.o.str)))
	}
	result, ok := t.binary(v, value{}, eventLen)
	if !ok {
		t.failType(v, 0, "get length of")
	}
	return result
}

// compare decides ==, < and <=.
func (t *thread) compare(op opcode, a, b value) bool {
	if op == opEqual {
		return same(a, b) || t.equalMeta(a, b)
	}
	switch {
	case a.isNumber() && b.isNumber():
		return op == opLess && a.n < b.n || op == opLessEqual && a.n <= b.n
	case a.isString() && b.isString():
		order := bytes.Compare(a.o.str, b.o.str)
		return order < 0 || op == opLessEqual && order == 0
	}
	if a.kind() == b.kind() {
		if result, ok := t.order(op, a, b); ok {
			return result
		}
	}
	if x, y := a.typeName(), b.typeName(); x == y {
		t.fail("attempt to compare two %s values", x)
	} else {
		t.fail("attempt to compare %s with %s", x, y)
	}
	return false
}

// equalMeta asks the metamethod of two tables.
func (t *thread) equalMeta(a, b value) bool {
	if a.kind() != kindTable || b.kind() != kindTable {
		return false
	}
	handler := t.shared(a, b, eventEq)
	return !handler.isNil() && !first(t.invoke(handler, t.pair(a, b))).isFalse()
}

// shared is the metamethod that both have.
func (t *thread) shared(a, b value, e event) value {
	handler := t.metamethod(a, e)
	if handler.isNil() || !same(handler, t.metamethod(b, e)) {
		return value{}
	}
	return handler
}

// order asks the metamethods for < and <=.
func (t *thread) order(op opcode, a, b value) (result, ok bool) {
	if op == opLessEqual {
		if handler := t.shared(a, b, eventLe); !handler.isNil() {
			return !first(t.invoke(handler, t.pair(a, b))).isFalse(), true
		}
		a, b = b, a
	}
	handler := t.shared(a, b, eventLt)
	if handler.isNil() {
		return false, false
	}
	result = !first(t.invoke(handler, t.pair(a, b))).isFalse()
	return result != (op == opLessEqual), true
}

// concat joins values from the right, as .. does.
func (t *thread) concat(list []value) value {
	total, plain := 0, true
	for _, v := range list {
		if v.isString() {
			total += len(v.o.str)
		} else if v.isNumber() {
			total += maxNumber
		} else {
			plain = false
		}
	}
	if !plain {
		return t.concatMeta(list)
	}
	b := t.heap.room(total)[:0]
	for _, v := range list {
		b = appendText(b, v)
	}
	t.m.spend(total / bytesPerStep)
	return t.heap.owned(b)
}

// maxNumber is more than the length of a number as text.
const maxNumber = 24

// appendText writes a string or a number.
func appendText(b []byte, v value) []byte {
	if v.isNumber() {
		return appendNumber(b, v.n)
	}
	return append(b, v.o.str...)
}

func isText(v value) bool { return v.isString() || v.isNumber() }

// concatMeta joins pair by pair.
func (t *thread) concatMeta(list []value) value {
	right := list[len(list)-1]
	for i := len(list) - 2; i >= 0; i-- {
		left := list[i]
		if isText(left) && isText(right) {
			right = t.concat([]value{left, right})
			continue
		}
		result, ok := t.binary(left, right, eventConcat)
		if !ok {
			if isText(left) {
				t.failType(right, i+1, "concatenate")
			}
			t.failType(left, i, "concatenate")
		}
		right = result
	}
	return right
}

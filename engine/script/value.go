package script

import "bytes"

// kind is the type of a Lua value.
type kind uint8

const (
	kindNil kind = iota
	kindBool
	kindNumber
	kindString
	kindTable
	kindFunction
	kindUserdata
	kindThread
	kindBox // a local that a closure shares; scripts never see one
)

// kindNames are the names that type() returns.
var kindNames = [...]string{"nil", "boolean", "number", "string", "table", "function", "userdata", "thread", "box"}

// obj is what a value points to. It is embedded in whatever is larger, which it
// then points back to.
type obj struct {
	kind   kind
	hashed bool
	hash   uint32 // of str, once hashed
	id     uint32 // of other objects, once asked for
	str    []byte // of a string; never changed
	tab    *table
	fn     *function
	ref    any // *box, *thread
}

// The objects of values that need none of their own.
var (
	boolObj   = obj{kind: kindBool}
	numberObj = obj{kind: kindNumber}
	nullObj   = obj{kind: kindUserdata}
)

// value is a Lua value. Zero is nil.
type value struct {
	o *obj
	n float64 // a number, or 0 and 1 as booleans
}

// box holds a local that a closure shares.
type box struct {
	obj
	v value
}

func number(n float64) value { return value{&numberObj, n} }

func boolean(b bool) value {
	if b {
		return value{&boolObj, 1}
	}
	return value{&boolObj, 0}
}

func (v value) isNil() bool    { return v.o == nil }
func (v value) isNumber() bool { return v.o == &numberObj }
func (v value) isString() bool { return v.o != nil && v.o.kind == kindString }
func (v value) isFalse() bool  { return v.o == nil || v.o == &boolObj && v.n == 0 }

func (v value) kind() kind {
	if v.o == nil {
		return kindNil
	}
	return v.o.kind
}

func (v value) typeName() string { return kindNames[v.kind()] }

// table is the table that v is, or nil.
func (v value) table() *table {
	if v.o == nil {
		return nil
	}
	return v.o.tab
}

// function is the function that v is, or nil.
func (v value) function() *function {
	if v.o == nil {
		return nil
	}
	return v.o.fn
}

// same is raw equality.
func same(a, b value) bool {
	if a.o == b.o {
		return a.o == nil || a.o.kind > kindNumber || a.n == b.n
	}
	return a.o != nil && b.o != nil && a.o.kind == kindString && b.o.kind == kindString && bytes.Equal(a.o.str, b.o.str)
}

// hashString is Lua 5.1's hash of a string: the order of pairs depends on it.
func hashString(s []byte) uint32 {
	h := uint32(len(s))
	step := len(s)>>5 + 1
	for i := len(s); i >= step; i -= step {
		h ^= h<<5 + h>>2 + uint32(s[i-1])
	}
	return h
}

// constant makes a string that outlives runs and may be shared by machines.
func constant(s string) value {
	b := []byte(s)
	return value{o: &obj{kind: kindString, str: b, hash: hashString(b), hashed: true}}
}

// builtin is a function of a library. What it returns may lie in the thread's out
// and is copied at once.
type builtin func(t *thread, args []value) []value

// function is a closure over a proto, or a builtin.
type function struct {
	obj
	proto  *proto
	boxes  []*box
	native builtin
}

package script

import "math"

// node is a pair in the hash part of a table. Pairs whose hashes meet form a
// chain.
type node struct {
	key, val value
	next     int32 // index + 1 of the next in the chain
}

// table is Lua's table: an array part for 1 to its length and a hash part, a
// chained scatter table with Brent's variation. The sizes of both and the places
// of keys are those of Lua 5.1, since the order of pairs and the border that #
// finds show them.
type table struct {
	obj
	heap     *heap
	arr      []value
	nodes    []node // a power of two, or none
	free     int    // every node at or after it is in use
	meta     *table
	readonly bool
}

// get looks a key up.
func (t *table) get(k value) value {
	switch {
	case k.o == nil:
		return value{}
	case k.o == &numberObj:
		return t.getNumber(k.n)
	case k.o.kind == kindString:
		return t.getString(k.o)
	}
	if n := t.find(k); n != nil {
		return n.val
	}
	return value{}
}

// getNumber looks a number up.
func (t *table) getNumber(n float64) value {
	if i := int(n); float64(i) == n {
		return t.getInt(i)
	}
	if found := t.find(number(n)); found != nil {
		return found.val
	}
	return value{}
}

// getInt looks a whole number up.
func (t *table) getInt(i int) value {
	if uint(i-1) < uint(len(t.arr)) {
		return t.arr[i-1]
	}
	if len(t.nodes) == 0 {
		return value{}
	}
	if found := t.find(number(float64(i))); found != nil {
		return found.val
	}
	return value{}
}

// getString looks a string up.
func (t *table) getString(o *obj) value {
	if len(t.nodes) == 0 {
		return value{}
	}
	for i := hashOf(o) & uint32(len(t.nodes)-1); ; {
		n := &t.nodes[i]
		if n.key.o == o || n.key.o != nil && n.key.o.kind == kindString && n.key.o.hash == o.hash && string(n.key.o.str) == string(o.str) {
			return n.val
		}
		if n.next == 0 {
			return value{}
		}
		i = uint32(n.next - 1)
	}
}

// find is the node of a key in the hash part, or nil.
func (t *table) find(k value) *node {
	if len(t.nodes) == 0 {
		return nil
	}
	for i := t.place(k); ; {
		n := &t.nodes[i]
		if same(n.key, k) {
			return n
		}
		if n.next == 0 {
			return nil
		}
		i = int(n.next - 1)
	}
}

func hashOf(o *obj) uint32 {
	if !o.hashed {
		o.hash, o.hashed = hashString(o.str), true
	}
	return o.hash
}

// place is the node where a key belongs.
func (t *table) place(k value) int {
	size := uint32(len(t.nodes))
	switch k.o.kind {
	case kindNumber:
		if k.n == 0 {
			return 0
		}
		b := math.Float64bits(k.n)
		return int((uint32(b) + uint32(b>>32)) % ((size - 1) | 1))
	case kindString:
		return int(hashOf(k.o) & (size - 1))
	case kindBool:
		return int(uint32(k.n) & (size - 1))
	}
	return int(t.heap.identity(k.o) % ((size - 1) | 1))
}

// set stores v under k, which is neither nil nor NaN. The table is not read-only.
func (t *table) set(k, v value) {
	if k.o == &numberObj {
		if i := int(k.n); float64(i) == k.n && uint(i-1) < uint(len(t.arr)) {
			t.arr[i-1] = v
			return
		}
	}
	if n := t.find(k); n != nil {
		n.val = v
		return
	}
	if !v.isNil() {
		t.insert(k, v)
	}
}

// setInt stores v under a whole number.
func (t *table) setInt(i int, v value) {
	if uint(i-1) < uint(len(t.arr)) {
		t.arr[i-1] = v
		return
	}
	t.set(number(float64(i)), v)
}

// setText stores v under a name.
func (t *table) setText(name string, v value) { t.set(t.heap.text(name), v) }

// insert adds a key that is not there.
func (t *table) insert(k, v value) {
	if k.o == &numberObj && k.n == 0 {
		k.n = 0 // not -0
	}
	if len(t.nodes) == 0 {
		t.rehash(k)
		t.set(k, v)
		return
	}
	at := t.place(k)
	if t.nodes[at].val.isNil() { // free, or a dead key, whose place in a chain stays
		t.nodes[at].key, t.nodes[at].val = k, v
		return
	}
	free := t.freeNode()
	if free < 0 {
		t.rehash(k)
		t.set(k, v)
		return
	}
	t.collide(at, free, k, v)
}

// collide puts k into the free node, or moves there what does not belong at its
// place.
func (t *table) collide(at, free int, k, v value) {
	other := t.place(t.nodes[at].key)
	if other == at {
		t.nodes[free] = node{k, v, t.nodes[at].next}
		t.nodes[at].next = int32(free + 1)
		return
	}
	for int(t.nodes[other].next-1) != at {
		other = int(t.nodes[other].next - 1)
	}
	t.nodes[other].next = int32(free + 1)
	t.nodes[free] = t.nodes[at]
	t.nodes[at] = node{key: k, val: v}
}

// freeNode is a node never used, or -1.
func (t *table) freeNode() int {
	for t.free > 0 {
		t.free--
		if t.nodes[t.free].key.isNil() {
			return t.free
		}
	}
	return -1
}

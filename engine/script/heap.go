package script

import "slices"

// slab hands out parts of one piece of memory, which is used again by the next
// run. What does not fit is allocated.
type slab[T any] struct {
	all  []T
	used int
}

// cut returns n zero elements.
func (s *slab[T]) cut(n int) []T {
	if n > len(s.all)-s.used {
		return make([]T, n)
	}
	s.used += n
	return s.all[s.used-n : s.used : s.used]
}

// reset takes everything back, which must not be used any more.
func (s *slab[T]) reset() {
	clear(s.all[:s.used])
	s.used = 0
}

// What a run may take from the slabs; a longer one allocates.
const (
	slabObjects = 256
	slabBytes   = 16 << 10
	slabValues  = 512
	slabNodes   = 128
	slabTables  = 64
	slabSmall   = 32
)

// The bytes that are counted for what a script makes.
const (
	objectSize = 72
	valueSize  = 16
	nodeSize   = 40
	tableSize  = 160
)

// heap makes the objects of a run and counts them.
type heap struct {
	objects   slab[obj]
	bytes     slab[byte]
	values    slab[value]
	nodes     slab[node]
	tables    slab[table]
	functions slab[function]
	boxes     slab[box]
	left      int64 // bytes that the run may still take
	ids       uint32
	lasting   bool // what it makes outlives runs
}

func newHeap() *heap {
	return &heap{
		objects: slab[obj]{all: make([]obj, slabObjects)}, bytes: slab[byte]{all: make([]byte, slabBytes)},
		values: slab[value]{all: make([]value, slabValues)}, nodes: slab[node]{all: make([]node, slabNodes)},
		tables: slab[table]{all: make([]table, slabTables)}, functions: slab[function]{all: make([]function, slabSmall)},
		boxes: slab[box]{all: make([]box, slabSmall)},
	}
}

// firstID is the first identity of what a run makes; those below are of what
// outlives runs.
const firstID = 1 << 16

// reset begins a run that may take the given number of bytes.
func (h *heap) reset(limit int64) {
	h.objects.reset()
	h.bytes.reset()
	h.values.reset()
	h.nodes.reset()
	h.tables.reset()
	h.functions.reset()
	h.boxes.reset()
	h.left, h.ids = limit, firstID
}

// take counts n bytes before they are allocated.
func (h *heap) take(n int) {
	if h.left -= int64(n); h.left < 0 || n < 0 {
		panic(stop{ErrBytes})
	}
}

// room returns n bytes to fill.
func (h *heap) room(n int) []byte {
	h.take(n)
	return h.bytes.cut(n)
}

// copied makes a string of a copy of b.
func (h *heap) copied(b []byte) value {
	s := h.room(len(b))
	copy(s, b)
	return h.owned(s)
}

// owned makes a string of b, which no one may change any more. Its bytes are
// counted already.
func (h *heap) owned(b []byte) value {
	h.take(objectSize)
	o := &h.objects.cut(1)[0]
	o.kind, o.str = kindString, b
	return value{o: o}
}

// text makes a string of s.
func (h *heap) text(s string) value {
	b := h.room(len(s))
	copy(b, s)
	return h.owned(b)
}

// table makes a table with room for what is announced.
func (h *heap) table(array, hash int) *table {
	h.take(tableSize)
	t := &h.tables.cut(1)[0]
	t.kind, t.tab, t.heap = kindTable, t, h
	h.outlive(&t.obj)
	if array > 0 || hash > 0 {
		t.resize(array, hash)
	}
	return t
}

func (h *heap) closure(p *proto) *function {
	h.take(tableSize + 8*len(p.upvalues))
	f := &h.functions.cut(1)[0]
	f.kind, f.fn, f.proto = kindFunction, f, p
	if len(p.upvalues) > 0 {
		f.boxes = make([]*box, len(p.upvalues))
	}
	return f
}

func (h *heap) native(fn builtin) value {
	h.take(tableSize)
	f := &h.functions.cut(1)[0]
	f.kind, f.fn, f.native = kindFunction, f, fn
	h.outlive(&f.obj)
	return value{o: &f.obj}
}

func (h *heap) box(v value) *box {
	h.take(objectSize)
	b := &h.boxes.cut(1)[0]
	b.kind, b.ref, b.v = kindBox, b, v
	return b
}

// vector returns n values, all nil.
func (h *heap) vector(n int) []value {
	h.take(n * valueSize)
	return h.values.cut(n)
}

// nodeVector returns n nodes, all free.
func (h *heap) nodeVector(n int) []node {
	h.take(n * nodeSize)
	return h.nodes.cut(n)
}

// identity numbers an object: it stands for its address.
func (h *heap) identity(o *obj) uint32 {
	if o.id == 0 {
		h.ids++
		o.id = h.ids
	}
	return o.id
}

// outlive numbers an object at once if it outlives runs, so that none leaves a
// number with it.
func (h *heap) outlive(o *obj) {
	if h.lasting {
		h.identity(o)
	}
}

// buffer collects a string whose length is not known, and counts what it takes.
type buffer struct {
	heap *heap
	b    []byte
}

func (b *buffer) grow(n int) {
	if n <= cap(b.b)-len(b.b) {
		return
	}
	size := max(2*cap(b.b), len(b.b)+n, 64)
	b.heap.take(size)
	b.b = slices.Grow(b.b, size-len(b.b))
}

func (b *buffer) add(s []byte) {
	b.grow(len(s))
	b.b = append(b.b, s...)
}

func (b *buffer) addString(s string) {
	b.grow(len(s))
	b.b = append(b.b, s...)
}

func (b *buffer) addByte(c byte) {
	b.grow(1)
	b.b = append(b.b, c)
}

// done makes a string of what was collected.
func (b *buffer) done() value { return b.heap.copied(b.b) }

package script

import (
	"encoding/binary"
	"math"
)

// maxPackDepth is how deep tables may lie in each other; deeper ones are packed
// as nil.
const maxPackDepth = 16

func (m *Machine) msgpackLibrary() *table {
	tab := m.library(map[string]builtin{
		"pack": msgpackPack, "unpack": msgpackUnpack, "unpack_one": msgpackUnpackOne, "unpack_limit": msgpackUnpackLimit,
	})
	for name, text := range map[string]string{
		"_NAME": "cmsgpack", "_VERSION": "lua-cmsgpack 0.4.0",
		"_COPYRIGHT": "Copyright (C) 2012, Redis Ltd.", "_DESCRIPTION": "MessagePack C implementation for Lua",
	} {
		tab.set(constant(name), constant(text))
	}
	return tab
}

func msgpackPack(t *thread, args []value) []value {
	if len(args) == 0 {
		t.failArg(-1, "MessagePack pack needs input.")
	}
	p := packer{t: t, buffer: buffer{heap: t.heap}}
	for _, v := range args {
		p.pack(v, 0)
	}
	return t.one(p.done())
}

// packer writes MessagePack.
type packer struct {
	buffer
	t *thread
}

// head writes a tag and n in the given number of bytes.
func (p *packer) head(tag byte, n uint64, size int) {
	var b [9]byte
	b[0] = tag
	binary.BigEndian.PutUint64(b[1:], n<<(64-8*size))
	p.add(b[:1+size])
}

func (p *packer) pack(v value, depth int) {
	p.t.m.spend(1)
	switch v.kind() {
	case kindString:
		p.sized(len(v.o.str), 0xa0, 32, 0xd9, 0xda, 0xdb)
		p.add(v.o.str)
	case kindBool:
		p.addByte(0xc2 + byte(v.n))
	case kindNumber:
		p.number(v.n)
	case kindTable:
		if depth < maxPackDepth {
			p.table(v.o.tab, depth)
			return
		}
		p.addByte(0xc0)
	default:
		p.addByte(0xc0)
	}
}

// sized writes the tag of something with a size: short within a byte with the
// size, or followed by one of 8, 16 or 32 bits; tag8 may be 0 for none.
func (p *packer) sized(n int, fix byte, limit int, tag8, tag16, tag32 byte) {
	switch {
	case n < limit:
		p.addByte(fix | byte(n))
	case n <= math.MaxUint8 && tag8 != 0:
		p.head(tag8, uint64(n), 1)
	case n <= math.MaxUint16:
		p.head(tag16, uint64(n), 2)
	default:
		p.head(tag32, uint64(n), 4)
	}
}

func (p *packer) number(n float64) {
	i := int64(n)
	switch {
	case float64(i) != n || n >= math.MaxInt64:
		if float64(float32(n)) == n {
			p.head(0xca, uint64(math.Float32bits(float32(n))), 4)
		} else {
			p.head(0xcb, math.Float64bits(n), 8)
		}
	case i >= -32 && i <= math.MaxInt8:
		p.addByte(byte(i))
	case i >= 0:
		size, tag := width(uint64(i))
		p.head(0xcc+tag, uint64(i), size)
	default:
		size, tag := width(uint64(^i) << 1)
		p.head(0xd0+tag, uint64(i), size)
	}
}

// width is how many bytes n needs, and the place of that in the order of tags.
func width(n uint64) (size int, tag byte) {
	switch {
	case n <= math.MaxUint8:
		return 1, 0
	case n <= math.MaxUint16:
		return 2, 1
	case n <= math.MaxUint32:
		return 4, 2
	}
	return 8, 3
}

func (p *packer) table(tab *table, depth int) {
	count, array := tab.shape()
	p.t.m.spend(len(tab.arr) + len(tab.nodes))
	if array {
		p.sized(count, 0x90, 16, 0, 0xdc, 0xdd)
		for i := 1; i <= count; i++ {
			p.pack(tab.getInt(i), depth+1)
		}
		return
	}
	p.sized(count, 0x80, 16, 0, 0xde, 0xdf)
	for key, val, _ := tab.next(value{}); !key.isNil(); key, val, _ = tab.next(key) {
		p.pack(key, depth+1)
		p.pack(val, depth+1)
	}
}

// shape is the number of pairs, and whether their keys are 1 to that number.
func (t *table) shape() (count int, array bool) {
	top := 0.0
	array = true
	for key, _, _ := t.next(value{}); !key.isNil(); key, _, _ = t.next(key) {
		count++
		if !key.isNumber() || key.n <= 0 || key.n != math.Trunc(key.n) {
			array = false
			continue
		}
		top = math.Max(top, key.n)
	}
	return count, array && top == float64(count)
}

func msgpackUnpack(t *thread, args []value) []value { return t.unpackAll(args, 0, 0) }

func msgpackUnpackOne(t *thread, args []value) []value {
	offset := t.optInt(args, 1, 0)
	return t.unpackAll(args, 1, offset)
}

func msgpackUnpackLimit(t *thread, args []value) []value {
	limit := t.wantInt(args, 1)
	return t.unpackAll(args, limit, t.optInt(args, 2, 0))
}

// unpackAll reads up to limit values, all with a limit of 0; with one, where to
// go on is the first result, -1 at the end.
func (t *thread) unpackAll(args []value, limit, offset int) []value {
	data := t.wantString(args, 0)
	limit, offset = int(int32(limit)), int(int32(offset))
	switch {
	case limit < 0 || offset < 0:
		t.fail("Invalid request to unpack with offset of %d and limit of %d.", offset, len(data))
	case offset > len(data):
		t.fail("Start offset %d greater than input length %d.", offset, len(data))
	}
	all := limit == 0 && offset == 0
	if all {
		limit = math.MaxInt32
	}
	u := unpacker{t: t, data: data[offset:]}
	list := []value{{}}
	for i := 0; i < limit && len(u.data) > 0; i++ {
		t.heap.take(valueSize)
		if list = append(list, u.unpack()); len(list) > maxValues {
			t.fail("stack overflow (too many values in input)")
		}
	}
	if all {
		return list[1:]
	}
	list[0] = number(-1)
	if rest := len(u.data); rest > 0 {
		list[0] = number(float64(len(data) - rest))
	}
	return list
}

// unpacker reads MessagePack.
type unpacker struct {
	t     *thread
	data  []byte
	depth int
}

// take cuts n bytes off.
func (u *unpacker) take(n int) []byte {
	if n > len(u.data) {
		u.t.fail("Missing bytes in input.")
	}
	b := u.data[:n]
	u.data = u.data[n:]
	return b
}

// uint reads a whole number of n bytes.
func (u *unpacker) uint(n int) (x uint64) {
	for _, c := range u.take(n) {
		x = x<<8 | uint64(c)
	}
	return x
}

// maxUnpackDepth is how deep arrays and maps may lie in each other.
const maxUnpackDepth = 2000

func (u *unpacker) unpack() value {
	u.t.m.spend(1)
	tag := u.take(1)[0]
	switch {
	case tag < 0x80 || tag >= 0xe0:
		return number(float64(int8(tag)))
	case tag < 0x90:
		return u.pairs(int(tag & 15))
	case tag < 0xa0:
		return u.items(int(tag & 15))
	case tag < 0xc0:
		return u.t.heap.copied(u.take(int(tag & 31)))
	}
	switch tag {
	case 0xc0:
		return value{}
	case 0xc2, 0xc3:
		return boolean(tag == 0xc3)
	case 0xca:
		return number(float64(math.Float32frombits(uint32(u.uint(4)))))
	case 0xcb:
		return number(math.Float64frombits(u.uint(8)))
	case 0xcc, 0xcd, 0xce, 0xcf:
		return number(float64(int64(u.uint(1 << (tag - 0xcc)))))
	case 0xd0, 0xd1, 0xd2, 0xd3:
		size := 1 << (tag - 0xd0)
		return number(float64(int64(u.uint(size)<<(64-8*size)) >> (64 - 8*size)))
	case 0xd9, 0xda, 0xdb:
		return u.t.heap.copied(u.take(int(u.uint(1 << (tag - 0xd9)))))
	case 0xdc, 0xdd:
		return u.items(int(u.uint(2 << (tag - 0xdc))))
	case 0xde, 0xdf:
		return u.pairs(int(u.uint(2 << (tag - 0xde))))
	}
	u.t.fail("Bad data format in input.")
	return value{}
}

func (u *unpacker) deeper() {
	if u.depth++; u.depth > maxUnpackDepth {
		u.t.fail("stack overflow (Function requires more Lua stack space)")
	}
}

func (u *unpacker) items(n int) value {
	u.deeper()
	tab := u.t.heap.table(0, 0)
	for i := 1; i <= n; i++ {
		tab.setInt(i, u.unpack())
	}
	u.depth--
	return value{o: &tab.obj}
}

func (u *unpacker) pairs(n int) value {
	u.deeper()
	tab := u.t.heap.table(0, 0)
	for range n {
		key := u.unpack()
		u.t.setBare(tab, key, u.unpack())
	}
	u.depth--
	return value{o: &tab.obj}
}

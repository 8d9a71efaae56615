package script

import (
	"bytes"
	"encoding/binary"
	"math"
)

func structLibrary() map[string]builtin {
	return map[string]builtin{"pack": structPack, "size": structSize, "unpack": structUnpack}
}

// The sizes that formats of struct know.
const (
	maxIntSize  = 32
	nativeAlign = 8
)

// layout walks through a format of struct.
type layout struct {
	t      *thread
	format []byte
	big    bool
	align  int
}

func (t *thread) layout(args []value) *layout {
	return &layout{t: t, format: t.wantString(args, 0), align: 1}
}

// number reads the number at the front of the format.
func (l *layout) number(otherwise int) int {
	if len(l.format) == 0 || !isDigit(l.format[0]) {
		return otherwise
	}
	n := 0
	for len(l.format) > 0 && isDigit(l.format[0]) {
		d := int(l.format[0] - '0')
		if n > (math.MaxInt32-d)/10 {
			l.t.fail("integral size overflow")
		}
		n = n*10 + d
		l.format = l.format[1:]
	}
	return n
}

// next is the next option with its size; 0 at the end.
func (l *layout) next() (option byte, size int) {
	for len(l.format) > 0 {
		l.t.m.spend(1)
		option = l.format[0]
		l.format = l.format[1:]
		switch option {
		case ' ':
		case '<', '>':
			l.big = option == '>'
		case '!':
			if l.align = l.number(nativeAlign); l.align == 0 || l.align&(l.align-1) != 0 {
				l.t.fail("alignment %d is not a power of 2", l.align)
			}
		default:
			return option, l.size(option)
		}
	}
	return 0, 0
}

func (l *layout) size(option byte) int {
	switch option {
	case 'b', 'B', 'x':
		return 1
	case 'h', 'H':
		return 2
	case 'l', 'L', 'T', 'd':
		return 8
	case 'f':
		return 4
	case 's':
		return 0
	case 'c':
		return l.number(1)
	case 'i', 'I':
		size := l.number(4)
		if size > maxIntSize {
			l.t.fail("integral size %d is larger than limit of %d", size, maxIntSize)
		}
		return size
	}
	return unknownSize
}

// unknownSize is the size of an unknown option.
const unknownSize = -1

// padding is how many bytes align an item at a place.
func (l *layout) padding(place int, option byte, size int) int {
	if size == 0 || option == 'c' {
		return 0
	}
	size = min(size, l.align)
	return (size - place&(size-1)) & (size - 1)
}

func structSize(t *thread, args []value) []value {
	l, total := t.layout(args), 0
	for {
		option, size := l.next()
		if option == 0 {
			return t.one(number(float64(total)))
		}
		if option == 's' {
			t.failArg(0, "option 's' has no fixed size")
		} else if option == 'c' && size == 0 {
			t.failArg(0, "option 'c0' has no fixed size")
		}
		size = max(size, 0)
		total += l.padding(total, option, size) + size
	}
}

func structPack(t *thread, args []value) []value {
	l, b := t.layout(args), buffer{heap: t.heap}
	args = append(args[:len(args):len(args)], value{}) // the original has a mark behind the arguments
	item := 1
	for {
		option, size := l.next()
		if option == 0 {
			return t.one(b.done())
		}
		l.known(option, size)
		for range l.padding(len(b.b), option, size) {
			b.addByte(0)
		}
		if option == 'x' {
			b.addByte(0)
			continue
		}
		l.pack(&b, option, size, args, item)
		item++
	}
}

func (l *layout) known(option byte, size int) {
	if size == unknownSize {
		l.t.failArg(0, "invalid format option '%c'", option)
	}
}

// pack adds one item.
func (l *layout) pack(b *buffer, option byte, size int, args []value, i int) {
	switch option {
	case 'f':
		b.add(l.bytes(uint64(math.Float32bits(float32(l.t.wantNumber(args, i)))), 4))
	case 'd':
		b.add(l.bytes(math.Float64bits(l.t.wantNumber(args, i)), 8))
	case 'c', 's':
		s := l.t.wantString(args, i)
		if size == 0 {
			size = len(s)
		}
		if len(s) < size {
			l.t.failArg(i+1, "string too short") // as the original counts
		}
		b.add(s[:size])
		if option == 's' {
			b.addByte(0)
		}
	default:
		b.add(l.bytes(castUnsigned(l.t.wantNumber(args, i)), size))
	}
}

// castUnsigned is C's cast of a double: by way of a signed number when negative.
func castUnsigned(n float64) uint64 {
	if n < 0 {
		return uint64(toInteger(n))
	}
	return unsigned(n)
}

// bytes are the lowest bytes of n in the layout's order.
func (l *layout) bytes(n uint64, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		at := i
		if l.big {
			at = size - 1 - i
		}
		b[at] = byte(n)
		n >>= 8
	}
	return b
}

func structUnpack(t *thread, args []value) []value {
	l, data := t.layout(args), t.wantString(args, 1)
	pos := t.optInt(args, 2, 1) - 1
	if pos < 0 {
		t.failArg(2, "offset must be 1 or greater")
	}
	var items []value
	for {
		option, size := l.next()
		if option == 0 {
			return append(items, number(float64(pos+1)))
		}
		l.known(option, size)
		pos += l.padding(pos, option, size)
		if option == 'c' && size == 0 {
			if len(items) == 0 || !items[len(items)-1].isNumber() {
				t.fail("format 'c0' needs a previous size")
			}
			size = int(items[len(items)-1].n)
			items = items[:len(items)-1]
		}
		if size < 0 || size > len(data) || pos > len(data)-size {
			t.failArg(1, "data string too short")
		}
		if option == 's' {
			if size = bytes.IndexByte(data[pos:], 0) + 1; size == 0 {
				t.fail("unfinished string in data")
			}
		}
		if option != 'x' {
			if len(items)+len(args) >= maxValues {
				t.fail("stack overflow (too many results)")
			}
			t.heap.take(valueSize)
			items = append(items, l.unpack(option, data[pos:pos+size]))
		}
		pos += size
	}
}

// unpack reads one item.
func (l *layout) unpack(option byte, data []byte) value {
	switch option {
	case 's':
		return l.t.heap.copied(data[:len(data)-1])
	case 'c':
		return l.t.heap.copied(data)
	case 'f':
		return number(float64(math.Float32frombits(uint32(l.read(data)))))
	case 'd':
		return number(math.Float64frombits(l.read(data)))
	}
	n := l.read(data)
	if option >= 'a' {
		shift := max(64-8*len(data), 0)
		return number(float64(int64(n<<shift) >> shift))
	}
	return number(float64(n))
}

// read is a whole number of at most 64 bits.
func (l *layout) read(data []byte) uint64 {
	var b [8]byte
	for i := range min(len(data), 8) {
		at := i
		if l.big {
			at = len(data) - 1 - i
		}
		b[i] = data[at]
	}
	return binary.LittleEndian.Uint64(b[:])
}

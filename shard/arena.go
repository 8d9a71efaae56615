package shard

import (
	"fmt"
	"unsafe"

	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/ttl"
)

// This file is the only one with unsafe pointers. Records live in memory that the
// garbage collector does not look into, so that ten million of them cost it
// nothing; a record is named by a 32-bit reference instead of a pointer.

const (
	chunkSize = 64 << 10
	grain     = 8 // every cell starts at a multiple of it
	offsetLen = 13
	// maxChunks bounds a database to 32 GiB of shared chunks per shard.
	maxChunks = 1 << (32 - offsetLen)
	// largestShared is the largest cell that shares a chunk with others: four
	// fit. Anything larger gets a chunk of its own.
	largestShared = chunkSize / 4
	headerSize    = int(unsafe.Sizeof(cell{}))
)

// cell is the header of a record. The key follows it, then the value.
type cell struct {
	when int64    // Unix ms from which the record is absent; 0 never
	node ttl.Node // its place in the wheel
	meta uint32   // kind in the low 8 bits, length of the key above
}

func (c *cell) kind() Kind  { return Kind(c.meta) }
func (c *cell) keyLen() int { return int(c.meta >> 8) }

func (c *cell) bytes(at, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(c), at)), n)
}

// key is a view of the key.
func (c *cell) key() []byte { return c.bytes(headerSize, c.keyLen()) }

// value is a view of the value. It starts at a multiple of 8.
func (c *cell) value() []byte {
	return c.bytes(valueStart(c.kind(), c.keyLen()), c.valueLen())
}

func (c *cell) valueLen() int {
	if n := c.kind().size(); n != variable {
		return n
	}
	return int(*c.length())
}

// length is where the length of a variable value is kept: the four bytes before
// the value.
func (c *cell) length() *uint32 {
	return (*uint32)(unsafe.Add(unsafe.Pointer(c), valueStart(c.kind(), c.keyLen())-4))
}

// room is the part of the cell that a value may fill, of which it uses the
// first bytes. size is the size of the cell.
func (c *cell) room(size int) []byte {
	start := valueStart(c.kind(), c.keyLen())
	return c.bytes(start, size-start)
}

// setLen records the length of a variable value.
func (c *cell) setLen(n int) {
	if c.kind().size() == variable {
		*c.length() = uint32(n)
	}
}

// hits is a view of the hits in a log.
func (c *cell) hits() []limit.Hit {
	v := c.value()
	return unsafe.Slice((*limit.Hit)(unsafe.Pointer(unsafe.SliceData(v[logHeader:]))), (len(v)-logHeader)/hitSize)
}

// valueStart is the offset of the value within a cell.
func valueStart(k Kind, keyLen int) int {
	end := headerSize + keyLen
	if k.size() == variable {
		end += 4
	}
	return (end + grain - 1) &^ (grain - 1)
}

// chunk describes a piece of memory cut into cells of one size.
type chunk struct {
	size       uint32 // of each cell, bytes
	prev, next uint32 // neighbours in the list of chunks of its class with room
	cells      uint16 // that fit
	made       uint16 // handed out at least once; the rest was never touched
	live       uint16
	free       uint16 // the first freed cell, its grain plus one; 0 none
	class      uint8
}

func (c *chunk) full() bool { return c.live == c.cells }

// arena hands out cells. The zero value is not ready; use newArena.
type arena struct {
	base   []unsafe.Pointer // memory of each chunk, nil when the number is vacant
	chunks []chunk
	room   []uint32 // by class: the first chunk with room, 0 none
	vacant []uint32 // chunk numbers that can be used again
	// spare is one emptied chunk kept back, so that a record that comes and goes at
	// the edge of a chunk does not make the runtime allocate each time.
	spare unsafe.Pointer
	held  int64   // bytes of all chunks
	live  int64   // bytes of the cells in use
	stock []stock // by class
	sizes int     // classes that have chunks
	most  int     // chunks there may be, counting the one that is never used
}

func newArena() arena {
	// Chunk 0 is never used: reference 0 means no record.
	return arena{
		base: make([]unsafe.Pointer, 1), chunks: make([]chunk, 1), most: maxChunks,
		room: make([]uint32, len(classSizes)), stock: make([]stock, len(classSizes)),
	}
}

// bytes is the memory of the arena: chunks and tables.
func (a *arena) bytes() int64 {
	return a.held + int64(cap(a.base))*int64(unsafe.Sizeof(a.base[0])) +
		int64(cap(a.chunks))*int64(unsafe.Sizeof(a.chunks[0])) + 4*int64(cap(a.room)+cap(a.vacant)) +
		int64(cap(a.stock))*int64(unsafe.Sizeof(a.stock[0]))
}

// cell is the record at ref, which must be live.
func (a *arena) cell(ref uint32) *cell {
	return (*cell)(unsafe.Add(a.base[ref>>offsetLen], uintptr(ref&(1<<offsetLen-1))*grain))
}

// ends reads something of the beginning and of the end of the cell at ref, which
// for small ones is all that there is of it.
func (a *arena) ends(ref uint32) uint32 {
	c := a.cell(ref)
	return c.meta + *(*uint32)(unsafe.Add(unsafe.Pointer(c), a.size(ref)-grain))
}

// size is the size of the cell at ref in bytes.
func (a *arena) size(ref uint32) int { return int(a.chunks[ref>>offsetLen].size) }

// alloc returns a cell of at least size bytes. What is in it is undefined.
func (a *arena) alloc(size int) uint32 {
	if size > largestShared {
		return a.allocOwn(size)
	}
	class := classFor(size)
	id := a.room[class]
	if id == 0 {
		id = a.open(class)
	}
	c := &a.chunks[id]
	var at uint32
	if c.free != 0 {
		at = uint32(c.free - 1)
		c.free = *a.link(id<<offsetLen | at)
	} else {
		at = uint32(c.made) * (c.size / grain)
		c.made++
	}
	c.live++
	a.stock[class].free--
	a.live += int64(c.size)
	if c.full() {
		a.unlist(id)
	}
	return id<<offsetLen | at
}

// release gives a cell back. An emptied chunk goes back to the runtime.
func (a *arena) release(ref uint32) {
	id := ref >> offsetLen
	c := &a.chunks[id]
	a.live -= int64(c.size)
	if c.class == ownClass {
		a.drop(id)
		return
	}
	a.stock[c.class].free++
	if c.full() {
		a.list(id)
	}
	c.live--
	if c.live == 0 {
		a.unlist(id)
		a.drop(id)
		return
	}
	*a.link(ref) = c.free
	c.free = uint16(ref&(1<<offsetLen-1)) + 1
}

// link is where a freed cell keeps the next freed one of its chunk.
func (a *arena) link(ref uint32) *uint16 {
	return (*uint16)(unsafe.Pointer(a.cell(ref)))
}

// open starts a chunk of a class.
func (a *arena) open(class uint8) uint32 {
	size := classSizes[class]
	id := a.number(chunk{size: size, cells: uint16(chunkSize / size), class: class})
	if a.stock[class].chunks == 0 {
		a.sizes++
	}
	a.stock[class].chunks++
	a.stock[class].free += int(a.chunks[id].cells)
	if a.spare != nil {
		a.base[id], a.spare = a.spare, nil
	} else {
		a.base[id] = memory(chunkSize)
		a.held += chunkSize
	}
	a.list(id)
	return id
}

// allocOwn makes a chunk for one large cell.
func (a *arena) allocOwn(size int) uint32 {
	size = (size + grain - 1) &^ (grain - 1)
	id := a.number(chunk{size: uint32(size), cells: 1, made: 1, live: 1, class: ownClass})
	a.base[id] = memory(size)
	a.held += int64(size)
	a.live += int64(size)
	return id << offsetLen
}

// number finds a number for a new chunk. It panics when all are taken: MakeRoom
// refuses commands before.
func (a *arena) number(c chunk) uint32 {
	if n := len(a.vacant); n > 0 {
		id := a.vacant[n-1]
		a.vacant = a.vacant[:n-1]
		a.chunks[id] = c
		return id
	}
	if len(a.chunks) >= a.most {
		panic(fmt.Sprintf("shard: a database outgrew its %d chunks although MakeRoom was to refuse what could", a.most-1))
	}
	a.base, a.chunks = append(a.base, nil), append(a.chunks, c)
	return uint32(len(a.chunks) - 1)
}

// drop lets the memory of an empty chunk go.
func (a *arena) drop(id uint32) {
	if c := &a.chunks[id]; c.class != ownClass {
		if a.stock[c.class].chunks--; a.stock[c.class].chunks == 0 {
			a.sizes--
		}
		a.stock[c.class].free -= int(c.cells)
	}
	if a.chunks[id].class != ownClass && a.spare == nil {
		a.spare = a.base[id]
	} else {
		a.held -= a.footprint(id)
	}
	a.base[id], a.chunks[id] = nil, chunk{}
	a.vacant = append(a.vacant, id)
}

func (a *arena) footprint(id uint32) int64 {
	if c := &a.chunks[id]; c.class == ownClass {
		return int64(c.size)
	}
	return chunkSize
}

// list puts a chunk in front of those of its class that have room.
func (a *arena) list(id uint32) {
	c := &a.chunks[id]
	head := a.room[c.class]
	c.prev, c.next = 0, head
	if head != 0 {
		a.chunks[head].prev = id
	}
	a.room[c.class] = id
}

func (a *arena) unlist(id uint32) {
	c := &a.chunks[id]
	if c.next != 0 {
		a.chunks[c.next].prev = c.prev
	}
	if c.prev != 0 {
		a.chunks[c.prev].next = c.next
	} else {
		a.room[c.class] = c.next
	}
	c.prev, c.next = 0, 0
}

// memory is size zeroed bytes without Go pointers, aligned to 8.
func memory(size int) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(make([]uint64, size/grain)))
}

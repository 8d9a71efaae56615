package shard

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"sort"
	"unsafe"
)

// Roster is a hash or a set: names in the order they came, each with a value
// that a set leaves empty. A name keeps its place when its value changes; one that
// went and came back is last. Engine reads it; only primitives change it. A nil
// Roster is empty.
//
// Each name has a number, larger than that of the name before it. Names lie in
// blocks, sorted by number; those of more than a few names are found through an index
// from hash to number.
type Roster struct {
	blocks [][]item // none is empty
	index  *places  // nil while there are few names
	seed   *Seed
	count  int
	held   int64 // bytes, but for the struct, the list of blocks and the index
	bare   bool  // a set
}

// item is one name with its value.
type item struct {
	data   []byte // the name, then the value
	number uint64 // from 1
	length uint32 // of the name
	tag    uint32 // hash of the name, once there is an index
}

func (i *item) name() []byte  { return i.data[:i.length:i.length] }
func (i *item) value() []byte { return i.data[i.length:] }

const (
	itemSize  = int64(unsafe.Sizeof(item{}))
	blockSize = 256 // names in a block at most
	fewNames  = 16  // that are compared one after the other
	// maxNumber keeps cursors within what the numbers of JavaScript reach. A million
	// new names a second take 285 years to get there.
	maxNumber = 1<<53 - 1
)

func newHash(seed *Seed) collection { return &Roster{seed: seed} }
func newSet(seed *Seed) collection  { return &Roster{seed: seed, bare: true} }

// Bytes is the memory taken. The whole value never encodes to more.
func (r *Roster) Bytes() int64 {
	if r == nil {
		return 0
	}
	return r.bytes()
}

// Len is the number of names.
func (r *Roster) Len() int {
	if r == nil {
		return 0
	}
	return r.count
}

// Get is a view of the value of a name, valid until the next write to the
// database; false when there is no such name.
func (r *Roster) Get(name []byte) (value []byte, ok bool) {
	if r == nil {
		return nil, false
	}
	at := r.find(name, r.tag(name))
	if !at.ok {
		return nil, false
	}
	return r.item(at).value(), true
}

// All goes through names and values in their order. They are views.
func (r *Roster) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		if r == nil {
			return
		}
		for _, block := range r.blocks {
			for i := range block {
				if !yield(block[i].name(), block[i].value()) {
					return
				}
			}
		}
	}
}

// Pick is a name with its value, each as likely as the others when draw(n)
// draws one of 0 to n-1 so. There must be one.
func (r *Roster) Pick(draw func(n int) int) (name, value []byte) {
	// Blocks differ in length, so a place is drawn as if all were as long as the
	// longest may be, and again when nothing is there.
	longest := blockSize
	if len(r.blocks) == 1 {
		longest = len(r.blocks[0])
	}
	for {
		block, at := r.blocks[draw(len(r.blocks))], draw(longest)
		if at < len(block) {
			return block[at].name(), block[at].value()
		}
	}
}

// Scan visits about n names, newest first, beginning before cursor, where 0 is
// the end. The next call continues at next; 0 says that all were visited. A name that is
// there from the first call to the last is visited exactly once; one that came
// meanwhile is not, but in the place of a last one that went. So a walk ends, whatever
// is done to the names visited.
func (r *Roster) Scan(cursor uint64, n int, fn func(name, value []byte)) (next uint64) {
	if r.Len() == 0 {
		return 0
	}
	at := place{block: len(r.blocks)}
	if cursor != 0 {
		at = r.locate(cursor)
	}
	for ; n > 0; n-- {
		if at.index == 0 {
			if at.block == 0 {
				return 0
			}
			at.block--
			at.index = len(r.blocks[at.block])
		}
		at.index--
		i := r.item(at)
		fn(i.name(), i.value())
		next = i.number
	}
	if at.block == 0 && at.index == 0 {
		return 0
	}
	return next
}

// place is where an item is, or would be.
type place struct {
	block, index int
	ok           bool
}

func (r *Roster) item(at place) *item { return &r.blocks[at.block][at.index] }

// tag is the hash of a name, 0 while none is needed.
func (r *Roster) tag(name []byte) uint32 {
	if r.index == nil {
		return 0
	}
	return spread(r.seed.hash(name))
}

// find looks a name up; tag is its hash.
func (r *Roster) find(name []byte, tag uint32) (at place) {
	if r.index == nil {
		for b, block := range r.blocks {
			for i := range block {
				if bytes.Equal(block[i].name(), name) {
					return place{b, i, true}
				}
			}
		}
		return place{}
	}
	t := r.index.table(tag)
	for slot := t.home(tag); t.numbers[slot] != 0; slot = t.next(slot) {
		if t.tags[slot] != tag {
			continue
		}
		if at = r.locate(t.numbers[slot]); bytes.Equal(r.item(at).name(), name) {
			return at
		}
	}
	return place{}
}

// locate is the place of a number, or of the first one after it: within or at
// the end of a block.
func (r *Roster) locate(number uint64) (at place) {
	at.block = max(0, sort.Search(len(r.blocks), func(b int) bool { return r.blocks[b][0].number > number })-1)
	if len(r.blocks) == 0 {
		return at
	}
	block := r.blocks[at.block]
	at.index = sort.Search(len(block), func(i int) bool { return block[i].number >= number })
	at.ok = at.index < len(block) && block[at.index].number == number
	return at
}

// last is the largest number, 0 when there is none.
func (r *Roster) last() uint64 {
	if r.count == 0 {
		return 0
	}
	block := r.blocks[len(r.blocks)-1]
	return block[len(block)-1].number
}

// bytes is the memory of the roster (collection).
func (r *Roster) bytes() int64 {
	return int64(unsafe.Sizeof(*r)) + r.held + r.index.bytes() + int64(cap(r.blocks))*int64(unsafe.Sizeof(r.blocks[0]))
}

// insert puts a name that is not there at the place of its number.
func (r *Roster) insert(number uint64, name, value []byte) {
	data := append(append([]byte(nil), name...), value...)
	i := item{data: data, number: number, length: uint32(len(name)), tag: r.tag(name)}
	r.held += int64(cap(data))
	r.count++
	r.file(i)
	switch {
	case r.index == nil && r.count <= fewNames:
	case r.index == nil:
		r.buildIndex()
	default:
		r.index.add(i.tag, number)
	}
}

// file puts an item into its block.
func (r *Roster) file(i item) {
	at := r.locate(i.number)
	if len(r.blocks) == 0 || at.index == blockSize && at.block == len(r.blocks)-1 {
		r.blocks = append(r.blocks, nil)
		at = place{block: len(r.blocks) - 1}
	}
	if len(r.blocks[at.block]) == blockSize {
		r.split(at.block)
		at = r.locate(i.number)
	}
	block := r.blocks[at.block]
	before := cap(block)
	block = append(block, item{})
	copy(block[at.index+1:], block[at.index:])
	block[at.index] = i
	r.blocks[at.block] = block
	r.held += int64(cap(block)-before) * itemSize
}

// split makes two blocks of a full one.
func (r *Roster) split(at int) {
	left := r.blocks[at]
	right := append([]item(nil), left[blockSize/2:]...)
	clear(left[blockSize/2:])
	r.blocks = slices.Insert(r.blocks, at+1, right)
	r.blocks[at] = left[:blockSize/2]
	r.held += int64(cap(right)) * itemSize
}

// assign changes the value of a name.
func (r *Roster) assign(at place, value []byte) {
	i := r.item(at)
	n := int(i.length) + len(value)
	if n <= cap(i.data) && cap(i.data) <= 2*n+16 {
		i.data = append(i.data[:i.length], value...)
		return
	}
	r.held -= int64(cap(i.data))
	i.data = append(append([]byte(nil), i.name()...), value...)
	r.held += int64(cap(i.data))
}

// remove takes a name out.
func (r *Roster) remove(at place) {
	i := r.item(at)
	if r.index != nil {
		r.index.remove(i.tag, i.number)
	}
	r.held -= int64(cap(i.data))
	r.count--
	block := r.blocks[at.block]
	copy(block[at.index:], block[at.index+1:])
	block[len(block)-1] = item{}
	r.blocks[at.block] = block[:len(block)-1]
	r.tidy(at.block)
	if r.index != nil && (r.count <= fewNames/2 || r.index.sparse(r.count)) {
		r.buildIndex()
	}
}

// tidy keeps a block that became shorter from holding more memory than its
// names are worth: it drops it, joins it with the next, or moves it.
func (r *Roster) tidy(at int) {
	if at > 0 && len(r.blocks[at-1])+len(r.blocks[at]) <= blockSize/2 {
		at--
	}
	block := r.blocks[at]
	next := []item(nil)
	if at+1 < len(r.blocks) && len(block)+len(r.blocks[at+1]) <= blockSize/2 {
		next = r.blocks[at+1]
		r.held -= int64(cap(next)) * itemSize
		r.dropBlock(at + 1)
	}
	if next == nil && len(block)*4 > cap(block) {
		return
	}
	r.held -= int64(cap(block)) * itemSize
	if len(block)+len(next) == 0 {
		r.dropBlock(at)
		return
	}
	r.blocks[at] = append(append([]item(nil), block...), next...)
	r.held += int64(cap(r.blocks[at])) * itemSize
}

// dropBlock takes a block out of the list.
func (r *Roster) dropBlock(at int) {
	r.blocks = slices.Delete(r.blocks, at, at+1)
	if 4*len(r.blocks) < cap(r.blocks) {
		r.blocks = slices.Clone(r.blocks)
	}
}

// buildIndex makes an index that fits, or none when there are few names.
func (r *Roster) buildIndex() {
	fresh := r.index == nil
	r.index = nil
	if r.count <= fewNames {
		return
	}
	r.index = newPlaces()
	for _, block := range r.blocks {
		for i := range block {
			if fresh { // none was needed until now
				block[i].tag = r.tag(block[i].name())
			}
			r.index.add(block[i].tag, block[i].number)
		}
	}
}

// check verifies a roster (collection).
func (r *Roster) check() error {
	held, count, last := int64(0), 0, uint64(0)
	for b, block := range r.blocks {
		if len(block) == 0 || len(block) > blockSize {
			return fmt.Errorf("block %d has %d names", b, len(block))
		}
		held += int64(cap(block)) * itemSize
		for i := range block {
			it := &block[i]
			if it.number <= last || r.bare && len(it.value()) > 0 {
				return fmt.Errorf("%q has number %d after %d, value %q", it.name(), it.number, last, it.value())
			}
			if at := r.find(it.name(), r.tag(it.name())); at != (place{b, i, true}) {
				return fmt.Errorf("%q is at %d/%d, a search finds %+v", it.name(), b, i, at)
			}
			held, count, last = held+int64(cap(it.data)), count+1, it.number
		}
	}
	if held != r.held || count != r.count {
		return fmt.Errorf("%d names in %d bytes, it says %d in %d", count, held, r.count, r.held)
	}
	return r.index.check(count)
}

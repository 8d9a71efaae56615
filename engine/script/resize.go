package script

import "math/bits"

// widest is the largest index that counts for the array part, as a power of two.
const widest = 26

// rehash makes room for one more key: it counts the whole numbers among the keys
// and chooses the largest n such that more than half of 1..n are in use.
func (t *table) rehash(extra value) {
	var counts [widest + 1]int // counts[i]: keys in (2^(i-1), 2^i]
	whole := 0
	for i, v := range t.arr {
		if !v.isNil() {
			counts[bits.Len(uint(i))]++
			whole++
		}
	}
	total := whole
	for i := range t.nodes {
		if !t.nodes[i].val.isNil() {
			whole += countKey(t.nodes[i].key, &counts)
			total++
		}
	}
	whole += countKey(extra, &counts)
	size, inArray := arraySize(&counts, whole)
	t.resize(size, total+1-inArray)
}

// countKey counts k if it could live in an array.
func countKey(k value, counts *[widest + 1]int) int {
	i := int(k.n)
	if k.o != &numberObj || float64(i) != k.n || i < 1 || i > 1<<widest {
		return 0
	}
	counts[bits.Len(uint(i-1))]++
	return 1
}

// arraySize is the size of the array part and how many keys it takes.
func arraySize(counts *[widest + 1]int, whole int) (size, inside int) {
	seen, power := 0, 1
	for i := 0; i <= widest && power/2 < whole; i++ {
		seen += counts[i]
		if seen > power/2 {
			size, inside = power, seen
		}
		if seen == whole {
			break
		}
		power *= 2
	}
	return size, inside
}

// wholePower is the size of an array part that grew item by item to n.
func wholePower(n int) int {
	if n == 0 {
		return 0
	}
	return 1 << bits.Len(uint(n-1))
}

// resize gives the table an array part of the given size and a hash part for the
// given number of keys.
func (t *table) resize(array, hash int) {
	oldArray, oldNodes := t.arr, t.nodes
	if array > len(oldArray) {
		t.arr = t.heap.vector(array)
		copy(t.arr, oldArray)
	}
	t.setNodes(hash)
	if array < len(oldArray) {
		t.arr = oldArray[:array:array]
		for i, v := range oldArray[array:] {
			if !v.isNil() {
				t.set(number(float64(array+i+1)), v)
			}
		}
	}
	for i := len(oldNodes) - 1; i >= 0; i-- {
		if n := &oldNodes[i]; !n.val.isNil() {
			t.set(n.key, n.val)
		}
	}
}

// setNodes gives the table an empty hash part for n keys.
func (t *table) setNodes(n int) {
	if n == 0 {
		t.nodes, t.free = nil, 0
		return
	}
	size := wholePower(n)
	t.nodes, t.free = t.heap.nodeVector(size), size
}

// length is a border: an index that is set and is followed by one that is not.
func (t *table) length() int {
	n := len(t.arr)
	if n > 0 && t.arr[n-1].isNil() {
		low, high := 0, n
		for high-low > 1 {
			if middle := (low + high) / 2; t.arr[middle-1].isNil() {
				high = middle
			} else {
				low = middle
			}
		}
		return low
	}
	if len(t.nodes) == 0 {
		return n
	}
	return t.borderBeyond(n)
}

// borderBeyond looks for a border in the hash part, all of 1..low being set.
func (t *table) borderBeyond(low int) int {
	high := low + 1
	for !t.getInt(high).isNil() {
		low = high
		high *= 2
	}
	for high-low > 1 {
		if middle := (low + high) / 2; t.getInt(middle).isNil() {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}

// next is the pair after k, or nil at the end; ok is false when k is no key.
func (t *table) next(k value) (key, val value, ok bool) {
	at, ok := t.position(k)
	if !ok {
		return value{}, value{}, false
	}
	for ; at < len(t.arr); at++ {
		if !t.arr[at].isNil() {
			return number(float64(at + 1)), t.arr[at], true
		}
	}
	for at -= len(t.arr); at < len(t.nodes); at++ {
		if n := &t.nodes[at]; !n.val.isNil() {
			return n.key, n.val, true
		}
	}
	return value{}, value{}, true
}

// position is where the walk goes on after k.
func (t *table) position(k value) (int, bool) {
	if k.isNil() {
		return 0, true
	}
	if i := int(k.n); k.o == &numberObj && float64(i) == k.n && uint(i-1) < uint(len(t.arr)) {
		return i, true
	}
	if len(t.nodes) == 0 {
		return 0, false
	}
	for i := t.place(k); ; {
		if same(t.nodes[i].key, k) {
			return len(t.arr) + i + 1, true
		}
		if t.nodes[i].next == 0 {
			return 0, false
		}
		i = int(t.nodes[i].next - 1)
	}
}

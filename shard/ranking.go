package shard

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"unsafe"
)

// ranking keeps the members of a sorted set in order: a B+ tree that counts what
// is below each branch, so that a rank is found, and a member by its rank, in
// O(log n). Any two neighbours below one branch hold more than half of what one
// may hold: a tree that shrank is not left full of crumbs.
type ranking struct {
	root *node // nil when empty
	held int64 // bytes of the nodes
}

// nodeRoom is the most members of a leaf, and the most branches of an inner node.
const nodeRoom = 64

// node is a leaf with members, or has branches.
type node struct {
	items    []Ranked
	branches []branch // nil in a leaf
}

// branch is a node below another.
type branch struct {
	node  *node
	size  int    // members below it
	least Ranked // the first of them
}

const (
	nodeSize   = int64(unsafe.Sizeof(node{}))
	rankedSize = int64(unsafe.Sizeof(Ranked{}))
	branchSize = int64(unsafe.Sizeof(branch{}))
)

// bytes is the memory of one node.
func (n *node) bytes() int64 {
	return nodeSize + int64(cap(n.items))*rankedSize + int64(cap(n.branches))*branchSize
}

// fill is how much of its room the node uses.
func (n *node) fill() int { return len(n.items) + len(n.branches) }

// toBranch describes a node that is not empty.
func (n *node) toBranch() branch {
	if n.branches == nil {
		return branch{n, len(n.items), n.items[0]}
	}
	size := 0
	for i := range n.branches {
		size += n.branches[i].size
	}
	return branch{n, size, n.branches[0].least}
}

// place is the position, in a node, of the branch where x is or belongs.
func (n *node) place(x *Ranked) int {
	return sort.Search(len(n.branches)-1, func(i int) bool { return x.before(&n.branches[i+1].least) })
}

// leafPlace is the position, in a leaf, where x is or belongs.
func (n *node) leafPlace(x *Ranked) int {
	return sort.Search(len(n.items), func(i int) bool { return !n.items[i].before(x) })
}

// insert adds a member that is not there.
func (r *ranking) insert(x Ranked) {
	if r.root == nil {
		r.root = &node{}
		r.held += nodeSize
	}
	if right := r.insertBelow(r.root, &x, true); right != nil {
		r.root = &node{branches: []branch{r.root.toBranch(), right.toBranch()}}
		r.held += r.root.bytes()
	}
}

// insertBelow adds a member to the tree below n. When n was full it returns the
// new node that now follows it. last says that nothing follows n under its
// parent.
func (r *ranking) insertBelow(n *node, x *Ranked, last bool) (right *node) {
	before := n.bytes()
	if n.branches == nil {
		at := n.leafPlace(x)
		n.items = slices.Insert(n.items, at, *x)
		right = n.split(last && at == len(n.items)-1)
	} else {
		at := n.place(x)
		low := &n.branches[at]
		after := r.insertBelow(low.node, x, last && at == len(n.branches)-1)
		if after == nil {
			low.size++
			if at == 0 && x.before(&low.least) {
				low.least = *x
			}
			return nil
		}
		*low = low.node.toBranch()
		n.branches = slices.Insert(n.branches, at+1, after.toBranch())
		right = n.split(last && at == len(n.branches)-2)
	}
	r.held += n.bytes() - before
	if right != nil {
		r.held += right.bytes()
	}
	return right
}

// split moves the upper half of a node that holds too much to a new one and
// returns it. When members come in ascending order, as timestamps do, all but the
// newest stay: the nodes left behind are full.
func (n *node) split(ascending bool) *node {
	full := n.fill()
	if full <= nodeRoom {
		return nil
	}
	keep := full / 2
	if ascending {
		keep = nodeRoom
	}
	right := &node{}
	if n.branches == nil {
		right.items = append(right.items, n.items[keep:]...)
		n.items = cut(n.items, keep)
	} else {
		right.branches = append(right.branches, n.branches[keep:]...)
		n.branches = cut(n.branches, keep)
	}
	return right
}

// cut drops what follows the first n elements, memory for more than nodeRoom
// included.
func cut[T any](s []T, n int) []T {
	clear(s[n:])
	if cap(s) > nodeRoom {
		return append(make([]T, 0, nodeRoom), s[:n]...)
	}
	return s[:n]
}

// remove takes away a member that is there.
func (r *ranking) remove(x Ranked) {
	r.removeBelow(r.root, &x)
	for len(r.root.branches) == 1 {
		r.held -= r.root.bytes()
		r.root = r.root.branches[0].node
	}
	if r.root.fill() == 0 {
		r.held -= r.root.bytes()
		r.root = nil
	}
}

func (r *ranking) removeBelow(n *node, x *Ranked) {
	before := n.bytes()
	if n.branches == nil {
		n.items = shrink(slices.Delete(n.items, n.leafPlace(x), n.leafPlace(x)+1))
	} else {
		at := n.place(x)
		below := n.branches[at].node
		r.removeBelow(below, x)
		if below.fill() == 0 {
			r.held -= below.bytes()
			n.branches = slices.Delete(n.branches, at, at+1)
		} else {
			n.branches[at] = branch{below, n.branches[at].size - 1, below.least()}
			r.join(n, at)
		}
		n.branches = shrink(n.branches)
	}
	r.held += n.bytes() - before
}

// least is the first member below a node.
func (n *node) least() Ranked {
	if n.branches == nil {
		return n.items[0]
	}
	return n.branches[0].least
}

// shrink gives memory back that a node has not used the most of for a while.
func shrink[T any](s []T) []T {
	if cap(s) >= 8 && len(s) <= cap(s)/4 {
		return append(make([]T, 0, cap(s)/2), s...)
	}
	return s
}

// join merges a branch with a neighbour if the two use at most half of one
// node's room.
func (r *ranking) join(n *node, at int) {
	for _, left := range [...]int{at - 1, at} {
		if left < 0 || left+1 >= len(n.branches) {
			continue
		}
		a, b := n.branches[left].node, n.branches[left+1].node
		if a.fill()+b.fill() > nodeRoom/2 {
			continue
		}
		r.held -= a.bytes() + b.bytes()
		a.items = append(a.items, b.items...)
		if a.branches != nil {
			a.branches = append(a.branches, b.branches...)
		}
		r.held += a.bytes()
		n.branches[left].size += n.branches[left+1].size
		n.branches = slices.Delete(n.branches, left+1, left+2)
		return
	}
}

// count is how many members come first for which before is true; it must be
// false for every member after one for which it is false.
func (r *ranking) count(before func(*Ranked) bool) int {
	n, rank := r.root, 0
	if n == nil {
		return 0
	}
	for n.branches != nil {
		at := sort.Search(len(n.branches)-1, func(i int) bool { return !before(&n.branches[i+1].least) })
		for i := range n.branches[:at] {
			rank += n.branches[i].size
		}
		n = n.branches[at].node
	}
	return rank + sort.Search(len(n.items), func(i int) bool { return !before(&n.items[i]) })
}

// walk calls fn with the members of rank from to to-1 below n, ascending, until
// it returns false, which walk returns too.
func (n *node) walk(from, to int, fn func(Ranked) bool) bool {
	if n.branches == nil {
		for i := max(from, 0); i < min(to, len(n.items)); i++ {
			if !fn(n.items[i]) {
				return false
			}
		}
		return true
	}
	for i, start := 0, 0; i < len(n.branches) && start < to; i++ {
		b := &n.branches[i]
		if start+b.size > from && !b.node.walk(from-start, to-start, fn) {
			return false
		}
		start += b.size
	}
	return true
}

// back is walk in descending order; end is the number of members below n.
func (n *node) back(from, to, end int, fn func(Ranked) bool) bool {
	if n.branches == nil {
		for i := min(to, len(n.items)) - 1; i >= max(from, 0); i-- {
			if !fn(n.items[i]) {
				return false
			}
		}
		return true
	}
	for i := len(n.branches) - 1; i >= 0 && end > from; i-- {
		b := &n.branches[i]
		end -= b.size
		if end < to && !b.node.back(from-end, to-end, b.size, fn) {
			return false
		}
	}
	return true
}

// check verifies order, sizes, and what is kept of them.
func (r *ranking) check() error {
	if r.root == nil {
		return nil
	}
	held, _, err := r.root.check(true)
	if err == nil && held != r.held {
		err = fmt.Errorf("nodes of %d bytes, the ranking says %d", held, r.held)
	}
	return err
}

// check returns the memory and the depth of the tree below n.
func (n *node) check(root bool) (held int64, depth int, err error) {
	if fill := n.fill(); fill == 0 || fill > nodeRoom || root && len(n.branches) == 1 || len(n.items) > 0 && n.branches != nil {
		return 0, 0, fmt.Errorf("a node with %d members and %d branches", len(n.items), len(n.branches))
	}
	for i := 1; i < len(n.items); i++ {
		if !n.items[i-1].before(&n.items[i]) {
			return 0, 0, fmt.Errorf("%+v is before %+v", n.items[i-1], n.items[i])
		}
	}
	held = n.bytes()
	for i := range n.branches {
		b := &n.branches[i]
		below, deep, err := b.node.check(false)
		switch {
		case err != nil:
			return 0, 0, err
		case i > 0 && deep != depth:
			return 0, 0, fmt.Errorf("branches of depth %d and %d", depth, deep)
		case i > 0 && b.node.fill()+n.branches[i-1].node.fill() <= nodeRoom/2:
			return 0, 0, fmt.Errorf("neighbours with %d and %d", n.branches[i-1].node.fill(), b.node.fill())
		case b.size != b.node.toBranch().size || !bytes.Equal(b.least.Member, b.node.least().Member) || b.least.Score != b.node.least().Score:
			return 0, 0, fmt.Errorf("a branch says %d from %+v on", b.size, b.least)
		}
		held, depth = held+below, deep
	}
	return held, depth + 1, nil
}

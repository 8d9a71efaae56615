package engine

import (
	"slices"

	"github.com/limitstore/limitstore/shard"
)

// What the commands on hashes, sets, sorted sets and lists have in common.

// mismatch replies with WRONGTYPE and says true when the key holds something of
// another kind. An absent key does not.
func (c *Call) mismatch(e *shard.Entry, kind shard.Kind) bool {
	if e.Kind() == kind || !e.Exists() {
		return false
	}
	c.Fail(WrongType)
	return true
}

// readKind looks a key up for reading; false when it has replied WRONGTYPE.
func (c *Call) readKind(key []byte, kind shard.Kind) (*shard.Database, shard.Entry, bool) {
	db, e := c.Read(key)
	return db, e, !c.mismatch(&e, kind)
}

// openKind looks a key up to change it; false when it has replied WRONGTYPE.
func (c *Call) openKind(key []byte, kind shard.Kind) (*shard.Database, shard.Entry, bool) {
	db := c.Database(key)
	e := db.Lookup(key)
	return db, e, !c.mismatch(&e, kind)
}

const (
	// elementCost is the most memory an element takes beside its bytes: what a
	// collection may hold is reckoned with it before anything is changed.
	elementCost = 128
	// maxCollection is the most bytes of memory of a collection.
	maxCollection = shard.MaxValue
)

// A measure is what a collection has, or what would be added to it.
type measure struct {
	elements int
	bytes    int64
}

// add counts one element more.
func (m *measure) add(words ...[]byte) {
	m.elements++
	m.bytes += elementCost
	for _, w := range words {
		m.bytes += int64(len(w))
	}
}

// overfull replies with an error and says true when a collection that has so
// much may not have so much more.
func (c *Call) overfull(has, more measure) bool {
	switch {
	case has.elements+more.elements > c.limits.Elements:
		c.Fail(TooManyElements, c.limits.Elements)
	case has.bytes+more.bytes > maxCollection:
		c.Fail(CollectionTooLarge, maxCollection)
	default:
		return false
	}
	return true
}

// rosterOverfull is overfull for names, each followed by step-1 values, that
// are put into a roster. Of many, those it has already are not counted.
func (c *Call) rosterOverfull(r *shard.Roster, words [][]byte, step int) bool {
	has, more := measure{r.Len(), r.Bytes()}, measure{}
	for i := 0; i < len(words); i += step {
		more.add(words[i : i+step]...)
	}
	if has.elements+more.elements > c.limits.Elements {
		more.elements = newNames(r, words, step)
	}
	return c.overfull(has, more)
}

// newNames is how many names the roster does not have.
func newNames(r *shard.Roster, words [][]byte, step int) int {
	fresh := map[string]bool{}
	for i := 0; i < len(words); i += step {
		if _, has := r.Get(words[i]); !has {
			fresh[string(words[i])] = true
		}
	}
	return len(fresh)
}

// Redis keeps small collections in one piece, in the order in which the elements
// came, and SMEMBERS of few integers in numeric order; clients rely on the first, and
// OBJECT ENCODING tells. These are Redis' own defaults.
const (
	listpackFields  = 512
	listpackMembers = 128
	listpackValue   = 64 // bytes
	intsetMembers   = 512
)

// isSmall says whether Redis 7.2 would keep a roster in one piece: it has at most
// so many names, and none and no value is long.
func isSmall(r *shard.Roster, names int) bool {
	if r.Len() > names {
		return false
	}
	for name, value := range r.All() {
		if len(name) > listpackValue || len(value) > listpackValue {
			return false
		}
	}
	return true
}

// asIntegers are the members of a set in numeric order if Redis would keep them
// as integers: all are, and they are not many.
func asIntegers(r *shard.Roster) ([]int64, bool) {
	if r.Len() > intsetMembers {
		return nil, false
	}
	all := make([]int64, 0, r.Len())
	for name := range r.All() {
		n, ok := Int(name)
		if !ok {
			return nil, false
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return all, true
}

// encoding is what OBJECT ENCODING says of a collection.
func encoding(db *shard.Database, e *shard.Entry) string {
	r, names := db.Hash(e), listpackFields
	switch e.Kind() {
	case shard.KindSorted:
		return inOnePiece(db.Sorted(e).Packed(), "skiplist")
	case shard.KindList:
		return inOnePiece(db.List(e).Packed(), "quicklist")
	case shard.KindSet:
		r, names = db.Set(e), listpackMembers
		if _, ok := asIntegers(r); ok {
			return "intset"
		}
	}
	return inOnePiece(isSmall(r, names), "hashtable")
}

// inOnePiece names what Redis keeps in one piece, or otherwise.
func inOnePiece(small bool, otherwise string) string {
	if small {
		return "listpack"
	}
	return otherwise
}

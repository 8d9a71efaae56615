package shard

import (
	"encoding/binary"
	"fmt"
	"iter"
	"unsafe"
)

// SortedSet is a set whose members have scores and are in the order of Ranked.
// Engine reads it; only primitives change it. A nil SortedSet is empty.
//
// It is a roster with the scores as values, which finds a member and brings scans
// along, and a ranking, whose members are views of the roster's. Its bytes are the
// roster's, whole and delta: the order follows from them.
type SortedSet struct {
	roster Roster
	ranks  ranking
	long   int // members longer than longMember
}

const (
	scoreSize  = 8  // bytes of a score in the roster, little-endian
	longMember = 64 // bytes; Redis' zset-max-listpack-value
	// packedMembers is Redis' zset-max-listpack-entries.
	packedMembers = 128
	// rankingSize is what a sorted set is larger than its roster by.
	rankingSize = int64(unsafe.Sizeof(SortedSet{}) - unsafe.Sizeof(Roster{}))
)

func newSorted(seed *Seed) collection { return &SortedSet{roster: Roster{seed: seed}} }

// Len is the number of members.
func (z *SortedSet) Len() int {
	if z == nil {
		return 0
	}
	return z.roster.Len()
}

// Bytes is the memory taken. The whole value never encodes to more.
func (z *SortedSet) Bytes() int64 {
	if z == nil {
		return 0
	}
	return z.bytes()
}

// Packed says whether Redis would keep such members in one piece.
func (z *SortedSet) Packed() bool { return z.Len() <= packedMembers && z.long == 0 }

// Score is the score of a member; false when there is no such member.
func (z *SortedSet) Score(member []byte) (Score, bool) {
	if z == nil {
		return 0, false
	}
	value, ok := z.roster.Get(member)
	if !ok {
		return 0, false
	}
	return DecodeScore(value), true
}

// Rank is how many members come before one; false when there is no such member.
func (z *SortedSet) Rank(member []byte) (int, bool) {
	score, ok := z.Score(member)
	if !ok {
		return 0, false
	}
	x := Ranked{member, score}
	return z.ranks.count(func(y *Ranked) bool { return y.before(&x) }), true
}

// Below is how many members have a smaller score, or one as small if orEqual.
func (z *SortedSet) Below(score Score, orEqual bool) int {
	if z == nil {
		return 0
	}
	most := score.order()
	if orEqual {
		return z.ranks.count(func(x *Ranked) bool { return x.Score.order() <= most })
	}
	return z.ranks.count(func(x *Ranked) bool { return x.Score.order() < most })
}

// Before is how many members are smaller, byte by byte, or equal if orEqual. All
// must have the same score; otherwise it is some number of them.
func (z *SortedSet) Before(member []byte, orEqual bool) int {
	if z == nil {
		return 0
	}
	if orEqual {
		return z.ranks.count(func(x *Ranked) bool { return string(x.Member) <= string(member) })
	}
	return z.ranks.count(func(x *Ranked) bool { return string(x.Member) < string(member) })
}

// At is the member of a rank, from 0 to Len-1.
func (z *SortedSet) At(rank int) (x Ranked) {
	for x = range z.Ascending(rank, rank+1) {
		return x
	}
	panic(fmt.Sprintf("shard: rank %d of %d", rank, z.Len()))
}

// Ascending goes through the members of rank from to to-1. It ends with the next
// write to the database.
func (z *SortedSet) Ascending(from, to int) iter.Seq[Ranked] {
	return func(yield func(Ranked) bool) {
		if z.Len() > 0 {
			z.ranks.root.walk(from, to, yield)
		}
	}
}

// Descending is Ascending backwards.
func (z *SortedSet) Descending(from, to int) iter.Seq[Ranked] {
	return func(yield func(Ranked) bool) {
		if z.Len() > 0 {
			z.ranks.root.back(from, to, z.Len(), yield)
		}
	}
}

// Roster is the members in the order in which they came, each with its score as
// DecodeScore reads it.
func (z *SortedSet) Roster() *Roster {
	if z == nil {
		return nil
	}
	return &z.roster
}

// DecodeScore is the score that is the value of a member in its roster.
func DecodeScore(value []byte) Score { return Score(binary.LittleEndian.Uint64(value)) }

// bytes is the memory of the sorted set (collection).
func (z *SortedSet) bytes() int64 { return z.roster.bytes() + rankingSize + z.ranks.held }

func (z *SortedSet) encode(to *Effects) { z.roster.encode(to) }

func (z *SortedSet) decode(from *reader) error {
	if err := z.roster.decode(from); err != nil {
		return err
	}
	for member, value := range z.roster.All() {
		if !isScore(value) {
			return fmt.Errorf("%w: member %q has no score", ErrEffects, member)
		}
	}
	for member, value := range z.roster.All() {
		z.rank(member, value)
	}
	return nil
}

// isScore says whether the bytes are a score.
func isScore(value []byte) bool {
	return len(value) == scoreSize && DecodeScore(value).number()
}

// rank puts a member of the roster in its place.
func (z *SortedSet) rank(member, value []byte) {
	z.ranks.insert(Ranked{member, DecodeScore(value)})
	if len(member) > longMember {
		z.long++
	}
}

// unrank takes a member that has the score out of its place.
func (z *SortedSet) unrank(member []byte, score Score) {
	z.ranks.remove(Ranked{member, score})
	if len(member) > longMember {
		z.long--
	}
}

// edit makes a step of the roster and moves the member where its score says.
func (z *SortedSet) edit(delta *reader, back *Effects) error {
	r, s := &z.roster, rosterStep{}
	s.read(r, delta)
	if delta.err != nil {
		return delta.err
	}
	if s.op != rosterRemove && !isScore(s.value) {
		return fmt.Errorf("%w: no score", ErrEffects)
	}
	at, old := r.find(s.name, r.tag(s.name)), Score(0)
	if at.ok {
		old = DecodeScore(r.item(at).value())
	}
	if err := r.step(&s, at, back); err != nil {
		return err
	}
	if at.ok {
		z.unrank(s.name, old)
	}
	if s.op == rosterRemove {
		return nil
	}
	if !at.ok {
		number := s.number
		if s.op == rosterPut {
			number = r.last()
		}
		at = r.locate(number)
	}
	z.rank(r.item(at).name(), r.item(at).value())
	return nil
}

// check verifies a sorted set (collection).
func (z *SortedSet) check() error {
	if err := z.roster.check(); err != nil {
		return err
	}
	count, long := 0, 0
	for x := range z.Ascending(0, z.Len()) {
		if score, ok := z.Score(x.Member); !ok || score != x.Score {
			return fmt.Errorf("rank %d is %q with score %#x, the roster says %#x, %t", count, x.Member, x.Score, score, ok)
		}
		count++
		if len(x.Member) > longMember {
			long++
		}
	}
	if count != z.Len() || long != z.long {
		return fmt.Errorf("%d ranked, %d long, of %d, %d", count, long, z.Len(), z.long)
	}
	return z.ranks.check()
}

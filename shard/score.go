package shard

import "bytes"

// Score is the score of a member of a sorted set: the bits of an IEEE 754 double.
// Scores are only ever compared and kept here, never calculated with, and the
// bits of doubles compare as whole numbers do. A NaN is no score.
type Score uint64

// order is a number that lies among those of other scores as the double does
// among doubles. Both zeros are one.
func (s Score) order() int64 {
	n := int64(s)
	if n < 0 {
		return -(n &^ (-1 << 63))
	}
	return n
}

// Less says whether s is the smaller double of the two.
func (s Score) Less(than Score) bool { return s.order() < than.order() }

// infinite are the bits of infinity; a NaN has those and more.
const infinite = 0x7ff << 52

// number says whether s is no NaN.
func (s Score) number() bool { return s&^(1<<63) <= infinite }

// Ranked is a member of a sorted set with its score. Members are in the order of
// their scores and, where those are equal, of their bytes. Member is a view.
type Ranked struct {
	Member []byte
	Score  Score
}

// before says whether x comes before y in a sorted set.
func (x *Ranked) before(y *Ranked) bool {
	a, b := x.Score.order(), y.Score.order()
	return a < b || a == b && bytes.Compare(x.Member, y.Member) < 0
}

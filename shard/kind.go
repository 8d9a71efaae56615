package shard

import "math"

// Kind is what a record holds.
type Kind uint8

// The kinds of records. A limiter's state is stored in as few bytes as it
// needs; codec.go says how.
const (
	KindNone    Kind = iota // no record
	KindInt                 // a counter: int64, 8 bytes little-endian
	KindString              // bytes of any length
	KindBucket              // a limit.Bucket
	KindFixed               // a limit.Fixed
	KindSliding             // a limit.Sliding
	KindLog                 // a limit.Log
	KindHash                // a hash, in the side store as the three below
	KindSet                 // a set
	KindSorted              // a sorted set
	KindList                // a list
	kinds
)

// Limits of a record. Commands refuse what is longer before they get here.
const (
	MaxKey    = 1<<24 - 1     // bytes of a key
	MaxValue  = 512 << 20     // bytes of a value
	MaxWhen   = math.MaxInt64 // Unix ms of an expiry
	Databases = 16            // of a keyspace, numbered from 0
)

// variable is the size of the kinds whose values have a length of their own.
const variable = -1

var kindSizes = [kinds]int{
	KindInt: 8, KindString: variable, KindBucket: packedSize, KindFixed: packedSize, KindSliding: packedSize, KindLog: variable,
	KindHash: handleSize, KindSet: handleSize, KindSorted: handleSize, KindList: handleSize,
}

// size is the size of what a record of the kind holds, or variable.
func (k Kind) size() int { return kindSizes[k] }

// limiter reports that the kind is a limiter's state: what may be given up when
// memory is full.
func (k Kind) limiter() bool { return k >= KindBucket && k <= KindLog }

// holds reports whether value can be a value of the kind. Of a collection it
// sees no more than the length.
func (k Kind) holds(value []byte) bool {
	if k == KindNone || k >= kinds || len(value) > MaxValue {
		return false
	}
	if k.isCollection() {
		return makers[k] != nil
	}
	if n := k.size(); n != variable && n != len(value) {
		return false
	}
	return k != KindLog || wholeLog(len(value))
}

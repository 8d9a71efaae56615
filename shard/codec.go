package shard

import (
	"encoding/binary"
	"time"

	"github.com/limitstore/limitstore/limit"
)

// Counters and limiter states have typed views. A state is packed into three
// little-endian words: an instant of 64 bits, and three numbers of 40 bits each,
// which is enough for every count, number of tokens and span in ms that limit allows.
//
//	bucket   Clear   Rem     Tokens   Period
//	fixed    Start   Count   First    Window
//	sliding  Start   Prev    Cur      Window
//
// Bucket.At is not stored: a shard's time never decreases, so it never matters.
// A state expires when it is as if never seen, rounded up to the millisecond.
const packedSize = 24

type packed struct {
	at      limit.Instant
	a, b, c int64
}

const low40 = 1<<40 - 1

func (p packed) append(to []byte) []byte {
	if (p.a|p.b|p.c)&^low40 != 0 {
		panic("shard: a limiter state beyond what the limit package allows")
	}
	to = binary.LittleEndian.AppendUint64(to, uint64(p.at))
	to = binary.LittleEndian.AppendUint64(to, uint64(p.a|p.b<<40))
	return binary.LittleEndian.AppendUint64(to, uint64(p.b>>24|p.c<<16))
}

func unpack(v []byte) packed {
	x, y := binary.LittleEndian.Uint64(v[8:16]), binary.LittleEndian.Uint64(v[16:24])
	return packed{
		at: limit.Instant(binary.LittleEndian.Uint64(v[:8])),
		a:  int64(x & low40),
		b:  int64((x>>40 | y<<24) & low40),
		c:  int64(y >> 16 & low40),
	}
}

// span is a stored number of milliseconds.
func span(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

func millis(d time.Duration) int64 { return int64(d / time.Millisecond) }

// ceilMillis is t in Unix milliseconds, rounded up: the expiry of a state that
// counts until t. What was over at the epoch expires at 1, since 0 is never.
func ceilMillis(t limit.Instant) int64 { return max(1, -floorMillis(-t)) }

// sound reports that value is a state that the limit package could have
// returned, as far as can be told at a glance.
func sound(k Kind, value []byte) bool {
	if k.size() != packedSize || k.isCollection() {
		return true
	}
	p := unpack(value)
	if value[packedSize-1] != 0 || p.c < 1 || span(p.c) > limit.MaxPeriod {
		return false
	}
	switch k {
	case KindBucket:
		return p.a < p.b && p.b <= limit.MaxTokens
	case KindFixed:
		return p.a <= limit.MaxTokens && p.b <= 1
	default:
		return p.a <= limit.MaxTokens && p.b <= limit.MaxTokens
	}
}

// state is the packed state of a present key of kind k, the zero one otherwise.
func (e *Entry) state(k Kind) packed {
	if e.Kind() != k {
		return packed{}
	}
	return unpack(e.cell.value())
}

// putState stores a packed state that counts until the instant end.
func (d *Database) putState(e *Entry, k Kind, p packed, end limit.Instant) {
	var buf [packedSize]byte
	d.Put(e, k, ceilMillis(end), p.append(buf[:0]))
}

// Int is the counter of a present key of KindInt, 0 of any other.
func (d *Database) Int(e *Entry) int64 {
	if e.Kind() != KindInt {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(e.cell.value()))
}

// PutInt stores a counter that expires at the Unix millisecond when, 0 for
// never.
func (d *Database) PutInt(e *Entry, when int64, n int64) {
	var buf [8]byte
	binary.LittleEndian.PutUint64(buf[:], uint64(n))
	d.Put(e, KindInt, when, buf[:])
}

// Bucket is the state of a present key of KindBucket, and for any other the
// zero one, which was never seen.
func (d *Database) Bucket(e *Entry) limit.Bucket {
	p := e.state(KindBucket)
	return limit.Bucket{Clear: p.at, Rem: p.a, Rate: limit.Rate{Tokens: p.b, Period: span(p.c)}}
}

// PutBucket stores the state of a bucket until its debt is gone. The zero
// Bucket deletes the key.
func (d *Database) PutBucket(e *Entry, b limit.Bucket) {
	if b == (limit.Bucket{}) {
		d.Delete(e)
		return
	}
	d.putState(e, KindBucket, packed{b.Clear, b.Rem, b.Rate.Tokens, millis(b.Rate.Period)}, b.Expiry())
}

// Fixed is the state of a present key of KindFixed, and for any other the zero
// one.
func (d *Database) Fixed(e *Entry) limit.Fixed {
	p := e.state(KindFixed)
	return limit.Fixed{Start: p.at, Count: p.a, First: p.b != 0, Window: span(p.c)}
}

// PutFixed stores the state of a fixed window until its end. The zero Fixed
// deletes the key.
func (d *Database) PutFixed(e *Entry, f limit.Fixed) {
	if f == (limit.Fixed{}) {
		d.Delete(e)
		return
	}
	first := int64(0)
	if f.First {
		first = 1
	}
	d.putState(e, KindFixed, packed{f.Start, f.Count, first, millis(f.Window)}, f.Expiry())
}

// Sliding is the state of a present key of KindSliding, and for any other the
// zero one.
func (d *Database) Sliding(e *Entry) limit.Sliding {
	p := e.state(KindSliding)
	return limit.Sliding{Start: p.at, Prev: p.a, Cur: p.b, Window: span(p.c)}
}

// PutSliding stores the state of a sliding window counter until nothing in it
// counts. The zero Sliding deletes the key.
func (d *Database) PutSliding(e *Entry, s limit.Sliding) {
	if s == (limit.Sliding{}) {
		d.Delete(e)
		return
	}
	d.putState(e, KindSliding, packed{s.Start, s.Prev, s.Cur, millis(s.Window)}, s.Expiry())
}

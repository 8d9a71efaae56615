package ttl

import "math/bits"

// The wheel's shape. Each level divides its parent's slot into 64, so a slot of level L is 64^L ticks wide. Eleven
// levels of six bits cover all 64 bits of a tick: every deadline an int64 can hold has a slot, and there is no horizon
// beyond which deadlines would need special care.
const (
	digitBits = 6
	perLevel  = 1 << digitBits
	levels    = 11
)

// moment is a tick with its sign bit flipped: unsigned, in the same order as the signed ticks, so that digits and
// levels are plain bit fields before and after 1970 alike.
type moment uint64

func momentOf(tick int64) moment { return moment(uint64(tick) ^ 1<<63) }

func (m moment) tick() int64 { return int64(uint64(m) ^ 1<<63) }

// digit is the position of m among the 64 slots of its level.
func (m moment) digit(level int) int { return int(m>>(digitBits*level)) & (perLevel - 1) }

// levelFor is the level on which a deadline is filed when the wheel stands at now: that of the highest digit in which
// they differ. So every slot of a level lies within the one slot of the next level in which now lies.
func levelFor(now, when moment) int {
	return (bits.Len64(uint64(now^when)|1) - 1) / digitBits
}

// place names a slot of the wheel: its level and its position there.
type place uint16

func placeAt(level, digit int) place { return place(level<<digitBits | digit) }

func placeFor(now, when moment) place {
	level := levelFor(now, when)
	return placeAt(level, when.digit(level))
}

func (p place) level() int { return int(p >> digitBits) }

func (p place) digit() int { return int(p & (perLevel - 1)) }

// start is the first moment p covers while the wheel stands at now: now's digits above p's level, p's digit, zeros.
// On the top level the first shift takes every bit away, which is what is wanted there.
func (p place) start(now moment) moment {
	above := digitBits * (p.level() + 1)
	return now>>above<<above | moment(p.digit())<<(digitBits*p.level())
}

// end is the last moment p covers while the wheel stands at now.
func (p place) end(now moment) moment {
	return p.start(now) + 1<<(digitBits*p.level()) - 1
}

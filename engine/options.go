package engine

import (
	"math"

	"github.com/limitstore/limitstore/shard"
)

// option is a set of the option words of Redis' string commands.
type option uint16

// The option words.
const (
	optNX option = 1 << iota
	optXX
	optGet
	optKeepTTL
	optPersist
	optEX
	optPX
	optEXAT
	optPXAT
	optENX
	optByInt
	optByFloat
	optLBound
	optUBound
	optSaturate
)

// Sets of them: what gives an expiry, and what each command takes.
const (
	optExpiry  = optEX | optPX | optEXAT | optPXAT
	setTakes   = optNX | optXX | optGet | optKeepTTL | optExpiry
	getEXTakes = optPersist | optExpiry
	incrTakes  = optNX | optXX | optPersist | optExpiry | optENX | optByInt | optByFloat | optLBound | optUBound | optSaturate
)

// slot says where the value of an option is kept.
type slot uint8

const (
	noValue slot = iota
	expirySlot
	stepSlot
	lowerSlot
	upperSlot
	slots
)

// optionWords are the words with what they exclude. An expiry excludes the other
// three kinds but, in SET and GETEX, not itself: there the last one counts, as
// in Redis.
var optionWords = [...]struct {
	word     string
	option   option
	excludes option
	slot     slot
}{
	{"NX", optNX, optXX, noValue},
	{"XX", optXX, optNX, noValue},
	{"GET", optGet, 0, noValue},
	{"KEEPTTL", optKeepTTL, optExpiry | optPersist, noValue},
	{"PERSIST", optPersist, optExpiry | optKeepTTL | optENX, noValue},
	{"EX", optEX, (optExpiry &^ optEX) | optKeepTTL | optPersist, expirySlot},
	{"PX", optPX, (optExpiry &^ optPX) | optKeepTTL | optPersist, expirySlot},
	{"EXAT", optEXAT, (optExpiry &^ optEXAT) | optKeepTTL | optPersist, expirySlot},
	{"PXAT", optPXAT, (optExpiry &^ optPXAT) | optKeepTTL | optPersist, expirySlot},
	{"ENX", optENX, optPersist, noValue},
	{"BYINT", optByInt, optByFloat, stepSlot},
	{"BYFLOAT", optByFloat, optByInt, stepSlot},
	{"LBOUND", optLBound, 0, lowerSlot},
	{"UBOUND", optUBound, 0, upperSlot},
	{"SATURATE", optSaturate, 0, noValue},
}

// options are the options of one call.
type options struct {
	given  option
	values [slots][]byte
}

// has says whether any of the set was given.
func (o *options) has(set option) bool { return o.given&set != 0 }

// parse reads the words of a call as options out of the set taken; once forbids
// to repeat one. It says false where Redis answers with a syntax error.
func (o *options) parse(words [][]byte, taken option, once bool) bool {
	for len(words) > 0 {
		used := o.word(words, taken, once)
		if used == 0 {
			return false
		}
		words = words[used:]
	}
	return true
}

// word reads the first of the words and its value; it returns how many words
// that took, 0 when it is no option here.
func (o *options) word(words [][]byte, taken option, once bool) int {
	for i := range optionWords {
		w := &optionWords[i]
		if w.option&taken == 0 || !EqualFold(words[0], w.word) {
			continue
		}
		if o.has(w.excludes) || (once && o.has(w.option)) {
			return 0
		}
		o.given |= w.option
		if w.slot == noValue {
			return 1
		}
		if len(words) < 2 {
			return 0
		}
		o.values[w.slot] = words[1]
		return 2
	}
	return 0
}

// when is the Unix millisecond of the expiry given, 0 when there is none. It
// replies with the error and says false when it is not a time.
func (o *options) when(c *Call) (int64, bool) {
	if !o.has(optExpiry) {
		return 0, true
	}
	return c.expiry(o.values[expirySlot], o.has(optEX|optEXAT), o.has(optEX|optPX))
}

// expiry reads a time that must be positive: in seconds or milliseconds, from now
// or since 1970. It replies with the error and says false otherwise.
func (c *Call) expiry(word []byte, seconds, fromNow bool) (int64, bool) {
	n, ok := Int(word)
	if !ok {
		c.Fail(NotInteger)
		return 0, false
	}
	unit := int64(1)
	if seconds {
		unit = 1000
	}
	if n <= 0 {
		c.Fail(InvalidExpire, c.Command.lower)
		return 0, false
	}
	return c.deadline(n, unit, fromNow)
}

// deadline is the Unix millisecond n units of so many milliseconds from now, or
// since 1970. It replies with the error and says false when 64 bits do not hold
// it.
func (c *Call) deadline(n, unit int64, fromNow bool) (int64, bool) {
	start := int64(0)
	if fromNow {
		start = c.Millis()
	}
	if n > math.MaxInt64/unit || n < math.MinInt64/unit || n*unit > math.MaxInt64-start {
		c.Fail(InvalidExpire, c.Command.lower)
		return 0, false
	}
	return n*unit + start, true
}

// past says whether an expiry, 0 for never, is not after now: there is no key
// then.
func (c *Call) past(when int64) bool { return when != 0 && when <= c.Millis() }

// wrongType replies with WRONGTYPE and says true when the key holds something
// that is not a string.
func (c *Call) wrongType(e *shard.Entry) bool {
	switch e.Kind() {
	case shard.KindNone, shard.KindInt, shard.KindString:
		return false
	}
	c.Fail(WrongType)
	return true
}

package engine

import (
	"bytes"
	"strings"
	"time"

	"github.com/limitstore/limitstore/limit"
)

// maxNative bounds the declared arguments of a native command.
const maxNative = 16

// maxPeriod is the longest duration an argument may name, in milliseconds.
const maxPeriod = int64(limit.MaxPeriod / time.Millisecond)

// parse reads the arguments of a native command as its row declares them, so
// that syntax, ranges and error texts are stated once. Positional arguments
// come first, options in any order after them. It replies with the error and
// returns false when an argument is wrong; nothing has been changed then.
func (c *Call) parse() bool {
	if c.repeats() {
		return true
	}
	c.asker = nil
	if !c.read() {
		return false
	}
	if c.steady {
		c.asker, c.asked = c.Command, c.Args
	}
	return true
}

// repeats says whether all arguments but the key are those parsed last. Pipelines
// ask the same of many keys, and comparing costs less than reading.
func (c *Call) repeats() bool {
	if c.asker != c.Command || len(c.asked) != len(c.Args) || c.Command.Keys != OneKey {
		return false
	}
	for i := 2; i < len(c.Args); i++ {
		if !bytes.Equal(c.asked[i], c.Args[i]) {
			return false
		}
	}
	return true
}

// read is parse without a look back.
func (c *Call) read() bool {
	c.given = 0
	word := 1
	for i := range c.Command.Args {
		a := &c.Command.Args[i]
		if a.Token != "" || word >= len(c.Args) {
			c.values[i] = a.Default
			continue
		}
		if !c.value(i, c.Args[word]) {
			return false
		}
		word++
	}
	for word < len(c.Args) {
		used := c.option(word)
		if used == 0 {
			return false
		}
		word += used
	}
	return true
}

// N is the value parse found for the i-th declared argument, or its default.
// Durations are in milliseconds, a choice is its position.
func (c *Call) N(i int) int64 { return c.values[i] }

// Given says whether the i-th declared argument was there.
func (c *Call) Given(i int) bool { return c.given&(1<<i) != 0 }

// option reads the option at the given word and returns how many words it took,
// 0 after an error.
func (c *Call) option(word int) int {
	for i := range c.Command.Args {
		a := &c.Command.Args[i]
		if a.Token == "" || !EqualFold(c.Args[word], a.Token) {
			continue
		}
		switch {
		case c.Given(i):
			c.Fail(OptionTwice, a.Token)
			return 0
		case a.Type == PureToken:
			c.given |= 1 << i
			return 1
		case word+1 == len(c.Args):
			c.Fail(OptionValue, a.Token)
			return 0
		case !c.value(i, c.Args[word+1]):
			return 0
		}
		return 2
	}
	c.unknown(c.Args[word])
	return 0
}

// unknown replies that word is no option; a command without any was given too
// many arguments.
func (c *Call) unknown(word []byte) {
	if legal := tokens(c.Command.Args); len(legal) > 0 {
		c.Fail(UnknownOption, Printable(word), c.Command.lower, strings.Join(legal, " "))
		return
	}
	c.Fail(WrongArity, c.Command.lower)
}

// value reads one word as the i-th declared argument.
func (c *Call) value(i int, word []byte) bool {
	a := &c.Command.Args[i]
	c.given |= 1 << i
	n, ok := int64(0), true
	switch a.Type {
	case Integer:
		if n, ok = Int(word); !ok || n < a.Min || n > a.Max {
			c.Fail(OutOfRange, a.Name, a.Min, a.Max, a.Hint)
			return false
		}
	case Duration:
		if n, ok = Millis(word); !ok {
			c.Fail(BadDuration, a.Name, Printable(word))
			return false
		}
		if n < 1 || n > maxPeriod {
			c.Fail(DurationRange, a.Name)
			return false
		}
	case OneOf:
		if n, ok = choice(a.Args, word); !ok {
			c.Fail(BadChoice, a.Name, Printable(word), strings.Join(tokens(a.Args), " or "))
			return false
		}
	}
	c.values[i] = n
	return true
}

// choice is the position of the alternative that word names.
func choice(alternatives []Arg, word []byte) (int64, bool) {
	for i := range alternatives {
		if EqualFold(word, alternatives[i].Token) {
			return int64(i), true
		}
	}
	return 0, false
}

// tokens lists the words of options or alternatives.
func tokens(args []Arg) []string {
	var words []string
	for _, a := range args {
		if a.Token != "" {
			words = append(words, a.Token)
		}
	}
	return words
}

// span is the i-th declared argument, a duration.
func (c *Call) span(i int) time.Duration {
	return time.Duration(c.values[i]) * time.Millisecond
}

// rate is the call's rate, from the declared arguments tokens and period.
func (c *Call) rate(tokens, period int) limit.Rate {
	return limit.Rate{Tokens: c.values[tokens], Period: c.span(period)}
}

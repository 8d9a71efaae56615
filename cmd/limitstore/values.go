package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/limitstore/limitstore/engine"
)

// The kinds of values a flag takes. Each is a flag.Value over a field of config.

// text is any string.
type text string

// Set takes any word.
func (v *text) Set(word string) error {
	*v = text(word)
	return nil
}

// String is the word.
func (v *text) String() string { return string(*v) }

// count is a whole number.
type count int

// Set reads a decimal number.
func (v *count) Set(word string) error {
	n, err := strconv.Atoi(word)
	if err != nil {
		return errors.New("want a whole number")
	}
	*v = count(n)
	return nil
}

// String is the number in decimals.
func (v *count) String() string { return strconv.Itoa(int(*v)) }

// size is a number of bytes.
type size int

// sizeUnits are the units of a size, the largest first.
var sizeUnits = [...]struct {
	name  string
	bytes int
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// confUnits are the units of redis.conf, in any case, the longest first: there kb
// is 1024 and k is 1000.
var confUnits = [...]struct {
	name  string
	bytes int
}{{"gb", 1 << 30}, {"mb", 1 << 20}, {"kb", 1 << 10}, {"g", 1e9}, {"m", 1e6}, {"k", 1e3}, {"b", 1}}

// sizeUnit takes the unit off a size.
func sizeUnit(word string) (digits string, unit int) {
	for _, u := range sizeUnits {
		if before, ok := strings.CutSuffix(word, u.name); ok {
			return before, u.bytes
		}
	}
	for _, u := range confUnits {
		if before, ok := strings.CutSuffix(strings.ToLower(word), u.name); ok {
			return before, u.bytes
		}
	}
	return word, 1
}

// Set reads a number of bytes or, with a unit, of KiB, MiB or GiB. The units of
// redis.conf are understood too.
func (v *size) Set(word string) error {
	digits, unit := sizeUnit(word)
	n, err := strconv.Atoi(digits)
	if err != nil || n > math.MaxInt/unit || n < math.MinInt/unit {
		return errors.New("want a number of bytes, or of KiB, MiB or GiB as in 64MiB, or as in redis.conf")
	}
	*v = size(n * unit)
	return nil
}

// String is the size in its largest whole unit.
func (v *size) String() string {
	for _, u := range sizeUnits {
		if n := int(*v); n != 0 && n%u.bytes == 0 {
			return fmt.Sprintf("%d%s", n/u.bytes, u.name)
		}
	}
	return strconv.Itoa(int(*v))
}

// span is a length of time, written as in the commands.
type span time.Duration

// longestSpan keeps a span in milliseconds within a time.Duration.
const longestSpan = math.MaxInt64 / int64(time.Millisecond)

// Set reads a number with a unit, or a bare number of seconds.
func (v *span) Set(word string) error {
	ms, ok := engine.Millis([]byte(word))
	if !ok || ms > longestSpan {
		return errors.New("want a duration <n>ms|s|m|h|d|w, or a bare number of seconds")
	}
	*v = span(ms * int64(time.Millisecond))
	return nil
}

// spanUnits are the units of a span, the largest first.
var spanUnits = [...]struct {
	name   string
	length time.Duration
}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// String is the span in its largest whole unit.
func (v *span) String() string {
	d := time.Duration(*v)
	if d == 0 {
		return "0s"
	}
	for _, u := range spanUnits {
		if d%u.length == 0 {
			return fmt.Sprintf("%d%s", d/u.length, u.name)
		}
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}

// level is how much is logged.
type level slog.Level

// Set reads one of slog's levels.
func (v *level) Set(word string) error {
	if err := (*slog.Level)(v).UnmarshalText([]byte(word)); err != nil {
		return errors.New("want debug, info, warn or error")
	}
	return nil
}

// String is the level in lower case.
func (v *level) String() string { return strings.ToLower(slog.Level(*v).String()) }

// mode is the permissions of a file.
type mode os.FileMode

// Set reads an octal number as chmod does.
func (v *mode) Set(word string) error {
	n, err := strconv.ParseUint(word, 8, 32)
	if err != nil || n > 0o777 {
		return errors.New("want an octal number up to 777 as in 700")
	}
	*v = mode(n)
	return nil
}

// String is the octal number.
func (v *mode) String() string { return strconv.FormatUint(uint64(*v), 8) }

// yes is a flag that is on or off.
type yes bool

// Set reads true or false.
func (v *yes) Set(word string) error {
	on, err := strconv.ParseBool(word)
	if err != nil {
		return errors.New("want true or false")
	}
	*v = yes(on)
	return nil
}

// String is true or false.
func (v *yes) String() string { return strconv.FormatBool(bool(*v)) }

// IsBoolFlag lets the flag stand without a value.
func (v *yes) IsBoolFlag() bool { return true }

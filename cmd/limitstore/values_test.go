package main

import (
	"flag"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestValues reads words as flags and shows them again.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		value      flag.Value
		word, want string // want is empty where the word is refused
	}{
		{new(size), "0", "0"},
		{new(size), "1000", "1000"},
		{new(size), "1024", "1KiB"},
		{new(size), "64MiB", "64MiB"},
		{new(size), "2048MiB", "2GiB"},
		{new(size), "-1", "-1"},
		{new(size), "64MB", "64MiB"},
		{new(size), "100mb", "100MiB"},
		{new(size), "1gb", "1GiB"},
		{new(size), "1Gb", "1GiB"},
		{new(size), "5kb", "5KiB"},
		{new(size), "512b", "512"},
		{new(size), "1k", "1000"}, // redis.conf: 1k => 1000 bytes, 1kb => 1024 bytes
		{new(size), "1m", "1000000"},
		{new(size), "1G", "1000000000"},
		{new(size), "64mib", ""},
		{new(size), "9223372036854775807kb", ""},
		{new(size), "1.5GiB", ""},
		{new(size), "MiB", ""},
		{new(size), "9223372036854775807", "9223372036854775807"},
		{new(size), "9223372036854775807KiB", ""},
		{new(size), "-9223372036854775807KiB", ""},
		{new(size), "9223372036854775808", ""},
		{new(span), "0", "0s"},
		{new(span), "30", "30s"},
		{new(span), "90s", "90s"},
		{new(span), "1.5m", "90s"},
		{new(span), "120s", "2m"},
		{new(span), "1500ms", "1500ms"},
		{new(span), "2d", "2d"},
		{new(span), "-1s", ""},
		{new(span), "9223372036854775807ms", ""},
		{new(span), "1y", ""},
		{new(count), "12", "12"},
		{new(count), "1e3", ""},
		{new(level), "WARN", "warn"},
		{new(level), "loud", ""},
		{new(yes), "1", "true"},
		{new(yes), "maybe", ""},
	} {
		err := c.value.Set(c.word)
		if (err != nil) != (c.want == "") || err == nil && c.value.String() != c.want {
			t.Errorf("%T %q: %q, %v; want %q", c.value, c.word, c.value.String(), err, c.want)
		}
	}
}

// TestShownValuesReadBack types what is shown.
func TestShownValuesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes := size(rapid.Int().Draw(t, "bytes"))
		length := span(time.Duration(rapid.Int64Range(0, longestSpan).Draw(t, "ms")) * time.Millisecond)
		var againBytes size
		var againLength span
		if err := againBytes.Set(bytes.String()); err != nil || againBytes != bytes {
			t.Errorf("%d bytes are shown as %s and read as %d (%v)", bytes, &bytes, againBytes, err)
		}
		if err := againLength.Set(length.String()); err != nil || againLength != length {
			t.Errorf("%d is shown as %s and read as %d (%v)", length, &length, againLength, err)
		}
	})
}

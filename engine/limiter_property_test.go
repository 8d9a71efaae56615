package engine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// full asks a limiter for everything by name.
func (d *desk) full(t fataler, words ...string) map[string]int64 {
	d.queue(append(words, "FULL")...)
	text, _ := brief(d.flush())
	fields, all := strings.Fields(text), map[string]int64{}
	if fields[0] != "allowed" {
		t.Fatalf("%q: %s", words, text)
	}
	for i := 0; i+1 < len(fields); i += 2 {
		all[fields[i]], _ = strconv.ParseInt(fields[i+1], 10, 64)
	}
	return all
}

// A promise is a limiter with drawn parameters, and how to ask it.
type promise struct {
	hit, peek, give string
	words           []string // after the key
}

func drawPromise(t *rapid.T) promise {
	v := rapid.SampledFrom(views).Draw(t, "view")
	limit := rapid.Int64Range(1, 40).Draw(t, "limit")
	span := fmt.Sprintf("%dms", rapid.Int64Range(1, 5000).Draw(t, "span"))
	words := []string{strconv.FormatInt(limit, 10)}
	if strings.HasSuffix(v.hit, "TAKE") {
		words = append(words, strconv.FormatInt(rapid.Int64Range(1, 3000).Draw(t, "tokens"), 10))
	}
	words = append(words, span)
	if strings.HasSuffix(v.after, "FIRST") {
		words = append(words, "ANCHOR", "FIRST")
	}
	give := strings.NewReplacer("TAKE", "GIVE", "HIT", "GIVE").Replace(v.hit)
	return promise{v.hit, v.peek, give, words}
}

func (p promise) call(name string, cost int64) []string {
	return append(append([]string{name, "k"}, p.words...), "COST", strconv.FormatInt(cost, 10))
}

// warm brings the limiter into some state, and the clock to some nanosecond.
func (p promise) warm(t *rapid.T, d *desk) {
	for range rapid.IntRange(0, 30).Draw(t, "calls") {
		d.clock.Advance(time.Duration(rapid.Int64Range(0, 3e9).Draw(t, "pause")))
		cost := rapid.Int64Range(1, 45).Draw(t, "cost")
		d.full(t, p.call(rapid.SampledFrom([]string{p.hit, p.hit, p.hit, p.give}).Draw(t, "verb"), cost)...)
	}
}

// What a reply promises holds to the millisecond, for every family: the same
// request succeeds after retry_after_ms and not one earlier, one unit more is
// there after next_after_ms and not one earlier, and the key is as if never seen
// after reset_after_ms and not one earlier.
func TestPromisesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newShards(t, 1)
		defer d.engine.Close()
		p := drawPromise(t)
		p.warm(t, d)
		cost := rapid.Int64Range(1, 45).Draw(t, "asked")
		ask := p.call(p.peek, cost)
		first := d.full(t, ask...)
		kept := func(name string, holds func(now map[string]int64) bool) {
			wait := time.Duration(first[name]) * time.Millisecond
			start := d.clock.Now()
			// The promise is about time to come, which comes only once: each is
			// looked at in a store of its own age.
			probe := newShards(t, 1)
			defer probe.engine.Close()
			probe.copyFrom(t, d)
			probe.clock.Set(start)
			if wait > time.Millisecond {
				probe.clock.Advance(wait - time.Millisecond)
				if now := probe.full(t, ask...); holds(now) {
					t.Fatalf("%q: %v; %s came 1 ms early: %v", ask, first, name, now)
				}
				wait = time.Millisecond
			}
			probe.clock.Advance(wait)
			if now := probe.full(t, ask...); !holds(now) {
				t.Fatalf("%q: %v; %s did not come: %v", ask, first, name, now)
			}
		}
		if first["retry_after_ms"] >= 0 {
			kept("retry_after_ms", func(now map[string]int64) bool { return now["allowed"] == 1 })
		} else if limit, _ := strconv.ParseInt(p.words[0], 10, 64); cost <= limit {
			t.Fatalf("%q: never, although the limit is %d", ask, limit)
		}
		if first["next_after_ms"] > 0 {
			kept("next_after_ms", func(now map[string]int64) bool { return now["remaining"] > first["remaining"] })
		}
		kept("reset_after_ms", func(now map[string]int64) bool {
			return now["reset_after_ms"] == 0 && now["remaining"] == now["limit"] && now["used"] == 0
		})
	})
}

// What is granted is what remained, and what remains can be had at once; a look
// before and the call itself agree.
func TestRemainingCanBeHad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newShards(t, 1)
		defer d.engine.Close()
		p := drawPromise(t)
		p.warm(t, d)
		look := d.full(t, p.call(p.peek, 1)...)
		left := look["remaining"]
		if limit := look["limit"]; left < 0 || left > limit {
			t.Fatalf("%d remaining of %d", left, limit)
		}
		if more := d.full(t, p.call(p.hit, left+1)...); more["allowed"] == 1 {
			t.Fatalf("%v: one more than remains was granted: %v", look, more)
		}
		if left == 0 {
			return
		}
		got := d.full(t, p.call(p.hit, left)...)
		if got["allowed"] != 1 || got["granted"] != left || got["remaining"] != 0 {
			t.Fatalf("%v: what remained was not granted: %v", look, got)
		}
	})
}

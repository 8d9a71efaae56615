package engine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The meter is the token bucket under other words: every call answers the same.
func TestMeterIsTheBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		water, tokens := newShards(t, 1), newShards(t, 1)
		defer water.engine.Close()
		defer tokens.engine.Close()
		for range 20 {
			by := time.Duration(rapid.Int64Range(0, 2e9).Draw(t, "pause"))
			water.clock.Advance(by)
			tokens.clock.Advance(by)
			verb := rapid.SampledFrom([]string{".TAKE", ".PEEK", ".GIVE"}).Draw(t, "verb")
			words := []string{"k", strconv.Itoa(rapid.IntRange(1, 20).Draw(t, "capacity")), "3", "1s", "COST", strconv.Itoa(rapid.IntRange(1, 9).Draw(t, "cost"))}
			if lb, tb := water.do(append([]string{"LB" + verb}, words...)...), tokens.do(append([]string{"TB" + verb}, words...)...); lb != tb {
				t.Fatalf("%s %v:\n%s\nTB:\n%s", verb, words, lb, tb)
			}
		}
	})
}

// Departures never come closer together than the rate allows: with one unit each,
// the n-th leaves no earlier than n periods after the first, rounded up.
func TestQueueSpacesDepartures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newShards(t, 1)
		defer d.engine.Close()
		tokens := rapid.Int64Range(1, 2000).Draw(t, "tokens")
		period := rapid.Int64Range(1, 5000).Draw(t, "period")
		words := []string{"LB.QUEUE", "k", strconv.FormatInt(tokens, 10), fmt.Sprintf("%dms", period), "MAXWAIT", "1h"}
		for n := range int64(50) { // all at one instant
			want := (n*period + tokens - 1) / tokens
			reply := d.full(t, words...)
			if reply["wait_ms"] != want || reply["allowed"] != 1 {
				t.Fatalf("%v: departure %d: %v, want a wait of %d", words, n, reply, want)
			}
		}
	})
}

// A queue that turns a caller away says when it will not.
func TestQueuePromisesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newShards(t, 1)
		defer d.engine.Close()
		words := strings.Fields(fmt.Sprintf("LB.QUEUE k %d %dms MAX %d MAXWAIT %dms", rapid.IntRange(1, 50).Draw(t, "tokens"),
			rapid.IntRange(1, 2000).Draw(t, "period"), rapid.IntRange(1, 20).Draw(t, "max"), rapid.IntRange(1, 500).Draw(t, "maxwait")))
		var last map[string]int64
		for range 30 {
			d.clock.Advance(time.Duration(rapid.Int64Range(0, 3e7).Draw(t, "pause")))
			last = d.full(t, words...)
			if last["allowed"] == 0 {
				break
			}
		}
		if last["allowed"] == 1 {
			return
		}
		// The request costs 1, so what it waits for is the next unit.
		if last["retry_after_ms"] != last["next_after_ms"] || last["remaining"] != 0 {
			t.Fatalf("%v: %v", words, last)
		}
		d.clock.Advance(time.Duration(last["retry_after_ms"]-1) * time.Millisecond)
		if early := d.full(t, words...); last["retry_after_ms"] > 1 && early["allowed"] == 1 {
			t.Fatalf("%v: %v; 1 ms early: %v", words, last, early)
		}
		d.clock.Advance(time.Millisecond)
		if now := d.full(t, words...); now["allowed"] != 1 {
			t.Fatalf("%v: %v; then %v", words, last, now)
		}
	})
}

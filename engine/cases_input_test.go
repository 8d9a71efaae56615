package engine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/limitstore/limitstore/shard"
)

// refused checks that every line is an error that says what would be right, and
// that nothing has been changed by it.
func refused(t *testing.T, lines map[string]string) {
	t.Helper()
	d := newDesk(t, 1)
	d.brief(t, "TB.TAKE held 5 1 1s COST 2")
	before := d.dump()
	for line, want := range lines {
		if got := d.brief(t, line); got != want {
			t.Errorf("%s: %s\nwant %s", line, got, want)
		}
		if d.dump() != before {
			t.Errorf("%s changed something", line)
		}
	}
}

const (
	overTokens = "between 1 and 1000000000000"
	overCost   = "ERR cost must be " + overTokens + "; use PEEK to ask without charging"
	tooSlow    = "ERR the limiter would need more than 100 years to clear; nothing was charged"
)

// D. Overflow and hostile numbers.

// A huge quantity became a refund.
func TestCase22HugeQuantityIsNoRefund(t *testing.T) {
	refused(t, map[string]string{
		"CL.THROTTLE held 15 30 60 9223372036854775807":   "ERR quantity must be between -1000000000000 and 1000000000000",
		"CL.THROTTLE held 15 30 60 -9223372036854775808":  "ERR quantity must be between -1000000000000 and 1000000000000",
		"TB.TAKE held 15 30 60s COST 9223372036854775807": overCost,
	})
	timeline(t,
		step{0, "CL.THROTTLE k 15 30 60", "0 16 15 -1 2"},
		step{0, "CL.THROTTLE k 15 30 60 1000000000000", "1 16 15 -1 2"},
		step{0, "CL.THROTTLE k 15 30 60 0", "0 16 15 -1 2"})
}

// A huge burst wrapped into a negative limit.
func TestCase23HugeBurstIsRefused(t *testing.T) {
	refused(t, map[string]string{
		"CL.THROTTLE k 9223372036854775807 30 60": "ERR max_burst must be between 0 and 999999999999",
		"CL.THROTTLE k 1000000000000 30 60":       "ERR max_burst must be between 0 and 999999999999",
	})
	timeline(t, step{0, "CL.THROTTLE k 999999999999 30 60", "0 1000000000000 999999999999 -1 2"})
}

// One command ended the limiter for everybody; a burst was cut to 32 bits.
func TestCase26OneCallerCannotEndIt(t *testing.T) {
	timeline(t,
		step{0, "THROTTLE k 4294967296 1 9223372036854775807", "ERR period must be between 1ms and 3650d"},
		step{0, "THROTTLE k 4294967297 1 10", "1 4294967297 4294967296 10 0"},
		step{0, "THROTTLE other 1 10 1", "1 1 0 1 0"})
}

// What would overflow is an error, not clamped, and no key is made.
func TestCase27OverflowIsAnError(t *testing.T) {
	refused(t, map[string]string{
		"TB.DEBIT k 1 1 86400 COST 200000000":              tooSlow,
		"TB.TAKE k 200000000 1 86400 COST 200000000":       tooSlow,
		"TB.TAKE k 1 1 2147483647 COST 2147483647":         "ERR period must be between 1ms and 3650d",
		"CL.THROTTLE k 199999999 1 86400 200000000":        tooSlow,
		"LB.QUEUE k 1 3650d MAX 1000 COST 11":              tooSlow,
		"TB.DEBIT held 5 1 3650d COST 9":                   tooSlow,
		"FW.HIT k 10 3651d":                                "ERR window must be between 1ms and 3650d",
		"FW.HIT k 10 99999999999999999999":                 "ERR window must be between 1ms and 3650d",
		"SWC.HIT k 99999999999999999999 1m":                "ERR limit must be " + overTokens,
		"TB.TAKE k 1000000000000 1 1s COST 10000000000000": overCost,
	})
	// 10^12 a millisecond drains what 10^6 debits of 10^12 owe in time, but not more.
	d := newDesk(t, 1)
	for range 1000 {
		d.queue("TB.DEBIT", "owes", "1", "1000000000000", "1ms", "COST", "1000000000000")
	}
	d.flush()
	if got := d.brief(t, "TB.PEEK owes 1 1000000000000 1ms"); got != "0 1 0 1000 1000" {
		t.Errorf("owing 10^15: %s", got)
	}
}

// A limit that wrapped while it was computed switched the limiter off.
func TestCase29AFailedLimitIsNoAllow(t *testing.T) {
	for _, bandwidth := range []string{"2199023255552", "18446744073709551616", "-1", "9223372036854775808"} {
		refused(t, map[string]string{
			"TB.TAKE k " + bandwidth + " 1 1s":       "ERR capacity must be " + overTokens,
			"TB.TAKE k 1 " + bandwidth + " 1s":       "ERR tokens must be " + overTokens,
			"FW.HIT k " + bandwidth + " 1s":          "ERR limit must be " + overTokens,
			"LB.QUEUE k 1 1s MAX " + bandwidth:       "ERR max must be " + overTokens,
			"THROTTLE k 1 " + bandwidth + " 1":       "ERR count must be " + overTokens,
			"SWL.HIT k " + bandwidth + " 1s FULL":    "ERR limit must be between 1 and 100000; SWC counts without a log",
			"SWC.PEEK k 1 1s COST " + bandwidth:      overCost,
			"FW.GIVE held 1 1s COST " + bandwidth:    overCost,
			"TB.DEBIT held 1 1 1s COST " + bandwidth: overCost,
		})
	}
}

// E. Bad input.

// A rate of zero ended the server.
func TestCase31ZeroRate(t *testing.T) {
	refused(t, map[string]string{
		"CL.THROTTLE test 0 0 60 1": "ERR count must be " + overTokens,
		"CL.THROTTLE test 0 1 0 1":  "ERR period must be between 1ms and 3650d",
		"THROTTLE test 1 0 60":      "ERR count must be " + overTokens,
	})
}

// A stored value that is no limiter ended the server.
func TestCase32StoredStringIsWrongType(t *testing.T) {
	d := newDesk(t, 1)
	d.brief(t, "SET mykey hello")
	d.brief(t, `SET e ""`)
	for _, line := range []string{"CL.THROTTLE mykey 15 30 60 1", "CL.THROTTLE e 15 30 60 1", "THROTTLE e 15 30 60", "TB.TAKE mykey 1 1 1s", "SWL.PEEK e 1 1s"} {
		if got := d.brief(t, line); got != WrongType.Text() {
			t.Errorf("%s: %s", line, got)
		}
	}
	d.timeline(t, step{0, "GET mykey", "hello"}, step{0, "GET e", ""})
}

// A rate or limit of zero was an odd error, or allowed always.
func TestCase34ZeroLimit(t *testing.T) {
	refused(t, map[string]string{
		"TB.TAKE k 1 0 1m": "ERR tokens must be " + overTokens,
		"TB.TAKE k 0 1 1m": "ERR capacity must be " + overTokens,
		"FW.HIT k 0 1m":    "ERR limit must be " + overTokens,
		"SWC.HIT k 0 1m":   "ERR limit must be " + overTokens,
		"SWL.HIT k 0 1m":   "ERR limit must be between 1 and 100000; SWC counts without a log",
	})
}

// A negative amount minted tokens.
func TestCase35NegativeCost(t *testing.T) {
	lines := map[string]string{}
	for _, v := range views {
		for _, cost := range []string{"-5", "0", "-0"} {
			lines[v.hit+" k "+v.after+" COST "+cost] = overCost
			lines[v.peek+" k "+v.after+" COST "+cost] = overCost
		}
	}
	refused(t, lines)
}

// F. Refund and cost.

// A refund at zero was ignored.
func TestCase37RefundAtZero(t *testing.T) {
	for _, v := range views {
		give := strings.NewReplacer("TAKE", "GIVE", "HIT", "GIVE").Replace(v.hit)
		d := newDesk(t, 1)
		d.brief(t, v.hit+" k "+v.after+" COST 10")
		if words := strings.Fields(d.brief(t, give+" k "+v.after)); words[0] != "1" || words[2] != "1" {
			t.Errorf("%s: %v, want allowed and 1 remaining", give, words)
		}
	}
	timeline(t, step{0, "CL.THROTTLE k 9 1 1 10", "0 10 0 -1 10"}, step{0, "CL.THROTTLE k 9 1 1 -1", "0 10 1 -1 9"})
}

// A refund overfilled, or left a key that never expires.
func TestCase38RefundStopsAtFull(t *testing.T) {
	for _, v := range views {
		give := strings.NewReplacer("TAKE", "GIVE", "HIT", "GIVE").Replace(v.hit)
		timeline(t,
			step{0, give + " k " + v.after + " COST 5", "1 10 10 0 0"},
			step{0, "EXISTS k", "0"})
	}
	timeline(t,
		step{0, "CL.THROTTLE k 15 30 60 -1", "0 16 16 -1 0"},
		step{0, "EXISTS k", "0"},
		step{0, "CL.THROTTLE k 15 30 60 2", "0 16 14 -1 4"},
		step{0, "CL.THROTTLE k 15 30 60 -1", "0 16 15 -1 2"},
		step{0, "PTTL k", "2000"},
		step{0, "CL.THROTTLE k 15 30 60 -1", "0 16 16 -1 0"},
		step{0, "EXISTS k", "0"})
}

// What was denied was charged all the same.
func TestCase40DeniedCostsNothing(t *testing.T) {
	for _, v := range views {
		d := newDesk(t, 1)
		for _, c := range []struct{ cost, allowed, remaining string }{{"8", "1", "2"}, {"5", "0", "2"}, {"1", "1", "1"}} {
			words := strings.Fields(d.brief(t, v.hit+" k "+v.after+" COST "+c.cost))
			if words[0] != c.allowed || words[2] != c.remaining {
				t.Errorf("%s COST %s: %v, want allowed %s, remaining %s", v.hit, c.cost, words, c.allowed, c.remaining)
			}
		}
	}
}

// To ask for more than the limit was "denied, retry now", and made a key.
func TestCase42MoreThanTheLimit(t *testing.T) {
	for _, v := range views {
		timeline(t,
			step{0, v.hit + " k " + v.after + " COST 11", "0 10 10 -1 0"},
			step{0, "EXISTS k", "0"})
	}
	timeline(t,
		step{0, "CL.THROTTLE k 5 1 1 10", "1 6 6 -1 0"},
		step{0, "THROTTLE k 10 1 1 11", "0 10 10 0 -1"},
		step{0, "LB.QUEUE k 1 1s MAX 10 COST 11", "0 10 10 -1 0 0"},
		step{0, "EXISTS k", "0"})
}

// Of two limits the first was charged although the second denied. What was taken
// from the first can be given back, to the token.
func TestCase43RefundAfterASecondLimitDenied(t *testing.T) {
	for _, v := range views {
		give := strings.NewReplacer("TAKE", "GIVE", "HIT", "GIVE").Replace(v.hit)
		d := newDesk(t, 1)
		d.brief(t, v.hit+" a "+v.after+" COST 9")
		d.brief(t, v.hit+" b "+v.after+" COST 10")
		before := d.brief(t, v.peek+" a "+v.after)
		d.brief(t, v.hit+" a "+v.after)
		if got := d.brief(t, v.hit+" b "+v.after); !strings.HasPrefix(got, "0 ") {
			t.Fatalf("b is exhausted, got %s", got)
		}
		d.brief(t, give+" a "+v.after)
		if got := d.brief(t, v.peek+" a "+v.after); got != before {
			t.Errorf("%s: a has %s, had %s", v.hit, got, before)
		}
	}
}

// I. Windows and TTL, where a key without an expiry is the failure.

// A crash between INCR and EXPIRE blocked a caller for ever. Count and expiry
// are one effect here.
func TestCase53CountAndExpiryAreOneStep(t *testing.T) {
	d := newDesk(t, 1)
	var effects shard.Effects
	d.on(func(ks *shard.Keyspace) { ks.Record(&effects) })
	for i, v := range views {
		from := effects.Len()
		d.brief(t, fmt.Sprintf("%s k%d %s", v.hit, i, v.after))
		replica := shard.NewKeyspace(shard.Config{Clock: d.clock})
		// The first byte that makes a key brings its expiry.
		for cut := from; cut <= effects.Len(); cut++ {
			_ = replica.Apply(effects.Bytes()[from:cut])
			replica.Dump(func(_ int, key []byte, _ shard.Kind, when int64, _ []byte) {
				if when == 0 {
					t.Errorf("%s: %q has no expiry after %d bytes of effects", v.hit, key, cut-from)
				}
			})
		}
		if ttl, _ := strconv.Atoi(d.brief(t, fmt.Sprintf("PTTL k%d", i))); ttl <= 0 {
			t.Errorf("%s: PTTL %d", v.hit, ttl)
		}
	}
	if n := strings.Count(d.dump(), "\n"); n != len(views) {
		t.Errorf("%d keys, want %d", n, len(views))
	}
}

// In the last millisecond of a window its count was thrown away and the window
// made longer.
func TestCase54LastMillisecondOfAWindow(t *testing.T) {
	timeline(t,
		step{0, "FW.HIT k 2 1m ANCHOR FIRST", "1 2 1 0 60000"},
		step{59999*ms + 999*time.Microsecond, "FW.HIT k 2 1m ANCHOR FIRST", "1 2 0 0 1"},
		step{0, "PTTL k", "1"},
		step{0, "FW.HIT k 2 1m ANCHOR FIRST", "0 2 0 1 1"},
		step{1 * time.Microsecond, "FW.HIT k 2 1m ANCHOR FIRST", "1 2 1 0 60000"})
}

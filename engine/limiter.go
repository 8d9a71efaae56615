package engine

import (
	"strings"
	"time"

	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/shard"
)

// verb is what a limiter command does with the state of its key.
type verb uint8

const (
	take  verb = iota // charges the cost if it fits; HIT, for what counts hits
	peek              // asks what take would answer
	give              // gives the cost back
	debit             // charges the cost whether it fits or not
)

// flags are those of a command with this verb.
func (v verb) flags() Flags {
	return [...]Flags{take: Write | DenyOOM | Sparing | Fast, peek: ReadOnly | Fast, give: Write | Fast, debit: Write | DenyOOM | Sparing | Fast}[v]
}

// family is a rate limiting algorithm as its commands see it. What its verbs
// have in common is written here once: arguments, lookup, errors and the reply.
type family struct {
	group      Group  // also what FULL calls the algorithm
	complexity string // of each verb
	kind       shard.Kind
	args       []Arg // between the key and COST
	waits      bool  // the reply ends with how long to hold the request

	// rule decides by the state of the call's key, and stores what the verb
	// changes.
	rule func(c *Call, v verb) error
	// next is the time until at least one unit more than remaining. It is asked
	// after rule, with parameters that rule accepted.
	next func(c *Call) time.Duration
}

// limiter is what a limiter command works on: the record of its key, and what is
// decided.
type limiter struct {
	db       *shard.Database
	entry    shard.Entry
	decision limit.Decision
	wait     time.Duration
}

// amount is a positional number of units.
func amount(name string) Arg {
	return Arg{Name: name, Type: Integer, Min: 1, Max: limit.MaxTokens}
}

// limiterArgs are the arguments of every verb of a family: the key, what the
// algorithm needs, and at the end COST and FULL.
func limiterArgs(between []Arg) []Arg {
	args := append([]Arg{{Name: "key", Type: Key}}, between...)
	return append(args,
		Arg{Name: "cost", Type: Integer, Token: "COST", Optional: true, Min: 1, Max: limit.MaxTokens, Default: 1, Hint: "; use PEEK to ask without charging"},
		Arg{Name: "full", Type: PureToken, Token: "FULL", Optional: true})
}

// cost is the value of COST.
func (c *Call) cost() int64 { return c.values[len(c.Command.Args)-2] }

// full says whether FULL was given.
func (c *Call) full() bool { return c.Given(len(c.Command.Args) - 1) }

// Replies of limiter commands, for the reference.
const (
	fiveReply = "Array of five integers: allowed (1 or 0), limit, remaining, retry_after_ms (0 when allowed, -1 never), reset_after_ms. FULL: map of the five by name and granted, cost, used, next_after_ms, algorithm, now_ms."
	sixReply  = "Array of six integers: allowed (1 or 0), limit, remaining, retry_after_ms (0 when allowed, -1 never), reset_after_ms, wait_ms. FULL: map of the six by name and granted, cost, used, next_after_ms, algorithm, now_ms."
)

// command completes a row with what the verbs of the family share.
func (f *family) command(v verb, row Command) Command {
	row.Group, row.Since, row.Complexity = f.group, "0.1.0", f.complexity
	row.Keys, row.Flags, row.Reply = OneKey, v.flags(), fiveReply
	if f.waits {
		row.Reply = sixReply
	}
	row.Args = limiterArgs(f.args)
	row.Run = func(c *Call) {
		if c.parse() && c.judge(f, v) {
			c.answer(f, v)
		}
	}
	return row
}

// judge applies the family's rule to the call's key. It replies with the error
// and returns false when there is one; nothing has been changed then.
func (c *Call) judge(f *family, v verb) bool {
	if !c.find(f.kind, v) {
		return false
	}
	if err := f.rule(c, v); err != nil {
		c.refuse(err)
		return false
	}
	if v == take {
		c.decided(c.limiter.decision.Allowed)
	}
	if v != peek {
		c.noteDenial(f.next)
	}
	return true
}

// find looks the call's key up; what it holds must be of the kind.
func (c *Call) find(kind shard.Kind, v verb) bool {
	l, key := &c.limiter, c.Args[1]
	if v == peek {
		l.db, l.entry = c.Read(key)
	} else {
		l.db, l.entry = c.Lookup(key)
	}
	if l.entry.Exists() && l.entry.Kind() != kind {
		c.Fail(WrongType)
		return false
	}
	if c.tight && !l.entry.Exists() && (v == take || v == debit) {
		c.Fail(OutOfMemory)
		return false
	}
	return true
}

// refuse replies with the error of a call that the algorithm did not accept.
func (c *Call) refuse(err error) {
	switch err {
	case limit.ErrClear:
		c.Fail(TooSlowToClear)
	case errNoRoom:
		c.Fail(OutOfMemory)
	case limit.ErrDebt:
		c.Fail(TooMuchDebt)
	default:
		c.Fail(LimiterState, strings.TrimPrefix(err.Error(), "limit: "))
	}
}

// answer replies with the decision.
func (c *Call) answer(f *family, v verb) {
	d := &c.limiter.decision
	switch {
	case c.full():
		c.answerFull(f, v)
	case f.waits:
		c.Out.Ints(bit(d.Allowed), d.Limit, d.Remaining, limit.Millis(d.RetryAfter), limit.Millis(d.ResetAfter), limit.Millis(c.limiter.wait))
	default:
		c.Out.Ints(bit(d.Allowed), d.Limit, d.Remaining, limit.Millis(d.RetryAfter), limit.Millis(d.ResetAfter))
	}
}

// answerFull replies with everything by name. Fields are added, never renamed.
func (c *Call) answerFull(f *family, v verb) {
	d, granted, fields := &c.limiter.decision, int64(0), 11
	if d.Allowed && (v == take || v == debit) {
		granted = c.cost()
	}
	if f.waits {
		fields++
	}
	c.Out.Map(fields)
	c.field("allowed", bit(d.Allowed))
	c.field("limit", d.Limit)
	c.field("remaining", d.Remaining)
	c.field("retry_after_ms", limit.Millis(d.RetryAfter))
	c.field("reset_after_ms", limit.Millis(d.ResetAfter))
	c.field("granted", granted)
	c.field("cost", c.cost())
	c.field("used", d.Used)
	c.field("next_after_ms", limit.Millis(f.next(c)))
	c.Out.BulkString("algorithm")
	c.Out.BulkString(string(f.group))
	c.field("now_ms", c.Millis())
	if f.waits {
		c.field("wait_ms", limit.Millis(c.limiter.wait))
	}
}

func (c *Call) field(name string, value int64) {
	c.Out.BulkString(name)
	c.Out.Int(value)
}

// bit is 1 for true.
func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

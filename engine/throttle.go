package engine

import (
	"time"

	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/shard"
)

// Where the arguments of both throttles stand.
const (
	throttleBurst = iota + 1
	throttleCount
	throttlePeriod
	throttleQuantity
)

// throttle is a command of another limiter that others' clients speak: a bucket
// with its own arguments and reply.
type throttle struct {
	extra    int64 // capacity beyond max_burst
	refunds  bool  // a negative quantity gives back
	reply    string
	sequence func(d *limit.Decision) [5]int64
}

// command completes a row with what both commands share.
func (t throttle) command(row Command) Command {
	least := int64(0)
	if t.refunds {
		least = -limit.MaxTokens
	}
	row.Group, row.Since, row.Complexity = Compatible, "0.1.0", "O(1)"
	row.Keys, row.Flags, row.Reply = OneKey, take.flags(), t.reply
	row.Args = []Arg{
		{Name: "key", Type: Key},
		{Name: "max_burst", Type: Integer, Min: 1 - t.extra, Max: limit.MaxTokens - t.extra},
		amount("count"),
		{Name: "period", Type: Duration},
		{Name: "quantity", Type: Integer, Optional: true, Min: least, Max: limit.MaxTokens, Default: 1},
	}
	row.Run = t.run
	return row
}

// run decides a call: a positive quantity is taken, a negative one given back,
// and 0 only looks.
func (t throttle) run(c *Call) {
	if !c.parse() {
		return
	}
	v, quantity := take, c.N(throttleQuantity)
	switch {
	case quantity < 0:
		v, quantity = give, -quantity
	case quantity == 0:
		v, quantity = peek, 1
	}
	if !c.find(shard.KindBucket, v) {
		return
	}
	d := &c.limiter.decision
	if err := c.bucket(v, c.N(throttleBurst)+t.extra, c.rate(throttleCount, throttlePeriod), quantity); err != nil {
		c.refuse(err)
		return
	}
	switch v {
	case take:
		c.decided(d.Allowed)
	case peek:
		d.Allowed, d.RetryAfter = true, 0 // who asks for nothing gets it
	}
	if v != peek {
		c.noteDenial(t.next)
	}
	reply := t.sequence(d)
	c.Out.Ints(reply[:]...)
}

// next is the time until at least one token more than remaining.
func (t throttle) next(c *Call) time.Duration {
	b := c.limiter.db.Bucket(&c.limiter.entry)
	next, _ := b.Next(c.Now(), c.N(throttleBurst)+t.extra, c.rate(throttleCount, throttlePeriod))
	return next
}

// seconds rounds up, so that whoever waits that long has waited long enough.
// limit.Never stays -1.
func seconds(d time.Duration) int64 {
	if d <= 0 {
		return int64(d)
	}
	return int64((d-1)/time.Second) + 1
}

// cellReply is redis-cell's order and polarity; retry is -1 both when allowed
// and when waiting will not help.
func cellReply(d *limit.Decision) [5]int64 {
	retry := seconds(d.RetryAfter)
	if d.Allowed {
		retry = -1
	}
	return [5]int64{1 - bit(d.Allowed), d.Limit, d.Remaining, retry, seconds(d.ResetAfter)}
}

// crabReply is throttlecrab's order and polarity.
func crabReply(d *limit.Decision) [5]int64 {
	return [5]int64{bit(d.Allowed), d.Limit, d.Remaining, seconds(d.ResetAfter), seconds(d.RetryAfter)}
}

// throttleCommands are the rows of the commands of redis-cell and throttlecrab.
func throttleCommands() []Command {
	cell := throttle{
		extra: 1, refunds: true, sequence: cellReply,
		reply: "Array of five integers: 0 allowed or 1 limited, capacity, remaining, seconds until a retry succeeds (-1 when allowed, or when it never will), seconds until the key is full again.",
	}
	crab := throttle{
		sequence: crabReply,
		reply:    "Array of five integers: 1 allowed or 0 limited, capacity, remaining, seconds until the key is full again, seconds until a retry succeeds (0 when allowed, -1 when it never will).",
	}
	return []Command{
		cell.command(Command{
			Name:    "CL.THROTTLE",
			Summary: "redis-cell's command: a token bucket of max_burst + 1 tokens that refills by count per period.",
			Notes:   "Seconds are rounded up. quantity 0 only looks; a negative quantity gives back, up to the capacity. " + bucketNotes,
			Examples: []Example{
				{"CL.THROTTLE user:42 15 30 60", "1) (integer) 0\n2) (integer) 16\n3) (integer) 15\n4) (integer) -1\n5) (integer) 2"},
				{"CL.THROTTLE user:42 15 30 60 16", "1) (integer) 1\n2) (integer) 16\n3) (integer) 15\n4) (integer) 2\n5) (integer) 2"},
				{"CL.THROTTLE user:42 15 30 60 -1", "1) (integer) 0\n2) (integer) 16\n3) (integer) 16\n4) (integer) -1\n5) (integer) 0"},
			},
		}),
		crab.command(Command{
			Name:    "THROTTLE",
			Summary: "throttlecrab's command: a token bucket of max_burst tokens that refills by count per period.",
			Notes:   "Seconds are rounded up. quantity 0 only looks; a negative quantity is refused. " + bucketNotes,
			Examples: []Example{
				{"THROTTLE user:42 2 10 1 2", "1) (integer) 1\n2) (integer) 2\n3) (integer) 0\n4) (integer) 1\n5) (integer) 0"},
				{"THROTTLE user:42 2 10 1", "1) (integer) 0\n2) (integer) 2\n3) (integer) 0\n4) (integer) 1\n5) (integer) 1"},
			},
		}),
	}
}

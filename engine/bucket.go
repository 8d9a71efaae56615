package engine

import (
	"time"

	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/shard"
)

// Where the arguments of TB and LB stand.
const (
	bucketCapacity = iota + 1
	bucketTokens
	bucketPeriod
)

// bucketFamily is a bucket under the name of a chapter: the token bucket, and
// the leaky bucket as a meter, are one state seen two ways.
func bucketFamily(group Group) *family {
	return &family{
		group: group, complexity: "O(1)", kind: shard.KindBucket,
		args: []Arg{amount("capacity"), amount("tokens"), {Name: "period", Type: Duration}},
		rule: func(c *Call, v verb) error {
			return c.bucket(v, c.N(bucketCapacity), c.rate(bucketTokens, bucketPeriod), c.cost())
		},
		next: func(c *Call) time.Duration {
			b := c.limiter.db.Bucket(&c.limiter.entry)
			next, _ := b.Next(c.Now(), c.N(bucketCapacity), c.rate(bucketTokens, bucketPeriod))
			return next
		},
	}
}

// bucket decides a call on the bucket of the call's key, and stores what changed.
func (c *Call) bucket(v verb, capacity int64, rate limit.Rate, cost int64) (err error) {
	b, d, now := c.limiter.db.Bucket(&c.limiter.entry), &c.limiter.decision, c.Now()
	switch v {
	case peek:
		*d, err = b.Peek(now, capacity, rate, cost)
		return err
	case take:
		err = b.TakeInto(d, now, capacity, rate, cost)
	case give:
		b, *d, err = b.Give(now, capacity, rate, cost)
	case debit:
		b, *d, err = b.Debit(now, capacity, rate, cost)
	}
	if err == nil && d.Allowed {
		c.limiter.db.PutBucket(&c.limiter.entry, b)
	}
	return err
}

// bucketNotes holds for whatever is a view of a bucket.
const bucketNotes = "Parameters come with each call: what was used stays used when they change. TB, LB, CL.THROTTLE and THROTTLE share their keys."

// bucketCommands are the rows of the token bucket.
func bucketCommands() []Command {
	f := bucketFamily(TokenBucket)
	return []Command{
		f.command(take, Command{
			Name:    "TB.TAKE",
			Summary: "Takes tokens from a bucket that refills continuously, or says when there will be enough.",
			Notes:   "capacity is what a full bucket holds, tokens per period its refill: 10 1 6s is a burst of 10, then one every 6 seconds. " + bucketNotes,
			Examples: []Example{
				{"TB.TAKE user:42 10 1 6s", "1) (integer) 1\n2) (integer) 10\n3) (integer) 9\n4) (integer) 0\n5) (integer) 6000"},
				{"TB.TAKE user:42 10 1 6s COST 9", "1) (integer) 1\n2) (integer) 10\n3) (integer) 0\n4) (integer) 0\n5) (integer) 60000"},
				{"TB.TAKE user:42 10 1 6s", "1) (integer) 0\n2) (integer) 10\n3) (integer) 0\n4) (integer) 6000\n5) (integer) 60000"},
			},
		}),
		f.command(peek, Command{
			Name:    "TB.PEEK",
			Summary: "Answers what TB.TAKE would, and changes nothing.",
			Examples: []Example{
				{"TB.PEEK user:42 10 1 6s COST 11", "1) (integer) 0\n2) (integer) 10\n3) (integer) 10\n4) (integer) -1\n5) (integer) 0"},
			},
		}),
		f.command(give, Command{
			Name:    "TB.GIVE",
			Summary: "Gives tokens back to a bucket, up to its capacity.",
			Notes:   "A bucket that is full again is as if never seen: its key is gone.",
			Examples: []Example{
				{"TB.TAKE job:7 10 1 6s COST 4", "1) (integer) 1\n2) (integer) 10\n3) (integer) 6\n4) (integer) 0\n5) (integer) 24000"},
				{"TB.GIVE job:7 10 1 6s COST 3", "1) (integer) 1\n2) (integer) 10\n3) (integer) 9\n4) (integer) 0\n5) (integer) 6000"},
			},
		}),
		f.command(debit, Command{
			Name:    "TB.DEBIT",
			Summary: "Charges tokens even when the bucket does not hold them, for work that is already done.",
			Notes:   "Later calls wait the debt off.",
			Examples: []Example{
				{"TB.DEBIT job:7 10 1 6s COST 25", "1) (integer) 1\n2) (integer) 10\n3) (integer) 0\n4) (integer) 0\n5) (integer) 150000"},
				{"TB.TAKE job:7 10 1 6s", "1) (integer) 0\n2) (integer) 10\n3) (integer) 0\n4) (integer) 96000\n5) (integer) 150000"},
			},
		}),
	}
}

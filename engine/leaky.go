package engine

import (
	"time"

	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/shard"
)

// Where the arguments of LB.QUEUE stand.
const (
	queueTokens = iota + 1
	queuePeriod
	queueMax
	queueMaxWait
)

// Defaults of LB.QUEUE.
const (
	defaultQueueMax     = 1000
	defaultQueueMaxWait = int64(time.Minute / time.Millisecond)
)

// queueFamily is the leaky bucket as a queue: another view of the same state.
func queueFamily() *family {
	return &family{
		group: LeakyBucket, complexity: "O(1)", kind: shard.KindBucket, waits: true,
		args: []Arg{
			amount("tokens"), {Name: "period", Type: Duration},
			{Name: "max", Type: Integer, Token: "MAX", Optional: true, Min: 1, Max: limit.MaxTokens, Default: defaultQueueMax},
			{Name: "maxwait", Type: Duration, Token: "MAXWAIT", Optional: true, Default: defaultQueueMaxWait},
		},
		rule: (*Call).enqueue,
		next: (*Call).queueNext,
	}
}

// enqueue gives the call a slot in the queue of the call's key, if there is one.
func (c *Call) enqueue(verb) (err error) {
	b := c.limiter.db.Bucket(&c.limiter.entry)
	b, c.limiter.decision, c.limiter.wait, err = b.Queue(c.Now(), c.rate(queueTokens, queuePeriod), c.N(queueMax), c.span(queueMaxWait), c.cost())
	if err == nil && c.limiter.decision.Allowed {
		c.limiter.db.PutBucket(&c.limiter.entry, b)
	}
	return err
}

// queueNext is when a queue that takes nobody now takes somebody, or one that
// does takes more.
func (c *Call) queueNext() time.Duration {
	b, rate := c.limiter.db.Bucket(&c.limiter.entry), c.rate(queueTokens, queuePeriod)
	if c.limiter.decision.Remaining == 0 {
		_, d, _, err := b.Queue(c.Now(), rate, c.N(queueMax), c.span(queueMaxWait), 1)
		if err == nil {
			return d.RetryAfter
		}
	}
	next, _ := b.Next(c.Now(), c.N(queueMax), rate)
	return next
}

// leakyCommands are the rows of the leaky bucket, as a meter and as a queue.
func leakyCommands() []Command {
	f := bucketFamily(LeakyBucket)
	return []Command{
		f.command(take, Command{
			Name:    "LB.TAKE",
			Summary: "Pours into a bucket that leaks at a constant rate, or says when there will be room.",
			Notes:   "The leaky bucket as a meter: capacity is the level it holds, tokens per period the leak. " + bucketNotes,
			Examples: []Example{
				{"LB.TAKE api:9 5 10 1s COST 5", "1) (integer) 1\n2) (integer) 5\n3) (integer) 0\n4) (integer) 0\n5) (integer) 500"},
				{"LB.TAKE api:9 5 10 1s", "1) (integer) 0\n2) (integer) 5\n3) (integer) 0\n4) (integer) 100\n5) (integer) 500"},
			},
		}),
		f.command(peek, Command{
			Name:    "LB.PEEK",
			Summary: "Answers what LB.TAKE would, and changes nothing.",
			Examples: []Example{
				{"LB.PEEK api:9 5 10 1s", "1) (integer) 1\n2) (integer) 5\n3) (integer) 5\n4) (integer) 0\n5) (integer) 0"},
			},
		}),
		f.command(give, Command{
			Name:    "LB.GIVE",
			Summary: "Takes out of a bucket again what was poured in, down to empty.",
			Notes:   "A bucket that is empty again is as if never seen: its key is gone.",
			Examples: []Example{
				{"LB.TAKE api:9 5 10 1s COST 3", "1) (integer) 1\n2) (integer) 5\n3) (integer) 2\n4) (integer) 0\n5) (integer) 300"},
				{"LB.GIVE api:9 5 10 1s COST 9", "1) (integer) 1\n2) (integer) 5\n3) (integer) 5\n4) (integer) 0\n5) (integer) 0"},
			},
		}),
		queueFamily().command(take, Command{
			Name:    "LB.QUEUE",
			Summary: "Reserves the next departure at a constant rate and says how long to hold the request until then.",
			Notes: "wait_ms is the last element: hold the request that long, then let it go. limit is MAX, the most that may be queued (default 1000); " +
				"a wait above MAXWAIT (default 1m) is denied. A denied caller holds no slot.",
			Examples: []Example{
				{"LB.QUEUE mail 2 1s MAX 2", "1) (integer) 1\n2) (integer) 2\n3) (integer) 1\n4) (integer) 0\n5) (integer) 500\n6) (integer) 0"},
				{"LB.QUEUE mail 2 1s MAX 2", "1) (integer) 1\n2) (integer) 2\n3) (integer) 0\n4) (integer) 0\n5) (integer) 1000\n6) (integer) 500"},
				{"LB.QUEUE mail 2 1s MAX 2", "1) (integer) 0\n2) (integer) 2\n3) (integer) 0\n4) (integer) 500\n5) (integer) 1000\n6) (integer) 0"},
				{"LB.QUEUE mail 2 1s MAXWAIT 700ms", "1) (integer) 0\n2) (integer) 1000\n3) (integer) 0\n4) (integer) 300\n5) (integer) 1000\n6) (integer) 0"},
			},
		}),
	}
}

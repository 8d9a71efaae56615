package engine

import (
	"time"

	"github.com/limitstore/limitstore/shard"
)

// slidingFamily is the sliding window counter.
func slidingFamily() *family {
	return &family{
		group: SlidingWindow, complexity: "O(1)", kind: shard.KindSliding,
		args: []Arg{amount("limit"), {Name: "window", Type: Duration}},
		rule: (*Call).sliding,
		next: func(c *Call) time.Duration {
			s := c.limiter.db.Sliding(&c.limiter.entry)
			next, _ := s.Next(c.Now(), c.N(windowLimit), c.span(windowSpan))
			return next
		},
	}
}

// sliding decides a call on the windows of the call's key, and stores what changed.
func (c *Call) sliding(v verb) (err error) {
	s, d, now := c.limiter.db.Sliding(&c.limiter.entry), &c.limiter.decision, c.Now()
	most, window, cost := c.N(windowLimit), c.span(windowSpan), c.cost()
	switch v {
	case peek:
		*d, err = s.Peek(now, most, window, cost)
		return err
	case take:
		s, *d, err = s.Hit(now, most, window, cost)
	case give:
		s, *d, err = s.Give(now, most, window, cost)
	}
	if err == nil && d.Allowed {
		c.limiter.db.PutSliding(&c.limiter.entry, s)
	}
	return err
}

// slidingCommands are the rows of the sliding window counter.
func slidingCommands() []Command {
	f := slidingFamily()
	return []Command{
		f.command(take, Command{
			Name:    "SWC.HIT",
			Summary: "Counts hits in a window that slides, estimated from two counters, or says when there will be room.",
			Notes: "Counted are the hits of the current window and, of the previous one, the share that is still inside: floor(previous * share) + current. " +
				"Windows tile Unix time. SWL is exact, at the price of memory.",
			Examples: []Example{
				{"SWC.HIT user:42 100 1m COST 80", "1) (integer) 1\n2) (integer) 100\n3) (integer) 20\n4) (integer) 0\n5) (integer) 120000"},
				{"SWC.HIT user:42 100 1m COST 20", "1) (integer) 1\n2) (integer) 100\n3) (integer) 0\n4) (integer) 0\n5) (integer) 120000"},
			},
		}),
		f.command(peek, Command{
			Name:    "SWC.PEEK",
			Summary: "Answers what SWC.HIT would, and changes nothing.",
			Examples: []Example{
				{"SWC.PEEK user:42 100 1m COST 101", "1) (integer) 0\n2) (integer) 100\n3) (integer) 100\n4) (integer) -1\n5) (integer) 0"},
			},
		}),
		f.command(give, Command{
			Name:    "SWC.GIVE",
			Summary: "Takes hits of the current window back.",
			Notes:   "Nothing is given into the previous window: it is over. With no hits left the key is gone.",
			Examples: []Example{
				{"SWC.HIT user:42 100 1m COST 80", "1) (integer) 1\n2) (integer) 100\n3) (integer) 20\n4) (integer) 0\n5) (integer) 120000"},
				{"SWC.GIVE user:42 100 1m COST 30", "1) (integer) 1\n2) (integer) 100\n3) (integer) 50\n4) (integer) 0\n5) (integer) 120000"},
			},
		}),
	}
}

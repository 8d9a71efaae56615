package engine

import (
	"time"

	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/shard"
)

// logFamily is the sliding window log.
func logFamily() *family {
	return &family{
		group: SlidingLog, complexity: "O(log N), N being the milliseconds of the window in which there was a hit", kind: shard.KindLog,
		args: []Arg{
			{Name: "limit", Type: Integer, Min: 1, Max: limit.MaxLogLimit, Hint: "; SWC counts without a log"},
			{Name: "window", Type: Duration},
		},
		rule: (*Call).log,
		next: func(c *Call) time.Duration {
			l := c.limiter.db.Log(&c.limiter.entry)
			next, _ := l.Next(c.Now(), c.N(windowLimit), c.span(windowSpan))
			return next
		},
	}
}

// log decides a call on the log of the call's key, and stores what changed.
func (c *Call) log(v verb) (err error) {
	l, d, now := c.limiter.db.Log(&c.limiter.entry), &c.limiter.decision, c.Now()
	most, window, cost := c.N(windowLimit), c.span(windowSpan), c.cost()
	var edit limit.LogEdit
	switch v {
	case peek:
		*d, err = l.Peek(now, most, window, cost)
		return err
	case take:
		edit, *d, err = l.Hit(now, most, window, cost)
	case give:
		edit, *d, err = l.Give(now, most, window, cost)
	}
	if err == nil && d.Allowed && c.tight && !c.limiter.db.Holds(&c.limiter.entry, edit) {
		return errNoRoom
	}
	if err == nil && d.Allowed {
		c.limiter.db.EditLog(&c.limiter.entry, edit)
	}
	return err
}

// logCommands are the rows of the sliding window log.
func logCommands() []Command {
	f := logFamily()
	return []Command{
		f.command(take, Command{
			Name:    "SWL.HIT",
			Summary: "Counts hits in a window that slides, exactly, or says when there will be room.",
			Notes: "Every hit is on record for as long as it counts, at a resolution of one millisecond: memory grows with the limit, at most 100000. " +
				"Denied hits are not recorded.",
			Examples: []Example{
				{"SWL.HIT user:42 3 10s COST 2", "1) (integer) 1\n2) (integer) 3\n3) (integer) 1\n4) (integer) 0\n5) (integer) 10000"},
				{"SWL.HIT user:42 3 10s COST 2", "1) (integer) 0\n2) (integer) 3\n3) (integer) 1\n4) (integer) 10000\n5) (integer) 10000"},
			},
		}),
		f.command(peek, Command{
			Name:    "SWL.PEEK",
			Summary: "Answers what SWL.HIT would, and changes nothing.",
			Examples: []Example{
				{"SWL.PEEK user:42 3 10s COST 4", "1) (integer) 0\n2) (integer) 3\n3) (integer) 3\n4) (integer) -1\n5) (integer) 0"},
			},
		}),
		f.command(give, Command{
			Name:    "SWL.GIVE",
			Summary: "Takes hits back, the newest first.",
			Notes:   "Nothing is given for hits that count no more. With no hits left the key is gone.",
			Examples: []Example{
				{"SWL.HIT user:42 3 10s COST 3", "1) (integer) 1\n2) (integer) 3\n3) (integer) 0\n4) (integer) 0\n5) (integer) 10000"},
				{"SWL.GIVE user:42 3 10s COST 2", "1) (integer) 1\n2) (integer) 3\n3) (integer) 2\n4) (integer) 0\n5) (integer) 10000"},
			},
		}),
	}
}

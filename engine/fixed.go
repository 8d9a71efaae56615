package engine

import (
	"time"

	"github.com/limitstore/limitstore/shard"
)

// Where the arguments of the window families stand; only FW has an anchor.
const (
	windowLimit = iota + 1
	windowSpan
	windowAnchor
)

// anchorFirst is the second of the anchors, CLOCK being the first.
const anchorFirst = 1

// fixedFamily is the fixed window counter.
func fixedFamily() *family {
	return &family{
		group: FixedWindow, complexity: "O(1)", kind: shard.KindFixed,
		args: []Arg{
			amount("limit"), {Name: "window", Type: Duration},
			{Name: "anchor", Type: OneOf, Token: "ANCHOR", Optional: true, Args: []Arg{
				{Name: "clock", Type: PureToken, Token: "CLOCK"},
				{Name: "first", Type: PureToken, Token: "FIRST"},
			}},
		},
		rule: (*Call).fixed,
		next: func(c *Call) time.Duration {
			f := c.limiter.db.Fixed(&c.limiter.entry)
			next, _ := f.Next(c.Now(), c.N(windowLimit), c.span(windowSpan), c.N(windowAnchor) == anchorFirst)
			return next
		},
	}
}

// fixed decides a call on the window of the call's key, and stores what changed.
func (c *Call) fixed(v verb) (err error) {
	f, d, now := c.limiter.db.Fixed(&c.limiter.entry), &c.limiter.decision, c.Now()
	most, window, first, cost := c.N(windowLimit), c.span(windowSpan), c.N(windowAnchor) == anchorFirst, c.cost()
	switch v {
	case peek:
		*d, err = f.Peek(now, most, window, first, cost)
		return err
	case take:
		f, *d, err = f.Hit(now, most, window, first, cost)
	case give:
		f, *d, err = f.Give(now, most, window, first, cost)
	}
	if err == nil && d.Allowed {
		c.limiter.db.PutFixed(&c.limiter.entry, f)
	}
	return err
}

// fixedCommands are the rows of the fixed window.
func fixedCommands() []Command {
	f := fixedFamily()
	return []Command{
		f.command(take, Command{
			Name:    "FW.HIT",
			Summary: "Counts hits in a fixed window, or says when the next window begins.",
			Notes: "ANCHOR CLOCK, the default: windows tile Unix time, so weeks begin on Thursday, UTC. ANCHOR FIRST: the window begins at the first hit, as with INCR and EXPIRE. " +
				"Up to twice the limit passes around the end of a window; SWC and SWL do not have that.",
			Examples: []Example{
				{"FW.HIT user:42 3 1m COST 2", "1) (integer) 1\n2) (integer) 3\n3) (integer) 1\n4) (integer) 0\n5) (integer) 60000"},
				{"FW.HIT user:42 3 1m COST 2", "1) (integer) 0\n2) (integer) 3\n3) (integer) 1\n4) (integer) 60000\n5) (integer) 60000"},
				{"FW.HIT login:42 5 15m ANCHOR FIRST", "1) (integer) 1\n2) (integer) 5\n3) (integer) 4\n4) (integer) 0\n5) (integer) 900000"},
			},
		}),
		f.command(peek, Command{
			Name:    "FW.PEEK",
			Summary: "Answers what FW.HIT would, and changes nothing.",
			Examples: []Example{
				{"FW.PEEK user:42 3 1m COST 4", "1) (integer) 0\n2) (integer) 3\n3) (integer) 3\n4) (integer) -1\n5) (integer) 0"},
			},
		}),
		f.command(give, Command{
			Name:    "FW.GIVE",
			Summary: "Takes hits of the current window back.",
			Notes:   "Nothing is given into a window that is over. A window with no hits left is as if never seen: its key is gone.",
			Examples: []Example{
				{"FW.HIT user:42 3 1m COST 3", "1) (integer) 1\n2) (integer) 3\n3) (integer) 0\n4) (integer) 0\n5) (integer) 60000"},
				{"FW.GIVE user:42 3 1m", "1) (integer) 1\n2) (integer) 3\n3) (integer) 1\n4) (integer) 0\n5) (integer) 60000"},
			},
		}),
	}
}

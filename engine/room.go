package engine

import (
	"errors"
	"time"

	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/shard"
)

// errNoRoom is the answer to a hit that would make a log grow when memory is
// full.
var errNoRoom = errors.New("engine: memory is full")

// outOfRoom makes room for a command that may make memory grow. When there is
// none it replies so and returns true: nothing is changed then but that limiter state was
// given up. A Sparing command is told instead, and decides by the key.
func (c *Call) outOfRoom() bool {
	c.tight = false
	if c.Command.Flags&DenyOOM == 0 {
		return false
	}
	if c.ks != nil {
		c.tight = !c.ks.MakeRoom()
		return c.short(c.ks)
	}
	for _, ks := range c.held {
		if ks != nil {
			c.tight = !ks.MakeRoom() || c.tight
		}
	}
	for _, ks := range c.held {
		if ks != nil && c.short(ks) {
			return true
		}
	}
	return false
}

// short says whether the command cannot run on ks, after replying so.
func (c *Call) short(ks *shard.Keyspace) bool {
	switch {
	case !ks.Database(c.db).Room(len(c.Args)):
		c.Fail(OutOfChunks)
	case c.tight && c.Command.Flags&Sparing == 0:
		c.Fail(OutOfMemory)
	default:
		return false
	}
	return true
}

// noteDenial tells the keyspace until when the limiter of the call denies, so
// that it is not given up meanwhile: what was denied is denied until its retry, and a
// limiter with nothing remaining until there is one unit more.
func (c *Call) noteDenial(next func(*Call) time.Duration) {
	l := &c.limiter
	d, until := &l.decision, int64(0)
	switch {
	case !d.Allowed && d.RetryAfter < 0:
		return // it is the call that asks for too much
	case !d.Allowed:
		until = max(l.db.DeniesUntil(&l.entry), c.after(d.RetryAfter))
	case d.Remaining == 0:
		until = c.after(next(c))
	}
	l.db.Deny(&l.entry, until)
}

// after is the Unix millisecond that lies a span ahead, rounded up.
func (c *Call) after(span time.Duration) int64 { return c.Millis() + limit.Millis(span) + 1 }

package engine

import (
	"time"

	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/resp"
	"github.com/limitstore/limitstore/shard"
)

// queued is one command of a pipeline: a row of the table and views into the
// read buffer, no copy.
type queued struct {
	command     *Command
	args        [][]byte
	db          int
	place       shard.Place  // of args[1], if that is the command's one key
	transaction *transaction // of EXEC
}

// replies are the answers of one source (a shard's batch, or the session
// itself) in the order run: the bytes, and where each ends.
type replies struct {
	out  resp.Writer
	ends []int
	read int // replies already passed on
}

// end marks the end of a reply.
func (r *replies) end() { r.ends = append(r.ends, r.out.Len()) }

// next is the oldest reply not yet passed on; false when there is none.
func (r *replies) next() ([]byte, bool) {
	if r.read == len(r.ends) {
		return nil, false
	}
	start := 0
	if r.read > 0 {
		start = r.ends[r.read-1]
	}
	r.read++
	return r.out.Bytes()[start:r.ends[r.read-1]], true
}

// forget drops the replies once all are passed on.
func (r *replies) forget() {
	if r.read == len(r.ends) {
		r.out.Reset(r.out.Proto())
		r.ends, r.read = r.ends[:0], 0
	}
}

// batch is everything one pipeline asks of one shard. It is filled by the
// session, run by the shard's goroutine, and never touched by both at once: the
// session waits in between.
type batch struct {
	replies
	calls []queued
	done  int // calls that have run
	pause int // bytes of replies after which it stops until they are written
	call  Call

	took    func(*Command, [][]byte, limit.Instant, time.Duration) // as Session.Took
	timeAll bool
	stuck   bool // the next call needs all shards
}

// Run runs the calls on the shard's goroutine, from where it stopped. After a
// command that may have run long the clock is read again; so it is before one that
// is timed, unless that was just done.
func (b *batch) Run(ks *shard.Keyspace) {
	warm := b.done
	b.call.steady = true
	fresh := false // the clock was read when the last command was done
	for b.done < len(b.calls) && b.out.Len() < b.pause {
		if b.done == warm {
			warm += b.warm(ks)
		}
		q := &b.calls[b.done]
		b.done++
		c := &b.call
		c.Command, c.Args, c.db, c.ks = q.command, q.args, q.db, ks
		c.place, c.placed = q.place, q.command.Keys == OneKey
		c.transaction = q.transaction
		slow := q.command.Flags&Fast == 0 || q.command.Keys != OneKey
		if b.took != nil && (slow || b.timeAll) {
			b.runTimed(ks, fresh)
		} else {
			c.run()
			if slow {
				ks.Tick()
			}
		}
		fresh = slow || b.timeAll
		if c.wide {
			c.wide, b.stuck = false, true
			b.done--
			break
		}
		b.end()
	}
	b.call.steady, b.call.asker, b.call.asked = false, nil, nil
}

// warm prepares the next calls, as many as it returns.
func (b *batch) warm(ks *shard.Keyspace) int {
	next := b.calls[b.done:min(len(b.calls), b.done+shard.MaxWarm)]
	if len(next) > 1 {
		var places [shard.MaxWarm]shard.Place
		for i := range next {
			places[i] = next[i].place
		}
		ks.Database(next[0].db).Warm(places[:len(next)])
	}
	return len(next)
}

// runTimed runs the call and tells how long that took.
func (b *batch) runTimed(ks *shard.Keyspace, fresh bool) {
	if !fresh {
		ks.Tick()
	}
	c, start := &b.call, ks.Now()
	c.run()
	ks.Tick()
	if c.wide {
		return
	}
	took := time.Duration(ks.Now() - start)
	c.stats.timed(c.Command.id, took)
	b.took(c.Command, c.Args, ks.Now(), took)
}

// run runs the command and counts it.
func (c *Call) run() {
	before := c.Out.Len()
	if !c.outOfRoom() {
		c.Command.Run(c)
	}
	if c.wide {
		return
	}
	reply := c.Out.Bytes()[before:]
	if c.stats == nil {
		if c.Session.Ran != nil {
			c.Session.Ran(c.Command, reply)
		}
		return
	}
	c.stats.Calls[c.Command.id]++
	if len(reply) > 0 && reply[0] == '-' {
		c.stats.fail(c.Command.id, reply)
	}
}

// rest says how many calls have not run yet.
func (b *batch) rest() int { return len(b.calls) - b.done }

// forget drops what has run and been passed on.
func (b *batch) forget() {
	b.replies.forget()
	if b.rest() == 0 {
		clear(b.calls) // the views must not keep a large read buffer alive
		b.calls, b.done = b.calls[:0], 0
	}
}

package engine

import (
	"errors"
	"io"
	"time"

	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/resp"
	"github.com/limitstore/limitstore/shard"
)

// ErrOutput is returned when one reply outgrew Limits.Output: the connection
// must be closed, as Redis does for a client over its output buffer limit.
var ErrOutput = errors.New("engine: reply exceeds the output limit")

// ErrClosed is returned once the engine is closed: what is queued does not run.
var ErrClosed = errors.New("engine: closed")

// The origins of replies that the session made, not a shard.
const (
	itself = -1
	aloud  = -2 // bytes that are no reply, and are sent even while the session is mute
)

// Session is one caller's place in the engine: its database and protocol, the
// pipeline being gathered, the replies on their way out in the order asked. It
// is used by one goroutine. The arguments given to Queue must stay unchanged
// until Flush returns.
type Session struct {
	Owner any // whose session it is; commands that are not on keys ask

	// Ran, unless nil, is told of each command that ran here without a shard, with
	// its reply: no shard counts those.
	Ran func(command *Command, reply []byte)

	// Took, unless nil, is told of each command that was timed: when it was done,
	// and how long it ran, without waiting for its turn. It is called on the goroutine
	// that ran the command, a shard's perhaps, and must neither block nor keep args.
	// Commands that work on one key and are flagged Fast are timed if TimeAll is set;
	// it counts for the commands run from then on.
	Took    func(command *Command, args [][]byte, at limit.Instant, took time.Duration)
	TimeAll bool

	engine  *Engine
	w       io.Writer
	db      int
	batches []*batch // by shard, made on first use
	local   replies  // of commands that ran here or through the door
	order   []int16  // the source of each reply outstanding: a shard, or itself
	out     []byte   // replies in order, gathered from several sources
	pending int      // calls queued in batches and not yet run
	ticket  shard.Ticket
	call    Call
	script  int       // the shard in whose batch a script waits, -1 when there is none
	span    []int     // the shards of the current command, ascending
	deals   *dealings // nil before the first MULTI or WATCH
	mute    bool      // replies are made and not sent
}

// Engine is the engine the session belongs to.
func (s *Session) Engine() *Engine { return s.engine }

// SetDB selects a database, 0 to 15.
func (s *Session) SetDB(n int) { s.db = n }

// Proto is the RESP version spoken.
func (s *Session) Proto() int { return s.local.out.Proto() }

// SetProto switches to RESP 2 or 3 for the replies not yet begun. Call it only
// where nothing is queued: from a command flagged Fence.
func (s *Session) SetProto(version int) {
	s.local.out.SetProto(version)
	for _, b := range s.batches {
		if b != nil {
			b.out.SetProto(version)
		}
	}
}

func (s *Session) answered() {
	s.local.end()
	s.order = append(s.order, itself)
}

// Mute says whether the replies that follow are made and not sent. Call it only
// where nothing is queued: from a command flagged Fence, or after Settle.
func (s *Session) Mute(on bool) { s.mute = on }

// Interject puts bytes between the replies, after that of the last command queued,
// though the session is mute. No command may be running.
func (s *Session) Interject(b []byte) {
	if len(b) > 0 {
		s.local.out.Raw(b)
		s.local.end()
		s.order = append(s.order, aloud)
	}
}

// Settle runs everything queued and gathers the replies, without writing them
// unless they are many.
func (s *Session) Settle() error { return s.settle() }

// Queue takes the next command of the pipeline: one found by Table.Resolve for
// these args. It runs at once, or with the rest of the pipeline at Flush, or after
// MULTI with EXEC.
func (s *Session) Queue(command *Command, args [][]byte) error {
	if s.deals != nil && s.deals.open != nil && command.Flags&AtOnce == 0 {
		return s.enqueue(command, args)
	}
	if command.Flags&Fence != 0 || s.pending >= s.engine.limits.Pipeline || s.local.out.Len() >= s.engine.limits.Reply {
		if err := s.settle(); err != nil {
			return err
		}
	}
	switch command.Scope {
	case OnKeys:
		return s.queueOnKeys(command, args)
	case EveryShard:
		return s.through(command, args, s.engine.all)
	case OnQueue:
		return s.exec(command, args)
	default:
		if command.Scope == EachShard {
			if err := s.settle(); err != nil {
				return err
			}
		}
		s.runHere(command, args)
		return nil
	}
}

// queueOnKeys puts the command into the batch of its shard, or takes the door
// when its keys live in several.
func (s *Session) queueOnKeys(command *Command, args [][]byte) error {
	if command.Keys == OneKey {
		if len(args[1]) > s.engine.limits.Key {
			s.Refuse(args, KeyTooLong.Text(s.engine.limits.Key))
			return nil
		}
		place := s.engine.seed.Place(args[1])
		return s.queue(route(args[1], len(s.engine.shards)), queued{command: command, args: args, db: s.db, place: place})
	}
	if !command.Keys.fit(args, s.engine.limits.Key) {
		s.Refuse(args, KeyTooLong.Text(s.engine.limits.Key))
		return nil
	}
	s.span = command.Keys.span(s.span[:0], args, len(s.engine.shards))
	if len(s.span) == 1 {
		return s.queue(s.span[0], queued{command: command, args: args, db: s.db})
	}
	return s.through(command, args, s.span)
}

// insert adds n to an ascending list without repeating it.
func insert(ascending []int, n int) []int {
	at := len(ascending)
	for at > 0 && ascending[at-1] >= n {
		at--
	}
	if at < len(ascending) && ascending[at] == n {
		return ascending
	}
	ascending = append(ascending, 0)
	copy(ascending[at+1:], ascending[at:])
	ascending[at] = n
	return ascending
}

// queue adds a call to the batch of a shard. A script may reach any shard after
// all, and then runs later than the batches: what follows it and is for another
// shard waits until it is known.
func (s *Session) queue(on int, q queued) error {
	if s.script >= 0 && s.script != on {
		if err := s.settle(); err != nil {
			return err
		}
	}
	if q.command.Flags&Scripted != 0 {
		s.script = on
	}
	b := s.batches[on]
	if b == nil {
		b = s.newBatch(on)
	}
	b.calls = append(b.calls, q)
	s.order = append(s.order, int16(on))
	s.pending++
	return nil
}

func (s *Session) newBatch(on int) *batch {
	b := &batch{pause: s.engine.limits.Reply}
	b.out.Reset(s.Proto())
	b.out.SetLimit(s.engine.limits.Output)
	b.call = Call{Out: &b.out, caller: s, shard: on, stats: s.engine.stats[on], limits: &s.engine.limits}
	s.batches[on] = b
	return b
}

// through runs the command on the caller's goroutine while its shards stand.
func (s *Session) through(command *Command, args [][]byte, ids []int) error {
	if err := s.settle(); err != nil {
		return err
	}
	err := s.hold(command, args, ids, &s.local)
	if err == nil {
		s.order = append(s.order, itself)
	}
	return err
}

// hold runs the command while shards stand, those of ids or, if that was not
// enough, all, and adds its reply to out.
func (s *Session) hold(command *Command, args [][]byte, ids []int, out *replies) error {
	c := &s.call
	ran := s.engine.door.Through(ids, func(held []*shard.Keyspace) {
		c.held, c.stats = held, s.engine.stats[ids[0]]
		s.perform(command, args, &out.out)
		c.held, c.stats = nil, nil
	})
	switch {
	case !ran:
		return ErrClosed
	case c.wide:
		s.widen(command, args, c.reached)
		return s.hold(command, args, s.engine.all, out)
	}
	c.prepared, c.reached = nil, false
	out.end()
	return nil
}

// widen prepares the call of a command that is to run again on all shards.
func (s *Session) widen(command *Command, args [][]byte, reached bool) {
	s.call.wide, s.call.reached = false, reached
	if command.Prepare != nil {
		s.call.prepared = command.Prepare(&s.engine.limits, args)
	}
}

// goWide runs the call at which a batch has stopped on all shards, if it is the
// next to be answered.
func (s *Session) goWide() error {
	if len(s.order) == 0 || s.order[0] < 0 || !s.batches[s.order[0]].stuck {
		return nil
	}
	b := s.batches[s.order[0]]
	q := &b.calls[b.done]
	s.widen(q.command, q.args, b.call.reached)
	b.stuck, b.call.reached = false, false
	s.pending--
	b.done++
	return s.hold(q.command, q.args, s.engine.all, &b.replies)
}

// runHere runs the command on this goroutine, on the keyspaces that the call
// holds, if any.
func (s *Session) runHere(command *Command, args [][]byte) {
	s.perform(command, args, &s.local.out)
	s.answered()
}

// perform runs the command and writes its reply to out.
func (s *Session) perform(command *Command, args [][]byte, out *resp.Writer) {
	c := &s.call
	c.Command, c.Args, c.Out, c.Session, c.caller, c.db = command, args, out, s, s, s.db
	timed := s.Took != nil && (s.TimeAll || c.held != nil || command.Flags&Fast == 0)
	var start limit.Instant
	if timed {
		start = s.engine.clock.Now()
	}
	c.run()
	if timed && !c.wide {
		s.timed(command, args, start, c.held != nil)
	}
}

// timed tells of a command that ran here from start until now.
func (s *Session) timed(command *Command, args [][]byte, start limit.Instant, counted bool) {
	now := s.engine.clock.Now()
	took := time.Duration(max(now-start, 0))
	if counted {
		s.call.stats.timed(command.id, took)
	}
	s.Took(command, args, now, took)
}

// settle runs everything queued and gathers the replies in order.
func (s *Session) settle() error {
	for {
		if err := s.runBatches(); err != nil {
			return err
		}
		if err := s.gather(); err != nil {
			return err
		}
		if s.pending == 0 {
			s.script = -1
			return nil
		}
		if err := s.goWide(); err != nil {
			return err
		}
	}
}

// runBatches hands every shard its batch and waits once.
func (s *Session) runBatches() error {
	if s.pending == 0 {
		return nil
	}
	open := true
	for i, b := range s.batches {
		if b != nil && b.rest() > 0 && !b.stuck {
			b.took, b.timeAll = s.Took, s.TimeAll
			s.ticket.Add(1)
			open = s.engine.shards[i].Serve(b, &s.ticket) && open
		}
	}
	s.ticket.Wait()
	if !open {
		return ErrClosed
	}
	s.pending = 0
	for _, b := range s.batches {
		if b != nil {
			s.pending += b.rest()
		}
	}
	return nil
}

// source is where replies of the given origin wait.
func (s *Session) source(origin int16) *replies {
	if origin < 0 {
		return &s.local
	}
	return &s.batches[origin].replies
}

// gather appends the replies to out in the order asked, as far as they have
// been made, and writes them when they are many.
func (s *Session) gather() error {
	passed := 0
	for _, origin := range s.order {
		r := s.source(origin)
		if r.out.Overflowed() {
			return ErrOutput
		}
		reply, ok := r.next()
		if !ok {
			break
		}
		passed++
		if !s.mute || origin == aloud {
			s.out = append(s.out, reply...)
		}
		if len(s.out) < s.engine.limits.Reply {
			continue
		}
		if err := s.write(); err != nil {
			return err
		}
	}
	s.order = s.order[:copy(s.order, s.order[passed:])]
	s.forget()
	return nil
}

func (s *Session) forget() {
	s.local.forget()
	for _, b := range s.batches {
		if b != nil {
			b.forget()
		}
	}
}

// Flush runs what is queued and writes every reply, in order, in one write
// unless they are many. The arguments given to Queue may change afterwards.
func (s *Session) Flush() error {
	err := s.flush()
	if s.deals != nil {
		s.deals.turn()
	}
	return err
}

func (s *Session) flush() error {
	if len(s.out) == 0 && s.pending > 0 {
		if err := s.runBatches(); err != nil {
			return err
		}
		if done, err := s.writeSingle(); done || err != nil {
			return err
		}
		if err := s.gather(); err != nil {
			return err
		}
	}
	if err := s.settle(); err != nil {
		return err
	}
	return s.write()
}

// writeSingle writes the replies without copying them when all come from one
// shard; false when they do not.
func (s *Session) writeSingle() (bool, error) {
	first := s.order[0]
	for _, origin := range s.order[1:] {
		if origin != first {
			return false, nil
		}
	}
	if first < 0 || s.pending > 0 || s.mute {
		return false, nil
	}
	s.script = -1
	b := s.batches[first]
	if b.out.Overflowed() {
		return true, ErrOutput
	}
	_, err := s.w.Write(b.out.Bytes())
	b.read = len(b.ends)
	s.order = s.order[:0]
	b.forget()
	return true, err
}

// keptBytes bounds the reply buffers an idle session keeps.
const keptBytes = 64 << 10

func (s *Session) write() error {
	if len(s.out) == 0 {
		return nil
	}
	_, err := s.w.Write(s.out)
	s.out = s.out[:0]
	if cap(s.out) > keptBytes {
		s.out = nil
	}
	return err
}

package engine

import (
	"slices"
	"strings"

	"github.com/limitstore/limitstore/resp"
	"github.com/limitstore/limitstore/shard"
)

// dealings are what a session has for MULTI and WATCH. It has none before the
// first of them.
type dealings struct {
	open *transaction   // between MULTI and EXEC
	sent []*transaction // queued in batches; they have run when Flush returns
	idle []*transaction // for the next MULTI, at most keptIdle

	watched  map[place]struct{} // what is watched, as far as this side knows: some may have been touched
	watching []int              // the shards of those keys, ascending
	watchers []*shard.Watcher   // by shard, made on first use
}

// place is a key of a database.
type place struct {
	db  int
	key string
}

// keptIdle bounds the transactions that a session keeps for reuse.
const keptIdle = 16

// dealing is the session's dealings, made on first use.
func (s *Session) dealing() *dealings {
	if s.deals == nil {
		s.deals = &dealings{watchers: make([]*shard.Watcher, len(s.engine.shards))}
	}
	return s.deals
}

// InMulti says whether a transaction is open.
func (s *Session) InMulti() bool { return s.deals != nil && s.deals.open != nil }

// Queued is the number of commands in the open transaction; -1 when there is
// none.
func (s *Session) Queued() int {
	if !s.InMulti() {
		return -1
	}
	return len(s.deals.open.calls)
}

// Changes says whether a command in the open transaction may change something or
// publish.
func (s *Session) Changes() bool {
	return s.InMulti() && slices.ContainsFunc(s.deals.open.calls, func(q queued) bool { return q.command.Flags&(Write|MayReplicate) != 0 })
}

// Watches is the number of keys watched.
func (s *Session) Watches() int {
	if s.deals == nil {
		return 0
	}
	return len(s.deals.watched)
}

// multi opens a transaction; false when one is open.
func (s *Session) multi() bool {
	d := s.dealing()
	if d.open != nil {
		return false
	}
	if n := len(d.idle); n > 0 {
		d.open, d.idle = d.idle[n-1], d.idle[:n-1]
	} else {
		d.open = &transaction{}
	}
	return true
}

// enqueue puts a command into the open transaction, or says why not.
func (s *Session) enqueue(command *Command, args [][]byte) error {
	if s.local.out.Len() >= s.engine.limits.Reply {
		if err := s.settle(); err != nil {
			return err
		}
	}
	t, weight := s.deals.open, weigh(args)
	if text := s.unfit(command, args, weight); text != "" {
		s.Refuse(args, text)
		return nil
	}
	t.add(command, args, weight, len(s.engine.shards))
	s.local.out.SimpleString("QUEUED")
	s.answered()
	return nil
}

// unfit says why a command cannot be queued; empty when it can.
func (s *Session) unfit(command *Command, args [][]byte, weight int) string {
	t, limits := s.deals.open, &s.engine.limits
	switch {
	case command.Flags&NoMulti != 0:
		return NotInMulti.Text()
	case !command.Keys.fit(args, limits.Key):
		return KeyTooLong.Text(limits.Key)
	case len(t.calls) >= limits.Transaction:
		return TransactionLong.Text(limits.Transaction)
	case t.bytes+weight > limits.TransactionBytes:
		return TransactionLarge.Text(limits.TransactionBytes)
	}
	return ""
}

// Refuse answers the next command of the pipeline with an error: one that is not
// run, with its words, or nil where there are none. An open transaction will not run
// then. It returns the error as it is sent.
func (s *Session) Refuse(args [][]byte, text string) string {
	if s.InMulti() {
		s.deals.open.dirty = true
	}
	if len(args) > 0 {
		if row := s.engine.table.Lookup(args[0]); row != nil && row.Scope == OnQueue {
			s.drop()
			text = ExecRefused.Text(strings.TrimPrefix(text, "ERR "))
		}
	}
	s.local.out.Error(text)
	s.answered()
	return text
}

// exec is EXEC. The transaction runs where its keys are: with the batch of their
// shard when they all live in one, through the door otherwise.
func (s *Session) exec(command *Command, args [][]byte) error {
	if !s.InMulti() || s.deals.open.dirty {
		s.runHere(command, args)
		return nil
	}
	d, t := s.deals, s.deals.open
	d.open = nil
	for _, i := range d.watching {
		t.span, t.watchers = insert(t.span, i), append(t.watchers, d.watchers[i])
	}
	d.watching = d.watching[:0]
	clear(d.watched)
	if len(t.span) == 1 && !t.local {
		d.sent = append(d.sent, t)
		return s.queue(t.span[0], queued{command: command, args: args, db: s.db, transaction: t})
	}
	s.call.transaction = t
	err := s.execHere(command, args, t)
	s.call.transaction = nil
	d.recycle(t)
	return err
}

// execHere runs a transaction on the caller's goroutine.
func (s *Session) execHere(command *Command, args [][]byte, t *transaction) error {
	switch {
	case t.wide:
		return s.through(command, args, s.engine.all)
	case len(t.span) > 0:
		return s.through(command, args, t.span)
	}
	if err := s.settle(); err != nil {
		return err
	}
	s.runHere(command, args)
	return nil
}

// turn ends a pipeline: what was sent has run, and the read buffer is used again.
func (d *dealings) turn() {
	if d.open != nil {
		d.open.keep()
	}
	for i, t := range d.sent {
		d.recycle(t)
		d.sent[i] = nil
	}
	d.sent = d.sent[:0]
}

// recycle keeps a transaction for the next MULTI.
func (d *dealings) recycle(t *transaction) {
	if len(d.idle) < keptIdle {
		t.reset()
		d.idle = append(d.idle, t)
	}
}

// discard drops the open transaction and ends all watching; false when none was
// open, and nothing is changed.
func (s *Session) discard() bool {
	if !s.InMulti() {
		return false
	}
	s.deals.recycle(s.deals.open)
	s.deals.open = nil
	s.unwatch()
	return true
}

// drop drops the open transaction, if there is one, and ends all watching.
func (s *Session) drop() {
	if !s.discard() {
		s.unwatch()
	}
}

// watch is WATCH outside of a transaction.
func (s *Session) watch(c *Call) {
	d := s.dealing()
	var fresh []place
	seen := make(map[place]struct{})
	c.Command.Keys.Each(c.Args, func(key []byte) {
		p := place{s.db, string(key)}
		_, known := d.watched[p]
		if _, twice := seen[p]; !known && !twice {
			seen[p] = struct{}{}
			fresh = append(fresh, p)
		}
	})
	switch {
	case !c.Command.Keys.fit(c.Args, s.engine.limits.Key):
		c.Fail(KeyTooLong, s.engine.limits.Key)
	case len(d.watched)+len(fresh) > s.engine.limits.Watches:
		c.Fail(TooManyWatches, s.engine.limits.Watches)
	default:
		for _, p := range fresh {
			s.watchOne(p)
		}
		c.Out.OK()
	}
}

// watchOne begins to watch a key, on the goroutine of its shard.
func (s *Session) watchOne(p place) {
	d, i := s.deals, route([]byte(p.key), len(s.engine.shards))
	if d.watched == nil {
		d.watched = make(map[place]struct{})
	}
	if d.watchers[i] == nil {
		d.watchers[i] = &shard.Watcher{}
	}
	d.watched[p] = struct{}{}
	d.watching = insert(d.watching, i)
	s.engine.On(i, func(_ int, ks *shard.Keyspace, _ *Stats) { d.watchers[i].Watch(ks.Database(p.db), p.key) })
}

// unwatch ends all watching.
func (s *Session) unwatch() {
	if s.deals == nil {
		return
	}
	d := s.deals
	for _, i := range d.watching {
		s.engine.On(i, func(int, *shard.Keyspace, *Stats) { d.watchers[i].Clear() })
	}
	d.watching, d.watched = d.watching[:0], nil
}

// Reset makes the session as it was when it was new: database 0, RESP2, without a
// transaction, watching nothing.
func (s *Session) Reset() {
	s.drop()
	s.SetDB(0)
	s.SetProto(resp.RESP2)
}

// Inherit takes over what another session of the same caller has under way: its
// database, its protocol, its being mute, its transaction and what it watches. The other one must not be used
// again.
func (s *Session) Inherit(from *Session) {
	s.SetDB(from.db)
	s.SetProto(from.Proto())
	s.mute = from.mute
	if d := from.deals; d != nil && (d.open != nil || len(d.watching) > 0) {
		d.idle = nil
		s.deals = d
	}
	from.deals = nil
}

// Close ends all watching: a session whose caller goes away must not stay behind
// in the shards.
func (s *Session) Close() {
	if s.deals == nil {
		return
	}
	s.deals.open = nil
	for i, w := range s.deals.watchers {
		if w != nil { // an EXEC that never ran may have left it armed
			s.engine.On(i, func(int, *shard.Keyspace, *Stats) { w.Clear() })
		}
	}
	s.deals = nil
}

package engine

import "github.com/limitstore/limitstore/shard"

// transactionCommands run several commands at once.
func transactionCommands() []Command {
	always := NoScript | Loading | Stale
	return []Command{{
		Name: "MULTI", Group: Transactions, Since: "0.1.0", Summary: "Begins a transaction: the commands that follow are queued until EXEC.", Complexity: "O(1)",
		Flags: always | Fast | AtOnce, Scope: Here, Run: runMulti, Reply: "OK; then QUEUED for each command",
		Examples: []Example{{"MULTI", "OK"}, {"INCR hits", "QUEUED"}, {"PEXPIRE hits 60000 NX", "QUEUED"}, {"EXEC", "1) (integer) 1\n2) (integer) 1"}},
		Notes:    "A command that does not exist, has too few or too many words, or goes beyond a limit is refused at once, and EXEC will not run then.",
	}, {
		Name: "EXEC", Group: Transactions, Since: "0.1.0", Summary: "Runs the transaction: all of its commands, at one time, with nobody in between.", Complexity: "O(N) with N the work of its commands",
		Flags: always | SkipSlowlog | AtOnce, Scope: OnQueue, Run: runExec, Reply: "array: the replies; nil when a watched key was touched",
		Examples: []Example{{"MULTI", "OK"}, {"SET a x", "QUEUED"}, {"INCR a", "QUEUED"}, {"GET a", "QUEUED"}, {"EXEC", "1) OK\n2) (error) ERR value is not an integer or out of range\n3) \"x\""}, {"EXEC", "(error) ERR EXEC without MULTI"}},
		Notes:    "As in Redis, an error of one command leaves what the others did. Time stands still: a key does not expire between two of them.",
	}, {
		Name: "DISCARD", Group: Transactions, Since: "0.1.0", Summary: "Drops the transaction and ends all watching.", Complexity: "O(N) with N the number of watched keys",
		Flags: always | Fast | AtOnce, Scope: Here, Run: runDiscard, Reply: "OK",
		Examples: []Example{{"MULTI", "OK"}, {"SET a 1", "QUEUED"}, {"DISCARD", "OK"}, {"GET a", "(nil)"}},
	}, {
		Name: "WATCH", Group: Transactions, Since: "0.1.0", Summary: "Makes the next EXEC run only if none of the keys is touched until then.", Complexity: "O(1) for each key",
		Args: []Arg{{Name: "key", Type: Key, Multiple: true}}, Keys: Keys{First: 1, Last: -1, Step: 1}, Flags: always | Fast | Fence | AtOnce, Scope: Here, Run: runWatch, Reply: "OK",
		Examples: []Example{{"SET a 1", "OK"}, {"WATCH a", "OK"}, {"SET a 2", "OK"}, {"MULTI", "OK"}, {"INCR a", "QUEUED"}, {"EXEC", "(nil)"}},
		Notes:    "A change by the same connection counts, too; a request that a limiter denies changes nothing. EXEC, DISCARD, UNWATCH and RESET end the watching.",
	}, {
		Name: "UNWATCH", Group: Transactions, Since: "0.1.0", Summary: "Ends all watching.", Complexity: "O(N) with N the number of watched keys",
		Flags: always | Fast, Scope: Here, Run: runUnwatch, Reply: "OK", Examples: []Example{{"WATCH a", "OK"}, {"UNWATCH", "OK"}},
	}}
}

// transaction is what a session has queued between MULTI and EXEC. One that is
// executed belongs to the shard's goroutine, or to the door's caller, until it has
// run.
type transaction struct {
	calls    []queued
	kept     int      // calls whose words are copies; the others' are views of the read buffer
	words    [][]byte // room for the words of copies
	room     []byte   // room for their bytes
	bytes    int      // what the calls weigh: see weigh
	dirty    bool     // a command was refused: it will not run
	span     []int    // the shards of the keys, ascending
	wide     bool     // a command works on every shard
	local    bool     // a command asks for the session: none runs on a shard's goroutine
	watchers []*shard.Watcher
	inside   execution
}

// wordBytes is what a queued word takes beside its bytes, callBytes what a
// command does.
const wordBytes, callBytes = 24, 64

// weigh is the memory that a queued command takes, about.
func weigh(args [][]byte) int {
	n := callBytes + wordBytes*len(args)
	for _, word := range args {
		n += len(word)
	}
	return n
}

// add queues a command whose words stay as they are until keep.
func (t *transaction) add(command *Command, args [][]byte, weight, shards int) {
	t.calls = append(t.calls, queued{command: command, args: args})
	t.bytes += weight
	switch {
	case command.Scope == Here:
		t.local = true
	case command.Scope != OnKeys, command.Flags&Scripted != 0:
		t.wide, t.local = true, true
	case command.Keys == OneKey:
		t.span = insert(t.span, route(args[1], shards))
	default:
		t.span = command.Keys.span(t.span, args, shards)
	}
}

// Room is made for so much at once at most, and so much is kept for reuse.
const (
	roomBytes = 16 << 10
	roomWords = 1 << 10
)

// keep copies the words of the calls added since it was last called, for the
// read buffer is about to be used again.
func (t *transaction) keep() {
	bytes, words := 0, 0
	for _, q := range t.calls[t.kept:] {
		words += len(q.args)
		for _, word := range q.args {
			bytes += len(word)
		}
	}
	t.room, t.words = spacious(t.room, bytes, roomBytes), spacious(t.words, words, roomWords)
	for i := range t.calls[t.kept:] {
		q := &t.calls[t.kept+i]
		first := len(t.words)
		for _, word := range q.args {
			at := len(t.room)
			t.room = append(t.room, word...)
			t.words = append(t.words, t.room[at:len(t.room):len(t.room)])
		}
		q.args = t.words[first:len(t.words):len(t.words)]
	}
	t.kept = len(t.calls)
}

// spacious has room for n more: s itself, or in its place an empty slice twice as
// large, while views of s stay what they are.
func spacious[T any](s []T, n, most int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	return make([]T, 0, max(n, min(2*cap(s), most)))
}

// run is EXEC: on a shard's goroutine or where the shards stand.
func (t *transaction) run(c *Call) {
	touched := false
	for _, w := range t.watchers {
		touched = w.Touched() || touched
		w.Clear()
	}
	if touched {
		c.Out.NullArray()
		return
	}
	c.Out.Array(len(t.calls))
	t.inside.begin(c)
	for _, q := range t.calls {
		t.inside.do(q.command, q.args)
	}
	t.inside.end()
}

// reset empties t for another MULTI.
func (t *transaction) reset() {
	clear(t.calls)
	clear(t.words)
	clear(t.watchers)
	*t = transaction{calls: t.calls[:0], words: t.words[:0], room: t.room[:0], span: t.span[:0], watchers: t.watchers[:0]}
	if cap(t.room) > roomBytes || cap(t.words) > roomWords || cap(t.calls) > roomWords {
		t.room, t.words, t.calls = nil, nil, nil
	}
}

func runMulti(c *Call) {
	if !c.Session.multi() {
		c.Fail(NestedMulti)
		return
	}
	c.Out.OK()
}

func runExec(c *Call) {
	switch {
	case c.transaction != nil:
		c.transaction.run(c)
	case c.Session.discard():
		c.Fail(ExecAborted)
	default:
		c.Fail(ExecWithoutMulti)
	}
}

func runDiscard(c *Call) {
	if !c.Session.discard() {
		c.Fail(DiscardWithoutMulti)
		return
	}
	c.Out.OK()
}

func runWatch(c *Call) {
	if c.Session.InMulti() {
		c.Fail(WatchInMulti)
		return
	}
	c.Session.watch(c)
}

func runUnwatch(c *Call) {
	c.Session.unwatch()
	c.Out.OK()
}

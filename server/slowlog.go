package server

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/limit"
)

// slowlogCommands show the commands that took long.
func slowlogCommands() []engine.Command {
	flags := engine.Admin | engine.Loading | engine.Stale
	return []engine.Command{{
		Name: "SLOWLOG", Group: engine.Server, Since: since, Summary: "A container for commands about the slow log.", Complexity: "Depends on subcommand.",
		Reply: "depends on the subcommand", Examples: []engine.Example{{In: "SLOWLOG LEN", Out: "(integer) 0"}},
		Notes: "A command is logged that took at least slowlog-log-slower-than, in microseconds; -1 is never. The time is that of running it, without waiting for its turn. " +
			"Commands flagged fast take microseconds, and are not timed: reading the clock twice would cost as much. They are timed, and logged, " +
			"while slowlog-log-slower-than is below 1000 or latency-monitor-threshold is not 0. Passwords are not shown.",
		Subs: []engine.Command{{
			Name: "GET", Group: engine.Server, Since: since, Summary: "Returns the latest entries of the slow log.", Complexity: "O(N) with N the number of entries", Flags: flags, Scope: engine.Here,
			Args: []engine.Arg{{Name: "count", Type: engine.Integer, Optional: true}}, Run: of((*conn).slowlogGet),
			Reply:    "array, the latest first: number, Unix seconds, microseconds, words, address and name of the client; 10 unless count says otherwise, -1 is all",
			Examples: []engine.Example{{In: "SLOWLOG GET 2", Out: "(empty array)"}},
			Notes:    "As in Redis, 32 words of a command are kept, and 128 bytes of each.",
		}, {
			Name: "LEN", Group: engine.Server, Since: since, Summary: "Counts the entries of the slow log.", Complexity: "O(1)", Flags: flags, Scope: engine.Here,
			Run: of(func(c *conn, call *engine.Call) { call.Out.Int(int64(len(c.server.slow.latest(-1)))) }), Reply: "integer", Examples: []engine.Example{{In: "SLOWLOG LEN", Out: "(integer) 0"}},
		}, {
			Name: "RESET", Group: engine.Server, Since: since, Summary: "Empties the slow log.", Complexity: "O(N) with N the number of entries", Flags: flags, Scope: engine.Here,
			Run: of(func(c *conn, call *engine.Call) { c.server.slow.reset(); call.Out.OK() }), Reply: "OK", Examples: []engine.Example{{In: "SLOWLOG RESET", Out: "OK"}},
		}, helpCommand(engine.Server)},
	}}
}

// Thresholds say which commands are slow.
type Thresholds struct {
	Slower  int64 // microseconds from which the slow log has them; below 0: never
	Kept    int   // entries of the slow log
	Latency int64 // milliseconds from which LATENCY has them; 0: never
}

// RedisThresholds are Redis' defaults.
var RedisThresholds = Thresholds{Slower: 10_000, Kept: 128}

// everyBelow is the threshold below which fast commands are timed too.
const everyBelow = time.Millisecond

// As Redis keeps them: words of a command, bytes of a word.
const (
	mostWords = 32
	wordBytes = 128
)

// slowness is what is known of commands that took long. Sessions and shards tell
// it.
type slowness struct {
	threshold atomic.Int64 // of the slow log in nanoseconds; below 0: never
	monitor   atomic.Int64 // of LATENCY in nanoseconds; 0: never
	every     atomic.Bool  // fast commands are timed too

	mu      sync.Mutex
	entries []slowCall // the latest last
	kept    int
	next    int64 // the number of the next entry
	events  [latencyEvents]latencyEvent
}

// slowCall is an entry of the slow log.
type slowCall struct {
	number     int64
	at         limit.Instant
	took       time.Duration
	words      []string
	addr, name string
}

// nanos and micros convert the threshold, which is below 0 for never.
func nanos(micros int64) int64 {
	if micros < 0 {
		return -1
	}
	return micros * int64(time.Microsecond)
}

func micros(nanos int64) int64 {
	if nanos < 0 {
		return -1
	}
	return nanos / int64(time.Microsecond)
}

// set begins with thresholds.
func (s *slowness) set(t Thresholds) {
	s.watchFor(nanos(t.Slower), t.Latency*int64(time.Millisecond))
	s.keep(t.Kept)
}

// watchFor changes the thresholds, in nanoseconds.
func (s *slowness) watchFor(threshold, monitor int64) {
	s.threshold.Store(threshold)
	s.monitor.Store(monitor)
	s.every.Store(threshold >= 0 && threshold < int64(everyBelow) || monitor > 0)
}

// keep bounds the slow log to n entries.
func (s *slowness) keep(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = n
	s.trim()
}

// trim drops the oldest entries that are too many. mu must be held.
func (s *slowness) trim() {
	if extra := len(s.entries) - s.kept; extra > 0 {
		s.entries = slices.Delete(s.entries, 0, extra)
	}
}

// most is how many entries are kept.
func (s *slowness) most() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept
}

func (s *slowness) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = nil
}

// latest lists at most n entries, the latest first; all when n is below 0.
func (s *slowness) latest(n int) []slowCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < 0 || n > len(s.entries) {
		n = len(s.entries)
	}
	some := slices.Clone(s.entries[len(s.entries)-n:])
	slices.Reverse(some)
	return some
}

// took is told of a command that was timed, on the goroutine that ran it.
func (c *conn) took(command *engine.Command, args [][]byte, at limit.Instant, took time.Duration) {
	if command.Scope == engine.Here || command.Scope == engine.EachShard { // no shard counts those
		c.server.counts.timed[command.ID()].Add(1)
		c.server.counts.took[command.ID()].Add(uint64(took))
	}
	s := &c.server.slow
	if monitor := s.monitor.Load(); monitor > 0 && int64(took) >= monitor {
		s.sample(command, at, took)
	}
	if threshold := s.threshold.Load(); threshold >= 0 && int64(took) >= threshold {
		s.add(slowCall{at: at, took: took, words: shortened(command, args), addr: c.raw.RemoteAddr().String(), name: c.identity.Load().name})
	}
}

// add keeps one more entry.
func (s *slowness) add(entry slowCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry.number = s.next
	s.next++
	s.entries = append(s.entries, entry)
	s.trim()
}

// shortened is a command as the slow log keeps it, passwords taken out.
func shortened(command *engine.Command, args [][]byte) []string {
	secret := secretWords(command, args)
	shown := min(len(args), mostWords)
	words := make([]string, 0, shown)
	for i, word := range args[:shown] {
		switch {
		case i == mostWords-1 && len(args) > mostWords:
			words = append(words, fmt.Sprintf("... (%d more arguments)", len(args)-mostWords+1))
		case secret(i):
			words = append(words, "(redacted)")
		case len(word) > wordBytes:
			words = append(words, fmt.Sprintf("%s... (%d more bytes)", word[:wordBytes], len(word)-wordBytes))
		default:
			words = append(words, string(word))
		}
	}
	return words
}

// secretWords says which words of a command are secret: those of AUTH, and
// HELLO's from its AUTH on; the values of CONFIG SET that are never shown.
func secretWords(command *engine.Command, args [][]byte) func(int) bool {
	before := func(i int, word string) bool { return i > 1 && engine.EqualFold(args[i-1], word) }
	switch {
	case command.Flags&engine.NoAuth != 0 && command.Args != nil && command.Args[0].Type != engine.Block:
		return func(i int) bool { return i > 0 }
	case command.Flags&engine.NoAuth != 0:
		return func(i int) bool {
			return before(i, "AUTH") || i > 2 && before(i-1, "AUTH")
		}
	}
	return func(i int) bool { return before(i, "REQUIREPASS") }
}

// slowlogGet is SLOWLOG GET.
func (c *conn) slowlogGet(call *engine.Call) {
	n := int64(10)
	switch len(call.Args) {
	case 2:
	case 3:
		asked, ok := engine.Int(call.Args[2])
		if !ok || asked < -1 {
			fail(call, failSlowlogCount)
			return
		}
		n = min(asked, MostSlowlog)
	default:
		failWords(call)
		return
	}
	some := c.server.slow.latest(int(n))
	call.Out.Array(len(some))
	for _, e := range some {
		call.Out.Array(6)
		call.Out.Int(e.number)
		call.Out.Int(int64(e.at) / int64(time.Second))
		call.Out.Int(e.took.Microseconds())
		writeBulks(call.Out, e.words)
		call.Out.BulkString(e.addr)
		call.Out.BulkString(e.name)
	}
}

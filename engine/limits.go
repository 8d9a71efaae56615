package engine

import (
	"cmp"
	"time"

	"github.com/limitstore/limitstore/engine/script"
)

// Limits bounds what one pipeline and one key may cost. The zero value of a
// field means its default.
type Limits struct {
	Key      int // longest key in bytes
	Value    int // longest string value in bytes
	Elements int // most elements of a hash, set, sorted set or list
	Pipeline int // commands run before their replies are written
	Reply    int // reply bytes after which a batch pauses until they are written
	Output   int // most reply bytes of one connection held at once; beyond it the connection is closed
	Inbox    int // batches waiting per shard; beyond it connections wait
	Memory   int // bytes of all shards together, each having an equal part; 0: no limit

	Transaction      int // commands of one transaction
	TransactionBytes int // bytes that they take
	Watches          int // keys that one connection watches

	Script      int           // longest script in bytes
	Scripts     int           // scripts that EVAL leaves in the cache
	ScriptCache int           // bytes of all scripts in the cache, each counting 1 KiB and 8 times its source
	ScriptSteps int           // instructions of one run
	ScriptBytes int           // bytes that one run may take
	ScriptTime  time.Duration // that one run may take
}

// LeastShardMemory is the least part of Limits.Memory a shard can do with, in
// bytes: below it, a chunk for each size of record would be most of it.
const LeastShardMemory = 2 << 20

// DefaultLimits are the limits without flags.
func DefaultLimits() Limits {
	return Limits{
		Key: 64 << 10, Value: 64 << 20, Elements: 1 << 20, Pipeline: 4096, Reply: 1 << 20, Output: 256 << 20, Inbox: 1024,
		Transaction: 64 << 10, TransactionBytes: 128 << 20, Watches: 1024,
		Script: 1 << 20, Scripts: 500, ScriptCache: 64 << 20, ScriptSteps: script.DefaultSteps, ScriptBytes: script.DefaultBytes, ScriptTime: script.DefaultDuration,
	}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	for _, f := range []struct{ field, standard *int }{
		{&l.Key, &d.Key}, {&l.Value, &d.Value}, {&l.Elements, &d.Elements}, {&l.Pipeline, &d.Pipeline},
		{&l.Reply, &d.Reply}, {&l.Output, &d.Output}, {&l.Inbox, &d.Inbox},
		{&l.Transaction, &d.Transaction}, {&l.TransactionBytes, &d.TransactionBytes}, {&l.Watches, &d.Watches},
		{&l.Script, &d.Script}, {&l.Scripts, &d.Scripts}, {&l.ScriptCache, &d.ScriptCache}, {&l.ScriptSteps, &d.ScriptSteps}, {&l.ScriptBytes, &d.ScriptBytes},
	} {
		if *f.field == 0 {
			*f.field = *f.standard
		}
	}
	l.ScriptTime = cmp.Or(l.ScriptTime, d.ScriptTime)
	return l
}

// LimitRow is one named limit as docs/limits.md shows it.
type LimitRow struct {
	Name    string
	Default string
	Flag    string // empty: fixed
	WhenHit string
}

// LimitRows are the limits of commands and keys, for docs/limits.md.
func LimitRows() []LimitRow {
	return []LimitRow{
		{"length of a key", "", "--max-key", "the command is refused; nothing is changed"},
		{"length of a string value", "", "--max-value", "the command is refused; nothing is changed"},
		{"elements of a hash, set, sorted set or list", "", "--max-elements", "the command is refused; nothing is changed"},
		{"memory of one hash, set, sorted set or list, reckoning up to 128 bytes an element beside its own", "512 MiB", "", "the command is refused; nothing is changed"},
		{"elements drawn with repetitions by one SRANDMEMBER, HRANDFIELD or ZRANDMEMBER", "", "--max-elements", "the command is refused"},
		{"steps of matching of one HSCAN, SSCAN or ZSCAN", "16777216", "", "the command is refused"},
		{"capacity, limit, tokens, cost", "1 to 1000000000000", "", "the command is refused, naming the range"},
		{"period, window, longest wait", "1 ms to 10 years", "", "the command is refused, naming the range"},
		{"limit of a sliding window log", "1 to 100000", "", "the command is refused, naming the range; its memory grows with the limit"},
		{"time until a limiter is as if never seen", "100 years", "", "the command is refused; nothing is charged"},
		{"length of a pattern", "", "--max-key", "the command is refused"},
		{"memory of records, index and wheels", "", "--maxmemory", "0: none. Limiter states that deny nobody are given up, first what is closest to as if never seen; when there are none, commands that may make it grow are refused with OOM; each shard has an equal part"},
		{"memory above --maxmemory", "what one command adds, and 64 KiB", "", "the next command that may make it grow gives up limiter state or is refused first; 64 KiB more for each size of record (of about 45) in each database in use as far as they come to more than half of a shard's part"},
		{"limiter states given up for one command", "256", "", "the command is refused with OOM if that was not enough; the next goes on"},
		{"limiter states looked at to find one to give up", "16 that may go, 1024 in all", "", "the best of them goes; if none may the command is refused with OOM, and the next looks on"},
		{"memory of one database in one shard", "32 GiB, or 524287 values above 16 KiB", "", "commands that may make it grow are refused with OOM; 256 chunks are kept for the others"},
		{"databases", "16", "", "SELECT of another is refused"},
		{"commands of one connection queued before they run", "", "--pipeline", "they run, then the next ones are queued; nothing is refused"},
		{"bytes of replies before they are written", "1 MiB", "", "the pipeline pauses until they are written"},
		{"bytes of replies of one shard, or of one command over several, held for one connection", "", "--output-buffer", "the connection is closed"},
		{"commands of one transaction", "", "--transaction", "the command is refused; EXEC will not run"},
		{"bytes of one transaction, 24 for each word and 64 for each command beside their own", "", "--transaction-buffer", "the command is refused; EXEC will not run"},
		{"keys that one connection watches", "1024", "", "WATCH is refused; what is watched already stays so"},
		{"length of a script", "1 MiB", "", "the command is refused"},
		{"scripts that EVAL leaves in the cache", "500", "", "the oldest is dropped: EVALSHA of it answers NOSCRIPT. Those of SCRIPT LOAD stay"},
		{"bytes of the cache of scripts, a script counting 1 KiB and 8 times its length", "64 MiB", "", "scripts that EVAL left are dropped, the oldest first; then SCRIPT LOAD is refused, and EVAL caches nothing"},
		{"instructions of one script", "200000000", "", "the script is stopped, with an error, and has changed nothing"},
		{"memory that one script takes, counting what it let go of and what would take back its changes", "", "--script-memory", "the script is stopped, with an error, and has changed nothing"},
		{"time that one script takes", "", "--script-time", "the script is stopped, with an error, and has changed nothing; commands for its shards wait until then"},
		{"pipelines waiting at one shard", "", "--inbox", "further connections wait, and are not read meanwhile"},
		{"pipelines run under one reading of the clock", "64", "", "the shard reads the clock again and goes on"},
		{"expired keys freed between two rounds of pipelines", "32; 256 in a round without one", "", "the rest is freed after the next round, or after 250 µs; what has expired is absent either way. When memory is full as many are freed before each command that may make it grow"},
	}
}

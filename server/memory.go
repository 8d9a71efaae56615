package server

import (
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"strings"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/shard"
)

// memoryCommands tell what memory is spent on.
func memoryCommands() []engine.Command {
	sub := func(name, summary string, run func(*conn, *engine.Call), reply string, examples ...engine.Example) engine.Command {
		return engine.Command{
			Name: name, Group: engine.Server, Since: since, Summary: summary, Complexity: "O(N) with N the number of shards",
			Scope: engine.EachShard, Run: of(run), Reply: reply, Examples: examples,
		}
	}
	purge := sub("PURGE", "Gives memory that is not in use back to the system.", (*conn).memoryPurge, "OK", engine.Example{In: "MEMORY PURGE", Out: "OK"})
	purge.Notes = "Records move out of sparse chunks, some at a time; then all garbage is collected and every free page returned, which takes a while with much memory."
	malloc := sub("MALLOC-STATS", "Shows what Go's runtime says of its memory.", (*conn).memoryMalloc, "string: a name and a number of bytes on each line; the names are those of Go's package runtime/metrics")
	return []engine.Command{{
		Name: "MEMORY", Group: engine.Server, Since: since, Summary: "A container for commands about memory.", Complexity: "Depends on subcommand.",
		Reply: "depends on the subcommand", Examples: []engine.Example{{In: "MEMORY SIZE", Out: "(error) ERR unknown subcommand 'SIZE'. Try MEMORY HELP."}},
		Subs: []engine.Command{
			memoryUsage(),
			sub("STATS", "Shows what memory is spent on.", (*conn).memoryStats, "map: Redis' names where they are true here; bytes unless it is a count, a ratio or a percentage"),
			sub("DOCTOR", "Says what about memory an operator should know.", (*conn).memoryDoctor, "string: a line for each finding",
				engine.Example{In: "MEMORY DOCTOR", Out: `"maxmemory is 0: keys may take all memory there is.\n"`}),
			purge, malloc, helpCommand(engine.Server),
		},
	}}
}

func memoryUsage() engine.Command {
	return engine.Command{
		Name: "USAGE", Group: engine.Server, Since: since, Summary: "Tells how much memory a key takes.", Complexity: "O(1)",
		Args: []engine.Arg{{Name: "key", Type: engine.Key}, {Name: "count", Type: engine.Integer, Token: "SAMPLES", Optional: true}},
		Keys: engine.Keys{First: 2, Last: 2, Step: 1}, Flags: engine.ReadOnly, Run: runMemoryUsage,
		Reply: "integer: bytes of the record and its place in the index; nil when there is no key",
		Examples: []engine.Example{
			{In: "TB.TAKE user:42 10 1 6s", Out: "1) (integer) 1\n2) (integer) 10\n3) (integer) 9\n4) (integer) 0\n5) (integer) 6000"},
			{In: "MEMORY USAGE user:42", Out: "(integer) 65"}, {In: "MEMORY USAGE nobody", Out: "(nil)"},
		},
		Notes: "SAMPLES is read and makes no difference: nothing is estimated.",
	}
}

func runMemoryUsage(c *engine.Call) {
	for rest := c.Args[3:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) < 2 || !engine.EqualFold(rest[0], "SAMPLES") {
			c.Fail(engine.Syntax)
			return
		}
		if n, ok := engine.Int(rest[1]); !ok || n < 0 {
			c.Fail(map[bool]engine.ErrorID{true: engine.Syntax, false: engine.NotInteger}[ok])
			return
		}
	}
	db := c.Database(c.Args[2])
	e := db.Lookup(c.Args[2])
	if !e.Exists() {
		c.Out.Null()
		return
	}
	c.Out.Int(int64(db.Size(&e)))
}

// memoryNow is what memory comes to.
type memoryNow struct{ used, peak, dataset int64 }

func (c *census) memoryNow() memoryNow {
	used := c.memory.Total()
	return memoryNow{used: used, peak: max(used, c.watch.peak), dataset: c.memory.Records + c.memory.Values}
}

// overhead is what is not records: index, wheels, and memory kept for records to
// come.
func (m memoryNow) overhead() int64 { return m.used - m.dataset }

// share is a part of a whole in percent; all of nothing.
func (m memoryNow) share(part, whole int64) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}

// usedMemory is the memory of all shards, who are asked one after another.
func (s *Server) usedMemory() (used int64) {
	s.engine.Each(func(_ int, ks *shard.Keyspace, _ *engine.Stats) { used += ks.Memory() })
	return used
}

// memoryStats is MEMORY STATS.
func (c *conn) memoryStats(call *engine.Call) {
	now := c.server.census(call.Each)
	m, resident, keys, used := now.memoryNow(), int64(residentBytes()), int64(0), 0
	for i := range now.databases {
		if p := &now.databases[i]; p.keys > 0 {
			keys, used = keys+int64(p.keys), used+1
		}
	}
	out := call.Out
	number := func(name string, n int64) { out.BulkString(name); out.Int(n) }
	ratio := func(name string, f float64) { out.BulkString(name); out.Double(f) }
	out.Map(12 + used)
	number("peak.allocated", m.peak)
	number("total.allocated", m.used)
	number("replication.backlog", 0)
	number("aof.buffer", 0)
	for i := range now.databases {
		if p := &now.databases[i]; p.keys > 0 {
			out.BulkString(fmt.Sprintf("db.%d", i))
			out.Map(2)
			number("overhead.hashtable.main", p.memory.Index)
			number("overhead.hashtable.expires", p.memory.Wheels)
		}
	}
	number("overhead.total", m.overhead())
	number("keys.count", keys)
	number("keys.bytes-per-key", m.used/max(1, keys))
	number("dataset.bytes", m.dataset)
	ratio("dataset.percentage", m.share(m.dataset, m.used))
	ratio("peak.percentage", m.share(m.used, m.peak))
	number("allocator.allocated", int64(heapInUse()))
	number("fragmentation.bytes", resident-m.used)
}

// memoryDoctor is MEMORY DOCTOR.
func (c *conn) memoryDoctor(call *engine.Call) {
	now, most := c.server.census(call.Each), int64(c.server.engine.Limits().Memory)
	m := now.memoryNow()
	var found strings.Builder
	if most == 0 {
		found.WriteString("maxmemory is 0: keys may take all memory there is.\n")
	}
	if most > 0 && m.used > most/10*9 {
		fmt.Fprintf(&found, "Keys take %s of the %s that maxmemory allows.\n", human(uint64(m.used)), human(uint64(most)))
	}
	if now.counts.Evicted > 0 {
		fmt.Fprintf(&found, "%d limiter states that owed %d were given up: as many requests more may have been admitted. Raise maxmemory.\n", now.counts.Evicted, now.counts.EvictedDebt)
	}
	if n := now.stats.Errors["OOM"]; n > 0 {
		fmt.Fprintf(&found, "%d commands were refused because memory was full. Raise maxmemory.\n", n)
	}
	if free := now.memory.Free; free > m.used/4 && free > 16<<20 {
		fmt.Fprintf(&found, "%s are kept for records to come. MEMORY PURGE gives back what it can.\n", human(uint64(free)))
	}
	if found.Len() == 0 {
		found.WriteString("Memory is as it should be.\n")
	}
	call.Out.Verbatim("txt", found.String())
}

// memoryPurge is MEMORY PURGE. Each step asks a shard for one chunk, so that others
// are served in between, unless it is part of a transaction or a script.
func (c *conn) memoryPurge(call *engine.Call) {
	for i := range c.server.engine.Shards() {
		for more := true; more; {
			more = false
			call.On(i, func(_ int, ks *shard.Keyspace, _ *engine.Stats) { more = ks.Compact() })
		}
	}
	debug.FreeOSMemory()
	call.Out.OK()
}

// memoryMalloc is MEMORY MALLOC-STATS.
func (c *conn) memoryMalloc(call *engine.Call) {
	var samples []metrics.Sample
	for _, d := range metrics.All() {
		if strings.HasPrefix(d.Name, "/memory/classes/") && d.Kind == metrics.KindUint64 {
			samples = append(samples, metrics.Sample{Name: d.Name})
		}
	}
	metrics.Read(samples)
	var text strings.Builder
	for _, s := range samples {
		fmt.Fprintf(&text, "%s %d\n", s.Name, s.Value.Uint64())
	}
	call.Out.Verbatim("txt", text.String())
}

package compare

// contender is one server with one workload: a line of a table.
type contender struct {
	name     string // as tables call it
	server   string // key of servers
	workload string // of bench/load
}

// The servers that can be started, by name.
const (
	ours   = "limitstore"
	theirs = "redis"
	single = "limitstore --shards 1"
	double = "limitstore --shards 2"
)

// The contenders.
var (
	take      = contender{"limitstore TB.TAKE", ours, "uniform"}
	count     = contender{"limitstore INCR", ours, "incr"}
	incr      = contender{"Redis INCR", theirs, "incr"}
	gcra      = contender{"Redis GCRA script", theirs, "gcra"}
	script    = contender{"Redis token bucket script", theirs, "script"}
	oneShard  = contender{"one shard", single, "uniform"}
	twoShards = contender{"two shards", double, "uniform"}
)

// part is one of the comparisons.
type part struct {
	name       string
	title      string
	about      string
	pinned     bool // each server on one processor, the load on another
	contenders []contender
	play       func(*session, part) error
	table      func(Results, part) string
}

// parts are all comparisons, in the order of the page.
func parts() []part {
	all := []contender{incr, take, count, gcra, script}
	return []part{
		{
			name: "light", title: "What the machine can do",
			about: "The floor under all figures below, in nanoseconds, measured in the same run.",
			play:  playLight, table: lightTable,
		},
		{
			name: "one-core", title: "One core each", pinned: true,
			about:      "The server on one core with GOMAXPROCS=1, the load generator on another. Closed load.",
			contenders: all, play: playDepths, table: depthTable,
		},
		{
			name: "both-cores", title: "All cores",
			about:      "Default flags, nothing pinned, the cores shared with the load generator. Closed load.",
			contenders: all, play: playDepths, table: depthTable,
		},
		{
			name: "load", title: "Latency at the same load",
			about:      "Open load at depth 1, nothing pinned: both get the same requests a second. Latency counts from when a request was due.",
			contenders: []contender{incr, take}, play: playRates, table: rateTable,
		},
		{
			name: "shards", title: "Two shards against one",
			about:      "Default flags but for --shards, nothing pinned. Closed load.",
			contenders: []contender{oneShard, twoShards}, play: playDepths, table: shardTable,
		},
		{
			name: "workloads", title: "Other workloads",
			about:      "Default flags, nothing pinned, closed load at depth 16. Ratios are to the workload uniform of the same round.",
			contenders: ourWorkloads(), play: playWorkloads, table: workloadTable,
		},
		{
			name: "memory", title: "Bytes for each key",
			about:      "Resident memory of the process divided by its keys of 20 bytes, each of them just made, at eight sizes.",
			contenders: []contender{{take.name, ours, "new"}, incr, gcra, script}, play: playMemory, table: memoryTable,
		},
	}
}

// findPart is the part of that name.
func findPart(name string) (part, bool) {
	for _, p := range parts() {
		if p.name == name {
			return p, true
		}
	}
	return part{}, false
}

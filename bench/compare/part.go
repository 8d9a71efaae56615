package compare

// contender is one server with one workload: a line of a table.
type contender struct {
	name     string // as tables call it
	server   string // key of servers
	workload string // of bench/load
	manyKeys bool   // as many as memory is measured with, not as others have
}

// The servers that can be started, by name.
const (
	ours   = "limitstore"
	theirs = "redis"
	single = "limitstore --shards 1"
	double = "limitstore --shards 2"
	second = "limitstore --shards 0" // the default, in a process of its own
)

// The contenders.
var (
	take      = contender{name: "limitstore TB.TAKE", server: ours, workload: "uniform"}
	count     = contender{name: "limitstore INCR", server: ours, workload: "incr"}
	incr      = contender{name: "Redis INCR", server: theirs, workload: "incr"}
	gcra      = contender{name: "Redis GCRA script", server: theirs, workload: "gcra"}
	script    = contender{name: "Redis token bucket script", server: theirs, workload: "script"}
	oneShard  = contender{name: "one shard", server: single, workload: "uniform"}
	twoShards = contender{name: "two shards", server: double, workload: "uniform"}
	fewKeys   = contender{name: "few keys", server: ours, workload: "uniform"}
	manyKeys  = contender{name: "many keys", server: second, workload: "uniform", manyKeys: true}
)

// part is one of the comparisons.
type part struct {
	name       string
	title      string
	about      string
	pinned     bool // each server on one processor, the load on another
	contenders []contender
	fractions  []float64 // of what the slowest answers at most, offered to all
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
			contenders: []contender{incr, take}, fractions: []float64{0.1, 0.25, 0.5, 0.75, 0.9}, play: playRates, table: rateTable,
		},
		{
			name: "shards", title: "Two shards against one",
			about:      "Default flags but for --shards, nothing pinned. Closed load.",
			contenders: []contender{oneShard, twoShards}, play: playDepths, table: shardTable,
		},
		{
			name: "keys", title: "Many keys against few",
			about:      "Open load at depth 1 and half of what is possible: what the garbage collector and the size of the tables do to latency.",
			contenders: []contender{fewKeys, manyKeys}, fractions: []float64{0.5}, play: playRates, table: rateTable,
		},
		{
			name: "workloads", title: "Other workloads",
			about:      "Default flags, nothing pinned, closed load at depth 16. Ratios are to the workload uniform of the same round.",
			contenders: ourWorkloads(), play: playWorkloads, table: workloadTable,
		},
		{
			name: "memory", title: "Bytes for each key",
			about:      "Resident memory of the process divided by its keys of 20 bytes, each of them just made, at eight sizes.",
			contenders: []contender{{name: take.name, server: ours, workload: "new"}, incr, gcra, script}, play: playMemory, table: memoryTable,
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

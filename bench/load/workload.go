package load

import (
	"fmt"
	"strings"
)

// Pick is how a workload chooses the number in a key.
type Pick int

// The ways of choosing.
const (
	Uniform Pick = iota // each key as likely as any other
	Zipf                // few keys get most: the k-th is chosen as 1/k^1.1
	One                 // always the same
	Fresh               // never one that was there before
)

// zipfExponent is what measured traffic of web caches lies near.
const zipfExponent = 1.1

// Workload is one row of the table: what is sent, and what must come back.
type Workload struct {
	Name     string
	Shows    string   // what it is for, as the documentation says it
	Requests []string // sent in turn; {n} becomes the number of a key in 16 digits, {sha} the script's name
	Pick     Pick
	Prefill  bool   // every request is sent once for every key before the run
	Reply    string // the first byte of the replies: one for all requests, or one for each
	Depths   []int  // of the connections in turn; empty: all have the plan's
	Script   string // loaded before the run
	NeedsLua bool   // servers without EVAL cannot play it
}

// live is a limit whose state outlasts a run: a token takes six minutes to come
// back, and there are enough of them for the busiest key.
const live = "5000000 10 1h"

// Workloads is the table of workloads. Keys have 20 bytes. Those that compare
// servers do the same in each: one number or one bucket for every key, which was
// there before and is there afterwards.
var Workloads = []Workload{
	{
		Name: "uniform", Shows: "a token from one of many buckets, each as likely: the decision itself", Pick: Uniform, Prefill: true, Reply: "*",
		Requests: []string{"TB.TAKE key:{n} " + live},
	},
	{
		Name: "zipf", Shows: "the same with some callers far busier than others, as in real traffic", Pick: Zipf, Prefill: true, Reply: "*",
		Requests: []string{"TB.TAKE key:{n} " + live},
	},
	{
		Name: "hot", Shows: "one key that everybody asks for: no second shard can help", Pick: One, Reply: "*",
		Requests: []string{"TB.TAKE hot:{n} 1000000000 1000000 1s"},
	},
	{
		Name: "denied", Shows: "an attack: every request is refused, and changes nothing", Pick: Uniform, Prefill: true, Reply: "*",
		Requests: []string{"TB.TAKE den:{n} 1 1 365d"},
	},
	{
		Name: "new", Shows: "every request makes a key that stays: growth, and bytes for each key", Pick: Fresh, Reply: "*",
		Requests: []string{"TB.TAKE new:{n} 10 1 1h"},
	},
	{
		Name: "storm", Shows: "every request makes a key, and all keys of a second end at the same instant", Pick: Fresh, Reply: "*",
		Requests: []string{"FW.HIT end:{n} 10 1s"},
	},
	{
		Name: "mixed", Shows: "all families of limiters in turn", Pick: Uniform, Prefill: true, Reply: "*",
		Requests: []string{
			"TB.TAKE key:{n} " + live, "FW.HIT fix:{n} 1000000 1h", "SWC.HIT swc:{n} 1000000 1h",
			"SWL.HIT swl:{n} 100 1h", "LB.TAKE lea:{n} " + live,
		},
	},
	{
		Name: "pipelines", Shows: "deep pipelines beside single requests: connections send 1, 4, 16 and 64 at a time, whatever the depth asked for", Pick: Uniform, Prefill: true, Reply: "*",
		Requests: []string{"TB.TAKE key:{n} " + live}, Depths: []int{1, 4, 16, 64},
	},
	{
		Name: "door", Shows: "single decisions beside commands over two shards, one in 16, for which both must stand", Pick: Uniform, Prefill: true, Reply: strings.Repeat("*", 15) + "+",
		Requests: append(times(15, "TB.TAKE key:{n} "+live), "MSET one:{n} 1 two:{n} 1"),
	},
	{
		Name: "incr", Shows: "a counter: the cheapest write that Redis has, and the measure for the others", Pick: Uniform, Prefill: true, Reply: ":",
		Requests: []string{"INCR cnt:{n}"},
	},
	{
		Name: "gcra", Shows: "the limit as a GCRA script by EVALSHA, as it is done in Redis: one number a key", Pick: Uniform, Prefill: true, Reply: "*",
		Requests: []string{"EVALSHA {sha} 1 gcr:{n} 5000000 10 3600000000 1"}, Script: gcraScript, NeedsLua: true,
	},
	{
		Name: "script", Shows: "the limit as a token bucket script by EVALSHA: a hash with two fields a key", Pick: Uniform, Prefill: true, Reply: "*",
		Requests: []string{"EVALSHA {sha} 1 bkt:{n} 5000000 10 3600000000 1"}, Script: bucketScript, NeedsLua: true,
	},
	{
		Name: "ping", Shows: "no work at all: what a request costs on its way", Pick: One, Reply: "$",
		Requests: []string{"PING pong"},
	},
	{
		Name: "set", Shows: "a string that is overwritten", Pick: Uniform, Prefill: true, Reply: "+",
		Requests: []string{"SET str:{n} 12345678"},
	},
}

// times is n of the same request.
func times(n int, request string) []string {
	all := make([]string, n, n+1)
	for i := range all {
		all[i] = request
	}
	return all
}

// Find is the workload of that name. The error lists the names there are.
func Find(name string) (Workload, error) {
	for _, w := range Workloads {
		if w.Name == name {
			return w, nil
		}
	}
	return Workload{}, fmt.Errorf("there is no workload %q; there are %s", name, strings.Join(Names(), " "))
}

// Names are the names of all workloads, in the table's order.
func Names() []string {
	names := make([]string, len(Workloads))
	for i, w := range Workloads {
		names[i] = w.Name
	}
	return names
}

package compare

import (
	"flag"
	"fmt"
	"strings"

	"github.com/limitstore/limitstore/bench/load"
)

// Reference is the body of docs/bench.md: flags, workloads and comparisons, from the
// tables of the code.
func Reference() string {
	var out strings.Builder
	var s load.Settings
	one := flag.NewFlagSet("bench", flag.ContinueOnError)
	s.AddFlags(one)
	var c settings
	two := flag.NewFlagSet("compare", flag.ContinueOnError)
	c.program = "this program"
	c.addFlags(two)
	out.WriteString("\n## limitstore bench\n\n" + flagTable(one))
	out.WriteString("\n## Workloads\n\nA request whose key has {n} gets a number there, of 16 digits; {sha} is the\n" +
		"name of a script that is in bench/load/script.go. Where several requests are listed they are sent in turn.\n\n" + workloadRows())
	out.WriteString("\n## limitstore bench compare\n\n" + flagTable(two))
	out.WriteString("\n## Comparisons\n\n" + partRows())
	return out.String()
}

// flagTable has a line for each flag.
func flagTable(set *flag.FlagSet) string {
	var rows [][]string
	set.VisitAll(func(f *flag.Flag) {
		typed, help := load.Typed(f)
		standard := ""
		if f.DefValue != "" {
			standard = "`" + f.DefValue + "`"
		}
		rows = append(rows, []string{"`" + typed + "`", standard, help})
	})
	return markdown([]string{"flag", "default", "what it is"}, rows)
}

// keyNames are what a workload's keys are called.
var keyNames = [...]string{load.Uniform: "each as likely", load.Zipf: "few get most", load.One: "one", load.Fresh: "new ones"}

func workloadRows() string {
	var rows [][]string
	for _, w := range load.Workloads {
		requests := "`" + strings.Join(shorten(w.Requests), "`<br>`") + "`"
		rows = append(rows, []string{w.Name, w.Shows, requests, keyNames[w.Pick]})
	}
	return markdown([]string{"workload", "shows", "requests", "keys"}, rows)
}

// shorten names a request that comes several times in a row once, with how often.
func shorten(requests []string) (short []string) {
	for i := 0; i < len(requests); {
		n := 1
		for i+n < len(requests) && requests[i+n] == requests[i] {
			n++
		}
		text := requests[i]
		if n > 1 {
			text = fmt.Sprintf("%d times %s", n, text)
		}
		short, i = append(short, text), i+n
	}
	return short
}

func partRows() string {
	var rows [][]string
	for _, p := range parts() {
		var names []string
		for _, c := range p.contenders {
			names = append(names, c.name)
		}
		rows = append(rows, []string{p.name, p.title, p.about, strings.Join(names, ", ")})
	}
	return markdown([]string{"part", "title", "how", "contenders"}, rows)
}

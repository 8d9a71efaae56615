package compare

import (
	"fmt"
	"slices"
	"strings"
)

// markdown is a table.
func markdown(head []string, rows [][]string) string {
	var out strings.Builder
	line := func(cells []string) { out.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	line(slices.Repeat([]string{"---"}, len(head)))
	for _, row := range rows {
		line(row)
	}
	return out.String()
}

// measure is a figure of runs with its name.
type measure struct {
	name   string
	figure func(Run) float64
}

// The measures.
var (
	cpu        = measure{"server CPU", cpuOf}
	calls      = measure{"reads and writes of the system for each request", callsOf}
	throughput = measure{"requests a second", throughputOf}
	p50        = measure{"p50", p50Of}
	p99        = measure{"p99", p99Of}
	p999       = measure{"p99.9", p999Of}
)

// quotient is one figure of two contenders in relation.
type quotient struct {
	of measure
	a  contender
	b  contender
}

func (q quotient) name() string { return fmt.Sprintf("%s: %s / %s", q.of.name, q.a.name, q.b.name) }

// at divides over the runs of a part that keep says yes to.
func (q quotient) at(r Results, p part, keep func(Run) bool) spread {
	values := func(c contender) map[int]float64 {
		return byRound(r.of(p.name, func(run Run) bool { return run.Contender == c.name && keep(run) }), q.of.figure)
	}
	return ratios(values(q.a), values(q.b))
}

// depths are those that a part was played at.
func (r Results) depths(p part) []int {
	var all []int
	for _, run := range r.of(p.name, anyRun) {
		if !slices.Contains(all, run.Depth) {
			all = append(all, run.Depth)
		}
	}
	slices.Sort(all)
	return all
}

func anyRun(Run) bool { return true }

// atDepth keeps the runs at a depth.
func atDepth(depth int) func(Run) bool { return func(r Run) bool { return r.Depth == depth } }

// overDepths is a table with a column for each depth: a line for the measure of
// each contender, and one for each quotient.
func overDepths(r Results, p part, of measure, unit string, quotients []quotient) string {
	depths := r.depths(p)
	head := []string{""}
	for _, d := range depths {
		head = append(head, fmt.Sprintf("depth %d", d))
	}
	var rows [][]string
	for _, c := range p.contenders {
		row := []string{c.name + ", " + of.name + ", " + unit}
		for _, d := range depths {
			row = append(row, spreadOf(r.of(p.name, func(run Run) bool { return run.Contender == c.name && run.Depth == d }), of.figure).String())
		}
		rows = append(rows, row)
	}
	for _, q := range quotients {
		row := []string{q.name()}
		for _, d := range depths {
			row = append(row, q.at(r, p, atDepth(d)).String())
		}
		rows = append(rows, row)
	}
	return markdown(head, rows)
}

// depthTable shows what a request costs each contender, and the ratios that have
// bars.
func depthTable(r Results, p part) string {
	costs := overDepths(r, p, cpu, "us", []quotient{
		{cpu, take, incr}, {cpu, gcra, take}, {cpu, script, take}, {cpu, count, incr}, {throughput, take, incr}, {p99, take, incr},
	})
	p.contenders = []contender{incr, take}
	return costs + "\n" + overDepths(r, p, calls, "each", nil)
}

// shardTable shows what a second shard brings.
func shardTable(r Results, p part) string {
	return overDepths(r, p, cpu, "us", []quotient{{cpu, twoShards, oneShard}, {throughput, twoShards, oneShard}, {p99, twoShards, oneShard}})
}

// rateTable has a line for each load: what it was, and latencies with the ratios of
// the second contender to the first.
func rateTable(r Results, p part) string {
	var offered []int
	for _, run := range r.of(p.name, anyRun) {
		if run.Offered > 0 && !slices.Contains(offered, run.Offered) {
			offered = append(offered, run.Offered)
		}
	}
	slices.Sort(offered)
	head := []string{"offered a second"}
	for _, m := range []measure{p50, p99} {
		for _, c := range p.contenders {
			head = append(head, c.name+", "+m.name+", us")
		}
	}
	for _, m := range []measure{p50, p99, p999} {
		head = append(head, m.name+" ratio")
	}
	var rows [][]string
	for _, rate := range offered {
		at := func(run Run) bool { return run.Offered == rate }
		row := []string{fmt.Sprint(rate)}
		for _, m := range []measure{p50, p99} {
			for _, c := range p.contenders {
				row = append(row, spreadOf(r.of(p.name, func(run Run) bool { return at(run) && run.Contender == c.name }), m.figure).String())
			}
		}
		for _, m := range []measure{p50, p99, p999} {
			row = append(row, quotient{m, p.contenders[1], p.contenders[0]}.at(r, p, at).String())
		}
		rows = append(rows, row)
	}
	return markdown(head, rows)
}

// workloadTable sets every workload of ours in relation to the first, and the one
// whose keys all end at once to the one whose keys stay.
func workloadTable(r Results, p part) string {
	var rows [][]string
	add := func(name string, a, b contender) {
		row := []string{name}
		for _, m := range []measure{cpu, throughput, p99, p999} {
			row = append(row, quotient{m, a, b}.at(r, p, anyRun).String())
		}
		rows = append(rows, row)
	}
	for _, c := range p.contenders {
		add(c.name, c, p.contenders[0])
	}
	add("storm to new", contender{name: "storm"}, contender{name: "new"})
	return markdown([]string{"workload", "CPU ratio", "requests a second ratio", "p99 ratio", "p99.9 ratio"}, rows)
}

// memoryTable has the worst of the sizes, which is what one has to reckon with, and
// all of them.
func memoryTable(r Results, p part) string {
	var rows [][]string
	for _, c := range p.contenders {
		runs := r.of(p.name, func(run Run) bool { return run.Contender == c.name })
		s := spreadOf(runs, bytesPerKey)
		if s.n == 0 {
			continue
		}
		row := []string{c.name, fmt.Sprintf("%.1f", s.high), fmt.Sprintf("%.1f", s.median), fmt.Sprintf("%.1f", s.low)}
		rows = append(rows, append(row, fmt.Sprintf("%d to %d", runs[0].Size, runs[len(runs)-1].Size)))
	}
	return markdown([]string{"", "worst size, bytes", "median", "best", "keys"}, rows)
}

// lightTable is the floor.
func lightTable(r Results, _ part) string {
	var rows [][]string
	for _, f := range r.Light {
		rows = append(rows, []string{f.Name, newSpread(f.Nanos).String()})
	}
	return markdown([]string{"", "ns"}, rows)
}

// heading says where and how it was measured.
func (r Results) heading() string {
	m, a := r.Machine, r.Asked
	text := fmt.Sprintf("%s, %d cores of %s, %s. %s; %s. %d connections, %d keys, %d rounds in turn of %g s each; median (lowest - highest).\n",
		m.Date, m.CPUs, m.CPU, m.System, m.Limitstore, m.Redis, a.Conns, a.Keys, a.Rounds, a.Duration)
	if !r.Complete {
		text += "\nThe run was interrupted: this is what it had found by then.\n"
	}
	return text
}

// section is the text of a part; nothing if it was not played.
func (r Results) section(p part) string {
	if len(r.of(p.name, anyRun)) == 0 && (p.name != "light" || len(r.Light) == 0) {
		return ""
	}
	return fmt.Sprintf("### %s\n\n%s\n\n%s", p.title, p.about, p.table(r, p))
}

// Text is all of it.
func (r Results) Text() string {
	text := r.heading()
	for _, p := range parts() {
		if section := r.section(p); section != "" {
			text += "\n" + section
		}
	}
	return text
}

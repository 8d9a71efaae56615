package load

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is what a run has found. It is what limitstore bench writes as JSON.
type Result struct {
	Workload string `json:"workload"`
	Server   string `json:"server"` // where it is
	Conns    int    `json:"conns"`
	Depth    int    `json:"depth"` // of every connection, unless the workload has depths of its own
	Keys     int    `json:"keys"`
	Offered  int    `json:"offered_per_second"` // 0: closed, as fast as it is answered

	Seconds     float64 `json:"seconds"` // measured
	Answered    uint64  `json:"answered"`
	PerSecond   float64 `json:"per_second"`
	Denied      uint64  `json:"denied"`
	Unserved    uint64  `json:"unserved"`    // due, and not answered when the run ended
	Interrupted bool    `json:"interrupted"` // it did not come to its end

	Latency Latency `json:"latency_us"`

	// CPUMicros is the server's processor time for each request, user and system, in
	// microseconds; nil when its process is not known.
	CPUMicros *float64 `json:"cpu_us_per_request"`
	// Calls is how many reads and writes of the system the server made for each
	// request, those in vain included; nil when that is not known.
	Calls *float64 `json:"system_calls_per_request"`
	// Resident is the server's memory at the end, in bytes; 0 when its process is not
	// known.
	Resident int64 `json:"resident_bytes"`
}

// Latency is in microseconds. Under an open load it counts from when a request was
// due, under a closed one from when it was sent.
type Latency struct {
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99_9"`
	P9999 float64 `json:"p99_99"`
	Max   float64 `json:"max"`
}

// newLatency reads the figures off a histogram of nanoseconds.
func newLatency(h *hdrhistogram.Histogram) Latency {
	at := func(percent float64) float64 { return micros(h.ValueAtQuantile(percent)) }
	return Latency{
		Mean: h.Mean() / float64(time.Microsecond), P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), P9999: at(99.99),
		Max: micros(h.Max()),
	}
}

func micros(ns int64) float64 { return float64(ns) / float64(time.Microsecond) }

// result puts together what the connections have seen between two samples.
func (r *run) result(first, last sample, interrupted bool) Result {
	out := Result{
		Workload: r.Workload.Name, Server: r.Addr, Conns: r.Conns, Depth: r.Depth, Keys: r.Keys, Offered: r.Rate,
		Seconds: (last.at - first.at).Seconds(), Answered: last.answered - first.answered, Interrupted: interrupted,
		Resident: last.resident,
	}
	all := newHistogram()
	for _, c := range r.connections {
		all.Merge(c.tally.latencies)
		out.Denied += c.tally.denied
		out.Unserved += c.tally.unserved
	}
	out.Latency = newLatency(all)
	if out.Seconds > 0 {
		out.PerSecond = float64(out.Answered) / out.Seconds
	}
	if r.PID != 0 && out.Answered > 0 {
		cost := float64(last.cpu-first.cpu) / float64(time.Microsecond) / float64(out.Answered)
		out.CPUMicros = &cost
	}
	if last.calls > 0 && out.Answered > 0 {
		calls := float64(last.calls-first.calls) / float64(out.Answered)
		out.Calls = &calls
	}
	return out
}

// shortOfRate is how far below the rate asked for a run may stay.
const shortOfRate = 0.99

// Remarks are what a reader of the figures has to know.
func (r Result) Remarks() (remarks []string) {
	if r.Interrupted {
		remarks = append(remarks, fmt.Sprintf("interrupted: the figures are of %.1f s", r.Seconds))
	}
	if r.Unserved > 0 {
		remarks = append(remarks, fmt.Sprintf("%d requests were due and not answered; they count with the time they had waited", r.Unserved))
	}
	if r.Offered > 0 && r.PerSecond < shortOfRate*float64(r.Offered) && !r.Interrupted {
		remarks = append(remarks, fmt.Sprintf("%.0f of %d requests a second were reached: this is more than the server, or this generator, can do", r.PerSecond, r.Offered))
	}
	return remarks
}

// WriteTable writes the results for a person.
func WriteTable(out io.Writer, results []Result) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "workload\tdepth\toffered/s\tanswered/s\tdenied\tp50 us\tp99 us\tp99.9 us\tmax us\tserver CPU us\t")
	for _, r := range results {
		fmt.Fprintln(table, strings.Join(r.cells(), "\t")+"\t")
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		for _, remark := range r.Remarks() {
			if _, err := fmt.Fprintf(out, "%s, depth %d: %s\n", r.Workload, r.Depth, remark); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r Result) cells() []string {
	offered, cost := "closed", "-"
	if r.Offered > 0 {
		offered = fmt.Sprint(r.Offered)
	}
	if r.CPUMicros != nil {
		cost = fmt.Sprintf("%.2f", *r.CPUMicros)
	}
	l := r.Latency
	return []string{
		r.Workload, fmt.Sprint(r.Depth), offered, fmt.Sprintf("%.0f", r.PerSecond), fmt.Sprint(r.Denied),
		fmt.Sprintf("%.1f", l.P50), fmt.Sprintf("%.1f", l.P99), fmt.Sprintf("%.1f", l.P999), fmt.Sprintf("%.1f", l.Max), cost,
	}
}

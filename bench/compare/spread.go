package compare

import (
	"fmt"
	"math"
	"slices"
)

// spread is what several rounds found: the middle and both ends.
type spread struct {
	median, low, high float64
	n                 int
}

// newSpread is the spread of values; those that are no numbers do not count.
func newSpread(values []float64) spread {
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	n := len(values)
	if n == 0 {
		return spread{}
	}
	slices.Sort(values)
	return spread{(values[(n-1)/2] + values[n/2]) / 2, values[0], values[n-1], n}
}

// ratios divides round by round: what disturbed a round disturbed both.
func ratios(a, b map[int]float64) spread {
	var values []float64
	for round, v := range a {
		if w, ok := b[round]; ok {
			values = append(values, v/w)
		}
	}
	return newSpread(values)
}

// String is the spread as tables show it, with two decimals below ten.
func (s spread) String() string {
	if s.n == 0 {
		return "-"
	}
	show := func(v float64) string {
		switch {
		case math.Abs(v) < 10:
			return fmt.Sprintf("%.2f", v)
		case math.Abs(v) < 1000:
			return fmt.Sprintf("%.1f", v)
		}
		return fmt.Sprintf("%.0f", v)
	}
	if s.n == 1 {
		return show(s.median)
	}
	return fmt.Sprintf("%s (%s - %s)", show(s.median), show(s.low), show(s.high))
}

// byRound is a figure of each run.
func byRound(runs []Run, figure func(Run) float64) map[int]float64 {
	values := make(map[int]float64, len(runs))
	for _, r := range runs {
		values[r.Round] = figure(r)
	}
	return values
}

// spreadOf is the spread of a figure over runs.
func spreadOf(runs []Run, figure func(Run) float64) spread {
	var values []float64
	for _, r := range runs {
		values = append(values, figure(r))
	}
	return newSpread(values)
}

// The figures of a run. What is not known is no number.
func cpuOf(r Run) float64 {
	if r.CPUMicros == nil {
		return math.NaN()
	}
	return *r.CPUMicros
}

func callsOf(r Run) float64 {
	if r.Calls == nil {
		return math.NaN()
	}
	return *r.Calls
}

func throughputOf(r Run) float64 { return r.PerSecond }

func p50Of(r Run) float64 { return r.Latency.P50 }

func p99Of(r Run) float64 { return r.Latency.P99 }

func p999Of(r Run) float64 { return r.Latency.P999 }

func bytesPerKey(r Run) float64 { return float64(r.Resident) / float64(r.Size) }

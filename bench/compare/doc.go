// Package compare measures limitstore beside another server: limitstore bench
// compare. It starts both, lets limitstore bench put the same load on them in turn,
// round after round, and sets the figures of each round in relation: what a noisy
// machine does to one it does to the other.
//
// It starts processes and reads what they write. The load itself is made by
// bench/load, in a process of its own, so that it can be kept to a processor of its
// own. What was measured is a [Results], which is kept as JSON; tables, the page
// docs/benchmarks.md and plots are made from that and from nothing else.
package compare

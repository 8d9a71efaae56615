// Package load is a load generator for servers that speak the Redis protocol.
// limitstore bench runs it, and bench/compare runs that in turn against several
// servers.
//
// A [Plan] names a workload of the table [Workloads], a number of connections, how
// many requests a connection sends at a time (the depth), and a rate. [Run] plays
// it over real connections and returns a [Result]: requests a second, percentiles
// of latency, and, for a server on the same machine, the processor time that a
// request costs it.
//
// # Open and closed
//
// With a rate the load is open: every request is due at a time that was fixed
// before the run, whatever the server does, and its latency counts from then. A
// server that stalls for half a second is charged half a second by every request
// that was due meanwhile. Without a rate the load is closed: each connection sends
// its next requests when the last are answered, as fast as that goes. This finds
// the highest throughput; its latencies say little, because a stalled server is
// asked less.
//
// The generator shares the machine with the server, so it is cheap: requests are
// made before the run, and only the digits of their keys are written in it.
//
// The package starts no server and knows none but by its replies; it never flushes
// what the server holds.
package load

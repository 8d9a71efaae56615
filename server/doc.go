// Package server meets clients: it accepts connections, cuts what arrives into
// commands, hands each pipeline to the engine and writes all replies at once. It
// knows passwords, TLS, INFO, CLIENT, COMMAND and metrics, and declares the
// commands that are about the connection or the process rather than the data.
//
// cmd/limitstore composes it. It never touches a keyspace but through the
// engine, decides nothing about limits, and does not know how changes are
// replicated.
//
// # One pipeline
//
// Each connection has one goroutine. It reads once, takes every complete command
// that has arrived, and writes once; meanwhile it takes no lock (an error is
// counted under one), sets no timer and allocates nothing. The four counters others may see of it (pulse) are written
// once per pipeline, not per command.
//
// # Pushes
//
// A connection that subscribes or monitors has a second goroutine, which writes
// what others send to it (outbox). Who sends does not wait: what is too much cuts
// the receiver off. The hub knows who listens to what.
//
// # Time
//
// No request looks at a clock here. One goroutine, the watch, visits every
// connection once a second: a connection whose counters have not moved for as
// many visits as its timeout has seconds is closed. So a timeout is kept to within
// a second, and costs the connection nothing.
//
// # Memory
//
// Measured with 10,000 idle connections, resident and without the kernel's
// sockets: about 5 KiB for one that has said nothing, 8 KiB for one that has been
// served. What a large pipeline has made larger is given back after ten idle
// seconds. A reply waits for its reader in bounded pieces, and nothing more is read
// from a client that does not read.
package server

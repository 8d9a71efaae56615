// Package resp is the wire format: it turns bytes from a client into commands
// and answers into bytes, in RESP2 and RESP3, with the texts and forms of Redis.
//
// A connection calls it: [Reader] splits what has arrived into commands, under
// limits, and [Writer] collects the replies, in the order asked, for one write.
// Commands see a Writer only. Encoding leans on tidwall/redcon's Append
// functions; where they allocate or format differently from Redis this package
// has its own, and the comment beside each says why.
//
// It never opens a socket, starts a goroutine, reads a clock, knows a command's
// name, or decides when a connection closes: a protocol error is a value that
// the caller answers and acts on. A length that a client announces is compared
// with the limits and never allocated; memory grows only with bytes that came.
//
// Sources: the RESP specification (redis.io/docs/reference/protocol-spec), and
// networking.c, sds.c and util.c of Redis 7 for what the specification leaves
// open. The tests hold the reader against a running redis-server.
package resp

// Package engine knows every data command: what it is called, what it takes,
// which keys it touches and what it does to a keyspace. It routes each call to
// the shard that owns its key, splits a pipeline into one batch per shard, and
// takes the door when a command needs several shards at once.
//
// It is called by package server (one Session per connection) and by tests. It
// never sees a socket, never reads a clock and never takes a lock: time arrives
// with the keyspace, and a keyspace is touched only by its shard's goroutine or
// by a caller that holds the standing shard.
package engine

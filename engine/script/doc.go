// Package script runs Lua 5.1 as Redis 7 gives it to scripts: the language, its
// libraries, cjson, cmsgpack, struct and bit, and the redis table. The engine
// compiles a source once (Compile), keeps a Machine for each shard and calls Run;
// commands go out through the Host it passes. The package never opens a socket,
// looks at a clock or at a keyspace, and keeps nothing between two runs.
//
// The files, from the ground up: value, heap, table and number are the data;
// lexer, parser and syntax read a source; gen* make instructions (code) of it; vm,
// call, meta and arith run them; lib* are the libraries; redis, reply and machine
// are what the engine sees.
//
// Everything a run makes is cut from the Machine's heap and is gone with the next
// run, so that a run in steady state does not allocate. Every instruction, byte
// and second is counted there against Limits.
package script

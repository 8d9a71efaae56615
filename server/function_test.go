package server

import (
	"fmt"
	"testing"

	"github.com/limitstore/limitstore/redistest"
)

// functionLines are all that is right and wrong with libraries and functions, one
// after another. Redis lists functions in the order of a hash, so lists have one.
var functionLines = []string{
	`FUNCTION LOAD "return 1"`,
	`FUNCTION LOAD "#!lua\nreturn 1"`,
	`FUNCTION LOAD "#!js name=a\nreturn 1"`,
	`FUNCTION LOAD "#!lua name=a-b\nreturn 1"`,
	`FUNCTION LOAD "#!lua name=ab\nreturn 1"`,
	`FUNCTION LOAD "#!lua name=ab\nreturn ("`,
	`FUNCTION LOAD "#!lua name=ab foo=bar\nreturn 1"`,
	`FUNCTION LOAD "#!lua name=ab name=cd\nreturn 1"`,
	`FUNCTION LOAD "#!lua name=ab\nredis.register_function(\"f\", function(k,a) return {k,a} end)"`,
	`FUNCTION LOAD "#!lua name=ab\nredis.register_function(\"f\", function(k,a) return {k,a} end)"`,
	`FUNCTION LIST`,
	`FUNCTION LIST LIBRARYNAME a* WITHCODE`,
	`FUNCTION LOAD REPLACE "#!lua name=ab\nredis.register_function(\"f\", function(k,a) return {#k,#a, a[1]} end) redis.register_function{function_name=\"g\", callback=function(k,a) return redis.call(\"set\",k[1],1) end, flags={\"no-writes\"}, description=\"d\"}"`,
	`FUNCTION LOAD "#!lua name=cd\nredis.register_function(\"f\", function(k,a) return {k,a} end)"`,
	`FCALL f 1 k a b`,
	`FCALL nosuch 0`,
	`FCALL f 5 k`,
	`FCALL f -1 k`,
	`FCALL f x k`,
	`FCALL_RO f 0`,
	`FCALL_RO g 1 k`,
	`FCALL g 1 k`,
	`FUNCTION DELETE zz`,
	`FUNCTION LOAD "#!lua name=ef\nredis.register_function(\"f2\", function(k,a) error(\"boom\") end)\nredis.register_function(\"f3\", function(k,a) return KEYS end)\nredis.register_function(\"f4\", function(k,a) return redis.register_function(\"f5\",function() end) end)\nredis.register_function(\"f6\", function(k,a) x=1 end)"`,
	`FCALL f2 0`,
	`FCALL f3 0`,
	`FCALL f4 0`,
	`FCALL f6 0`,
	`EVAL "return redis.register_function('a',1)" 0`,
	`FUNCTION LOAD "#!lua name=x1\nredis.register_function(\"bad name\", function() end)"`,
	`FUNCTION LOAD "#!lua name=x1\nredis.register_function(\"a\", 1)"`,
	`FUNCTION LOAD "#!lua name=x1\nredis.register_function(\"a\", function() end, 1)"`,
	`FUNCTION LOAD "#!lua name=x1\nredis.register_function{function_name=\"a\"}"`,
	`FUNCTION LOAD "#!lua name=x1\nredis.register_function{function_name=\"a\",callback=function() end,flags={\"foo\"}}"`,
	`FUNCTION LOAD "#!lua name=x1\nredis.register_function{function_name=\"a\",callback=function() end,foo=1}"`,
	`FUNCTION LOAD "#!lua name=x1\nredis.register_function(\"a\", function() end) redis.register_function(\"a\", function() end)"`,
	`FUNCTION STATS`,
	`FUNCTION FLUSH FOO`,
	`FUNCTION KILL`,
	`FUNCTION LIST FOO`,
	`FUNCTION FLUSH`,
}

// TestFunctionsAreRedis has libraries loaded, called, listed and dropped, and
// compares each answer with redis-server's.
func TestFunctionsAreRedis(t *testing.T) {
	theirs := callAt(t, redistest.Start(t))
	c := scriptCase{lines: functionLines}
	for _, shards := range []int{1, 8} {
		ours := newRig(t, func(s *setup) { s.shards = shards }).call()
		for _, hello := range []string{"HELLO 2", "HELLO 3"} {
			theirs.do(hello)
			ours.do(hello)
			c.compare(t, fmt.Sprintf("%s, %d shards", hello, shards), ours, theirs)
		}
	}
}

package engine

import (
	"bytes"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// route picks the shard of a key among n: by the xxhash of the key or, when it
// has one, of its {tag}, so that a caller can keep keys together. Every client
// and every node computes the same.
func route(key []byte, n int) int {
	if n == 1 {
		return 0
	}
	hi, _ := bits.Mul64(xxhash.Sum64(tag(key)), uint64(n))
	return int(hi)
}

// tag is the part of key between the first '{' and the next '}', as Redis
// Cluster defines it; the whole key when there is none or it is empty.
func tag(key []byte) []byte {
	open := bytes.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	length := bytes.IndexByte(key[open+1:], '}')
	if length <= 0 {
		return key
	}
	return key[open+1 : open+1+length]
}

package shard

import (
	"encoding/binary"
	"math/bits"
)

// Seed is the secret key of the index hash. Whoever does not know it cannot
// choose keys that collide. All nodes of a cluster share one, so that a SCAN
// cursor means the same everywhere.
type Seed [2]uint64

// Place is where the index looks for key.
func (s *Seed) Place(key []byte) Place { return Place(spread(s.hash(key))) }

// hash is SipHash-1-3 of key: J.-P. Aumasson, D. J. Bernstein, SipHash: a fast
// short-input PRF, 2012, with one round per block and three at the end, the
// variant that the hash tables of Python, Ruby and Rust use.
func (s *Seed) hash(key []byte) uint64 {
	v := sip{s[0] ^ 0x736f6d6570736575, s[1] ^ 0x646f72616e646f6d, s[0] ^ 0x6c7967656e657261, s[1] ^ 0x7465646279746573}
	last := uint64(len(key)) << 56
	for ; len(key) >= 8; key = key[8:] {
		v = v.block(binary.LittleEndian.Uint64(key))
	}
	for i, b := range key {
		last |= uint64(b) << (8 * i)
	}
	v = v.block(last)
	v.c ^= 0xff
	v = v.round().round().round()
	return v.a ^ v.b ^ v.c ^ v.d
}

type sip struct{ a, b, c, d uint64 }

func (v sip) block(m uint64) sip {
	v.d ^= m
	v = v.round()
	v.a ^= m
	return v
}

func (v sip) round() sip {
	v.a += v.b
	v.c += v.d
	v.b = bits.RotateLeft64(v.b, 13) ^ v.a
	v.d = bits.RotateLeft64(v.d, 16) ^ v.c
	v.a = bits.RotateLeft64(v.a, 32)
	v.c += v.b
	v.a += v.d
	v.b = bits.RotateLeft64(v.b, 17) ^ v.c
	v.d = bits.RotateLeft64(v.d, 21) ^ v.a
	v.c = bits.RotateLeft64(v.c, 32)
	return v
}

package shard

import "testing"

// Vectors of SipHash-1-3 with the key 00 01 .. 0f and the message 00 01 .. n-1,
// as published with the Rust standard library.
func TestSipHashVectors(t *testing.T) {
	seed := Seed{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	for n, want := range map[int]uint64{
		0:  0xabac0158050fc4dc,
		1:  0xc9f49bf37d57ca93,
		7:  0xd3927d989bb11140,
		8:  0x369095118d299a8e,
		9:  0x25a48eb36c063de4,
		15: 0xd320d86d2a519956,
		16: 0xcc4fdd1a7d908b66,
		63: 0x9d199062b7bbb3a8,
	} {
		message := make([]byte, n)
		for i := range message {
			message[i] = byte(i)
		}
		if got := seed.hash(message); got != want {
			t.Errorf("%d bytes: %#x, want %#x", n, got, want)
		}
	}
}

// CPython 3.11 hashes bytes with SipHash-1-3; PYTHONHASHSEED=0 is the key 0.
func TestSipHashAsPython(t *testing.T) {
	for message, want := range map[string]uint64{
		"a":                      0x407448d2b89b1813,
		"user:42":                0x223dd74fb15f308d,
		"12345678":               0x3489982430560a87,
		"the quick brown fox":    0x5a17575ad3449cba,
		string(make([]byte, 33)): 0x28908f6a3c3071b7,
	} {
		if got := new(Seed).hash([]byte(message)); got != want {
			t.Errorf("%q: %#x, want %#x", message, got, want)
		}
	}
}

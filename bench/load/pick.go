package load

import (
	"math/rand/v2"
)

// picker chooses numbers of keys for one connection.
type picker interface{ next() uint64 }

// seed is the same in every run, so that runs ask for the same keys.
const seed = 0x6c696d6974

// newPicker is the picker of the connection with that number, of conns. zipf are
// choices made before the run, for drawing one takes longer than sending it.
func (p Plan) newPicker(conn int, zipf []uint32) picker {
	random := rand.New(rand.NewPCG(seed, uint64(conn)))
	switch p.Workload.Pick {
	case Zipf:
		return &replay{choices: zipf, at: random.IntN(len(zipf))}
	case One:
		return &spread{most: 1, random: rand.NewPCG(seed, 0)}
	case Fresh:
		return &count{at: p.FirstKey + uint64(conn), step: uint64(p.Conns)}
	}
	return &spread{most: uint64(p.Keys), random: rand.NewPCG(seed, uint64(conn))}
}

// spread chooses each of most numbers as likely.
type spread struct {
	most   uint64
	random *rand.PCG
}

func (s *spread) next() uint64 {
	return (s.random.Uint64() >> 32) * s.most >> 32 // most is far below 2^32
}

// replay chooses what was drawn before.
type replay struct {
	choices []uint32
	at      int
}

func (r *replay) next() uint64 {
	r.at++
	if r.at == len(r.choices) {
		r.at = 0
	}
	return uint64(r.choices[r.at])
}

// count chooses numbers that nobody else does.
type count struct{ at, step uint64 }

func (c *count) next() uint64 {
	n := c.at
	c.at += c.step
	return n
}

// zipfDraws is how many choices are drawn before a run with few busy keys.
const zipfDraws = 1 << 18

// drawZipf draws for all connections.
func (p Plan) drawZipf() []uint32 {
	if p.Workload.Pick != Zipf {
		return nil
	}
	z := rand.NewZipf(rand.New(rand.NewPCG(seed, seed)), zipfExponent, 1, uint64(p.Keys-1))
	draws := make([]uint32, zipfDraws)
	for i := range draws {
		draws[i] = uint32(z.Uint64())
	}
	return draws
}

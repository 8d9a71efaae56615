package compare

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"github.com/cespare/xxhash/v2"
)

// light is something that no server does in less: its speed of light.
type light struct {
	name    string
	measure func() (nanos float64, err error)
}

// lights is the table of them. Sockets are those of Go's net package over loopback
// TCP, as the servers' are; the bytes are about a request's.
var lights = [...]light{
	{"one write of 64 bytes to a socket", func() (float64, error) { w, _, err := measureSocket(); return w, err }},
	{"one read of 64 bytes from a socket", func() (float64, error) { _, r, err := measureSocket(); return r, err }},
	{"one xxhash of a key of 20 bytes", measureHash},
	{"one read of memory that is in no cache", func() (float64, error) { return measureMiss(missPlaces) }},
}

const (
	socketTurns = 200
	socketBatch = 64 // writes before they are read: the buffers have room for them
	socketBytes = 64
)

// measureSocket writes and reads in turns on one goroutine, so that nothing waits.
func measureSocket() (write, read float64, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, 0, err
	}
	defer ln.Close()
	from, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		return 0, 0, err
	}
	defer from.Close()
	to, err := ln.Accept()
	if err != nil {
		return 0, 0, err
	}
	defer to.Close()
	var writing, reading time.Duration
	var data [socketBytes]byte
	for range socketTurns {
		began := time.Now()
		for range socketBatch {
			if _, err := from.Write(data[:]); err != nil {
				return 0, 0, err
			}
		}
		written := time.Now()
		for range socketBatch {
			if _, err := io.ReadFull(to, data[:]); err != nil {
				return 0, 0, err
			}
		}
		writing, reading = writing+written.Sub(began), reading+time.Since(written)
	}
	const n = socketTurns * socketBatch
	return float64(writing.Nanoseconds()) / n, float64(reading.Nanoseconds()) / n, nil
}

const hashTurns = 1 << 20

// measureHash hashes keys that differ in their last byte. Each hash has a part in
// the next key, so that none can be left out or begun early.
func measureHash() (float64, error) {
	key := []byte("key:0000000000012345")
	began := time.Now()
	for range hashTurns {
		key[len(key)-1] = byte(xxhash.Sum64(key))
	}
	return float64(time.Since(began).Nanoseconds()) / hashTurns, nil
}

const (
	missPlaces = 32 << 20 // of 4 bytes: far more than caches hold
	missTurns  = 1 << 20
)

// measureMiss follows a path through memory that leads nowhere near, in one circle
// (Sattolo's shuffle). What it costs to translate the address is in it.
func measureMiss(places int) (float64, error) {
	path := make([]uint32, places)
	for i := range path {
		path[i] = uint32(i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := len(path) - 1; i > 0; i-- {
		j := random.IntN(i)
		path[i], path[j] = path[j], path[i]
	}
	at := uint32(0)
	began := time.Now()
	for range missTurns {
		at = path[at]
	}
	took := time.Since(began)
	if at == 0 && places > missTurns {
		return 0, fmt.Errorf("the path of %d places ended after %d", places, missTurns)
	}
	return float64(took.Nanoseconds()) / missTurns, nil
}

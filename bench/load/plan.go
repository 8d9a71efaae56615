package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"time"
)

// Plan is one run: what is sent, how, and for how long.
type Plan struct {
	Addr     string // of the server, HOST:PORT
	Password string // empty: none is given
	PID      int    // of the server's process if it is on this machine; 0: unknown

	Workload Workload
	Conns    int
	Depth    int    // requests a connection sends at a time
	Keys     int    // different keys
	Filled   bool   // the keys are there already, from a run before
	FirstKey uint64 // where the numbers of keys that were never there before begin

	Rate     int           // requests a second over all connections; 0: as fast as they are answered
	Warmup   time.Duration // played before the measurement begins
	Duration time.Duration // of the measurement
	Requests int           // ends the run when so many are answered; 0: none
	Timeout  time.Duration // a server that lets one request wait this long is given up

	Progress func(Progress) // called a few times a second; nil: nobody looks

	dial func(ctx context.Context) (net.Conn, error) // nil: to Addr by TCP
}

// Progress is how far a run has come.
type Progress struct {
	Elapsed  time.Duration // since its beginning, the warm-up included
	Total    time.Duration // what it will take; 0: until all requests are answered
	Answered uint64
}

// The most that a plan may ask for.
const (
	mostConns = 10_000
	mostDepth = 10_000
	mostKeys  = 1_000_000_000
)

// DefaultPlan is what limitstore bench plays when nothing else is asked for.
func DefaultPlan() Plan {
	return Plan{
		Addr: "127.0.0.1:7379", Workload: Workloads[0], Conns: 50, Depth: 1, Keys: 100_000,
		Warmup: time.Second, Duration: 5 * time.Second, Timeout: 5 * time.Second,
	}
}

// check says what of the plan makes no sense.
func (p Plan) check() error {
	within := func(name string, n, low, high int) error {
		if n < low || n > high {
			return fmt.Errorf("%s %d: want %d to %d", name, n, low, high)
		}
		return nil
	}
	errs := []error{
		within("connections", p.Conns, 1, mostConns), within("depth", p.Depth, 1, mostDepth),
		within("keys", p.Keys, 1, mostKeys), within("rate", p.Rate, 0, mostKeys),
	}
	if p.Duration <= 0 && p.Requests <= 0 {
		errs = append(errs, fmt.Errorf("duration %v: want more than nothing", p.Duration))
	}
	if p.Warmup < 0 || p.Timeout <= 0 {
		errs = append(errs, fmt.Errorf("warm-up %v, timeout %v: want no less than nothing, and more than that", p.Warmup, p.Timeout))
	}
	return errors.Join(errs...)
}

// depthOf is the depth of the connection with that number.
func (p Plan) depthOf(conn int) int {
	if own := p.Workload.Depths; len(own) > 0 {
		return own[conn%len(own)]
	}
	return p.Depth
}

// share is how many of the plan's requests the connection with that number sends.
func (p Plan) share(conn int) int {
	if p.Requests == 0 {
		return math.MaxInt
	}
	n := p.Requests / p.Conns
	if conn < p.Requests%p.Conns {
		n++
	}
	return n
}

package load

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/limitstore/limitstore/resp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a server in the test's own time. It takes all that is sent at once, and
// answers one request after the other.
type fake struct {
	took   time.Duration           // for each request
	stalls func(now time.Duration) // called before each reply; nil: it never does
	reply  func(w *resp.Writer)

	gone    sync.WaitGroup
	began   time.Time
	arrived []time.Duration // of every request, in order; read it when all is gone
}

func newFake() *fake {
	return &fake{began: time.Now(), reply: func(w *resp.Writer) { w.Ints(1, 10, 9, 0, 6000) }}
}

// dial is a connection to the server.
func (f *fake) dial(context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	asked := make(chan time.Duration, 1<<20)
	f.gone.Go(func() { f.read(theirs, asked) })
	f.gone.Go(func() { f.answer(theirs, asked) })
	return ours, nil
}

func (f *fake) read(conn net.Conn, asked chan<- time.Duration) {
	defer close(asked)
	in := resp.NewReader(conn, resp.DefaultLimits())
	for {
		args, err := in.Next()
		if err == nil && args == nil {
			err = in.Fill()
		}
		if err != nil {
			return
		}
		if args != nil {
			asked <- time.Since(f.began)
		}
	}
}

func (f *fake) answer(conn net.Conn, asked <-chan time.Duration) {
	defer conn.Close()
	for at := range asked {
		f.arrived = append(f.arrived, at)
		if f.stalls != nil {
			f.stalls(time.Since(f.began))
		}
		if f.took > 0 {
			<-time.After(f.took)
		}
		var w resp.Writer
		f.reply(&w)
		if _, err := conn.Write(w.Bytes()); err != nil {
			return
		}
	}
}

// plan is one connection to the server, with one request at a time, for a second.
func (f *fake) plan() Plan {
	p := DefaultPlan()
	p.Addr, p.dial = "the fake", f.dial
	p.Workload = Workload{Name: "take", Requests: []string{"TAKE key:{n}"}, Reply: "*"}
	p.Conns, p.Keys, p.Warmup, p.Duration = 1, 100, 0, time.Second
	return p
}

// play plays the plan with the runtime's timers, which are the test's inside a
// bubble, and waits until the server is gone too.
func (f *fake) play(ctx context.Context, p Plan) (Result, error) {
	defer f.gone.Wait()
	watch := newStopwatch()
	return p.play(ctx, watch, watch)
}

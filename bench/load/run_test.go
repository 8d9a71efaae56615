package load

import (
	"context"
	"errors"
	"math"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/limitstore/limitstore/resp"
)

const ms = time.Millisecond

// near says whether a figure in microseconds is what was expected, up to the three
// digits of a histogram.
func near(t *testing.T, what string, got float64, want time.Duration) {
	t.Helper()
	if math.Abs(got-micros(int64(want))) > micros(int64(want))/500+0.1 {
		t.Errorf("%s is %.1f us, want %v", what, got, want)
	}
}

// stallOnce is a server that answers at once but for half a second from 200 ms on.
func stallOnce(now time.Duration) {
	if now >= 200*ms && now < 700*ms {
		<-time.After(700*ms - now)
	}
}

// TestAStallIsChargedToAllThatWereDue is what an open load is for. A request is due
// every millisecond. Those due in the stalled half of the second, 200 to 699, wait
// until its end: 500 ms, 499 ms, ... 1 ms. The other 500 wait for nothing. So half
// of all requests wait at most 0, nine in ten at most 400 ms.
func TestAStallIsChargedToAllThatWereDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.stalls = stallOnce
		p := f.plan()
		p.Rate = 1000
		r, err := f.play(t.Context(), p)
		if err != nil || r.Answered != 1000 || r.Unserved != 0 {
			t.Fatalf("%d answered, %d not, %v", r.Answered, r.Unserved, err)
		}
		near(t, "p50", r.Latency.P50, 0)
		near(t, "p90", r.Latency.P90, 400*ms)
		near(t, "p99", r.Latency.P99, 490*ms)
		near(t, "the longest", r.Latency.Max, 500*ms)
		near(t, "the mean", r.Latency.Mean, 500*501/2*ms/1000)
	})
}

// TestAStallIsLongerThanTheWindow has more requests due in the stall than may fly.
// What there was no room for counts from when it was due all the same.
func TestAStallIsLongerThanTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.stalls = stallOnce
		p := f.plan()
		p.Rate = 10 * mostInFlight
		r, err := f.play(t.Context(), p)
		if err != nil || r.Answered != uint64(p.Rate) {
			t.Fatalf("%d answered of %d, %v", r.Answered, p.Rate, err)
		}
		near(t, "p90", r.Latency.P90, 400*ms)
		near(t, "the longest", r.Latency.Max, 500*ms)
	})
}

// TestAClosedLoadHidesAStall shows the same server under a closed load: the one
// request that was waiting is all that is charged.
func TestAClosedLoadHidesAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.stalls, f.took = stallOnce, ms
		p := f.plan()
		p.Duration += ms / 2
		r, err := f.play(t.Context(), p)
		if err != nil || r.Answered != 500 {
			t.Fatalf("%d answered, %v", r.Answered, err)
		}
		near(t, "p99", r.Latency.P99, ms)
		near(t, "the longest", r.Latency.Max, 501*ms)
	})
}

// TestRequestsComeWhenTheyAreDue has two connections share a rate: 1000 a second in
// pipelines of 4 are one pipeline every 4 ms, from each connection every 8 ms.
func TestRequestsComeWhenTheyAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fakes []*fake
		f := newFake()
		p := f.plan()
		p.dial = func(ctx context.Context) (net.Conn, error) {
			fakes = append(fakes, newFake())
			return fakes[len(fakes)-1].dial(ctx)
		}
		p.Conns, p.Depth, p.Rate = 2, 4, 1000
		if r, err := f.play(t.Context(), p); err != nil || r.Answered != 1000 {
			t.Fatalf("%d answered, %v", r.Answered, err)
		}
		for conn, f := range fakes[1:] { // the first prepares
			f.gone.Wait()
			if len(f.arrived) != 500 {
				t.Fatalf("connection %d: %d requests", conn, len(f.arrived))
			}
			for i, at := range f.arrived {
				if want := time.Duration(4*conn+8*(i/4)) * ms; at != want {
					t.Fatalf("connection %d: request %d came at %v, want %v", conn, i, at, want)
				}
			}
		}
	})
}

func TestOnlyTheMeasuredTimeCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.stalls = func(now time.Duration) {
			if now < 100*ms { // all of it in the warm-up
				<-time.After(100*ms - now)
			}
		}
		p := f.plan()
		p.Rate, p.Warmup, p.Duration = 1000, 200*ms, 300*ms
		r, err := f.play(t.Context(), p)
		if err != nil || r.Answered != 300 || r.Seconds != 0.3 {
			t.Fatalf("%d answered in %v s, %v", r.Answered, r.Seconds, err)
		}
		near(t, "the longest", r.Latency.Max, 0)
	})
}

// TestAServerThatFallsSilent answers for half a second, then never again.
func TestAServerThatFallsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.stalls = func(now time.Duration) {
			if now >= 500*ms {
				<-time.After(time.Hour)
			}
		}
		p := f.plan()
		p.Rate, p.Timeout, p.Duration = 1000, 400*ms, time.Minute
		r, err := f.play(t.Context(), p)
		if err == nil || !strings.Contains(err.Error(), "the fake has not answered for 400ms") {
			t.Fatalf("ended with %v", err)
		}
		if r.Answered != 500 || r.Unserved < 300 || r.Unserved > 401 {
			t.Errorf("%d answered, %d not; want 500, and those due in the 300 to 400 ms of patience", r.Answered, r.Unserved)
		}
	})
}

// TestAnInterruptedRunHasResults stops a run of a minute after 300 ms.
func TestAnInterruptedRunHasResults(t *testing.T) {
	for name, rate := range map[string]int{"open": 1000, "closed": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.took = ms
				p := f.plan()
				p.Rate, p.Duration = rate, time.Minute
				ctx, stop := context.WithCancel(t.Context())
				time.AfterFunc(300*ms+ms/2, stop)
				r, err := f.play(ctx, p)
				if err != nil || !r.Interrupted || r.Answered < 299 || r.Answered > 301 {
					t.Fatalf("%d answered, interrupted: %t, %v", r.Answered, r.Interrupted, err)
				}
				if math.Abs(r.PerSecond-1000) > 10 {
					t.Errorf("%.0f a second, want 1000", r.PerSecond)
				}
			})
		})
	}
}

func TestARunOfSoManyRequests(t *testing.T) {
	for name, rate := range map[string]int{"open": 1000, "closed": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.took = ms
				p := f.plan()
				p.Rate, p.Depth, p.Requests, p.Warmup = rate, 16, 100, time.Second
				r, err := f.play(t.Context(), p)
				if err != nil || r.Answered != 100 || len(f.arrived) != 100 {
					t.Fatalf("%d answered, %d asked, %v", r.Answered, len(f.arrived), err)
				}
			})
		})
	}
}

// TestARateThatIsNotReachedIsSaid offers ten times what the server can do.
func TestARateThatIsNotReachedIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.took = 10 * ms
		p := f.plan()
		p.Rate, p.Timeout = 1000, time.Second
		r, err := f.play(t.Context(), p)
		if err != nil || r.Answered < 99 || r.Answered > 101 {
			t.Fatalf("%d answered, %v", r.Answered, err)
		}
		if said := strings.Join(r.Remarks(), "; "); !strings.Contains(said, "of 1000 requests a second were reached") {
			t.Errorf("remarks: %q", said)
		}
	})
}

// TestNothingIsNoResult has a server that takes longer than the measurement.
func TestNothingIsNoResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.took = 2 * time.Second
		if _, err := f.play(t.Context(), f.plan()); err == nil || err.Error() != "the fake has answered nothing while it was measured, 1s" {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestDenialsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		n := 0
		f.reply = func(w *resp.Writer) {
			n++
			w.Ints(int64(n%4)/3, 10, 0, 5, 6000) // one in four is allowed
		}
		p := f.plan()
		p.Rate = 1000
		r, err := f.play(t.Context(), p)
		if err != nil || r.Answered != 1000 || r.Denied != 750 {
			t.Fatalf("%d answered, %d denied, %v", r.Answered, r.Denied, err)
		}
	})
}

func TestReplyOfAnotherKindEndsTheRun(t *testing.T) {
	for want, reply := range map[string]func(*resp.Writer){
		"the server refuses TAKE: ERR no such thing":                               func(w *resp.Writer) { w.Error("ERR no such thing") },
		`the server answers TAKE with ":1\r\n", want a reply that begins with "*"`: func(w *resp.Writer) { w.Int(1) },
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.reply = reply
			if _, err := f.play(t.Context(), f.plan()); err == nil || err.Error() != "the fake: "+want {
				t.Errorf("ended with %v, want %s", err, want)
			}
		})
	}
}

func TestPlansThatMakeNoSense(t *testing.T) {
	for want, change := range map[string]func(*Plan){
		"connections 0: want 1 to 10000":         func(p *Plan) { p.Conns = 0 },
		"depth 10001: want 1 to 10000":           func(p *Plan) { p.Depth = 10001 },
		"keys 0: want 1 to 1000000000":           func(p *Plan) { p.Keys = 0 },
		"rate -1: want 0 to 1000000000":          func(p *Plan) { p.Rate = -1 },
		"duration 0s: want more than nothing":    func(p *Plan) { p.Duration = 0 },
		"warm-up -1ns, timeout 5s: want no less": func(p *Plan) { p.Warmup = -1 },
	} {
		p := DefaultPlan()
		p.dial = func(context.Context) (net.Conn, error) { return nil, errors.New("asked for a connection") }
		change(&p)
		if _, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

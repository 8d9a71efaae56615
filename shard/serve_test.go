package shard

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// worker is work that is a function.
type worker func(*Keyspace)

func (w worker) Run(ks *Keyspace) { w(ks) }

// An idle shard is served in place: before Serve returns, at the clock's time, and
// the shard's goroutine sleeps on.
func TestServeInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newSharedClock()
		s := newShard(t, Config{Clock: clock})
		synctest.Wait() // the shard sleeps
		clock.now.Add(77)
		var ticket Ticket
		var log []int
		w := &step{log: &log}
		ticket.Add(1)
		if !s.Serve(w, &ticket) || len(log) != 1 || w.seen != start+77 {
			t.Fatalf("served %d times, at %d", len(log), w.seen)
		}
		ticket.Wait()
		if !s.inbox.asleep || s.inbox.held || s.inbox.n != 0 {
			t.Fatal("the shard was woken for nothing")
		}
	})
}

// What is served to a busy shard waits its turn behind what is queued, whether the
// shard's goroutine or another caller is at work.
func TestServeWaitsItsTurn(t *testing.T) {
	for name, occupy := range map[string]func(*Shard, Work){
		"goroutine": func(s *Shard, w Work) { s.Submit(w, nil) },
		"caller":    func(s *Shard, w Work) { go s.Serve(w, nil) },
		"door": func(s *Shard, w Work) {
			go NewDoor([]*Shard{s}).Through([]int{0}, func(held []*Keyspace) { w.Run(held[0]) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShard(t, Config{})
				synctest.Wait()
				hold := make(gate)
				occupy(s, hold)
				synctest.Wait()
				var log []int
				var ticket Ticket
				ticket.Add(3)
				for i := range 3 {
					s.Serve(&step{log: &log, n: i}, &ticket)
				}
				synctest.Wait()
				if len(log) != 0 || s.Waiting() != 3 {
					t.Fatalf("%d ran beside the work that holds the shard, %d wait", len(log), s.Waiting())
				}
				close(hold)
				ticket.Wait()
				if len(log) != 3 || log[0] != 0 || log[1] != 1 || log[2] != 2 {
					t.Fatalf("they ran as %v", log)
				}
			})
		})
	}
}

// A caller in place leaves no garbage behind for ever: it collects as much as a
// round may, and the shard's goroutine the rest; and it sets the timer for what it
// has put.
func TestServeCollects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShard(t, Config{Clock: &wallClock{}})
		synctest.Wait()
		length := func() (n int) {
			s.Serve(worker(func(ks *Keyspace) { n = ks.Database(0).Len() }), nil)
			return n
		}
		fill := func(in time.Duration) {
			s.Serve(worker(func(ks *Keyspace) {
				for i := range 1000 {
					e := ks.Database(0).Lookup(numbered(i))
					ks.Database(0).PutInt(&e, ks.NowMillis()+in.Milliseconds(), 1)
				}
			}), nil)
		}
		fill(3 * time.Second)
		<-time.After(2 * time.Second)
		if n := length(); n != 1000 {
			t.Fatalf("%d records before their time", n)
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		if n := length(); n != 0 {
			t.Fatalf("%d records left after their time: no timer was set", n)
		}
		fill(0) // they expire at once: one caller may not collect them all
		if n := length(); n < 1000-3*DefaultExpirations/busyPart {
			t.Fatalf("%d records left after two rounds of work: too much was collected between", n)
		}
		<-time.After(10 * rest)
		synctest.Wait()
		if n := length(); n != 0 {
			t.Fatalf("%d records left: the goroutine was not woken for the rest", n)
		}
	})
}

// Callers of all kinds at once, on the same shards: each sees the keyspace alone.
func TestServeIsExclusive(t *testing.T) {
	door, shards := newDoor(t, 2, newSharedClock())
	counts := [2]int{} // guarded by the shards
	const callers, rounds = 8, 300
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			var ticket Ticket
			for range rounds {
				switch caller % 4 {
				case 0:
					door.Through([]int{0, 1}, func([]*Keyspace) { counts[0]++; counts[1]++ })
				case 1:
					ticket.Add(1)
					shards[0].Submit(worker(func(*Keyspace) { counts[0]++ }), &ticket)
				default:
					ticket.Add(2)
					shards[0].Serve(worker(func(*Keyspace) { counts[0]++ }), &ticket)
					shards[1].Serve(worker(func(*Keyspace) { counts[1]++ }), &ticket)
				}
				ticket.Wait()
			}
		})
	}
	all.Wait()
	got := [2]int{}
	for i, s := range shards {
		s.Do(func(*Keyspace) { got[i] = counts[i] })
	}
	if got != [2]int{callers * rounds, callers * rounds * 3 / 4} {
		t.Fatalf("%v changes arrived", got)
	}
}

// Close waits for a caller in place, runs what it finds queued, and refuses the
// next.
func TestServeAndClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Clock: newSharedClock()})
		synctest.Wait()
		hold := make(gate)
		go s.Serve(hold, nil)
		synctest.Wait()
		var log []int
		var ticket Ticket
		ticket.Add(1)
		s.Serve(&step{log: &log}, &ticket)
		closed := make(chan struct{})
		go func() { s.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Fatal("closed while a caller holds the keyspace")
		default:
		}
		close(hold)
		<-closed
		ticket.Wait()
		if len(log) != 1 {
			t.Fatal("what was queued did not run")
		}
		ticket.Add(1)
		if s.Serve(&step{log: &log}, &ticket) || len(log) != 1 {
			t.Fatal("a closed shard was served")
		}
		ticket.Wait()
	})
}

// insideServe is set in the process that TestServeEndsTheProcess starts.
const insideServe = "LIMITSTORE_TEST_INSIDE_SERVE"

// A panic in served work ends the process, also if the caller would recover.
func TestServeEndsTheProcess(t *testing.T) {
	if os.Getenv(insideServe) != "" {
		panicInServe()
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestServeEndsTheProcess$", "-test.timeout=30s")
	cmd.Env = append(os.Environ(), insideServe+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "work on a standing shard did not return: a mistake") {
		t.Errorf("%v\n%s", err, out)
	}
}

func panicInServe() {
	s := New(Config{Clock: newSharedClock()})
	for !s.inbox.hold() { // until it sleeps: the panic is to be the caller's
	}
	s.inbox.release()
	func() {
		defer func() { _ = recover() }()
		s.Serve(worker(func(*Keyspace) { panic("a mistake") }), nil)
	}()
	os.Exit(0) // the caller recovered and went on: the test fails
}

// Warm changes nothing, whatever the places: of keys that are there, that are not,
// that share slots, and too many.
func TestWarmChangesNothing(t *testing.T) {
	ks, _ := newTestKeyspace(t, 256)
	putBuckets(ks.Database(0), 0, 5000, ks.NowMillis()+1e6)
	before := dump(ks)
	var places []Place
	for i := range 10_000 {
		places = append(places, ks.seed.Place(numbered(i)), Place(i), Place(1<<32-1-i))
	}
	for n := range 2 * MaxWarm {
		ks.Database(0).Warm(places[n*100 : n*100+n])
		ks.Database(1).Warm(places[n*100 : n*100+n])
	}
	if after := dump(ks); !slices.Equal(after, before) {
		t.Fatal("the keyspace is another")
	}
	if err := ks.Database(0).Check(); err != nil {
		t.Fatal(err)
	}
}

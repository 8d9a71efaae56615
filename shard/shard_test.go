package shard

import (
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/limitstore/limitstore/limit"
)

// sharedClock is a clock that tests set while a shard reads it.
type sharedClock struct {
	now   atomic.Int64
	reads atomic.Int64
}

func newSharedClock() *sharedClock {
	c := &sharedClock{}
	c.now.Store(int64(start))
	return c
}

func (c *sharedClock) Now() limit.Instant {
	c.reads.Add(1)
	return limit.Instant(c.now.Load())
}

// wallClock follows the time of a synctest bubble.
type wallClock struct{ reads atomic.Int64 }

func (c *wallClock) Now() limit.Instant {
	c.reads.Add(1)
	return limit.Instant(time.Now().UnixNano())
}

// gate is work that holds the shard until it is opened.
type gate chan struct{}

func (g gate) Run(*Keyspace) { <-g }

// step is work that notes that it ran.
type step struct {
	log  *[]int
	n    int
	seen limit.Instant
}

func (s *step) Run(ks *Keyspace) {
	s.seen = ks.Now()
	*s.log = append(*s.log, s.n)
}

func newShard(t testing.TB, cfg Config) *Shard {
	t.Helper()
	if cfg.Clock == nil {
		cfg.Clock = newSharedClock()
	}
	s := New(cfg)
	t.Cleanup(s.Close)
	return s
}

// A full inbox makes Submit wait, and goes on when there is room. What one
// sender submits runs in order.
func TestInboxIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShard(t, Config{Inbox: 4})
		hold := make(gate)
		s.Submit(hold, nil)
		synctest.Wait() // the shard has taken it
		var log []int
		var ticket Ticket
		accepted := 0
		ticket.Add(10)
		go func() {
			for i := range 10 {
				s.Submit(&step{log: &log, n: i}, &ticket)
				accepted++
			}
		}()
		synctest.Wait()
		if accepted != 4 || s.Waiting() != 4 {
			t.Fatalf("%d batches were accepted by an inbox of 4, %d wait", accepted, s.Waiting())
		}
		close(hold)
		ticket.Wait()
		for i, n := range log {
			if i != n {
				t.Fatalf("batches ran as %v", log)
			}
		}
		if len(log) != 10 {
			t.Fatalf("%d of 10 batches ran", len(log))
		}
	})
}

// Close runs what is queued, refuses those who wait for room and those who come
// after, and leaves nobody waiting.
func TestCloseDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Clock: newSharedClock(), Inbox: 3})
		hold := make(gate)
		s.Submit(hold, nil)
		synctest.Wait()
		var log []int
		var ticket Ticket
		ticket.Add(5)
		results := make(chan bool, 5)
		for i := range 5 {
			go func() { results <- s.Submit(&step{log: &log, n: i}, &ticket) }()
		}
		synctest.Wait()
		closed := make(chan struct{})
		go func() {
			s.Close()
			close(closed)
		}()
		synctest.Wait()
		if len(results) != 5 {
			t.Fatalf("%d senders still wait for room in a closed inbox", 5-len(results))
		}
		close(hold)
		<-closed
		ticket.Wait()
		accepted := 0
		for range 5 {
			if <-results {
				accepted++
			}
		}
		if accepted != 3 || len(log) != 3 {
			t.Fatalf("%d of 3 accepted batches ran", len(log))
		}
		ticket.Add(1)
		if s.Submit(&step{log: &log}, &ticket) || s.Do(func(*Keyspace) { t.Error("ran after Close") }) {
			t.Fatal("a closed shard accepts work")
		}
		ticket.Wait()
		s.Close()
		if len(log) != 3 {
			t.Fatalf("%d batches ran", len(log))
		}
	})
}

// One Wait for batches on several shards returns when the last is done, however
// the shards take turns, and the Ticket can be used again.
func TestTicketWaitsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shards := []*Shard{newShard(t, Config{}), newShard(t, Config{}), newShard(t, Config{})}
		var ticket Ticket
		for last := range shards {
			ticket.Add(len(shards))
			gates := make([]gate, len(shards))
			for i, s := range shards {
				gates[i] = make(gate)
				s.Submit(gates[i], &ticket)
			}
			var returned atomic.Bool
			go func() {
				ticket.Wait()
				returned.Store(true)
			}()
			for i := range shards {
				if i != last {
					close(gates[i])
				}
			}
			synctest.Wait()
			if returned.Load() {
				t.Fatalf("Wait returned before shard %d was done", last)
			}
			close(gates[last])
			synctest.Wait()
			if !returned.Load() {
				t.Fatal("Wait did not return")
			}
		}
	})
}

// A batch never runs at a time before it was submitted, all batches of a drain
// have one time, and a clock that goes back is not followed.
func TestTimeOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newSharedClock()
		s := newShard(t, Config{Clock: clock})
		hold := make(gate)
		var log []int
		var ticket Ticket
		submit := func(w *step) *step {
			ticket.Add(1)
			s.Submit(w, &ticket)
			return w
		}
		s.Submit(hold, nil)
		synctest.Wait()
		one, two := submit(&step{log: &log}), submit(&step{log: &log})
		clock.now.Add(1000)
		reads := clock.reads.Load()
		close(hold)
		ticket.Wait()
		if want := start + 1000; one.seen != want || two.seen != want {
			t.Fatalf("batches ran at %d and %d, the clock said %d when they were taken", one.seen, two.seen, want)
		}
		if got := clock.reads.Load() - reads; got > 2 {
			t.Fatalf("the clock was read %d times for one drain", got)
		}
		clock.now.Add(-5_000_000)
		back := submit(&step{log: &log})
		ticket.Wait()
		clock.now.Add(5_000_007)
		on := submit(&step{log: &log})
		ticket.Wait()
		if back.seen != start+1000 || on.seen != start+1007 {
			t.Fatalf("the time was %d after the clock went back, then %d", back.seen, on.seen)
		}
	})
}

// Tick follows the clock within a batch.
func TestTick(t *testing.T) {
	clock := newSharedClock()
	s := newShard(t, Config{Clock: clock})
	s.Do(func(ks *Keyspace) {
		clock.now.Add(2_500_000)
		if ks.Now() != start {
			t.Errorf("the time moved by itself to %d", ks.Now())
		}
		if ks.Tick(); ks.Now() != start+2_500_000 || ks.NowMillis() != int64(start)/1e6+2 {
			t.Errorf("%d ns, %d ms after Tick", ks.Now(), ks.NowMillis())
		}
	})
}

// A shard without work sleeps without a ticker, wakes when something has
// expired, and collects all of it by itself.
func TestIdleShardCollects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &wallClock{}
		s := newShard(t, Config{Clock: clock})
		count := func() (n int, expired int64) {
			s.Do(func(ks *Keyspace) { n, expired = ks.Database(2).Len(), ks.Stats().Expired })
			return n, expired
		}
		synctest.Wait()
		reads := clock.reads.Load()
		<-time.After(24 * time.Hour)
		if got := clock.reads.Load(); got != reads {
			t.Fatalf("an empty shard looked at the clock %d times in a day", got-reads)
		}
		s.Do(func(ks *Keyspace) {
			e := ks.Database(3).Lookup([]byte("far ahead"))
			ks.Database(3).PutInt(&e, ks.NowMillis()+3_600_000, 1)
		})
		synctest.Wait() // it has set its timer for that
		s.Do(func(ks *Keyspace) {
			for i := range 2000 {
				e := ks.Database(2).Lookup(numbered(i))
				ks.Database(2).PutInt(&e, ks.NowMillis()+3_000, 1)
			}
		})
		<-time.After(2900 * time.Millisecond)
		if n, expired := count(); n != 2000 || expired != 0 {
			t.Fatalf("%d records, %d expired before the time", n, expired)
		}
		<-time.After(200 * time.Millisecond)
		synctest.Wait()
		if n, expired := count(); n != 0 || expired != 2000 {
			t.Fatalf("%d records left, %d expired", n, expired)
		}
	})
}

// The clock decides what has expired; the runtime's timers only make the shard
// look.
func TestTimersOnlyWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newSharedClock() // stands
		s := newShard(t, Config{Clock: clock})
		s.Do(func(ks *Keyspace) {
			e := ks.Database(0).Lookup([]byte("k"))
			ks.Database(0).PutInt(&e, ks.NowMillis()+100, 1)
		})
		reads := clock.reads.Load()
		<-time.After(10 * time.Second)
		if got := clock.reads.Load() - reads; got < 1 || got > 200 {
			t.Fatalf("%d looks in ten seconds at a clock that stands, for an expiry 100 ms ahead", got)
		}
		present := func() (ok bool) {
			s.Do(func(ks *Keyspace) {
				e := ks.Database(0).Lookup([]byte("k"))
				ok = e.Exists()
			})
			return ok
		}
		if !present() {
			t.Fatal("expired by a timer")
		}
		clock.now.Add(100e6)
		if present() {
			t.Fatal("present at its expiry")
		}
	})
}

// Profiles tell the shards apart.
func TestProfileLabel(t *testing.T) {
	s := newShard(t, Config{Index: 7})
	s.Do(func(*Keyspace) {
		var out strings.Builder
		if err := pprof.Lookup("goroutine").WriteTo(&out, 1); err != nil {
			t.Error(err)
		}
		if !strings.Contains(out.String(), `"shard":"7"`) {
			t.Error("no goroutine has the label shard=7")
		}
	})
}

func TestNap(t *testing.T) {
	for _, c := range []struct {
		from, to int64
		want     time.Duration
	}{
		{0, 5, 5 * time.Millisecond},
		{5, 5, time.Millisecond},
		{5, 4, time.Millisecond},
		{0, 3_600_001, time.Hour},
		{0, MaxWhen, time.Hour},
	} {
		if got := nap(c.from, c.to); got != c.want {
			t.Errorf("from %d to %d: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

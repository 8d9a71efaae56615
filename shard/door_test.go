package shard

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func newDoor(t testing.TB, n int, clock Clock) (*Door, []*Shard) {
	t.Helper()
	shards := make([]*Shard, n)
	for i := range shards {
		shards[i] = newShard(t, Config{Index: i, Clock: clock, Inbox: 4})
	}
	return NewDoor(shards), shards
}

// add changes the balance of a keyspace.
func add(ks *Keyspace, n int64) {
	d := ks.Database(0)
	e := d.Lookup([]byte("balance"))
	d.PutInt(&e, 0, d.Int(&e)+n)
}

func balance(ks *Keyspace) int64 {
	d := ks.Database(0)
	e := d.Lookup([]byte("balance"))
	return d.Int(&e)
}

// crossing draws sets of shards that overlap and cross.
func crossing(r *rand.Rand, n int) []int {
	ids := r.Perm(n)[:1+r.IntN(n)]
	slices.Sort(ids)
	return ids
}

// Many callers move amounts between shards through sets that overlap and cross,
// beside ordinary batches. Nobody waits for ever, and whoever holds all shards
// sees the same sum, at one time.
func TestDoorConservesTheSum(t *testing.T) {
	const n, total = 5, 1000
	door, shards := newDoor(t, n, newSharedClock())
	shards[0].Do(func(ks *Keyspace) { add(ks, total) })
	all := []int{0, 1, 2, 3, 4}
	var callers sync.WaitGroup
	for c := range 8 {
		callers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 1))
			for range 300 {
				ids := crossing(r, n)
				door.Through(ids, func(held []*Keyspace) {
					for i := range ids {
						amount := int64(r.IntN(50))
						add(held[ids[i]], -amount)
						add(held[ids[(i+1)%len(ids)]], amount)
					}
				})
				shards[r.IntN(n)].Do(func(ks *Keyspace) { add(ks, 1); add(ks, -1) })
				door.Through(all, func(held []*Keyspace) {
					sum := int64(0)
					for _, ks := range held {
						sum += balance(ks)
						if ks.Now() != held[0].Now() {
							t.Errorf("times %d and %d inside the door", ks.Now(), held[0].Now())
						}
					}
					if sum != total {
						t.Errorf("the sum is %d", sum)
					}
				})
			}
		})
	}
	callers.Wait()
}

// held is by shard and has only those that stand; the others run on.
func TestDoorHoldsOnlyItsShards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door, shards := newDoor(t, 4, newSharedClock())
		door.Through([]int{0, 1, 2, 3}, func([]*Keyspace) {})
		ran := door.Through([]int{1, 3}, func(held []*Keyspace) {
			if len(held) != 4 || held[0] != nil || held[2] != nil || held[1] != shards[1].keyspace || held[3] != shards[3].keyspace {
				t.Errorf("held %v", held)
			}
			shards[0].Do(func(ks *Keyspace) { add(ks, 1) })
			go shards[1].Do(func(ks *Keyspace) { add(ks, 1) })
			synctest.Wait()
			if balance(held[1]) != 0 {
				t.Error("a shard that stands ran a batch")
			}
		})
		synctest.Wait()
		if !ran || balance(shards[1].keyspace) != 1 {
			t.Errorf("ran %t; the batch behind the door was lost", ran)
		}
		if !door.Through(nil, func(held []*Keyspace) { ran = len(held) == 4 }) || !ran {
			t.Error("the door does not open for nobody")
		}
	})
}

// The clock is read once all stand: the last one's arrival decides. A shard
// that is ahead of the clock takes the others with it.
func TestDoorTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newSharedClock()
		door, shards := newDoor(t, 2, clock)
		hold := make(gate)
		shards[1].Submit(hold, nil)
		synctest.Wait()
		go func() {
			synctest.Wait() // the door holds shard 0 and waits for shard 1
			clock.now.Add(5000)
			close(hold)
		}()
		door.Through([]int{0, 1}, func(held []*Keyspace) {
			if held[0].Now() != start+5000 || held[1].Now() != start+5000 {
				t.Errorf("times %d and %d, want %d", held[0].Now(), held[1].Now(), start+5000)
			}
		})
		clock.now.Add(7000)
		shards[1].Do(func(*Keyspace) {})
		clock.now.Add(-9000)
		door.Through([]int{0, 1}, func(held []*Keyspace) {
			if held[0].Now() != start+12000 || held[1].Now() != start+12000 {
				t.Errorf("times %d and %d, want %d", held[0].Now(), held[1].Now(), start+12000)
			}
		})
	})
}

// When a shard is closed fn does not run, and those that stood already are let
// go.
func TestDoorAfterClose(t *testing.T) {
	door, shards := newDoor(t, 3, newSharedClock())
	shards[1].Close()
	if door.Through([]int{0, 1, 2}, func([]*Keyspace) { t.Error("ran") }) {
		t.Fatal("Through says it ran")
	}
	if !shards[0].Do(func(*Keyspace) {}) || !door.Through([]int{0, 2}, func([]*Keyspace) {}) {
		t.Fatal("a shard was left standing")
	}
}

func TestDoorRefusesUnorderedShards(t *testing.T) {
	door, _ := newDoor(t, 3, newSharedClock())
	for _, ids := range [][]int{{1, 0}, {1, 1}, {-1}, {3}, {0, 1, 3}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Through(%v) did not panic", ids)
				}
			}()
			door.Through(ids, func([]*Keyspace) { t.Errorf("ran with %v", ids) })
		}()
	}
	if !door.Through([]int{0, 1, 2}, func([]*Keyspace) {}) {
		t.Error("a shard was left standing")
	}
}

// insideDoor names what the process does inside the door when this test binary
// is started by TestDoorEndsTheProcess.
const insideDoor = "LIMITSTORE_TEST_INSIDE_DOOR"

// Work inside the door that does not return ends the process, also when its
// caller recovers from panics: no shard is left standing in silence.
func TestDoorEndsTheProcess(t *testing.T) {
	if how := os.Getenv(insideDoor); how != "" {
		stopInsideDoor(how)
	}
	for how, want := range map[string]string{"panic": "a mistake", "goexit": "<nil>"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestDoorEndsTheProcess$", "-test.timeout=30s")
		cmd.Env = append(os.Environ(), insideDoor+"="+how)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "work on a standing shard did not return: "+want) ||
			!strings.Contains(string(out), "stopInsideDoor") {
			t.Errorf("%s: %v\n%s", how, err, out)
		}
	}
}

func stopInsideDoor(how string) {
	s := New(Config{Clock: newSharedClock()})
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		NewDoor([]*Shard{s}).Through([]int{0}, func([]*Keyspace) {
			if how == "panic" {
				panic("a mistake")
			}
			runtime.Goexit()
		})
	}()
	<-done
	os.Exit(0) // the caller recovered and went on: the test fails
}

// A caller that is slow inside the door holds up its own shards only, and all of
// them go on afterwards.
func TestDoorLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door, shards := newDoor(t, 3, newSharedClock())
		inside, leave := make(chan struct{}), make(chan struct{})
		go door.Through([]int{0, 1}, func([]*Keyspace) {
			close(inside)
			<-leave
		})
		<-inside
		waiting := make(chan struct{})
		go func() {
			door.Through([]int{1, 2}, func([]*Keyspace) {})
			close(waiting)
		}()
		<-time.After(time.Second)
		select {
		case <-waiting:
			t.Error("two callers held shard 1")
		default:
		}
		shards[2].Do(func(*Keyspace) {}) // a higher shard does not stand yet
		close(leave)
		<-waiting
	})
}

package shard

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Door is the only way to work on several shards at once. There is one in the
// program. Its methods are safe for concurrent use.
//
// Shards are asked to stand one after another in ascending order, so nobody
// waits for a lower shard while a higher one stands for him: callers with crossing
// sets of shards wait for each other but never in a circle.
type Door struct {
	shards []*Shard
	mu     sync.Mutex
	idle   []*pass // at most keptPasses
}

// NewDoor makes the door of all shards.
func NewDoor(shards []*Shard) *Door {
	return &Door{shards: shards}
}

// keptPasses bounds the passes kept for reuse. More are made while more callers
// come at once, and forgotten when they have left.
const keptPasses = 64

// pass is one use of the door.
type pass struct {
	stands []stand     // by shard
	held   []*Keyspace // by shard, nil when it does not stand
}

func newPass(shards int) *pass {
	p := &pass{stands: make([]stand, shards), held: make([]*Keyspace, shards)}
	for i := range p.stands {
		p.stands[i] = stand{standing: make(chan *Keyspace), leave: make(chan struct{})}
	}
	return p
}

// stand is the work that makes a busy shard stand: it hands its keyspace over and
// waits until it is let go.
type stand struct {
	standing chan *Keyspace
	leave    chan struct{}
	idle     bool // the shard stood already: the door took hold of it
}

func (s *stand) Run(ks *Keyspace) {
	s.standing <- ks
	<-s.leave
}

// Through makes the shards with the numbers ids stand, ascending and without
// repetition, runs fn on the caller's goroutine while they do, and lets them go.
// held has one element for every shard of the door, nil for those that do not stand.
// The clock is read once all stand, and all have the same Now.
//
// fn must not submit work or come through the door again. A panic in fn ends the
// process, also if the caller would recover from it: what it left half done must not
// be served. After Close of one of the shards Through returns false and fn does
// not run.
func (d *Door) Through(ids []int, fn func(held []*Keyspace)) bool {
	for i, id := range ids {
		if id < 0 || id >= len(d.shards) || i > 0 && id <= ids[i-1] {
			panic(fmt.Sprintf("shard: Through needs ascending shards below %d, got %v", len(d.shards), ids))
		}
	}
	p := d.pass()
	stood := p.enter(d.shards, ids)
	ok := stood == len(ids)
	if ok {
		p.align(ids)
		finish(func() { fn(p.held) })
	}
	p.leave(d.shards, ids[:stood])
	d.giveBack(p)
	return ok
}

func (d *Door) pass() *pass {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.idle)
	if n == 0 {
		return newPass(len(d.shards))
	}
	p := d.idle[n-1]
	d.idle = d.idle[:n-1]
	return p
}

func (d *Door) giveBack(p *pass) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.idle) < keptPasses {
		d.idle = append(d.idle, p)
	}
}

// enter makes the shards stand and returns how many do: all, unless one is
// closed.
func (p *pass) enter(shards []*Shard, ids []int) int {
	for n, id := range ids {
		s := &p.stands[id]
		if s.idle = shards[id].inbox.hold(); s.idle {
			p.held[id] = shards[id].keyspace
			continue
		}
		if !shards[id].Submit(s, nil) {
			return n
		}
		p.held[id] = <-s.standing
	}
	return len(ids)
}

// align gives all standing keyspaces one time, the latest.
func (p *pass) align(ids []int) {
	if len(ids) == 0 {
		return
	}
	now := p.held[ids[0]].clock.Now()
	for _, id := range ids {
		now = max(now, p.held[id].now)
	}
	for _, id := range ids {
		p.held[id].advanceTo(now)
	}
}

func (p *pass) leave(shards []*Shard, ids []int) {
	for _, id := range ids {
		p.held[id] = nil
		if p.stands[id].idle {
			shards[id].tidy(false)
			shards[id].inbox.release()
		} else {
			p.stands[id].leave <- struct{}{}
		}
	}
}

// finish runs fn. If fn does not return, the process ends, whoever would recover:
// what it left half done in a keyspace must not be served.
func finish(fn func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		why := fmt.Sprintf("shard: work on a standing shard did not return: %v\n\n%s", recover(), debug.Stack())
		go func() { panic(why) }() // nobody can recover from a panic over there
		select {}
	}()
	fn()
	returned = true
}

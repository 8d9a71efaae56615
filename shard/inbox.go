package shard

import "sync"

// Work is one batch for a shard.
type Work interface {
	// Run does the work, on the shard's goroutine. It must neither block nor
	// wait for a shard.
	Run(ks *Keyspace)
}

// Ticket waits for any number of batches, on any shards, at once. Add as many
// as will be submitted, Submit each, Wait. It can be used again after Wait. The
// zero value is ready; it must not be copied.
type Ticket struct{ open sync.WaitGroup }

// Add announces n batches. It comes before their Submit.
func (t *Ticket) Add(n int) { t.open.Add(n) }

// Wait returns when all announced batches are done. The last one to finish
// wakes it.
func (t *Ticket) Wait() { t.open.Wait() }

// done says that one batch is done.
func (t *Ticket) done() {
	if t != nil {
		t.open.Done()
	}
}

// parcel is a batch and whom to tell.
type parcel struct {
	work   Work
	ticket *Ticket
}

// inbox is a bounded queue with many senders and one receiver. It hands out what
// is there in one go, under one lock, and wakes the receiver only when it sleeps.
type inbox struct {
	mu      sync.Mutex
	vacancy sync.Cond // signalled when a full ring has room again, or closes
	ring    []parcel
	head, n int
	asleep  bool // the receiver found nothing and waits for the bell
	held    bool // a caller runs on the keyspace while the receiver is asleep
	closed  bool
	alarm   bool // a timer has gone off since the last take
	bell    chan struct{}
}

func (b *inbox) init(size int) {
	b.vacancy.L = &b.mu
	b.ring = make([]parcel, size)
	b.bell = make(chan struct{}, 1)
}

// put queues p, waiting while the ring is full. It reports false when the inbox
// is closed.
func (b *inbox) put(p parcel) bool {
	b.mu.Lock()
	for b.n == len(b.ring) && !b.closed {
		b.vacancy.Wait()
	}
	if b.closed {
		b.mu.Unlock()
		return false
	}
	at := b.head + b.n
	if at >= len(b.ring) {
		at -= len(b.ring)
	}
	b.ring[at] = p
	b.n++
	b.rouse()
	b.mu.Unlock()
	return true
}

// hold takes the receiver's place while it sleeps with nothing to do; false when
// it does not.
func (b *inbox) hold() bool {
	b.mu.Lock()
	ok := b.asleep && !b.held && !b.closed
	b.held = b.held || ok
	b.mu.Unlock()
	return ok
}

// release gives the receiver's place back, and wakes it if there is something to
// do by now.
func (b *inbox) release() {
	b.mu.Lock()
	b.held = false
	if b.n > 0 || b.alarm || b.closed {
		b.rouse()
	}
	b.mu.Unlock()
}

// rouse wakes the receiver if it sleeps and nobody stands in its place, who would
// do it on leaving. mu is held.
func (b *inbox) rouse() {
	if b.asleep && !b.held {
		b.asleep = false
		b.bell <- struct{}{} // never waits: one ring for each sleep
	}
}

// take moves what is there, as far as it fits, to into. If it finds nothing it
// marks the receiver asleep: the next sender rings the bell. alarm
// says that a timer went off since the last take; open is false when the inbox is
// closed and empty.
func (b *inbox) take(into []parcel) (n int, alarm, open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	alarm, b.alarm = b.alarm, false
	if b.n == 0 {
		b.asleep = !alarm
		return 0, alarm, !b.closed
	}
	if b.n == len(b.ring) {
		b.vacancy.Broadcast()
	}
	for n < len(into) && b.n > 0 {
		into[n], b.ring[b.head] = b.ring[b.head], parcel{}
		n++
		b.n--
		if b.head++; b.head == len(b.ring) {
			b.head = 0
		}
	}
	return n, alarm, true
}

// wake makes the receiver look up: its timer has gone off.
func (b *inbox) wake() {
	b.mu.Lock()
	b.alarm = true
	b.rouse()
	b.mu.Unlock()
}

// close refuses everything from now on. What is queued stays.
func (b *inbox) close() {
	b.mu.Lock()
	b.closed = true
	b.vacancy.Broadcast()
	b.rouse()
	b.mu.Unlock()
}

// length is the number of batches that wait.
func (b *inbox) length() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n
}

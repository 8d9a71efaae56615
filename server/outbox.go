package server

import (
	"errors"
	"sync"
)

// errOutboxClosed is why a reply was not written.
var errOutboxClosed = errors.New("server: the outbox is closed")

// outbox is what waits to be written to a connection that others send to: a
// subscriber, or a monitor. A connection has none until it first becomes one;
// then all that is sent to it goes this way, its own replies too, and a goroutine
// of the outbox writes. Nobody who pushes waits for the client.
//
// While the connection is at work on a pipeline its outbox is held: what others
// push waits for the replies that were made before it. So a message that tells of
// a change never overtakes an answer from before the change.
type outbox struct {
	conn  *conn
	names [kinds]map[string]struct{} // subscriptions; guarded by hub.mu

	mu      sync.Mutex
	moved   sync.Cond // on mu: ready, taken or closed has changed
	proto   int       // in which pushes are made
	counts  [kinds]int
	monitor bool
	mute    bool // replies are not sent
	held    bool
	later   []byte // pushes that wait for the end of the pipeline
	ready   []byte // what is written next
	given   uint64 // bytes ever made ready
	taken   uint64 // bytes of those that the client's side has taken
	closed  bool   // nothing is taken or written any more
	direct  bool   // the connection itself writes, not the writer
}

// newOutbox makes the outbox of c and starts its writer. The connection's
// goroutine calls it, in a pipeline.
func newOutbox(c *conn) *outbox {
	o := &outbox{conn: c, proto: c.session.Proto(), mute: c.isMute(), held: true}
	o.moved.L = &o.mu
	c.server.running.Add(1)
	go o.run()
	return o
}

// run writes what is ready until the outbox is closed.
func (o *outbox) run() {
	defer o.conn.server.running.Done()
	var batch []byte
	for {
		if batch = o.next(batch); batch == nil {
			return
		}
		if _, err := o.conn.send(batch); err != nil {
			o.close()
			o.conn.cut(byClient)
			return
		}
		o.sent(len(batch))
	}
}

// keptOutbox bounds the buffer an idle outbox keeps, in bytes.
const keptOutbox = 4 << 10

// next waits for something to write; nil at the end. The buffer of the last batch
// is used again.
func (o *outbox) next(last []byte) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	for (len(o.ready) == 0 || o.direct) && !o.closed {
		o.moved.Wait()
	}
	if o.closed {
		return nil
	}
	if cap(last) > keptOutbox {
		last = nil
	}
	batch := o.ready
	o.ready = last[:0]
	return batch
}

// sent notes that the client's side has taken a batch.
func (o *outbox) sent(bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.taken += uint64(bytes)
	o.moved.Broadcast()
}

// close ends the writer, at the latest when the connection is closed. What was not
// written is dropped.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drop()
}

func (o *outbox) drop() {
	o.closed, o.ready, o.later = true, nil, nil
	o.moved.Broadcast()
}

// add makes bytes ready to be written. o.mu must be held.
func (o *outbox) add(b []byte) {
	if len(b) == 0 || o.closed {
		return
	}
	o.ready = append(o.ready, b...)
	o.given += uint64(len(b))
	o.conn.pulse.due.Add(uint64(len(b)))
	o.moved.Broadcast()
}

// waiting is how many bytes wait for the client. o.mu must be held.
func (o *outbox) waiting() int { return int(o.given-o.taken) + len(o.later) }

// push adds a message from somebody else. A client for whom too much waits is cut
// off.
func (o *outbox) push(d *draft) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.accept(d)
}

// append adds a push of the connection's own.
func (o *outbox) append(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acceptBytes(b)
}

// show adds a line of MONITOR. As in Redis, that is a reply: CLIENT REPLY silences
// it.
func (o *outbox) show(d *draft) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.mute {
		o.accept(d)
	}
}

// accept is push with o.mu held.
func (o *outbox) accept(d *draft) {
	if !o.closed {
		o.acceptBytes(d.bytes(o.proto))
	}
}

func (o *outbox) acceptBytes(b []byte) {
	if o.closed {
		return
	}
	if o.held {
		o.later = append(o.later, b...)
	} else {
		o.add(b)
	}
	if o.waiting() > o.conn.server.cfg.SubscriberBuffer {
		o.drop()
		o.conn.cut(bySlowSubscriber)
	}
}

// Write takes replies of the connection itself and waits until the client's side
// has taken them, as a connection without an outbox does.
func (o *outbox) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.given == o.taken && !o.closed {
		return o.writeDirectly(b)
	}
	o.add(b)
	for end := o.given; o.taken < end; {
		if o.closed {
			return 0, errOutboxClosed
		}
		o.moved.Wait()
	}
	return len(b), nil
}

// writeDirectly writes when nothing waits: there is no need to wake the writer.
// o.mu must be held, and is not held while the client takes b.
func (o *outbox) writeDirectly(b []byte) (int, error) {
	o.given += uint64(len(b))
	o.conn.pulse.due.Add(uint64(len(b)))
	o.direct = true
	o.mu.Unlock()
	n, err := o.conn.send(b)
	o.mu.Lock()
	o.direct = false
	o.taken += uint64(len(b))
	o.moved.Broadcast()
	return n, err
}

// hold makes pushes wait for the end of the pipeline that begins.
func (o *outbox) hold() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = true
}

// release lets pushes through: the pipeline's replies are on their way.
func (o *outbox) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = false
	o.add(o.later)
	o.later = nil
}

// overdue takes out the pushes that wait: the connection puts them among its
// replies where it stands.
func (o *outbox) overdue() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.later
	o.later = nil
	return b
}

// speak sets the protocol of pushes from now on.
func (o *outbox) speak(proto int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.proto = proto
}

// count notes how many subscriptions of a kind there are, for others to see.
func (o *outbox) count(k kind, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts[k] = n
}

// watch notes whether it is a monitor's, for others to see.
func (o *outbox) watch(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.monitor = on
}

// silence notes whether replies are sent.
func (o *outbox) silence(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mute = on
}

// listener is what others may know of a connection that is sent to.
type listener struct {
	counts  [kinds]int // subscriptions
	waiting int        // bytes
	monitor bool
}

// subscribed says whether there is any subscription.
func (l *listener) subscribed() bool { return l.counts != [kinds]int{} }

// listener is that of c; its zero value when c was never one.
func (c *conn) listener() (l listener) {
	o := c.outbox.Load()
	if o == nil {
		return l
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return listener{counts: o.counts, waiting: o.waiting(), monitor: o.monitor}
}

package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/resp"
)

// reason says why a connection ended. The metrics count them.
type reason uint32

// The reasons, open meaning that it has not.
const (
	open reason = iota
	byClient
	byQuit
	byProtocol
	byStranger
	byQueryLimit
	byOutputLimit
	byWriteTimeout
	byIdleTimeout
	byKill
	byShutdown
	byHandshake
	bySlowSubscriber
	reasons // how many there are
)

// reasonNames are the reasons as the metrics spell them.
var reasonNames = [reasons]string{
	byClient: "client", byQuit: "quit", byProtocol: "protocol_error", byStranger: "http", byQueryLimit: "query_buffer",
	byOutputLimit: "output_buffer", byWriteTimeout: "write_timeout", byIdleTimeout: "idle_timeout",
	byKill: "killed", byShutdown: "shutdown", byHandshake: "tls_handshake",
	bySlowSubscriber: "subscriber_buffer",
}

// conn is one client's connection. Its goroutine alone uses it, except for what
// is marked.
type conn struct {
	server  *Server
	net     net.Conn // what is spoken over: raw, or TLS over raw
	raw     net.Conn // others may set its deadlines and close it
	session *engine.Session
	reader  *resp.Reader
	id      int64

	authenticated bool
	listening     bool // it has subscriptions
	monitoring    bool
	muting        muting
	leaving       reason // no command is taken any more
	taken         uint64 // commands handed to the engine
	last          *engine.Command
	tally         tally

	fd      uintptr // of the socket, while direct
	direct  bool    // reads are readNow
	drained bool    // the last read took all that had arrived
	served  int     // pipelines

	pulse    pulse                    // read by others
	identity atomic.Pointer[identity] // read by others
	outbox   atomic.Pointer[outbox]   // nil until others may send to it; read by others
	cutBy    atomic.Uint32            // the reason of whoever closed it from outside
	wide     atomic.Bool              // its buffers have grown; read by the watch
	trusted  atomic.Bool              // it waits without a look, see listen; read by the watch
	slimDue  atomic.Bool              // it has idled with large buffers; set by the watch
	seen     sighting                 // guarded by Server.mu
}

// pulse is what others may know of a connection at work. Each field is written
// at most once for each pipeline.
type pulse struct {
	in   atomic.Uint64 // bytes received
	done atomic.Uint64 // commands taken, and the ID of the last: see publish
	due  atomic.Uint64 // bytes of replies given out for writing
	out  atomic.Uint64 // bytes of replies taken by the client's side

	multi   atomic.Int32 // commands queued after MULTI, and one more; 0: no transaction is open
	watches atomic.Int32 // keys watched
}

// idBits are the low bits of pulse.done that hold a command's ID.
const idBits = 16

// identity is what a client has told of itself. It is replaced, not changed.
type identity struct {
	name, library, version string
	db, proto              int
}

// newcomer is the identity of a client that has said nothing.
var newcomer = &identity{proto: resp.RESP2}

func newConn(s *Server, nc net.Conn, id int64) *conn {
	c := &conn{server: s, net: nc, raw: nc, id: id, authenticated: s.secret.Load() == nil}
	if _, here := nc.(local); s.cfg.TLS != nil && !here {
		c.net = tls.Server(nc, s.cfg.TLS)
	}
	c.identity.Store(newcomer)
	c.slim()
	return c
}

// slim begins with new, small buffers: the first ones, or in place of those that
// a burst of work has left large.
func (c *conn) slim() {
	c.wide.Store(false)
	if c.reader == nil || c.reader.Buffered() == 0 {
		c.reader = resp.NewReader(c, c.server.cfg.Wire)
		c.reader.SetUnauthenticated(!c.authenticated)
	}
	before := c.session
	c.session = c.server.engine.NewSession(c, c)
	c.session.Ran, c.session.Took = c.ran, c.took
	if before != nil {
		c.session.Inherit(before)
	}
}

// serve is the connection's goroutine.
func (c *conn) serve() {
	why := c.converse()
	c.session.Close()
	if cut := reason(c.cutBy.Load()); cut != open {
		why = cut
	}
	if why == bySlowSubscriber {
		c.notice(noticeSubscriber, "connection closed: a subscriber does not keep up", "bytes", c.server.cfg.SubscriberBuffer)
	}
	c.retire()
	c.server.cfg.Log.Debug("connection closed", "id", c.id, "addr", c.net.RemoteAddr(), "reason", reasonNames[why])
	c.server.forget(c, why) // first: who sees the end may come back at once
	c.net.Close()
	c.server.running.Done()
}

// retire takes the connection out of what others send to.
func (c *conn) retire() {
	if o := c.outbox.Load(); o != nil {
		c.stopMonitoring()
		c.server.hub.leave(o)
		o.close()
	}
}

// converse serves pipeline after pipeline and returns why it ended.
func (c *conn) converse() reason {
	if err := c.handshake(); err != nil {
		c.server.cfg.Log.Debug("TLS handshake failed", "addr", c.net.RemoteAddr(), "err", err)
		return byHandshake
	}
	for c.leaving == open {
		if err := c.listen(); err != nil && !c.nudged(err) {
			return c.failed(err)
		}
		if c.slimDue.Swap(false) {
			c.slim()
		}
	}
	if c.leaving == byProtocol {
		c.linger()
	}
	return c.leaving
}

// nudged says whether it was the watch that woke the connection: it has idled. Shutdown wakes it the same way, and is asked about after the
// deadline was taken back: what it does later is not undone.
func (c *conn) nudged(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	_ = c.net.SetReadDeadline(time.Time{})
	return !c.server.isStopping()
}

// handshake is done before the first command, so that a failure has a name.
func (c *conn) handshake() error {
	secure, ok := c.net.(*tls.Conn)
	if !ok {
		return nil
	}
	limited, cancel := context.WithTimeout(context.Background(), c.server.cfg.WriteTimeout)
	defer cancel()
	return secure.HandshakeContext(limited)
}

// pipeline takes what has arrived, and holds back what others send meanwhile.
func (c *conn) pipeline() error {
	c.hold()
	err := c.takeAll()
	c.release()
	return err
}

// hold makes what others send wait for the replies of a pipeline.
func (c *conn) hold() {
	if o := c.outbox.Load(); o != nil {
		o.hold()
	}
}

// release lets it through: the replies are on their way.
func (c *conn) release() {
	if o := c.outbox.Load(); o != nil {
		o.release()
	}
}

// takeAll takes every complete command that has arrived and writes all replies at
// once.
func (c *conn) takeAll() error {
	c.session.TimeAll = c.server.slow.every.Load()
	for c.leaving == open {
		args, err := c.reader.Next()
		if err != nil {
			c.breach(err)
			break
		}
		if args == nil {
			break
		}
		if c.muting == muteNext {
			err = c.takeMuted(args)
		} else {
			err = c.take(args)
		}
		if err != nil {
			return err
		}
	}
	c.publish()
	if c.leaving == byStranger {
		return nil
	}
	return c.session.Flush()
}

// take hands one command to the engine, or answers why not.
func (c *conn) take(args [][]byte) error {
	row := c.last
	if row == nil || !row.Runs(args) { // most often a client says the same again
		var refusal string
		if row, refusal = c.server.table.Resolve(args); row == nil {
			c.refuse(args, refusal)
			return nil
		}
	}
	if !c.authenticated && row.Flags&engine.NoAuth == 0 {
		c.reject(args, failNoAuth.text())
		return nil
	}
	if (c.listening || c.monitoring) && !c.permits(row, args) {
		return nil
	}
	if c.server.attention.Load() != 0 {
		return c.takeAttended(row, args)
	}
	c.taken++
	c.last = row
	return c.session.Queue(row, args)
}

// permits says whether a subscriber or a monitor may give the command, or answers
// why not.
func (c *conn) permits(row *engine.Command, args [][]byte) bool {
	switch {
	case c.listening && row.Flags&engine.Subscribed == 0 && c.session.Proto() == resp.RESP2:
		c.reject(args, failSubscribed.text(row.Lower()))
	case c.monitoring && row.Flags&(engine.ReadOnly|engine.Write|engine.MayReplicate) != 0:
		c.reject(args, failMonitor.text())
	default:
		return true
	}
	return false
}

// takeAttended takes a command while there are monitors, or a pause.
func (c *conn) takeAttended(row *engine.Command, args [][]byte) error {
	if err := c.abide(row); err != nil {
		return err
	}
	c.taken++
	c.last = row
	err := c.session.Queue(row, args)
	c.show(row, args)
	return err
}

// refuse answers what is no command. A browser that was lured into posting to
// this port is not answered at all: as Redis does, its connection is closed at
// the word that every HTTP request has.
func (c *conn) refuse(args [][]byte, unknown string) {
	if engine.EqualFold(args[0], "POST") || engine.EqualFold(args[0], "HOST:") {
		c.leaving = byStranger
		c.notice(noticeStranger, "connection closed: it speaks HTTP; somebody may be attacking through a browser")
		return
	}
	if text, ok := refusal(args); ok {
		if unknown = text; !c.authenticated {
			unknown = failNoAuth.text()
		}
	}
	c.reject(args, unknown)
}

// reject answers a command that does not run.
func (c *conn) reject(args [][]byte, text string) {
	c.server.counts.rejected.Add(1)
	c.server.counts.fail([]byte(c.session.Refuse(args, text)))
}

// breach answers bytes that cannot be understood; whatever follows them cannot
// be either.
func (c *conn) breach(err error) {
	c.leaving = byProtocol
	if c.muting == muteNext {
		c.mute(true)
	}
	c.session.Refuse(nil, "ERR "+err.Error())
	c.notice(noticeProtocol, "connection closed: protocol error", "err", err)
}

// failed is the reason for leaving after an error. What the client is to blame
// for is logged.
func (c *conn) failed(err error) reason {
	switch {
	case errors.Is(err, resp.ErrQueryLimit):
		c.notice(noticeQuery, "connection closed: query buffer full", "bytes", c.server.cfg.Wire.Query)
		return byQueryLimit
	case errors.Is(err, engine.ErrOutput):
		c.notice(noticeOutput, "connection closed: reply too large", "bytes", c.server.engine.Limits().Output)
		return byOutputLimit
	case errors.Is(err, os.ErrDeadlineExceeded):
		return byShutdown
	}
	return byClient
}

// notice logs something about the client, seldom.
func (c *conn) notice(kind noticeKind, text string, more ...any) {
	c.server.notices.say(kind, text, append(more, "addr", c.net.RemoteAddr(), "id", c.id)...)
}

// cut closes the connection from outside its goroutine. That stops its reading
// and writing at once; Close itself returns when what the connection is at has ended,
// which nobody waits for.
func (c *conn) cut(why reason) {
	c.cutBy.CompareAndSwap(uint32(open), uint32(why))
	go c.raw.Close()
}

// The most that is read from a client after its protocol error, and at once.
const (
	lingerTime  = time.Second
	lingerBytes = 1 << 20
	lingerPiece = 4 << 10
)

// linger reads on for a moment after the last reply, until the client has seen it
// and closes. Closing with bytes unread would reset the connection, and the
// client might never see what was wrong.
func (c *conn) linger() {
	half, ok := c.net.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = c.net.SetReadDeadline(time.Now().Add(lingerTime))
	piece := make([]byte, lingerPiece)
	for read := 0; read < lingerBytes; {
		n, err := c.net.Read(piece)
		if err != nil {
			return
		}
		read += n
	}
}

// publish lets others see what was taken so far.
func (c *conn) publish() {
	c.tally.count(c.server.counts)
	if c.last != nil {
		c.pulse.done.Store(c.taken<<idBits | uint64(c.last.ID()))
	}
	republish(&c.pulse.multi, c.session.Queued()+1)
	republish(&c.pulse.watches, c.session.Watches())
}

// republish stores what seldom changes only when it has: looking costs less.
func republish(into *atomic.Int32, n int) {
	if into.Load() != int32(n) {
		into.Store(int32(n))
	}
}

// ran is told by the session of commands that no shard counts.
func (c *conn) ran(row *engine.Command, reply []byte) {
	if row != c.tally.row {
		c.tally.count(c.server.counts)
		c.tally.row = row
	}
	c.tally.calls++
	if len(reply) > 0 && reply[0] == '-' {
		c.server.counts.failed[row.ID()].Add(1)
		c.server.counts.fail(reply)
	}
}

// tally counts a run of equal commands, so that a pipeline of PING touches a
// shared counter once.
type tally struct {
	row   *engine.Command
	calls uint64
}

func (t *tally) count(into *counts) {
	if t.calls > 0 {
		into.calls[t.row.ID()].Add(t.calls)
		t.calls = 0
	}
}

// identify replaces what is known of the client.
func (c *conn) identify(change func(*identity)) {
	next := *c.identity.Load()
	change(&next)
	c.identity.Store(&next)
}

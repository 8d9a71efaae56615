package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/resp"
	"github.com/limitstore/limitstore/shard"
)

// Config says how a server meets its clients. A zero field means its default.
type Config struct {
	Addr             string        // where it listens, as CONFIG GET shows it; Serve is given the listener
	Password         string        // what AUTH must say; empty: nothing needs to be said
	TLS              *tls.Config   // nil: plain TCP
	Wire             resp.Limits   // of what a client may send
	MaxClients       int           // connections at once; default 10,000
	IdleTimeout      time.Duration // a connection that sends nothing for so long is closed; 0: never
	WriteTimeout     time.Duration // a connection that takes none of its replies for so long is closed; default 30 s
	MaxSubscriptions int           // of one connection; default 65,536
	SubscriberBuffer int           // bytes that may wait for one subscriber; default 32 MiB
	Log              *slog.Logger  // nil: nothing is logged
	Thresholds       *Thresholds   // of slow commands; nil: Redis'
	NeedsPassword    bool          // CONFIG SET may not take the password away
	Version          string        // limitstore's
	Commit           string
	Settings         []Setting // what CONFIG GET shows beside Redis' own names
	Shutdown         func()    // what SHUTDOWN calls; it must return at once. nil: SHUTDOWN is refused
}

// Setting is one setting of the process, as CONFIG GET shows it.
type Setting struct{ Name, Value string }

// The defaults of Config.
const (
	DefaultMaxClients   = 10_000
	DefaultWriteTimeout = 30 * time.Second

	DefaultMaxSubscriptions = 65_536
	DefaultSubscriberBuffer = 32 << 20
)

func (c Config) withDefaults() Config {
	if c.MaxClients == 0 {
		c.MaxClients = DefaultMaxClients
	}
	if c.WriteTimeout == 0 {
		c.WriteTimeout = DefaultWriteTimeout
	}
	if c.MaxSubscriptions == 0 {
		c.MaxSubscriptions = DefaultMaxSubscriptions
	}
	if c.SubscriberBuffer == 0 {
		c.SubscriberBuffer = DefaultSubscriberBuffer
	}
	if c.Wire == (resp.Limits{}) {
		c.Wire = resp.DefaultLimits()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Server serves one engine to any number of clients. Its methods are safe for
// concurrent use.
type Server struct {
	cfg     Config
	engine  *engine.Engine
	table   *engine.Table
	secret  atomic.Pointer[[sha256.Size]byte] // of the password; nil when there is none
	runID   string                            // 40 hex digits, new at each start
	started limit.Instant
	counts  *counts
	notices notices
	hub     hub
	logins  failedLogins
	slow    slowness
	turn    sync.Mutex             // of clients that change settings
	base    atomic.Pointer[census] // what CONFIG RESETSTAT found; INFO counts from there

	attention    atomic.Int32 // monitors, and one for a pause: commands are taken with more care
	intermission intermission

	mu        sync.Mutex
	listeners map[net.Listener]bool
	conns     map[int64]*conn
	nextID    int64
	tcpPort   int // of the first listener
	stopping  bool
	watch     watch // guarded by mu

	begin   sync.Once        // starts the watch
	ticks   <-chan time.Time // when the watch looks; nil: once a second
	stop    chan struct{}    // closed by Shutdown
	running sync.WaitGroup   // connections and the watch
}

// New makes a server of e, whose table must hold the rows of Commands. Nothing
// runs before Serve.
func New(e *engine.Engine, cfg Config) *Server {
	s := &Server{
		cfg: cfg.withDefaults(), engine: e, table: e.Table(), runID: newRunID(),
		counts:    newCounts(len(e.Table().Rows())),
		listeners: map[net.Listener]bool{}, conns: map[int64]*conn{}, stop: make(chan struct{}),
	}
	s.notices = notices{log: s.cfg.Log}
	s.setPassword(cfg.Password)
	s.slow.set(RedisThresholds)
	if cfg.Thresholds != nil {
		s.slow.set(*cfg.Thresholds)
	}
	s.started = now(e.On)
	return s
}

// setPassword is what AUTH must say from now on; who is in stays in.
func (s *Server) setPassword(password string) {
	if password == "" {
		s.secret.Store(nil)
		return
	}
	digest := sha256.Sum256([]byte(password))
	s.secret.Store(&digest)
}

func newRunID() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // it never fails: the process ends when the system has no randomness
	return hex.EncodeToString(b[:])
}

// now is the time of the first shard; on visits a shard: Engine.On, or Call.On
// for a call that may hold it.
func now(on func(i int, fn atShard)) (now limit.Instant) {
	on(0, func(_ int, ks *shard.Keyspace, _ *engine.Stats) { now = ks.Now() })
	return now
}

// atShard is what is done on a shard.
type atShard = func(i int, ks *shard.Keyspace, st *engine.Stats)

// Serve accepts connections from ln, and closes it at the end. It returns nil
// after Shutdown, or the error that ended accepting. Several listeners may be
// served at once.
func (s *Server) Serve(ln net.Listener) error {
	defer ln.Close()
	if !s.listen(ln) {
		return nil
	}
	pause := time.Duration(0)
	for {
		nc, err := ln.Accept()
		switch {
		case err == nil:
			pause = 0
			s.admit(placed(nc))
		case s.isStopping():
			return nil
		case !passing(err):
			return err
		default:
			pause = min(max(2*pause, firstPause), longestPause)
			s.notices.say(noticeAccept, "cannot accept connections", "err", err)
			s.rest(pause)
		}
	}
}

// How long accepting pauses when the system is out of descriptors or memory.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = time.Second
)

// passing says whether an error of Accept may go away by itself.
func passing(err error) bool {
	var temporary interface{ Temporary() bool }
	return errors.As(err, &temporary) && temporary.Temporary()
}

// rest waits, or until Shutdown.
func (s *Server) rest(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.stop:
	}
}

// listen remembers ln and announces the watch; false after Shutdown.
func (s *Server) listen(ln net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	s.listeners[ln] = true
	if addr, ok := ln.Addr().(*net.TCPAddr); ok && s.tcpPort == 0 {
		s.tcpPort = addr.Port
	}
	s.begin.Do(func() {
		s.running.Add(1)
		go s.keepWatch()
	})
	return true
}

func (s *Server) isStopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopping
}

// admit starts a connection, or turns it away when there are too many.
func (s *Server) admit(nc net.Conn) {
	s.mu.Lock()
	most := s.cfg.MaxClients
	full := len(s.conns) >= most
	if full || s.stopping {
		s.mu.Unlock()
		s.turnAway(nc, full, most)
		return
	}
	s.nextID++
	c := newConn(s, nc, s.nextID)
	c.seen.born = s.watch.visits
	s.conns[c.id] = c
	s.running.Add(1)
	s.mu.Unlock()
	s.counts.accepted.Add(1)
	go c.serve()
}

// turnAway tells a client why it is not served. A new socket has room for so
// few bytes, so this does not wait. Over TLS nothing is said: that would take a
// handshake.
func (s *Server) turnAway(nc net.Conn, full bool, most int) {
	if full {
		s.counts.refused.Add(1)
		s.notices.say(noticeFull, "connection refused: too many clients", "max_clients", most)
	}
	if full && s.cfg.TLS == nil {
		var w resp.Writer
		w.Error(failTooManyClients.text())
		_, _ = nc.Write(w.Bytes()) // the client may be gone
	}
	nc.Close()
}

// forget drops a connection that has ended and keeps what it counted.
func (s *Server) forget(c *conn, why reason) {
	s.counts.ended[why].Add(1)
	s.mu.Lock()
	delete(s.conns, c.id)
	s.watch.gone.add(c.pulse.read())
	s.mu.Unlock()
}

// longAgo is a read deadline that has passed.
func longAgo() time.Time { return time.Unix(1, 0) }

// Shutdown stops accepting, lets each connection finish the pipeline it is in,
// and closes it. When ctx ends first, connections are cut off and ctx's error is
// returned. No goroutine of the server is left afterwards. It must not be called
// by a command.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	if !s.stopping {
		s.stopping = true
		close(s.stop)
	}
	for ln := range s.listeners {
		ln.Close()
	}
	for _, c := range s.conns {
		_ = c.raw.SetReadDeadline(longAgo()) // wakes it if it waits for the client
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	s.cutAll()
	<-done
	return ctx.Err()
}

func (s *Server) cutAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.cut(byShutdown)
	}
}

// counts are the counters of the server that no shard keeps.
type counts struct {
	accepted  atomic.Uint64
	refused   atomic.Uint64
	wrongPass atomic.Uint64
	ended     [reasons]atomic.Uint64 // by reason
	calls     []atomic.Uint64        // commands that ran without a shard, by ID
	failed    []atomic.Uint64        // of those, the ones that replied with an error
	timed     []atomic.Uint64        // of those, the ones that were timed
	took      []atomic.Uint64        // their time in nanoseconds
	rejected  atomic.Uint64          // commands refused before they ran

	mu     sync.Mutex
	errors map[string]uint64 // by code, as engine.Stats
}

func newCounts(commands int) *counts {
	return &counts{
		calls: make([]atomic.Uint64, commands), failed: make([]atomic.Uint64, commands),
		timed: make([]atomic.Uint64, commands), took: make([]atomic.Uint64, commands), errors: map[string]uint64{},
	}
}

// fail counts an error reply by its code.
func (c *counts) fail(reply []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errors[string(engine.ErrorCode(reply))]++
}

// port is that of the first listener; 0 when it has none.
func (s *Server) port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tcpPort
}

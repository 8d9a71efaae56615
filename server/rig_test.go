package server

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/limitstore/limitstore/clock"
	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/shard"
)

// No test may leave a connection, the watch or a shard running. The client rueidis
// may leave a goroutine that sleeps for up to a second after it was closed.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*call).DelayDo.func1"))
}

// midnight is when the clock of a rig stands: 2026-01-01 00:00:00 UTC.
const midnight = limit.Instant(1767225600 * int64(time.Second))

// patience bounds every wait for something that must happen; it decides nothing.
const patience = 30 * time.Second

// rig is a server on loopback whose clock and watch are moved by hand.
type rig struct {
	*Server
	t     testing.TB
	addr  string
	clock *clock.Manual
	ticks chan time.Time
	log   *logbook
	ended chan error // what Serve returned
}

// setup is what a rig is made of, as a test changes it.
type setup struct {
	Config
	shards int
	limits engine.Limits
	clock  shard.Clock // nil: the rig's, moved by hand
}

// newRig starts a server; it ends with the test.
func newRig(t testing.TB, change ...func(*setup)) *rig {
	t.Helper()
	r := &rig{t: t, clock: clock.NewManual(midnight), ticks: make(chan time.Time), log: &logbook{}, ended: make(chan error, 1)}
	s := setup{shards: 2, Config: Config{Version: "1.2.3", Commit: "abc", Log: slog.New(slog.NewTextHandler(r.log, nil))}}
	for _, c := range change {
		c(&s)
	}
	table, err := engine.NewTable(engine.Commands(), Commands())
	if err != nil {
		t.Fatal(err)
	}
	if s.clock == nil {
		s.clock = r.clock
	}
	e := engine.New(engine.Config{Shards: s.shards, Clock: s.clock, Seed: shard.Seed{1, 2}, Table: table, Limits: s.limits})
	t.Cleanup(e.Close)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = ln.Addr().String()
	s.Addr = r.addr
	r.Server = New(e, s.Config)
	r.Server.ticks = r.ticks
	go func() { r.ended <- r.Serve(ln) }()
	t.Cleanup(func() {
		cut, cancel := context.WithCancel(context.Background())
		cancel()
		_ = r.Shutdown(cut)
	})
	return r
}

// visits makes the watch look n times.
func (r *rig) visits(n int) {
	for range n {
		r.look()
	}
}

// settled waits until every reply given out is counted as taken: a client may see
// it a moment before.
func (r *rig) settled() {
	r.t.Helper()
	eventually(r.t, "all is written", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, c := range r.conns {
			if c.pulse.due.Load() != c.pulse.out.Load() {
				return false
			}
		}
		return true
	})
}

// logbook keeps what was logged.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// lines are the log lines that hold word.
func (l *logbook) lines(word string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, word) {
			found = append(found, line)
		}
	}
	return found
}

// caller is one raw connection.
type caller struct {
	net.Conn
	t  testing.TB
	in *bufio.Reader
}

// call connects to the rig.
func (r *rig) call() *caller {
	r.t.Helper()
	return callAt(r.t, r.addr)
}

func callAt(t testing.TB, addr string) *caller {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return newCaller(t, nc)
}

func newCaller(t testing.TB, nc net.Conn) *caller {
	t.Cleanup(func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(patience))
	return &caller{Conn: nc, t: t, in: bufio.NewReader(nc)}
}

// send writes raw bytes.
func (c *caller) send(raw string) {
	c.t.Helper()
	if _, err := io.WriteString(c, raw); err != nil {
		c.t.Fatalf("sending %.60q: %v", raw, err)
	}
}

// reply reads one raw reply.
func (c *caller) reply() string {
	c.t.Helper()
	b, err := redistest.AppendReply(nil, c.in)
	if err != nil {
		c.t.Fatalf("after %.200q: %v", b, err)
	}
	return string(b)
}

// replies reads n raw replies, joined.
func (c *caller) replies(n int) string {
	c.t.Helper()
	var all strings.Builder
	for range n {
		all.WriteString(c.reply())
	}
	return all.String()
}

// do sends one command, its words split at spaces, and returns the raw reply.
func (c *caller) do(line string) string {
	c.t.Helper()
	c.send(request(strings.Fields(line)...))
	return c.reply()
}

// rest is everything up to the end of the stream. A reset counts as an end.
func (c *caller) rest() string {
	c.t.Helper()
	b, err := io.ReadAll(c.in)
	if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
		c.t.Fatalf("the connection stays open after %.200q", b)
	}
	return string(b)
}

// request is a command as it is sent.
func request(words ...string) string { return string(redistest.Request(words...)) }

// parsed is a reply as Go values: string, int64, nil, []any; a map is a list of
// names and values, an error a string that begins with "-".
func parsed(t testing.TB, raw string) any {
	t.Helper()
	v, rest := parseReply(t, raw)
	if rest != "" {
		t.Fatalf("%q goes on with %q", raw, rest)
	}
	return v
}

func parseReply(t testing.TB, raw string) (any, string) {
	head, rest, ok := strings.Cut(raw, "\r\n")
	if !ok || head == "" {
		t.Fatalf("not a reply: %q", raw)
	}
	text := head[1:]
	n, _ := strconv.Atoi(text)
	switch head[0] {
	case '+':
		return text, rest
	case '-':
		return head, rest
	case ':':
		return int64(n), rest
	case '_':
		return nil, rest
	case '$', '=':
		if n < 0 {
			return nil, rest
		}
		return strings.TrimPrefix(rest[:n], "txt:"), rest[n+2:]
	case '%':
		n *= 2
	}
	all := []any{}
	for range n {
		var v any
		v, rest = parseReply(t, rest)
		all = append(all, v)
	}
	return all, rest
}

// listOf is a reply that is a list of strings.
func listOf(v any) (list []string) {
	for _, x := range v.([]any) {
		list = append(list, x.(string))
	}
	return list
}

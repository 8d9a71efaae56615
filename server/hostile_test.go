package server

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/resp"
)

// eventually waits for something that happens on other goroutines.
func eventually(t testing.TB, what string, happened func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatal("it did not happen: " + what)
		}
	}
}

// memoryHeld is what the program holds after a collection, stacks included.
func memoryHeld() int64 {
	runtime.GC()
	runtime.GC() // what finalizers let go of
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// frame is something a hostile client sends, and what the connection says to it
// before it closes; "" where it only waits for more.
type frame struct{ name, sent, answer string }

func hostileFrames() []frame {
	protocol := func(text string) string { return "-ERR Protocol error: " + text + "\r\n" }
	return []frame{
		{"count beyond all bounds", "*9223372036854775807\r\n", protocol("invalid multibulk length")},
		{"count of 20 digits", "*99999999999999999999\r\n", protocol("invalid multibulk length")},
		{"one word too many announced", "*1048577\r\n", protocol("invalid multibulk length")},
		{"most words announced, none sent", "*1048576\r\n", ""},
		{"negative length", "*2\r\n$3\r\nGET\r\n$-1\r\n", protocol("invalid bulk length")},
		{"most negative length", "*1\r\n$-9223372036854775808\r\n", protocol("invalid bulk length")},
		{"length beyond all bounds", "*1\r\n$9223372036854775807\r\n", protocol("invalid bulk length")},
		{"largest word announced, not sent", "*2\r\n$3\r\nGET\r\n$67108864\r\n", ""},
		{"no length", "*1\r\nGET\r\n", protocol("expected '$', got 'G'")},
		{"half a header", "*2", ""},
		{"half a command", "*2\r\n$3\r\nGE", ""},
		{"a line without an end", strings.Repeat("a", 64<<10+1), protocol("too big inline request")},
		{"a count without an end", "*" + strings.Repeat("1", 64<<10+1), protocol("too big mbulk count string")},
		{"an open quote", "SET \"a\r\n", protocol("unbalanced quotes in request")},
		{"nothing at all", "", ""},
		{"empty commands without end", strings.Repeat("*0\r\n*-1\r\n\r\n", 5000), ""},
	}
}

// TestHostileFrames sends each frame and sees it answered, and the server well.
func TestHostileFrames(t *testing.T) {
	r := newRig(t)
	for _, f := range hostileFrames() {
		t.Run(f.name, func(t *testing.T) {
			c := callAt(t, r.addr)
			c.send(f.sent)
			if f.answer == "" {
				_ = c.Conn.(*net.TCPConn).CloseWrite()
			}
			if got := c.rest(); got != f.answer {
				t.Errorf("got %q, want %q", got, f.answer)
			}
			if got := r.call().do("PING"); got != "+PONG\r\n" {
				t.Errorf("after it, PING answers %q", got)
			}
		})
	}
}

// hostileBytes bounds what one connection may make the server hold by announcing
// much and sending little.
const hostileBytes = 48 << 10

// TestHostileFramesCostLittle holds many such connections open at once.
func TestHostileFramesCostLittle(t *testing.T) {
	const each = 100
	for _, f := range hostileFrames() {
		if f.answer != "" || len(f.sent) > hostileBytes {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			r := newRig(t)
			before := memoryHeld()
			for range each {
				callAt(t, r.addr).send(f.sent)
			}
			eventually(t, "all has arrived", func() bool {
				done, n := r.sum()
				return n == each && done.in == uint64(each*len(f.sent))
			})
			// The caller's side is in this process too: a socket and a 4 KiB reader.
			if grown := (memoryHeld() - before) / each; grown > hostileBytes {
				t.Errorf("a connection costs %d bytes, at most %d", grown, hostileBytes)
			}
		})
	}
}

// counted is a connection that counts its reads.
type counted struct {
	net.Conn
	reads atomic.Int64
}

func (c *counted) Read(b []byte) (int, error) {
	c.reads.Add(1)
	return c.Conn.Read(b)
}

// TestNoFrameMakesItSpin counts reads: at most two for each piece that arrives,
// which may lie across the end of a buffer, and one that waits for more.
func TestNoFrameMakesItSpin(t *testing.T) {
	for _, f := range hostileFrames() {
		t.Run(f.name, func(t *testing.T) {
			r := newRig(t)
			near, far := net.Pipe()
			line := &counted{Conn: far}
			done := r.serveOver(line)
			go io.Copy(io.Discard, near)
			pieces := 0
			for sent := f.sent; sent != ""; pieces++ {
				n := min(len(sent), 1000)
				if _, err := io.WriteString(near, sent[:n]); err != nil {
					break // it has closed
				}
				sent = sent[n:]
			}
			near.Close()
			<-done
			if reads := int(line.reads.Load()); reads > 2*pieces+2 {
				t.Errorf("%d reads for %d pieces", reads, pieces)
			}
		})
	}
}

// serveOver serves nc as if it had been accepted.
func (r *rig) serveOver(nc net.Conn) (done chan struct{}) {
	done = make(chan struct{})
	c := newConn(r.Server, nc, 1<<20)
	r.mu.Lock()
	r.conns[c.id] = c
	r.running.Add(1)
	r.mu.Unlock()
	go func() {
		c.serve()
		close(done)
	}()
	return done
}

// TestBinaryKeys uses every byte in keys and values.
func TestBinaryKeys(t *testing.T) {
	var all strings.Builder
	for b := range 256 {
		all.WriteByte(byte(b))
	}
	c := newRig(t).call()
	c.send(request("SET", all.String(), all.String()+all.String()) + request("GET", all.String()) + request("GET", "\r\n"))
	want := "+OK\r\n$512\r\n" + all.String() + all.String() + "\r\n$-1\r\n"
	if got := c.replies(3); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// slowBytes bounds what a client that does not read makes the server hold: the
// replies of one pause and what two shards had begun.
const slowBytes = 8 << 20

// TestAClientThatDoesNotRead costs bounded memory, and is closed by the watch.
func TestAClientThatDoesNotRead(t *testing.T) {
	r := newRig(t, func(s *setup) { s.WriteTimeout = 5 * time.Second })
	if got := func() string {
		c := r.call()
		c.send(request("SET", "big", strings.Repeat("x", 1<<20)))
		return c.reply()
	}(); got != "+OK\r\n" {
		t.Fatal(got)
	}
	near, far := net.Pipe()
	done := r.serveOver(far)
	before := memoryHeld()
	const asked = 300 // MiB
	go io.WriteString(near, strings.Repeat(request("GET", "big")+request("GET", "nobody"), asked))
	c := func() *conn { r.mu.Lock(); defer r.mu.Unlock(); return r.conns[1<<20] }()
	eventually(t, "it is being answered", func() bool { return c.pulse.due.Load() > 0 })
	if grown := memoryHeld() - before; grown > slowBytes {
		t.Errorf("%d MiB asked for and not read cost %d bytes, at most %d", asked, grown, slowBytes)
	}
	r.visits(5) // the first sees it, four more have passed since
	select {
	case <-done:
		t.Fatal("closed before its time")
	default:
	}
	r.visits(1)
	<-done
	if n := r.counts.ended[byWriteTimeout].Load(); n != 1 {
		t.Errorf("%d connections ended by the write timeout", n)
	}
	if len(r.log.lines("does not read its replies")) != 1 {
		t.Errorf("it is not logged: %v", r.log.lines(""))
	}
	near.Close() // ends the sender too
}

// TestASlowReaderIsServed lets a client take its replies piece by piece, the
// watch looking in between more often than the timeout has seconds.
func TestASlowReaderIsServed(t *testing.T) {
	r := newRig(t, func(s *setup) { s.WriteTimeout = 2 * time.Second })
	near, far := net.Pipe()
	done := r.serveOver(far)
	go io.WriteString(near, request("SET", "big", strings.Repeat("x", 4*writePiece))+request("GET", "big"))
	buf := make([]byte, writePiece)
	head, _ := io.ReadFull(near, buf[:5])
	total := head
	for total < 5+4*writePiece {
		r.visits(1)
		n, err := io.ReadFull(near, buf)
		if total += n; err != nil {
			t.Fatalf("cut off after %d bytes: %v", total, err)
		}
	}
	near.Close()
	<-done
}

// TestQueryBufferFull closes without an answer, as Redis does.
func TestQueryBufferFull(t *testing.T) {
	r := newRig(t, func(s *setup) { s.Wire = resp.Limits{Args: 100, Bulk: 1 << 20, Query: 64 << 10, Inline: 64 << 10} })
	c := r.call()
	c.send("PING\r\n*2\r\n$3\r\nGET\r\n$1000000\r\n")
	go io.WriteString(c.Conn, strings.Repeat("x", 1000000)) // it is closed meanwhile
	if got := c.rest(); got != "+PONG\r\n" {
		t.Errorf("got %q", got)
	}
	eventually(t, "it is counted", func() bool { return r.counts.ended[byQueryLimit].Load() == 1 })
	if len(r.log.lines("query buffer full")) != 1 {
		t.Error("it is not logged")
	}
}

// TestOutputLimit closes a connection that asks for too large a reply.
func TestOutputLimit(t *testing.T) {
	r := newRig(t, func(s *setup) { s.limits = engine.Limits{Output: 4 << 10} })
	c := r.call()
	c.send(request("SET", "big", strings.Repeat("x", 5000)) + request("PING") + request("GET", "big"))
	if got := c.rest(); strings.Contains(got, "xxx") {
		t.Errorf("got %q", got)
	}
	eventually(t, "it is counted", func() bool { return r.counts.ended[byOutputLimit].Load() == 1 })
	if len(r.log.lines("reply too large")) != 1 {
		t.Error("it is not logged")
	}
}

// TestTroubleIsLoggedSeldom makes the same trouble often.
func TestTroubleIsLoggedSeldom(t *testing.T) {
	r := newRig(t)
	trouble := func() {
		for range 20 {
			c := r.call()
			c.send("*x\r\n")
			c.rest()
		}
	}
	trouble()
	if lines := r.log.lines("protocol error"); len(lines) != 1 {
		t.Errorf("%d lines, want 1", len(lines))
	}
	r.visits(noticeEvery)
	trouble()
	lines := r.log.lines("protocol error")
	if len(lines) != 2 || !strings.Contains(lines[1], "omitted_before=19") {
		t.Errorf("lines %q", lines)
	}
	if all := r.log.lines("level="); len(all) != 2 {
		t.Errorf("connections are logged: %q", all)
	}
	if n := fmt.Sprint(r.counts.ended[byProtocol].Load()); n != "40" {
		eventually(t, "all are counted", func() bool { return r.counts.ended[byProtocol].Load() == 40 })
	}
}

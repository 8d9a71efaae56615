package server

import (
	"io"
	"net"
	"time"
)

// wire is a net.Conn without a kernel: it gives what it was told to say, and
// counts.
type wire struct {
	said          string
	reads, writes int
	written       int // bytes
}

func newWire() *wire { return &wire{} }

// say lets the next reads get text.
func (w *wire) say(text string) { w.said = text }

func (w *wire) Read(b []byte) (int, error) {
	w.reads++
	if w.said == "" {
		return 0, io.EOF
	}
	n := copy(b, w.said)
	w.said = w.said[n:]
	return n, nil
}

func (w *wire) Write(b []byte) (int, error) {
	w.writes++
	w.written += len(b)
	return len(b), nil
}

func (w *wire) Close() error                     { return nil }
func (w *wire) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (w *wire) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// over makes a connection over nc whose goroutine is the test's.
func (r *rig) over(nc net.Conn) *conn { return newConn(r.Server, nc, 1) }

// turn serves what has arrived: the loop of converse, until nothing is left.
func (c *conn) turn() error {
	for {
		if err := c.reader.Fill(); err != nil {
			return err
		}
		if err := c.pipeline(); err != nil || c.net.(*wire).said == "" {
			return err
		}
	}
}

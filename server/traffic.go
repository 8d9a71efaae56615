package server

import (
	"errors"
)

// errNothing says that nothing has arrived yet.
var errNothing = errors.New("server: nothing has arrived")

// trustAfter is how many pipelines a connection has sent when its reads are
// trusted, see listen.
const trustAfter = 64

// listen serves pipelines until the connection is to be left, or reading fails or is
// interrupted.
//
// net.Conn.Read tries to read before it waits, and after a reply there is nearly
// always nothing yet: one system call of three in vain. So the reads are our own
// (readNow), and a connection that has sent some pipelines is waited for at once when
// the last read did not fill the buffer: then all was taken that had arrived. What
// arrives later ends the wait. Only an end that arrived together with the last
// pipeline is not seen so; the watch has an idle connection look once more (Server.lookAt).
func (c *conn) listen() error {
	raw := c.ear()
	if raw == nil {
		return c.rounds()
	}
	var ended error
	err := raw.Read(func(fd uintptr) bool {
		c.fd, c.direct = fd, true
		ended = c.rounds()
		c.direct = false
		return ended != errNothing
	})
	if ended != nil && ended != errNothing {
		return ended
	}
	return err
}

// rounds reads and serves, again and again; errNothing when it is time to wait.
func (c *conn) rounds() error {
	for c.leaving == open {
		if err := c.reader.Fill(); err != nil {
			return err
		}
		if err := c.pipeline(); err != nil {
			return err
		}
		if c.served++; c.served == trustAfter {
			c.trusted.Store(true)
		}
		if c.drained && c.served >= trustAfter {
			return errNothing
		}
	}
	return nil
}

// Read is where the reader gets its bytes.
func (c *conn) Read(b []byte) (int, error) {
	var n int
	var err error
	if c.direct {
		n, err = readNow(c.fd, b)
		c.drained = n < len(b)
	} else {
		n, err = c.net.Read(b)
	}
	c.pulse.in.Add(uint64(n))
	c.widen(n)
	return n, err
}

// wideBytes is a pipeline that leaves buffers larger than an idle connection
// should keep.
const wideBytes = 2 << 10

// widen remembers that a pipeline was large.
func (c *conn) widen(bytes int) {
	if bytes > wideBytes && !c.wide.Load() {
		c.wide.Store(true)
	}
}

// writePiece is how much is written at once: a client has made progress when it
// has taken so much. It is more than any ordinary pipeline's replies.
const writePiece = 256 << 10

// Write is where the session's replies go. It returns when the client's side has
// taken them; if it takes nothing for the write timeout, the watch closes it.
func (c *conn) Write(b []byte) (int, error) {
	c.widen(len(b))
	if o := c.outbox.Load(); o != nil {
		return o.Write(b)
	}
	c.pulse.due.Add(uint64(len(b)))
	return c.send(b)
}

// send writes b piece by piece, so that others see the client take it.
func (c *conn) send(b []byte) (int, error) {
	written := 0
	for {
		piece := b[written:min(len(b), written+writePiece)]
		n, err := c.net.Write(piece)
		written += n
		c.pulse.out.Add(uint64(n))
		if err != nil || written == len(b) {
			return written, err
		}
	}
}

package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/limitstore/limitstore/resp"
)

// longestReply is what one reply may have in bytes. INFO's has a few thousand.
const longestReply = 1 << 20

// connection is one of the plan's connections.
type connection struct {
	net.Conn
	ctx       context.Context // of the run
	clock     clock
	timeout   time.Duration
	replies   *resp.Replies
	pipelines []*pipeline
	turn      int // of pipelines
	depth     int
	keys      picker
	tally     *tally

	readArmed, writeArmed time.Duration // when the deadlines were set
}

// connect opens a connection and gives the password.
func (p Plan) connect(ctx context.Context) (net.Conn, *resp.Replies, error) {
	dial := p.dial
	if dial == nil {
		dial = func(ctx context.Context) (net.Conn, error) {
			return (&net.Dialer{Timeout: p.Timeout}).DialContext(ctx, "tcp", p.Addr)
		}
	}
	conn, err := dial(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("no connection: %w", err)
	}
	replies := resp.NewReplies(conn, longestReply)
	if p.Password != "" {
		if _, err := p.ask(ctx, conn, replies, "AUTH", p.Password); err != nil {
			conn.Close()
			return nil, nil, err
		}
	}
	return conn, replies, nil
}

// ask sends one command and returns its reply.
func (p Plan) ask(ctx context.Context, conn net.Conn, replies *resp.Replies, words ...string) (resp.Reply, error) {
	_ = conn.SetDeadline(time.Now().Add(p.Timeout)) // a closed connection says so at the write
	quiet := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer quiet()
	if _, err := conn.Write(encode(words...)); err != nil {
		return resp.Reply{}, p.explain(err)
	}
	for {
		reply, ok, err := replies.Next()
		if err == nil && !ok {
			err = replies.Fill()
		}
		switch {
		case err != nil:
			return reply, p.explain(err)
		case ok && reply.Kind == '-':
			return reply, refusal(words[0], reply)
		case ok:
			return reply, nil
		}
	}
}

// refusal is the error of an error reply.
func refusal(command string, reply resp.Reply) error {
	return fmt.Errorf("the server refuses %s: %s", command, reply.Text())
}

// explain says in an operator's words why a connection failed.
func (p Plan) explain(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%s has not answered for %v", p.Addr, p.Timeout)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s has closed the connection", p.Addr)
	}
	return fmt.Errorf("%s: %w", p.Addr, err)
}

// next is the pipeline whose turn it is.
func (c *connection) next() *pipeline {
	p := c.pipelines[c.turn]
	if c.turn++; c.turn == len(c.pipelines) {
		c.turn = 0
	}
	return p
}

// send writes text; it fails when the server takes none of it for the timeout.
func (c *connection) send(text []byte, now time.Duration) error {
	c.arm(&c.writeArmed, now, c.SetWriteDeadline)
	_, err := c.Write(text)
	return err
}

// collect reads the replies to the first n requests of p, all due at the same
// time, and returns how many came.
func (c *connection) collect(p *pipeline, n int, due, now time.Duration) (i int, err error) {
	for i < n {
		reply, ok, err := c.replies.Next()
		if err == nil && ok {
			err = c.check(p, i, reply)
			i++
		}
		if err == nil && !ok {
			c.tally.settle(due, now)
			c.arm(&c.readArmed, now, c.SetReadDeadline)
			err = c.replies.Fill()
			now = c.clock.now()
		}
		if err != nil {
			return i, err
		}
	}
	c.tally.settle(due, now)
	return n, nil
}

// check holds the reply to the i-th request of p against what must come back.
func (c *connection) check(p *pipeline, i int, reply resp.Reply) error {
	switch {
	case reply.Kind == p.replies[i]:
		c.tally.see(reply.Kind == '*' && reply.First == 0)
		return nil
	case reply.Kind == '-':
		return refusal(p.names[i], reply)
	}
	return fmt.Errorf("the server answers %s with %.40q, want a reply that begins with %q", p.names[i], reply.Raw, p.replies[i:i+1])
}

// arm moves a deadline on when it is a quarter used up: a server is given up
// between three quarters of the timeout and all of it, and a request costs nothing.
func (c *connection) arm(armed *time.Duration, now time.Duration, set func(time.Time) error) {
	if *armed != 0 && now-*armed < c.timeout/4 {
		return
	}
	*armed = max(now, 1)
	_ = set(time.Now().Add(c.timeout)) // a closed connection says so itself
	if c.ctx.Err() != nil {
		_ = set(time.Unix(1, 0)) // the run is over; this came after the word
	}
}

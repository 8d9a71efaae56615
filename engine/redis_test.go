package engine

import (
	"bufio"
	"bytes"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/resp"
)

// redisServer is a redis-server of the test's own and a connection to it.
type redisServer struct {
	conn net.Conn
	in   *bufio.Reader
}

// startRedis starts a redis-server whose largest string is as long as ours, and
// connects to it; both end with the test.
func startRedis(t *testing.T) *redisServer {
	t.Helper()
	conn, err := net.Dial("tcp", redistest.Start(t, "--proto-max-bulk-len", strconv.Itoa(DefaultLimits().Value)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &redisServer{conn: conn, in: bufio.NewReader(conn)}
}

// send writes requests and returns as many raw replies.
func (r *redisServer) send(t fataler, requests ...[]byte) [][]byte {
	if _, err := r.conn.Write(bytes.Join(requests, nil)); err != nil {
		t.Fatalf("redis-server: %v", err)
	}
	replies := make([][]byte, len(requests))
	for i := range replies {
		var err error
		if replies[i], err = redistest.AppendReply(nil, r.in); err != nil {
			t.Fatalf("redis-server: %v", err)
		}
	}
	return replies
}

// fataler is what both testing.T and rapid.T are.
type fataler interface{ Fatalf(string, ...any) }

// timed sends a request between two readings of the server's clock, all in one
// write. It returns the reply and the readings.
func (r *redisServer) timed(t fataler, raw []byte) (reply []byte, before, after limit.Instant) {
	ask := redistest.Request("TIME")
	replies := r.send(t, ask, raw, ask)
	return replies[1], instant(t, replies[0]), instant(t, replies[2])
}

// instant reads the reply to TIME.
func instant(t fataler, reply []byte) limit.Instant {
	words := elements(reply)
	if len(words) != 2 {
		t.Fatalf("TIME replied %q", reply)
	}
	seconds, _ := strconv.ParseInt(words[0], 10, 64)
	micros, _ := strconv.ParseInt(words[1], 10, 64)
	return limit.Instant(seconds*int64(time.Second) + micros*int64(time.Microsecond))
}

// elements are the words in a flat array of bulk strings, in order.
func elements(reply []byte) []string {
	var words []string
	in := bufio.NewReader(bytes.NewReader(reply))
	if head, _ := in.ReadString('\n'); !strings.HasPrefix(head, "*") && !strings.HasPrefix(head, "~") {
		return nil
	}
	for {
		word, err := redistest.AppendReply(nil, in)
		if err != nil {
			return words
		}
		_, text, _ := bytes.Cut(word, []byte("\r\n"))
		words = append(words, string(bytes.TrimSuffix(text, []byte("\r\n"))))
	}
}

// raw gives the session a request as it is sent and returns the raw reply.
func (d *desk) raw(t fataler, request []byte) []byte {
	in := resp.NewReader(bytes.NewReader(request), resp.DefaultLimits())
	for {
		args, err := in.Next()
		if err != nil {
			t.Fatalf("%q: %v", request, err)
		}
		if args == nil {
			if err := in.Fill(); err != nil {
				t.Fatalf("%q: %v", request, err)
			}
			continue
		}
		words := make([]string, len(args))
		for i, a := range args {
			words[i] = string(a)
		}
		d.queue(words...)
		return d.flush()
	}
}

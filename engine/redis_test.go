package engine

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/resp"
)

// redisServer is a redis-server of the test's own and a connection to it.
type redisServer struct {
	conn net.Conn
	in   *bufio.Reader
}

// startRedis starts a redis-server on a free loopback port; it ends with the
// test. Its largest string is as long as ours.
func startRedis(t *testing.T) *redisServer {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("redis-server is not installed; the comparison with it is part of the tests (Debian: apt-get install redis-server)")
	}
	for range 5 {
		port := freePort(t)
		if listensOn(t, path, port) {
			conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			return &redisServer{conn: conn, in: bufio.NewReader(conn)}
		}
	}
	t.Fatal("redis-server found no port to listen on")
	return nil
}

func freePort(t *testing.T) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	return port
}

// listensOn runs redis-server until the end of the test; false when it ended
// before it was ready, as it does when someone else took the port.
func listensOn(t *testing.T, path, port string) bool {
	cmd := exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--proto-max-bulk-len", strconv.Itoa(DefaultLimits().Value), "--dir", t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		io.Copy(io.Discard, out)
		cmd.Wait()
	})
	log := bufio.NewScanner(out)
	for log.Scan() {
		if strings.Contains(log.Text(), "Ready to accept connections") {
			return true
		}
	}
	return false
}

// send writes requests and returns as many raw replies.
func (r *redisServer) send(t fataler, requests ...[]byte) [][]byte {
	if _, err := r.conn.Write(bytes.Join(requests, nil)); err != nil {
		t.Fatalf("redis-server: %v", err)
	}
	replies := make([][]byte, len(requests))
	for i := range replies {
		var err error
		if replies[i], err = appendReply(nil, r.in); err != nil {
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
	ask := request("TIME")
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

// request is a command as it is sent.
func request(words ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.Bytes()
}

// appendReply reads one reply as it is, with all that is inside.
func appendReply(b []byte, in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return b, err
	}
	b = append(b, line...)
	n, _ := strconv.Atoi(strings.TrimSpace(string(line[1:])))
	switch line[0] {
	case '$', '=':
		if n < 0 {
			return b, nil
		}
		rest := make([]byte, n+2)
		_, err = io.ReadFull(in, rest)
		return append(b, rest...), err
	case '%':
		n *= 2
	case '*', '~', '>':
	default:
		return b, nil
	}
	for ; n > 0 && err == nil; n-- {
		b, err = appendReply(b, in)
	}
	return b, err
}

// elements are the words in a flat array of bulk strings, in order.
func elements(reply []byte) []string {
	var words []string
	in := bufio.NewReader(bytes.NewReader(reply))
	if head, _ := in.ReadString('\n'); !strings.HasPrefix(head, "*") && !strings.HasPrefix(head, "~") {
		return nil
	}
	for {
		word, err := appendReply(nil, in)
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

package script

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/resp"
)

// redisServer is a connection to a redis-server of the test's own.
type redisServer struct {
	conn net.Conn
	in   *bufio.Reader
}

func startRedis(t testing.TB) *redisServer {
	t.Helper()
	conn, err := net.Dial("tcp", redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &redisServer{conn: conn, in: bufio.NewReader(conn)}
}

type fataler interface{ Fatalf(string, ...any) }

// eval is the raw reply to a script without keys.
func (r *redisServer) eval(t fataler, source string) string {
	if _, err := r.conn.Write(redistest.Request("EVAL", source, "0")); err != nil {
		t.Fatalf("redis-server: %v", err)
	}
	reply, err := redistest.AppendReply(nil, r.in)
	if err != nil {
		t.Fatalf("redis-server: %v at %s", err, source)
	}
	return string(reply)
}

// commandless is a Host for scripts that run no commands: it answers as Redis
// does to what it does not know.
type commandless struct{}

func (commandless) Call(_ [][]byte, _ int, reply []byte) []byte {
	return append(reply, "-ERR Unknown Redis command called from script\r\n"...)
}

func (commandless) Allowed([][]byte) (allowed, exists bool) { return false, false }
func (commandless) Log(int, string)                         {}

// reply is what a client sees of a script.
func reply(m *Machine, source string) string {
	var w resp.Writer
	w.Reset(resp.RESP2)
	s, err := Compile([]byte(source))
	if err == nil {
		err = m.Run(s, nil, nil, commandless{}, &w)
	} else {
		err = &Error{Text: "ERR " + err.Error()}
	}
	if err != nil {
		text := err.Error()
		if e := (*Error)(nil); errors.As(err, &e) {
			text = e.Text
			if s != nil {
				text = e.Reply(s.SHA())
			}
		}
		w.Error(text)
	}
	return string(w.Bytes())
}

// scripts are the lines of a file in testdata.
func scripts(t testing.TB, name string) (list []string) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "//") {
			list = append(list, line)
		}
	}
	return list
}

// addresses are what differs from run to run.
var addresses = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// TestScriptsAsRedis runs each line of testdata on redis-server and on a machine
// and wants the same reply, byte by byte.
func TestScriptsAsRedis(t *testing.T) {
	redis := startRedis(t)
	m := NewMachine(Options{Version: "7.0.15"})
	for _, name := range []string{"pure.txt", "libraries.txt"} {
		for _, source := range scripts(t, name) {
			want := addresses.ReplaceAll([]byte(redis.eval(t, source)), []byte("0x0"))
			got := addresses.ReplaceAll([]byte(reply(m, source)), []byte("0x0"))
			if !bytes.Equal(got, want) {
				t.Errorf("%s\n got %q\nwant %q", source, got, want)
			}
		}
	}
}

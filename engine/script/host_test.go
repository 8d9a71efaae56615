package script

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/resp"
)

// relay is a Host whose commands run on a redis-server.
type relay struct {
	t       testing.TB
	conn    net.Conn
	in      *bufio.Reader
	version int
	logged  []string
	called  []string
}

func startRelay(t testing.TB) *relay {
	r := startRedis(t)
	return &relay{t: t, conn: r.conn, in: r.in, version: 2}
}

func (r *relay) send(words ...string) []byte {
	if _, err := r.conn.Write(redistest.Request(words...)); err != nil {
		r.t.Fatal(err)
	}
	reply, err := redistest.AppendReply(nil, r.in)
	if err != nil {
		r.t.Fatal(err)
	}
	return reply
}

func (r *relay) Call(args [][]byte, version int, reply []byte) []byte {
	if version != r.version {
		r.send("HELLO", fmt.Sprint(version))
		r.version = version
	}
	var words []string
	for _, a := range args {
		words = append(words, string(a))
	}
	r.called = append(r.called, strings.Join(words, " "))
	return append(reply, r.send(words...)...)
}

func (r *relay) Allowed(args [][]byte) (allowed, exists bool) {
	return true, string(args[0]) == "get"
}

func (r *relay) Log(level int, line string) {
	r.logged = append(r.logged, fmt.Sprint(level, " ", line))
}

// TestCommandsAsRedis runs scripts with commands on one redis-server by EVAL, and
// on a machine that sends its commands to another.
func TestCommandsAsRedis(t *testing.T) {
	redis, host := startRedis(t), startRelay(t)
	m := NewMachine(Options{})
	for _, source := range scripts(t, "commands.txt") {
		want := redis.eval(t, source)
		s, err := Compile([]byte(source))
		if err != nil {
			t.Fatal(err)
		}
		var w resp.Writer
		w.Reset(resp.RESP2)
		if err := m.Run(s, nil, nil, host, &w); err != nil {
			w.Error(err.(*Error).Reply(s.SHA()))
		}
		if got := string(w.Bytes()); got != want {
			t.Errorf("%s\n got %q\nwant %q", source, got, want)
		}
	}
}

// TestTheLimitersScripts runs the scripts of well-known limiters on both.
func TestTheLimitersScripts(t *testing.T) {
	redis, host := startRedis(t), startRelay(t)
	m := NewMachine(Options{})
	for _, c := range []struct {
		source string
		args   []string
	}{
		{bucketScript, []string{"10", "100", "1783228801.25", "1"}},
		{bucketScript, []string{"0.3", "100", "1783228802", "99"}},
		{bucketScript, []string{"0.3", "100", "1783228802.5", "1.5"}},
		{bucketScript, []string{"3", "7", "1783228803", "0.1"}},
	} {
		s, err := Compile([]byte(c.source))
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			request := append([]string{"EVAL", c.source, "1", "limit:" + s.SHA()}, c.args...)
			if _, err := redis.conn.Write(redistest.Request(request...)); err != nil {
				t.Fatal(err)
			}
			want, err := redistest.AppendReply(nil, redis.in)
			if err != nil {
				t.Fatal(err)
			}
			var w resp.Writer
			w.Reset(resp.RESP2)
			if err := m.Run(s, words("limit:"+s.SHA()), words(c.args...), host, &w); err != nil {
				t.Fatal(err)
			}
			if got := string(w.Bytes()); got != string(want) {
				t.Errorf("%v\n got %q\nwant %q", c.args, got, want)
			}
		}
	}
	if n := len(host.called); n != 4*20*3 {
		t.Errorf("the scripts called %d commands, want three each", n)
	}
}

func TestNumbersAsArguments(t *testing.T) {
	for source, want := range map[string]string{
		"1e6": "1000000", "2^53": "9007199254740992", "1734567890123456789": "1734567890123456768", "-5": "-5",
		"5e-7": "4.9999999999999998e-07", "0.1": "0.10000000000000001", "1.5": "1.5", "1e300": "1.0000000000000001e+300",
		"1/0": "inf", "-1/0": "-inf", "2^62": "4611686018427387904", "2^63": "9.2233720368547758e+18", "1e15": "1000000000000000",
		"'a\\0b'": "a\x00b", "3.0": "3",
	} {
		r := &recorder{}
		s, err := Compile([]byte("redis.call('X', " + source + ")"))
		if err != nil {
			t.Fatal(err)
		}
		if err := NewMachine(Options{}).Run(s, nil, nil, r, &resp.Writer{}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.words, []string{"X", want}) {
			t.Errorf("%s is sent as %q, want %q", source, r.words, want)
		}
	}
}

// recorder is a Host that remembers the last command.
type recorder struct {
	commandless
	words []string
	lines []string
}

func (r *recorder) Call(args [][]byte, _ int, reply []byte) []byte {
	r.words = nil
	for _, a := range args {
		r.words = append(r.words, string(a))
	}
	return append(reply, okReply...)
}

func (r *recorder) Log(level int, line string) { r.lines = append(r.lines, fmt.Sprint(level, line)) }

func TestLogReachesTheHost(t *testing.T) {
	r := &recorder{}
	s, err := Compile([]byte("redis.log(redis.LOG_WARNING, 'a', 1, 2.5, {}, 'b')"))
	if err != nil {
		t.Fatal(err)
	}
	if err := NewMachine(Options{}).Run(s, nil, nil, r, &resp.Writer{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"3a 1 2.5  b"}; !slices.Equal(r.lines, want) {
		t.Errorf("logged %q, want %q", r.lines, want)
	}
}

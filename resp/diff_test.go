package resp_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/resp"
	"pgregory.net/rapid"
)

// fataler is what *testing.T and *rapid.T have in common here.
type fataler interface{ Fatal(...any) }

// ask sends text, says that no more will come, and returns all that is answered
// until the other side closes.
func ask(t fataler, address, text string) string {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// answer is what a server would do that reads with our Reader, writes with our
// Writer and knows PING and ECHO.
func answer(text string, unauthenticated bool) string {
	var w resp.Writer
	r := resp.NewReader(strings.NewReader(text), resp.DefaultLimits())
	r.SetUnauthenticated(unauthenticated)
	commands, end := readAll(r)
	for _, args := range commands {
		run(&w, args, unauthenticated)
	}
	if end != io.EOF {
		w.Error("ERR " + end.Error())
	}
	return string(w.Bytes())
}

// run answers in the words of processCommand in Redis' server.c.
func run(w *resp.Writer, args []string, unauthenticated bool) {
	name := strings.ToLower(args[0])
	switch {
	case name != "ping" && name != "echo":
		w.Error(unknown(args))
	case name == "echo" && len(args) != 2:
		w.Error("ERR wrong number of arguments for 'echo' command")
	case unauthenticated:
		w.Error("NOAUTH Authentication required.")
	case name == "ping" && len(args) > 2:
		w.Error("ERR wrong number of arguments for 'ping' command")
	case len(args) == 2:
		w.BulkString(args[1])
	default:
		w.SimpleString("PONG")
	}
}

// unknown is Redis' text for a name it does not know. Its printf ends every
// argument at a null byte.
func unknown(args []string) string {
	show := func(arg string, most int) string {
		arg, _, _ = strings.Cut(arg[:min(len(arg), most)], "\x00")
		return arg
	}
	shown := ""
	for _, a := range args[1:] {
		if len(shown) < 128 {
			shown += fmt.Sprintf("'%s' ", show(a, 128-len(shown)))
		}
	}
	return fmt.Sprintf("ERR unknown command '%s', with args beginning with: %s", show(args[0], 128), shown)
}

// Every stream is also sent with a PING behind it: if that is answered, the
// connection did not close. Left out is where we mean to differ: a null byte inside
// a line (Redis waits for what never comes), the limit on arguments (Redis 7 takes
// 2^31-1), and a line too long whose end is there before Redis looks. For the last
// reason the long streams go without the PING.
func TestRepliesAndClosesAsRedis(t *testing.T) {
	address := redistest.Start(t, "--proto-max-bulk-len", "64mb")
	ours := map[string]bool{
		"arguments: one over the limit": true, "arguments: a null byte": true, "inline, a null byte is a byte": true,
		"inline, longest": true, "inline, too long though it ends": true,
	}
	for _, c := range streams {
		if ours[c.name] {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			texts := []string{c.in, c.in + "PING\r\n", c.in + "\r\nPING\r\nPING\r\n"}
			if len(c.in) > 60<<10 {
				texts = texts[:1]
			}
			for _, text := range texts {
				if want, got := ask(t, address, text), answer(text, false); got != want {
					t.Errorf("%.200q is answered %.200q, Redis says %.200q", text, got, want)
				}
			}
		})
	}
}

func TestAnyStreamIsAnsweredAsByRedis(t *testing.T) {
	open := redistest.Start(t, "--proto-max-bulk-len", "64mb")
	locked := redistest.Start(t, "--proto-max-bulk-len", "64mb", "--requirepass", "secret")
	rapid.Check(t, func(t *rapid.T) {
		frames := rapid.SliceOfN(rapid.OneOf(anyKnown(), anyKnown(), anyTyped(), anyBroken()), 0, 8)
		text := strings.Join(frames.Draw(t, "frames"), "")
		if want, got := ask(t, open, text), answer(text, false); got != want {
			t.Fatalf("%q is answered %q, Redis says %q", text, got, want)
		}
		if want, got := ask(t, locked, text), answer(text, true); got != want {
			t.Fatalf("%q is answered %q before AUTH, Redis says %q", text, got, want)
		}
	})
}

// anyKnown draws a command that Redis answers alike always, with 0 to 12
// arguments that may be binary.
func anyKnown() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		name := rapid.SampledFrom([]string{"PING", "echo", "NOSUCH"}).Draw(t, "name")
		args := rapid.SliceOfN(rapid.StringMatching(`[a\r\n$*\xff1-3 ]{0,6}`), 0, 12).Draw(t, "args")
		frame := fmt.Sprintf("*%d\r\n$%d\r\n%s\r\n", 1+len(args), len(name), name)
		for _, a := range args {
			frame += fmt.Sprintf("$%d\r\n%s\r\n", len(a), a)
		}
		return frame
	})
}

func TestUnauthenticatedAsRedis(t *testing.T) {
	address := redistest.Start(t, "--requirepass", "secret")
	echo := func(n int) string { return fmt.Sprintf("*2\r\n$4\r\nECHO\r\n$%d\r\n%s\r\n", n, strings.Repeat("x", n)) }
	for _, text := range []string{
		"PING\r\n", echo(16384), echo(16385)[:30], "*10\r\n$4\r\nPING\r\n", "*11\r\n$4\r\nPING\r\n", "*-1\r\nPING\r\n",
		"*1\r\n$-1\r\nPING\r\n", "*1\r\n:1\r\n", "PING 1 2 3 4 5 6 7 8 9 10 11\r\n",
	} {
		if want, got := ask(t, address, text), answer(text, true); got != want {
			t.Errorf("%.100q is answered %.200q, Redis says %.200q", text, got, want)
		}
	}
}

// DEBUG PROTOCOL makes Redis send one value of the type asked for; the values are
// those in debug.c.
func TestTypesAreWrittenAsRedisWritesThem(t *testing.T) {
	address := redistest.Start(t, "--enable-debug-command", "yes")
	for kind, write := range map[string]func(w *resp.Writer){
		"string":   func(w *resp.Writer) { w.BulkString("Hello World") },
		"integer":  func(w *resp.Writer) { w.Int(12345) },
		"double":   func(w *resp.Writer) { w.Double(3.141) },
		"null":     func(w *resp.Writer) { w.Null() },
		"array":    func(w *resp.Writer) { w.Ints(0, 1, 2) },
		"set":      func(w *resp.Writer) { w.Set(3); w.Int(0); w.Int(1); w.Int(2) },
		"map":      func(w *resp.Writer) { w.Map(3); bools(w, 3) },
		"verbatim": func(w *resp.Writer) { w.Verbatim("txt", "This is a verbatim\nstring") },
		"true":     func(w *resp.Writer) { w.Bool(true) },
		"false":    func(w *resp.Writer) { w.Bool(false) },
	} {
		for proto, hello := range map[int]string{resp.RESP2: "", resp.RESP3: "HELLO 3\r\n"} {
			got := ask(t, address, hello+"PING\r\nDEBUG PROTOCOL "+kind+"\r\n")
			_, got, _ = strings.Cut(got, "+PONG\r\n")
			var w resp.Writer
			w.Reset(proto)
			write(&w)
			if string(w.Bytes()) != got {
				t.Errorf("RESP%d: a %s is written %q, Redis writes %q", proto, kind, w.Bytes(), got)
			}
		}
	}
}

// bools writes n pairs of a number and whether it is odd.
func bools(w *resp.Writer, n int64) {
	for i := range n {
		w.Int(i)
		w.Bool(i == 1)
	}
}

// A push message and a null array come from commands of their own.
func TestPushAndNullArrayAsRedis(t *testing.T) {
	address := redistest.Start(t)
	for proto, hello := range map[int]string{resp.RESP2: "", resp.RESP3: "HELLO 3\r\n"} {
		var w resp.Writer
		w.Reset(proto)
		w.SimpleString("PONG")
		w.NullArray()
		w.Push(3)
		w.BulkString("subscribe")
		w.BulkString("news")
		w.Int(1)
		got := ask(t, address, hello+"PING\r\nLPOP no 5\r\nSUBSCRIBE news\r\n")
		if _, got, _ := strings.Cut(got, "+PONG"); "+PONG"+got != string(w.Bytes()) {
			t.Errorf("RESP%d: %q, Redis writes %q", proto, w.Bytes(), got)
		}
	}
}

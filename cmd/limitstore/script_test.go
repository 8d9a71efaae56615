package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// collect passes the lines of the log on.
func (p *process) collect(out io.Reader) {
	defer close(p.lines)
	in := bufio.NewScanner(out)
	for in.Scan() {
		p.lines <- in.Text()
	}
}

// of is the process that a script has started.
func of(ts *testscript.TestScript) *process { return ts.Value(processKey{}).(*running).process }

func onServe(ts *testscript.TestScript, _ bool, flags []string) {
	flags = append([]string{"--addr", "127.0.0.1:0"}, flags...)
	p, err := startProcess(ts.Getenv("WORK"), environment(ts), flags...)
	ts.Check(err)
	takesClients(ts, p)
}

// onRedis is redis [-in FILE] [WORD...].
func onRedis(ts *testscript.TestScript, _ bool, words []string) {
	var in io.Reader
	if len(words) > 1 && words[0] == "-in" {
		in, words = strings.NewReader(ts.ReadFile(words[1])), words[2:]
	}
	env := append(environment(ts), "LIMITSTORE_ADDR=127.0.0.1:0") // it counts until a directive says otherwise
	p, err := startAs(redisName, ts.Getenv("WORK"), env, in, words...)
	ts.Check(err)
	takesClients(ts, p)
}

// environment is what the program sees of the script's.
func environment(ts *testscript.TestScript) (env []string) {
	for _, name := range []string{"PATH", "LIMITSTORE_REQUIREPASS", "LIMITSTORE_SHARDS", "LIMITSTORE_LOG_LEVEL"} {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// takesClients waits until p does.
func takesClients(ts *testscript.TestScript, p *process) {
	ts.Defer(p.kill)
	ts.Value(processKey{}).(*running).process = p
	addr, web, ok := p.addresses()
	if !ok {
		ts.Fatalf("limitstore ended with %s:\n%s", p.end(), p.log.String())
	}
	if network(addr) == "unix" {
		addr = ts.MkAbs(addr)
	}
	ts.Setenv("ADDR", addr)
	ts.Setenv("WEB", web)
}

func onAwait(ts *testscript.TestScript, _ bool, args []string) {
	if _, ok := of(ts).await(strings.Join(args, " ")); !ok {
		ts.Fatalf("the log ends without %q:\n%s", args, of(ts).log.String())
	}
}

func onSignal(ts *testscript.TestScript, _ bool, args []string) {
	which := map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt}[args[0]]
	ts.Check(of(ts).cmd.Process.Signal(which))
}

func onCrash(ts *testscript.TestScript, _ bool, _ []string) { of(ts).kill() }

func onEnded(ts *testscript.TestScript, _ bool, args []string) {
	p := of(ts)
	how := p.end()
	fmt.Fprint(ts.Stderr(), p.log.String())
	if how != args[0] {
		ts.Fatalf("limitstore ended with %s, want %s:\n%s", how, args[0], p.log.String())
	}
}

func onHold(ts *testscript.TestScript, _ bool, _ []string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { ln.Close() })
	ts.Setenv("TAKEN", ln.Addr().String())
}

// onAsk is ask [-tls CA] [-as NAME] WORD... [; WORD...].
func onAsk(ts *testscript.TestScript, neg bool, args []string) {
	var secure *tls.Config
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		if secure == nil {
			secure = &tls.Config{ServerName: "127.0.0.1", RootCAs: x509.NewCertPool()}
		}
		switch args[0] {
		case "-tls":
			secure.RootCAs.AppendCertsFromPEM([]byte(ts.ReadFile(args[1])))
		case "-as":
			pair, err := tls.LoadX509KeyPair(ts.MkAbs(args[1]+".pem"), ts.MkAbs(args[1]+".key"))
			ts.Check(err)
			secure.Certificates = []tls.Certificate{pair}
		}
		args = args[2:]
	}
	line := strings.ReplaceAll(strings.Join(args, " "), " ; ", "\r\n") + "\r\n"
	reply, err := ask(ts.Getenv("ADDR"), secure, line)
	if (err != nil) != neg {
		ts.Fatalf("%q: %v", args, err)
	}
	fmt.Fprint(ts.Stdout(), strings.ReplaceAll(reply, "\r\n", "\n"))
	fmt.Fprintln(ts.Stderr(), err)
}

// closeWriter is what a connection offers to say that nothing more will be sent.
type closeWriter interface {
	net.Conn
	CloseWrite() error
}

// ask sends text, says that this is all, and returns what comes back.
func ask(addr string, secure *tls.Config, text string) (string, error) {
	var conn closeWriter
	plain, err := net.Dial(network(addr), addr)
	if err != nil {
		return "", err
	}
	defer plain.Close()
	conn = plain.(closeWriter)
	if secure != nil {
		conn = tls.Client(plain, secure)
	}
	_, err = io.WriteString(conn, text)
	if err == nil {
		err = conn.CloseWrite()
	}
	if err != nil {
		return "", err
	}
	reply, err := io.ReadAll(conn)
	if err == nil && len(reply) == 0 {
		err = errors.New("closed without an answer")
	}
	return string(reply), err
}

// network is what to dial: a file's name is no HOST:PORT.
func network(addr string) string {
	if strings.Contains(addr, ":") {
		return "tcp"
	}
	return "unix"
}

// onStall asks for more than the buffers between the two processes hold, and reads
// none of it.
func onStall(ts *testscript.TestScript, _ bool, _ []string) {
	conn, err := net.Dial("tcp", ts.Getenv("ADDR"))
	ts.Check(err)
	ts.Defer(func() { conn.Close() })
	_, err = fmt.Fprintf(conn, "*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n$%d\r\n%s\r\n", 1<<20, strings.Repeat("x", 1<<20))
	ts.Check(err)
	_, err = io.WriteString(conn, strings.Repeat("GET big\r\n", 64))
	ts.Check(err)
	_, err = io.ReadFull(conn, make([]byte, len("+OK\r\n$1048576\r\n"))) // the answers are on their way
	ts.Check(err)
}

func onGet(ts *testscript.TestScript, _ bool, args []string) {
	reply, err := http.Get("http://" + ts.Getenv("WEB") + args[0])
	ts.Check(err)
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s\n%s", reply.Status, body)
}

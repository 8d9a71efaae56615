// Package redistest is what the tests of several packages need to compare
// limitstore with redis-server: a server of a test's own, raw requests and
// replies, and replies as redis-cli shows them. Only tests import it.
package redistest

import (
	"bufio"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
)

// tries is how often a free port is looked for: another process may be faster.
const tries = 5

// Start starts a redis-server without persistence on a free loopback port, with
// the options given, and returns its address. It ends with the test. Without one
// installed the test fails: a comparison that is passed over compares nothing.
func Start(t testing.TB, options ...string) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("redis-server is not installed; the comparison with it is part of the tests (Debian: apt-get install redis-server)")
	}
	for range tries {
		if addr, ok := start(t, path, options); ok {
			return addr
		}
	}
	t.Fatal("redis-server found no port to listen on")
	return ""
}

// start runs redis-server until the end of the test; false when it ended before
// it was ready, as it does when someone else took the port.
func start(t testing.TB, path string, options []string) (addr string, ok bool) {
	t.Helper()
	addr = freeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command(path, append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir()}, options...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "Ready to accept connections") {
			return addr, true
		}
	}
	return "", false
}

// freeAddr is a loopback address that was free a moment ago.
func freeAddr(t testing.TB) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

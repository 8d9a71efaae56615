package server

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// TestShutdownDrains lets a pipeline finish, closes who idles, and takes nobody
// more. That no goroutine is left is for TestMain to see.
func TestShutdownDrains(t *testing.T) {
	r := newRig(t)
	idle, half := r.call(), r.call()
	idle.do("PING")
	half.do("PING")
	half.send("*2\r\n$3\r\nGET\r\n")
	near, far := net.Pipe()
	r.serveOver(far)
	go io.WriteString(near, request("SET", "a", strings.Repeat("x", 1<<20))+request("GET", "a")+request("GET", "a"))
	in := newCaller(t, near)
	if got := in.reply(); got != "+OK\r\n" {
		t.Fatal(got)
	}
	c := func() *conn { r.mu.Lock(); defer r.mu.Unlock(); return r.conns[1<<20] }()
	eventually(t, "the pipeline is in its replies", func() bool { return c.pulse.due.Load() > c.pulse.out.Load() })

	stopped := make(chan error, 1)
	go func() { stopped <- r.Shutdown(context.Background()) }()
	if got := idle.rest(); got != "" {
		t.Errorf("the idle one is told %q", got)
	}
	if got := half.rest(); got != "" {
		t.Errorf("the one in mid-command is told %q", got)
	}
	select {
	case <-stopped:
		t.Error("shut down while a pipeline is being answered")
	default:
	}
	if got := len(in.replies(2)); got != 2*(1<<20+len("$1048576\r\n\r\n")) {
		t.Errorf("the pipeline gets %d bytes", got)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if err := <-r.ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := net.Dial("tcp", r.addr); err == nil {
		t.Error("it still listens")
	}
	if n := r.counts.ended[byShutdown].Load(); n != 3 {
		t.Errorf("%d connections ended by the shutdown", n)
	}
}

// TestShutdownCutsOff does not wait for a client that does not read.
func TestShutdownCutsOff(t *testing.T) {
	r := newRig(t)
	near, far := net.Pipe()
	r.serveOver(far)
	if _, err := io.WriteString(near, "PING\r\n"); err != nil {
		t.Fatal(err)
	}
	c := func() *conn { r.mu.Lock(); defer r.mu.Unlock(); return r.conns[1<<20] }()
	eventually(t, "it is being answered", func() bool { return c.pulse.due.Load() > 0 })
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Shutdown(over); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
	if _, err := io.ReadAll(near); err != nil {
		t.Errorf("the client's side: %v", err)
	}
	if err := r.Shutdown(context.Background()); err != nil {
		t.Errorf("a second Shutdown: %v", err)
	}
}

// TestServeAfterShutdown takes nobody.
func TestServeAfterShutdown(t *testing.T) {
	r := newRig(t)
	if err := r.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Serve(ln); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := net.Dial("tcp", ln.Addr().String()); err == nil {
		t.Error("it listens")
	}
}

// failing is a listener that fails before it works.
type failing struct {
	net.Listener
	with []error
}

func (f *failing) Accept() (net.Conn, error) {
	if len(f.with) > 0 {
		err := f.with[0]
		f.with = f.with[1:]
		return nil, err
	}
	return f.Listener.Accept()
}

// passingError is as the system gives when it is out of descriptors.
type passingError struct{ error }

func (passingError) Temporary() bool { return true }

// TestAcceptGoesOn after errors that pass, and ends with one that does not.
func TestAcceptGoesOn(t *testing.T) {
	r := newRig(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	full := passingError{errors.New("too many open files")}
	ended := make(chan error, 1)
	go func() { ended <- r.Serve(&failing{ln, []error{full, full}}) }()
	if got := callAt(t, ln.Addr().String()).do("PING"); got != "+PONG\r\n" {
		t.Errorf("PING answers %q", got)
	}
	if lines := r.log.lines("too many open files"); len(lines) != 1 {
		t.Errorf("logged %q", lines)
	}
	broken := errors.New("the listener broke")
	if err := r.Serve(&failing{ln, []error{broken}}); !errors.Is(err, broken) {
		t.Errorf("Serve: %v", err)
	}
	<-ended
}

// TestShutdownCommand ends the process through what the program gave.
func TestShutdownCommand(t *testing.T) {
	for _, line := range []string{"SHUTDOWN", "SHUTDOWN NOSAVE", "shutdown now force", "SHUTDOWN NOSAVE NOW"} {
		asked := make(chan bool, 1)
		c := newRig(t, func(s *setup) { s.Shutdown = func() { asked <- true } }).call()
		c.send("PING\r\n" + line + "\r\nPING\r\n")
		if got := c.rest(); got != "+PONG\r\n" {
			t.Errorf("%s answers %q", line, got)
		}
		select {
		case <-asked:
		case <-time.After(patience):
			t.Errorf("%s does not shut down", line)
		}
	}
	c := newRig(t, func(s *setup) { s.Shutdown = func() { t.Error("shut down") } }).call()
	if got := c.do("SHUTDOWN SAVE"); got != "-"+failShutdownSave.text()+"\r\n" {
		t.Errorf("SHUTDOWN SAVE answers %q", got)
	}
	if got := newRig(t).call().do("SHUTDOWN"); got != "-"+failShutdownOff.text()+"\r\n" {
		t.Errorf("SHUTDOWN without a way answers %q", got)
	}
}

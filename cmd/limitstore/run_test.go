package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestRunLeavesNothing runs the whole program in this process and ends it while a
// client is connected: nothing of it goes on.
func TestRunLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	log, written := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"--addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0"}, io.Discard, written)
		written.Close()
	}()
	in := bufio.NewScanner(log)
	if !in.Scan() || !strings.Contains(in.Text(), "takes clients") {
		t.Fatalf("no start line but %q", in.Text())
	}
	found := addressFields.FindStringSubmatch(in.Text())
	idle, err := net.Dial("tcp", found[1])
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if got, err := ask(found[1], nil, "TB.TAKE user:42 10 1 6s\r\n"); err != nil || got != "*5\r\n:1\r\n:10\r\n:9\r\n:0\r\n:6000\r\n" {
		t.Errorf("TB.TAKE: %q, %v", got, err)
	}
	stop()
	if _, err := io.Copy(io.Discard, log); err != nil {
		t.Error(err)
	}
	if code := <-ended; code != done {
		t.Errorf("it ended with %d", code)
	}
	if n, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the idle connection read %d bytes, %v; want the end", n, err)
	}
	goleak.VerifyNone(t, before)
}

// TestLogFile logs into a file, which is appended to, and nowhere else.
func TestLogFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "own.log")
	for _, line := range []string{"first", "second"} {
		var elsewhere strings.Builder
		c := &config{logFile: text(name)}
		log, end, err := c.openLog(&elsewhere)
		if err != nil {
			t.Fatal(err)
		}
		log.Info(line)
		end()
		if elsewhere.Len() > 0 {
			t.Errorf("%q went elsewhere", elsewhere.String())
		}
	}
	written, err := os.ReadFile(name)
	if err != nil || strings.Count(string(written), "\n") != 2 || !strings.Contains(string(written), "msg=first") {
		t.Errorf("%q, %v", written, err)
	}
	if _, _, err := (&config{logFile: text(filepath.Dir(name))}).openLog(io.Discard); err == nil {
		t.Error("a folder was taken for a file")
	}
}

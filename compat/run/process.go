//go:build unix

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/limitstore/limitstore/compat"
)

// addr is written in most suites.
const addr = "127.0.0.1:6379"

// startTime is how long a server may take to answer, stopTime to end, and suiteTime how
// long one call of a script may take.
const (
	startTime = 10 * time.Second
	stopTime  = 10 * time.Second
	suiteTime = 15 * time.Minute
)

// script calls a suite's script to install, or to run into a file of results. What it leaves
// behind, as servers of a test that panicked, ends with it.
func (h *house) script(ctx context.Context, s compat.Suite, dir, results, server string) error {
	ctx, cancel := context.WithTimeout(ctx, suiteTime)
	defer cancel()
	verb := "run"
	log := results + ".log"
	if server == "" {
		verb, log = results, filepath.Join(dir, results+".log")
	}
	out, err := os.Create(log)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, filepath.Join(h.root, "suites", s.Name+".sh"), verb)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = append(os.Environ(), "COMPAT_DIR="+dir, "COMPAT_SERVER="+server, "COMPAT_RESULTS="+results)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // an error says that nothing was left
	}
	if err != nil {
		return fmt.Errorf("%s: %w; it said why in %s", verb, err, log)
	}
	return nil
}

// serve starts a server as redis-server is started, with nothing on disk, where nobody
// else serves.
func serve(program, log string) (stop func(), err error) {
	free, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("another server is on %s, where the suites look for theirs: %w", addr, err)
	}
	free.Close()
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(program, "--port", "6379", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Dir(log), out, out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		late := time.AfterFunc(stopTime, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
	for end := time.Now().Add(startTime); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if answers() {
			return stop, nil
		}
	}
	stop()
	return nil, fmt.Errorf("%s did not answer within %v; it said why in %s", program, startTime, log)
}

// answers asks whether the server takes connections: with nothing to load it is ready then.
func answers() bool {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

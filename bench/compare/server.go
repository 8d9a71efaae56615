package compare

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// startTime is how long a server may take to start, stopTime to end.
const (
	startTime = 20 * time.Second
	stopTime  = 10 * time.Second
)

// target is a server that takes load.
type target struct {
	addr, password string
	pid            int
	stop           func()
}

// newPassword is one that nobody knows: the servers are measured with a password.
func newPassword() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// pinned is the command line that keeps a program to one processor, unless core is
// empty.
func pinned(core string, words ...string) []string {
	if core == "" {
		return words
	}
	return append([]string{"taskset", "-c", core}, words...)
}

// environment is that of this process without settings of limitstore: defaults are
// measured. A program kept to one processor is told so.
func environment(core string, more ...string) []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "LIMITSTORE_") && !strings.HasPrefix(pair, "GOMAXPROCS=") {
			env = append(env, pair)
		}
	}
	if core != "" {
		env = append(env, "GOMAXPROCS=1")
	}
	return append(env, more...)
}

// startLimitstore starts limitstore with a password and metrics, and default flags
// beside those given.
func (s *session) startLimitstore(core string, flags ...string) (*target, error) {
	password := newPassword()
	words := append(pinned(core, s.program, "--addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0"), flags...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = environment(core, "LIMITSTORE_REQUIREPASS="+password)
	return start(cmd, cmd.StderrPipe, regexp.MustCompile(`takes clients.* addr=(\S+)`), target{password: password})
}

// startRedis starts redis-server with a password and nothing on disk.
func (s *session) startRedis(core string) (*target, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := ln.Addr().String()
	ln.Close()
	_, port, _ := net.SplitHostPort(addr)
	password := newPassword()
	words := pinned(core, s.redis, "-")
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = environment("")
	cmd.Stdin = strings.NewReader(fmt.Sprintf("bind 127.0.0.1\nport %s\nrequirepass %s\nsave \"\"\nappendonly no\n", port, password))
	return start(cmd, cmd.StdoutPipe, regexp.MustCompile(`Ready to accept connections`), target{addr: addr, password: password})
}

// start starts a server and waits for the line that says it is ready; the line may
// name the address.
func start(cmd *exec.Cmd, output func() (io.ReadCloser, error), ready *regexp.Regexp, t target) (*target, error) {
	out, err := output()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", cmd.Path, err)
	}
	late := time.AfterFunc(startTime, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var said []string
	in := bufio.NewScanner(out)
	for in.Scan() {
		said = append(said, in.Text())
		if found := ready.FindStringSubmatch(in.Text()); found != nil {
			if len(found) > 1 {
				t.addr = found[1]
			}
			t.pid, t.stop = cmd.Process.Pid, func() { stop(cmd, out) }
			return &t, nil
		}
	}
	_ = cmd.Wait()
	return nil, fmt.Errorf("%s did not start: %s", strings.Join(cmd.Args, " "), strings.Join(said[max(0, len(said)-3):], " / "))
}

// stop ends a server, by force if it takes its time.
func stop(cmd *exec.Cmd, out io.Reader) {
	_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	late := time.AfterFunc(stopTime, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
}

// cores are two processors that this process may use: for the server and for the
// load. The list is as in /proc/self/status: 0-3,8.
func cores(list string) (server, load string, err error) {
	var all []string
	for word := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		var from, to int
		if n, _ := fmt.Sscanf(word, "%d-%d", &from, &to); n == 1 {
			to = from
		} else if n == 0 {
			return "", "", fmt.Errorf("the processors of this process: %q", list)
		}
		for core := from; core <= to && len(all) < 2; core++ {
			all = append(all, fmt.Sprint(core))
		}
	}
	if len(all) < 2 {
		return "", "", errors.New("one core for each needs two processors, and this process may use one")
	}
	return all[0], all[1], nil
}

// myCores are the two processors to pin to.
func myCores() (server, load string, err error) {
	if _, err := exec.LookPath("taskset"); err != nil {
		return "", "", fmt.Errorf("one core for each needs taskset (Debian: apt-get install util-linux): %w", err)
	}
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", "", err
	}
	_, rest, _ := strings.Cut(string(text), "Cpus_allowed_list:")
	list, _, _ := strings.Cut(rest, "\n")
	return cores(list)
}

// version is what a program says of its version, up to where Redis goes on about
// its build.
func version(ctx context.Context, words ...string) (string, error) {
	out, err := exec.CommandContext(ctx, words[0], words[1:]...).Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	line, _, _ = strings.Cut(line, " sha=")
	return strings.TrimSpace(line), nil
}

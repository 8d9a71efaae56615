package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/limitstore/limitstore/bench/compare"
	"github.com/limitstore/limitstore/clock"
	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/server"
	"github.com/limitstore/limitstore/shard"
)

// version is the program's; commit is set by the linker (see the Makefile).
const version = "0.1.0"

var commit = "unknown"

// What the process ends with.
const (
	done    = 0
	failed  = 1 // it could not do its work
	misused = 2 // it was asked for something that makes no sense
)

// drainTime is how long connections may take to finish what they have sent when
// the process is told to end.
const drainTime = 10 * time.Second

// spareFiles are the files a process needs beside one for each client.
const spareFiles = 64

// errAsked is why a server ends that SHUTDOWN was sent to.
var errAsked = errors.New("a client asked for it")

// run is the program: args are the words after its name. It returns what the
// process ends with, once ctx is done or its work is.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 1 && (args[0] == "-v" || args[0] == "--version") {
		args = []string{"version"}
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return runServer(ctx, args, stdout, stderr)
	}
	switch args[0] {
	case "version":
		fmt.Fprintf(stdout, "limitstore %s (commit %s, %s, %s/%s)\n", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return done
	case "help":
		fmt.Fprint(stdout, help())
		return done
	case "bench":
		return runBench(ctx, args[1:], stdout, stderr)
	case "docs":
		return runDocs(args[1:], stderr)
	}
	return complain(stderr, misused, fmt.Sprintf("there is no command %q; see limitstore help", args[0]))
}

// runBench is limitstore bench: it compares the program that runs it.
func runBench(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	self, err := os.Executable()
	if err != nil {
		return complain(stderr, failed, err.Error())
	}
	return compare.Bench(ctx, self, args, stdout, stderr)
}

// complain tells the operator each line and returns code.
func complain(stderr io.Writer, code int, lines ...string) int {
	for _, line := range lines {
		fmt.Fprintln(stderr, "limitstore: "+line)
	}
	return code
}

// runServer is the program without a command: it reads the settings and serves.
func runServer(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c, err := parse(args)
	return conclude(ctx, c, err, stdout, stderr, stderr)
}

// conclude checks the settings that were read, err aside, and serves. The log
// goes to logs.
func conclude(ctx context.Context, c *config, err error, stdout, stderr, logs io.Writer) int {
	var unreadable *os.PathError
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, help())
		return done
	case errors.As(err, &unreadable):
		return complain(stderr, failed, fmt.Sprintf("--config %s: cannot read it: %v", &c.file, unreadable.Err))
	case err != nil:
		what := strings.TrimPrefix(err.Error(), "error parsing commandline arguments: ") // ff says so
		return complain(stderr, misused, what+"; see limitstore help")
	}
	if wrong := c.validate(); len(wrong) > 0 {
		return complain(stderr, misused, wrong...)
	}
	secure, err := c.tls()
	if err == nil && c.check {
		fmt.Fprint(stdout, c.settingsFile())
		return done
	}
	if err == nil {
		err = serve(ctx, c, secure, logs)
	}
	if err != nil {
		return complain(stderr, failed, err.Error())
	}
	return done
}

// announcement is the line of the log that says that clients are taken.
const announcement = "limitstore takes clients"

// serve starts everything and stops it in reverse, when ctx is done or a client
// says SHUTDOWN. What can fail comes first: a port that is taken is found before
// there is anything to stop, and the world is told last.
func serve(ctx context.Context, c *config, secure *tls.Config, out io.Writer) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	log, closeLog, err := c.openLog(out)
	if err != nil {
		return err
	}
	defer closeLog()
	all, err := c.listen(log)
	if err != nil {
		return err
	}
	defer closeAll(all)
	webListener, err := listenAt("http-addr", c.httpAddr, c.keepAlive)
	if err != nil {
		return err
	}
	st, err := newStore(c, log)
	if err != nil {
		return err
	}
	defer st.close()
	dropPID, err := c.writePID()
	if err != nil {
		return err
	}
	defer dropPID()

	s := server.New(st.engine, c.server(shown(all, " "), secure, log, func() { stop(errAsked) }))
	w := newWeb(s.Register, bool(c.pprof), log)
	facts := []any{"addr", shown(all, ","), "shards", c.shardCount(), "version", version}
	if webListener != nil {
		go w.serve(webListener)
		defer w.stop()
		facts = append(facts, "http", webListener.Addr().String())
	}
	if files, ok := mostFiles(); ok && files < uint64(c.maxClients)+spareFiles {
		log.Warn("fewer files can be open than clients may connect: raise ulimit -n or lower --max-clients", "files", files, "max_clients", int(c.maxClients))
	}
	w.ready.Store(true)
	for _, line := range c.notes {
		log.Warn(line)
	}
	log.Info(announcement, facts...)
	for _, line := range c.ready {
		log.Info(line)
	}
	return takeClients(ctx, s, all, w, log)
}

// openLog makes the log: lines on out, or in the file of --log-file.
func (c *config) openLog(out io.Writer) (*slog.Logger, func(), error) {
	end := func() {}
	if c.logFile != "" {
		file, err := os.OpenFile(string(c.logFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, nil, fmt.Errorf("--log-file %s: cannot write it: %w", &c.logFile, because(err))
		}
		out, end = file, func() { file.Close() }
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.Level(c.logLevel)})), end, nil
}

// writePID writes the file of --pid-file and returns what removes it.
func (c *config) writePID() (remove func(), err error) {
	if c.pidFile == "" {
		return func() {}, nil
	}
	if err := os.WriteFile(string(c.pidFile), fmt.Appendln(nil, os.Getpid()), 0o644); err != nil {
		return nil, fmt.Errorf("--pid-file %s: cannot write it: %w", &c.pidFile, because(err))
	}
	return func() { _ = os.Remove(string(c.pidFile)) }, nil // somebody may have removed it
}

// because is what the system says about a file, without the file's name.
func because(err error) error {
	var about *os.PathError
	if errors.As(err, &about) {
		return about.Err
	}
	return err
}

// takeClients serves the listeners until ctx is done or one of them fails, then
// lets the connections finish.
func takeClients(ctx context.Context, s *server.Server, all []net.Listener, w *web, log *slog.Logger) error {
	served := make(chan error, len(all))
	for _, ln := range all {
		go func() { served <- s.Serve(ln) }()
	}
	waiting := len(all)
	var failure error
	select {
	case err := <-served: // the connections do not end with it
		waiting--
		failure = fmt.Errorf("the listener failed: %w", err)
	case <-ctx.Done():
		w.ready.Store(false) // before anybody can know
		log.Info("limitstore stops", "because", context.Cause(ctx))
	}
	w.ready.Store(false)
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := s.Shutdown(limited); err != nil {
		log.Warn("connections were cut off", "after", drainTime, "err", err)
	}
	for range waiting {
		failure = errors.Join(failure, <-served)
	}
	return failure
}

// store is the keyspace with its clock.
type store struct {
	clock  *clock.System
	engine *engine.Engine
}

func newStore(c *config, log *slog.Logger) (*store, error) {
	table, err := commandTable()
	if err != nil {
		return nil, fmt.Errorf("the command table is wrong: %w", err)
	}
	now := clock.NewSystem(log)
	return &store{clock: now, engine: engine.New(engine.Config{
		Shards: c.shardCount(), Clock: now, Seed: newSeed(), Table: table, Limits: c.limits(), Version: server.RedisVersion,
		Log: func(level int, line string) {
			log.Log(context.Background(), scriptLevels[level], line, "from", "script")
		},
	})}, nil
}

// scriptLevels are Redis' levels of redis.log as ours.
var scriptLevels = [...]slog.Level{slog.LevelDebug, slog.LevelDebug, slog.LevelInfo, slog.LevelWarn}

// close stops the shards, then the clock that they ask.
func (s *store) close() {
	s.engine.Close()
	s.clock.Close()
}

// commandTable joins the rows of every package that declares commands.
func commandTable() (*engine.Table, error) {
	return engine.NewTable(engine.Commands(), server.Commands())
}

// newSeed is a secret that callers who choose keys cannot know.
func newSeed() shard.Seed {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails: the process ends when the system has no randomness
	return shard.Seed{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
}

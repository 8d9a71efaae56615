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
		err = serve(ctx, c, secure, stderr)
	}
	if err != nil {
		return complain(stderr, failed, err.Error())
	}
	return done
}

// serve starts everything and stops it in reverse, when ctx is done or a client
// says SHUTDOWN. What can fail comes first: a port that is taken is found before
// there is anything to stop, and the world is told last.
func serve(ctx context.Context, c *config, secure *tls.Config, stderr io.Writer) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.Level(c.logLevel)}))

	ln, err := listen("addr", c.addr)
	if err != nil {
		return err
	}
	defer ln.Close()
	webListener, err := listen("http-addr", c.httpAddr)
	if err != nil {
		return err
	}
	st, err := newStore(c, log)
	if err != nil {
		return err
	}
	defer st.close()

	s := server.New(st.engine, c.server(ln.Addr(), secure, log, func() { stop(errAsked) }))
	w := newWeb(s.Register, bool(c.pprof), log)
	if webListener != nil {
		go w.serve(webListener)
		defer w.stop()
	}
	facts := []any{"addr", ln.Addr().String(), "shards", c.shardCount(), "version", version}
	if webListener != nil {
		facts = append(facts, "http", webListener.Addr().String())
	}
	if files, ok := mostFiles(); ok && files < uint64(c.maxClients)+spareFiles {
		log.Warn("fewer files can be open than clients may connect: raise ulimit -n or lower --max-clients", "files", files, "max_clients", int(c.maxClients))
	}
	w.ready.Store(true)
	log.Info("limitstore takes clients", facts...)
	return takeClients(ctx, s, ln, w, log)
}

// takeClients serves ln until ctx is done, then lets the connections finish.
func takeClients(ctx context.Context, s *server.Server, ln net.Listener, w *web, log *slog.Logger) error {
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()

	select {
	case err := <-served: // the connections do not end with it
		served <- fmt.Errorf("the listener failed: %w", err)
	case <-ctx.Done():
		log.Info("limitstore stops", "because", context.Cause(ctx))
	}
	w.ready.Store(false)
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := s.Shutdown(limited); err != nil {
		log.Warn("connections were cut off", "after", drainTime, "err", err)
	}
	return <-served
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
		Shards: c.shardCount(), Clock: now, Seed: newSeed(), Table: table, Limits: c.limits(),
	})}, nil
}

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

package compare

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/limitstore/limitstore/bench/load"
)

// settings are what flags say.
type settings struct {
	program, redis    string // what is started
	against           string // the address of a server that runs already, in place of redis
	password          string // of that
	pid               int    // of that
	partNames         string
	parts             []part
	depthWords        string
	depths            []int
	rounds            int
	conns, keys       int
	memoryKeys        int
	requests          int
	duration, warmup  time.Duration
	timeout           time.Duration
	resultsFile, from string
	page              string
}

func (s *settings) addFlags(set *flag.FlagSet) {
	set.StringVar(&s.program, "limitstore", s.program, "`PROGRAM` the limitstore to start and to put load with")
	set.StringVar(&s.redis, "redis", "redis-server", "`PROGRAM` the redis-server to start beside it")
	set.StringVar(&s.against, "against", "", "`HOST:PORT` compare with the server there in place of that: anything that speaks the Redis protocol")
	set.StringVar(&s.password, "password", "", "`PASSWORD` of the server that --against names")
	set.IntVar(&s.pid, "pid", 0, "`N` the process of the server that --against names, if it is on this machine")
	set.StringVar(&s.partNames, "parts", "all", "`NAMES` what to compare, with commas between them, or all: "+partNames())
	set.StringVar(&s.depthWords, "depth", "1,16,64", "`N` how many requests a connection sends at a time, with commas between them")
	set.IntVar(&s.rounds, "rounds", 5, "`N` how often everything is measured in turn")
	set.IntVar(&s.conns, "conns", 50, "`N` connections")
	set.IntVar(&s.keys, "keys", 100_000, "`N` different keys")
	set.IntVar(&s.memoryKeys, "memory-keys", 10_000_000, "`N` keys at most in memory when bytes for each are measured; half as many at least")
	set.DurationVar(&s.duration, "duration", 5*time.Second, "`TIME` how long to measure each")
	set.IntVar(&s.requests, "requests", 0, "`N` measure so many requests each, not a time; 0: no")
	set.DurationVar(&s.warmup, "warmup", time.Second, "`TIME` how long to play before each")
	set.DurationVar(&s.timeout, "timeout", 20*time.Second, "`TIME` after this a server that does not answer is given up")
	set.StringVar(&s.resultsFile, "results", "", "`FILE` write all that was measured there, as JSON")
	set.StringVar(&s.from, "from", "", "`FILE` measure nothing, take what an earlier comparison has written there")
	set.StringVar(&s.page, "page", "", "`FILE` the page whose figures to renew, as docs/benchmarks.md; plots go into the folder of that name beside it")
}

func partNames() string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return strings.Join(names, " ")
}

// check completes the settings, or says what makes no sense.
func (s *settings) check() (err error) {
	if s.depths, err = load.ParseDepths(s.depthWords); err != nil {
		return err
	}
	if s.rounds < 1 || s.memoryKeys < sizes {
		return fmt.Errorf("--rounds %d, --memory-keys %d: want at least 1 and %d", s.rounds, s.memoryKeys, sizes)
	}
	for name := range strings.SplitSeq(s.partNames, ",") {
		if name == "all" {
			s.parts = s.allParts()
			continue
		}
		p, ok := findPart(name)
		if !ok {
			return fmt.Errorf("--parts: there is no %q; there are %s", name, partNames())
		}
		if s.against != "" && !p.suitsRunning() {
			return fmt.Errorf("--parts: %s needs a server that is started for it, and --against names one that runs", name)
		}
		s.parts = append(s.parts, p)
	}
	return nil
}

// suitsRunning says whether a part can be played against a server that is not ours
// to start, pin and fill with keys.
func (p part) suitsRunning() bool { return !p.pinned && p.name != "memory" }

// allParts are those that can be played.
func (s *settings) allParts() (all []part) {
	for _, p := range parts() {
		if s.against == "" || p.suitsRunning() {
			all = append(all, p)
		}
	}
	return all
}

// Bench is limitstore bench: args are the words behind it, program is the
// limitstore to compare. It returns what the process ends with.
func Bench(ctx context.Context, program string, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "compare" {
		return command(ctx, program, args[1:], stdout, stderr)
	}
	return load.Command(ctx, args, stdout, stderr)
}

// command is limitstore bench compare.
func command(ctx context.Context, program string, args []string, stdout, stderr io.Writer) int {
	s := &session{settings: settings{program: program}, ctx: ctx, log: stderr, targets: map[string]*target{}}
	set := flag.NewFlagSet("compare", flag.ContinueOnError)
	s.addFlags(set)
	err := load.ParseFlags(set, args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, "limitstore bench compare [flags]  measure limitstore and another server in turn\n\n")
		load.WriteFlags(stdout, set)
		return load.Done
	}
	if err == nil {
		err = s.check()
	}
	if err != nil {
		fmt.Fprintf(stderr, "limitstore: bench compare: %v; see limitstore bench compare --help\n", err)
		return load.Misused
	}
	err = s.measure()
	if len(s.results.Runs)+len(s.results.Light) > 0 {
		fmt.Fprint(stdout, s.results.Text())
		err = errors.Join(err, s.keep(err == nil))
	}
	if err != nil {
		fmt.Fprintf(stderr, "limitstore: bench compare: %v\n", err)
		return load.Failed
	}
	return load.Done
}

// measure finds the results: by measuring, or in a file.
func (s *session) measure() (err error) {
	if s.from != "" {
		s.results, err = ReadResults(s.from)
		return err
	}
	for _, program := range []string{s.program, s.redis} {
		if _, err := exec.LookPath(program); err != nil && (program != s.redis || s.against == "") {
			return fmt.Errorf("%w: build limitstore with make build, install redis-server, or name another with --limitstore, --redis or --against", err)
		}
	}
	if err := s.describe(); err != nil {
		return err
	}
	return s.play()
}

// keep writes the files asked for: the results always, the page only of a
// comparison that came to its end.
func (s *session) keep(complete bool) error {
	if complete && s.page != "" {
		if err := s.results.writePage(s.page); err != nil {
			return err
		}
	}
	if s.resultsFile == "" {
		return nil
	}
	return s.results.write(s.resultsFile)
}

// Program is the limitstore to compare where this process is none: what make build
// has built.
func Program() string {
	if _, err := os.Stat("bin/limitstore"); err == nil {
		return "bin/limitstore"
	}
	return "limitstore"
}

package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/limitstore/limitstore/bench/load"
)

// session is one comparison under way.
type session struct {
	settings
	ctx     context.Context
	log     io.Writer // a line for each run
	results Results
	targets map[string]*target // by server and processor, while their part is played
}

// target is the server of a contender, started when it is first asked for.
func (s *session) target(name, core string) (*target, error) {
	if t := s.targets[name+"@"+core]; t != nil {
		return t, nil
	}
	t, err := s.startNamed(name, core)
	if err == nil {
		s.targets[name+"@"+core] = t
	}
	return t, err
}

func (s *session) startNamed(name, core string) (*target, error) {
	switch {
	case name == theirs && s.against != "":
		return &target{addr: s.against, password: s.password, pid: s.pid, stop: func() {}}, nil
	case name == theirs:
		return s.startRedis(core)
	}
	return s.startLimitstore(core, strings.Fields(name)[1:]...)
}

// stopAll ends the servers of a part.
func (s *session) stopAll() {
	for _, t := range s.targets {
		t.stop()
	}
	clear(s.targets)
}

// trial is one run to be made.
type trial struct {
	part      part
	contender contender
	round     int
	depth     int
	rate      int // 0: closed
	filled    bool
	fresh     int // so many keys that were never there before, instead of a time; 0: no
	first     int // the number of the first of them
}

// run lets the load generator play a trial in a process of its own, and notes what
// it found.
func (s *session) run(t trial) (load.Result, error) {
	var server, generator string
	if t.part.pinned {
		var err error
		if server, generator, err = myCores(); err != nil {
			return load.Result{}, err
		}
	}
	to, err := s.target(t.contender.server, server)
	if err != nil {
		return load.Result{}, err
	}
	r, err := s.generate(to, generator, t)
	if err != nil {
		return r, fmt.Errorf("%s, %s: %w", t.part.name, t.contender.name, err)
	}
	run := Run{Part: t.part.name, Contender: t.contender.name, Round: t.round, Result: r}
	if t.fresh > 0 {
		run.Size = t.first + t.fresh
	}
	run.Server = "" // a port that means nothing later
	s.results.Runs = append(s.results.Runs, run)
	fmt.Fprintf(s.log, "%s, round %d of %d, %s, depth %d: %.0f/s, %s us of CPU, p99 %.0f us\n",
		t.part.name, t.round, s.rounds, t.contender.name, t.depth, r.PerSecond, spreadOf([]Run{run}, cpuOf), r.Latency.P99)
	return r, nil
}

// generate runs limitstore bench.
func (s *session) generate(to *target, core string, t trial) (load.Result, error) {
	keys := s.keys
	if t.contender.manyKeys {
		keys = s.memoryKeys
	}
	words := pinned(core, s.program, "bench", "--json", "--addr", to.addr, "--workload", t.contender.workload,
		"--depth", strconv.Itoa(t.depth), "--conns", strconv.Itoa(s.conns), "--keys", strconv.Itoa(keys),
		"--rate", strconv.Itoa(t.rate), "--pid", strconv.Itoa(to.pid), "--timeout", s.timeout.String())
	if t.filled {
		words = append(words, "--filled")
	}
	if t.fresh > 0 {
		words = append(words, "--fresh", "--first-key", strconv.Itoa(t.first), "--requests", strconv.Itoa(t.fresh))
	} else {
		words = append(words, "--duration", s.duration.String(), "--warmup", s.warmup.String(), "--requests", strconv.Itoa(s.requests))
	}
	cmd := exec.CommandContext(s.ctx, words[0], words[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopTime
	cmd.Env = environment(core, load.EnvPrefix+"_PASSWORD="+to.password)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if s.ctx.Err() != nil {
		return load.Result{}, errInterrupted
	}
	if err != nil {
		return load.Result{}, errors.New(strings.TrimSpace(strings.TrimPrefix(said.String(), "limitstore: bench: ")))
	}
	var results []load.Result
	if err := json.Unmarshal(out, &results); err != nil || len(results) != 1 {
		return load.Result{}, fmt.Errorf("the load generator wrote %.80q: %w", out, err)
	}
	return results[0], nil
}

// errInterrupted is why a comparison ends that was told to.
var errInterrupted = errors.New("interrupted")

// play plays all parts asked for.
func (s *session) play() error {
	for _, p := range s.parts {
		err := p.play(s, p)
		s.stopAll()
		if err != nil {
			return err
		}
	}
	s.results.Complete = true
	return nil
}

// playDepths plays each contender at each depth, in turn, round after round.
func playDepths(s *session, p part) error {
	for round := 1; round <= s.rounds; round++ {
		for _, depth := range s.depths {
			for _, c := range p.contenders {
				if _, err := s.run(trial{part: p, contender: c, round: round, depth: depth}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// ourWorkloads are the workloads of limitstore beside those that compare servers.
func ourWorkloads() (all []contender) {
	for _, w := range load.Workloads {
		if !w.NeedsLua {
			all = append(all, contender{name: w.Name, server: ours, workload: w.Name})
		}
	}
	return all
}

// workloadDepth is the depth at which workloads are compared with each other.
const workloadDepth = 16

// playWorkloads plays each workload of limitstore, each on a server of its own, for
// some leave many keys behind.
func playWorkloads(s *session, p part) error {
	for round := 1; round <= s.rounds; round++ {
		for _, c := range p.contenders {
			if _, err := s.run(trial{part: p, contender: c, round: round, depth: workloadDepth}); err != nil {
				return err
			}
			s.stopAll()
		}
	}
	return nil
}

// playRates finds what each contender answers at most, and offers parts of the
// least to all.
func playRates(s *session, p part) error {
	least := 0.0
	for _, c := range p.contenders {
		r, err := s.run(trial{part: p, contender: c, depth: 1})
		if err != nil {
			return err
		}
		if least == 0 || r.PerSecond < least {
			least = r.PerSecond
		}
	}
	for round := 1; round <= s.rounds; round++ {
		for _, fraction := range p.fractions {
			for _, c := range p.contenders {
				if _, err := s.run(trial{part: p, contender: c, round: round, depth: 1, rate: max(1, int(least*fraction)), filled: true}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// sizes is at how many sizes memory is measured, from half of the keys on.
const sizes = 8

// fillDepth is how many keys a connection makes at a time.
const fillDepth = 64

// playMemory makes keys, each contender in a server of its own, and stops to look at
// eight sizes. One round is enough: memory is not noisy.
func playMemory(s *session, p part) error {
	for _, c := range p.contenders {
		have := 0
		for i := range sizes {
			size := s.memoryKeys/2 + s.memoryKeys/2*i/(sizes-1)
			if size <= have {
				continue
			}
			if _, err := s.run(trial{part: p, contender: c, round: 1, depth: fillDepth, fresh: size - have, first: have}); err != nil {
				return err
			}
			have = size
		}
		s.stopAll()
	}
	return nil
}

// playLight measures what the machine can do.
func playLight(s *session, p part) error {
	for round := 1; round <= s.rounds; round++ {
		for _, l := range lights {
			if s.ctx.Err() != nil {
				return errInterrupted
			}
			nanos, err := l.measure()
			if err != nil {
				return fmt.Errorf("%s, %s: %w", p.name, l.name, err)
			}
			s.results.note(l.name, nanos)
			fmt.Fprintf(s.log, "%s, round %d of %d, %s: %.1f ns\n", p.name, round, s.rounds, l.name, nanos)
		}
	}
	return nil
}

// note adds a round's figure.
func (r *Results) note(name string, nanos float64) {
	for i := range r.Light {
		if r.Light[i].Name == name {
			r.Light[i].Nanos = append(r.Light[i].Nanos, nanos)
			return
		}
	}
	r.Light = append(r.Light, Figure{name, []float64{nanos}})
}

// describe notes where and how it is measured.
func (s *session) describe() (err error) {
	s.results.Machine = readMachine()
	s.results.Asked = Asked{s.rounds, s.conns, s.keys, s.duration.Seconds()}
	limited, cancel := context.WithTimeout(s.ctx, startTime)
	defer cancel()
	if s.results.Machine.Limitstore, err = version(limited, s.program, "version"); err != nil {
		return err
	}
	s.results.Machine.Redis = "the server at " + s.against
	if s.against == "" {
		s.results.Machine.Redis, err = version(limited, s.redis, "--version")
	}
	return err
}

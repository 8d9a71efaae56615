//go:build unix

// Command run runs the tests of limiter libraries against redis-server and against
// limitstore and compares what passes: make compat. It takes names of suites, all by
// default. It is never part of the server.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/limitstore/limitstore/compat"
)

func main() { os.Exit(start(os.Args[1:])) }

// start runs the suites named; the process ends with 1 when one has a complaint, with 2
// when they cannot be run here.
func start(names []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	suites, err := chosen(names)
	var h *house
	if err == nil {
		h, err = open(suites)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compat:", err)
		return 2
	}
	code := 0
	for _, s := range suites {
		if ctx.Err() == nil && !h.report(ctx, s) {
			code = 1
		}
	}
	if ctx.Err() != nil {
		return 1
	}
	return code
}

// chosen are the suites of these names; all for none.
func chosen(names []string) ([]compat.Suite, error) {
	all := compat.Suites()
	if len(names) == 0 {
		return all, nil
	}
	var found []compat.Suite
	for _, name := range names {
		i := slices.IndexFunc(all, func(s compat.Suite) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no suite %q: the table in compat/suites.go has them", name)
		}
		found = append(found, all[i])
	}
	return found, nil
}

// house is where suites are installed and run.
type house struct {
	root, work  string   // the compat folder, and the ignored one in it
	programs    []string // redis-server and limitstore, in this order
	redis, date string   // the yardstick's version, and today
}

// open finds what the suites need and says all that is missing at once.
func open(suites []compat.Suite) (*house, error) {
	root, err := filepath.Abs("compat")
	if err != nil {
		return nil, err
	}
	needs := []string{"bash", "redis-server"}
	for _, s := range suites {
		needs = append(needs, s.Needs...)
	}
	slices.Sort(needs)
	var missing []string
	for _, program := range slices.Compact(needs) {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("install first, so that they are in the PATH: %s", strings.Join(missing, ", "))
	}
	h := &house{root: root, work: filepath.Join(root, ".work"), date: time.Now().UTC().Format(time.DateOnly)}
	return h, h.findServers()
}

// findServers gives limitstore the name of redis-server: suites start it by that.
func (h *house) findServers() error {
	built, err := filepath.Abs("bin/limitstore")
	if err != nil {
		return err
	}
	if _, err := os.Stat(built); err != nil {
		return fmt.Errorf("run make build first, here at the root: %w", err)
	}
	named := filepath.Join(h.work, "bin", "redis-server")
	if err := os.MkdirAll(filepath.Dir(named), 0o755); err != nil {
		return err
	}
	_ = os.Remove(named)
	if err := os.Symlink(built, named); err != nil {
		return err
	}
	redis, err := exec.LookPath("redis-server")
	if err != nil {
		return err
	}
	h.programs = []string{redis, named}
	out, err := exec.Command(redis, "--version").Output()
	_, version, _ := strings.Cut(string(out), "v=")
	h.redis, _, _ = strings.Cut(version, " ")
	return err
}

// report runs a suite on both servers, stores the result and prints what is wrong with
// it; it returns whether nothing is.
func (h *house) report(ctx context.Context, s compat.Suite) bool {
	began := time.Now()
	r, err := h.run(ctx, s)
	wrong := []string{}
	if err != nil {
		wrong = append(wrong, fmt.Sprintf("%s: %v", s.Name, err))
	} else {
		wrong = compat.Complaints(s, r, compat.Exceptions())
	}
	fmt.Printf("%-22s redis-server %d of %d, limitstore %d of %d, %d complaints, %.0f s\n",
		s.Name, r.Redis.Passed(), s.Cases, r.Limitstore.Passed(), s.Cases, len(wrong), time.Since(began).Seconds())
	for _, complaint := range wrong {
		fmt.Println("   ", complaint)
	}
	if len(wrong) > 0 {
		fmt.Println("    what it said is in", filepath.Join("compat", ".work", s.Name))
		return false
	}
	if err := os.WriteFile(filepath.Join(h.root, "results", s.Name+".tsv"), []byte(r.Text()), 0o644); err != nil {
		fmt.Println("   ", err)
		return false
	}
	return true
}

// run installs a suite and runs it on both servers, one after the other.
func (h *house) run(ctx context.Context, s compat.Suite) (r compat.Result, err error) {
	dir := filepath.Join(h.work, s.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return r, err
	}
	if err := h.script(ctx, s, dir, "install", ""); err != nil {
		return r, fmt.Errorf("installing: %w", err)
	}
	r = compat.Result{Date: h.date, Yardstick: h.redis}
	for i, to := range []*compat.Verdicts{&r.Redis, &r.Limitstore} {
		if *to, err = h.on(ctx, s, dir, i); err != nil {
			return r, err
		}
	}
	return r, nil
}

// on runs a suite on one of the programs.
func (h *house) on(ctx context.Context, s compat.Suite, dir string, program int) (compat.Verdicts, error) {
	results := filepath.Join(dir, []string{"redis", "limitstore"}[program])
	if err := os.WriteFile(results, nil, 0o644); err != nil {
		return nil, err
	}
	if !s.Spawns {
		stop, err := serve(h.programs[program], results+".server")
		if err != nil {
			return nil, err
		}
		defer stop()
	}
	if err := h.script(ctx, s, dir, results, h.programs[program]); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(results)
	return compat.ReadVerdicts(string(text)), err
}

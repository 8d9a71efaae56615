package load

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/peterbourgon/ff/v3"
)

// What a command ends with: the same as limitstore's other commands.
const (
	Done    = 0
	Failed  = 1 // it could not do its work, or not all of it
	Misused = 2 // it was asked for something that makes no sense
)

// EnvPrefix begins the names of environment variables that set flags.
const EnvPrefix = "LIMITSTORE_BENCH"

// Settings are a plan as flags give it: one for each workload and depth.
type Settings struct {
	Plan      Plan
	Workloads string // names with commas, or "all"
	Depths    string // numbers with commas
	Fresh     bool   // keys that were never there before, whatever the workload says
	JSON      bool
}

// AddFlags declares the flags of a plan. What they set is s.
func (s *Settings) AddFlags(set *flag.FlagSet) {
	s.Plan = DefaultPlan()
	p := &s.Plan
	set.StringVar(&p.Addr, "addr", p.Addr, "`HOST:PORT` the server")
	set.StringVar(&p.Password, "password", "", "`PASSWORD` the server's; better set in the environment, for a command line can be seen by others")
	set.IntVar(&p.PID, "pid", 0, "`N` the server's process on this machine: its processor time and memory are read from /proc; 0: unknown")
	set.StringVar(&s.Workloads, "workload", Workloads[0].Name, "`NAMES` workloads with commas between them, or all: those that need no Lua")
	set.StringVar(&s.Depths, "depth", "1", "`N` how many requests a connection sends at a time; several with commas between them are played one after the other")
	set.IntVar(&p.Conns, "conns", p.Conns, "`N` connections")
	set.IntVar(&p.Keys, "keys", p.Keys, "`N` different keys")
	set.BoolVar(&p.Filled, "filled", false, "the keys are there from a run before: do not send a request for each before this one")
	set.BoolVar(&s.Fresh, "fresh", false, "choose keys that were never there before, whatever the workload says")
	set.Uint64Var(&p.FirstKey, "first-key", 0, "`N` where the numbers of keys begin that were never there before")
	set.IntVar(&p.Rate, "rate", 0, "`N` requests a second over all connections, each due at its time whatever the server does; 0: closed, each connection sends when it is answered")
	set.DurationVar(&p.Duration, "duration", p.Duration, "`TIME` how long to measure")
	set.DurationVar(&p.Warmup, "warmup", p.Warmup, "`TIME` how long to play before that")
	set.IntVar(&p.Requests, "requests", 0, "`N` measure so many requests from the first on, not a time; 0: no")
	set.DurationVar(&p.Timeout, "timeout", p.Timeout, "`TIME` after this a server that does not answer is given up")
	set.BoolVar(&s.JSON, "json", false, "write the results as JSON")
}

// Plans are what the settings ask for, in order.
func (s *Settings) Plans() ([]Plan, error) {
	names := strings.Split(s.Workloads, ",")
	if s.Workloads == "all" {
		names = Names()
	}
	depths, err := ParseDepths(s.Depths)
	if err != nil {
		return nil, err
	}
	var plans []Plan
	for _, name := range names {
		w, err := Find(name)
		if err != nil {
			return nil, fmt.Errorf("--workload: %w", err)
		}
		if s.Workloads == "all" && w.NeedsLua {
			continue // not every server has it: it is played when it is named
		}
		for _, depth := range depths {
			p := s.Plan
			p.Workload, p.Depth = w, depth
			if s.Fresh {
				p.Workload.Pick, p.Workload.Prefill = Fresh, false
			}
			plans = append(plans, p)
		}
	}
	return plans, plans[0].check()
}

// ParseDepths reads numbers with commas between them.
func ParseDepths(words string) ([]int, error) {
	var depths []int
	for word := range strings.SplitSeq(words, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > mostDepth {
			return nil, fmt.Errorf("--depth %q: want numbers from 1 to %d with commas", words, mostDepth)
		}
		depths = append(depths, n)
	}
	return depths, nil
}

// ParseFlags reads args into what was declared in set, then the environment.
func ParseFlags(set *flag.FlagSet, args []string) error {
	set.SetOutput(io.Discard)
	err := ff.Parse(set, args, ff.WithEnvVarPrefix(EnvPrefix))
	if err == nil && set.NArg() > 0 {
		err = fmt.Errorf("%q is no flag", set.Arg(0))
	}
	return err
}

// Typed is a flag as it stands on a command line, and its help. The help is declared
// with what the value is in front, in backquotes.
func Typed(f *flag.Flag) (typed, help string) {
	unit, help := flag.UnquoteUsage(f)
	return strings.TrimSpace("--" + f.Name + " " + unit), strings.TrimPrefix(help, unit+" ")
}

// WriteFlags writes the help of the flags in set.
func WriteFlags(out io.Writer, set *flag.FlagSet) {
	set.VisitAll(func(f *flag.Flag) {
		typed, help := Typed(f)
		fmt.Fprintf(out, "  %s\n        %s", typed, help)
		if f.DefValue != "" && f.DefValue != "false" {
			fmt.Fprintf(out, " (default %s)", f.DefValue)
		}
		fmt.Fprintln(out)
	})
}

// Command is limitstore bench: args are the words behind it. It returns what the
// process ends with.
func Command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var s Settings
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	s.AddFlags(set)
	err := ParseFlags(set, args)
	if errors.Is(err, flag.ErrHelp) {
		writeHelp(stdout, set)
		return Done
	}
	var plans []Plan
	if err == nil {
		plans, err = s.Plans()
	}
	if err != nil {
		fmt.Fprintf(stderr, "limitstore: bench: %v; see limitstore bench --help\n", err)
		return Misused
	}
	results, err := runAll(ctx, plans, stderr)
	if err := s.write(stdout, results); err != nil {
		fmt.Fprintf(stderr, "limitstore: bench: %v\n", err)
		return Failed
	}
	if err != nil {
		fmt.Fprintf(stderr, "limitstore: bench: %v\n", err)
		return Failed
	}
	return Done
}

func writeHelp(out io.Writer, set *flag.FlagSet) {
	fmt.Fprint(out, "limitstore bench [flags]          put load on a server and measure it\n"+
		"limitstore bench compare [flags]  measure two servers in turn\n\n"+
		"It leaves keys in the server's database 0: do not use a server that is in use.\n\n")
	WriteFlags(out, set)
	fmt.Fprint(out, "\nWorkloads:\n\n")
	for _, w := range Workloads {
		fmt.Fprintf(out, "  %-10s %s\n", w.Name, w.Shows)
	}
}

// errInterrupted is why a command fails that was told to end early.
var errInterrupted = errors.New("interrupted")

// runAll runs the plans in order and returns the results there are: the last may
// be of a run that failed.
func runAll(ctx context.Context, plans []Plan, stderr io.Writer) (results []Result, err error) {
	show := NewProgressLine(stderr)
	defer show.Clear()
	for i, p := range plans {
		what := fmt.Sprintf("%s, depth %d (%d of %d)", p.Workload.Name, p.Depth, i+1, len(plans))
		p.Progress = func(at Progress) { show.Show(what + ": " + at.String()) }
		result, err := Run(ctx, p)
		if result.Answered > 0 {
			results = append(results, result)
		}
		if err != nil {
			return results, err
		}
		if ctx.Err() != nil {
			return results, errInterrupted
		}
	}
	return results, nil
}

// write writes the results as was asked for; nothing if there are none.
func (s *Settings) write(out io.Writer, results []Result) error {
	switch {
	case len(results) == 0:
		return nil
	case s.JSON:
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(results)
	}
	return WriteTable(out, results)
}

// String says how far a run has come.
func (p Progress) String() string {
	if p.Total == 0 {
		return fmt.Sprintf("%d answered", p.Answered)
	}
	return fmt.Sprintf("%.0f of %.0f s, %d answered", p.Elapsed.Seconds(), p.Total.Seconds(), p.Answered)
}

// ProgressLine is the last line of a terminal, written over again and again. On
// what is no terminal it writes nothing.
type ProgressLine struct{ out io.Writer }

// NewProgressLine shows progress on out if that is a terminal.
func NewProgressLine(out io.Writer) *ProgressLine {
	file, ok := out.(*os.File)
	if ok {
		info, err := file.Stat()
		ok = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	if !ok {
		out = io.Discard
	}
	return &ProgressLine{out}
}

// Show replaces what the line shows.
func (l *ProgressLine) Show(text string) { fmt.Fprintf(l.out, "\r\x1b[K%s", text) }

// Clear empties the line.
func (l *ProgressLine) Clear() { fmt.Fprint(l.out, "\r\x1b[K") }

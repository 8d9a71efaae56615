package compare

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/bench/load"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSpread(t *testing.T) {
	for want, values := range map[string][]float64{
		"-":                     nil,
		"2.00":                  {2},
		"2.00 (1.00 - 3.00)":    {3, 1, 2},
		"2.50 (1.00 - 10.0)":    {10, 1, 3, 2},
		"1500 (1000 - 2000)":    {2000, 1000},
		"1.00 (1.00 - 1.00)":    {1, math.NaN(), 1, math.Inf(1)},
		"0.12 (0.12 - 0.12)":    {0.123, 0.123},
		"999.0 (999.0 - 999.0)": {999, 999},
	} {
		if got := newSpread(values).String(); got != want {
			t.Errorf("%v: %s, want %s", values, got, want)
		}
	}
}

// TestRatiosAreWithinRounds has a machine that halves its speed after each round:
// the ratio of each round is two all the same.
func TestRatiosAreWithinRounds(t *testing.T) {
	a, b := map[int]float64{}, map[int]float64{}
	for round, speed := 1, 1.0; round <= 5; round, speed = round+1, speed*2 {
		a[round], b[round] = 2*speed, speed
	}
	a[6] = 100 // whose other half is missing
	if got := ratios(a, b); got != (spread{2, 2, 2, 5}) {
		t.Errorf("%+v", got)
	}
}

// rounds are runs of a contender with a figure for each round.
func rounds(part string, c contender, depth int, cpu ...float64) (runs []Run) {
	for i, v := range cpu {
		runs = append(runs, Run{Part: part, Contender: c.name, Round: i + 1, Result: load.Result{
			Depth: depth, CPUMicros: &v, PerSecond: 1000 / v, Latency: load.Latency{P50: v, P99: 10 * v, P999: 100 * v},
		}})
	}
	return runs
}

func sample() Results {
	r := Results{Machine: Machine{Date: "2026-12-01", CPUs: 2, CPU: "a processor"}, Asked: Asked{3, 50, 1000, 5}, Complete: true}
	r.Runs = append(r.Runs, rounds("one-core", incr, 1, 10, 20, 40)...)
	r.Runs = append(r.Runs, rounds("one-core", take, 1, 11, 24, 40)...)
	r.Runs = append(r.Runs, rounds("one-core", incr, 16, 1, 1, 1)...)
	r.Runs = append(r.Runs, rounds("one-core", take, 16, 0.5, 0.75, 1)...)
	for i, c := range []contender{incr, take} {
		for _, rate := range []int{5000, 500} {
			for _, run := range rounds("load", c, 1, 10, 10) {
				run.Offered = rate
				run.Latency.P99 *= float64(i + 1)
				r.Runs = append(r.Runs, run)
			}
		}
	}
	for _, size := range []int{500, 1000} {
		r.Runs = append(r.Runs, Run{Part: "memory", Contender: take.name, Round: 1, Size: size, Result: load.Result{Resident: 64_000}})
	}
	r.note("a write", 100)
	r.note("a write", 300)
	return r
}

// TestTables looks for the lines that sample must give.
func TestTables(t *testing.T) {
	text := sample().Text()
	for _, line := range []string{
		"2026-12-01, 2 cores of a processor",
		"| limitstore TB.TAKE, server CPU, us | 24.0 (11.0 - 40.0) | 0.75 (0.50 - 1.00) |",
		"| server CPU: limitstore TB.TAKE / Redis INCR | 1.10 (1.00 - 1.20) | 0.75 (0.50 - 1.00) |",
		"| requests a second: limitstore TB.TAKE / Redis INCR | 0.91 (0.83 - 1.00) | 1.33 (1.00 - 2.00) |",
		"| Redis GCRA script, server CPU, us | - | - |",
		"| 500 | 10.0 (10.0 - 10.0) | 10.0 (10.0 - 10.0) | 100.0 (100.0 - 100.0) | 200.0 (200.0 - 200.0) | 1.00 (1.00 - 1.00) | 2.00 (2.00 - 2.00) | 1.00 (1.00 - 1.00) |\n| 5000 |",
		"| limitstore TB.TAKE | 128.0 | 96.0 | 64.0 | 500 to 1000 |",
		"| a write | 200.0 (100.0 - 300.0) |",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	if strings.Contains(text, "Two shards") || strings.Contains(text, "interrupted") {
		t.Errorf("it tells what was not played:\n%s", text)
	}
}

func TestThePageKeepsWhatPeopleWrote(t *testing.T) {
	page := filepath.Join(t.TempDir(), "figures.md")
	if err := os.WriteFile(page, []byte("# Page\n"+figuresBegin+"old\n"+figuresEnd+"tail\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is something to replace
		if err := sample().writePage(page); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(got)
	if !strings.HasPrefix(text, "# Page\n"+figuresBegin) || !strings.HasSuffix(text, figuresEnd+"tail\n") || strings.Contains(text, "old") {
		t.Errorf("the page is\n%s", text)
	}
	for _, name := range []string{"latency-load.svg", "cost-depth.svg", "bytes-keys.svg"} {
		if !strings.Contains(text, "(figures/"+name+")") {
			t.Errorf("no link to %s", name)
		}
		checkPlot(t, filepath.Join(filepath.Dir(page), "figures", name))
	}
	for _, text := range []string{"# Page\n", figuresBegin, figuresEnd + figuresBegin, figuresBegin + figuresEnd + figuresBegin + figuresEnd} {
		if _, err := replaceFigures(text, "x"); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// checkPlot wants a picture that is well-formed and names TB.TAKE.
func checkPlot(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	words := ""
	for in := xml.NewDecoder(f); ; {
		token, err := in.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if text, ok := token.(xml.CharData); ok {
			words += string(text)
		}
	}
	if !strings.Contains(words, take.name) {
		t.Errorf("%s does not name %s: %q", file, take.name, words)
	}
}

func TestLinesOfPlots(t *testing.T) {
	lines := plots()[1].data(sample()) // cost against depth
	if len(lines) != 2 || lines[1].name != take.name || len(lines[1].points) != 2 || lines[1].points[1] != (point{16, 0.75}) {
		t.Errorf("%v", lines)
	}
	if lines := plots()[0].data(Results{}); lines != nil {
		t.Errorf("of nothing: %v", lines)
	}
}

func TestResultsAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	if err := sample().write(file); err != nil {
		t.Fatal(err)
	}
	got, err := ReadResults(file)
	if err != nil || got.Text() != sample().Text() {
		t.Errorf("%v: read\n%s", err, got.Text())
	}
}

func TestCores(t *testing.T) {
	for list, want := range map[string]string{"0-1\n": "0 1", "3,7-9": "3 7", "4-5,9": "4 5", "2": "", "": "", "x": "", "5-6\t": "5 6"} {
		server, generator, err := cores(list)
		if got := strings.TrimSpace(server + " " + generator); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v; want %q", list, got, err, want)
		}
	}
}

// TestPinnedProgramsStay asks a pinned program where it may run.
func TestPinnedProgramsStay(t *testing.T) {
	core, _, err := myCores()
	if err != nil {
		core = "0" // a machine with one
	}
	words := pinned(core, "sh", "-c", "echo $GOMAXPROCS; grep Cpus_allowed_list /proc/self/status")
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = environment(core)
	out, err := cmd.Output()
	if want := "1\nCpus_allowed_list:\t" + core + "\n"; err != nil || string(out) != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}

func TestEnvironmentHasNoSettings(t *testing.T) {
	t.Setenv("LIMITSTORE_SHARDS", "3")
	t.Setenv("GOMAXPROCS", "7")
	t.Setenv("KEPT", "1")
	got := " " + strings.Join(environment("", "MORE=2"), " ") + " "
	if strings.Contains(got, "LIMITSTORE_") || strings.Contains(got, "GOMAXPROCS") || !strings.Contains(got, " KEPT=1 ") || !strings.HasSuffix(got, " MORE=2 ") {
		t.Errorf("%s", got)
	}
}

func TestTheSpeedOfLightIsPositive(t *testing.T) {
	write, read, err1 := measureSocket()
	hash, err2 := measureHash()
	miss, err3 := measureMiss(1 << 12)
	if err := errors.Join(err1, err2, err3); err != nil || write <= 0 || read <= 0 || hash <= 0 || miss <= 0 {
		t.Errorf("%v %v %v %v, %v", write, read, hash, miss, err)
	}
}

func TestServersThatDoNotStart(t *testing.T) {
	s := &session{settings: settings{program: "false", redis: "false"}}
	if _, err := s.startLimitstore(""); err == nil || !strings.Contains(err.Error(), "did not start") {
		t.Errorf("limitstore: %v", err)
	}
	if _, err := s.startRedis(""); err == nil || !strings.Contains(err.Error(), "did not start") {
		t.Errorf("redis: %v", err)
	}
	s.program = filepath.Join(t.TempDir(), "nothing")
	if _, err := s.startLimitstore(""); err == nil || !strings.Contains(err.Error(), "cannot start") {
		t.Errorf("nothing: %v", err)
	}
}

func TestWordsThatMakeNoSense(t *testing.T) {
	for want, args := range map[string][]string{
		`--parts: there is no "x"; there are light one-core`:        {"--parts", "x"},
		`--parts: one-core needs a server that is started for it`:   {"--against", "h:1", "--parts", "one-core"},
		`--parts: memory needs a server`:                            {"--against", "h:1", "--parts", "load,memory"},
		`--rounds 0, --memory-keys 10000000: want at least 1 and 8`: {"--rounds", "0"},
		`--depth "x": want numbers`:                                 {"--depth", "x"},
		`"now" is no flag`:                                          {"now"},
	} {
		var out, said strings.Builder
		code := Bench(t.Context(), "limitstore", append([]string{"compare"}, args...), &out, &said)
		if code != load.Misused || out.String() != "" || !strings.Contains(said.String(), want) {
			t.Errorf("%q: %d: %s%s", args, code, out.String(), said.String())
		}
	}
}

func TestProgramsThatAreNotThere(t *testing.T) {
	for want, args := range map[string][]string{
		"build limitstore with make build":                 {"compare", "--limitstore", "no-such-limitstore"},
		`exec: "no-such-redis": executable file not found`: {"compare", "--limitstore", "true", "--redis", "no-such-redis"},
		"open no-such-file: no such file":                  {"compare", "--from", "no-such-file"},
	} {
		var out, said strings.Builder
		if code := Bench(t.Context(), "limitstore", args, &out, &said); code != load.Failed || !strings.Contains(said.String(), want) {
			t.Errorf("%q: %d: %s%s", args, code, out.String(), said.String())
		}
	}
}

// stopping is a log that ends what it is the log of after its first line.
type stopping struct {
	strings.Builder
	stop context.CancelFunc
}

func (s *stopping) Write(p []byte) (int, error) {
	s.stop()
	return s.Builder.Write(p)
}

// TestAnInterruptedComparisonPrintsWhatItHas lets it find one figure.
func TestAnInterruptedComparisonPrintsWhatItHas(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	said := &stopping{stop: stop}
	page := filepath.Join(t.TempDir(), "page.md") // is not there: it must not be asked for
	var out strings.Builder
	code := Bench(ctx, "limitstore", []string{"compare", "--limitstore", "true", "--parts", "light", "--page", page}, &out, said)
	if code != load.Failed || !strings.HasSuffix(said.String(), "\nlimitstore: bench compare: interrupted\n") {
		t.Errorf("ended with %d: %s", code, said.String())
	}
	if text := out.String(); strings.Count(text, "\n| one ") != 1 || !strings.Contains(text, "| "+lights[0].name+" |") || !strings.Contains(text, "The run was interrupted") {
		t.Errorf("printed\n%s", text)
	}
}

// TestTheRealPage wants docs/benchmarks.md to have its marks, and where the results
// of a comparison are kept, its figures to be made of them.
func TestTheRealPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replaceFigures(string(text), ""); err != nil {
		t.Error(err)
	}
	kept, err := filepath.Glob("../results/compare.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range kept {
		r, err := ReadResults(file)
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := replaceFigures(string(text), r.figures("benchmarks")); want != string(text) {
			t.Errorf("docs/benchmarks.md is not what %s says: limitstore bench compare --from bench/results/compare.json --page docs/benchmarks.md", file)
		}
	}
}

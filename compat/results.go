package compat

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed results/*.tsv
var stored embed.FS

//go:embed redis-commands.txt
var redisCommands string

// RedisCommands are the names of Redis 7.0's commands and subcommands, sorted.
func RedisCommands() []string { return strings.Split(strings.TrimSpace(redisCommands), "\n") }

// Passed is the verdict of a case that passed. Every other begins with fail or skip.
const Passed = "pass"

// Verdicts are what one server got, by the name of the case.
type Verdicts map[string]string

// ReadVerdicts reads what a suite's script wrote: verdict, tab, case. The second of a name
// that comes twice, as in suites that loop, is kept as another case.
func ReadVerdicts(text string) Verdicts {
	got := Verdicts{}
	for line := range strings.Lines(text) {
		verdict, name, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		unique := name
		for n := 2; got[unique] != ""; n++ {
			unique = fmt.Sprintf("%s #%d", name, n)
		}
		got[unique] = verdict
	}
	return got
}

// Passed counts the cases that passed.
func (v Verdicts) Passed() (n int) {
	for _, verdict := range v {
		if verdict == Passed {
			n++
		}
	}
	return n
}

// Result is one run of a suite on both servers.
type Result struct {
	Date, Yardstick   string // the day, and redis-server's version
	Redis, Limitstore Verdicts
}

// names are the cases that ran on either server, sorted.
func (r Result) names() []string {
	all := maps.Clone(r.Redis)
	maps.Copy(all, r.Limitstore)
	return slices.Sorted(maps.Keys(all))
}

// Text is the result as it is stored: a line for the run, then one for each case.
func (r Result) Text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\t%s\n", r.Date, r.Yardstick)
	for _, name := range r.names() {
		fmt.Fprintf(&out, "%s\t%s\t%s\n", r.Redis[name], r.Limitstore[name], name)
	}
	return out.String()
}

// ParseResult reads what Text wrote.
func ParseResult(text string) (r Result, err error) {
	head, rest, _ := strings.Cut(text, "\n")
	var ok bool
	if r.Date, r.Yardstick, ok = strings.Cut(head, "\t"); !ok {
		return r, fmt.Errorf("a result begins with date and version, not with %q", head)
	}
	r.Redis, r.Limitstore = Verdicts{}, Verdicts{}
	for line := range strings.Lines(rest) {
		cells := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(cells) != 3 {
			return r, fmt.Errorf("a case has two verdicts and a name, not %q", line)
		}
		for i, to := range []Verdicts{r.Redis, r.Limitstore} {
			if cells[i] != "" {
				to[cells[2]] = cells[i]
			}
		}
	}
	return r, nil
}

// Complaints are what in a result nobody has allowed: cases that did not run, and those
// that are not passed by both servers, nor exactly as an exception says.
func Complaints(s Suite, r Result, allowed []Exception) (wrong []string) {
	for _, side := range []struct {
		server string
		ran    int
	}{{"redis-server", len(r.Redis)}, {"limitstore", len(r.Limitstore)}} {
		if side.ran != s.Cases {
			wrong = append(wrong, fmt.Sprintf("%s: %d cases ran on %s, want %d", s.Name, side.ran, side.server, s.Cases))
		}
	}
	expected := map[string]Exception{}
	for _, e := range allowed {
		if e.Suite == s.Name {
			expected[e.Case] = e
		}
	}
	for _, name := range r.names() {
		e, is := expected[name]
		if !is {
			e = Exception{Redis: Passed, Limitstore: Passed}
		}
		if r.Redis[name] != e.Redis || r.Limitstore[name] != e.Limitstore {
			wrong = append(wrong, fmt.Sprintf("%s: %s: %q on redis-server, %q on limitstore, want %q and %q",
				s.Name, name, r.Redis[name], r.Limitstore[name], e.Redis, e.Limitstore))
		}
		delete(expected, name)
	}
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		wrong = append(wrong, fmt.Sprintf("%s: %s is an exception and did not run", s.Name, name))
	}
	return wrong
}

// Stored is the last result of a suite; ok is false when there is none.
func Stored(suite string) (r Result, ok bool, err error) {
	text, err := stored.ReadFile("results/" + suite + ".tsv")
	if err != nil {
		return r, false, nil
	}
	r, err = ParseResult(string(text))
	return r, err == nil, err
}

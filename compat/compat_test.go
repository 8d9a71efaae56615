package compat

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
)

// TestStoredResultsAreAllowed holds the results that the page shows against the table:
// what is neither passed nor explained may not be there.
func TestStoredResultsAreAllowed(t *testing.T) {
	there := 0
	for _, s := range Suites() {
		r, ok, err := Stored(s.Name)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if !ok {
			continue
		}
		there++
		for _, complaint := range Complaints(s, r, Exceptions()) {
			t.Error(complaint)
		}
	}
	if files, err := os.ReadDir("results"); err != nil || len(files) != there {
		t.Errorf("%d files in results, %d of suites in the table (%v)", len(files), there, err)
	}
}

// TestEverySuiteHasItsScript also wants every exception to name a suite.
func TestEverySuiteHasItsScript(t *testing.T) {
	names := map[string]bool{}
	for _, s := range Suites() {
		names[s.Name] = true
		if info, err := os.Stat("suites/" + s.Name + ".sh"); err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("%s has no script that can be run: %v", s.Name, err)
		}
	}
	for _, e := range Exceptions() {
		if !names[e.Suite] || e.Why == "" || e.Redis == Passed && e.Limitstore == Passed {
			t.Errorf("an exception of no suite, without a reason, or of nothing: %+v", e)
		}
	}
}

func TestComplaints(t *testing.T) {
	suite := Suite{Name: "s", Cases: 2}
	known := []Exception{{"s", "b", "fail", "fail", "broken by age"}}
	for _, c := range []struct {
		name              string
		redis, limitstore string
		allowed           []Exception
		says              string
	}{
		{"both pass", "pass\ta\npass\tb\n", "pass\ta\npass\tb\n", nil, ""},
		{"as allowed", "pass\ta\nfail\tb\n", "pass\ta\nfail\tb\n", known, ""},
		{"we fail", "pass\ta\npass\tb\n", "pass\ta\nfail\tb\n", nil, `s: b: "pass" on redis-server, "fail" on limitstore, want "pass" and "pass"`},
		{"both fail, unexplained", "pass\ta\nfail\tb\n", "pass\ta\nfail\tb\n", nil, `s: b: "fail" on redis-server, "fail" on limitstore`},
		{"a skip is no pass", "pass\ta\nskip\tb\n", "pass\ta\nskip\tb\n", nil, `s: b: "skip"`},
		{"fails with other numbers", "pass\ta\nfail\tb\n", "pass\ta\nfail: 7\tb\n", known, `"fail: 7" on limitstore`},
		{"the exception is stale", "pass\ta\npass\tb\n", "pass\ta\npass\tb\n", known, `want "fail" and "fail"`},
		{"one did not run here", "pass\ta\npass\tb\n", "pass\ta\n", nil, "1 cases ran on limitstore, want 2"},
		{"nothing ran", "", "", known, "0 cases ran on redis-server, want 2"},
		{"the exception did not run", "pass\ta\npass\tc\n", "pass\ta\npass\tc\n", known, "b is an exception and did not run"},
		{"a name twice", "pass\ta\nfail\ta\n", "pass\ta\npass\ta\n", nil, `s: a #2: "fail" on redis-server`},
	} {
		r := Result{Date: "2026-12-01", Yardstick: "7", Redis: ReadVerdicts(c.redis), Limitstore: ReadVerdicts(c.limitstore)}
		again, err := ParseResult(r.Text())
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(Complaints(suite, again, c.allowed), "\n")
		if c.says == "" && got != "" || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want %q in it", c.name, got, c.says)
		}
	}
}

// TestRedisCommandsAreAll asks redis-server for the names that the page counts.
func TestRedisCommandsAreAll(t *testing.T) {
	host, port, _ := strings.Cut(redistest.Start(t), ":")
	out, err := exec.Command("redis-cli", "--raw", "-h", host, "-p", port, "COMMAND", "LIST").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(strings.ReplaceAll(strings.ToUpper(string(out)), "|", " ")), "\n")
	slices.Sort(want)
	if got := RedisCommands(); !slices.Equal(got, want) {
		t.Errorf("redis-commands.txt has %d names, redis-server %d: %v", len(got), len(want), want)
	}
}

package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/limitstore/limitstore/bench/load"
	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/resp"
	"github.com/redis/go-redis/v9"
)

// tiny is a plan that is over at once: so many requests, for few keys.
func tiny(addr string, w load.Workload) load.Plan {
	p := load.DefaultPlan()
	p.Addr, p.Workload, p.Keys, p.Conns, p.Depth, p.Requests = addr, w, 10, 3, 4, 100
	return p
}

// TestEveryWorkload plays each row at a tiny size, closed and open, and counts.
func TestEveryWorkload(t *testing.T) {
	ours, theirs := startStore(t, 2, ""), redistest.Start(t)
	for _, w := range load.Workloads {
		t.Run(w.Name, func(t *testing.T) {
			addr := ours
			if w.NeedsLua {
				addr = theirs
			}
			for _, rate := range []int{0, 100_000} {
				p := tiny(addr, w)
				p.Rate, p.FirstKey = rate, uint64(rate)
				r, err := load.Run(t.Context(), p)
				if err != nil || r.Answered != 100 || r.Unserved != 0 || r.Latency.P50 <= 0 {
					t.Fatalf("rate %d: %d of 100 answered, %v, p50 %v", rate, r.Answered, err, r.Latency.P50)
				}
				if want := map[bool]uint64{true: 100}[w.Name == "denied"]; r.Denied != want {
					t.Errorf("rate %d: %d denied, want %d", rate, r.Denied, want)
				}
			}
		})
	}
}

// TestComparableWorkloadsRunOnRedis plays those that are sent to both.
func TestComparableWorkloadsRunOnRedis(t *testing.T) {
	theirs := redistest.Start(t)
	for _, name := range []string{"incr", "gcra", "script", "ping", "set"} {
		w, err := load.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := load.Run(t.Context(), tiny(theirs, w)); err != nil || r.Answered != 100 || r.Denied != 0 {
			t.Errorf("%s: %d answered, %d denied, %v", name, r.Answered, r.Denied, err)
		}
	}
}

// TestKeysOfWorkloads counts the keys that are there afterwards.
func TestKeysOfWorkloads(t *testing.T) {
	for name, want := range map[string]int64{"uniform": 10, "hot": 1, "new": 100, "mixed": 50, "door": 30, "denied": 10, "incr": 10} {
		w, err := load.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		addr := startStore(t, 2, "")
		if name == "hot" { // its key is gone a microsecond later
			w.Requests = []string{strings.Replace(w.Requests[0], "1000000 1s", "1 1h", 1)}
		}
		if _, err := load.Run(t.Context(), tiny(addr, w)); err != nil {
			t.Fatal(err)
		}
		db := redis.NewClient(&redis.Options{Addr: addr})
		if got, err := db.DBSize(t.Context()).Result(); got != want || err != nil {
			t.Errorf("%s: %d keys, %v; want %d", name, got, err, want)
		}
		db.Close()
	}
}

// TestKeysAreNotFilledInAgain says that the keys are there: only what is asked for
// makes any.
func TestKeysAreNotFilledInAgain(t *testing.T) {
	addr := startStore(t, 2, "")
	p := tiny(addr, load.Workloads[0])
	p.Filled, p.Requests = true, 1
	if _, err := load.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	db := redis.NewClient(&redis.Options{Addr: addr})
	defer db.Close()
	if got, err := db.DBSize(t.Context()).Result(); got != 1 || err != nil {
		t.Errorf("%d keys, %v; want the one that was asked for", got, err)
	}
}

// TestScriptsAnswerAsTheLimiterDoes asks the scripts in redis-server and TB.TAKE
// here the same: a bucket of ten in which nothing comes back while the test runs.
// Waits may differ by what has passed: they are compared in whole hours.
func TestScriptsAnswerAsTheLimiterDoes(t *testing.T) {
	theirs := redis.NewClient(&redis.Options{Addr: redistest.Start(t)})
	ours := redis.NewClient(&redis.Options{Addr: startStore(t, 2, "")})
	defer theirs.Close()
	defer ours.Close()
	for _, name := range []string{"gcra", "script"} {
		w, err := load.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, cost := range []int{1, 3, 10, 6, 1, 11} { // 9, 6, no, 0, no, never
			want, err1 := ours.Do(t.Context(), "TB.TAKE", name, 10, 1, "10d", "COST", cost).Int64Slice()
			got, err2 := theirs.Eval(t.Context(), w.Script, []string{name}, 10, 1, (10 * 24 * time.Hour).Microseconds(), cost).Int64Slice()
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			if cost > 10 {
				want[3] = got[3] // a script does not know never
			}
			if fmt.Sprint(hours(got)) != fmt.Sprint(hours(want)) {
				t.Errorf("%s, call %d for %d: %v, want %v", name, i+1, cost, got, want)
			}
		}
	}
}

func hours(reply []int64) []int64 {
	for i := 3; i < 5; i++ {
		reply[i] = (reply[i] + 1_800_000) / 3_600_000
	}
	return reply
}

// command runs limitstore bench and returns what it ends with and says.
func command(ctx context.Context, args ...string) (code int, out, said string) {
	var stdout, stderr bytes.Buffer
	code = load.Command(ctx, args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestResultsAsJSON(t *testing.T) {
	addr := startStore(t, 1, "secret")
	t.Setenv("LIMITSTORE_BENCH_PASSWORD", "secret")
	code, out, said := command(t.Context(), "--addr", addr, "--requests", "50", "--keys", "5", "--workload", "uniform,denied", "--depth", "1,4", "--json")
	if code != load.Done || said != "" {
		t.Fatalf("%d: %s", code, said)
	}
	var results []load.Result
	if err := json.Unmarshal([]byte(out), &results); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range results {
		got = append(got, fmt.Sprint(r.Workload, r.Depth, r.Answered, r.Denied, r.CPUMicros == nil, r.Server == addr))
	}
	if want := "[uniform1 50 0 true true uniform4 50 0 true true denied1 50 50 true true denied4 50 50 true true]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestResultsAsATable(t *testing.T) {
	code, out, said := command(t.Context(), "--addr", startStore(t, 1, ""), "--requests", "50", "--keys", "5")
	lines := strings.Split(out, "\n")
	if code != load.Done || said != "" || len(lines) != 3 || !strings.Contains(lines[0], "p99.9 us") || !strings.Contains(lines[1], "uniform") {
		t.Errorf("%d: %s%s", code, out, said)
	}
}

func TestServersThatCannotBeMeasured(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	silent := func(net.Conn) {}
	web := func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }
	closes := func(c net.Conn) { c.Close() }
	for addr, want := range map[string]string{
		gone.Addr().String():       "connection refused",
		listen(t, silent):          "has not answered for 50ms",
		listen(t, web):             "not a reply",
		listen(t, closes):          "",
		startStore(t, 1, "secret"): "NOAUTH Authentication required.",
		redistest.Start(t):         "the server refuses TB.TAKE: ERR unknown command 'TB.TAKE'",
		"no-port":                  "missing port",
	} {
		code, out, said := command(t.Context(), "--addr", addr, "--timeout", "50ms", "--keys", "5", "--workload", "hot")
		if code != load.Failed || out != "" || !strings.HasPrefix(said, "limitstore: bench: ") || !strings.Contains(said, want) {
			t.Errorf("%s: ended with %d: %s%s; want %q", addr, code, out, said, want)
		}
	}
	code, _, said := command(t.Context(), "--addr", startStore(t, 1, "secret"), "--password", "wrong")
	if code != load.Failed || !strings.Contains(said, "the server refuses AUTH: WRONGPASS") {
		t.Errorf("a wrong password: %d: %s", code, said)
	}
}

func TestAnInterruptedCommandPrintsWhatItHas(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	addr := listen(t, func(conn net.Conn) {
		in := resp.NewReader(conn, resp.DefaultLimits())
		for answered := 0; ; {
			args, err := in.Next()
			if err == nil && args == nil {
				err = in.Fill()
			}
			if err != nil {
				return
			}
			if args != nil {
				fmt.Fprint(conn, "*1\r\n:1\r\n")
				if answered++; answered == 1000 {
					stop()
				}
			}
		}
	})
	code, out, said := command(ctx, "--addr", addr, "--workload", "hot", "--conns", "1", "--duration", "10m", "--warmup", "0s")
	if code != load.Failed || said != "limitstore: bench: interrupted\n" || !strings.Contains(out, "interrupted: the figures are of") {
		t.Errorf("ended with %d: %s%s", code, out, said)
	}
}

func TestWordsThatMakeNoSense(t *testing.T) {
	for want, args := range map[string][]string{
		`--workload: there is no workload "x"; there are uniform zipf`: {"--workload", "x"},
		`--depth "1,0": want numbers from 1 to 10000`:                  {"--depth", "1,0"},
		`--depth "": want`:                        {"--depth", ""},
		`connections 0: want 1 to 10000`:          {"--conns", "0"},
		`"now" is no flag`:                        {"now"},
		`flag provided but not defined: -nosuch`:  {"--nosuch"},
		`invalid value "soon" for flag -duration`: {"--duration", "soon"},
		`duration 0s: want more than nothing`:     {"--duration", "0s"},
	} {
		code, out, said := command(t.Context(), args...)
		if code != load.Misused || out != "" || !strings.Contains(said, want) || !strings.HasSuffix(said, "; see limitstore bench --help\n") {
			t.Errorf("%q: %d: %s%s, want %s", args, code, out, said, want)
		}
	}
}

func TestHelpNamesFlagsAndWorkloads(t *testing.T) {
	code, out, said := command(t.Context(), "--help")
	if code != load.Done || said != "" {
		t.Fatalf("%d: %s", code, said)
	}
	for _, name := range append(load.Names(), "--rate N", "(default 127.0.0.1:7379)") {
		if !strings.Contains(out, "  "+name) && !strings.Contains(out, " "+name) {
			t.Errorf("%s is not in the help", name)
		}
	}
}

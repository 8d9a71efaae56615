package server

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/redistest"
)

// newerThanRedis are the commands that Debian's Redis 7.0 does not have yet, and
// those of other servers; what they are is in their own documentation.
var newerThanRedis = []string{"client|setinfo", "client|no-touch", "increx", "cl.throttle", "throttle"}

// flagsWithoutUse are Redis' flags for things that are not here, so that no row
// can have them: each with why.
var flagsWithoutUse = map[string]string{
	"allow_busy": "nothing makes the server busy: a script that takes too long is stopped",
}

// otherwiseFast are commands that are fast here and not in Redis, or the other
// way round: each with why.
var otherwiseFast = map[string]string{
	"set": "replacing a value frees one cell, whatever its size", "setex": "as SET", "psetex": "as SET",
	"del": "it is UNLINK, which Redis calls fast", "renamenx": "it copies the value", "move": "it copies the value",
}

// newerArity are commands that have got more arguments since.
var newerArity = map[string]string{"zrank": "WITHSCORE is of 7.2", "zrevrank": "WITHSCORE is of 7.2"}

// details are what COMMAND INFO says that a client acts upon.
func details(t *testing.T, v any) string {
	if v == nil {
		return "nil"
	}
	about := v.([]any)
	flags := slices.DeleteFunc(listOf(about[2]), func(flag string) bool {
		return flagsWithoutUse[flag] != "" || flag == "fast" && otherwiseFast[about[0].(string)] != ""
	})
	slices.Sort(flags)
	if newerArity[about[0].(string)] != "" {
		about[1] = "newer"
	}
	return fmt.Sprintf("%s arity %v flags %v keys %d %d %d", about[0], about[1], flags, about[3], about[4], about[5])
}

// TestTheTableIsRedis asks redis-server about every command that is Redis' own,
// those of package engine included.
func TestTheTableIsRedis(t *testing.T) {
	theirs, ours := callAt(t, redistest.Start(t)), newRig(t).call()
	table, err := engine.NewTable(engine.Commands(), Commands())
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, row := range table.Rows() {
		name := row.Lower()
		if strings.ContainsRune(name, '.') || slices.Contains(newerThanRedis, name) {
			continue // a limiter's
		}
		compared++
		ask := request("COMMAND", "INFO", name)
		theirs.send(ask)
		ours.send(ask)
		want := details(t, parsed(t, theirs.reply()).([]any)[0])
		if got := details(t, parsed(t, ours.reply()).([]any)[0]); got != want {
			t.Errorf("we say    %s\nRedis says %s", got, want)
		}
	}
	if compared < 70 {
		t.Errorf("compared %d commands only", compared)
	}
}

// TestNewerCommandsAreNewer keeps the exceptions from growing old.
func TestNewerCommandsAreNewer(t *testing.T) {
	c := callAt(t, redistest.Start(t))
	for _, name := range newerThanRedis {
		if reply := c.do("COMMAND INFO " + name); parsed(t, reply).([]any)[0] != nil {
			t.Errorf("Redis knows %s: compare it", name)
		}
	}
}

// sameDetails are commands about which COMMAND INFO can be compared to the byte.
// About the others Redis says more finely what it does to the key, or has tips for
// proxies.
var sameDetails = []string{"get", "getrange", "expiretime", "pexpiretime", "getset", "select", "echo", "hget", "sintercard", "zscore", "zrange", "zrangebyscore", "zunion", "lrange", "lindex", "client|id", "client|kill", "config|get", "nosuch"}

// TestCommandInfoIsRedis compares whole replies, in both protocols.
func TestCommandInfoIsRedis(t *testing.T) {
	theirs, ours := callAt(t, redistest.Start(t)), newRig(t).call()
	for _, hello := range []string{"HELLO 2", "HELLO 3"} {
		theirs.do(hello)
		ours.do(hello)
		for _, name := range sameDetails {
			ask := "COMMAND INFO " + name
			if got, want := ours.do(ask), theirs.do(ask); got != want {
				t.Errorf("%s, %s\ngot  %q\nwant %q", hello, ask, got, want)
			}
		}
	}
}

// TestContainersAreRedis compares a command with subcommands: its own part, and
// one of its subcommands inside it. Of those Redis has more.
func TestContainersAreRedis(t *testing.T) {
	theirs, ours := callAt(t, redistest.Start(t)), newRig(t).call()
	for _, hello := range []string{"HELLO 2", "HELLO 3"} {
		theirs.do(hello)
		ours.do(hello)
		want, got := theirs.do("COMMAND INFO config"), ours.do("COMMAND INFO config")
		head, _, _ := strings.Cut(got, "*4\r\n*10\r\n")
		sub := strings.TrimPrefix(ours.do("COMMAND INFO config|get"), "*1\r\n")
		if head == got || !strings.HasPrefix(want, head) || !strings.Contains(got, sub) || !strings.Contains(want, sub) {
			t.Errorf("%s\ngot  %q\nwant %q\nwith %q", hello, got, want, sub)
		}
	}
}

// docsShape is COMMAND DOCS of one command with the texts taken out: ours are our
// own, and so are the versions.
func docsShape(raw string) string {
	for _, field := range []string{"summary", "since", "complexity"} {
		raw = regexp.MustCompile(`(\$\d+\r\n`+field+`\r\n)\$\d+\r\n[^\r]*\r\n`).ReplaceAllString(raw, "$1")
	}
	return raw
}

// TestCommandDocsIsRedis compares the documentation of commands whose arguments
// Redis names as we do.
func TestCommandDocsIsRedis(t *testing.T) {
	theirs, ours := callAt(t, redistest.Start(t)), newRig(t).call()
	for _, hello := range []string{"HELLO 2", "HELLO 3"} {
		theirs.do(hello)
		ours.do(hello)
		for _, name := range []string{"get", "del", "incr", "mget", "strlen", "getdel", "echo", "select", "client|id", "client|setname", "nosuch"} {
			ask := "COMMAND DOCS " + name
			if got, want := docsShape(ours.do(ask)), docsShape(theirs.do(ask)); got != want {
				t.Errorf("%s, %s\ngot  %q\nwant %q", hello, ask, got, want)
			}
		}
	}
}

// TestInfoHasRedisFields compares the sections of INFO, and wants every field
// to be one of Redis' or named as ours.
func TestInfoHasRedisFields(t *testing.T) {
	theirs, ours := callAt(t, redistest.Start(t)), newRig(t).call()
	for _, line := range []string{"SET a 1", "INCR a", "GET a", "NOSUCH"} {
		theirs.do(line)
		ours.do(line)
	}
	// Redis measures latency; the rest of the titles are the same, in this order.
	want := slices.DeleteFunc(titles(t, theirs.do("INFO everything")), func(s string) bool { return s == "# Latencystats" })
	if got := titles(t, ours.do("INFO everything")); !slices.Equal(got, want) {
		t.Errorf("sections %q, want %q", got, want)
	}
	if got, want := titles(t, ours.do("INFO")), titles(t, theirs.do("INFO")); !slices.Equal(got, want) {
		t.Errorf("sections %q, want %q", got, want)
	}
	known := fields(t, theirs.do("INFO everything"))
	for name := range fields(t, ours.do("INFO everything")) {
		if _, ok := known[name]; !ok && !slices.Contains(ownFields, name) {
			t.Errorf("Redis has no field %q, and it is not named as ours", name)
		}
	}
}

// ownFields are the fields of INFO that Redis 7.0 does not have.
var ownFields = []string{"limitstore_version", "limitstore_commit", "go_version", "shards", "limiter_allowed", "limiter_denied", "limiter_evicted_debt", "pubsub_clients", "watching_clients", "total_watched_keys"}

func titles(t *testing.T, raw string) (found []string) {
	for line := range strings.SplitSeq(parsed(t, raw).(string), "\r\n") {
		if strings.HasPrefix(line, "#") {
			found = append(found, line)
		}
	}
	return found
}

// fields are the lines of INFO by name.
func fields(t *testing.T, raw string) map[string]string {
	all := map[string]string{}
	for line := range strings.SplitSeq(parsed(t, raw).(string), "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			all[name] = value
		}
	}
	return all
}

package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
)

// adminConversations are what an operator may say, with redis-server's answers.
var adminConversations = []string{
	"CLUSTER", "CLUSTER INFO", "cluster help", "CLUSTER FOO", "CLUSTER MEET", "CLUSTER MEET a", "CLUSTER MEET a 1", "CLUSTER SLOTS", "CLUSTER SLOTS x", "CLUSTER KEYSLOT k", "CLUSTER NODES",
	"READONLY", "READONLY x", "READWRITE", "ASKING", "ROLE", "ROLE x", "HELLO 3\r\nROLE", "FAILOVER", "SAVE x", "BGREWRITEAOF x", "LASTSAVE x", "REPLICAOF a", "REPLICAOF a b c", "SLAVEOF", "PSYNC a", "DEBUG",
	"MODULE", "MODULE FOO", "MODULE LIST", "MODULE LIST x", "MODULE LOAD", "MODULE UNLOAD", "DUMP", "DUMP a b", "RESTORE a", "MIGRATE a b", "CONFIG REWRITE x",
	"WAIT", "WAIT 0 0", "WAIT x 0", "WAIT 0 x", "WAIT 0 -1", "WAIT -1 0", "WAIT x x",
	"ACL", "ACL FOO", "ACL WHOAMI", "ACL WHOAMI x", "ACL USERS", "ACL LIST", "ACL GETUSER default", "ACL GETUSER bob", "ACL GETUSER DEFAULT", "HELLO 3\r\nACL GETUSER default\r\nACL GETUSER bob", "ACL GETUSER",
	"ACL CAT nosuch", "ACL CAT a b", "ACL CAT admin x y", "ACL GENPASS 0", "ACL GENPASS 4097", "ACL GENPASS x", "ACL GENPASS 1 2", "ACL genpass 1 2", "ACL SETUSER", "ACL DELUSER", "ACL LOAD x", "ACL SAVE x",
	"ACL LOG", "ACL LOG RESET", "ACL LOG reset", "ACL LOG x", "ACL LOG -1", "ACL LOG 1 2", "ACL LOG 0",
	"ACL DRYRUN default GET a", "ACL DRYRUN default GET", "ACL DRYRUN bob GET a", "ACL DRYRUN default FOO a", "ACL DRYRUN default CLIENT ID", "ACL DRYRUN default CLIENT FOO", "ACL DRYRUN bob", "ACL DRYRUN default CONFIG GET",
	"CONFIG SET", "CONFIG SET a", "CONFIG SET a b", "CONFIG SET databases 1", "CONFIG SET daemonize no", "CONFIG SET maxclients x", "CONFIG SET timeout -1", "CONFIG SET timeout 5 foo 1", "CONFIG SET timeout 1 TIMEOUT 2",
	"CONFIG SET slowlog-log-slower-than x", "CONFIG SET timeout 5 maxclients", "CONFIG SET timeout 99999999999", `CONFIG SET "" 1`, "CONFIG SET databases 1 foo 2", "CONFIG SET timeout 1 foo 2 foo 3",
	"CONFIG SET timeout 7 maxclients 500\r\nCONFIG GET timeout maxclients\r\nCONFIG SET timeout 8 maxclients x\r\nCONFIG GET timeout\r\nCONFIG SET timeout 0 maxclients 10000",
	"CONFIG SET appendonly no\r\nCONFIG SET appendonly NO", `CONFIG SET save ""`, "CONFIG SET maxmemory-policy noeviction", `CONFIG SET notify-keyspace-events ""`, "CONFIG SET maxmemory 0",
	"CONFIG SET slowlog-max-len 5\r\nCONFIG GET slowlog*\r\nCONFIG SET slowlog-max-len 128", "CONFIG GET latency-monitor-threshold", "CONFIG RESETSTAT", "CONFIG RESETSTAT x",
	"CONFIG GET tcp-keepalive", "CONFIG GET daemonize", "CONFIG GET unixsocket", "HELLO 3\r\nCONFIG GET slowlog-log-slower-than",
	"SLOWLOG", "SLOWLOG FOO", "SLOWLOG GET -2", "SLOWLOG GET x", "SLOWLOG GET 1 2", "SLOWLOG GET", "SLOWLOG GET 5", "SLOWLOG LEN", "SLOWLOG LEN x", "SLOWLOG RESET",
	"LATENCY", "LATENCY FOO", "LATENCY LATEST", "LATENCY HISTORY", "LATENCY HISTORY command", "LATENCY RESET", "LATENCY RESET a b", "LATENCY GRAPH", "LATENCY DOCTOR x",
}

// settingsOfTheProcess are those that the program gives beside the server's.
var settingsOfTheProcess = []Setting{{"tcp-keepalive", "300"}, {"unixsocket", ""}}

func TestAdminConversationsAreRedis(t *testing.T) {
	for _, access := range []struct{ name, password string }{{"open", ""}, {"password", "secret"}} {
		t.Run(access.name, func(t *testing.T) {
			theirs := redistest.Start(t, "--requirepass", access.password)
			ours := newRig(t, func(s *setup) { s.Password, s.Settings = access.password, settingsOfTheProcess }).addr
			for _, say := range adminConversations {
				if access.password != "" {
					say = "AUTH secret\r\n" + say
				}
				if got, want := converse(t, ours, say), converse(t, theirs, say); sorted(say, got) != sorted(say, want) {
					t.Errorf("%q\ngot  %q\nwant %q", say, got, want)
				}
			}
		})
	}
}

// sorted puts the names and values of CONFIG GET in order, for Redis has none.
func sorted(say, raw string) string {
	if !strings.Contains(say, "CONFIG GET timeout maxclients") && !strings.Contains(say, "slowlog*") {
		return raw
	}
	lines := strings.Split(raw, "\r\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestRefusalsAreRedisCommands asks redis-server about every refused command: it
// has it, and takes as many words. None of them is in our table.
func TestRefusalsAreRedisCommands(t *testing.T) {
	theirs, ours := callAt(t, redistest.Start(t)), newRig(t).call()
	for _, r := range Refusals() {
		name := strings.ReplaceAll(strings.ToLower(r.Command), " ", "|")
		ask := request("COMMAND", "INFO", name)
		theirs.send(ask)
		ours.send(ask)
		if mine := parsed(t, ours.reply()).([]any)[0]; mine != nil {
			t.Errorf("%s is refused, and in the table", r.Command)
		}
		about := parsed(t, theirs.reply()).([]any)[0]
		if newer := name == "waitaof"; (about == nil) != newer {
			t.Errorf("%s: Redis says %v", r.Command, about)
		} else if !newer && about.([]any)[1] != int64(r.arity) {
			t.Errorf("%s: arity %d, Redis says %v", r.Command, r.arity, about.([]any)[1])
		}
	}
	subs := parsed(t, theirs.do("COMMAND INFO cluster")).([]any)[0].([]any)[9].([]any)
	if len(subs) != len(clusterCommands()) {
		t.Errorf("%d subcommands of CLUSTER, Redis has %d", len(clusterCommands()), len(subs))
	}
}

// TestRefusalsAreTold says each with as many words as it takes, and with one less
// or more.
func TestRefusalsAreTold(t *testing.T) {
	c := newRig(t).call()
	for _, r := range Refusals() {
		words := strings.Fields(strings.ToLower(r.Command))
		given := len(words)
		for len(words) < max(r.arity, -r.arity) {
			words = append(words, "x")
		}
		c.send(request(words...))
		want := "-" + r.Text + "\r\n"
		if r.container {
			want = "-ERR unknown subcommand 'x'. Try " + r.Command + " HELP.\r\n"
		}
		if got := c.reply(); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
		if r.arity > 0 {
			words = append(words, "x")
		} else if words = words[:len(words)-1]; len(words) < given || len(words) == 0 {
			continue
		}
		c.send(request(words...))
		want = fmt.Sprintf("-ERR wrong number of arguments for '%s' command\r\n", strings.ReplaceAll(strings.ToLower(r.Command), " ", "|"))
		if got := c.reply(); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
		if r.Why == "" {
			t.Errorf("%s has no reason", r.Command)
		}
	}
}

// TestStrangersAreNotToldRefusals: first the password.
func TestStrangersAreNotToldRefusals(t *testing.T) {
	c := newRig(t, func(s *setup) { s.Password = "secret" }).call()
	if got := c.do("BGSAVE"); got != "-NOAUTH Authentication required.\r\n" {
		t.Errorf("%q", got)
	}
}

// TestCategoriesAreRedis: ours are some of Redis', in its order, and what is in them
// is in them there.
func TestCategoriesAreRedis(t *testing.T) {
	theirs, ours := callAt(t, redistest.Start(t)), newRig(t).call()
	known := listOf(parsed(t, theirs.do("ACL CAT")))
	mine := listOf(parsed(t, ours.do("ACL CAT")))
	at := -1
	for _, category := range mine[:len(mine)-1] {
		next := slices.Index(known, category)
		if next <= at {
			t.Errorf("%q stands at %d in Redis, after %d", category, next, at)
		}
		at = next
	}
	if mine[len(mine)-1] != "limiter" || len(mine) < 8 {
		t.Errorf("categories %q", mine)
	}
	for _, category := range []string{"string", "admin", "dangerous"} {
		there := listOf(parsed(t, theirs.do("ACL CAT "+category)))
		for _, name := range listOf(parsed(t, ours.do("ACL CAT "+category))) {
			if !slices.Contains(there, name) && !slices.Contains(newerThanRedis, name) {
				t.Errorf("%s is in %s here", name, category)
			}
		}
	}
}

// TestGenPass counts digits.
func TestGenPass(t *testing.T) {
	c := newRig(t).call()
	for ask, digits := range map[string]int{"ACL GENPASS": 64, "ACL GENPASS 1": 1, "ACL GENPASS 5": 2, "ACL GENPASS 4096": 1024} {
		first, second := parsed(t, c.do(ask)).(string), parsed(t, c.do(ask)).(string)
		if len(first) != digits || strings.Trim(first, "0123456789abcdef") != "" || digits > 8 && first == second {
			t.Errorf("%s: %q, then %q", ask, first, second)
		}
	}
}

// TestACLLog fails to log in, here and there, and compares the names of what is
// remembered, and the values that are not of the moment.
func TestACLLog(t *testing.T) {
	theirs, r := redistest.Start(t, "--requirepass", "secret"), newRig(t, func(s *setup) { s.Password = "secret" })
	show := func(addr string) string {
		c := callAt(t, addr)
		for _, line := range []string{"AUTH wrong", "AUTH bob secret", "AUTH wrong", "HELLO 2 AUTH bob x", "AUTH secret"} {
			c.do(line)
		}
		var said []string
		for _, entry := range parsed(t, c.do("ACL LOG 2")).([]any) {
			fields := entry.([]any)
			for i := 0; i < len(fields); i += 2 {
				if name := fields[i].(string); name != "age-seconds" && name != "client-info" {
					said = append(said, fmt.Sprint(name, "=", fields[i+1]))
				} else {
					said = append(said, name)
				}
			}
		}
		said = append(said, fmt.Sprint(len(parsed(t, c.do("ACL LOG")).([]any))))
		c.do("ACL LOG RESET")
		return strings.Join(append(said, c.do("ACL LOG")), " ")
	}
	if got, want := show(r.addr), show(theirs); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// A minute later the same is another entry; 128 are kept.
	c := r.call()
	for i := range keptLogins + 3 {
		c.do(fmt.Sprintf("AUTH user%d x", i))
	}
	c.do("AUTH secret")
	if n := len(parsed(t, c.do("ACL LOG 1000")).([]any)); n != keptLogins {
		t.Errorf("%d entries", n)
	}
	r.clock.Advance(90e9)
	c.do("AUTH user130 x")
	entries := parsed(t, c.do("ACL LOG 2")).([]any)
	if first, second := entries[0].([]any), entries[1].([]any); first[1] != int64(1) || first[11] != "0.000" || second[11] != "90.000" || second[9] != "user130" {
		t.Errorf("%v", entries)
	}
}

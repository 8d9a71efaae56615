package server

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
)

// line is CLIENT LIST's line about one connection, by field.
func line(t *testing.T, raw string) map[string]string {
	text := parsed(t, raw).(string)
	if !strings.HasSuffix(text, "\n") || strings.Count(text, "\n") != 1 {
		t.Fatalf("not a line: %q", text)
	}
	all := map[string]string{}
	for field := range strings.FieldsSeq(text) {
		name, value, ok := strings.Cut(field, "=")
		if !ok {
			t.Fatalf("%q in %q", field, text)
		}
		all[name] = value
	}
	return all
}

// TestLongNamesAreRefused: they are kept for as long as a client is connected.
func TestLongNamesAreRefused(t *testing.T) {
	c := newRig(t).call()
	longest := strings.Repeat("n", longestName)
	for _, words := range [][]string{{"CLIENT", "SETNAME"}, {"CLIENT", "SETINFO", "LIB-NAME"}, {"CLIENT", "SETINFO", "LIB-VER"}} {
		c.send(request(append(words, longest)...))
		if got := c.reply(); got != "+OK\r\n" {
			t.Errorf("%s of %d bytes: %q", words, longestName, got)
		}
		c.send(request(append(words, longest+"n")...))
		if got := c.reply(); !strings.HasPrefix(got, "-ERR ") || !strings.Contains(got, "longer than 1024 bytes") {
			t.Errorf("%s of %d bytes: %q", words, longestName+1, got)
		}
	}
	c.send(request("HELLO", "2", "SETNAME", longest+"n"))
	if got := c.reply(); !strings.HasPrefix(got, "-ERR ") {
		t.Errorf("HELLO SETNAME of %d bytes: %q", longestName+1, got)
	}
	if got := line(t, c.do("CLIENT INFO"))["name"]; got != longest {
		t.Errorf("a refused name has replaced the old one by %d bytes", len(got))
	}
}

// TestClientInfo tells what the connection has told.
func TestClientInfo(t *testing.T) {
	r := newRig(t)
	c := r.call()
	sent := 0
	for _, line := range []string{"CLIENT SETNAME gateway-7", "CLIENT SETINFO lib-name go-redis", "CLIENT SETINFO LIB-VER 9.23.0", "SELECT 4"} {
		sent += len(request(strings.Fields(line)...))
		c.do(line)
	}
	r.visits(3)
	got := line(t, c.do("CLIENT INFO"))
	sent += len(request("CLIENT", "INFO"))
	for name, value := range map[string]string{
		"id": "1", "addr": c.LocalAddr().String(), "laddr": r.addr, "name": "gateway-7", "age": "3", "idle": "0", "flags": "N", "db": "4",
		"cmd": "client|info", "user": "default", "resp": "2", "lib-name": "go-redis", "lib-ver": "9.23.0", "multi": "-1",
		"tot-cmds": "5", "tot-net-in": strconv.Itoa(sent), "tot-net-out": "20",
	} {
		if got[name] != value {
			t.Errorf("%s=%s, want %s", name, got[name], value)
		}
	}
}

// TestClientInfoKnowsRedisFields keeps parsers happy that know Redis' fields.
func TestClientInfoKnowsRedisFields(t *testing.T) {
	theirs := line(t, callAt(t, redistest.Start(t)).do("CLIENT INFO"))
	// Added by Redis after 7.0: 7.2, and 8.0.
	for _, name := range []string{"lib-name", "lib-ver", "tot-net-in", "tot-net-out", "tot-cmds"} {
		theirs[name] = ""
	}
	for name := range line(t, newRig(t).call().do("CLIENT INFO")) {
		if _, ok := theirs[name]; !ok {
			t.Errorf("Redis has no field %s", name)
		}
	}
}

// TestClientSetInfo refuses what Redis 7.2 refuses, in its words.
func TestClientSetInfo(t *testing.T) {
	c := newRig(t).call()
	for _, step := range []struct{ attr, value, want string }{
		{"LIB-NAME", "a b", "-ERR LIB-NAME cannot contain spaces, newlines or special characters.\r\n"},
		{"lib-ver", "a\nb", "-ERR lib-ver cannot contain spaces, newlines or special characters.\r\n"},
		{"LIB-FOO", "x", "-ERR Unrecognized option 'LIB-FOO'\r\n"},
		{"LIB-NAME", "", "+OK\r\n"},
	} {
		c.send(request("CLIENT", "SETINFO", step.attr, step.value))
		if got := c.reply(); got != step.want {
			t.Errorf("%s %q: %q, want %q", step.attr, step.value, got, step.want)
		}
	}
}

// TestClientList lists all, or those asked for.
func TestClientList(t *testing.T) {
	r := newRig(t)
	first, second := r.call(), r.call()
	first.do("CLIENT SETNAME first")
	second.do("CLIENT SETNAME second")
	names := func(raw string) string {
		var found []string
		for _, m := range regexp.MustCompile(` name=(\S*)`).FindAllStringSubmatch(parsed(t, raw).(string), -1) {
			found = append(found, m[1])
		}
		return strings.Join(found, " ")
	}
	for ask, want := range map[string]string{
		"CLIENT LIST": "first second", "CLIENT LIST TYPE normal": "first second", "CLIENT LIST TYPE replica": "",
		"CLIENT LIST ID 2": "second", "CLIENT LIST ID 2 1 9": "first second", "CLIENT LIST ID -1": "",
	} {
		if got := names(first.do(ask)); got != want {
			t.Errorf("%s: %q, want %q", ask, got, want)
		}
	}
	second.send("QUIT\r\n")
	second.rest()
	if got := names(first.do("CLIENT LIST")); got != "first" {
		t.Errorf("after one has left: %q", got)
	}
}

// TestClientKill closes those chosen and nobody else.
func TestClientKill(t *testing.T) {
	for _, x := range []struct{ ask, reply, left string }{
		{"CLIENT KILL ID 2", ":1\r\n", "1 3"},
		{"CLIENT KILL ID 1", ":0\r\n", "1 2 3"},
		{"CLIENT KILL ID 1 SKIPME no", ":1\r\n", "2 3"},
		{"CLIENT KILL TYPE normal", ":2\r\n", "1"},
		{"CLIENT KILL USER default SKIPME NO", ":3\r\n", ""},
		{"CLIENT KILL ADDR %2", ":1\r\n", "1 3"},
		{"CLIENT KILL ADDR %2 ID 3", ":0\r\n", "1 2 3"},
		{"CLIENT KILL LADDR %0", ":2\r\n", "1"},
		{"CLIENT KILL %3", "+OK\r\n", "1 2"},
		{"CLIENT KILL %1", "+OK\r\n", "2 3"},
		{"CLIENT KILL ID 2 SKIPME maybe", "-ERR syntax error\r\n", "1 2 3"},
	} {
		r := newRig(t)
		callers := []*caller{r.call()}
		callers[0].do("PING")
		for len(callers) < 3 {
			callers = append(callers, r.call())
			callers[len(callers)-1].do("PING")
		}
		ask := strings.NewReplacer("%0", r.addr, "%1", callers[0].LocalAddr().String(), "%2", callers[1].LocalAddr().String(), "%3", callers[2].LocalAddr().String()).Replace(x.ask)
		if got := callers[0].do(ask); got != x.reply {
			t.Errorf("%s: %q, want %q", x.ask, got, x.reply)
		}
		for i, c := range callers {
			id := string(rune('1' + i))
			if strings.Contains(x.left, id) {
				if got := c.do("PING"); got != "+PONG\r\n" {
					t.Errorf("%s: %s is told %q", x.ask, id, got)
				}
			} else if got := c.rest(); got != "" {
				t.Errorf("%s: %s is told %q", x.ask, id, got)
			}
		}
	}
}

// TestHelpListsTheTable shows every subcommand with its arguments.
func TestHelpListsTheTable(t *testing.T) {
	c := newRig(t).call()
	for _, x := range []struct{ container, want string }{
		{"CLIENT", "SETNAME connection-name"}, {"CLIENT", "NO-EVICT <ON | OFF>"}, {"COMMAND", "DOCS [command-name [command-name ...]]"},
		{"COMMAND", "(no subcommand)"}, {"CONFIG", "GET parameter [parameter ...]"}, {"CONFIG", "    Prints this help."},
	} {
		lines := listOf(parsed(t, c.do(x.container+" HELP")))
		found := false
		for _, l := range lines {
			found = found || l == x.want
		}
		if !found || lines[0] != x.container+" <subcommand> [<arg> [value] [opt] ...]. Subcommands are:" {
			t.Errorf("%s HELP has no %q: %q", x.container, x.want, lines)
		}
	}
}

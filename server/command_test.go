package server

import (
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/engine"
)

// pairs are the names and values of a reply that is a map.
func pairs(t *testing.T, v any) map[string]any {
	list, all := v.([]any), map[string]any{}
	if len(list)%2 != 0 {
		t.Fatalf("%v is no map", v)
	}
	for i := 0; i < len(list); i += 2 {
		all[list[i].(string)] = list[i+1]
	}
	return all
}

// docTypes are the types of arguments that redis-cli and code generators know.
var docTypes = []string{"string", "integer", "double", "key", "pattern", "unix-time", "pure-token", "oneof", "block"}

// checkArgs holds documented arguments to what their readers rely upon, and
// compares them with those declared.
func checkArgs(t *testing.T, of string, documented any, declared []engine.Arg) {
	if documented == nil && len(declared) == 0 {
		return
	}
	list := documented.([]any)
	if len(list) != len(declared) {
		t.Errorf("%s: %d arguments, want %d", of, len(list), len(declared))
		return
	}
	for i, a := range declared {
		doc := pairs(t, list[i])
		name, kind := doc["name"].(string), doc["type"].(string)
		token, _ := doc["token"].(string)
		_, nested := doc["arguments"]
		if name != a.Name || !slices.Contains(docTypes, kind) || token != a.Token || nested != (kind == "oneof" || kind == "block") || kind == "pure-token" && token == "" {
			t.Errorf("%s: argument %v of %+v", of, doc, a)
		}
		var flags []string
		if doc["flags"] != nil {
			flags = listOf(doc["flags"])
		}
		if slices.Contains(flags, "optional") != a.Optional || slices.Contains(flags, "multiple") != a.Multiple {
			t.Errorf("%s: flags %q of %+v", of, flags, a)
		}
		checkArgs(t, of+" "+name, doc["arguments"], a.Args)
	}
}

// TestDocsOfEveryCommand reads all of COMMAND DOCS in both protocols.
func TestDocsOfEveryCommand(t *testing.T) {
	r := newRig(t)
	c := r.call()
	for _, hello := range []string{"HELLO 2", "HELLO 3"} {
		c.do(hello)
		all := pairs(t, parsed(t, c.do("COMMAND DOCS")))
		if len(all) != len(r.table.Top()) {
			t.Errorf("%s: %d commands, want %d", hello, len(all), len(r.table.Top()))
		}
		for _, row := range r.table.Top() {
			checkDocs(t, r, row, pairs(t, all[row.Lower()]))
		}
	}
}

func checkDocs(t *testing.T, r *rig, row *engine.Command, doc map[string]any) {
	if doc["summary"] != row.Summary || doc["since"] != row.Since || doc["group"] != string(row.Group) || doc["complexity"] != row.Complexity {
		t.Errorf("%s: %v", row.Lower(), doc)
	}
	checkArgs(t, row.Lower(), doc["arguments"], row.Args)
	subs := r.table.Subs(row)
	if len(subs) == 0 {
		return
	}
	inside := pairs(t, doc["subcommands"])
	if len(inside) != len(subs) {
		t.Errorf("%s: %d subcommands, want %d", row.Lower(), len(inside), len(subs))
	}
	for _, sub := range subs {
		checkDocs(t, r, sub, pairs(t, inside[sub.Lower()]))
	}
}

// TestCommandsAreCounted compares the ways to ask for all.
func TestCommandsAreCounted(t *testing.T) {
	r := newRig(t)
	c := r.call()
	all := parsed(t, c.do("COMMAND")).([]any)
	if n := parsed(t, c.do("COMMAND COUNT")).(int64); int(n) != len(all) || len(all) != len(r.table.Top()) {
		t.Errorf("COMMAND has %d, COMMAND COUNT says %d, the table has %d", len(all), n, len(r.table.Top()))
	}
	if info := parsed(t, c.do("COMMAND INFO")).([]any); len(info) != len(all) {
		t.Errorf("COMMAND INFO has %d, COMMAND %d", len(info), len(all))
	}
	list := listOf(parsed(t, c.do("COMMAND LIST")))
	if len(list) != len(r.table.Rows()) || !slices.Contains(list, "client|id") || !slices.Contains(list, "tb.take") {
		t.Errorf("COMMAND LIST has %d names", len(list))
	}
	limiters := listOf(parsed(t, c.do("COMMAND LIST FILTERBY ACLCAT LIMITER")))
	for _, name := range list {
		if want := strings.Contains(name, ".") || name == "throttle"; slices.Contains(limiters, name) != want {
			t.Errorf("%s is a limiter: %v, want %v", name, !want, want)
		}
	}
}

// TestRedisCliKnowsOurCommands asks redis-cli for help: it has it from COMMAND
// DOCS, as it has its hints.
func TestRedisCliKnowsOurCommands(t *testing.T) {
	_, port, _ := net.SplitHostPort(newRig(t).addr)
	for ask, want := range map[string][]string{
		"TB.TAKE":       {"TB.TAKE", "key capacity tokens period [COST cost] [FULL]", "token-bucket"},
		"fw.hit":        {"FW.HIT", "key limit window", "[ANCHOR CLOCK|FIRST]"},
		"@token-bucket": {"TB.PEEK", "TB.GIVE", "TB.DEBIT"},
		"CLIENT KILL":   {"CLIENT KILL", "ip:port|"},
		"SET":           {"[NX|XX]", "EX seconds"},
	} {
		out, err := exec.Command("redis-cli", append([]string{"-p", port, "help"}, strings.Fields(ask)...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("redis-cli (Debian: apt-get install redis-tools): %v\n%s", err, out)
		}
		for _, text := range want {
			if !strings.Contains(string(out), text) {
				t.Errorf("help %s has no %q:\n%s", ask, text, out)
			}
		}
	}
}

package main

import (
	"fmt"
	"strings"

	"github.com/limitstore/limitstore/compat"
	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/server"
)

// compatibilityPage is docs/compatibility.md.
func compatibilityPage(table *engine.Table) (string, error) {
	suites, err := suiteRows()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString(generated("Compatibility", "the tables in compat, its results, and the command table") + `
## Limiter libraries

These libraries' own tests, unmodified, were run on redis-server and then on limitstore, each started by the name and the words
of redis-server. A case that is skipped or does not run counts as one that failed. ` + "`make compat`" + ` repeats it (redis-server, go, node and npm are
needed, and port 6379 free), compares case by case, and fails at any difference that is not below. ` + "`compat/results`" + ` has the verdict of every case.

` + row("library", "what was run", "cases", "passed on redis-server", "passed on limitstore", "date") + row("---", "---", "---", "---", "---", "---") + suites + `
A suite with no date has not been run with this version: nothing is claimed of it.

Cases that compare durations with a busy machine's (bottleneck), and one that passes only when replies of seven connections come in order (ratelimiter), are run
again, alone, when they fail; on both servers.

## Cases that do not pass

` + row("suite", "case", "on redis-server", "on limitstore", "why") + row("---", "---", "---", "---", "---"))
	for _, e := range compat.Exceptions() {
		out.WriteString(row(e.Suite, e.Case, e.Redis, e.Limitstore, e.Why))
	}
	out.WriteString("\n" + coverage(table))
	return out.String(), nil
}

// suiteRows has a line for each suite, with its last result.
func suiteRows() (string, error) {
	var out strings.Builder
	for _, s := range compat.Suites() {
		r, ok, err := compat.Stored(s.Name)
		if err != nil {
			return "", fmt.Errorf("the results of %s: %w", s.Name, err)
		}
		redis, ours, date := "", "", "not run"
		if ok {
			redis, ours, date = fmt.Sprintf("%d (%s)", r.Redis.Passed(), r.Yardstick), fmt.Sprint(r.Limitstore.Passed()), r.Date
		}
		out.WriteString(row(s.Version, s.Ran, fmt.Sprint(s.Cases), redis, ours, date))
	}
	return out.String(), nil
}

// coverage says which of Redis' commands are there.
func coverage(table *engine.Table) string {
	here, refused := map[string]bool{}, map[string]bool{}
	for _, c := range table.Rows() {
		here[c.FullName()] = true
	}
	for _, r := range server.Refusals() {
		refused[r.Command] = true
	}
	var there, said, absent []string
	for _, name := range compat.RedisCommands() {
		switch {
		case here[name]:
			there = append(there, code(name))
		case refused[name]:
			said = append(said, code(name))
		default:
			absent = append(absent, code(name))
		}
	}
	list := func(title string, names []string) string {
		return fmt.Sprintf("%s: %d.\n\n%s\n\n", title, len(names), strings.Join(names, " "))
	}
	return "## Redis' commands\n\n" +
		fmt.Sprintf("Redis 7.0 has %d commands, subcommands counted.\n\n", len(there)+len(said)+len(absent)) +
		list("There, with Redis' replies and errors ([notes](commands.md) say where one differs)", there) +
		list("Refused with an error that says why ([list](refused.md))", said) +
		list("Not there: the server answers that the command is unknown", absent) +
		"Beyond commands, what of Redis is not there: persistence and replication, the Redis cluster, users other than *default*, modules, " +
		"keyspace events, client-side caching, eviction of ordinary keys.\n"
}

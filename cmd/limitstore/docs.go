package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/limitstore/limitstore/bench/compare"
	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/server"
)

// runDocs is limitstore docs DIR: it writes the generated pages.
func runDocs(args []string, stderr io.Writer) int {
	if len(args) != 1 {
		return complain(stderr, misused, "docs needs one folder to write to: limitstore docs DIR")
	}
	all, err := pages()
	for name, text := range all {
		if err == nil {
			err = os.WriteFile(filepath.Join(args[0], name), []byte(text), 0o644)
		}
	}
	if err != nil {
		return complain(stderr, failed, err.Error())
	}
	return done
}

// pages are the generated pages of docs by file name.
func pages() (map[string]string, error) {
	table, err := commandTable()
	if err != nil {
		return nil, err
	}
	compatibility, err := compatibilityPage(table)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"bench.md":         benchPage(),
		"compatibility.md": compatibility,
		"commands.md":      commandsPage(table),
		"configuration.md": configurationPage(),
		"errors.md":        errorsPage(),
		"limits.md":        limitsPage(),
		"refused.md":       refusedPage(),
	}, nil
}

// generated opens a page that nobody edits.
func generated(title, source string) string {
	return "# " + title + "\n\n*Written by `make docs` from " + source + ": change that, not this page.*\n"
}

// benchPage is docs/bench.md.
func benchPage() string {
	return generated("Load generator", "the tables in bench/load and bench/compare") + `
` + "`limitstore bench`" + ` puts load on any server that speaks the Redis protocol and says what it answered, how late, and what
that cost. ` + "`limitstore bench compare`" + ` starts limitstore and redis-server and does so in turn; [benchmarks](benchmarks.md) has
what it found, and how to read it. From the source, ` + "`go run ./bench`" + ` is the same. It leaves keys in the server's database 0: do
not use a server that is in use.

    limitstore bench --rate 20000 --workload zipf
    limitstore bench --depth 1,16,64 --workload uniform,incr --pid $(pidof limitstore)
    limitstore bench compare --parts one-core --rounds 3

With ` + "`--rate`" + ` the load is open: each request is due at its time, whatever the server does, and its latency counts from then, so
that a stall is charged to all who would have come meanwhile. Without, it is closed: each connection sends its next requests
when the last are answered. That finds what the server can do at most; its latencies hide stalls.

Flags can be set in the environment as LIMITSTORE_BENCH_NAME, with _ for -. The process ends with 0 when all was measured, with
1 when the server is down, silent for longer than the timeout, or refuses a request, and when it was interrupted: what had
been measured by then is printed all the same. It ends with 2 when what was asked for makes no sense.
` + compare.Reference()
}

// row is a line of a Markdown table.
func row(cells ...string) string {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// code is text shown as it is typed; nothing for nothing.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// errorsPage is docs/errors.md.
func errorsPage() string {
	var out strings.Builder
	out.WriteString(generated("Errors", "the tables in engine/errors.go and server"))
	out.WriteString("\nA denied request is a reply, never an error. An error changes nothing, but for HELLO: what\n" +
		"comes before a wrong option of it has happened, as in Redis. Where a word or a number of the request\n" +
		"stands in the text, the table shows `%s` or `%d`.\n")
	for _, chapter := range []struct {
		title string
		rows  []engine.ErrorRow
	}{{"Of commands", engine.Errors[:]}, {"Of connections", server.Errors()}} {
		out.WriteString("\n## " + chapter.title + "\n\n" + row("error", "when") + row("---", "---"))
		for _, r := range chapter.rows {
			out.WriteString(row(code(r.Format), r.When))
		}
	}
	return out.String()
}

// spaced sets the unit of a size off from its number.
var spaced = strings.NewReplacer("KiB", " KiB", "MiB", " MiB", "GiB", " GiB")

// limitsPage is docs/limits.md. A limit that a flag sets shows the flag's default.
func limitsPage() string {
	standard := map[string]string{}
	for _, o := range options() {
		standard[o.name] = o.standard
	}
	var out strings.Builder
	out.WriteString(generated("Limits", "the tables in engine/limits.go and server"))
	out.WriteString("\nEvery queue, buffer, argument and pipeline has a limit. Flags are explained in [configuration](configuration.md).\n")
	for _, chapter := range []struct {
		title string
		rows  []engine.LimitRow
	}{{"Of commands and keys", engine.LimitRows()}, {"Of connections", server.Limits()}} {
		out.WriteString("\n## " + chapter.title + "\n\n" + row("limit", "default", "flag", "when it is hit") + row("---", "---", "---", "---"))
		for _, r := range chapter.rows {
			flag, value := strings.TrimPrefix(r.Flag, "--"), r.Default
			if flag != "" {
				value, flag = spaced.Replace(standard[flag]), "--"+flag
			}
			out.WriteString(row(r.Name, value, code(flag), r.WhenHit))
		}
	}
	return out.String()
}

// configurationPage is docs/configuration.md.
func configurationPage() string {
	var out strings.Builder
	out.WriteString(generated("Configuration", "the table in cmd/limitstore/config.go"))
	out.WriteString(`
Each setting is a flag, an environment variable, or a line of the file that ` + "`--config`" + ` names; when it is given
twice, the first of these three counts. A line of the file is the flag's name without dashes, blanks, and the value up to
the end of the line; a name alone means true; empty lines and lines that begin with # are passed over.

Sizes are bytes, or KiB, MiB or GiB: ` + "`64MiB`" + `. The units of redis.conf are read too: ` + "`64mb`" + ` is the same, ` + "`64m`" + ` 64 million. Durations are written as in the commands: ` + "`500ms` `30s` `5m`" + `, or a bare
number of seconds.

` + "`limitstore --check-config`" + ` with the same flags, environment and file says everything that is wrong with them, or prints
the settings in force, and starts nothing. The password is never printed or logged, and CONFIG GET does not show it.

| flag | environment | default | range | what it does |
| --- | --- | --- | --- | --- |
`)
	for _, o := range options() {
		out.WriteString(row(code(o.typed()), code(o.env()), code(o.standard), o.bounds(), o.help))
	}
	out.WriteString(`
## Leaving this machine

Without a password the server listens on loopback only. To start it on any other address there are two ways: set
` + "`--requirepass`" + `, or say ` + "`--allow-no-password`" + ` where something else keeps strangers out.

## What the process ends with

| code | why |
| --- | --- |
| 0 | it was told to end: SIGTERM, SIGINT or SHUTDOWN. Connections may finish what they have sent, for ` + drainTime.String() + ` at most; a second signal ends the process at once |
| 1 | it could not do its work: the port is taken, a file cannot be read. One line on standard error says what to do |
| 2 | the settings or the command line are wrong. Standard error has a line for each problem |
`)
	return out.String()
}

// bounds says what a number may be; nothing where anything goes.
func (o option) bounds() string {
	if o.min == 0 && o.max == 0 {
		return ""
	}
	return o.spell(o.min) + " to " + o.spell(o.max)
}

// help is what limitstore help prints.
func help() string {
	var out strings.Builder
	out.WriteString(`limitstore is an in-memory store of counters and rate limits that speaks the Redis protocol.

  limitstore [flags]      serve until SIGTERM or SIGINT
  limitstore version      print the version
  limitstore bench        put load on a server and measure it; limitstore bench --help
  limitstore docs DIR     write the generated pages of the documentation
  limitstore help         print this

Each flag can be set in the environment as LIMITSTORE_NAME, with _ for -, or in the --config file.

`)
	for _, o := range options() {
		fmt.Fprintf(&out, "  %s\n        %s", o.typed(), o.help)
		if o.unit != "" && o.standard != "" {
			fmt.Fprintf(&out, " (default %s)", o.standard)
		}
		out.WriteString("\n")
	}
	return out.String()
}

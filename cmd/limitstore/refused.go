package main

import (
	"strings"

	"github.com/limitstore/limitstore/server"
)

// refusedPage is docs/refused.md.
func refusedPage() string {
	var out strings.Builder
	out.WriteString(generated("As a Redis server", "the tables in cmd/limitstore/directives.go and server/refused.go"))
	out.WriteString(`
The program also takes the words that start a Redis: ` + "`redis-server [FILE] [--directive [value ...]] ... [-]`" + `, with quotes,
comments and include in files, and - for standard input. It does so when it is called by the name redis-server (a
link to it will do), and by its own name when the first word names a file, when a word is -, or when a
directive is no flag of limitstore's: ` + "`limitstore --port 6379`" + `. limitstore's own settings can be given in the same
way, and in its environment. The log goes to standard output then, with Redis' line *Ready to accept connections*.

What Redis can be told or asked and this server cannot do is refused: an answer of OK would be a promise.

## Directives with a meaning

` + row("directive", "what it does") + row("---", "---"))
	for _, d := range directives() {
		if d.does != "" {
			out.WriteString(row(code(d.name), d.does))
		}
	}
	out.WriteString(`
## Directives refused

The process ends with 2, unless the value is one that asks for nothing.

` + row("directive", "accepted", "otherwise refused, because") + row("---", "---", "---"))
	for _, d := range directives() {
		if d.does == "" {
			out.WriteString(row(code(d.name), acceptedValues(d), d.why))
		}
	}
	out.WriteString(`
Any other directive, Redis' or not, is named in the log and passed over.

## Commands refused

COMMAND does not show them. A command that is not in this list and not in [commands](commands.md) is unknown here.

` + row("command", "error", "because") + row("---", "---", "---"))
	for _, r := range server.Refusals() {
		out.WriteString(row(code(r.Command), code(r.Text), r.Why))
	}
	out.WriteString(`
## Settings refused

CONFIG SET of one of these to what it is not is refused. What is neither here nor named below
[CONFIG SET](commands.md#config-set) can only be given at the start.

` + row("setting", "because") + row("---", "---"))
	for _, r := range server.RefusedSettings() {
		out.WriteString(row(code(r.Name), r.Why))
	}
	return out.String()
}

// acceptedValues are the values of a refused directive that ask for nothing.
func acceptedValues(d directive) string {
	var fine []string
	for _, value := range d.harmless {
		if value == "" {
			value = `""`
		}
		fine = append(fine, code(value))
	}
	return strings.Join(fine, " ")
}

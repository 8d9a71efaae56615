package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/limitstore/limitstore/engine"
)

// chapterTitle is what the reference calls a group of commands.
func chapterTitle(g engine.Group) string {
	switch g {
	case engine.Strings:
		return "Strings and counters"
	case engine.Hashes:
		return "Hashes"
	case engine.Sets:
		return "Sets"
	case engine.SortedSets:
		return "Sorted sets"
	case engine.Lists:
		return "Lists"
	case engine.Generic:
		return "Keys"
	case engine.Messages:
		return "Publish and subscribe"
	}
	words := strings.ReplaceAll(string(g), "-", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// referenceIntro explains what the limiter commands have in common.
const referenceIntro = `
A limiter command is ` + "`FAMILY.VERB key`" + `, what the limit is, and options in any order. Each call carries its limit: there is
nothing to set up, and changing a limit is sending another one. To reset a key, ` + "`DEL`" + ` it.

| argument | is |
| --- | --- |
| capacity, limit, tokens, cost | a whole number from 1 to 10^12 |
| period, window | a duration: a number and ` + "`ms` `s` `m` `h` `d` or `w`" + `, or a bare number of seconds; decimals that come out in whole milliseconds are allowed. 1 ms to 10 years |
| tokens period | a rate: ` + "`10 1s`" + ` is ten a second, ` + "`1 10s`" + ` one every ten seconds |

All answer five whole numbers:

| field | meaning |
| --- | --- |
| allowed | 1 or 0. A denial is a reply, not an error |
| limit | the capacity or the window's limit |
| remaining | what would be granted right now |
| retry_after_ms | 0 when allowed; else the wait after which the same request succeeds if nobody else comes, exact to the millisecond; -1: it can never succeed |
| reset_after_ms | until the key is as if never seen, and is dropped |

With ` + "`FULL`" + ` the answer is a map: the five by name, and granted, cost, used, next_after_ms (until at least one more unit),
algorithm and now_ms. [Algorithms](algorithms.md) says what each family counts and which to choose.

Redis' own commands answer as Redis 7 does, errors to the letter; notes say where they differ.
`

// commandsPage is docs/commands.md: every row of the table, chapter by chapter.
func commandsPage(table *engine.Table) string {
	var out strings.Builder
	out.WriteString(generated("Commands", "the command table") + referenceIntro)
	for _, group := range engine.Groups {
		out.WriteString("\n## " + chapterTitle(group) + "\n")
		for _, c := range table.Rows() { // in the order declared
			if c.Group == group && c.FullName() == c.Name {
				writeCommand(&out, table, c)
			}
		}
	}
	return out.String()
}

// writeCommand writes a command, then its subcommands.
func writeCommand(out *strings.Builder, table *engine.Table, c *engine.Command) {
	fmt.Fprintf(out, "\n### %s\n\n", c.FullName())
	if len(c.Subs) == 0 || c.Run != nil {
		fmt.Fprintf(out, "    %s\n\n", c.Syntax())
	}
	out.WriteString(c.Summary + "\n")
	if lines := boundedArgs(c.Args); len(lines) > 0 {
		out.WriteString("\n" + strings.Join(lines, "\n") + "\n")
	}
	if c.Reply != "" {
		out.WriteString("\nReply: " + c.Reply + "\n")
	}
	writeExamples(out, c.Examples)
	if c.Notes != "" {
		out.WriteString("\n" + c.Notes + "\n")
	}
	out.WriteString("\n" + facts(c) + "\n")
	for _, sub := range table.Subs(c) {
		writeCommand(out, table, sub)
	}
}

// writeExamples shows what redis-cli shows.
func writeExamples(out *strings.Builder, examples []engine.Example) {
	if len(examples) == 0 {
		return
	}
	out.WriteString("\n```\n")
	for _, e := range examples {
		out.WriteString("> " + e.In + "\n" + e.Out + "\n")
	}
	out.WriteString("```\n")
}

// facts is the line of small print below a command.
func facts(c *engine.Command) string {
	words := []string{fmt.Sprintf("arity %d", c.Arity())}
	if c.Complexity != "" {
		words = append(words, c.Complexity)
	}
	if names := c.Flags.Names(); len(names) > 0 {
		words = append(words, strings.Join(names, " "))
	}
	if k := c.Keys; k.First != 0 {
		words = append(words, fmt.Sprintf("keys %d %d %d", k.First, k.Last, k.Step))
	}
	return "*" + strings.Join(append(words, "since "+c.Since), " · ") + "*"
}

// boundedArgs lists the arguments that have a range, at any depth.
func boundedArgs(args []engine.Arg) (lines []string) {
	for _, a := range args {
		lines = append(lines, boundedArgs(a.Args)...)
		var line, standard string
		switch {
		case a.Type == engine.Duration:
			line, standard = fmt.Sprintf("- %s: 1ms to 3650d", a.Name), (time.Duration(a.Default) * time.Millisecond).String()
		case a.Min != 0 || a.Max != 0:
			line, standard = fmt.Sprintf("- %s: %d to %d", a.Name, a.Min, a.Max), fmt.Sprint(a.Default)
		default:
			continue
		}
		if a.Optional && a.Default != 0 {
			line += ", by default " + standard
		}
		lines = append(lines, line)
	}
	return lines
}

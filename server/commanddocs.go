package server

import (
	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/resp"
)

// commandDocs is COMMAND DOCS; without names all commands.
func (c *conn) commandDocs(call *engine.Call) {
	rows := c.server.table.Top()
	if len(call.Args) > 2 {
		rows = nil
		for _, name := range call.Args[2:] {
			if row := c.server.find(name); row != nil {
				rows = append(rows, row)
			}
		}
	}
	writeAllDocs(call.Out, c.server.table, rows)
}

func writeAllDocs(out *resp.Writer, table *engine.Table, rows []*engine.Command) {
	out.Map(len(rows))
	for _, row := range rows {
		out.BulkString(row.Lower())
		writeDocs(out, table, row)
	}
}

// writeDocs writes the documentation of one command. redis-cli shows it as HELP
// and takes its hints from it.
func writeDocs(out *resp.Writer, table *engine.Table, row *engine.Command) {
	subs := table.Subs(row)
	out.Map(4 + count(len(row.Args) > 0, len(subs) > 0))
	writePair(out, "summary", row.Summary)
	writePair(out, "since", row.Since)
	writePair(out, "group", string(row.Group))
	writePair(out, "complexity", row.Complexity)
	if len(row.Args) > 0 {
		out.BulkString("arguments")
		writeArgs(out, row.Args)
	}
	if len(subs) > 0 {
		out.BulkString("subcommands")
		writeAllDocs(out, table, subs)
	}
}

// count is how many of the conditions hold.
func count(conditions ...bool) int {
	n := 0
	for _, holds := range conditions {
		if holds {
			n++
		}
	}
	return n
}

func writePair(out *resp.Writer, name, value string) {
	out.BulkString(name)
	out.BulkString(value)
}

func writeArgs(out *resp.Writer, args []engine.Arg) {
	out.Array(len(args))
	for _, a := range args {
		writeArg(out, a)
	}
}

func writeArg(out *resp.Writer, a engine.Arg) {
	key, flagged := a.Type == engine.Key, a.Optional || a.Multiple
	out.Map(2 + count(key, a.Token != "", flagged, len(a.Args) > 0))
	writePair(out, "name", a.Name)
	writePair(out, "type", docType(a.Type))
	if key {
		out.BulkString("key_spec_index")
		out.Int(0)
	}
	if a.Token != "" {
		writePair(out, "token", a.Token)
	}
	if flagged {
		out.BulkString("flags")
		writeWords(out, argFlags(a))
	}
	if len(a.Args) > 0 {
		out.BulkString("arguments")
		writeArgs(out, a.Args)
	}
}

// docType is a type as COMMAND DOCS knows it.
func docType(t engine.ArgType) string {
	if t == engine.Duration {
		t = engine.String
	}
	return string(t)
}

func argFlags(a engine.Arg) (names []string) {
	if a.Optional {
		names = append(names, "optional")
	}
	if a.Multiple {
		names = append(names, "multiple")
	}
	return names
}

package server

import (
	"bytes"
	"slices"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/resp"
)

// commandCommands tell about the commands, from their table. The formats are
// Redis 7's: clients and redis-cli parse them.
func commandCommands() []engine.Command {
	flags := engine.Loading | engine.Stale
	names := engine.Arg{Name: "command-name", Type: engine.String, Optional: true, Multiple: true}
	return []engine.Command{{
		Name: "COMMAND", Group: engine.Server, Since: since, Summary: "Returns details about all commands.", Complexity: "O(N) with N the number of commands",
		Flags: flags, Scope: engine.Here, Run: of(func(c *conn, call *engine.Call) { c.commandInfo(call.Out, nil) }),
		Reply: "array: as COMMAND INFO without a name", Examples: []engine.Example{{In: "COMMAND NOSUCH", Out: "(error) ERR unknown subcommand 'NOSUCH'. Try COMMAND HELP."}},
		Subs: []engine.Command{{
			Name: "COUNT", Group: engine.Server, Since: since, Summary: "Returns the number of commands.", Complexity: "O(1)", Flags: flags, Scope: engine.Here,
			Run: of(func(c *conn, call *engine.Call) { call.Out.Int(int64(len(c.server.table.Top()))) }), Reply: "integer: subcommands not counted",
		}, {
			Name: "LIST", Group: engine.Server, Since: since, Summary: "Lists the names of the commands.", Complexity: "O(N) with N the number of commands", Flags: flags, Scope: engine.Here,
			Args: []engine.Arg{{Name: "filterby", Type: engine.OneOf, Token: "FILTERBY", Optional: true, Args: []engine.Arg{
				{Name: "module-name", Type: engine.String, Token: "MODULE"}, {Name: "category", Type: engine.String, Token: "ACLCAT"}, {Name: "pattern", Type: engine.Pattern, Token: "PATTERN"},
			}}},
			Run: of((*conn).commandList), Reply: "array: names in lower case, subcommands as container|name",
			Examples: []engine.Example{{In: "COMMAND LIST FILTERBY PATTERN tb.t*", Out: `1) "tb.take"`}},
		}, {
			Name: "INFO", Group: engine.Server, Since: since, Summary: "Returns details about commands.", Complexity: "O(N) with N the number of commands asked for", Flags: flags, Scope: engine.Here,
			Args: []engine.Arg{names}, Run: of(func(c *conn, call *engine.Call) { c.commandInfo(call.Out, call.Args[2:]) }),
			Reply: "array: for each command its name, arity, flags, first key, last key, step, categories, tips, key specifications, subcommands; nil for one that does not exist",
		}, {
			Name: "DOCS", Group: engine.Server, Since: since, Summary: "Returns the documentation of commands.", Complexity: "O(N) with N the number of commands asked for", Flags: flags, Scope: engine.Here,
			Args: []engine.Arg{names}, Run: of((*conn).commandDocs), Reply: "map: by name, its documentation as a map; what does not exist is left out",
		}, {
			Name: "GETKEYS", Group: engine.Server, Since: since, Summary: "Returns the keys of a whole command.", Complexity: "O(N) with N the number of words", Flags: flags, Scope: engine.Here,
			Args: []engine.Arg{{Name: "command", Type: engine.String}, {Name: "arg", Type: engine.String, Multiple: true}}, Run: of((*conn).getKeys), Reply: "array: the keys",
			Examples: []engine.Example{{In: "COMMAND GETKEYS MSET a 1 b 2", Out: "1) \"a\"\n2) \"b\""}},
		}, helpCommand(engine.Server)},
	}}
}

// find is the command of a name as COMMAND takes it: "get", "client|id"; nil
// when there is none.
func (s *Server) find(name []byte) *engine.Command {
	container, sub, divided := bytes.Cut(name, []byte("|"))
	c := s.table.Lookup(container)
	if c != nil && divided {
		return s.table.Sub(c, sub)
	}
	return c
}

// commandInfo is COMMAND INFO; without names all commands.
func (c *conn) commandInfo(out *resp.Writer, names [][]byte) {
	if len(names) == 0 {
		out.Array(len(c.server.table.Top()))
		for _, row := range c.server.table.Top() {
			writeCommand(out, c.server.table, row)
		}
		return
	}
	out.Array(len(names))
	for _, name := range names {
		if row := c.server.find(name); row != nil {
			writeCommand(out, c.server.table, row)
		} else {
			out.Null()
		}
	}
}

// writeCommand writes the ten things COMMAND INFO says about a command.
func writeCommand(out *resp.Writer, table *engine.Table, row *engine.Command) {
	out.Array(10)
	out.BulkString(row.Lower())
	out.Int(int64(row.Arity()))
	flags := row.Flags.Names()
	if row.Keys.Count > 0 {
		flags = append(flags, engine.MovableKeys)
	}
	if row.Flags&engine.Scripted != 0 {
		flags = append(flags, "skip_monitor", "no_mandatory_keys")
	}
	writeWords(out, flags)
	out.Int(int64(row.Keys.First))
	out.Int(int64(row.Keys.Last))
	out.Int(int64(row.Keys.Step))
	writeWords(out, categories(row))
	out.Set(0) // tips
	writeKeys(out, row)
	subs := table.Subs(row)
	if len(subs) == 0 {
		out.Set(0) // sic: Redis 7 too
		return
	}
	out.Array(len(subs))
	for _, sub := range subs {
		writeCommand(out, table, sub)
	}
}

func writeWords(out *resp.Writer, words []string) {
	out.Set(len(words))
	for _, word := range words {
		out.SimpleString(word)
	}
}

// categories are the ACL categories of a command, from what its row says, in
// Redis' order.
func categories(row *engine.Command) []string {
	var names []string
	add := func(name string, when bool) {
		if when {
			names = append(names, name)
		}
	}
	own := row.Run != nil // a container alone is in none
	admin := row.Flags&engine.Admin != 0
	add("@keyspace", own && row.Group == engine.Generic)
	add("@read", row.Flags&engine.ReadOnly != 0)
	add("@write", row.Flags&engine.Write != 0)
	add("@string", own && row.Group == engine.Strings)
	add("@hash", own && row.Group == engine.Hashes)
	add("@set", own && row.Group == engine.Sets)
	add("@sortedset", own && row.Group == engine.SortedSets)
	add("@list", own && row.Group == engine.Lists)
	add("@limiter", limits(row.Group))
	add("@pubsub", row.Flags&engine.PubSub != 0)
	add("@admin", admin)
	add("@fast", row.Flags&engine.Fast != 0)
	add("@slow", row.Flags&engine.Fast == 0)
	add("@dangerous", admin || row.Scope == engine.EveryShard && row.Flags&engine.Write != 0 && row.Group != engine.Scripting)
	add("@connection", own && row.Group == engine.Connection)
	add("@transaction", row.Group == engine.Transactions)
	add("@scripting", row.Group == engine.Scripting)
	return names
}

// limits says whether the chapter is one of limiters.
func limits(g engine.Group) bool {
	switch g {
	case engine.Strings, engine.Hashes, engine.Sets, engine.SortedSets, engine.Lists, engine.Generic, engine.Transactions, engine.Scripting, engine.Messages, engine.Connection, engine.Server:
		return false
	}
	return true
}

// writeKeys writes where the keys stand, as a set of specifications.
func writeKeys(out *resp.Writer, row *engine.Command) {
	out.Set(count(row.Keys.First > 0, row.Keys.Count > 0))
	if row.Keys.First > 0 {
		last := row.Keys.Last
		if last > 0 {
			last -= row.Keys.First // relative to the first key
		}
		beginKeys(out, row, row.Keys.First)
		writeSpec(out, "range", spec{"lastkey", last}, spec{"keystep", row.Keys.Step}, spec{"limit", 0})
	}
	if row.Keys.Count > 0 {
		beginKeys(out, row, row.Keys.Count)
		writeSpec(out, "keynum", spec{"keynumidx", 0}, spec{"firstkey", 1}, spec{"keystep", 1})
	}
}

// beginKeys writes a specification of keys but for how they are found from
// argument first on.
func beginKeys(out *resp.Writer, row *engine.Command, first int) {
	out.Map(3)
	out.BulkString("flags")
	switch {
	case row.Flags&engine.PubSub != 0:
		writeWords(out, []string{"not_key"}) // it routes like one
	case row.Flags&engine.ReadOnly != 0:
		writeWords(out, []string{"RO", "access"})
	default:
		writeWords(out, []string{"RW", "access", "update"})
	}
	out.BulkString("begin_search")
	writeSpec(out, "index", spec{"index", first})
	out.BulkString("find_keys")
}

// spec is one figure of a key specification.
type spec struct {
	name  string
	value int
}

func writeSpec(out *resp.Writer, kind string, specs ...spec) {
	out.Map(2)
	out.BulkString("type")
	out.BulkString(kind)
	out.BulkString("spec")
	out.Map(len(specs))
	for _, s := range specs {
		out.BulkString(s.name)
		out.Int(int64(s.value))
	}
}

// commandList is COMMAND LIST.
func (c *conn) commandList(call *engine.Call) {
	args := call.Args[2:]
	wanted := func(*engine.Command) bool { return true }
	switch {
	case len(args) == 0:
	case len(args) != 3 || !engine.EqualFold(args[0], "FILTERBY"):
		call.Fail(engine.Syntax)
		return
	case engine.EqualFold(args[1], "MODULE"):
		wanted = func(*engine.Command) bool { return false }
	case engine.EqualFold(args[1], "ACLCAT"):
		category := "@" + string(bytes.ToLower(args[2]))
		wanted = func(row *engine.Command) bool { return slices.Contains(categories(row), category) }
	case engine.EqualFold(args[1], "PATTERN"):
		pattern := bytes.ToLower(args[2])
		wanted = func(row *engine.Command) bool { return engine.Match(pattern, []byte(row.Lower())) }
	default:
		call.Fail(engine.Syntax)
		return
	}
	var names []string
	for _, row := range c.server.table.Rows() {
		if wanted(row) {
			names = append(names, row.Lower())
		}
	}
	call.Out.Array(len(names))
	for _, name := range names {
		call.Out.BulkString(name)
	}
}

// getKeys is COMMAND GETKEYS.
func (c *conn) getKeys(call *engine.Call) {
	args := call.Args[2:]
	row := c.server.table.Lookup(args[0])
	if row != nil && len(row.Subs) > 0 && len(args) > 1 {
		row = c.server.table.Sub(row, args[1])
	}
	switch {
	case row == nil:
		fail(call, failNoCommand)
		return
	case row.Keys.None(), row.Flags&engine.PubSub != 0:
		fail(call, failNoKeys)
		return
	case !row.Takes(len(args)):
		fail(call, failCommandArity)
		return
	}
	var keys [][]byte
	row.Keys.Each(args, func(key []byte) { keys = append(keys, key) })
	call.Out.Array(len(keys))
	for _, key := range keys {
		call.Out.Bulk(key)
	}
}

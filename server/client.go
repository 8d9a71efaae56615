package server

import (
	"slices"
	"strings"

	"github.com/limitstore/limitstore/engine"
)

// clientCommands are about this connection and the others.
func clientCommands() []engine.Command {
	own := engine.NoScript | engine.Loading | engine.Stale
	others := own | engine.Admin
	types := engine.Arg{Name: "client-type", Type: engine.OneOf, Token: "TYPE", Args: words("NORMAL", "MASTER", "REPLICA", "PUBSUB")}
	filters := []engine.Arg{
		{Name: "client-id", Type: engine.Integer, Token: "ID"}, types,
		{Name: "username", Type: engine.String, Token: "USER"},
		{Name: "ip:port", Type: engine.String, Token: "ADDR"},
		{Name: "ip:port", Type: engine.String, Token: "LADDR"},
		{Name: "skipme", Type: engine.OneOf, Token: "SKIPME", Args: words("YES", "NO")},
		{Name: "maxage", Type: engine.Integer, Token: "MAXAGE"},
	}
	types.Optional = true
	return []engine.Command{{
		Name: "CLIENT", Group: engine.Connection, Since: since, Summary: "A container for commands about connections.", Complexity: "Depends on subcommand.",
		Reply: "depends on the subcommand", Examples: []engine.Example{{In: "CLIENT MAINT_NOTIFICATIONS ON", Out: "(error) ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP."}},
		Notes: "Client-side caching (TRACKING) and MAINT_NOTIFICATIONS are refused rather than accepted without effect.",
		Subs: slices.Concat([]engine.Command{{
			Name: "ID", Group: engine.Connection, Since: since, Summary: "Returns the ID of the connection.", Complexity: "O(1)", Flags: own, Scope: engine.Here,
			Run: of(func(c *conn, call *engine.Call) { call.Out.Int(c.id) }), Reply: "integer: unique since the server started", Examples: []engine.Example{{In: "CLIENT ID", Out: "(integer) 1"}},
		}, {
			Name: "GETNAME", Group: engine.Connection, Since: since, Summary: "Returns the name of the connection.", Complexity: "O(1)", Flags: own, Scope: engine.Here,
			Run: of((*conn).getName), Reply: "bulk string: the name; nil when it has none", Examples: []engine.Example{{In: "CLIENT GETNAME", Out: "(nil)"}},
		}, {
			Name: "SETNAME", Group: engine.Connection, Since: since, Summary: "Names the connection.", Complexity: "O(1)", Flags: own, Scope: engine.Here,
			Args: []engine.Arg{{Name: "connection-name", Type: engine.String}}, Run: of((*conn).clientSetName), Reply: "OK",
			Examples: []engine.Example{{In: "CLIENT SETNAME gateway", Out: "OK"}, {In: "CLIENT GETNAME", Out: `"gateway"`}},
		}, {
			Name: "SETINFO", Group: engine.Connection, Since: since, Summary: "Tells the name or the version of the client library.", Complexity: "O(1)", Flags: own, Scope: engine.Here,
			Args: []engine.Arg{{Name: "attr", Type: engine.OneOf, Args: []engine.Arg{
				{Name: "libname", Type: engine.String, Token: "LIB-NAME"}, {Name: "libver", Type: engine.String, Token: "LIB-VER"},
			}}},
			Run: of((*conn).setInfo), Reply: "OK", Examples: []engine.Example{{In: "CLIENT SETINFO LIB-NAME go-redis", Out: "OK"}},
		}, {
			Name: "INFO", Group: engine.Connection, Since: since, Summary: "Describes the connection.", Complexity: "O(1)", Flags: own, Scope: engine.Here,
			Run: of((*conn).clientInfo), Reply: "one line as in CLIENT LIST",
		}, {
			Name: "LIST", Group: engine.Connection, Since: since, Summary: "Describes all connections, a line each.", Complexity: "O(N) with N the number of connections", Flags: others, Scope: engine.Here,
			Args: []engine.Arg{types, {Name: "client-id", Type: engine.Integer, Token: "ID", Optional: true, Multiple: true}},
			Run:  of((*conn).list), Reply: "lines of name=value; age and idle are in seconds", Examples: []engine.Example{{In: "CLIENT LIST TYPE PUBSUB", Out: `""`}},
		}, {
			Name: "KILL", Group: engine.Connection, Since: since, Summary: "Closes connections.", Complexity: "O(N) with N the number of connections", Flags: others, Scope: engine.Here,
			Args: []engine.Arg{{Name: "filter", Type: engine.OneOf, Args: []engine.Arg{
				{Name: "ip:port", Type: engine.String}, {Name: "new-format", Type: engine.OneOf, Multiple: true, Args: filters},
			}}},
			Run: of((*conn).kill), Reply: "integer: how many were closed; OK for the form with an address alone", Examples: []engine.Example{{In: "CLIENT KILL ID 7", Out: "(integer) 0"}},
		}, {
			Name: "NO-EVICT", Group: engine.Connection, Since: since, Summary: "Protects the connection from eviction.", Complexity: "O(1)", Flags: others, Scope: engine.Here,
			Args: []engine.Arg{onOff()}, Run: switched, Reply: "OK", Examples: []engine.Example{{In: "CLIENT NO-EVICT ON", Out: "OK"}},
			Notes: "No connection is ever evicted.",
		}, {
			Name: "NO-TOUCH", Group: engine.Connection, Since: since, Summary: "Keeps the connection's commands from counting as use of a key.", Complexity: "O(1)", Flags: own, Scope: engine.Here,
			Args: []engine.Arg{onOff()}, Run: switched, Reply: "OK", Examples: []engine.Example{{In: "CLIENT NO-TOUCH ON", Out: "OK"}},
			Notes: "No command's use of a key is kept.",
		}, {
			Name: "UNBLOCK", Group: engine.Connection, Since: since, Summary: "Wakes a client that a command makes wait.", Complexity: "O(1)", Flags: others, Scope: engine.Here,
			Args: []engine.Arg{{Name: "client-id", Type: engine.Integer}, {Name: "unblock-type", Type: engine.OneOf, Optional: true, Args: words("TIMEOUT", "ERROR")}},
			Run:  unblock, Reply: "integer: 0", Examples: []engine.Example{{In: "CLIENT UNBLOCK 7", Out: "(integer) 0"}},
			Notes: "No command waits; a client that CLIENT PAUSE makes wait is not woken, as in Redis.",
		}, replyCommand()}, pauseCommands(), trackingCommands(), []engine.Command{helpCommand(engine.Connection)}),
	}}
}

// words are alternatives that are one word each.
func words(tokens ...string) []engine.Arg {
	var args []engine.Arg
	for _, t := range tokens {
		args = append(args, engine.Arg{Name: strings.ToLower(t), Type: engine.PureToken, Token: t})
	}
	return args
}

func onOff() engine.Arg {
	return engine.Arg{Name: "enabled", Type: engine.OneOf, Args: words("ON", "OFF")}
}

// switched is a switch for something that is never done.
func switched(c *engine.Call) {
	if engine.EqualFold(c.Args[2], "ON") || engine.EqualFold(c.Args[2], "OFF") {
		c.Out.OK()
		return
	}
	c.Fail(engine.Syntax)
}

// helpCommand is a container's HELP: its subcommands as the table declares them.
func helpCommand(group engine.Group) engine.Command {
	return engine.Command{
		Name: "HELP", Group: group, Since: since, Summary: "Prints this help.", Complexity: "O(1)",
		Flags: engine.Loading | engine.Stale, Scope: engine.Here, Run: (*engine.Call).Help, Reply: "array: lines of text",
	}
}

// printable says whether b has only the bytes that CLIENT LIST can show.
func printable(b []byte) bool {
	for _, c := range b {
		if c < '!' || c > '~' {
			return false
		}
	}
	return true
}

// setName names the connection, or replies with the error and returns false.
func (c *conn) setName(call *engine.Call, name []byte) bool {
	switch {
	case len(name) > longestName:
		fail(call, failLongName, "client name", longestName)
		return false
	case !printable(name):
		fail(call, failClientName)
		return false
	}
	c.identify(func(i *identity) { i.name = string(name) })
	return true
}

// longestName bounds what a client has kept for as long as it is connected: its
// name, and the name and version of its library, in bytes each.
const longestName = 1024

// clientSetName is CLIENT SETNAME.
func (c *conn) clientSetName(call *engine.Call) {
	if c.setName(call, call.Args[2]) {
		call.Out.OK()
	}
}

// getName is CLIENT GETNAME.
func (c *conn) getName(call *engine.Call) {
	if name := c.identity.Load().name; name != "" {
		call.Out.BulkString(name)
		return
	}
	call.Out.Null()
}

// setInfo is CLIENT SETINFO.
func (c *conn) setInfo(call *engine.Call) {
	option, value := call.Args[2], call.Args[3]
	name := engine.EqualFold(option, "LIB-NAME")
	switch {
	case !name && !engine.EqualFold(option, "LIB-VER"):
		fail(call, failClientInfoOption, engine.Printable(option))
		return
	case len(value) > longestName:
		fail(call, failLongName, engine.Printable(option), longestName)
		return
	case !printable(value):
		fail(call, failClientInfo, engine.Printable(option))
		return
	case name:
		c.identify(func(i *identity) { i.library = string(value) })
	default:
		c.identify(func(i *identity) { i.version = string(value) })
	}
	call.Out.OK()
}

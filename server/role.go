package server

import (
	"github.com/limitstore/limitstore/engine"
)

// roleCommands tell what this server is among others: alone.
func roleCommands() []engine.Command {
	always := engine.NoScript | engine.Loading | engine.Stale
	return []engine.Command{{
		Name: "ROLE", Group: engine.Server, Since: since, Summary: "Returns the role in replication.", Complexity: "O(1)",
		Flags: always | engine.Fast, Scope: engine.Here, Run: func(c *engine.Call) {
			c.Out.Array(3)
			c.Out.BulkString("master")
			c.Out.Int(0)
			c.Out.Array(0)
		},
		Reply: "array: master, an offset of 0, no replicas", Examples: []engine.Example{{In: "ROLE", Out: "1) \"master\"\n2) (integer) 0\n3) (empty array)"}},
	}, {
		Name: "WAIT", Group: engine.Server, Since: since, Summary: "Returns how many replicas have what was written.", Complexity: "O(1)",
		Args:  []engine.Arg{{Name: "numreplicas", Type: engine.Integer}, {Name: "timeout", Type: engine.Integer}},
		Flags: engine.NoScript, Scope: engine.Here, Run: wait, Reply: "integer: 0", Examples: []engine.Example{{In: "WAIT 1 1000", Out: "(integer) 0"}},
		Notes: "There are no replicas, so it answers at once, where Redis would wait for the timeout, in milliseconds.",
	}, {
		Name: "LOLWUT", Group: engine.Server, Since: since, Summary: "Tells the version.", Complexity: "O(1)",
		Args:  []engine.Arg{{Name: "version", Type: engine.Integer, Token: "VERSION", Optional: true}},
		Flags: engine.ReadOnly | engine.Fast, Scope: engine.Here, Run: of(func(c *conn, call *engine.Call) {
			call.Out.Verbatim("txt", "limitstore ver. "+c.server.cfg.Version+"\n")
		}),
		Reply: "text; there is no art here", Examples: []engine.Example{{In: "LOLWUT", Out: `"limitstore ver. 1.2.3\n"`}},
	}, {
		Name: "MODULE", Group: engine.Server, Since: since, Summary: "A container for commands about modules.", Complexity: "Depends on subcommand.",
		Reply: "depends on the subcommand", Examples: []engine.Example{{In: "MODULE LIST", Out: "(empty array)"}},
		Subs: []engine.Command{{
			Name: "LIST", Group: engine.Server, Since: since, Summary: "Lists the modules.", Complexity: "O(1)", Flags: engine.Admin | engine.NoScript, Scope: engine.Here,
			Run: func(c *engine.Call) { c.Out.Array(0) }, Reply: "array: empty, for there are none", Examples: []engine.Example{{In: "MODULE LIST", Out: "(empty array)"}},
		}, helpCommand(engine.Server)},
	}}
}

// wait is WAIT.
func wait(c *engine.Call) {
	_, replicas := engine.Int(c.Args[1])
	timeout, ok := engine.Int(c.Args[2])
	switch {
	case !replicas:
		c.Fail(engine.NotInteger)
	case !ok:
		fail(c, failTimeout)
	case timeout < 0:
		fail(c, failTimeoutNegative)
	default:
		c.Out.Int(0)
	}
}

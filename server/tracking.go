package server

import "github.com/limitstore/limitstore/engine"

// trackingCommands are about client-side caching, which is not supported: a client
// that asks for it is told so, rather than left to trust a cache that nobody
// invalidates. They are subcommands of CLIENT.
func trackingCommands() []engine.Command {
	flags := engine.NoScript | engine.Loading | engine.Stale
	return []engine.Command{{
		Name: "TRACKING", Group: engine.Connection, Since: since, Summary: "Refuses client-side caching.", Complexity: "O(1)", Flags: flags, Scope: engine.Here,
		Args: []engine.Arg{
			{Name: "status", Type: engine.OneOf, Args: words("ON", "OFF")},
			{Name: "option", Type: engine.String, Optional: true, Multiple: true},
		},
		Run: track, Reply: "OK of OFF; ON is an error", Examples: []engine.Example{{In: "CLIENT TRACKING ON", Out: "(error) ERR CLIENT TRACKING is not supported"}, {In: "CLIENT TRACKING OFF", Out: "OK"}},
	}, {
		Name: "TRACKINGINFO", Group: engine.Connection, Since: since, Summary: "Tells that the connection has no client-side caching.", Complexity: "O(1)", Flags: flags, Scope: engine.Here,
		Run: trackingInfo, Reply: "map: flags, redirect, prefixes", Examples: []engine.Example{{In: "CLIENT TRACKINGINFO", Out: "1) \"flags\"\n2) 1) \"off\"\n3) \"redirect\"\n4) (integer) -1\n5) \"prefixes\"\n6) (empty array)"}},
	}, {
		Name: "CACHING", Group: engine.Connection, Since: since, Summary: "Is refused, as to any connection without client-side caching.", Complexity: "O(1)", Flags: flags, Scope: engine.Here,
		Args: []engine.Arg{{Name: "mode", Type: engine.OneOf, Args: words("YES", "NO")}},
		Run:  func(c *engine.Call) { fail(c, failCaching) }, Reply: "an error",
		Examples: []engine.Example{{In: "CLIENT CACHING YES", Out: "(error) ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled"}},
	}, {
		Name: "GETREDIR", Group: engine.Connection, Since: since, Summary: "Tells that invalidations are redirected to no connection.", Complexity: "O(1)", Flags: flags, Scope: engine.Here,
		Run: func(c *engine.Call) { c.Out.Int(-1) }, Reply: "integer: -1", Examples: []engine.Example{{In: "CLIENT GETREDIR", Out: "(integer) -1"}},
	}}
}

// track is CLIENT TRACKING.
func track(c *engine.Call) {
	off := engine.EqualFold(c.Args[2], "OFF")
	switch {
	case off && len(c.Args) == 3:
		c.Out.OK()
	case off || !engine.EqualFold(c.Args[2], "ON"):
		c.Fail(engine.Syntax)
	default:
		fail(c, failTracking)
	}
}

// trackingInfo is CLIENT TRACKINGINFO.
func trackingInfo(c *engine.Call) {
	c.Out.Map(3)
	c.Out.BulkString("flags")
	c.Out.Set(1)
	c.Out.BulkString("off")
	c.Out.BulkString("redirect")
	c.Out.Int(-1)
	c.Out.BulkString("prefixes")
	c.Out.Array(0)
}

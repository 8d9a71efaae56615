package server

import (
	"maps"
	"slices"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/resp"
)

// pubsubCommands carry messages from clients to those who listen.
func pubsubCommands() []engine.Command {
	channels := []engine.Arg{{Name: "channel", Type: engine.String, Multiple: true}}
	shards := []engine.Arg{{Name: "shardchannel", Type: engine.String, Multiple: true}}
	patterns := []engine.Arg{{Name: "pattern", Type: engine.Pattern, Multiple: true}}
	every := engine.Keys{First: 1, Last: -1, Step: 1}
	listening := engine.PubSub | engine.NoScript | engine.Loading | engine.Stale | engine.Fence | engine.Subscribed
	sending := engine.PubSub | engine.MayReplicate | engine.Loading | engine.Stale | engine.Fast | engine.Fence
	confirms := "for each name a push: the command in lower case, the name, how many channels and patterns are subscribed to now; in RESP2 an array"
	return []engine.Command{{
		Name: "SUBSCRIBE", Group: engine.Messages, Since: since, Summary: "Listens to channels.", Complexity: "O(N) with N the number of channels",
		Args: channels, Flags: listening, Scope: engine.Here, Run: subscribing(toChannel), Reply: confirms,
		Examples: []engine.Example{{In: "SUBSCRIBE news", Out: "1) \"subscribe\"\n2) \"news\"\n3) (integer) 1"}},
		Notes:    "Messages come as pushes: message, channel, text. A subscriber who speaks RESP2 may say only (P|S)SUBSCRIBE, (P|S)UNSUBSCRIBE, PING, QUIT and RESET.",
	}, {
		Name: "UNSUBSCRIBE", Group: engine.Messages, Since: since, Summary: "Stops listening to channels, or to all.", Complexity: "O(N) with N the number of channels",
		Args: optional(channels), Flags: listening, Scope: engine.Here, Run: unsubscribing(toChannel), Reply: confirms,
		Examples: []engine.Example{{In: "UNSUBSCRIBE", Out: "1) \"unsubscribe\"\n2) (nil)\n3) (integer) 0"}},
	}, {
		Name: "PSUBSCRIBE", Group: engine.Messages, Since: since, Summary: "Listens to all channels that match patterns.", Complexity: "O(N) with N the number of patterns",
		Args: patterns, Flags: listening, Scope: engine.Here, Run: subscribing(toPattern), Reply: confirms,
		Examples: []engine.Example{{In: "PSUBSCRIBE news.*", Out: "1) \"psubscribe\"\n2) \"news.*\"\n3) (integer) 1"}},
		Notes:    "Messages come as pushes: pmessage, pattern, channel, text; after that of SUBSCRIBE to the same channel, and in the order in which the patterns were first subscribed to.",
	}, {
		Name: "PUNSUBSCRIBE", Group: engine.Messages, Since: since, Summary: "Stops listening to patterns, or to all.", Complexity: "O(N) with N the number of patterns",
		Args: optional(patterns), Flags: listening, Scope: engine.Here, Run: unsubscribing(toPattern), Reply: confirms,
		Examples: []engine.Example{{In: "PUNSUBSCRIBE news.*", Out: "1) \"punsubscribe\"\n2) \"news.*\"\n3) (integer) 0"}},
	}, {
		Name: "SSUBSCRIBE", Group: engine.Messages, Since: since, Summary: "Listens to shard channels.", Complexity: "O(N) with N the number of channels",
		Args: shards, Keys: every, Flags: listening, Scope: engine.Here, Run: subscribing(toShard), Reply: confirms + ", of shard channels alone",
		Examples: []engine.Example{{In: "SSUBSCRIBE news", Out: "1) \"ssubscribe\"\n2) \"news\"\n3) (integer) 1"}},
		Notes:    "Shard channels are those of SPUBLISH. Messages come as pushes: smessage, channel, text.",
	}, {
		Name: "SUNSUBSCRIBE", Group: engine.Messages, Since: since, Summary: "Stops listening to shard channels, or to all.", Complexity: "O(N) with N the number of channels",
		Args: optional(shards), Keys: every, Flags: listening, Scope: engine.Here, Run: unsubscribing(toShard), Reply: confirms + ", of shard channels alone",
		Examples: []engine.Example{{In: "SUNSUBSCRIBE", Out: "1) \"sunsubscribe\"\n2) (nil)\n3) (integer) 0"}},
	}, {
		Name: "PUBLISH", Group: engine.Messages, Since: since, Summary: "Sends a message to all who listen to a channel.", Complexity: "O(N+M) with N the listeners of the channel and M all patterns subscribed to",
		Args:  []engine.Arg{{Name: "channel", Type: engine.String}, {Name: "message", Type: engine.String}},
		Flags: sending, Scope: engine.Here, Run: publishing(toChannel), Reply: "integer: how often it was handed on",
		Examples: []engine.Example{{In: "PUBLISH news hello", Out: "(integer) 0"}},
		Notes:    "It waits for no subscriber. What the pipeline holds before it has happened when the message is seen.",
	}, {
		Name: "SPUBLISH", Group: engine.Messages, Since: since, Summary: "Sends a message to all who listen to a shard channel.", Complexity: "O(N) with N the listeners of the channel",
		Args: []engine.Arg{{Name: "shardchannel", Type: engine.String}, {Name: "message", Type: engine.String}},
		Keys: engine.OneKey, Flags: sending, Scope: engine.Here, Run: publishing(toShard), Reply: "integer: how often it was handed on",
		Examples: []engine.Example{{In: "SPUBLISH news hello", Out: "(integer) 0"}},
	}, pubsubCommand()}
}

// optional makes the first of args one that may be left out.
func optional(args []engine.Arg) []engine.Arg {
	args = slices.Clone(args)
	args[0].Optional = true
	return args
}

// pubsubCommand tells who listens.
func pubsubCommand() engine.Command {
	flags := engine.PubSub | engine.Loading | engine.Stale
	return engine.Command{
		Name: "PUBSUB", Group: engine.Messages, Since: since, Summary: "A container for commands about subscriptions.", Complexity: "Depends on subcommand.",
		Reply: "depends on the subcommand", Examples: []engine.Example{{In: "PUBSUB NOSUCH", Out: "(error) ERR unknown subcommand 'NOSUCH'. Try PUBSUB HELP."}},
		Subs: []engine.Command{{
			Name: "CHANNELS", Group: engine.Messages, Since: since, Summary: "Lists the channels that somebody listens to.", Complexity: "O(N) with N the number of channels",
			Args:  []engine.Arg{{Name: "pattern", Type: engine.Pattern, Optional: true}},
			Flags: flags, Scope: engine.Here, Run: listingChannels(toChannel), Reply: "array: names, in no order",
			Examples: []engine.Example{{In: "PUBSUB CHANNELS", Out: "(empty array)"}},
		}, {
			Name: "NUMSUB", Group: engine.Messages, Since: since, Summary: "Tells how many listen to each channel; patterns do not count.", Complexity: "O(N) with N the channels asked about",
			Args:  []engine.Arg{{Name: "channel", Type: engine.String, Optional: true, Multiple: true}},
			Flags: flags, Scope: engine.Here, Run: counting(toChannel), Reply: "array: names, each followed by a number",
			Examples: []engine.Example{{In: "PUBSUB NUMSUB news", Out: "1) \"news\"\n2) (integer) 0"}},
		}, {
			Name: "NUMPAT", Group: engine.Messages, Since: since, Summary: "Tells how many different patterns are subscribed to.", Complexity: "O(1)",
			Flags: flags, Scope: engine.Here, Run: of((*conn).countPatterns), Reply: "integer",
			Examples: []engine.Example{{In: "PUBSUB NUMPAT", Out: "(integer) 0"}},
		}, {
			Name: "SHARDCHANNELS", Group: engine.Messages, Since: since, Summary: "Lists the shard channels that somebody listens to.", Complexity: "O(N) with N the number of channels",
			Args:  []engine.Arg{{Name: "pattern", Type: engine.Pattern, Optional: true}},
			Flags: flags, Scope: engine.Here, Run: listingChannels(toShard), Reply: "array: names, in no order",
			Examples: []engine.Example{{In: "PUBSUB SHARDCHANNELS", Out: "(empty array)"}},
		}, {
			Name: "SHARDNUMSUB", Group: engine.Messages, Since: since, Summary: "Tells how many listen to each shard channel.", Complexity: "O(N) with N the channels asked about",
			Args:  []engine.Arg{{Name: "shardchannel", Type: engine.String, Optional: true, Multiple: true}},
			Flags: flags, Scope: engine.Here, Run: counting(toShard), Reply: "array: names, each followed by a number",
			Examples: []engine.Example{{In: "PUBSUB SHARDNUMSUB news", Out: "1) \"news\"\n2) (integer) 0"}},
		}, helpCommand(engine.Messages)},
	}
}

// The longest names of what can be listened to, in bytes: trying a pattern on a
// channel takes up to their product in steps.
const (
	longestChannel = 4096
	longestPattern = 1024
)

func subscribing(k kind) func(*engine.Call) {
	return of(func(c *conn, call *engine.Call) { c.subscribe(call, k) })
}

func unsubscribing(k kind) func(*engine.Call) {
	return of(func(c *conn, call *engine.Call) { c.unsubscribe(call, k) })
}

func publishing(k kind) func(*engine.Call) {
	return of(func(c *conn, call *engine.Call) {
		n := c.server.hub.publish(k, call.Args[1], call.Args[2])
		c.catchUp(call) // it may listen to itself
		call.Out.Int(int64(n))
	})
}

// box is the connection's outbox, made on first use.
func (c *conn) box() *outbox {
	if c.outbox.Load() == nil {
		c.outbox.Store(newOutbox(c))
	}
	return c.outbox.Load()
}

// catchUp writes the pushes that wait for the end of the pipeline: they come
// before the reply to this command. While replies are not sent they wait on.
func (c *conn) catchUp(call *engine.Call) {
	if o := c.outbox.Load(); o != nil && !c.isMute() {
		call.Out.Raw(o.overdue())
	}
}

// subscribe is SUBSCRIBE, PSUBSCRIBE and SSUBSCRIBE.
func (c *conn) subscribe(call *engine.Call, k kind) {
	names := call.Args[1:]
	longest := longestChannel
	if k == toPattern {
		longest = longestPattern
	}
	if slices.ContainsFunc(names, func(name []byte) bool { return len(name) > longest }) {
		fail(call, failLongChannel, longest)
		return
	}
	o, h := c.box(), &c.server.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if most := c.server.cfg.MaxSubscriptions; o.total()+o.lacks(k, names) > most {
		fail(call, failSubscriptions, most)
		return
	}
	out := c.confirmations(call, o)
	for _, name := range names {
		h.join(o, k, string(name))
		o.confirm(out, call, k, name)
	}
	c.confirmed(out, call, o)
	c.subscribed(o, k)
}

// unsubscribe is UNSUBSCRIBE, PUNSUBSCRIBE and SUNSUBSCRIBE.
func (c *conn) unsubscribe(call *engine.Call, k kind) {
	o, h, names := c.outbox.Load(), &c.server.hub, call.Args[1:]
	switch {
	case o != nil:
	case c.isMute():
		o = c.box() // to confirm by
	default:
		o = &outbox{} // it has never listened: there is nothing to write to
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	out := c.confirmations(call, o)
	if len(names) == 0 {
		for _, name := range slices.Sorted(maps.Keys(o.names[k])) {
			names = append(names, []byte(name))
		}
	}
	for _, name := range names {
		h.part(o, k, string(name))
		o.confirm(out, call, k, name)
	}
	h.sweep()
	if len(names) == 0 {
		o.confirm(out, call, k, nil)
	}
	c.confirmed(out, call, o)
	c.subscribed(o, k)
}

// confirmations are written where the reply would stand, after what was pushed
// before them. But they are pushes: while replies are not sent, they wait with the
// messages.
func (c *conn) confirmations(call *engine.Call, o *outbox) *resp.Writer {
	if c.isMute() {
		var out resp.Writer
		out.Reset(c.session.Proto())
		return &out
	}
	call.Out.Raw(o.overdue())
	return call.Out
}

// confirmed ends the confirmations.
func (c *conn) confirmed(out *resp.Writer, call *engine.Call, o *outbox) {
	if out != call.Out {
		o.append(out.Bytes())
	}
}

// subscribed notes what has become of the subscriptions. hub.mu must be held.
func (c *conn) subscribed(o *outbox, k kind) {
	o.count(k, len(o.names[k]))
	c.listening = o.total() > 0
}

// total is the number of subscriptions. hub.mu must be held.
func (o *outbox) total() (n int) {
	for k := range o.names {
		n += len(o.names[k])
	}
	return n
}

// lacks is how many of the names are not subscribed to yet. One that is said twice
// counts twice. hub.mu must be held.
func (o *outbox) lacks(k kind, names [][]byte) (n int) {
	for _, name := range names {
		if _, there := o.names[k][string(name)]; !there {
			n++
		}
	}
	return n
}

// confirm answers one name of a subscription begun or ended; nil where there was
// none to end. hub.mu must be held.
func (o *outbox) confirm(out *resp.Writer, call *engine.Call, k kind, name []byte) {
	n := len(o.names[toShard])
	if k != toShard {
		n = len(o.names[toChannel]) + len(o.names[toPattern])
	}
	writeConfirmation(out, call.Command.Lower(), name, n)
}

func writeConfirmation(out *resp.Writer, verb string, name []byte, n int) {
	out.Push(3)
	out.BulkString(verb)
	if name == nil {
		out.Null()
	} else {
		out.Bulk(name)
	}
	out.Int(int64(n))
}

// unsubscribeAll ends every subscription and says nothing of it.
func (c *conn) unsubscribeAll() {
	o := c.outbox.Load()
	if o == nil {
		return
	}
	c.server.hub.leave(o)
	for k := range kinds {
		o.count(k, 0)
	}
	c.listening = false
}

// listingChannels is PUBSUB CHANNELS and PUBSUB SHARDCHANNELS.
func listingChannels(k kind) func(*engine.Call) {
	return of(func(c *conn, call *engine.Call) {
		if len(call.Args) > 3 {
			failWords(call)
			return
		}
		names := c.server.hub.names(k)
		if len(call.Args) == 3 {
			names = slices.DeleteFunc(names, func(name string) bool { return !engine.Match(call.Args[2], []byte(name)) })
		}
		call.Out.Array(len(names))
		for _, name := range names {
			call.Out.BulkString(name)
		}
	})
}

// counting is PUBSUB NUMSUB and PUBSUB SHARDNUMSUB.
func counting(k kind) func(*engine.Call) {
	return of(func(c *conn, call *engine.Call) {
		names := call.Args[2:]
		call.Out.Array(2 * len(names))
		for _, name := range names {
			call.Out.Bulk(name)
			call.Out.Int(int64(c.server.hub.audience(k, name)))
		}
	})
}

// countPatterns is PUBSUB NUMPAT.
func (c *conn) countPatterns(call *engine.Call) {
	call.Out.Int(int64(c.server.hub.figures().patterns))
}

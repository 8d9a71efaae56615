package server

import "github.com/limitstore/limitstore/engine"

// muting is what CLIENT REPLY has asked for.
type muting uint8

// What becomes of replies.
const (
	spoken   muting = iota // they are sent
	muteNext               // that of the next command is not
	muteThis               // that of the command at work is not
	muted                  // none is
)

// replyCommand is a subcommand of CLIENT.
func replyCommand() engine.Command {
	return engine.Command{
		Name: "REPLY", Group: engine.Connection, Since: since, Summary: "Turns replies off, or on again, or skips that of the next command.", Complexity: "O(1)",
		Flags: engine.NoScript | engine.Loading | engine.Stale | engine.Fence, Scope: engine.Here,
		Args: []engine.Arg{{Name: "action", Type: engine.OneOf, Args: words("ON", "OFF", "SKIP")}},
		Run:  of((*conn).reply), Reply: "OK of ON; nothing of OFF and SKIP", Examples: []engine.Example{{In: "CLIENT REPLY ON", Out: "OK"}},
		Notes: "Messages, and the confirmations of subscriptions, are sent whatever was chosen.",
	}
}

// reply is CLIENT REPLY.
func (c *conn) reply(call *engine.Call) {
	switch option := call.Args[2]; {
	case engine.EqualFold(option, "ON"):
		c.unmute()
		c.catchUp(call)
		call.Out.OK()
	case engine.EqualFold(option, "OFF"):
		c.muting = muted
		c.mute(true)
	case engine.EqualFold(option, "SKIP"):
		if c.muting != muted {
			c.muting = muteNext
		}
	default:
		call.Fail(engine.Syntax)
	}
}

// isMute says whether the reply of the command at work is not sent.
func (c *conn) isMute() bool { return c.muting == muted || c.muting == muteThis }

// unmute sends replies again.
func (c *conn) unmute() {
	c.muting = spoken
	c.mute(false)
}

// mute says whether replies are sent from now on.
func (c *conn) mute(on bool) {
	c.session.Mute(on)
	if o := c.outbox.Load(); o != nil {
		o.silence(on)
	}
}

// takeMuted takes the command whose reply is to be skipped.
func (c *conn) takeMuted(args [][]byte) error {
	c.muting = muteThis
	c.mute(true)
	err := c.take(args)
	if err == nil && c.muting != muted {
		err = c.session.Settle()
		c.mute(false)
		if o := c.outbox.Load(); o != nil {
			c.session.Interject(o.overdue())
		}
	}
	if c.muting == muteThis {
		c.muting = spoken
	}
	return err
}

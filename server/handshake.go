package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/resp"
	"github.com/limitstore/limitstore/shard"
)

// handshakeCommands are what a client says before it works, and about its
// connection.
func handshakeCommands() []engine.Command {
	always := engine.NoScript | engine.Loading | engine.Stale | engine.Fast | engine.NoAuth
	return []engine.Command{{
		Name: "HELLO", Group: engine.Connection, Since: since, Summary: "Chooses the protocol version and describes the server; may log in and set a name.", Complexity: "O(1)",
		Args: []engine.Arg{{Name: "arguments", Type: engine.Block, Optional: true, Args: []engine.Arg{
			{Name: "protover", Type: engine.Integer},
			{Name: "auth", Type: engine.Block, Token: "AUTH", Optional: true, Args: []engine.Arg{{Name: "username", Type: engine.String}, {Name: "password", Type: engine.String}}},
			{Name: "clientname", Type: engine.String, Token: "SETNAME", Optional: true},
		}}},
		Flags: always | engine.Fence, Scope: engine.Here, Run: of((*conn).hello),
		Reply: "map: server, version, proto, id, mode, role, modules",
		Examples: []engine.Example{{In: "HELLO 4", Out: "(error) NOPROTO unsupported protocol version"}, {In: "HELLO 3 SETNAME gateway",
			Out: "1# \"server\" => \"redis\"\n2# \"version\" => \"" + redisVersion + "\"\n3# \"proto\" => (integer) 3\n4# \"id\" => (integer) 1\n5# \"mode\" => \"standalone\"\n6# \"role\" => \"master\"\n7# \"modules\" => (empty array)"}},
		Notes: "server and version name the Redis whose protocol is spoken: clients choose what they send by them. INFO has limitstore's own version.",
	}, {
		Name: "AUTH", Group: engine.Connection, Since: since, Summary: "Gives the password.", Complexity: "O(1)",
		Args:  []engine.Arg{{Name: "username", Type: engine.String, Optional: true}, {Name: "password", Type: engine.String}},
		Flags: always | engine.Fence, Scope: engine.Here, Run: of((*conn).auth), Reply: "OK",
		Examples: []engine.Example{{In: "AUTH bob secret", Out: "(error) WRONGPASS invalid username-password pair or user is disabled."}},
		Notes:    "There is one user, \"default\".",
	}, {
		Name: "RESET", Group: engine.Connection, Since: since, Summary: "Makes the connection as it was when it was new, logged out included.", Complexity: "O(1)",
		Flags: always | engine.Fence | engine.AtOnce | engine.Subscribed, Scope: engine.Here, Run: of((*conn).reset), Reply: "RESET",
		Examples: []engine.Example{{In: "RESET", Out: "RESET"}},
	}, {
		Name: "QUIT", Group: engine.Connection, Since: since, Summary: "Closes the connection after the replies to what came before.", Complexity: "O(1)",
		Args:  []engine.Arg{{Name: "ignored", Type: engine.String, Optional: true, Multiple: true}},
		Flags: always | engine.Fence | engine.AtOnce | engine.Subscribed, Scope: engine.Here, Run: of((*conn).quit), Reply: "OK",
		Examples: []engine.Example{{In: "QUIT", Out: "OK"}},
	}, {
		Name: "SELECT", Group: engine.Connection, Since: since, Summary: "Selects a database.", Complexity: "O(1)",
		Args:  []engine.Arg{{Name: "index", Type: engine.Integer}},
		Flags: engine.Loading | engine.Stale | engine.Fast | engine.Fence, Scope: engine.Here, Run: of((*conn).selectDB), Reply: "OK",
		Examples: []engine.Example{{In: "SET color red", Out: "OK"}, {In: "SELECT 1", Out: "OK"}, {In: "GET color", Out: "(nil)"}, {In: "SELECT 16", Out: "(error) ERR DB index is out of range"}},
	}, {
		Name: "PING", Group: engine.Connection, Since: since, Summary: "Answers PONG, or the message.", Complexity: "O(1)",
		Args:  []engine.Arg{{Name: "message", Type: engine.String, Optional: true}},
		Flags: engine.Fast | engine.Subscribed, Scope: engine.Here, Run: of((*conn).ping), Reply: "PONG, or bulk string: the message; to a subscriber who speaks RESP2 an array of pong and the message",
		Examples: []engine.Example{{In: "PING", Out: "PONG"}, {In: "PING hello", Out: `"hello"`}},
	}, {
		Name: "ECHO", Group: engine.Connection, Since: since, Summary: "Answers the message.", Complexity: "O(1)",
		Args:  []engine.Arg{{Name: "message", Type: engine.String}},
		Flags: engine.Loading | engine.Stale | engine.Fast, Scope: engine.Here, Run: func(c *engine.Call) { c.Out.Bulk(c.Args[1]) }, Reply: "bulk string: the message",
		Examples: []engine.Example{{In: "ECHO hello", Out: `"hello"`}},
	}}
}

// of makes a command's Run of something a connection does.
func of(do func(*conn, *engine.Call)) func(*engine.Call) {
	return func(c *engine.Call) { do(c.Session.Owner.(*conn), c) }
}

// ping is PING.
func (c *conn) ping(call *engine.Call) {
	switch {
	case len(call.Args) > 2:
		call.Fail(engine.WrongArity, call.Command.Lower())
	case c.listening && c.session.Proto() == resp.RESP2:
		call.Out.Array(2)
		call.Out.BulkString("pong")
		call.Out.Bulk(slices.Concat(call.Args[1:]...))
	case len(call.Args) == 2:
		call.Out.Bulk(call.Args[1])
	default:
		call.Out.SimpleString("PONG")
	}
}

// speak switches to RESP 2 or 3.
func (c *conn) speak(call *engine.Call, proto int) {
	c.catchUp(call)
	c.session.SetProto(proto)
	if o := c.outbox.Load(); o != nil {
		o.speak(proto)
	}
	c.identify(func(i *identity) { i.proto = proto })
}

// selectDB is SELECT.
func (c *conn) selectDB(call *engine.Call) {
	n, ok := engine.Int(call.Args[1])
	switch {
	case !ok:
		call.Fail(engine.NotInteger)
	case n < 0 || n >= shard.Databases:
		call.Fail(engine.DBIndex)
	default:
		call.SetDB(int(n))
		c.identify(func(i *identity) { i.db = int(n) })
		call.Out.OK()
	}
}

// quit is QUIT.
func (c *conn) quit(call *engine.Call) {
	c.leaving = byQuit
	call.Out.OK()
}

// reset is RESET.
func (c *conn) reset(call *engine.Call) {
	c.setAuthenticated(c.server.secret.Load() == nil)
	c.session.Reset()
	c.unsubscribeAll()
	c.stopMonitoring()
	c.unmute()
	c.speak(call, resp.RESP2)
	c.identify(func(i *identity) { i.db, i.name = 0, "" })
	call.Out.SimpleString("RESET")
}

// theUser is the only one there is.
const theUser = "default"

// knows says whether password is that of the user. It takes equally long
// whatever is wrong with the password.
func (s *Server) knows(user, password []byte) bool {
	if string(user) != theUser {
		return false
	}
	secret := s.secret.Load()
	if secret == nil {
		return true
	}
	given := sha256.Sum256(password)
	return subtle.ConstantTimeCompare(given[:], secret[:]) == 1
}

func (c *conn) setAuthenticated(on bool) {
	c.authenticated = on
	c.reader.SetUnauthenticated(!on)
}

// login checks a password and replies with the error when it is wrong.
func (c *conn) login(call *engine.Call, user, password []byte) bool {
	if !c.server.knows(user, password) {
		c.server.counts.wrongPass.Add(1)
		c.notice(noticePassword, "wrong user or password")
		c.remember(call, user)
		fail(call, failWrongPass)
		return false
	}
	c.setAuthenticated(true)
	return true
}

// auth is AUTH.
func (c *conn) auth(call *engine.Call) {
	user, password := []byte(theUser), call.Args[1]
	switch {
	case len(call.Args) > 3:
		call.Fail(engine.Syntax)
		return
	case len(call.Args) == 3:
		user, password = call.Args[1], call.Args[2]
	case c.server.secret.Load() == nil:
		fail(call, failNoPassword)
		return
	}
	if c.login(call, user, password) {
		call.Out.OK()
	}
}

// hello is HELLO. As in Redis, what comes before a wrong option has happened.
func (c *conn) hello(call *engine.Call) {
	proto := c.session.Proto()
	if len(call.Args) > 1 {
		n, ok := engine.Int(call.Args[1])
		if !ok {
			fail(call, failProtoNumber)
			return
		}
		if n != resp.RESP2 && n != resp.RESP3 {
			fail(call, failProtoVersion)
			return
		}
		proto = int(n)
		if !c.helloOptions(call, call.Args[2:]) {
			return
		}
	}
	if !c.authenticated {
		fail(call, failHelloNoAuth)
		return
	}
	c.speak(call, proto)
	c.introduce(call.Out)
}

// helloOptions reads AUTH and SETNAME; false after an error.
func (c *conn) helloOptions(call *engine.Call, words [][]byte) bool {
	for len(words) > 0 {
		switch {
		case engine.EqualFold(words[0], "AUTH") && len(words) > 2:
			if !c.login(call, words[1], words[2]) {
				return false
			}
			words = words[3:]
		case engine.EqualFold(words[0], "SETNAME") && len(words) > 1:
			if !c.setName(call, words[1]) {
				return false
			}
			words = words[2:]
		default:
			fail(call, failHelloOption, engine.Printable(words[0]))
			return false
		}
	}
	return true
}

// introduce writes what HELLO answers.
func (c *conn) introduce(out *resp.Writer) {
	out.Map(7)
	out.BulkString("server")
	out.BulkString("redis")
	out.BulkString("version")
	out.BulkString(redisVersion)
	out.BulkString("proto")
	out.Int(int64(c.session.Proto()))
	out.BulkString("id")
	out.Int(c.id)
	out.BulkString("mode")
	out.BulkString("standalone")
	out.BulkString("role")
	out.BulkString("master")
	out.BulkString("modules")
	out.Array(0)
}

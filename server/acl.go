package server

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/resp"
)

// aclCommands tell about the one user there is.
func aclCommands() []engine.Command {
	own := engine.NoScript | engine.Loading | engine.Stale
	admin := own | engine.Admin
	user := engine.Arg{Name: "username", Type: engine.String}
	return []engine.Command{{
		Name: "ACL", Group: engine.Server, Since: since, Summary: "A container for commands about users.", Complexity: "Depends on subcommand.",
		Reply: "depends on the subcommand", Examples: []engine.Example{{In: "ACL SETUSER bob", Out: `(error) ERR ACL SETUSER is refused: there is one user, "default"`}},
		Notes: "There is one user, who may do everything. Its password is set with requirepass.",
		Subs: []engine.Command{{
			Name: "WHOAMI", Group: engine.Server, Since: since, Summary: "Returns the name of the connection's user.", Complexity: "O(1)", Flags: own, Scope: engine.Here,
			Run: func(c *engine.Call) { c.Out.BulkString(theUser) }, Reply: "bulk string", Examples: []engine.Example{{In: "ACL WHOAMI", Out: `"default"`}},
		}, {
			Name: "USERS", Group: engine.Server, Since: since, Summary: "Lists the users.", Complexity: "O(1)", Flags: admin, Scope: engine.Here,
			Run: func(c *engine.Call) { c.Out.Array(1); c.Out.BulkString(theUser) }, Reply: "array", Examples: []engine.Example{{In: "ACL USERS", Out: `1) "default"`}},
		}, {
			Name: "LIST", Group: engine.Server, Since: since, Summary: "Lists the users with what they may do.", Complexity: "O(1)", Flags: admin, Scope: engine.Here,
			Run: of((*conn).aclList), Reply: "array: a rule for each; the password as its SHA-256 in hex", Examples: []engine.Example{{In: "ACL LIST", Out: `1) "user default on nopass ~* &* +@all"`}},
		}, {
			Name: "GETUSER", Group: engine.Server, Since: since, Summary: "Describes a user.", Complexity: "O(1)", Flags: admin, Scope: engine.Here,
			Args: []engine.Arg{user}, Run: of((*conn).aclGetUser), Reply: "map; nil when there is no such user; the password as its SHA-256 in hex", Examples: []engine.Example{{In: "ACL GETUSER bob", Out: "(nil)"}},
		}, {
			Name: "CAT", Group: engine.Server, Since: since, Summary: "Lists the categories of commands, or the commands of one.", Complexity: "O(N) with N the number of commands", Flags: own, Scope: engine.Here,
			Args: []engine.Arg{{Name: "category", Type: engine.String, Optional: true}}, Run: of((*conn).aclCat), Reply: "array", Examples: []engine.Example{{In: "ACL CAT nosuch", Out: "(error) ERR Unknown category 'nosuch'"}},
			Notes: "Only categories that have a command are shown; limiter is limitstore's own.",
		}, {
			Name: "GENPASS", Group: engine.Server, Since: since, Summary: "Returns a random password.", Complexity: "O(1)", Flags: own, Scope: engine.Here,
			Args: []engine.Arg{{Name: "bits", Type: engine.Integer, Optional: true}}, Run: aclGenPass, Reply: "bulk string: hex digits for so many bits, 256 by default, at most 4096",
			Examples: []engine.Example{{In: "ACL GENPASS 0", Out: "(error) ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096"}},
		}, {
			Name: "LOG", Group: engine.Server, Since: since, Summary: "Lists the latest failures to log in.", Complexity: "O(N) with N the number of entries", Flags: admin, Scope: engine.Here,
			Args: []engine.Arg{{Name: "operation", Type: engine.OneOf, Optional: true, Args: []engine.Arg{{Name: "count", Type: engine.Integer}, {Name: "reset", Type: engine.PureToken, Token: "RESET"}}}},
			Run:  of((*conn).aclLog), Reply: "array of maps, the latest first, 10 unless count says otherwise", Examples: []engine.Example{{In: "ACL LOG", Out: "(empty array)"}, {In: "ACL LOG RESET", Out: "OK"}},
			Notes: "The last 128 are kept. Failures of the same name within a minute are one entry.",
		}, {
			Name: "DRYRUN", Group: engine.Server, Since: since, Summary: "Says whether a user may run a command, without running it.", Complexity: "O(1)", Flags: admin, Scope: engine.Here,
			Args: []engine.Arg{user, {Name: "command", Type: engine.String}, {Name: "arg", Type: engine.String, Optional: true, Multiple: true}}, Run: of((*conn).aclDryRun),
			Reply: "OK", Examples: []engine.Example{{In: "ACL DRYRUN default GET a", Out: "OK"}, {In: "ACL DRYRUN bob GET a", Out: "(error) ERR User 'bob' not found"}},
		}, helpCommand(engine.Server)},
	}}
}

// aclList is ACL LIST.
func (c *conn) aclList(call *engine.Call) {
	rule := "nopass"
	if secret := c.server.secret.Load(); secret != nil {
		rule = "#" + hex.EncodeToString(secret[:])
	}
	call.Out.Array(1)
	call.Out.BulkString("user " + theUser + " on " + rule + " ~* &* +@all")
}

// aclGetUser is ACL GETUSER.
func (c *conn) aclGetUser(call *engine.Call) {
	if string(call.Args[2]) != theUser {
		call.Out.Null()
		return
	}
	flags, passwords := []string{"on"}, []string(nil)
	if secret := c.server.secret.Load(); secret != nil {
		passwords = []string{hex.EncodeToString(secret[:])}
	} else {
		flags = append(flags, "nopass")
	}
	out := call.Out
	out.Map(6)
	out.BulkString("flags")
	out.Set(len(flags))
	for _, flag := range flags {
		out.BulkString(flag)
	}
	out.BulkString("passwords")
	writeBulks(out, passwords)
	writePair(out, "commands", "+@all")
	writePair(out, "keys", "~*")
	writePair(out, "channels", "&*")
	out.BulkString("selectors")
	out.Array(0)
}

func writeBulks(out *resp.Writer, words []string) {
	out.Array(len(words))
	for _, word := range words {
		out.BulkString(word)
	}
}

// redisCategories are the categories of commands in Redis' order, and ours.
var redisCategories = [...]string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap", "hyperloglog", "geo", "stream", "pubsub",
	"admin", "fast", "slow", "blocking", "dangerous", "connection", "transaction", "scripting", "limiter",
}

// aclCat is ACL CAT.
func (c *conn) aclCat(call *engine.Call) {
	rows := c.server.table.Rows()
	in := func(category string) (names []string) {
		for _, row := range rows {
			if slices.Contains(categories(row), "@"+category) {
				names = append(names, row.Lower())
			}
		}
		return names
	}
	switch len(call.Args) {
	case 2:
		writeBulks(call.Out, slices.DeleteFunc(slices.Clone(redisCategories[:]), func(category string) bool { return len(in(category)) == 0 }))
	case 3:
		category := strings.ToLower(string(call.Args[2]))
		if !slices.Contains(redisCategories[:], category) {
			fail(call, failCategory, engine.Printable(call.Args[2]))
			return
		}
		writeBulks(call.Out, in(category))
	default:
		failWords(call)
	}
}

// failWords answers a subcommand with too many words, as Redis does where it
// counts them itself.
func failWords(call *engine.Call) {
	fail(call, failSubcommandSyntax, engine.Printable(call.Args[1]), strings.ToUpper(string(call.Args[0])))
}

// The bits of a password.
const (
	genPassBits = 256
	mostBits    = 4096
)

// aclGenPass is ACL GENPASS.
func aclGenPass(c *engine.Call) {
	bits := int64(genPassBits)
	if len(c.Args) > 3 {
		failWords(c)
		return
	}
	if len(c.Args) == 3 {
		n, ok := engine.Int(c.Args[2])
		switch {
		case !ok:
			c.Fail(engine.NotInteger)
			return
		case n < 1 || n > mostBits:
			fail(c, failGenPass)
			return
		}
		bits = n
	}
	var random [mostBits / 8]byte
	_, _ = rand.Read(random[:]) // it never fails: the process ends when the system has no randomness
	c.Out.BulkString(hex.EncodeToString(random[:])[:(bits+3)/4])
}

// aclDryRun is ACL DRYRUN.
func (c *conn) aclDryRun(call *engine.Call) {
	if string(call.Args[2]) != theUser {
		fail(call, failUserNotFound, engine.Printable(call.Args[2]))
		return
	}
	args := call.Args[3:]
	row := c.server.table.Lookup(args[0])
	if row != nil && len(row.Subs) > 0 && len(args) > 1 {
		row = c.server.table.Sub(row, args[1])
	}
	switch {
	case row == nil:
		fail(call, failCommandNotFound, engine.Printable(args[0]))
	case !row.Takes(len(args)):
		call.Fail(engine.WrongArity, row.Lower())
	default:
		call.Out.OK()
	}
}

package engine

import "github.com/limitstore/limitstore/resp"

// writer collects the reply to a command of a script.
type writer struct{ resp.Writer }

// Call runs a command of the running script (script.Host). The rules and the
// texts of refusals are those of scriptCall in script.c, Redis 7.0.
func (st *stage) Call(args [][]byte, version int, reply []byte) []byte {
	st.reply.Reset(version)
	if st.wide || st.full {
		st.reply.Error(ScriptStopped.Text())
		return append(reply, st.reply.Bytes()...)
	}
	row, refusal := st.resolve(args)
	switch {
	case refusal != "":
		st.reply.Error(refusal)
	case !st.within(row, args):
		st.wide = true
		st.reply.Error(ScriptStopped.Text())
	default:
		x := &st.inside
		x.call.Out = &st.reply.Writer
		x.do(row, args)
		st.full = st.reply.Overflowed() || st.taken() > st.engine.limits.ScriptBytes
	}
	if st.reply.Overflowed() {
		st.reply.Reset(version)
		st.reply.Error(ScriptStopped.Text())
	}
	return append(reply, st.reply.Bytes()...)
}

// Allowed says whether a command exists; whoever runs a script may run all
// (script.Host).
func (st *stage) Allowed(args [][]byte) (allowed, exists bool) {
	row, _ := st.engine.table.Resolve(args)
	return true, row != nil
}

// Log passes on what a script logs (script.Host).
func (st *stage) Log(level int, line string) {
	if st.engine.log != nil {
		st.engine.log(level, line)
	}
}

// resolve finds the row of a command, or says why a script may not run it.
func (st *stage) resolve(args [][]byte) (*Command, string) {
	row, _ := st.engine.table.Resolve(args)
	switch {
	case row == nil && st.engine.table.Lookup(args[0]) == nil:
		return nil, ScriptUnknown.Text()
	case row == nil:
		return nil, ScriptArity.Text()
	case row.Flags&NoScript != 0:
		return nil, ScriptForbidden.Text()
	case st.readOnly && row.Flags&(Write|MayReplicate) != 0:
		return nil, ScriptReadOnly.Text()
	case !row.Keys.fit(args, st.engine.limits.Key):
		return nil, KeyTooLong.Text(st.engine.limits.Key)
	}
	return row, ""
}

// within says whether the stage holds all shards that a command needs. What has
// an effect beyond the keyspaces waits until the script cannot start again.
func (st *stage) within(row *Command, args [][]byte) bool {
	c := &st.inside.call
	if c.holdsAll() {
		return true
	}
	if row.Scope == Here {
		return row.Flags&MayReplicate == 0
	}
	if row.Scope != OnKeys {
		return false
	}
	all, shards := true, len(st.engine.shards)
	row.Keys.Each(args, func(key []byte) { all = all && c.holds(route(key, shards)) })
	return all
}

// taken is how many bytes it takes to be able to take back what the script did.
func (st *stage) taken() (n int) {
	for _, a := range st.begun {
		n += a.Bytes()
	}
	return n
}

// holds says whether the call may touch shard i.
func (c *Call) holds(i int) bool {
	if c.ks != nil {
		return i == c.shard
	}
	return c.held[i] != nil
}

// holdsAll says whether the call may touch every shard.
func (c *Call) holdsAll() bool {
	if c.ks != nil {
		return len(c.caller.engine.shards) == 1
	}
	for _, ks := range c.held {
		if ks == nil {
			return false
		}
	}
	return c.held != nil
}

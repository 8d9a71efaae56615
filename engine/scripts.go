package engine

import (
	"errors"
	"slices"

	"github.com/limitstore/limitstore/engine/script"
)

// scriptKeys are the keys of EVAL and its relatives: argument 2 counts them.
var scriptKeys = Keys{Count: 2}

// scriptArgs are the arguments behind the script itself.
func scriptArgs(first string) []Arg {
	return []Arg{
		{Name: first, Type: String}, {Name: "numkeys", Type: Integer},
		{Name: "key", Type: Key, Optional: true, Multiple: true}, {Name: "arg", Type: String, Optional: true, Multiple: true},
	}
}

const scriptNotes = "Lua 5.1 as in Redis 7, with redis.call, cjson, cmsgpack, struct and bit. Keys need not be declared, but a script whose keys are is quicker: " +
	"one that reaches a shard beyond those of its keys starts again, alone on all shards, and is remembered for it. Time stands still within. A script over its limits of steps, bytes or time, or killed, is stopped and has changed nothing."

// scriptCommands are EVAL, EVALSHA, and SCRIPT.
func scriptCommands() []Command {
	const flags = NoScript | Stale | MayReplicate | Scripted
	eval := func(name, first, summary string, more Flags, prepare func(*Limits, [][]byte) any, run func(*Call), examples []Example, notes string) Command {
		return Command{
			Name: name, Group: Scripting, Since: "0.1.0", Summary: summary, Complexity: "O(N) with N what the script does", Keys: scriptKeys,
			Flags: flags | more, Args: scriptArgs(first), Reply: "depends on the script", Examples: examples, Notes: notes, Prepare: prepare, Run: run,
		}
	}
	return []Command{
		eval("EVAL", "script", "Runs a script.", 0, compileAhead, func(c *Call) { c.evalSource(false) },
			[]Example{{"EVAL \"return redis.call('INCRBY', KEYS[1], ARGV[1])\" 1 hits 5", "(integer) 5"}}, scriptNotes),
		eval("EVAL_RO", "script", "Runs a script that changes nothing.", ReadOnly, compileAhead, func(c *Call) { c.evalSource(true) },
			[]Example{{"EVAL_RO \"return redis.call('SET', KEYS[1], 1)\" 1 hits", "(error) ERR Write commands are not allowed from read-only scripts. script: 897afd4d23ee70efe0ede1685c1c94834429da77, on @user_script:1."}}, ""),
		eval("EVALSHA", "sha1", "Runs a script that is in the cache.", 0, nil, func(c *Call) { c.evalSHA(false) },
			[]Example{{"EVALSHA ffffffffffffffffffffffffffffffffffffffff 0", "(error) NOSCRIPT No matching script. Please use EVAL."}}, "EVAL and SCRIPT LOAD put scripts into the cache."),
		eval("EVALSHA_RO", "sha1", "Runs a script that is in the cache and changes nothing.", ReadOnly, nil, func(c *Call) { c.evalSHA(true) },
			[]Example{{"EVALSHA_RO ffffffffffffffffffffffffffffffffffffffff 0", "(error) NOSCRIPT No matching script. Please use EVAL."}}, ""),
		scriptContainer(),
	}
}

// compiled is a script compiled ahead, or why that failed.
type compiled struct {
	script *script.Script
	err    error
}

// compileAhead compiles the source in args[1], before the shards stand.
func compileAhead(l *Limits, args [][]byte) any { return compileScript(l, args[1]) }

func compileScript(l *Limits, source []byte) (c compiled) {
	if len(source) > l.Script {
		return compiled{err: errors.New(ScriptLong.Text(l.Script))}
	}
	if c.script, c.err = script.Compile(source); c.err != nil {
		c.err = errors.New("ERR " + c.err.Error())
	}
	return c
}

// numKeys reads the number of keys; false after an error.
func (c *Call) numKeys() (int, bool) {
	n, ok := Int(c.Args[2])
	switch {
	case !ok:
		c.Fail(NotInteger)
	case n > int64(len(c.Args)-3):
		c.Fail(TooManyKeys)
	case n < 0:
		c.Fail(NegativeKeys)
	default:
		return int(n), true
	}
	return 0, false
}

// evalSource is EVAL. A script that is not in the cache is put there by whoever
// holds all shards.
func (c *Call) evalSource(readOnly bool) {
	n, ok := c.numKeys()
	if !ok {
		return
	}
	e := c.caller.engine
	s := e.scripting.cache.bySource[string(c.Args[1])]
	if s == nil {
		if !c.holdsAll() {
			c.wide = true
			return
		}
		made, ahead := c.prepared.(compiled)
		if !ahead {
			made = compileScript(&e.limits, c.Args[1])
		}
		if made.err != nil {
			c.Out.Error(made.err.Error())
			return
		}
		s, _ = e.scripting.cache.add(made.script, false, &e.limits)
	}
	c.runScript(s, n, readOnly)
}

// evalSHA is EVALSHA. Of what cannot be a SHA-1 Redis says so before it counts keys.
func (c *Call) evalSHA(readOnly bool) {
	if len(c.Args[1]) != shaLength {
		c.Fail(NoSuchScript)
		return
	}
	n, ok := c.numKeys()
	if !ok {
		return
	}
	s := c.caller.engine.scripting.cache.find(c.Args[1])
	if s == nil {
		c.Fail(NoSuchScript)
		return
	}
	c.runScript(s, n, readOnly)
}

// runScript runs a script of the cache with n keys.
func (c *Call) runScript(s *cachedScript, n int, readOnly bool) {
	if c.mustWiden(&s.wide) {
		return
	}
	noWrites := slices.Contains(s.Flags(), "no-writes")
	if readOnly && s.HasFlags() && !noWrites {
		c.Fail(ScriptWrites)
		return
	}
	st := c.stage()
	st.readOnly = readOnly || noWrites
	st.run(c, s.SHA(), func() error {
		return st.machine.Run(s.Script, c.Args[3:3+n], c.Args[3+n:], st, c.Out)
	})
}

// mustWiden says whether the call is to start again on all shards, for a script that
// is known to go beyond those of its keys; and remembers it of one that just has.
func (c *Call) mustWiden(known *bool) bool {
	switch {
	case c.reached && c.holdsAll():
		*known = true
	case *known && !c.holdsAll():
		c.wide = true
	}
	return c.wide
}

// scriptContainer is SCRIPT.
func scriptContainer() Command {
	const flags = NoScript
	return Command{
		Name: "SCRIPT", Group: Scripting, Since: "0.1.0", Summary: "A container for commands about the cache of scripts.", Complexity: "O(1), or as its subcommands",
		Reply: "depends on the subcommand", Examples: []Example{{"SCRIPT NOSUCH", "(error) ERR unknown subcommand 'NOSUCH'. Try SCRIPT HELP."}},
		Subs: []Command{
			{
				Name: "LOAD", Group: Scripting, Since: "0.1.0", Summary: "Puts a script into the cache.", Complexity: "O(N) with N the length of the script",
				Flags: flags | Stale, Scope: EveryShard, Prepare: func(l *Limits, args [][]byte) any { return compileScript(l, args[2]) },
				Args: []Arg{{Name: "script", Type: String}}, Run: runScriptLoad,
				Reply: "bulk string: the SHA-1 of the script, in hex", Examples: []Example{{"SCRIPT LOAD \"return 1\"", "\"e0e1f9fabfc9d4800c877a703b823ac0578ff8db\""}},
			},
			{
				Name: "EXISTS", Group: Scripting, Since: "0.1.0", Summary: "Says which scripts are in the cache.", Complexity: "O(N) with N the scripts asked about",
				Flags: flags, Scope: EveryShard, Args: []Arg{{Name: "sha1", Type: String, Multiple: true}}, Run: runScriptExists,
				Reply: "array: 1 or 0 for each", Examples: []Example{{"SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "1) (integer) 0"}},
			},
			{
				Name: "FLUSH", Group: Scripting, Since: "0.1.0", Summary: "Empties the cache.", Complexity: "O(N) with N the scripts in it",
				Flags: flags, Scope: EveryShard, Args: []Arg{{Name: "flush_type", Type: OneOf, Optional: true, Args: []Arg{
					{Name: "async", Type: PureToken, Token: "ASYNC"}, {Name: "sync", Type: PureToken, Token: "SYNC"}}}}, Run: runScriptFlush,
				Reply: "OK", Examples: []Example{{"SCRIPT FLUSH", "OK"}},
			},
			{
				Name: "KILL", Group: Scripting, Since: "0.1.0", Summary: "Stops the scripts that run.", Complexity: "O(1)",
				Flags: flags, Scope: Here, Run: runScriptKill, Notes: "What a script has changed is taken back, so that one that writes can be killed too, unlike in Redis.",
				Reply: "OK", Examples: []Example{{"SCRIPT KILL", "(error) NOTBUSY No scripts in execution right now."}},
			},
			{
				Name: "HELP", Group: Scripting, Since: "0.1.0", Summary: "Prints this help.", Complexity: "O(1)", Flags: Loading | Stale, Scope: Here, Run: (*Call).Help,
				Reply: "array: lines of text",
			},
		},
	}
}

func runScriptLoad(c *Call) {
	e := c.caller.engine
	made := compileScript(&e.limits, c.Args[2])
	if made.err != nil {
		c.Out.Error(made.err.Error())
		return
	}
	if _, fits := e.scripting.cache.add(made.script, true, &e.limits); !fits {
		c.Fail(ScriptCacheFull, e.limits.ScriptCache)
		return
	}
	c.Out.BulkString(made.script.SHA())
}

func runScriptExists(c *Call) {
	c.Out.Array(len(c.Args) - 2)
	for _, sha := range c.Args[2:] {
		found := c.caller.engine.scripting.cache.find(sha) != nil
		c.Out.Int(bit(found))
	}
}

func runScriptFlush(c *Call) {
	if !c.flushOption() {
		c.Fail(ScriptFlushOption)
		return
	}
	c.caller.engine.scripting.cache = newScriptCache()
	c.Out.OK()
}

// flushOption says whether the option of SCRIPT FLUSH or FUNCTION FLUSH is one.
func (c *Call) flushOption() bool {
	return len(c.Args) == 2 || len(c.Args) == 3 && (EqualFold(c.Args[2], "SYNC") || EqualFold(c.Args[2], "ASYNC"))
}

func runScriptKill(c *Call) {
	if !c.caller.engine.scripting.kill() {
		c.Fail(NotBusy)
		return
	}
	c.Out.OK()
}

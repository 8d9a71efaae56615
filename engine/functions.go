package engine

import (
	"errors"
	"maps"
	"slices"

	"github.com/limitstore/limitstore/engine/script"
)

// library is a loaded library and the functions it registers.
type library struct {
	*script.Library
	functions []script.Function
	wide      bool // a function of it has gone beyond the shards of its keys
}

// functions are the loaded libraries. They are read by whoever holds a shard and
// changed by whoever holds them all.
type functions struct {
	libraries map[string]*library
	byName    map[string]*library // by the name of a function
	bytes     int                 // of all, as the cache of scripts counts them
}

func newFunctions() functions {
	return functions{libraries: map[string]*library{}, byName: map[string]*library{}}
}

// libraryCost is what a library counts for.
func libraryCost(l *script.Library) int { return 8*len(l.Source()) + 1<<10 }

// conflict is the first of the new functions that another library has.
func (f *functions) conflict(l *library) string {
	for i := range l.functions {
		if other := f.byName[l.functions[i].Name]; other != nil && other.Name() != l.Name() {
			return l.functions[i].Name
		}
	}
	return ""
}

func (f *functions) add(l *library) {
	f.remove(l.Name())
	f.libraries[l.Name()] = l
	f.bytes += libraryCost(l.Library)
	for i := range l.functions {
		f.byName[l.functions[i].Name] = l
	}
}

// remove drops a library and says whether there was one.
func (f *functions) remove(name string) bool {
	l := f.libraries[name]
	if l == nil {
		return false
	}
	delete(f.libraries, name)
	f.bytes -= libraryCost(l.Library)
	for i := range l.functions {
		delete(f.byName, l.functions[i].Name)
	}
	return true
}

// function is the function of a library with that name.
func (l *library) function(name string) *script.Function {
	for i := range l.functions {
		if l.functions[i].Name == name {
			return &l.functions[i]
		}
	}
	return nil
}

// functionCommands are FCALL and FUNCTION.
func functionCommands() []Command {
	const flags = NoScript | Stale | MayReplicate | Scripted
	fcall := func(name, summary string, more Flags, readOnly bool, notes string) Command {
		return Command{
			Name: name, Group: Scripting, Since: "0.1.0", Summary: summary, Complexity: "O(N) with N what the function does", Keys: scriptKeys,
			Flags: flags | more, Args: scriptArgs("function"), Reply: "depends on the function", Notes: notes,
			Examples: []Example{{name + " nosuch 0", "(error) ERR Function not found"}}, Run: func(c *Call) { c.callFunction(readOnly) },
		}
	}
	return []Command{
		fcall("FCALL", "Calls a function of a library.", 0, false, "A library runs anew for each call, so its locals keep nothing from one call to the next. Keys, limits and errors are those of EVAL."),
		fcall("FCALL_RO", "Calls a function that changes nothing.", ReadOnly, true, ""),
		functionContainer(),
	}
}

// callFunction is FCALL.
func (c *Call) callFunction(readOnly bool) {
	l := c.caller.engine.scripting.functions.byName[string(c.Args[1])]
	if l == nil {
		c.Fail(NoSuchFunction)
		return
	}
	if _, ok := Int(c.Args[2]); !ok {
		c.Fail(BadNumKeys)
		return
	}
	n, ok := c.numKeys()
	if !ok {
		return
	}
	f := l.function(string(c.Args[1]))
	if readOnly && !f.Has("no-writes") {
		c.Fail(ScriptWrites)
		return
	}
	if c.mustWiden(&l.wide) {
		return
	}
	st := c.stage()
	st.readOnly = f.Has("no-writes")
	st.run(c, f.Name, func() error {
		return st.machine.Call(l.Library, f.Name, c.Args[3:3+n], c.Args[3+n:], st, c.Out)
	})
}

// functionContainer is FUNCTION.
func functionContainer() Command {
	sub := func(name, summary string, flags Flags, scope Scope, run func(*Call), reply string, args []Arg, examples ...Example) Command {
		return Command{
			Name: name, Group: Scripting, Since: "0.1.0", Summary: summary, Complexity: "O(N) with N the functions it is about",
			Flags: flags | NoScript, Scope: scope, Run: run, Reply: reply, Args: args, Examples: examples,
		}
	}
	const source = "\"#!lua name=limits\\nredis.register_function('hit', function(keys) return redis.call('INCR', keys[1]) end)\""
	load := sub("LOAD", "Loads a library.", Write|DenyOOM, EveryShard, runFunctionLoad, "bulk string: the name of the library",
		[]Arg{{Name: "replace", Type: PureToken, Token: "REPLACE", Optional: true}, {Name: "function_code", Type: String}},
		Example{"FUNCTION LOAD REPLACE " + source, "\"limits\""}, Example{"FCALL hit 1 key", "(integer) 1"})
	help := sub("HELP", "Prints this help.", 0, Here, (*Call).Help, "array: lines of text", nil)
	help.Flags = Loading | Stale
	return Command{
		Name: "FUNCTION", Group: Scripting, Since: "0.1.0", Summary: "A container for commands about functions.", Complexity: "O(1), or as its subcommands",
		Reply: "depends on the subcommand", Examples: []Example{{"FUNCTION NOSUCH", "(error) ERR unknown subcommand 'NOSUCH'. Try FUNCTION HELP."}},
		Subs: []Command{
			load,
			sub("LIST", "Lists libraries and their functions.", 0, EveryShard, runFunctionList, "array of maps: of each library its name, engine and functions, with WITHCODE its source",
				[]Arg{{Name: "library-name-pattern", Type: Pattern, Token: "LIBRARYNAME", Optional: true}, {Name: "withcode", Type: PureToken, Token: "WITHCODE", Optional: true}},
				Example{"FUNCTION LIST LIBRARYNAME nosuch* WITHCODE", "(empty array)"}),
			sub("DELETE", "Deletes a library and its functions.", Write, EveryShard, runFunctionDelete, "OK", []Arg{{Name: "library-name", Type: String}},
				Example{"FUNCTION DELETE nosuch", "(error) ERR Library not found"}),
			sub("FLUSH", "Deletes all libraries.", Write, EveryShard, runFunctionFlush, "OK", []Arg{{Name: "flush_type", Type: OneOf, Optional: true, Args: []Arg{
				{Name: "async", Type: PureToken, Token: "ASYNC"}, {Name: "sync", Type: PureToken, Token: "SYNC"}}}},
				Example{"FUNCTION FLUSH ASYNC", "OK"}, Example{"FUNCTION FLUSH SYNC", "OK"}),
			sub("STATS", "Tells how many libraries and functions there are.", 0, EveryShard, runFunctionStats, "map: running_script, always nil here, and the engine LUA with its counts", nil,
				Example{"FUNCTION STATS", "1) \"running_script\"\n2) (nil)\n3) \"engines\"\n4) 1) \"LUA\"\n   2) 1) \"libraries_count\"\n      2) (integer) 0\n      3) \"functions_count\"\n      4) (integer) 0"}),
			sub("KILL", "Stops the scripts and functions that run.", 0, Here, runScriptKill, "OK", nil,
				Example{"FUNCTION KILL", "(error) NOTBUSY No scripts in execution right now."}),
			help,
		},
	}
}

func runFunctionLoad(c *Call) {
	e := c.caller.engine
	replace := false
	for _, word := range c.Args[2 : len(c.Args)-1] {
		if replace = EqualFold(word, "REPLACE"); !replace {
			c.Fail(UnknownOptionGiven, Printable(word))
			return
		}
	}
	source := c.Args[len(c.Args)-1]
	if len(source) > e.limits.Script {
		c.Fail(ScriptLong, e.limits.Script)
		return
	}
	l, err := c.loadLibrary(source, replace)
	if err != nil {
		c.Out.Error(err.Error())
		return
	}
	e.scripting.functions.add(l)
	c.Out.BulkString(l.Name())
}

// loadLibrary makes a library of a source that may be added.
func (c *Call) loadLibrary(source []byte, replace bool) (*library, error) {
	e := c.caller.engine
	made, err := script.CompileLibrary(source)
	if err != nil {
		return nil, errors.New("ERR " + err.Error())
	}
	known := &e.scripting.functions
	if known.libraries[made.Name()] != nil && !replace {
		return nil, errors.New(LibraryExists.Text(made.Name()))
	}
	if known.bytes+libraryCost(made) > e.limits.ScriptCache {
		return nil, errors.New(ScriptCacheFull.Text(e.limits.ScriptCache))
	}
	l := &library{Library: made}
	st := c.stage()
	st.open()
	if l.functions, err = st.load(made); err != nil {
		var failed *script.Error
		if errors.As(err, &failed) {
			return nil, errors.New(failed.Text)
		}
		return nil, errors.New(stoppedText(&e.limits, err))
	}
	if name := known.conflict(l); name != "" {
		return nil, errors.New(FunctionExists.Text(name))
	}
	return l, nil
}

func runFunctionList(c *Call) {
	pattern, code := []byte("*"), false
	for i := 2; i < len(c.Args); i++ {
		switch {
		case EqualFold(c.Args[i], "WITHCODE") && !code:
			code = true
		case EqualFold(c.Args[i], "LIBRARYNAME") && i+1 < len(c.Args):
			i++
			pattern = c.Args[i]
		case EqualFold(c.Args[i], "LIBRARYNAME"):
			c.Fail(LibraryNameMissing)
			return
		default:
			c.Fail(UnknownArgument, Printable(c.Args[i]))
			return
		}
	}
	known := c.caller.engine.scripting.functions.libraries
	var shown []*library
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if Match(pattern, []byte(name)) {
			shown = append(shown, known[name])
		}
	}
	c.Out.Array(len(shown))
	for _, l := range shown {
		c.describeLibrary(l, code)
	}
}

// describeLibrary is an element of FUNCTION LIST.
func (c *Call) describeLibrary(l *library, code bool) {
	c.Out.Map(3 + int(bit(code)))
	c.Out.BulkString("library_name")
	c.Out.BulkString(l.Name())
	c.Out.BulkString("engine")
	c.Out.BulkString("LUA")
	c.Out.BulkString("functions")
	c.Out.Array(len(l.functions))
	for i := range l.functions {
		f := &l.functions[i]
		c.Out.Map(3)
		c.Out.BulkString("name")
		c.Out.BulkString(f.Name)
		c.Out.BulkString("description")
		if f.Description == "" {
			c.Out.Null()
		} else {
			c.Out.BulkString(f.Description)
		}
		c.Out.BulkString("flags")
		c.Out.Set(len(f.Flags))
		for _, flag := range f.Flags {
			c.Out.SimpleString(flag)
		}
	}
	if code {
		c.Out.BulkString("library_code")
		c.Out.Bulk(l.Source())
	}
}

func runFunctionDelete(c *Call) {
	if !c.caller.engine.scripting.functions.remove(string(c.Args[2])) {
		c.Fail(NoSuchLibrary)
		return
	}
	c.Out.OK()
}

func runFunctionFlush(c *Call) {
	if !c.flushOption() {
		c.Fail(FunctionFlushOption)
		return
	}
	c.caller.engine.scripting.functions = newFunctions()
	c.Out.OK()
}

func runFunctionStats(c *Call) {
	known := &c.caller.engine.scripting.functions
	c.Out.Map(2)
	c.Out.BulkString("running_script")
	c.Out.Null()
	c.Out.BulkString("engines")
	c.Out.Map(1)
	c.Out.BulkString("LUA")
	c.Out.Map(2)
	c.Out.BulkString("libraries_count")
	c.Out.Int(int64(len(known.libraries)))
	c.Out.BulkString("functions_count")
	c.Out.Int(int64(len(known.byName)))
}

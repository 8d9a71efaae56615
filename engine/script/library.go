package script

import (
	"bytes"
	"slices"
	"strings"

	"github.com/limitstore/limitstore/resp"
)

// libraryChunk is what Redis calls a library in messages.
const libraryChunk = "user_function"

// Library is a compiled library: a source that registers functions when it runs.
// It is never changed: any number of machines may use it at once. It runs anew for
// each call of a function, so that its locals keep nothing from one call to the next:
// what is the same on every shard and every replica is the source alone.
type Library struct {
	name   string
	source []byte
	main   *function
}

// Name is the name that the first line gives.
func (l *Library) Name() string { return l.name }

// Source is the source as it was given.
func (l *Library) Source() []byte { return l.source }

// Function is a function as its library registers it.
type Function struct {
	Name        string
	Description string
	Flags       []string

	callback value
}

// Has says whether the function has a flag.
func (f *Function) Has(flag string) bool {
	return slices.Contains(f.Flags, flag)
}

const errLibraryName = redisText("Library names can only contain letters, numbers, or underscores(_) and must be at least one character long")

// CompileLibrary compiles a source that begins with a line as "#!lua name=limits".
// Its errors are worded as Redis words them, without the code ERR.
func CompileLibrary(source []byte) (*Library, error) {
	l := &Library{source: bytes.Clone(source)}
	code, err := l.metadata(l.source)
	if err != nil {
		return nil, err
	}
	p, err := compile("@"+libraryChunk, libraryChunk, code)
	if err != nil {
		return nil, redisText("Error compiling function: " + err.Error())
	}
	l.main = &function{proto: p}
	l.main.kind, l.main.fn = kindFunction, l.main
	return l, nil
}

// metadata reads the first line and returns what follows it. The line's end stays,
// so that lines count from it.
func (l *Library) metadata(src []byte) ([]byte, error) {
	if !bytes.HasPrefix(src, []byte("#!")) {
		return nil, redisText("Missing library metadata")
	}
	end := bytes.IndexByte(src, '\n')
	if end < 0 {
		return nil, redisText("Invalid library metadata")
	}
	words := strings.Fields(string(src[2:end]))
	if len(words) == 0 || !strings.EqualFold(words[0], "lua") {
		return nil, redisText("Engine '" + strings.Join(words[:min(1, len(words))], "") + "' not found")
	}
	for _, word := range words[1:] {
		name, ok := strings.CutPrefix(word, "name=")
		switch {
		case !ok:
			return nil, redisText("Invalid metadata value given: " + word)
		case l.name != "":
			return nil, redisText("Invalid metadata value, name argument was given multiple times")
		case !validName(name):
			return nil, errLibraryName
		}
		l.name = name
	}
	if l.name == "" {
		return nil, redisText("Library name was not given")
	}
	return src[end:], nil
}

// validName says whether a library or a function may have the name.
func validName(name string) bool {
	for _, c := range []byte(name) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	return name != ""
}

// Load runs a library and returns the functions that it registers.
func (m *Machine) Load(l *Library) (functions []Function, err error) {
	var none resp.Writer
	err = m.guarded(nil, &none, func() { functions = slices.Clone(m.register(l)) })
	if err == nil && len(functions) == 0 {
		err = &Error{Text: "ERR No functions registered"}
	} else if failed, ok := err.(*Error); ok {
		err = &Error{Text: "ERR Error registering functions: " + failed.Text}
	}
	for i := range functions {
		functions[i].callback = value{}
	}
	return functions, err
}

// register runs a library while functions can be registered.
func (m *Machine) register(l *Library) []Function {
	m.globals.set(m.keysName, value{})
	m.globals.set(m.argvName, value{})
	m.setRedis(m.loadTable)
	defer m.setRedis(m.redisTable)
	m.registered = m.registered[:0]
	m.main.invoke(value{o: &l.main.obj}, nil)
	return m.registered
}

// setRedis makes tab what scripts call redis and server.
func (m *Machine) setRedis(tab *table) {
	m.globals.set(m.redisName, value{o: &tab.obj})
	m.globals.set(m.serverName, value{o: &tab.obj})
}

// Call runs a function of a library as Run runs a script; the function is given
// two tables, keys and arguments. name is one that Load returned.
func (m *Machine) Call(l *Library, name string, keys, args [][]byte, host Host, out *resp.Writer) error {
	return m.guarded(host, out, func() {
		for _, f := range m.register(l) {
			if f.Name == name {
				given := [2]value{m.list(keys), m.list(args)}
				result := first(m.main.invoke(f.callback, given[:]))
				(&replier{m: m, out: out}).write(result, 0)
				return
			}
		}
		m.main.raiseText("Function not found")
	})
}

// registerFunction is redis.register_function: a name and a function, or a table
// that names them.
func registerFunction(t *thread, args []value) []value {
	var f Function
	switch {
	case len(args) == 1 && args[0].table() != nil:
		f = t.functionOf(args[0].table())
	case len(args) == 2:
		f = Function{Name: t.functionName(args[0]), callback: args[1]}
		if f.callback.function() == nil {
			t.raiseText("second argument to redis.register_function must be a function")
		}
	default:
		t.raiseText("wrong number of arguments to redis.register_function")
	}
	for _, other := range t.m.registered {
		if other.Name == f.Name {
			t.raiseText("Function already exists in the library")
		}
	}
	t.m.registered = append(t.m.registered, f)
	return nil
}

// functionName is the name that v gives a function.
func (t *thread) functionName(v value) string {
	if !v.isString() {
		t.raiseText("first argument to redis.register_function must be a string")
	}
	name := string(v.o.str)
	if !validName(name) {
		t.raiseText(string(errLibraryName))
	}
	return name
}

// functionOf reads a function from the table of its parts.
func (t *thread) functionOf(tab *table) (f Function) {
	for k, v, _ := tab.next(value{}); !k.isNil(); k, v, _ = tab.next(k) {
		if !k.isString() {
			t.raiseText("named argument key given to redis.register_function is not a string")
		}
		switch string(k.o.str) {
		case "function_name":
			f.Name = t.functionName(v)
		case "description":
			if !v.isString() {
				t.raiseText("description argument given to redis.register_function must be a string")
			}
			f.Description = string(v.o.str)
		case "callback":
			if v.function() == nil {
				t.raiseText("callback argument given to redis.register_function must be a function")
			}
			f.callback = v
		case "flags":
			f.Flags = t.functionFlags(v)
		default:
			t.raiseText("unknown argument given to redis.register_function")
		}
	}
	if f.Name == "" {
		t.raiseText("redis.register_function must get a function name argument")
	}
	if f.callback.isNil() {
		t.raiseText("redis.register_function must get a callback argument")
	}
	return f
}

// functionFlags are the flags in a table.
func (t *thread) functionFlags(v value) (flags []string) {
	tab := v.table()
	if tab == nil {
		t.raiseText("flags argument to redis.register_function must be a table representing function flags")
	}
	for i := 1; ; i++ {
		item := tab.getInt(i)
		if item.isNil() {
			return flags
		}
		if !item.isString() || !slices.Contains(knownFlags, string(item.o.str)) {
			t.raiseText("unknown flag given")
		}
		flags = append(flags, string(item.o.str))
	}
}

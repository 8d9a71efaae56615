package script

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"
)

// redisLibrary makes the table redis, which is also called server.
func (m *Machine) redisLibrary() *table {
	tab := m.library(map[string]builtin{
		"call": redisCall, "pcall": redisPcall, "error_reply": errorReply, "status_reply": statusReply, "sha1hex": sha1hex,
		"log": redisLog, "setresp": setResp, "replicate_commands": replicateCommands, "set_repl": setRepl,
		"breakpoint": breakpoint, "debug": redisDebug, "acl_check_cmd": aclCheck,
	})
	for name, n := range map[string]float64{
		"LOG_DEBUG": 0, "LOG_VERBOSE": 1, "LOG_NOTICE": 2, "LOG_WARNING": 3, "REPL_NONE": 0, "REPL_AOF": 1, "REPL_SLAVE": 2,
		"REPL_REPLICA": 2, "REPL_ALL": 3, "REDIS_VERSION_NUM": versionNumber(m.options.Version),
	} {
		tab.set(constant(name), number(n))
	}
	tab.set(constant("REDIS_VERSION"), constant(m.options.Version))
	return tab
}

// registerLibrary is redis while a library registers its functions: it cannot call
// commands.
func (m *Machine) registerLibrary() *table {
	tab := m.redisLibrary()
	tab.set(constant("call"), value{})
	tab.set(constant("pcall"), value{})
	tab.set(constant("register_function"), m.heap.native(registerFunction))
	tab.readonly = true
	return tab
}

// versionNumber is a version as 0x00MMmmpp.
func versionNumber(version string) (n float64) {
	for _, part := range strings.Split(version, ".") {
		v, _ := strconv.Atoi(part)
		n = n*256 + float64(v)
	}
	return n
}

// keepBytes is the largest buffer for commands and replies that a machine keeps.
const keepBytes = 64 << 10

// commandBuffers hold a command and its reply.
type commandBuffers struct {
	text  []byte
	ends  []int
	args  [][]byte
	reply []byte
}

// errorTable is the table for an error reply.
func (t *thread) errorTable(text string) *table {
	text = strings.Trim(text, "\r\n")
	code, message, ok := strings.Cut(strings.TrimPrefix(text, "-"), " ")
	if !ok || text[0] != '-' {
		code, message = "ERR", strings.TrimPrefix(text, "-")
	}
	tab := t.heap.table(0, 0)
	tab.setText("err", t.heap.text(code+" "+message))
	return tab
}

// redisCall runs a command and raises the error it answers.
func redisCall(t *thread, args []value) []value {
	v, failed := t.command(args)
	if failed {
		t.throw(v)
	}
	return t.one(v)
}

// redisPcall runs a command and returns the error it answers.
func redisPcall(t *thread, args []value) []value {
	v, _ := t.command(args)
	return t.one(v)
}

// command runs a command and makes a value of its reply.
func (t *thread) command(args []value) (v value, failed bool) {
	c := &t.m.call
	if wrong := c.fill(args); wrong != "" {
		return value{o: &t.errorTable(wrong).obj}, true
	}
	t.m.spend(callSteps)
	t.m.hosted = true
	c.reply = t.m.host.Call(c.args, t.m.version, c.reply[:0])
	t.m.hosted = false
	failed = len(c.reply) > 0 && c.reply[0] == '-'
	r := replyReader{t: t, data: c.reply}
	v = r.read()
	if cap(c.reply) > keepBytes || cap(c.text) > keepBytes {
		*c = commandBuffers{}
	}
	return v, failed
}

// callSteps is how many steps a command counts for.
const callSteps = 50

// fill makes a command of args, or says what is wrong with them.
func (c *commandBuffers) fill(args []value) string {
	if len(args) == 0 {
		return "Please specify at least one argument for this redis lib call"
	}
	c.text, c.ends, c.args = c.text[:0], c.ends[:0], c.args[:0]
	for _, v := range args {
		switch {
		case v.isNumber():
			c.text = appendArgument(c.text, v.n)
		case v.isString():
			c.text = append(c.text, v.o.str...)
		default:
			return "Lua redis lib command arguments must be strings or integers"
		}
		c.ends = append(c.ends, len(c.text))
	}
	begin := 0
	for _, end := range c.ends {
		c.args = append(c.args, c.text[begin:end:end])
		begin = end
	}
	return ""
}

// soleString is the only argument, a string; false for anything else.
func soleString(args []value) (string, bool) {
	if len(args) != 1 || !args[0].isString() {
		return "", false
	}
	return string(args[0].o.str), true
}

func errorReply(t *thread, args []value) []value {
	text, ok := soleString(args)
	if !ok {
		text = "wrong number or type of arguments"
	} else if !strings.HasPrefix(text, "-") {
		text = "-" + text
	}
	return t.one(value{o: &t.errorTable(text).obj})
}

func statusReply(t *thread, args []value) []value {
	text, ok := soleString(args)
	if !ok {
		return t.one(value{o: &t.errorTable("wrong number or type of arguments").obj})
	}
	return t.one(t.single("ok", t.heap.text(text)))
}

// single makes a table with one field.
func (t *thread) single(name string, v value) value {
	tab := t.heap.table(0, 0)
	tab.setText(name, v)
	return value{o: &tab.obj}
}

// raiseText raises an error table with a text.
func (t *thread) raiseText(text string) { t.throw(value{o: &t.errorTable(text).obj}) }

func sha1hex(t *thread, args []value) []value {
	if len(args) != 1 {
		t.raiseText("wrong number of arguments")
	}
	text := appendText(nil, arg(args, 0).orEmpty())
	t.m.spend(len(text) / bytesPerStep)
	sum := sha1.Sum(text)
	return t.one(t.heap.text(hex.EncodeToString(sum[:])))
}

// orEmpty is v if it is a string or a number, else the empty string.
func (v value) orEmpty() value {
	if isText(v) {
		return v
	}
	return emptyString
}

func redisLog(t *thread, args []value) []value {
	if len(args) < 2 {
		t.raiseText("redis.log() requires two arguments or more.")
	}
	if !args[0].isNumber() {
		t.raiseText("First argument must be a number (log level).")
	}
	level := int(args[0].n)
	if level < 0 || level > 3 {
		t.raiseText("Invalid debug level.")
	}
	var words [][]byte
	for _, v := range args[1:] {
		words = append(words, appendText(nil, v.orEmpty()))
	}
	line := bytes.Join(words, []byte(" "))
	t.heap.take(len(line))
	t.m.host.Log(level, string(line))
	return nil
}

func setResp(t *thread, args []value) []value {
	if len(args) != 1 {
		t.raiseText("redis.setresp() requires one argument.")
	}
	n, _ := toNumber(args[0])
	if version := int(n); version != 2 && version != 3 {
		t.raiseText("RESP version must be 2 or 3.")
	} else {
		t.m.version = version
	}
	return nil
}

func replicateCommands(t *thread, _ []value) []value { return t.one(boolean(true)) }

// setRepl takes what Redis takes; effects are always replicated.
func setRepl(t *thread, args []value) []value {
	if len(args) != 1 {
		t.raiseText("redis.set_repl() requires two arguments.")
	}
	n, _ := toNumber(args[0])
	if flags := int(n); flags&^3 != 0 {
		t.raiseText("Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
	}
	return nil
}

// breakpoint returns false, as without a debugger.
func breakpoint(t *thread, _ []value) []value { return t.one(boolean(false)) }

// redisDebug does nothing, as without a debugger.
func redisDebug(*thread, []value) []value { return nil }

func aclCheck(t *thread, args []value) []value {
	c := &t.m.call
	if wrong := c.fill(args); wrong != "" {
		t.raiseText(wrong)
	}
	allowed, exists := t.m.host.Allowed(c.args)
	if !exists {
		t.raiseText("Invalid command passed to redis.acl_check_cmd()")
	}
	return t.one(boolean(allowed))
}

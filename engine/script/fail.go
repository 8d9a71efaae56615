package script

import (
	"errors"
	"fmt"
)

// Why a script was stopped. No pcall catches these.
var (
	// ErrSteps says that a script ran too many instructions.
	ErrSteps = errors.New("script ran too many instructions")
	// ErrBytes says that a script took too much memory.
	ErrBytes = errors.New("script took too much memory")
	// ErrDuration says that a script ran too long.
	ErrDuration = errors.New("script ran too long")
	// ErrFailed says that the machine itself is at fault.
	ErrFailed = errors.New("the script engine failed")
	// ErrKilled says that a script was ended by SCRIPT KILL.
	ErrKilled = redisText("Error running script, script killed by user with SCRIPT KILL.")
)

// redisText is an error in Redis' words.
type redisText string

// Error returns the words.
func (e redisText) Error() string { return string(e) }

// stop ends a run from wherever it is.
type stop struct{ err error }

// thrown is a Lua error on its way to a pcall or to the end of the run.
type thrown struct {
	v      value
	source string // of the nearest Lua function, "" when there was none
	line   int
}

// throw raises v.
func (t *thread) throw(v value) {
	e := &thrown{v: v}
	if f := t.luaFrame(); f != nil {
		e.source, e.line = f.proto.source, t.lineAt(f)
	}
	panic(e)
}

// fail raises a message with the place where the script is.
func (t *thread) fail(format string, words ...any) {
	t.throw(t.heap.text(t.where(1) + fmt.Sprintf(format, words...)))
}

// failBare raises a message without a place.
func (t *thread) failBare(message string) { t.throw(t.heap.text(message)) }

// luaFrame is the innermost frame of a Lua function, or nil.
func (t *thread) luaFrame() *frame {
	f := t.frame
	for f != nil && f.native {
		f = f.prev
	}
	return f
}

func (t *thread) lineAt(f *frame) int {
	if f == nil || f.native || f.pc == 0 {
		return 0
	}
	return int(f.proto.lines[f.pc-1])
}

// where is "chunk:line: " of the function at a level, 1 being the one that runs
// or calls a builtin; "" when that is no Lua function.
func (t *thread) where(level int) string {
	if t.bare {
		return ""
	}
	f := t.frame
	for ; f != nil && level > 1; level-- {
		if level -= f.tails; level <= 1 {
			return ""
		}
		f = f.prev
	}
	if line := t.lineAt(f); line > 0 {
		return fmt.Sprintf("%s:%d: ", f.proto.chunk, line)
	}
	return ""
}

// symbolOf is how a message names an operand of the current instruction.
func (t *thread) symbolOf(operand int) symbol {
	if f := t.frame; f != nil && !f.native && f.pc > 0 {
		if s := f.proto.symbols[f.pc-1]; operand < len(s) {
			return s[operand]
		}
	}
	return symbol{}
}

// failType complains that an operand has a type with which something cannot be
// done.
func (t *thread) failType(v value, operand int, what string) {
	if s := t.symbolOf(operand); s.what != "" {
		t.fail("attempt to %s %s '%s' (a %s value)", what, s.what, s.name, v.typeName())
	}
	t.fail("attempt to %s a %s value", what, v.typeName())
}

// callee is how the script names the builtin that it calls.
func (t *thread) callee() symbol {
	if f := t.frame; f != nil && !f.native && f.pc > 0 {
		switch f.code[f.pc-1].op {
		case opCall, opCallOpen, opTailCall, opTailCallOpen, opForIn:
			return t.symbolOf(0)
		}
	}
	return symbol{}
}

// failArg complains about argument i of a builtin, counted from 0.
func (t *thread) failArg(i int, format string, words ...any) {
	message := fmt.Sprintf(format, words...)
	s := t.callee()
	if s.what == "method" {
		if i == 0 {
			t.fail("calling '%s' on bad self (%s)", s.name, message)
		}
		i--
	}
	if s.name == "" {
		s.name = "?"
	}
	t.fail("bad argument #%d to '%s' (%s)", i+1, s.name, message)
}

// failWant complains that argument i is not of the wanted type.
func (t *thread) failWant(args []value, i int, want string) {
	got := "no value"
	if i < len(args) {
		got = args[i].typeName()
	}
	t.failArg(i, "%s expected, got %s", want, got)
}

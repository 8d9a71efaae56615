package script

// The depths that Lua 5.1 takes.
const (
	maxDepth  = 16380 // functions that have been called and have not returned
	maxNested = 200   // of them by builtins and metamethods
	maxValues = 8000  // values on the stack of a builtin
)

// segment is the least number of values that a stack grows by.
const segment = 2048

// mark is a place in a stack.
type mark struct{ segment, used int }

// stack gives frames their registers. It grows by segments, so that registers
// never move.
type stack struct {
	segments [][]value
	mark
	high int // what was used of the first segment
}

func (s *stack) take(n int, h *heap) []value {
	if len(s.segments) == 0 {
		s.segments = append(s.segments, make([]value, max(n, segment)))
	}
	if s.used+n > len(s.segments[s.segment]) {
		s.segment++
		s.used = 0
		if s.segment == len(s.segments) {
			s.segments = append(s.segments, nil)
		}
		if n > len(s.segments[s.segment]) {
			h.take(max(n, segment) * valueSize)
			s.segments[s.segment] = make([]value, max(n, segment))
		}
	}
	s.used += n
	if s.segment == 0 && s.used > s.high {
		s.high = s.used
	}
	return s.segments[s.segment][s.used-n : s.used : s.used]
}

// push makes a frame for a call.
func (t *thread) push() *frame {
	if t.depth++; t.depth > maxDepth {
		t.fail("stack overflow")
	}
	var f *frame
	switch {
	case t.frame == nil:
		f = &t.first
	case t.frame.next != nil:
		f = t.frame.next
	default:
		f = &frame{prev: t.frame}
		t.frame.next = f
		t.heap.take(frameSize)
	}
	f.mark = t.stack.mark
	f.native, f.boundary, f.tails, f.pc = false, false, 0, 0
	return f
}

// frameSize is what a frame is counted as.
const frameSize = 256

// enter makes f the frame of a Lua function.
func (t *thread) enter(f *frame, fn *function, args []value) {
	p := fn.proto
	t.m.spend(len(p.code))
	f.proto, f.code, f.consts, f.boxes = p, p.code, p.consts, fn.boxes
	extra := 0
	if p.vararg && len(args) > p.params {
		extra = len(args) - p.params
	}
	memory := t.stack.take(extra+p.regs+1, t.heap)
	f.varargs, f.regs = memory[:extra], memory[extra:]
	if len(args) > p.params {
		copy(f.varargs, args[p.params:])
		args = args[:p.params]
	}
	n := copy(f.regs, args)
	if n < p.params {
		clear(f.regs[n:p.params])
	}
	t.frame = f
}

// pop takes the innermost frame away.
func (t *thread) pop() {
	f := t.frame
	t.stack.mark = f.mark
	t.depth--
	t.frame = f.prev
}

// call runs the instruction for a call and returns the frame that goes on.
func (t *thread) call(f *frame, i *instr) *frame {
	args := f.regs[int(i.a)+1 : int(i.a)+1+int(i.b)]
	if i.op == opCallOpen {
		args = t.gather(args)
	}
	fn := f.regs[i.a].function()
	if fn == nil {
		fn, args = t.callable(f.regs[i.a], args)
	}
	if fn.native != nil {
		t.m.spend(1)
		results := fn.native(t, args)
		if t.yielding {
			t.dst, t.want = i.d, i.c // resume delivers there
			return f
		}
		t.deliver(f, uint8(i.d), i.c, results)
		return f
	}
	callee := t.push()
	callee.dst, callee.want = i.d, i.c
	t.enter(callee, fn, args)
	return callee
}

// toReturn as the place of what a resume brings means that it is returned.
const toReturn = -1

// tailCall puts a Lua function into the frame of the one that calls it; nil when
// the run ends.
func (t *thread) tailCall(f *frame, i *instr) *frame {
	args := f.regs[int(i.a)+1 : int(i.a)+1+int(i.b)]
	if i.op == opTailCallOpen {
		args = t.gather(args)
	}
	fn := f.regs[i.a].function()
	if fn == nil {
		fn, args = t.callable(f.regs[i.a], args)
	}
	if fn.native != nil {
		t.m.spend(1)
		results := fn.native(t, args)
		if t.yielding {
			t.dst, t.want = toReturn, 0
			return nil
		}
		return t.leave(f, results)
	}
	t.args = append(t.args[:0], args...)
	t.stack.mark = f.mark
	f.tails++
	f.pc = 0
	t.enter(f, fn, t.args)
	return f
}

// leave returns results from f to the frame that goes on; nil when the run ends.
func (t *thread) leave(f *frame, results []value) *frame {
	t.pop()
	if f.boundary {
		t.multi = append(t.multi[:0], results...)
		return nil
	}
	t.deliver(t.frame, uint8(f.dst), f.want, results)
	return t.frame
}

// deliver puts results where an instruction wants them.
func (t *thread) deliver(f *frame, dst uint8, want uint16, results []value) {
	if want == many {
		t.multi = append(t.multi[:0], results...)
		return
	}
	to := f.regs[dst : int(dst)+int(want)]
	if n := copy(to, results); n < len(to) {
		clear(to[n:])
	}
}

// gather is fixed and the open values in one piece.
func (t *thread) gather(fixed []value) []value {
	if len(fixed) == 0 {
		return t.multi
	}
	t.args = append(append(t.args[:0], fixed...), t.multi...)
	return t.args
}

// callable is what a call of v calls, v being no function.
func (t *thread) callable(v value, args []value) (*function, []value) {
	fn := t.metamethod(v, eventCall).function()
	if fn == nil {
		t.failCall(v)
	}
	return fn, append([]value{v}, args...)
}

func (t *thread) failCall(v value) {
	if t.frame != nil && !t.frame.native && t.frame.code[t.frame.pc-1].op == opForIn {
		t.fail("attempt to call a %s value", v.typeName())
	}
	t.failType(v, 0, "call")
}

// invoke calls fn from Go code and returns its results, which are valid until
// the next call.
func (t *thread) invoke(v value, args []value) []value {
	if t.m.nested++; t.m.nested > maxNested {
		t.m.nested--
		t.fail("C stack overflow")
	}
	bare := t.bare
	t.bare = false
	fn := v.function()
	if fn == nil {
		fn, args = t.callable(v, args)
	}
	results := []value(nil)
	if fn.native != nil {
		t.m.spend(1)
		t.barred++
		results = fn.native(t, args)
		t.barred--
	} else {
		f := t.push()
		f.boundary = true
		t.enter(f, fn, args)
		t.barred++
		t.run()
		t.barred--
		results = t.multi
	}
	t.m.nested--
	t.bare = bare
	return results
}

// callback calls fn for a builtin, which shows as a level of its own.
func (t *thread) callback(v value, args ...value) []value {
	f := t.push()
	f.native = true
	t.frame = f
	results := t.invoke(v, args)
	t.pop()
	return results
}

// protect calls fn and returns the error it raised instead of its results.
func (t *thread) protect(fn func() []value) (results []value, err *thrown) {
	frame, depth, nested, barred, mark := t.frame, t.depth, t.m.nested, t.barred, t.stack.mark
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		caught, ok := r.(*thrown)
		if !ok {
			panic(r)
		}
		t.frame, t.depth, t.m.nested, t.barred, t.stack.mark = frame, depth, nested, barred, mark
		t.bare = false
		err = caught
	}()
	return fn(), nil
}

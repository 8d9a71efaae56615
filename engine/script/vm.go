package script

import "math"

// frame is a function that has been called and has not returned.
type frame struct {
	prev, next *frame // next is kept to be used again
	proto      *proto
	code       []instr
	consts     []value
	regs       []value
	varargs    []value
	boxes      []*box
	pc         int
	dst        int32  // where the caller wants the results
	want       uint16 // how many
	tails      int    // tail calls that lie between it and the frame before
	native     bool   // it stands for a builtin that called a function
	boundary   bool   // its return ends the run that began with it
	mark       mark   // the stack before it
}

// rk reads an operand.
func (f *frame) rk(i uint16) value {
	if i < asConst {
		return f.regs[i]
	}
	return f.consts[i-asConst]
}

// run goes on with the thread's frame until a frame that is a boundary returns,
// or the coroutine yields. The results are the open values then.
func (t *thread) run() {
	f := t.frame
	for {
		i := &f.code[f.pc]
		f.pc++
		switch i.op {
		case opMove:
			f.regs[i.a] = f.regs[i.b]
		case opConst:
			f.regs[i.a] = f.consts[i.d]
		case opGlobal:
			name := f.consts[i.d]
			if f.regs[i.a] = t.m.globals.getString(name.o); f.regs[i.a].o == nil {
				f.regs[i.a] = t.index(value{o: &t.m.globals.obj}, name)
			}
		case opField:
			f.regs[i.a] = t.field(f.regs[i.b], f.consts[i.d])
		case opIndex:
			f.regs[i.a] = t.indexFast(f.regs[i.b], f.rk(i.c))
		case opAdd, opSub, opMul, opDiv, opMod, opPow:
			if a, b := f.rk(i.b), f.rk(i.c); a.isNumber() && b.isNumber() {
				f.regs[i.a] = number(arithmetic(i.op, a.n, b.n))
			} else {
				f.regs[i.a] = t.arith(i.op, a, b)
			}
		case opTest:
			if f.regs[i.b].isFalse() != (i.a != 0) {
				f.pc = int(i.d)
			}
		case opLess, opLessEqual, opEqual:
			if t.compare(i.op, f.rk(i.b), f.rk(i.c)) == (i.a != 0) {
				f.pc = int(i.d)
			}
		case opJump:
			f.pc = int(i.d)
		case opLoop:
			t.m.spend(f.pc - int(i.d))
			f.pc = int(i.d)
		case opForLoop:
			t.forLoop(f, i)
		case opCall, opCallOpen:
			if f = t.call(f, i); t.yielding {
				return
			}
		case opTailCall, opTailCallOpen:
			if f = t.tailCall(f, i); f == nil {
				return
			}
		case opReturn:
			if f = t.leave(f, f.regs[i.a:int(i.a)+int(i.b)]); f == nil {
				return
			}
		case opReturnOpen:
			if f = t.leave(f, t.gather(f.regs[i.a:int(i.a)+int(i.b)])); f == nil {
				return
			}
		default:
			t.step(f, i)
		}
	}
}

// step runs the instructions that are seen less often.
func (t *thread) step(f *frame, i *instr) {
	switch i.op {
	case opNil:
		clear(f.regs[i.a : int(i.b)+1])
	case opBool:
		f.regs[i.a] = boolean(i.b != 0)
	case opSetGlobal:
		t.setIndex(value{o: &t.m.globals.obj}, f.consts[i.d], f.rk(i.b))
	case opUpvalue:
		f.regs[i.a] = f.boxes[i.b].v
	case opSetUpvalue:
		f.boxes[i.d].v = f.rk(i.b)
	case opBox:
		f.regs[i.a] = value{o: &t.heap.box(f.regs[i.a]).obj}
	case opUnbox:
		f.regs[i.a] = f.regs[i.b].o.ref.(*box).v
	case opSetBox:
		f.regs[i.a].o.ref.(*box).v = f.rk(i.b)
	case opSetField:
		t.setIndex(f.regs[i.a], f.consts[i.d], f.rk(i.c))
	case opSetIndex:
		t.setIndex(f.regs[i.a], f.rk(i.b), f.rk(i.c))
	case opSelf:
		object := f.regs[i.b]
		f.regs[i.a] = t.field(object, f.consts[i.d])
		f.regs[i.a+1] = object
	case opTable:
		f.regs[i.a] = value{o: &t.heap.table(int(i.b), int(i.c)).obj}
	case opNot:
		f.regs[i.a] = boolean(f.regs[i.b].isFalse())
	case opNegate:
		f.regs[i.a] = t.negate(f.regs[i.b])
	case opLength:
		f.regs[i.a] = t.lengthOf(f.regs[i.b])
	case opConcat:
		f.regs[i.a] = t.concat(f.regs[i.b : int(i.c)+1])
	case opForPrep:
		t.forPrep(f, i)
	case opForIn:
		t.forIn(f, i)
	case opClosure:
		f.regs[i.a] = t.closure(f, f.proto.protos[i.d])
	case opVararg:
		t.deliver(f, i.a, i.c, f.varargs)
	case opSetList, opSetListOpen:
		t.setList(f, i)
	case opArgTable:
		f.regs[i.a] = t.argTable(f.varargs)
	}
}

// arithmetic computes on numbers.
func arithmetic(op opcode, a, b float64) float64 {
	switch op {
	case opAdd:
		return a + b
	case opSub:
		return a - b
	case opMul:
		return a * b
	case opDiv:
		return a / b
	case opMod:
		return modulo(a, b)
	}
	return orInvalid(math.Pow(a, b), a, b)
}

// modulo is a - floor(a/b)*b, as Lua 5.1 computes it.
func modulo(a, b float64) float64 {
	if x, y := int64(a), int64(b); float64(x) == a && float64(y) == b && y > 0 && x > 0 && x < 1<<53 {
		return float64(x % y)
	}
	return a - math.Floor(a/b)*b
}

// forPrep begins a numeric loop.
func (t *thread) forPrep(f *frame, i *instr) {
	for n, what := range [...]string{"initial value", "limit", "step"} {
		r := &f.regs[int(i.a)+n]
		v, ok := toNumber(*r)
		if !ok {
			t.fail("'for' %s must be a number", what)
		}
		*r = number(v)
	}
	f.regs[i.a].n -= f.regs[i.a+2].n
	f.pc = int(i.d)
}

// forLoop begins the next turn of a numeric loop, or ends it.
func (t *thread) forLoop(f *frame, i *instr) {
	r := f.regs[i.a : int(i.a)+4]
	r[0].n += r[2].n
	if r[2].n > 0 && r[0].n <= r[1].n || r[2].n <= 0 && r[1].n <= r[0].n {
		t.m.spend(f.pc - int(i.d))
		f.pc = int(i.d)
		r[3] = r[0]
	}
}

// forIn begins the next turn of a generic loop, or ends it.
func (t *thread) forIn(f *frame, i *instr) {
	r := f.regs[i.a:]
	var results []value
	if fn := r[0].function(); fn != nil && fn.native != nil {
		t.barred++
		results = fn.native(t, r[1:3])
		t.barred--
	} else {
		results = t.invoke(r[0], r[1:3])
	}
	n := copy(r[3:3+i.c], results)
	clear(r[3+n : 3+i.c])
	if r[3].isNil() {
		f.pc = int(i.d)
		return
	}
	r[2] = r[3]
}

func (t *thread) closure(f *frame, p *proto) value {
	fn := t.heap.closure(p)
	for i, up := range p.upvalues {
		if up.local != nil {
			fn.boxes[i] = f.regs[up.local.reg].o.ref.(*box)
		} else {
			fn.boxes[i] = f.boxes[up.index]
		}
	}
	return value{o: &fn.obj}
}

// setList stores the items of a constructor.
func (t *thread) setList(f *frame, i *instr) {
	tab := f.regs[i.a].table()
	items := f.regs[int(i.a)+1 : int(i.a)+1+int(i.b)]
	if i.op == opSetListOpen {
		items = t.gather(items)
	}
	if last := int(i.d) + len(items); last > len(tab.arr) {
		tab.resize(last, len(tab.nodes))
	}
	copy(tab.arr[i.d:], items)
}

// argTable is what Lua 5.0 had for the arguments that ... stands for.
func (t *thread) argTable(args []value) value {
	tab := t.heap.table(len(args), 1)
	copy(tab.arr, args)
	tab.setText("n", number(float64(len(args))))
	return value{o: &tab.obj}
}

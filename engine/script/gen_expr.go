package script

// rk evaluates e as an operand: a constant, a local's own register or a new one.
func (g *gen) rk(e *expr) uint16 {
	if e.kind == exprConstant {
		if k := g.constant(e.val); k <= maxConsts {
			return uint16(k + asConst)
		}
	}
	return uint16(g.reg(e))
}

// reg evaluates e into a register: a local's own or a new one.
func (g *gen) reg(e *expr) int {
	for e.kind == exprParen {
		if e.a.isOpen() {
			break
		}
		e = e.a
	}
	if e.kind == exprLocal && !e.local.captured {
		return e.local.reg
	}
	reg := g.temp()
	g.to(e, reg)
	return reg
}

// to evaluates e into a register.
func (g *gen) to(e *expr, dst int) {
	free := g.free
	defer func() { g.free = free }()
	a := uint8(dst)
	switch e.kind {
	case exprNil:
		g.emit(instr{op: opNil, a: a, b: uint16(dst)})
	case exprTrue, exprFalse:
		g.emit(instr{op: opBool, a: a, b: uint16(flag(e.kind == exprTrue))})
	case exprConstant:
		g.emit(instr{op: opConst, a: a, d: int32(g.constant(e.val))})
	case exprLocal:
		g.load(e, a)
	case exprUpvalue:
		g.emit(instr{op: opUpvalue, a: a, b: uint16(e.index)})
	case exprGlobal:
		g.line = e.line
		g.emit(instr{op: opGlobal, a: a, d: int32(g.constant(e.val))})
	case exprParen:
		g.to(e.a, dst)
	case exprFunction:
		g.function(e, a)
	case exprAnd, exprOr:
		g.to(e.a, dst)
		skip := g.emit(instr{op: opTest, a: flag(e.kind == exprOr), b: uint16(dst)})
		g.to(e.b, dst)
		g.patch([]int{skip})
	case exprTable:
		g.table(e, dst)
	case exprCall, exprMethod, exprDots:
		g.open(e, dst, 1)
	default:
		g.operation(e, dst)
	}
}

// load reads a local.
func (g *gen) load(e *expr, a uint8) {
	op := opMove
	if e.local.captured {
		op = opUnbox
	}
	if op == opUnbox || e.local.reg != int(a) {
		g.emit(instr{op: op, a: a, b: uint16(e.local.reg)})
	}
}

// operation evaluates what has operands.
func (g *gen) operation(e *expr, dst int) {
	i := instr{a: uint8(dst)}
	switch e.kind {
	case exprIndex:
		i.b = uint16(g.reg(e.a))
		if e.b.kind == exprConstant && e.b.val.isString() {
			i.op, i.d = opField, int32(g.constant(e.b.val))
		} else {
			i.op, i.c = opIndex, g.rk(e.b)
		}
	case exprBinary:
		i.op, i.b, i.c = e.op, g.rk(e.a), g.rk(e.b)
	case exprNegate, exprNot, exprLength:
		i.op = map[exprKind]opcode{exprNegate: opNegate, exprNot: opNot, exprLength: opLength}[e.kind]
		i.b = uint16(g.reg(e.a))
	case exprConcat:
		g.concat(e, dst)
		return
	case exprCompare:
		yes := g.compare(e, true)
		g.emit(instr{op: opBool, a: i.a})
		out := g.emit(instr{op: opJump})
		g.patch([]int{yes})
		g.emit(instr{op: opBool, a: i.a, b: 1})
		g.patch([]int{out})
		return
	}
	g.line = e.line
	pc := g.emit(i)
	if e.kind == exprBinary {
		g.note(pc, e.a, e.b)
	} else {
		g.note(pc, e.a)
	}
}

// concat evaluates a whole chain of .. at once.
func (g *gen) concat(e *expr, dst int) {
	var parts []*expr
	last := e
	for ; last.kind == exprConcat; last = last.b {
		parts = append(parts, last.a)
	}
	parts = append(parts, last)
	first := g.free
	for _, part := range parts {
		g.to(part, g.temp())
	}
	g.line = e.line
	pc := g.emit(instr{op: opConcat, a: uint8(dst), b: uint16(first), c: uint16(g.free - 1)})
	g.note(pc, parts...)
}

func (g *gen) function(e *expr, a uint8) {
	g.protos = append(g.protos, generate(g.source, g.chunk, g, e.fn))
	g.emit(instr{op: opClosure, a: a, d: int32(len(g.protos) - 1)})
}

// open evaluates a call or ... to n values from dst on, or to the open values.
func (g *gen) open(e *expr, dst, n int) {
	if e.kind == exprDots {
		g.emit(instr{op: opVararg, a: uint8(dst), c: uint16(n)})
		return
	}
	free := g.free
	g.call(e, dst, n)
	g.free = free
}

// call makes a call of whose results n go to dst and on.
func (g *gen) call(e *expr, dst, n int) {
	i := g.prepare(e)
	i.c, i.d = uint16(n), int32(dst)
	g.noteCallee(g.emit(i), e)
}

func (g *gen) tailCall(e *expr) {
	i := g.prepare(e)
	i.op += opTailCall - opCall
	g.noteCallee(g.emit(i), e)
}

// noteCallee remembers what messages say is called.
func (g *gen) noteCallee(pc int, e *expr) {
	if e.kind == exprMethod {
		g.symbols[pc] = []symbol{{"method", string(e.val.o.str)}}
		return
	}
	g.note(pc, e.a)
}

// prepare puts a function and its arguments into the next registers.
func (g *gen) prepare(e *expr) instr {
	base := g.temp()
	i := instr{op: opCall, a: uint8(base)}
	if e.kind == exprMethod {
		g.temp()
		object := g.reg(e.a)
		g.line = e.line
		g.note(g.emit(instr{op: opSelf, a: i.a, b: uint16(object), d: int32(g.constant(e.val))}), e.a)
		g.free = base + 2
		i.b = 1
	} else {
		g.to(e.a, base)
	}
	fixed, open := g.openList(e.list)
	i.b += uint16(fixed)
	if open {
		i.op = opCallOpen
	}
	g.line = e.line
	return i
}

// openList puts a list into the next registers; when it ends in what has many
// values, those become the open values.
func (g *gen) openList(list []*expr) (fixed int, open bool) {
	for i, e := range list {
		if i == len(list)-1 && e.isOpen() {
			g.open(e, g.free, many)
			return i, true
		}
		g.to(e, g.temp())
	}
	return len(list), false
}

// flush is how many items a constructor collects before it stores them.
const flush = 50

func (g *gen) table(e *expr, dst int) {
	items, fields := 0, 0
	for i := 0; i < len(e.list); i += 2 {
		if e.list[i] == nil {
			items++
		} else {
			fields++
		}
	}
	if n := len(e.list); n > 0 && e.list[n-2] == nil && e.list[n-1].isOpen() {
		items--
	}
	free := g.free
	table := dst
	if dst != free-1 { // items stand behind the table
		table = g.temp()
	}
	g.emit(instr{op: opTable, a: uint8(table), b: uint16(roundSize(items)), c: uint16(roundSize(fields))})
	g.fields(e, table)
	if table != dst {
		g.emit(instr{op: opMove, a: uint8(dst), b: uint16(table)})
	}
	g.free = free
}

// fields stores what is in a constructor.
func (g *gen) fields(e *expr, table int) {
	stored, pending := 0, 0
	store := func(op opcode) {
		g.emit(instr{op: op, a: uint8(table), b: uint16(pending), d: int32(stored)})
		stored, pending = stored+pending, 0
		g.free = table + 1
	}
	for i := 0; i < len(e.list); i += 2 {
		key, val := e.list[i], e.list[i+1]
		if pending == flush {
			store(opSetList)
		}
		switch {
		case key != nil:
			free := g.free
			k := g.rk(key)
			g.emit(instr{op: opSetIndex, a: uint8(table), b: k, c: g.rk(val)})
			g.free = free
		case i == len(e.list)-2 && val.isOpen():
			g.open(val, g.free, many)
			store(opSetListOpen)
		default:
			g.to(val, g.temp())
			pending++
		}
	}
	if pending > 0 {
		store(opSetList)
	}
}

// roundSize rounds a size up to what Lua 5.1 can say in a byte: the room shows in
// the order of pairs.
func roundSize(n int) int {
	shift := 0
	for n >= 16 {
		n = (n + 1) >> 1
		shift++
	}
	return min(n<<shift, 0xffff)
}

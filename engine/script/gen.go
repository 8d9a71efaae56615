package script

import "math"

// The sizes that instructions can express.
const (
	maxRegs   = 250
	maxConsts = math.MaxUint16 - asConst
)

// gen makes the code of one function.
type gen struct {
	*proto
	outer   *gen
	body    *body
	free    int // the first register not in use
	line    int
	numbers map[float64]int // 0 and -0 are one constant, as in Lua 5.1
	strings map[string]int
	breaks  []int // jumps out of the innermost loop
}

// generate makes the code of a function.
func generate(source, chunk string, outer *gen, b *body) *proto {
	g := &gen{proto: &proto{source: source, chunk: chunk}, outer: outer, body: b, numbers: map[float64]int{}, strings: map[string]int{}}
	g.symbols = map[int][]symbol{}
	g.upvalues, g.params, g.vararg = b.upvalues, len(b.params), b.vararg
	for _, l := range b.params {
		g.bind(l, g.temp())
	}
	g.argTable(b)
	g.block(b.block)
	g.line = b.end
	g.emit(instr{op: opReturn})
	return g.proto
}

// argTable makes the table arg of a function that takes ... and does not use it.
func (g *gen) argTable(b *body) {
	if b.arg == nil {
		return
	}
	reg := g.temp()
	if b.dots {
		g.emit(instr{op: opNil, a: uint8(reg), b: uint16(reg)})
	} else {
		g.emit(instr{op: opArgTable, a: uint8(reg)})
	}
	g.bind(b.arg, reg)
}

func (g *gen) emit(i instr) int {
	g.code = append(g.code, i)
	g.lines = append(g.lines, int32(g.line))
	return len(g.code) - 1
}

// temp takes the next free register.
func (g *gen) temp() int {
	g.free++
	g.regs = max(g.regs, g.free)
	if g.free > maxRegs {
		panic(syntaxError{g.chunk + ": function or expression too complex"})
	}
	return g.free - 1
}

// bind makes the register, which is set, a local's home.
func (g *gen) bind(l *local, reg int) {
	l.reg = reg
	if l.captured {
		g.emit(instr{op: opBox, a: uint8(reg)})
	}
}

// constant is the index of a constant.
func (g *gen) constant(v value) int {
	if v.isNumber() {
		if i, ok := g.numbers[v.n]; ok {
			return i
		}
		g.numbers[v.n] = len(g.consts)
	} else {
		if i, ok := g.strings[string(v.o.str)]; ok {
			return i
		}
		g.strings[string(v.o.str)] = len(g.consts)
	}
	g.consts = append(g.consts, v)
	return len(g.consts) - 1
}

// note remembers how messages name the operands of an instruction.
func (g *gen) note(pc int, operands ...*expr) {
	named := false
	symbols := make([]symbol, len(operands))
	for i, e := range operands {
		symbols[i] = describe(e)
		named = named || symbols[i].what != ""
	}
	if named {
		g.symbols[pc] = symbols
	}
}

func describe(e *expr) symbol {
	switch e.kind {
	case exprLocal:
		return symbol{"local", e.local.name}
	case exprUpvalue:
		return symbol{"upvalue", string(e.val.o.str)}
	case exprGlobal:
		return symbol{"global", string(e.val.o.str)}
	case exprParen:
		return describe(e.a)
	case exprIndex:
		if e.b.kind == exprConstant && e.b.val.isString() {
			return symbol{"field", string(e.b.val.o.str)}
		}
		return symbol{"field", "?"}
	}
	return symbol{}
}

// patch lets the jumps lead to the next instruction.
func (g *gen) patch(jumps []int) { g.patchTo(jumps, len(g.code)) }

func (g *gen) patchTo(jumps []int, pc int) {
	for _, j := range jumps {
		g.code[j].d = int32(pc)
	}
}

// block makes code for statements; their registers are free again after it.
func (g *gen) block(stats []*stat) {
	free := g.free
	for _, s := range stats {
		g.stat(s)
	}
	g.free = free
}

func (g *gen) stat(s *stat) {
	g.line = s.line
	switch s.kind {
	case statCall:
		free := g.free
		g.call(s.list[0], 0, 0)
		g.free = free
	case statLocal:
		g.localStat(s)
	case statFunction:
		g.functionStat(s)
	case statAssign:
		g.assign(s)
	case statDo:
		g.block(s.inner)
	case statWhile:
		g.while(s)
	case statRepeat:
		g.repeat(s)
	case statIf:
		g.ifStat(s)
	case statNumeric:
		g.numeric(s)
	case statGeneric:
		g.generic(s)
	case statReturn:
		g.returnStat(s)
	case statBreak:
		g.breaks = append(g.breaks, g.emit(instr{op: opJump}))
	}
}

func (g *gen) localStat(s *stat) {
	first := g.free
	g.list(s.list, len(s.locals))
	for i, l := range s.locals {
		g.bind(l, first+i)
	}
}

func (g *gen) functionStat(s *stat) {
	l, reg := s.locals[0], g.temp()
	if l.captured {
		g.emit(instr{op: opNil, a: uint8(reg), b: uint16(reg)})
	}
	g.bind(l, reg)
	g.assignTo(&expr{kind: exprLocal, local: l}, s.list[0])
}

// list puts exactly n values of a list into the next registers.
func (g *gen) list(list []*expr, n int) {
	for i, e := range list {
		last := i == len(list)-1
		switch {
		case last && e.isOpen() && n > i:
			first := g.free
			for range n - i {
				g.temp()
			}
			g.open(e, first, n-i)
			return
		case i < n:
			g.to(e, g.temp())
		default:
			free := g.free
			g.to(e, g.temp())
			g.free = free
		}
	}
	if missing := n - len(list); missing > 0 {
		first := g.temp()
		for range missing - 1 {
			g.temp()
		}
		g.emit(instr{op: opNil, a: uint8(first), b: uint16(first + missing - 1)})
	}
}

// assign evaluates the parts of all targets, then all values, then stores.
func (g *gen) assign(s *stat) {
	free := g.free
	defer func() { g.free = free }()
	if len(s.targets) == 1 && len(s.list) == 1 {
		g.assignTo(s.targets[0], s.list[0])
		return
	}
	type place struct {
		table int
		key   uint16
	}
	places := make([]place, len(s.targets))
	for i, target := range s.targets {
		if target.kind == exprIndex {
			places[i].table = g.temp()
			g.to(target.a, places[i].table)
			places[i].key = g.key(target.b)
		}
	}
	first := g.free
	g.list(s.list, len(s.targets))
	for i := len(s.targets) - 1; i >= 0; i-- {
		if target := s.targets[i]; target.kind == exprIndex {
			g.setIndex(target, places[i].table, places[i].key, uint16(first+i))
		} else {
			g.store(target, uint16(first+i))
		}
	}
}

// key is a constant or a copy that later assignments do not change.
func (g *gen) key(e *expr) uint16 {
	if e.kind == exprConstant {
		return g.rk(e)
	}
	reg := g.temp()
	g.to(e, reg)
	return uint16(reg)
}

// assignTo stores the value of e.
func (g *gen) assignTo(target, e *expr) {
	switch {
	case target.kind == exprIndex:
		table := g.reg(target.a)
		key := g.rk(target.b)
		g.setIndex(target, table, key, g.rk(e))
	case target.kind == exprLocal && !target.local.captured && !e.writesEarly():
		g.to(e, target.local.reg)
	default:
		g.store(target, g.rk(e))
	}
}

// writesEarly says whether the code of e writes its result before all of e is
// read.
func (e *expr) writesEarly() bool {
	switch e.kind {
	case exprAnd, exprOr, exprTable:
		return true
	case exprParen:
		return e.a.writesEarly()
	}
	return false
}

// store puts an operand into a variable.
func (g *gen) store(target *expr, from uint16) {
	switch target.kind {
	case exprGlobal:
		g.emit(instr{op: opSetGlobal, b: from, d: int32(g.constant(target.val))})
	case exprUpvalue:
		g.emit(instr{op: opSetUpvalue, b: from, d: int32(target.index)})
	case exprLocal:
		reg := uint8(target.local.reg)
		switch {
		case target.local.captured:
			g.emit(instr{op: opSetBox, a: reg, b: from})
		case from >= asConst:
			g.emit(instr{op: opConst, a: reg, d: int32(from - asConst)})
		case from != uint16(reg):
			g.emit(instr{op: opMove, a: reg, b: from})
		}
	}
}

func (g *gen) setIndex(target *expr, table int, key, from uint16) {
	i := instr{op: opSetIndex, a: uint8(table), b: key, c: from}
	if target.b.kind == exprConstant && target.b.val.isString() {
		i = instr{op: opSetField, a: uint8(table), c: from, d: int32(g.constant(target.b.val))}
	}
	g.note(g.emit(i), target.a)
}

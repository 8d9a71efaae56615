package script

func (g *gen) while(s *stat) {
	start := len(g.code)
	exit := g.jumpIf(s.list[0], false)
	g.loop(s, start)
	g.patch(exit)
	g.endLoop()
}

// loop makes the body of a loop and the way back; breaks wait for endLoop.
func (g *gen) loop(s *stat, start int) {
	g.breaks = append(g.breaks, -1)
	g.block(s.inner)
	g.line = s.end
	g.emit(instr{op: opLoop, d: int32(start)})
}

// endLoop lets the breaks of the innermost loop lead here.
func (g *gen) endLoop() {
	for {
		last := g.breaks[len(g.breaks)-1]
		g.breaks = g.breaks[:len(g.breaks)-1]
		if last < 0 {
			return
		}
		g.code[last].d = int32(len(g.code))
	}
}

func (g *gen) repeat(s *stat) {
	start, free := len(g.code), g.free
	g.breaks = append(g.breaks, -1)
	for _, inner := range s.inner {
		g.stat(inner)
	}
	exit := g.jumpIf(s.list[0], true)
	g.emit(instr{op: opLoop, d: int32(start)})
	g.free = free
	g.patch(exit)
	g.endLoop()
}

func (g *gen) ifStat(s *stat) {
	var out []int
	for i, block := range s.blocks {
		if i == len(s.list) { // else
			g.block(block)
			break
		}
		g.line = max(g.line, s.list[i].line)
		next := g.jumpIf(s.list[i], false)
		g.block(block)
		if i < len(s.blocks)-1 {
			out = append(out, g.emit(instr{op: opJump}))
		}
		g.patch(next)
	}
	g.patch(out)
}

func (g *gen) numeric(s *stat) {
	free := g.free
	base := g.free
	list := s.list
	if len(list) == 2 {
		list = append(list[:2:2], &expr{kind: exprConstant, val: number(1)})
	}
	for _, e := range list {
		g.to(e, g.temp())
	}
	g.line = s.line
	prep := g.emit(instr{op: opForPrep, a: uint8(base)})
	start := len(g.code)
	g.breaks = append(g.breaks, -1)
	g.bind(s.locals[0], g.temp())
	g.block(s.inner)
	g.line = s.line
	g.patch([]int{prep})
	g.emit(instr{op: opForLoop, a: uint8(base), d: int32(start)})
	g.endLoop()
	g.free = free
}

func (g *gen) generic(s *stat) {
	free, base := g.free, g.free
	g.list(s.list, 3)
	g.line = s.line
	g.breaks = append(g.breaks, -1)
	start := g.emit(instr{op: opForIn, a: uint8(base), c: uint16(len(s.locals))})
	g.symbols[start] = []symbol{{"local", "(for generator)"}}
	regs := make([]int, len(s.locals))
	for i := range regs {
		regs[i] = g.temp()
	}
	for i, l := range s.locals {
		g.bind(l, regs[i])
	}
	g.block(s.inner)
	g.line = s.line
	g.emit(instr{op: opLoop, d: int32(start)})
	g.patch([]int{start})
	g.endLoop()
	g.free = free
}

func (g *gen) returnStat(s *stat) {
	free := g.free
	defer func() { g.free = free }()
	n := len(s.list)
	if n == 1 && (s.list[0].kind == exprCall || s.list[0].kind == exprMethod) {
		g.tailCall(s.list[0])
		return
	}
	if n == 1 && s.list[0].kind == exprLocal && !s.list[0].local.captured {
		g.emit(instr{op: opReturn, a: uint8(s.list[0].local.reg), b: 1})
		return
	}
	first := g.free
	if fixed, open := g.openList(s.list); open {
		g.emit(instr{op: opReturnOpen, a: uint8(first), b: uint16(fixed)})
	} else {
		g.emit(instr{op: opReturn, a: uint8(first), b: uint16(fixed)})
	}
}

// jumpIf jumps when the truth of e is as said, and goes on otherwise. The jumps
// wait to be patched.
func (g *gen) jumpIf(e *expr, when bool) []int {
	free := g.free
	defer func() { g.free = free }()
	switch e.kind {
	case exprNot:
		return g.jumpIf(e.a, !when)
	case exprAnd, exprOr:
		return g.jumpLogic(e, when)
	case exprTrue, exprConstant, exprFalse, exprNil:
		if (e.kind == exprTrue || e.kind == exprConstant) == when {
			return []int{g.emit(instr{op: opJump})}
		}
		return nil
	case exprCompare:
		return []int{g.compare(e, when)}
	}
	reg := g.reg(e)
	return []int{g.emit(instr{op: opTest, a: flag(when), b: uint16(reg)})}
}

func (g *gen) jumpLogic(e *expr, when bool) []int {
	if (e.kind == exprOr) == when { // either side decides
		return append(g.jumpIf(e.a, when), g.jumpIf(e.b, when)...)
	}
	skip := g.jumpIf(e.a, !when)
	jumps := g.jumpIf(e.b, when)
	g.patch(skip)
	return jumps
}

func (g *gen) compare(e *expr, when bool) int {
	b, c := g.rk(e.a), g.rk(e.b)
	g.line = e.line
	if e.swap && e.op == opEqual {
		when = !when
	} else if e.swap {
		b, c = c, b
	}
	return g.emit(instr{op: e.op, a: flag(when), b: b, c: c})
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

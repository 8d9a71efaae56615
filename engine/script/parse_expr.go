package script

func text(s string) *expr { return &expr{kind: exprConstant, val: constant(s)} }

// resolve finds a name in a function and those around it: a local, an upvalue or
// a global.
func (p *parser) resolve(name string) *expr {
	if l := p.scope.find(name); l != nil {
		return &expr{kind: exprLocal, local: l, line: p.line}
	}
	if i := p.upvalue(p.scope, name); i >= 0 {
		return &expr{kind: exprUpvalue, index: i, val: constant(name), line: p.line}
	}
	return &expr{kind: exprGlobal, val: constant(name), line: p.line}
}

func (s *scope) find(name string) *local {
	for i := len(s.active) - 1; i >= 0; i-- {
		if s.active[i].name == name {
			return s.active[i]
		}
	}
	return nil
}

// upvalue is the index under which the function of s shares the name, or -1.
func (p *parser) upvalue(s *scope, name string) int {
	if s.outer == nil {
		return -1
	}
	up := upvalue{name: name, local: s.outer.find(name)}
	if up.local != nil {
		up.local.captured = true
	} else if up.index = p.upvalue(s.outer, name); up.index < 0 {
		return -1
	}
	for i, known := range s.body.upvalues {
		if known.local == up.local && known.index == up.index {
			return i
		}
	}
	if s.body.upvalues = append(s.body.upvalues, up); len(s.body.upvalues) > maxUpvalues {
		p.tooMany(s.body, maxUpvalues, "upvalues")
	}
	return len(s.body.upvalues) - 1
}

// variable parses a name that is read or assigned.
func (p *parser) variable() *expr { return p.resolve(p.name()) }

func (p *parser) exprs() []*expr {
	list := []*expr{p.expr(0)}
	for p.accept(',') {
		list = append(list, p.expr(0))
	}
	return list
}

// primary parses a variable or a parenthesis and what is applied to it.
func (p *parser) primary() *expr {
	var e *expr
	switch line := p.line; p.tok {
	case '(':
		p.next()
		e = &expr{kind: exprParen, a: p.expr(0), line: line}
		p.match(')', '(', line)
	case tokName:
		e = p.variable()
	default:
		p.failHere("unexpected symbol")
	}
	for {
		more := p.suffix(e)
		if more == nil {
			return e
		}
		e = p.chain(more)
	}
}

// suffix parses one index or call applied to e; nil when there is none.
func (p *parser) suffix(e *expr) *expr {
	switch p.tok {
	case '.':
		p.next()
		return &expr{kind: exprIndex, a: e, b: text(p.name()), line: p.prior}
	case '[':
		p.next()
		key := p.expr(0)
		p.expect(']')
		return &expr{kind: exprIndex, a: e, b: key, line: p.prior}
	case ':':
		p.next()
		call := &expr{kind: exprMethod, a: e, val: constant(p.name())}
		p.arguments(call)
		return call
	case '(', tokString, '{':
		call := &expr{kind: exprCall, a: e}
		p.arguments(call)
		return call
	}
	return nil
}

func (p *parser) arguments(call *expr) {
	call.line = p.line
	switch p.tok {
	case '(':
		if p.line != p.prior {
			p.failHere("ambiguous syntax (function call x new statement)")
		}
		line := p.line
		p.next()
		if p.tok != ')' {
			call.list = p.exprs()
		}
		p.match(')', '(', line)
	case '{':
		call.list = []*expr{p.constructor()}
	case tokString:
		call.list = []*expr{text(string(p.str))}
		p.next()
	default:
		p.failHere("function arguments expected")
	}
}

func (p *parser) simple() *expr {
	e := &expr{line: p.line}
	switch p.tok {
	case tokNumber:
		e.kind, e.val = exprConstant, number(p.num)
	case tokString:
		e.kind, e.val = exprConstant, constant(string(p.str))
	case tokNil:
		e.kind = exprNil
	case tokTrue:
		e.kind = exprTrue
	case tokFalse:
		e.kind = exprFalse
	case tokDots:
		if !p.scope.body.vararg {
			p.failHere("cannot use '...' outside a vararg function")
		}
		e.kind, p.scope.body.dots = exprDots, true
	case '{':
		return p.constructor()
	case tokFunction:
		p.next()
		return p.function(false, p.line)
	default:
		return p.primary()
	}
	p.next()
	return e
}

// constructor parses a table.
func (p *parser) constructor() *expr {
	line := p.line
	e := &expr{kind: exprTable, line: line}
	p.expect('{')
	for p.tok != '}' {
		e.list = append(e.list, p.field()...)
		if !p.accept(',') && !p.accept(';') {
			break
		}
	}
	p.match('}', '{', line)
	return e
}

// field parses one field: its key, nil for the next item, and its value.
func (p *parser) field() []*expr {
	switch {
	case p.tok == tokName && p.lookahead() == '=':
		key := text(p.name())
		p.next()
		return []*expr{key, p.expr(0)}
	case p.tok == '[':
		p.next()
		key := p.expr(0)
		p.expect(']')
		p.expect('=')
		return []*expr{key, p.expr(0)}
	}
	return []*expr{nil, p.expr(0)}
}

// binding is how strongly an operator binds on each side.
type binding struct {
	left, right int
	kind        exprKind
	op          opcode
	swap        bool
}

// unaryBinds is how strongly an operator before its operand binds.
const unaryBinds = 8

var bindings = map[token]binding{
	tokOr: {1, 1, exprOr, 0, false}, tokAnd: {2, 2, exprAnd, 0, false},
	'<': {3, 3, exprCompare, opLess, false}, '>': {3, 3, exprCompare, opLess, true},
	tokLe: {3, 3, exprCompare, opLessEqual, false}, tokGe: {3, 3, exprCompare, opLessEqual, true},
	tokNe: {3, 3, exprCompare, opEqual, true}, tokEq: {3, 3, exprCompare, opEqual, false},
	tokConcat: {5, 4, exprConcat, opConcat, false},
	'+':       {6, 6, exprBinary, opAdd, false}, '-': {6, 6, exprBinary, opSub, false},
	'*': {7, 7, exprBinary, opMul, false}, '/': {7, 7, exprBinary, opDiv, false}, '%': {7, 7, exprBinary, opMod, false},
	'^': {10, 9, exprBinary, opPow, false},
}

// expr parses an expression whose operators bind stronger than limit.
func (p *parser) expr(limit int) *expr {
	p.enter()
	defer p.leave()
	e := p.operand()
	for {
		bind, ok := bindings[p.tok]
		if !ok || bind.left <= limit {
			return e
		}
		p.next()
		right := p.expr(bind.right)
		e = p.chain(fold(&expr{kind: bind.kind, op: bind.op, swap: bind.swap, a: e, b: right, line: p.prior}))
	}
}

func (p *parser) operand() *expr {
	kind := exprNil
	switch p.tok {
	case tokNot:
		kind = exprNot
	case '-':
		kind = exprNegate
	case '#':
		kind = exprLength
	default:
		return p.simple()
	}
	p.next()
	a := p.expr(unaryBinds)
	return fold(&expr{kind: kind, a: a, line: p.prior})
}

// fold computes what literals decide, as Lua 5.1 does: arithmetic, unless the
// result is no number or could not be computed, and which side of and or or is the
// value.
func fold(e *expr) *expr {
	switch e.kind {
	case exprAnd:
		if e.a.kind == exprConstant || e.a.kind == exprTrue {
			return &expr{kind: exprParen, a: e.b, line: e.line}
		}
	case exprOr:
		if e.a.kind == exprNil || e.a.kind == exprFalse {
			return &expr{kind: exprParen, a: e.b, line: e.line}
		}
	}
	if e.kind != exprBinary && e.kind != exprNegate || !e.a.isNumeral() {
		return e
	}
	if e.kind == exprNegate {
		return &expr{kind: exprConstant, val: number(-e.a.val.n), line: e.line}
	}
	if !e.b.isNumeral() || e.b.val.n == 0 && (e.op == opDiv || e.op == opMod) {
		return e
	}
	n := arithmetic(e.op, e.a.val.n, e.b.val.n)
	if n != n {
		return e
	}
	return &expr{kind: exprConstant, val: number(n), line: e.line}
}

func (e *expr) isNumeral() bool { return e.kind == exprConstant && e.val.isNumber() }

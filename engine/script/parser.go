package script

import "fmt"

// The sizes of source that Lua 5.1 takes.
const (
	maxLevels   = 200
	maxLocals   = 200
	maxUpvalues = 60
	maxChain    = 10000 // operators and suffixes after each other; Lua has no such limit
)

// scope is a function being parsed.
type scope struct {
	outer  *scope
	body   *body
	active []*local // the visible ones, innermost last
	loops  int      // how many loops are around
}

// parser makes the tree of a source.
type parser struct {
	lexer
	scope  *scope
	levels int
}

// parse makes the tree of a chunk; it panics with a syntaxError.
func parse(chunk string, src []byte) *body {
	p := &parser{lexer: lexer{chunk: chunk, src: src, line: 1}}
	p.scope = &scope{body: &body{vararg: true}}
	p.next()
	p.scope.body.block = p.block()
	p.check(tokEOF)
	p.scope.body.end = p.line
	return p.scope.body
}

func (p *parser) enter() {
	if p.levels++; p.levels > maxLevels {
		p.fail("chunk has too many syntax levels")
	}
}

// chain makes e one longer than what it is applied to.
func (p *parser) chain(e *expr) *expr {
	if e.a != nil {
		e.depth = e.a.depth + 1
	}
	if e.b != nil {
		e.depth = max(e.depth, e.b.depth+1)
	}
	if e.depth > maxChain {
		p.fail("chunk has too many syntax levels")
	}
	return e
}

func (p *parser) leave() { p.levels-- }

func (p *parser) accept(t token) bool {
	if p.tok != t {
		return false
	}
	p.next()
	return true
}

func (p *parser) check(t token) {
	if p.tok != t {
		p.failHere("'" + t.String() + "' expected")
	}
}

func (p *parser) expect(t token) {
	p.check(t)
	p.next()
}

// match wants the word that closes what was opened on a line.
func (p *parser) match(closing, opening token, line int) {
	if p.tok != closing && line != p.line {
		p.failHere(fmt.Sprintf("'%s' expected (to close '%s' at line %d)", closing, opening, line))
	}
	p.expect(closing)
}

func (p *parser) name() string {
	p.check(tokName)
	s := string(p.str)
	p.next()
	return s
}

func (p *parser) declare(l *local) {
	p.scope.active = append(p.scope.active, l)
	if len(p.scope.active) > maxLocals {
		p.tooMany(p.scope.body, maxLocals, "local variables")
	}
}

func (p *parser) tooMany(b *body, limit int, what string) {
	where := "main function"
	if b.line != 0 {
		where = fmt.Sprintf("function at line %d", b.line)
	}
	p.fail(fmt.Sprintf("%s has more than %d %s", where, limit, what))
}

// block parses statements up to a word that ends a block. What it declares is
// gone at its end.
func (p *parser) block() []*stat {
	visible := len(p.scope.active)
	stats := p.statements()
	p.scope.active = p.scope.active[:visible]
	return stats
}

func (p *parser) statements() (stats []*stat) {
	p.enter()
	defer p.leave()
	for !p.blockEnds() {
		s := p.statement()
		p.accept(';')
		stats = append(stats, s)
		if s.kind == statReturn || s.kind == statBreak {
			break
		}
	}
	return stats
}

func (p *parser) blockEnds() bool {
	switch p.tok {
	case tokElse, tokElseif, tokEnd, tokEOF, tokUntil:
		return true
	}
	return false
}

func (p *parser) statement() *stat {
	s := &stat{line: p.line}
	switch p.tok {
	case tokIf:
		p.ifStat(s)
	case tokWhile:
		p.whileStat(s)
	case tokDo:
		p.next()
		s.kind, s.inner = statDo, p.block()
		p.match(tokEnd, tokDo, s.line)
	case tokFor:
		p.forStat(s)
	case tokRepeat:
		p.repeatStat(s)
	case tokFunction:
		p.functionStat(s)
	case tokLocal:
		p.localStat(s)
	case tokReturn:
		p.next()
		s.kind = statReturn
		if !p.blockEnds() && p.tok != ';' {
			s.list = p.exprs()
		}
	case tokBreak:
		p.next()
		if s.kind = statBreak; p.scope.loops == 0 {
			p.failHere("no loop to break")
		}
	default:
		p.exprStat(s)
	}
	s.end = p.prior
	return s
}

// loopBlock parses the block of a loop.
func (p *parser) loopBlock() []*stat {
	p.scope.loops++
	defer func() { p.scope.loops-- }()
	return p.block()
}

func (p *parser) ifStat(s *stat) {
	s.kind = statIf
	for {
		p.next() // if or elseif
		s.list = append(s.list, p.expr(0))
		p.expect(tokThen)
		s.blocks = append(s.blocks, p.block())
		if p.tok != tokElseif {
			break
		}
	}
	if p.accept(tokElse) {
		s.blocks = append(s.blocks, p.block())
	}
	p.match(tokEnd, tokIf, s.line)
}

func (p *parser) whileStat(s *stat) {
	p.next()
	s.kind, s.list = statWhile, []*expr{p.expr(0)}
	p.expect(tokDo)
	s.inner = p.loopBlock()
	p.match(tokEnd, tokWhile, s.line)
}

func (p *parser) repeatStat(s *stat) {
	p.next()
	s.kind = statRepeat
	visible := len(p.scope.active)
	p.scope.loops++
	s.inner = p.statements()
	p.scope.loops--
	p.match(tokUntil, tokRepeat, s.line)
	s.list = []*expr{p.expr(0)}
	p.scope.active = p.scope.active[:visible]
}

func (p *parser) forStat(s *stat) {
	p.next()
	first := p.name()
	switch p.tok {
	case '=':
		p.next()
		s.kind, s.list = statNumeric, []*expr{p.expr(0)}
		p.expect(',')
		s.list = append(s.list, p.expr(0))
		if p.accept(',') {
			s.list = append(s.list, p.expr(0))
		}
		s.locals = []*local{{name: first}}
	case ',', tokIn:
		s.kind, s.locals = statGeneric, []*local{{name: first}}
		for p.accept(',') {
			s.locals = append(s.locals, &local{name: p.name()})
		}
		p.expect(tokIn)
		s.list = p.exprs()
	default:
		p.failHere("'=' or 'in' expected")
	}
	p.expect(tokDo)
	visible := len(p.scope.active)
	for _, l := range s.locals {
		p.declare(l)
	}
	s.inner = p.loopBlock()
	p.scope.active = p.scope.active[:visible]
	p.match(tokEnd, tokFor, s.line)
}

func (p *parser) functionStat(s *stat) {
	p.next()
	s.kind = statAssign
	target := p.variable()
	method := false
	for p.tok == '.' || p.tok == ':' {
		method = p.tok == ':'
		p.next()
		target = &expr{kind: exprIndex, line: p.line, a: target, b: text(p.name())}
		if method {
			break
		}
	}
	s.targets, s.list = []*expr{target}, []*expr{p.function(method, s.line)}
}

func (p *parser) localStat(s *stat) {
	p.next()
	if p.accept(tokFunction) {
		l := &local{name: p.name()}
		s.kind, s.locals = statFunction, []*local{l}
		p.declare(l)
		s.list = []*expr{p.function(false, p.line)}
		return
	}
	s.kind = statLocal
	for again := true; again; again = p.accept(',') {
		s.locals = append(s.locals, &local{name: p.name()})
	}
	if p.accept('=') {
		s.list = p.exprs()
	}
	for _, l := range s.locals {
		p.declare(l)
	}
}

// exprStat parses a call or an assignment.
func (p *parser) exprStat(s *stat) {
	e := p.primary()
	if e.kind == exprCall || e.kind == exprMethod {
		s.kind, s.list = statCall, []*expr{e}
		return
	}
	s.kind, s.targets = statAssign, []*expr{p.target(e)}
	for p.accept(',') {
		s.targets = append(s.targets, p.target(p.primary()))
	}
	p.expect('=')
	s.list = p.exprs()
}

// target wants e to be what can be assigned to.
func (p *parser) target(e *expr) *expr {
	switch e.kind {
	case exprLocal, exprUpvalue, exprGlobal, exprIndex:
		return e
	}
	p.failHere("syntax error")
	return nil
}

// function parses parameters and body.
func (p *parser) function(method bool, line int) *expr {
	b := &body{line: line}
	p.scope = &scope{outer: p.scope, body: b}
	if method {
		b.params = append(b.params, &local{name: "self"})
		p.declare(b.params[0])
	}
	p.expect('(')
	p.params(b)
	p.expect(')')
	b.block = p.block()
	b.end = p.line
	p.match(tokEnd, tokFunction, line)
	p.scope = p.scope.outer
	return &expr{kind: exprFunction, fn: b, line: p.prior}
}

func (p *parser) params(b *body) {
	if p.tok == ')' {
		return
	}
	for again := true; again && !b.vararg; again = p.accept(',') {
		switch p.tok {
		case tokName:
			l := &local{name: p.name()}
			b.params = append(b.params, l)
			p.declare(l)
		case tokDots:
			p.next()
			b.vararg, b.arg = true, &local{name: "arg"}
			p.declare(b.arg)
			return
		default:
			p.failHere("<name> or '...' expected")
		}
	}
}

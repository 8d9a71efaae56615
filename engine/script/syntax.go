package script

// local is a local variable of a function.
type local struct {
	name     string
	captured bool // a closure shares it: it lives in a box
	reg      int
}

// exprKind is what an expression is.
type exprKind uint8

const (
	exprNil exprKind = iota
	exprTrue
	exprFalse
	exprConstant // val: a number or a string
	exprDots
	exprFunction // fn
	exprLocal    // local
	exprUpvalue  // index, name
	exprGlobal   // val: the name
	exprIndex    // a[b]
	exprCall     // a(list)
	exprMethod   // a:val(list)
	exprParen    // a, cut to one value
	exprAnd
	exprOr
	exprNot
	exprNegate
	exprLength
	exprBinary // a op b: arithmetic
	exprConcat
	exprCompare // a op b
	exprTable   // list of keys and values; a nil key is the next item
)

// expr is an expression.
type expr struct {
	kind  exprKind
	op    opcode
	swap  bool // of comparisons: b op a, or not equal
	line  int
	index int
	depth int // of the chain of operators and suffixes that ends here
	val   value
	local *local
	a, b  *expr
	list  []*expr
	fn    *body
}

// isOpen says whether e may have any number of values.
func (e *expr) isOpen() bool {
	return e.kind == exprCall || e.kind == exprMethod || e.kind == exprDots
}

// statKind is what a statement is.
type statKind uint8

const (
	statCall     statKind = iota // list[0]
	statLocal                    // locals = list
	statFunction                 // local function: locals[0] = list[0]
	statAssign                   // targets = list
	statDo                       // inner
	statWhile                    // list[0], inner
	statRepeat                   // inner, list[0] inside its scope
	statIf                       // list: conditions; blocks, one more with else
	statNumeric                  // locals[0], list: from, to, step
	statGeneric                  // locals, list
	statReturn
	statBreak
)

// stat is a statement.
type stat struct {
	kind    statKind
	line    int
	end     int // line of its last word
	locals  []*local
	targets []*expr
	list    []*expr
	inner   []*stat
	blocks  [][]*stat
}

// upvalue says where a closure finds a shared local when it is made: in a
// register of the function around it, or among that one's own.
type upvalue struct {
	name  string
	local *local
	index int // when local is nil
}

// body is a function's source.
type body struct {
	params   []*local
	vararg   bool
	dots     bool   // ... is used
	arg      *local // what Lua 5.0 had instead of ...
	upvalues []upvalue
	block    []*stat
	line     int
	end      int
}

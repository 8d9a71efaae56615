package script

// opcode is what an instruction does. R is a register, K a constant, RK either.
type opcode uint8

const (
	opMove        opcode = iota // R[a] = R[b]
	opConst                     // R[a] = K[d]
	opNil                       // R[a..b] = nil
	opBool                      // R[a] = b ~= 0
	opGlobal                    // R[a] = globals[K[d]]
	opSetGlobal                 // globals[K[d]] = RK[b]
	opUpvalue                   // R[a] = upvalue b
	opSetUpvalue                // upvalue d = RK[b]
	opBox                       // R[a] = box of R[a]
	opUnbox                     // R[a] = what is in box R[b]
	opSetBox                    // box R[a] = RK[b]
	opField                     // R[a] = R[b][K[d]], a string
	opIndex                     // R[a] = R[b][RK[c]]
	opSetField                  // R[a][K[d]] = RK[c]
	opSetIndex                  // R[a][RK[b]] = RK[c]
	opSelf                      // R[a+1] = R[b]; R[a] = R[b][K[d]]
	opTable                     // R[a] = {} with room for b and c
	opSetList                   // R[a][d+1..] = R[a+1..a+b]
	opSetListOpen               // the same, and the open values
	opAdd                       // R[a] = RK[b] + RK[c]
	opSub
	opMul
	opDiv
	opMod
	opPow
	opNegate // R[a] = -R[b]
	opNot
	opLength
	opConcat    // R[a] = R[b] .. ... .. R[c]
	opJump      // to d
	opLoop      // back to d
	opTest      // to d if the truth of R[b] is a
	opEqual     // to d if the truth of RK[b] == RK[c] is a
	opLess      // <
	opLessEqual // <=
	opCall      // R[d..d+c-1] = R[a](R[a+1..a+b])
	opCallOpen  // the same, and the open values as arguments
	opTailCall  // return R[a](R[a+1..a+b])
	opTailCallOpen
	opReturn // R[a..a+b-1]
	opReturnOpen
	opForPrep  // R[a..a+2]: from, to, step; to d
	opForLoop  // next turn: R[a+3]; back to d
	opForIn    // R[a+3..a+2+c] = R[a](R[a+1], R[a+2]); to d at the end
	opClosure  // R[a] = closure of function d
	opVararg   // R[a..a+c-1] = ...
	opArgTable // R[a] = {n = select('#', ...), ...}
)

// many as a count of results means that all of them become the open values.
const many = 0xffff

// asConst is added to the index of a constant in an RK operand.
const asConst = 256

// instr is an instruction.
type instr struct {
	op   opcode
	a    uint8
	b, c uint16
	d    int32
}

// symbol is how a message names an operand: local 'x', field 'y'.
type symbol struct{ what, name string }

// proto is a compiled function. It is never changed, and machines share it.
type proto struct {
	source   string // the name of the chunk
	chunk    string // the same as messages show it
	code     []instr
	lines    []int32
	consts   []value
	protos   []*proto
	upvalues []upvalue
	symbols  map[int][]symbol // the operands of the instruction that have names
	params   int
	vararg   bool
	regs     int // how many registers it needs
}

package script

// status is what a coroutine is doing.
type status uint8

const (
	suspended status = iota
	running
	normal // it resumed another one
	dead
)

var statusNames = [...]string{"suspended", "running", "normal", "dead"}

// thread is the main program of a run or a coroutine.
type thread struct {
	obj
	m     *Machine
	heap  *heap
	frame *frame // the innermost
	first frame
	depth int
	stack stack

	multi []value // the open values
	args  []value // arguments put together
	out   [4]value

	status   status
	body     value // what a coroutine begins with
	yielding bool
	dst      int32 // where the instruction that yielded wants its results
	want     uint16
	bare     bool // a builtin does what instructions do: messages name no place
	barred   int  // runs in progress; more than one cannot yield
}

// keepSegments is how many segments of its stack a thread keeps between runs.
const keepSegments = 1

// reset makes a thread as new.
func (t *thread) reset() {
	t.frame, t.depth, t.barred, t.yielding, t.bare = nil, 0, 0, false, false
	t.stack.mark = mark{}
	t.status = running
	t.multi, t.args = t.multi[:0], t.args[:0]
}

// release lets go of what a run needed beyond the usual.
func (t *thread) release() {
	if len(t.stack.segments) > keepSegments {
		t.stack.segments = t.stack.segments[:keepSegments:keepSegments]
		t.first = frame{}
	}
	if len(t.stack.segments) > 0 {
		clear(t.stack.segments[0][:t.stack.high])
		t.stack.high = 0
	}
	if cap(t.multi) > maxValues || cap(t.args) > maxValues {
		t.multi, t.args = nil, nil
	}
	t.out = [len(t.out)]value{}
	clear(t.multi[:cap(t.multi)])
	clear(t.args[:cap(t.args)])
}

// one returns a single result.
func (t *thread) one(v value) []value {
	t.out[0] = v
	return t.out[:1]
}

func (t *thread) two(a, b value) []value {
	t.out[0], t.out[1] = a, b
	return t.out[:2]
}

func (t *thread) three(a, b, c value) []value {
	t.out[0], t.out[1], t.out[2] = a, b, c
	return t.out[:3]
}

// start begins a coroutine or goes on with it, and returns what it yields or
// returns in the end.
func (t *thread) start(args []value) []value {
	t.status = running
	t.barred++
	switch {
	case t.frame == nil:
		t.begin(args)
	case t.dst == toReturn:
		t.yielding = false
		if t.leave(t.frame, args) != nil {
			t.run()
		}
	default:
		t.yielding = false
		t.deliver(t.frame, uint8(t.dst), t.want, args)
		t.run()
	}
	t.barred--
	if t.yielding {
		t.status = suspended
	} else {
		t.status = dead
	}
	return t.multi
}

// begin calls the body of a coroutine.
func (t *thread) begin(args []value) {
	fn := t.body.function()
	if fn.native != nil {
		t.multi = append(t.multi[:0], fn.native(t, args)...)
		return
	}
	f := t.push()
	f.boundary = true
	t.enter(f, fn, args)
	t.run()
}

// resume lets co run; an error of it is returned and ends it.
func (t *thread) resume(co *thread, args []value) (results []value, err *thrown) {
	if t.m.nested++; t.m.nested > maxNested {
		t.m.nested--
		t.fail("C stack overflow")
	}
	nested := t.m.nested
	t.status = normal
	results, err = co.protect(func() []value { return co.start(args) })
	if err != nil {
		co.status = dead
	}
	t.status = running
	t.m.nested = nested - 1
	return results, err
}

package script

func coroutineLibrary() map[string]builtin {
	return map[string]builtin{
		"create": coCreate, "resume": coResume, "running": coRunning, "status": coStatus, "wrap": coWrap, "yield": coYield,
	}
}

// threadSize is what a coroutine is counted as.
const threadSize = segment*valueSize + frameSize

func (t *thread) create(args []value) *thread {
	fn := arg(args, 0)
	if fn.function() == nil || fn.function().native != nil {
		t.failArg(0, "Lua function expected")
	}
	t.heap.take(threadSize)
	co := &thread{m: t.m, heap: t.heap, body: fn}
	co.kind, co.ref = kindThread, co
	return co
}

func coCreate(t *thread, args []value) []value { return t.one(value{o: &t.create(args).obj}) }

func (t *thread) wantThread(args []value, i int) *thread {
	if v := arg(args, i); v.kind() == kindThread {
		return v.o.ref.(*thread)
	}
	t.failArg(i, "coroutine expected")
	return nil
}

func coResume(t *thread, args []value) []value {
	results, failed := t.goOn(t.wantThread(args, 0), args[1:])
	if !failed.isNil() {
		return t.two(boolean(false), failed)
	}
	return append([]value{boolean(true)}, results...)
}

// goOn resumes co; the error is nil when there was none.
func (t *thread) goOn(co *thread, args []value) (results []value, failed value) {
	if co.status != suspended {
		return nil, t.heap.text("cannot resume " + map[status]string{dead: "dead", running: "running", normal: "normal"}[co.status] + " coroutine")
	}
	if co.frame != nil {
		args = append([]value(nil), args...)
	}
	results, err := t.resume(co, args)
	if err == nil {
		return results, value{}
	}
	if err.v.isNil() {
		return nil, constant("nil")
	}
	return nil, err.v
}

func coRunning(t *thread, _ []value) []value {
	if t == t.m.main {
		return t.one(value{})
	}
	return t.one(value{o: &t.obj})
}

func coStatus(t *thread, args []value) []value {
	return t.one(constant(statusNames[t.wantThread(args, 0).status]))
}

func coWrap(t *thread, args []value) []value {
	co := t.create(args)
	return t.one(t.heap.native(func(t *thread, args []value) []value {
		results, failed := t.goOn(co, args)
		if failed.isNil() {
			return results
		}
		if isText(failed) {
			failed = t.heap.text(t.where(1) + string(appendText(nil, failed)))
		}
		t.throw(failed)
		return nil
	}))
}

func coYield(t *thread, args []value) []value {
	if t == t.m.main || t.barred > 1 || t.frame.native {
		t.failBare("attempt to yield across metamethod/C-call boundary")
	}
	t.multi = append(t.multi[:0], args...)
	t.yielding = true
	return nil
}

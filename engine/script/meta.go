package script

// event is something a metatable can define.
type event int

const (
	eventIndex event = iota
	eventNewindex
	eventCall
	eventEq
	eventLt
	eventLe
	eventAdd
	eventSub
	eventMul
	eventDiv
	eventMod
	eventPow
	eventUnm
	eventLen
	eventConcat
	eventTostring
	eventMetatable
)

// eventNames are the keys of events in a metatable.
var eventNames = constants("__index", "__newindex", "__call", "__eq", "__lt", "__le", "__add", "__sub", "__mul", "__div",
	"__mod", "__pow", "__unm", "__len", "__concat", "__tostring", "__metatable")

func constants(names ...string) []value {
	list := make([]value, len(names))
	for i, name := range names {
		list[i] = constant(name)
	}
	return list
}

// maxIndirections is how many tables an index may lead through.
const maxIndirections = 100

// metatable is the metatable of v, or nil.
func (t *thread) metatable(v value) *table {
	if tab := v.table(); tab != nil {
		return tab.meta
	}
	if v.isString() {
		return t.m.stringMeta
	}
	return nil
}

func (t *thread) metamethod(v value, e event) value {
	if meta := t.metatable(v); meta != nil {
		return meta.getString(eventNames[e].o)
	}
	return value{}
}

// field is v[name], name being a string.
func (t *thread) field(v, name value) value {
	if tab := v.table(); tab != nil {
		if found := tab.getString(name.o); found.o != nil || tab.meta == nil {
			return found
		}
	}
	return t.index(v, name)
}

// indexFast is v[key].
func (t *thread) indexFast(v, key value) value {
	if tab := v.table(); tab != nil {
		if found := tab.get(key); found.o != nil || tab.meta == nil {
			return found
		}
	}
	return t.index(v, key)
}

// index is v[key] with metamethods.
func (t *thread) index(v, key value) value {
	for step := range maxIndirections { // only the first table has a name
		var handler value
		if tab := v.table(); tab != nil {
			if found := tab.get(key); found.o != nil || tab.meta == nil {
				return found
			}
			if handler = tab.meta.getString(eventNames[eventIndex].o); handler.isNil() {
				return value{}
			}
		} else if handler = t.metamethod(v, eventIndex); handler.isNil() {
			t.failType(v, step, "index")
		}
		if handler.function() != nil {
			return first(t.invoke(handler, t.pair(v, key)))
		}
		v = handler
	}
	t.fail("loop in gettable")
	return value{}
}

// pair is two arguments for a metamethod.
func (t *thread) pair(a, b value) []value {
	return []value{a, b}
}

func first(list []value) value {
	if len(list) == 0 {
		return value{}
	}
	return list[0]
}

// setIndex is v[key] = val with metamethods.
func (t *thread) setIndex(v, key, val value) {
	for step := range maxIndirections { // only the first table has a name
		var handler value
		if tab := v.table(); tab != nil {
			if tab.meta == nil {
				t.setRaw(tab, key, val)
				return
			}
			if handler = tab.meta.getString(eventNames[eventNewindex].o); handler.isNil() || !tab.get(key).isNil() {
				t.setRaw(tab, key, val)
				return
			}
		} else if handler = t.metamethod(v, eventNewindex); handler.isNil() {
			t.failType(v, step, "index")
		}
		if handler.function() != nil {
			t.invoke(handler, []value{v, key, val})
			return
		}
		v = handler
	}
	t.fail("loop in settable")
}

// setBare is setRaw for builtins.
func (t *thread) setBare(tab *table, key, val value) {
	t.bare = true
	t.setRaw(tab, key, val)
	t.bare = false
}

// setRaw is rawset.
func (t *thread) setRaw(tab *table, key, val value) {
	switch {
	case tab.readonly:
		t.fail("Attempt to modify a readonly table")
	case key.isNil():
		t.fail("table index is nil")
	case key.isNumber() && key.n != key.n:
		t.fail("table index is NaN")
	}
	tab.set(key, val)
}

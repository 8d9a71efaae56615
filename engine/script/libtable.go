package script

import "math"

func tableLibrary() map[string]builtin {
	return map[string]builtin{
		"concat": tableConcat, "foreach": tableForeach, "foreachi": tableForeachi, "getn": tableGetn, "insert": tableInsert,
		"maxn": tableMaxn, "remove": tableRemove, "setn": tableSetn, "sort": tableSort,
	}
}

func tableConcat(t *thread, args []value) []value {
	tab := t.wantTable(args, 0)
	var sep []byte
	if given(args, 1) {
		sep = t.wantString(args, 1)
	}
	from, to := t.optInt(args, 2, 1), 0
	if given(args, 3) {
		to = t.wantInt(args, 3)
	} else {
		to = tab.length()
	}
	b := buffer{heap: t.heap}
	for i := from; i <= to; i++ {
		t.m.spend(1)
		v := tab.getInt(i)
		if !isText(v) {
			t.fail("invalid value (%s) at index %d in table for 'concat'", v.typeName(), i)
		}
		b.add(appendText(nil, v))
		if i < to {
			b.add(sep)
		}
	}
	return t.one(b.done())
}

func tableForeach(t *thread, args []value) []value {
	tab, fn := t.wantTable(args, 0), t.wantFunction(args, 1)
	var key, val value
	for {
		var ok bool
		if key, val, ok = tab.next(key); !ok {
			t.failBare("invalid key to 'next'")
		}
		if key.isNil() {
			return nil
		}
		if v := first(t.callback(fn, key, val)); !v.isNil() {
			return t.one(v)
		}
	}
}

func tableForeachi(t *thread, args []value) []value {
	tab, fn := t.wantTable(args, 0), t.wantFunction(args, 1)
	for i, n := 1, tab.length(); i <= n; i++ {
		if v := first(t.callback(fn, number(float64(i)), tab.getInt(i))); !v.isNil() {
			return t.one(v)
		}
	}
	return nil
}

func tableGetn(t *thread, args []value) []value {
	return t.one(number(float64(t.wantTable(args, 0).length())))
}

func tableSetn(t *thread, args []value) []value {
	t.wantTable(args, 0)
	t.fail("'setn' is obsolete")
	return nil
}

func tableMaxn(t *thread, args []value) []value {
	tab, top := t.wantTable(args, 0), 0.0
	for i := len(tab.arr); i > 0 && top == 0; i-- {
		if !tab.arr[i-1].isNil() {
			top = float64(i)
		}
	}
	t.m.spend(len(tab.arr) + len(tab.nodes))
	for _, n := range tab.nodes {
		if !n.val.isNil() && n.key.isNumber() {
			top = math.Max(top, n.key.n)
		}
	}
	return t.one(number(top))
}

func tableInsert(t *thread, args []value) []value {
	tab := t.wantTable(args, 0)
	end := tab.length() + 1
	pos := end
	switch len(args) {
	case 2:
	case 3:
		pos = t.wantInt(args, 1)
		end = max(end, pos)
		for i := end; i > pos; i-- {
			t.m.spend(1)
			t.setBare(tab, number(float64(i)), tab.getInt(i-1))
		}
	default:
		t.fail("wrong number of arguments to 'insert'")
	}
	t.setBare(tab, number(float64(pos)), args[len(args)-1])
	return nil
}

func tableRemove(t *thread, args []value) []value {
	tab := t.wantTable(args, 0)
	end := tab.length()
	pos := t.optInt(args, 1, end)
	if pos < 1 || pos > end {
		return nil
	}
	removed := tab.getInt(pos)
	for ; pos < end; pos++ {
		t.m.spend(1)
		t.setBare(tab, number(float64(pos)), tab.getInt(pos+1))
	}
	t.setBare(tab, number(float64(end)), value{})
	return t.one(removed)
}

// sorter sorts a table in place.
type sorter struct {
	t    *thread
	tab  *table
	less value
}

func tableSort(t *thread, args []value) []value {
	s := &sorter{t: t, tab: t.wantTable(args, 0)}
	if given(args, 1) {
		s.less = t.wantFunction(args, 1)
	}
	s.sort(1, s.tab.length())
	return nil
}

func (s *sorter) get(i int) value { return s.tab.getInt(i) }

func (s *sorter) put(i int, v value) { s.t.setBare(s.tab, number(float64(i)), v) }

func (s *sorter) before(a, b value) bool {
	s.t.m.spend(1)
	if s.less.isNil() {
		s.t.bare = true
		less := s.t.compare(opLess, a, b)
		s.t.bare = false
		return less
	}
	return !first(s.t.callback(s.less, a, b)).isFalse()
}

// order swaps elements i < j unless they are in order.
func (s *sorter) order(i, j int) {
	if a, b := s.get(i), s.get(j); s.before(b, a) {
		s.put(i, b)
		s.put(j, a)
	}
}

// sort is the quicksort of Lua 5.1: the order of equals and of what a wrong
// order function does show it.
func (s *sorter) sort(low, high int) {
	for low < high {
		s.order(low, high)
		if high-low == 1 {
			return
		}
		middle := (low + high) / 2
		if a, b := s.get(middle), s.get(low); s.before(a, b) {
			s.put(middle, b)
			s.put(low, a)
		} else {
			s.order(middle, high)
		}
		if high-low == 2 {
			return
		}
		i := s.partition(low, high, middle)
		if i-low < high-i {
			s.sort(low, i-1)
			low = i + 1
		} else {
			s.sort(i+1, high)
			high = i - 1
		}
	}
}

// partition puts what is less than the pivot before it, and returns its place.
func (s *sorter) partition(low, high, middle int) int {
	pivot := s.get(middle)
	s.put(middle, s.get(high-1))
	s.put(high-1, pivot)
	i, j := low, high-1
	for {
		for i++; s.before(s.get(i), pivot); i++ {
			if i > high {
				s.t.fail("invalid order function for sorting")
			}
		}
		for j--; s.before(pivot, s.get(j)); j-- {
			if j < low {
				s.t.fail("invalid order function for sorting")
			}
		}
		if j < i {
			break
		}
		a, b := s.get(i), s.get(j)
		s.put(i, b)
		s.put(j, a)
	}
	a := s.get(high - 1)
	s.put(high-1, s.get(i))
	s.put(i, a)
	return i
}

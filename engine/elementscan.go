package engine

import "github.com/limitstore/limitstore/shard"

// elementScan is HSCAN, SSCAN or a relative: a walk through the elements of one
// key, some at each call.
type elementScan struct {
	cursor  uint64
	count   int
	pattern []byte // nil: every element
	steps   int    // of matching so far
	words   keyList
}

// scanArgs declare the arguments of such a command.
func scanArgs() []Arg {
	return []Arg{
		keyArg, {Name: "cursor", Type: Integer}, {Name: "pattern", Type: Pattern, Token: "MATCH", Optional: true},
		{Name: "count", Type: Integer, Token: "COUNT", Optional: true},
	}
}

// maxMatching is how many steps of matching, each a byte looked at, one call may
// take on its shard: some 50 ms. KEYS and SCAN match elsewhere and need no limit.
const maxMatching = 1 << 24

const scanReply = "array: the cursor of the next call, \"0\" at the end; array of "

const scanNotes = "What is there from the first call to the last is returned exactly once, and what comes during a walk does not prolong it. A small collection, see OBJECT ENCODING, is returned whole by the first call, as in Redis. Cursors stay below 2^53."

// begin reads the cursor and looks the key up; false when it has replied: with an
// error, or that there is nothing.
func (s *elementScan) begin(c *Call, kind shard.Kind) (*shard.Database, shard.Entry, bool) {
	var ok bool
	if s.cursor, ok = parseCursor(c.Args[2]); !ok {
		c.Fail(InvalidCursor)
		return nil, shard.Entry{}, false
	}
	db, e, ok := c.readKind(c.Args[1], kind)
	if ok && !e.Exists() {
		s.reply(c, 0)
		return db, e, false
	}
	return db, e, ok && s.parse(c)
}

// parse reads the options. It replies with the error and says false when one is
// wrong.
func (s *elementScan) parse(c *Call) bool {
	s.count = 10
	words := c.Args[3:]
	for ; len(words) >= 2; words = words[2:] {
		switch {
		case EqualFold(words[0], "COUNT"):
			n, ok := Int(words[1])
			if !ok {
				c.Fail(NotInteger)
				return false
			}
			if n < 1 {
				c.Fail(Syntax)
				return false
			}
			s.count = int(n)
		case EqualFold(words[0], "MATCH"):
			if c.longPattern(words[1]) {
				return false
			}
			s.pattern = words[1]
		default:
			c.Fail(Syntax)
			return false
		}
	}
	if len(words) > 0 {
		c.Fail(Syntax)
	}
	return len(words) == 0
}

// wants says whether the pattern matches a name, or false once all steps are
// used up.
func (s *elementScan) wants(name []byte) bool {
	if s.pattern == nil || string(s.pattern) == "*" {
		return true
	}
	matches, steps := globWithin(s.pattern, name, maxMatching-s.steps)
	s.steps += steps
	return matches
}

// reply writes the words found, or that it took too long.
func (s *elementScan) reply(c *Call, next uint64) {
	if s.steps > maxMatching {
		c.Fail(MatchingTooLong, maxMatching)
		return
	}
	c.Out.Array(2)
	c.Out.BulkInt(int64(next))
	c.Out.Array(len(s.words.ends))
	s.words.each(c.Out.Bulk)
}

// visit keeps a name, in a hash with its value, if it matches.
func (s *elementScan) visit(name, value []byte, pairs bool) {
	if !s.wants(name) {
		return
	}
	s.words.add(name)
	if pairs {
		s.words.add(value)
	}
}

// scanRoster is HSCAN or SSCAN.
func (c *Call) scanRoster(kind shard.Kind) {
	var s elementScan
	db, e, ok := s.begin(c, kind)
	if !ok {
		return
	}
	r, small, pairs, next := db.Hash(&e), listpackFields, kind == shard.KindHash, uint64(0)
	numbers, sorted := []int64(nil), false
	if !pairs {
		r, small = db.Set(&e), listpackMembers
		numbers, sorted = asIntegers(r)
	}
	switch {
	case s.cursor == 0 && sorted:
		eachInt(numbers, func(name []byte) { s.visit(name, nil, false) })
	case s.cursor == 0 && isSmall(r, small):
		for name, value := range r.All() {
			s.visit(name, value, pairs)
		}
	default:
		next = r.Scan(s.cursor, s.count, func(name, value []byte) { s.visit(name, value, pairs) })
	}
	s.reply(c, next)
}

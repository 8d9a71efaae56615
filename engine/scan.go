package engine

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/limitstore/limitstore/shard"
)

// scanCommands find keys. They ask one shard after another, a stretch at a time,
// and match patterns on their own goroutine, so that a long walk holds nobody up.
func scanCommands() []Command {
	return []Command{{
		Name: "SCAN", Group: Generic, Since: "0.1.0", Summary: "Walks through the keys of the database, some at each call.", Complexity: "O(COUNT) for each call, O(N) for a whole walk",
		Args: []Arg{
			{Name: "cursor", Type: Integer}, {Name: "pattern", Type: Pattern, Token: "MATCH", Optional: true},
			{Name: "count", Type: Integer, Token: "COUNT", Optional: true}, {Name: "type", Type: String, Token: "TYPE", Optional: true},
		},
		Flags: ReadOnly, Scope: EachShard, Run: runScan,
		Reply:    "array: the cursor of the next call, \"0\" at the end; array of keys",
		Examples: []Example{{"SET user:1 a", "OK"}, {"SET page:1 b", "OK"}, {"SCAN 0 MATCH user:*", "1) \"0\"\n2) 1) \"user:1\""}},
		Notes:    "A key that is there from the first call to the last is returned exactly once. Cursors stay below 2^53. TYPE also knows limit-bucket, limit-fixed, limit-sliding and limit-log.",
	}, {
		Name: "KEYS", Group: Generic, Since: "0.1.0", Summary: "Lists the keys of the database that match a pattern.", Complexity: "O(N) with N the number of keys",
		Args: []Arg{{Name: "pattern", Type: Pattern}}, Flags: ReadOnly, Scope: EachShard, Run: runKeys,
		Reply: "array: the keys, in no order", Examples: []Example{{"SET user:1 a", "OK"}, {"SET page:1 b", "OK"}, {"KEYS user:?", `1) "user:1"`}},
		Notes: "It walks as SCAN does: others are served meanwhile, and keys that come or go during the walk may or may not be listed.",
	}, {
		Name: "RANDOMKEY", Group: Generic, Since: "0.1.0", Summary: "Returns some key of the database.", Complexity: "O(1), but for expired keys on the way that are not freed yet",
		Flags: ReadOnly, Scope: EachShard, Run: runRandomKey,
		Reply: "bulk string: a key; nil when there is none", Examples: []Example{{"RANDOMKEY", "(nil)"}, {"SET a 1", "OK"}, {"RANDOMKEY", `"a"`}},
	}}
}

// walkStretch bounds how many keys one visit to a shard looks at.
const walkStretch = 1024

// walk is a search for keys.
type walk struct {
	pattern []byte // nil: every key
	kinds   uint   // a bit for each kind wanted
	count   int64  // keys to look at

	found keyList
	seen  keyList // by the last visit to a shard, patterns aside
}

// keyList is copies of keys, one after another.
type keyList struct {
	bytes []byte
	ends  []int // where each ends
}

func (l *keyList) add(key []byte) {
	l.bytes = append(l.bytes, key...)
	l.ends = append(l.ends, len(l.bytes))
}

func (l *keyList) each(fn func(key []byte)) {
	start := 0
	for _, end := range l.ends {
		fn(l.bytes[start:end])
		start = end
	}
}

// every is a walk that wants all kinds.
func every(count int64) walk { return walk{kinds: ^uint(0), count: count} }

// match wants only the keys that match.
func (w *walk) match(pattern []byte) {
	w.pattern = pattern
	if string(pattern) == "*" {
		w.pattern = nil
	}
}

// longPattern replies with an error and says true when a pattern is longer than a
// key may be.
func (c *Call) longPattern(pattern []byte) bool {
	if len(pattern) <= c.limits.Key {
		return false
	}
	c.Fail(PatternTooLong, c.limits.Key)
	return true
}

// only wants only keys that TYPE gives this name, in any case.
func (w *walk) only(name []byte) {
	w.kinds = 0
	for kind := shard.KindInt; kind <= shard.KindList; kind++ {
		if EqualFold(name, strings.ToUpper(typeName(kind))) {
			w.kinds |= 1 << kind
		}
	}
}

// visit notes a key, on the shard's goroutine: it only copies.
func (w *walk) visit(e *shard.Entry) {
	if w.kinds&(1<<e.Kind()) != 0 {
		w.seen.add(e.Key())
	}
}

// sift keeps what matches of the keys seen.
func (w *walk) sift() {
	w.seen.each(func(key []byte) {
		if w.pattern != nil {
			if ok, _ := glob(w.pattern, key); !ok {
				return
			}
		}
		w.found.add(key)
	})
	w.seen = keyList{bytes: w.seen.bytes[:0], ends: w.seen.ends[:0]}
}

// full says whether more than a connection may be sent was found: it will be
// closed, so that nothing further is needed.
func (w *walk) full(c *Call) bool { return len(w.found.bytes)+8*len(w.found.ends) > c.limits.Output }

// reply writes the keys found as an array.
func (w *walk) reply(c *Call) {
	c.Out.Array(len(w.found.ends))
	w.found.each(c.Out.Bulk)
}

// A cursor is the number of a shard, and in its low 32 bits a place in that
// shard's order of keys. It is far below 2^53, which is as far as the numbers of
// JavaScript reach. Zero is the beginning and the end.
const placeBits = 32

// from looks at count keys, or a few more, from the cursor on, and returns the
// cursor of the rest. A cursor that never was one is the end.
func (w *walk) from(c *Call, cursor uint64) uint64 {
	engine := c.Session.Engine()
	for w.count > 0 && !w.full(c) {
		if cursor>>placeBits >= uint64(engine.Shards()) {
			return 0
		}
		n := int(min(w.count, walkStretch))
		next, done := uint32(0), true
		c.On(int(cursor>>placeBits), func(_ int, ks *shard.Keyspace, _ *Stats) {
			next, done = ks.Database(c.db).Scan(uint32(cursor), n, func(e *shard.Entry) {
				w.count--
				n--
				w.visit(e)
			})
		})
		w.sift()
		if done {
			cursor = (cursor>>placeBits + 1) << placeBits
			continue
		}
		w.count -= int64(max(n, 0)) // slots without a key are work, too
		cursor = cursor>>placeBits<<placeBits | uint64(next)
	}
	if cursor>>placeBits >= uint64(engine.Shards()) {
		return 0
	}
	return cursor
}

// parseCursor reads a cursor as leniently as Redis does: with a sign, or empty.
func parseCursor(word []byte) (uint64, bool) {
	if len(word) == 0 {
		return 0, true
	}
	digits := word
	if word[0] == '-' || word[0] == '+' {
		digits = word[1:]
	}
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if word[0] == '-' {
		n = -n
	}
	return n, err == nil
}

func runScan(c *Call) {
	cursor, ok := parseCursor(c.Args[1])
	if !ok {
		c.Fail(InvalidCursor)
		return
	}
	w := every(10)
	if !w.parse(c) {
		return
	}
	next := w.from(c, cursor)
	c.Out.Array(2)
	c.Out.BulkInt(int64(next))
	w.reply(c)
}

// parse reads the options of SCAN. It replies with the error and says false when
// one is wrong.
func (w *walk) parse(c *Call) bool {
	words := c.Args[2:]
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
			w.count = n
		case EqualFold(words[0], "MATCH"):
			if c.longPattern(words[1]) {
				return false
			}
			w.match(words[1])
		case EqualFold(words[0], "TYPE"):
			w.only(words[1])
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

func runKeys(c *Call) {
	if c.longPattern(c.Args[1]) {
		return
	}
	w := every(walkStretch)
	w.match(c.Args[1])
	for cursor := w.from(c, 0); cursor != 0 && !w.full(c); cursor = w.from(c, cursor) {
		w.count = walkStretch
	}
	w.reply(c)
}

func runRandomKey(c *Call) {
	engine := c.Session.Engine()
	total, lengths := 0, make([]int, engine.Shards())
	c.Each(func(i int, ks *shard.Keyspace, _ *Stats) {
		lengths[i] = ks.Database(c.db).Len()
		total += lengths[i]
	})
	// A shard is chosen by how many keys it has. If they have expired or gone by
	// now, the next shard with keys is asked.
	first := 0
	if total > 0 {
		for pick := rand.IntN(total); pick >= lengths[first]; first++ {
			pick -= lengths[first]
		}
	}
	for i := range lengths {
		if key := randomKey(c, (first+i)%len(lengths)); key != nil {
			c.Out.Bulk(key)
			return
		}
	}
	c.Out.Null()
}

// handful is from how many keys that lie together RANDOMKEY takes one.
const handful = 16

// randomKey is a copy of some key of a shard, nil when there is none: one of a
// handful, or the first found from there on, round the end. Expired keys on the
// way are passed a stretch at a time.
func randomKey(c *Call, i int) []byte {
	first := rand.Uint32()
	key, next, done := keyFrom(c, i, first, handful)
	for key == nil && !done {
		key, next, done = keyFrom(c, i, next, walkStretch)
	}
	for next, done = 0, false; key == nil && !done && next <= first; {
		key, next, done = keyFrom(c, i, next, walkStretch)
	}
	return key
}

// keyFrom is a copy of one of the next n keys of a shard, each as likely as the
// others.
func keyFrom(c *Call, i int, cursor uint32, n int) (key []byte, next uint32, done bool) {
	seen := 0
	c.On(i, func(_ int, ks *shard.Keyspace, _ *Stats) {
		next, done = ks.Database(c.db).Scan(cursor, n, func(e *shard.Entry) {
			if seen++; rand.IntN(seen) == 0 {
				key = append(key[:0], e.Key()...)
			}
		})
	})
	if seen > 0 && key == nil {
		key = []byte{} // the empty key
	}
	return key, next, done
}

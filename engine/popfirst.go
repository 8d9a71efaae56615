package engine

import (
	"strings"

	"github.com/limitstore/limitstore/shard"
)

// popFirstCommands take elements from the first of several keys that has some.
func popFirstCommands() []Command {
	end := func(first, last string) Arg {
		return Arg{Name: "where", Type: OneOf, Args: []Arg{{Name: strings.ToLower(first), Type: PureToken, Token: first}, {Name: strings.ToLower(last), Type: PureToken, Token: last}}}
	}
	keys, count := Arg{Name: "key", Type: Key, Multiple: true}, Arg{Name: "count", Type: Integer, Token: "COUNT", Optional: true}
	return []Command{{
		Name: "ZMPOP", Group: SortedSets, Since: "0.1.0", Summary: "Removes the members with the lowest or highest scores from the first of several sorted sets that exists, and returns them.", Complexity: "O(K + M*log N) with K the number of keys and M the members removed",
		Args: []Arg{numKeysArg, keys, end("MIN", "MAX"), count}, Keys: Keys{Count: 1}, Flags: Write, Run: runZMPop,
		Reply: "array: the key, and an array of pairs of member and score; nil when none of the keys exists", Examples: []Example{{"ZADD b 10 ann 20 bob", "(integer) 2"}, {"ZMPOP 2 a b MAX", "1) \"b\"\n2) 1) 1) \"bob\"\n      2) \"20\""}, {"ZMPOP 1 b MIN COUNT 5", "1) \"b\"\n2) 1) 1) \"ann\"\n      2) \"10\""}},
	}, {
		Name: "LMPOP", Group: Lists, Since: "0.1.0", Summary: "Removes elements from the beginning or end of the first of several lists that exists, and returns them.", Complexity: "O(K + N) with K the number of keys and N the elements returned",
		Args: []Arg{numKeysArg, keys, end("LEFT", "RIGHT"), count}, Keys: Keys{Count: 1}, Flags: Write, Run: runLMPop,
		Reply: "array: the key, and an array of elements; nil when none of the keys exists", Examples: []Example{{"RPUSH b 1 2 3", "(integer) 3"}, {"LMPOP 2 a b RIGHT COUNT 2", "1) \"b\"\n2) 1) \"3\"\n   2) \"2\""}, {"LMPOP 1 b LEFT", "1) \"b\"\n2) 1) \"1\""}},
	}}
}

// candidate is a key to take elements from.
type candidate struct {
	key   []byte
	db    *shard.Database
	entry shard.Entry
	last  bool  // from the end
	count int64 // at most
}

// firstOf reads the arguments of such a command, of which first and last name the
// ends, and looks for the first of its keys that exists; false when it has replied.
func (c *Call) firstOf(kind shard.Kind, first, last string) (f candidate, ok bool) {
	n, ok := Int(c.Args[1])
	words := c.Args[2:]
	switch {
	case !ok || n < 1:
		c.Fail(NumKeys)
		return f, false
	case n >= int64(len(words)):
		c.Fail(Syntax)
		return f, false
	}
	f.last = EqualFold(words[n], last)
	if !f.last && !EqualFold(words[n], first) {
		c.Fail(Syntax)
		return f, false
	}
	if !f.options(c, words[n+1:]) {
		return f, false
	}
	for _, f.key = range words[:n] {
		if f.db, f.entry, ok = c.openKind(f.key, kind); !ok || f.entry.Exists() {
			return f, ok
		}
	}
	c.Out.NullArray()
	return f, false
}

// options reads what follows the end. It replies with the error and says false
// when that is wrong.
func (f *candidate) options(c *Call, words [][]byte) bool {
	for ; len(words) > 0; words = words[2:] {
		if f.count != 0 || len(words) < 2 || !EqualFold(words[0], "COUNT") {
			c.Fail(Syntax)
			return false
		}
		var ok bool
		if f.count, ok = Int(words[1]); !ok || f.count < 1 {
			c.Fail(CountZero)
			return false
		}
	}
	f.count = max(f.count, 1)
	return true
}

func runZMPop(c *Call) {
	f, ok := c.firstOf(shard.KindSorted, "MIN", "MAX")
	if !ok {
		return
	}
	z := f.db.Sorted(&f.entry)
	n := int(min(f.count, int64(z.Len())))
	c.Out.Array(2)
	c.Out.Bulk(f.key)
	c.Out.Array(n)
	for x := range endOf(z, n, f.last) {
		c.Out.Array(2)
		c.Out.Bulk(x.Member)
		c.Out.Double(float(x.Score))
	}
	cutEnd(f.db, &f.entry, n, f.last)
}

func runLMPop(c *Call) {
	f, ok := c.firstOf(shard.KindList, "LEFT", "RIGHT")
	if !ok {
		return
	}
	n := int(min(f.count, int64(f.db.List(&f.entry).Len())))
	c.Out.Array(2)
	c.Out.Bulk(f.key)
	c.Out.Array(n)
	c.takeEnd(f.db, &f.entry, n, !f.last)
}

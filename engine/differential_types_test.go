package engine

import (
	"bytes"
	"slices"
	"strings"

	"github.com/limitstore/limitstore/redistest"
	"pgregory.net/rapid"
)

var hashForms = []form{
	"HSET k hp+", "HSET k hp+", "HSET k hp+", "HSET k hp+ h", "HMSET k hp+", "HSETNX k h v", "HGET k h", "HMGET k h+", "HDEL k h+", "HLEN k", "HSTRLEN k h",
	"HEXISTS k h", "HKEYS k", "HVALS k", "HGETALL k", "HINCRBY k h n", "HINCRBYFLOAT k h f", "HINCRBYFLOAT k h f", "HRANDFIELD k", "HRANDFIELD k cnt", "HRANDFIELD k cnt WITHVALUES",
	"HRANDFIELD k cnt odd", "HSCAN k c walk", "HSCAN k c walk", "TYPE k", "OBJECT ENCODING k", "MANYFIELDS k", "OTHER k", "SET k v", "DEL k", "RENAME k k", "COPY k k copy",
	"EXPIRE k s", "PERSIST k", "PEXPIRETIME k", "SCAN c scan",
}

var setForms = []form{
	"SADD k m+", "SADD k m+", "SADD k m+", "SADD k i+", "SREM k m+", "SMEMBERS k", "SISMEMBER k m", "SMISMEMBER k m+", "SCARD k", "SPOP k", "SPOP k pos", "SRANDMEMBER k", "SRANDMEMBER k cnt",
	"SMOVE k k m", "SMOVE k k m", "SDIFF k+", "SINTER k+", "SUNION k+", "SDIFFSTORE k k+", "SINTERSTORE k k+", "SUNIONSTORE k k+", "SINTERCARD num k+", "SINTERCARD 1 k card", "SINTERCARD 2 k k card",
	"SSCAN k c walk", "SSCAN k c walk", "TYPE k", "OBJECT ENCODING k", "MANYMEMBERS k", "OTHER k", "SET k v", "DEL k", "RENAME k k", "COPY k k copy", "EXPIRE k s", "PERSIST k", "PEXPIRETIME k", "SCAN c scan",
}

// many gives a key more fields or members than Redis keeps in one piece, or takes
// them away again.
func (b *comparison) many(t *rapid.T, words []string) {
	add, remove, step := "HSET", "HDEL", 2
	switch strings.ToUpper(words[0]) {
	case "MANYMEMBERS":
		add, remove, step = "SADD", "SREM", 1
	case "MANYSCORES", "MANYELEMENTS":
		b.manyOrdered(t, words)
		return
	}
	adds, removes := []string{add, words[1]}, []string{remove, words[1]}
	for i := range 520 {
		name := strings.Repeat("m", i%5) + string(rune('0'+i%10)) + string(rune('a'+i/10))
		adds, removes = append(adds, name), append(removes, name)
		if step == 2 {
			adds = append(adds, name)
		}
	}
	b.run(t, adds)
	if rapid.Bool().Draw(t, "remove") {
		b.run(t, removes)
	}
}

// pop runs SPOP everywhere. What is popped is for chance to decide, so the shape
// of the replies is compared, and then every set is made what redis-server's is.
func (b *comparison) pop(t *rapid.T, words []string) {
	theirs, ours := b.timed(t, redistest.Request(words...))
	for i, reply := range ours {
		if theirs[0] == '-' || isNull(theirs) {
			if !bytes.Equal(theirs, reply) {
				t.Fatalf("%q\nredis: %q\nours:  %q", words, theirs, reply)
			}
			continue
		}
		popped := elements(reply)
		if theirs[0] != reply[0] || len(popped) != len(elements(theirs)) {
			t.Fatalf("%q\nredis: %q\nours:  %q", words, theirs, reply)
		}
		if reply[0] == '$' {
			popped = elements(append([]byte("*1\r\n"), reply...))
		}
		d := b.desks[i]
		for _, member := range popped {
			if string(d.raw(t, redistest.Request("SISMEMBER", words[1], member))) != ":0\r\n" {
				t.Fatalf("%q popped %q, which is still there", words, member)
			}
		}
		slices.Sort(popped)
		if len(slices.Compact(popped)) != len(popped) {
			t.Fatalf("%q popped %q", words, popped)
		}
		b.align(t, d, words[1])
	}
}

// align makes a set of ours what redis-server's is, and keeps its expiry.
func (b *comparison) align(t *rapid.T, d *desk, key string) {
	ask := redistest.Request("SMEMBERS", key)
	want := elements(b.redis.send(t, ask)[0])
	have := elements(d.raw(t, ask))
	if len(have) != len(want) {
		t.Fatalf("%d members are left, redis-server has %d", len(have), len(want))
	}
	for _, member := range want {
		d.raw(t, redistest.Request("SADD", key, member))
	}
	for _, member := range have {
		if !slices.Contains(want, member) {
			d.raw(t, redistest.Request("SREM", key, member))
		}
	}
}

// sameUnless compares two arrays as sets where Redis' order is that of a hash
// table, and wants the same order where it keeps things in one piece.
func sameUnless(b *comparison, theirs, ours []byte) bool {
	ordered := string(b.redis.send(fatal{}, redistest.Request("OBJECT", "ENCODING", b.words[1]))[0]) != "$9\r\nhashtable\r\n"
	return theirs[0] == ours[0] && !ordered && sameKeys(b, theirs, ours)
}

// samePairs is sameUnless for fields with their values.
func samePairs(b *comparison, theirs, ours []byte) bool {
	x, y := elements(theirs), elements(ours)
	if theirs[0] == '%' {
		x, y = elements(append([]byte("*"), theirs[1:]...)), elements(append([]byte("*"), ours[1:]...))
	}
	if len(x) != len(y) || theirs[0] != ours[0] || len(x)%2 != 0 {
		return false
	}
	ordered := string(b.redis.send(fatal{}, redistest.Request("OBJECT", "ENCODING", b.words[1]))[0]) != "$9\r\nhashtable\r\n"
	return !ordered && slices.Equal(sortedPairs(x), sortedPairs(y))
}

// sortedPairs joins each field with its value and sorts them.
func sortedPairs(words []string) []string {
	var all []string
	for i := 0; i < len(words); i += 2 {
		all = append(all, words[i]+"\x00\x00"+words[i+1])
	}
	slices.Sort(all)
	return all
}

// fatal panics: an excuse has no test to fail.
type fatal struct{}

func (fatal) Fatalf(format string, args ...any) { panic(format) }

// sameDraw compares replies whose elements are drawn at random: their form, how
// many there are, and that ours come from the key. Whether they may repeat is for
// TestDraws.
func sameDraw(b *comparison, theirs, ours []byte) bool {
	if theirs[0] != ours[0] || theirs[0] == '-' {
		return false
	}
	if theirs[0] == '$' {
		return isNull(theirs) == isNull(ours)
	}
	head := func(reply []byte) string { h, _, _ := bytes.Cut(reply, []byte("\r\n")); return string(h) }
	return head(theirs) == head(ours) && bytes.Count(theirs, []byte("\r\n*2\r\n")) == bytes.Count(ours, []byte("\r\n*2\r\n"))
}

// walkElements follows HSCAN or SSCAN through a key everywhere and compares what
// was found, in order where Redis has one.
func (b *comparison) walkElements(t *rapid.T, words []string) {
	theirs, ours := b.timed(t, redistest.Request(words...))
	ask := func(send func([]byte) []byte, reply []byte) (found []string) {
		for {
			head, rest, _ := bytes.Cut(bytes.TrimPrefix(reply, []byte("*2\r\n")), []byte("\r\n"))
			cursor, array, _ := bytes.Cut(rest, []byte("\r\n"))
			if len(head) == 0 || head[0] != '$' {
				t.Fatalf("%q: %q", words, reply)
			}
			found = append(found, elements(array)...)
			if string(cursor) == "0" {
				return found
			}
			reply = send(redistest.Request(append([]string{words[0], words[1], string(cursor)}, words[3:]...)...))
		}
	}
	for i, reply := range ours {
		if bytes.Equal(theirs, reply) {
			continue
		}
		if theirs[0] == '-' || reply[0] == '-' {
			t.Fatalf("%q\nredis: %q\nours:  %q", words, theirs, reply)
		}
		want := ask(func(raw []byte) []byte { return b.redis.send(t, raw)[0] }, theirs)
		got := ask(func(raw []byte) []byte { return b.desks[i].raw(t, raw) }, reply)
		if !strings.EqualFold(words[0], "SSCAN") {
			if strings.EqualFold(words[0], "ZSCAN") {
				spellScores(want, got)
			}
			want, got = sortedPairs(want), sortedPairs(got)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, slices.Compact(want)) {
			t.Fatalf("%d shards: %q\nredis: %q\nours:  %q", b.desks[i].engine.Shards(), words, want, got)
		}
	}
}

package engine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// FuzzScriptCalls gives redis.call whatever bytes, in whatever number of words,
// nested in a transaction or not, at engines of one and of three shards: it answers
// each with one reply, alike, and goes on. Words are lines of the input.
func FuzzScriptCalls(f *testing.F) {
	var names []string
	for _, row := range newTable(f).Rows() {
		name := strings.ReplaceAll(row.Name, "|", "\n")
		names = append(names, name)
		for _, words := range []string{"", "\nk", "\nk\n1", "\nk\n1\n2", "\n2\nk\nl", "\nk\nf\n-1\nx", "\nk\n\xff\x00\n9223372036854775807"} {
			f.Add(uint8(len(names)), []byte(name+words))
		}
	}
	sources := []string{
		"return redis.call(unpack(ARGV))",
		"return {redis.pcall(unpack(ARGV))}",
		"local ok, e = pcall(redis.call, unpack(ARGV)) return redis.pcall(unpack(ARGV))",
		"redis.setresp(3) return redis.pcall(unpack(ARGV))",
		"for i = 1, 3 do redis.pcall(unpack(ARGV)) end return redis.pcall(ARGV[#ARGV], unpack(ARGV))",
		"return redis.call('EVAL', 'return 1', 0, unpack(ARGV))",
		"for i = 1, #ARGV do ARGV[i] = tonumber(ARGV[i]) or ARGV[i] end return redis.pcall(unpack(ARGV))",
		"return redis.acl_check_cmd(unpack(ARGV))",
		"return coroutine.wrap(function() return redis.pcall(unpack(ARGV)) end)()",
		"redis.call('HSET', 'h', 'f', 1) redis.call('LPUSH', 'l', 1) redis.call('ZADD', 'z', 1, 'k') redis.call('SADD', 's', 1) redis.call('SET', 'k', 1) redis.pcall(unpack(ARGV)) error('and undo nothing')",
		"redis.call('HSET', 'k', 'f', 1) redis.pcall(unpack(ARGV)) redis.call('LPUSH', 'k2', 1) redis.pcall(unpack(ARGV)) while true do end",
		"return loadstring(table.concat(ARGV, ' '))()",
	}
	one, three := fuzzDesk(f, 1), fuzzDesk(f, 3)
	f.Fuzz(func(t *testing.T, n uint8, input []byte) {
		words := append([]string{"EVAL", sources[int(n)%len(sources)], "1", "k"}, strings.Split(string(input), "\n")...)
		for _, d := range []*desk{one, three} {
			d.do("FLUSHALL")
			reply := d.do(words...)
			if n%2 == 1 {
				d.do("MULTI")
				d.do(words...)
				reply = d.do("EXEC")
			}
			if got := d.do("PTTL", "no such key"); got != "(integer) -2" || reply == "" {
				t.Fatalf("%q: %s, then %s", words, reply, got)
			}
		}
		if random := bytes.Contains(bytes.ToUpper(input), []byte("RAND")) || bytes.Contains(bytes.ToUpper(input), []byte("SPOP")); random {
			return
		}
		if a, b := sortedLines(one.dump()), sortedLines(three.dump()); a != b {
			t.Fatalf("%q left\n%sand on three shards\n%s", words, a, b)
		}
	})
}

// sortedLines are the records of a dump in the order of their keys.
func sortedLines(dump string) string {
	lines := strings.Split(dump, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func fuzzDesk(f *testing.F, shards int) *desk {
	d, err := makeDesk(shards, midnight)
	if err != nil {
		f.Fatal(fmt.Errorf("no engine: %w", err))
	}
	d.engine.Close()
	d.engine = New(Config{Shards: shards, Clock: d.clock, Seed: d.engine.seed, Table: newTable(f), Limits: Limits{ScriptSteps: 100_000, ScriptBytes: 4 << 20, Value: 1 << 20}})
	d.session = d.engine.NewSession(nil, &d.sent)
	f.Cleanup(d.engine.Close)
	return d
}

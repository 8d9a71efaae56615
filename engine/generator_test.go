package engine

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/limitstore/limitstore/redistest"
	"pgregory.net/rapid"
)

// A sketch is a call being drawn from what its row declares, so that a new
// command takes part in every property without a word about it here.
type sketch struct {
	t     *rapid.T
	row   *Command
	words []string
	keys  []string // the words that are keys, in order
}

// random are the commands whose replies, or effects, are for chance to decide.
var random = []string{"SPOP", "SRANDMEMBER", "HRANDFIELD", "ZRANDMEMBER"}

// drawCall draws a call of a row: right in its syntax, mostly right in its
// values.
func drawCall(t *rapid.T, row *Command) *sketch {
	s := &sketch{t: t, row: row, words: strings.Fields(row.FullName())}
	for i := range row.Args {
		s.arg(&row.Args[i])
	}
	if at := row.Keys.Count; at > 0 {
		s.words[at] = strconv.Itoa(len(s.keys) - row.Keys.First)
	}
	return s
}

func (s *sketch) arg(a *Arg) {
	if a.Optional && !rapid.Bool().Draw(s.t, a.Name) {
		return
	}
	times := 1
	if a.Multiple {
		times = rapid.IntRange(1, 3).Draw(s.t, "times")
	}
	for range times {
		if a.Token != "" {
			s.words = append(s.words, s.cased(a.Token))
		}
		s.value(a)
	}
}

// value draws what an argument stands for, its token aside.
func (s *sketch) value(a *Arg) {
	switch a.Type {
	case PureToken:
	case Block:
		for i := range a.Args {
			s.arg(&a.Args[i])
		}
	case OneOf:
		s.arg(&a.Args[rapid.IntRange(0, len(a.Args)-1).Draw(s.t, a.Name)])
	case Key:
		key := s.key()
		s.words, s.keys = append(s.words, key), append(s.keys, key)
	default:
		s.words = append(s.words, rapid.SampledFrom(plausible(a)).Draw(s.t, a.Name))
	}
}

// cased is a token in either case.
func (s *sketch) cased(token string) string {
	if rapid.Bool().Draw(s.t, "lower") {
		return strings.ToLower(token)
	}
	return token
}

// key draws one of few keys: mostly one that holds what the command works on,
// sometimes any.
func (s *sketch) key() string {
	family := string(s.row.Group)
	switch s.row.Group {
	case LeakyBucket, Compatible:
		family = string(TokenBucket)
	case Strings, Hashes, Sets, SortedSets, Lists:
	case Generic:
		family = rapid.SampledFrom(families).Draw(s.t, "family")
	}
	if rapid.IntRange(0, 9).Draw(s.t, "stray") == 0 {
		family = rapid.SampledFrom(families).Draw(s.t, "family")
	}
	return rapid.SampledFrom([]string{"key:a:", "key:a:", "key:a:", "key:b:", "key:{c}:", "key:\r\n\x00:"}).Draw(s.t, "key") + family
}

// scriptsTold are scripts that use their keys or not, and others too; that fail
// half-way, and do what the limiters of libraries do.
var scriptsTold = []string{
	"return {KEYS, ARGV, #KEYS}",
	"return redis.call('INCR', KEYS[1] or 'key:a:string')",
	"local sum = 0 for i = 1, 12 do sum = sum + redis.call('INCRBY', 'far' .. i, i) end return sum",
	"local r = redis.pcall('HSET', KEYS[1] or 'key:a:hash', 'f', ARGV[1] or 'v') if r.err then return r end redis.call('PEXPIRE', KEYS[1] or 'key:a:hash', 90) return r",
	"redis.call('SET', KEYS[1] or 'key:b:string', 'half') redis.call('DEL', 'far3') error('half-way')",
	"return redis.call('TB.TAKE', KEYS[1] or 'key:a:token-bucket', 10, 1, '1s')",
	"redis.call('APPEND', 'elsewhere', ARGV[1] or 'x') return {redis.call('GET', 'elsewhere'), redis.call('PTTL', KEYS[1] or 'elsewhere')}",
	"return redis.call('ZADD', KEYS[#KEYS] or 'key:a:sorted-set', ARGV[1] or 1, 'm') + 1",
	"return 'unfinished",
}

var families = []string{string(TokenBucket), string(FixedWindow), string(SlidingWindow), string(SlidingLog), string(Strings), string(Hashes), string(Sets), string(SortedSets), string(Lists)}

// plausible are values for an argument: mostly ones that are right.
func plausible(a *Arg) []string {
	switch a.Name {
	case "min", "max":
		return []string{"-", "+", "[", "(v", "[v", "-inf", "+inf", "0", "(10", "x"}
	case "script":
		return scriptsTold
	case "sha1":
		var all []string
		for _, source := range scriptsTold {
			sum := sha1.Sum([]byte(source))
			all = append(all, hex.EncodeToString(sum[:]))
		}
		return append(all, "nothing")
	case "function_code":
		return []string{
			"#!lua name=limits\nredis.register_function('hit', function(k, a) return redis.call('INCRBY', k[1] or 'key:a:string', a[1] or 1) end)\n" +
				"redis.register_function{function_name='look', callback=function(k) return redis.call('GET', k[1] or 'key:b:string') end, flags={'no-writes'}}",
			"#!lua name=limits\nredis.register_function('hit', function() return 1 end) redis.register_function{function_name='look', callback=function() end, flags={'no-writes'}}",
			"#!lua name=limits\n", "return 1",
		}
	case "function":
		return []string{"hit", "look", "look", "nosuch"}
	case "library-name":
		return []string{"limits", "limits", "nosuch"}
	case "index":
		return []string{"0", "0", "-1", "1", "x"}
	}
	switch a.Type {
	case Duration:
		return []string{"1ms", "70ms", "1s", "1.5s", "3", "1m", "1h", "3650d", "0", "soon"}
	case Double:
		return []string{"1", "0.5", "-0.25", "3.0e3", "1e17", "abc"}
	case UnixTime:
		at := int64(midnight) / int64(time.Second)
		if strings.Contains(a.Name, "milli") {
			return []string{strconv.FormatInt(at*1000+1500, 10), strconv.FormatInt(at*1000+90, 10), "1", "-1"}
		}
		return []string{strconv.FormatInt(at+2, 10), strconv.FormatInt(at+60, 10), "1", "x"}
	case Pattern:
		return []string{"*", "key:a:*", "?"}
	case Integer:
		if a.Max != 0 {
			return []string{"1", "2", "3", "7", "10", "100", "100000", "0", "-3", "1000000000000", "9223372036854775807", "x"}
		}
		return []string{"1", "2", "10", "100", "1500", "0", "-1", "-10", "9223372036854775807", "x"}
	}
	return []string{"", "v", "10", "-3", "9223372036854775807", "0.5", "hello world", strings.Repeat("long ", 60), "\x00\r\n"}
}

// A pipeline is calls sent at once, some time after the pipeline before.
type pipeline struct {
	after time.Duration
	db    int
	calls [][]string
}

// program draws pipelines of calls of the rows.
func program(t *rapid.T, rows []*Command) []pipeline {
	all := make([]pipeline, rapid.IntRange(1, 12).Draw(t, "pipelines"))
	for i := range all {
		p := &all[i]
		p.after = rapid.SampledFrom([]time.Duration{0, 1, 999_999, time.Millisecond, 70 * time.Millisecond, time.Second, 1501 * time.Millisecond, time.Minute, time.Hour}).Draw(t, "after")
		p.db = rapid.SampledFrom([]int{0, 0, 0, 5}).Draw(t, "db")
		for range rapid.IntRange(1, 12).Draw(t, "calls") {
			p.calls = append(p.calls, drawCall(t, rapid.SampledFrom(rows).Draw(t, "row")).words)
		}
	}
	return all
}

func newTable(t fataler) *Table {
	table, err := NewTable(Commands())
	if err != nil {
		t.Fatalf("%v", err)
	}
	return table
}

// anyOnKeys are the rows that run on the shards of their keys, random ones
// included.
func anyOnKeys(t fataler) []*Command {
	rows := programmable(t)
	for _, row := range newTable(t).Rows() {
		if slices.Contains(random, row.Name) {
			rows = append(rows, row)
		}
	}
	return rows
}

// programmable are the rows whose answer depends on the keys and the time alone:
// not on the number of shards, nor on what has been collected. Flushes are rare.
func programmable(t fataler) []*Command {
	var rows []*Command
	for _, row := range newTable(t).Rows() {
		if row.Scope == OnKeys && row.Run != nil && !slices.Contains(random, row.Name) {
			rows = append(rows, row, row, row)
		} else if row.Scope == EveryShard {
			rows = append(rows, row)
		}
	}
	return rows
}

// play runs a program and returns every reply.
func (d *desk) play(program []pipeline, single bool) (replies []string) {
	for _, p := range program {
		d.clock.Advance(p.after)
		d.session.SetDB(p.db)
		for _, call := range p.calls {
			d.queue(call...)
			if single {
				replies = append(replies, string(d.flush()))
			}
		}
		if !single {
			replies = append(replies, split(d.flush())...)
		}
	}
	return replies
}

// split takes a pipeline's replies apart.
func split(b []byte) (replies []string) {
	for len(b) > 0 {
		_, rest := redistest.Show(b)
		replies = append(replies, string(b[:len(b)-len(rest)]))
		b = rest
	}
	return replies
}

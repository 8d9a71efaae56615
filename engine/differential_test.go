package engine

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/clock"
	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/shard"
	"pgregory.net/rapid"
)

// TestLikeRedis sends random sequences of commands to redis-server and to
// engines of one and of eight shards, and compares the raw replies.
func TestLikeRedis(t *testing.T) {
	redis := startRedis(t)
	for _, proto := range []int{2, 3} {
		redis.send(t, redistest.Request("HELLO", strconv.Itoa(proto)))
		for _, focus := range []struct {
			name  string
			forms []form
		}{
			{"strings", stringForms}, {"keys", keyForms}, {"hashes", hashForms}, {"sets", setForms},
			{"sorted sets", sortedForms}, {"lists", listForms},
			{"all", slices.Concat(stringForms, keyForms, hashForms, setForms, sortedForms, listForms)},
		} {
			t.Run(fmt.Sprintf("RESP%d/%s", proto, focus.name), func(t *testing.T) {
				shards := []*desk{newDeskNow(t, redis, 1, proto), newDeskNow(t, redis, 8, proto)}
				rapid.Check(t, func(t *rapid.T) {
					both := &comparison{redis: redis, desks: shards}
					both.run(t, []string{"FLUSHALL"})
					call, i := calls(focus.forms), 0
					t.Repeat(map[string]func(*rapid.T){"call": func(t *rapid.T) {
						both.run(t, fillTimes(call.Draw(t, "words"), i))
						i++
					}})
				})
			})
		}
	}
}

// newDeskNow is a desk whose clock stands where redis-server's does.
func newDeskNow(t *testing.T, redis *redisServer, shards, proto int) *desk {
	_, now, _ := redis.timed(t, redistest.Request("PING"))
	d, err := makeDesk(shards, now)
	if err != nil {
		t.Fatal(err)
	}
	d.session.SetProto(proto)
	t.Cleanup(d.engine.Close)
	return d
}

// makeDesk starts an engine whose clock stands at the given time; the caller
// closes it.
func makeDesk(shards int, at limit.Instant) (*desk, error) {
	table, err := NewTable(Commands())
	if err != nil {
		return nil, err
	}
	d := &desk{clock: clock.NewManual(at)}
	d.engine = New(Config{Shards: shards, Clock: d.clock, Seed: shard.Seed{1, 2}, Table: table})
	d.session = d.engine.NewSession(nil, &d.sent)
	return d, nil
}

// A form is a command with words to be drawn: see draw.
type form string

var stringForms = []form{
	"GET k", "SET k v", "SET k v set", "SET k v set", "SETNX k v", "SETEX k s v", "PSETEX k ms v", "GETSET k v", "GETDEL k",
	"GETEX k", "GETEX k getex", "MGET k+", "MSET kv+", "MSET kv+ k", "MSETNX kv+", "MSETNX kv+ k", "APPEND k v", "STRLEN k",
	"GETRANGE k i i", "SUBSTR k i i", "SETRANGE k off v", "INCR k", "DECR k", "INCRBY k n", "DECRBY k n", "INCRBYFLOAT k f",
	"INCRBYFLOAT k f", "PTTL k", "OBJECT ENCODING k", "OTHER k",
}

var keyForms = []form{
	"SET k v", "SET k v EX s", "SET k v set", "DEL k+", "UNLINK k+", "EXISTS k+", "TOUCH k+", "TYPE k", "RENAME k k", "RENAMENX k k",
	"OBJECT ENCODING k", "OBJECT FREQ k", "OBJECT REFCOUNT k", "OBJECT IDLETIME k", "OBJECT odd k", "OBJECT", "EXPIRE k s when", "EXPIRE k s when", "PEXPIRE k ms when",
	"EXPIREAT k at when", "PEXPIREAT k atms when", "EXPIRE k s", "TTL k", "PTTL k", "EXPIRETIME k", "PEXPIRETIME k", "PERSIST k",
	"SCAN c scan", "KEYS p", "RANDOMKEY", "DBSIZE", "COPY k k copy", "COPY k k copy", "MOVE k db", "HSET k hp+", "SADD k m+", "FLUSHDB flush", "FLUSHALL flush", "OTHER k", "odd k",
}

// drawn are the words each placeholder stands for. {s} and {ms} become a time
// from now that no other call of the sequence uses.
var drawn = map[string][]string{
	"k":    {"a", "a", "a", "b", "b", "{t}1", "{t}2", "", "bin\x00\r\n\xff", "a*b", "[x]"},
	"v":    {"", "v", "10", "-1", "0", "-0", "007", "+5", " 1", "1 ", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "3.0e3", "10.5", "-0.1", "inf", "-Infinity", "nan", "0x1f", "1e4000", "\x00\xff\r\n", strings.Repeat("x", 44), strings.Repeat("y", 45), strings.Repeat("long ", 60)},
	"n":    {"1", "-1", "0", "7", "9223372036854775807", "-9223372036854775807", "-9223372036854775808", "9223372036854775808", "1.5", "", "abc", "00", "+1"},
	"f":    {"0.1", "1", "-0.5", "3.0e3", "1e-17", "1e17", "5e-1", "0.30000000000000004", "123456789.123456789", "9223372036854775807", "-1e-20", "1e4932", "-1.7e4932", "1e5000", "1e-5000", "1.8e-4951", "1.9e-4951", "0x1.8p1", ".5", "5.", "+2", "inf", "nan", "abc", "", " 1", "1e"},
	"i":    {"0", "1", "-1", "-2", "3", "44", "-100", "100", "9223372036854775807", "-9223372036854775808", "x", "1.0"},
	"off":  {"0", "1", "5", "50", "-1", "x", "67108864", "9223372036854775807", "9223372036854775808"},
	"s":    {"{s}", "{s}", "{s}", "0", "-5", "9223372036854775", "9223372036854775807", "-9223372036854775808", "1.5", "x", ""},
	"ms":   {"{ms}", "{ms}", "{ms}", "0", "-5", "9223372036854775807", "9223372036854775808", "x"},
	"at":   {"4102444800", "4102444860", "9223372036854775", "1", "0", "-1", "1000000000", "9223372036854775807", "-9223372036854775808", "x"},
	"atms": {"4102444800000", "9223372036854775807", "4102444860123", "4102444860500", "1", "0", "-1", "9223372036854775808", "x"},
	"c":    {"0", "0", "0", "", "+0", "x", "1x", " 0", "-", "99999999999999999999"},
	"p":    {"*", "a", "?", "**", "a*", "*b", "[ab]", "[^a]*", "[a-", "\\a", "a\\*b", "bin?\r*", "\\[x]", "*[!-~]", "", "[[-x]*", "b*\xff", "[\x80-\xff]*"},
	"h":    {"f", "f", "g", "1", "field:2", "", "bin\x00\r\n\xff", strings.Repeat("f", 64)},
	"m":    {"a", "a", "b", "c", "1", "2", "-7", "007", "9223372036854775807", "", "bin\x00\r\n\xff", strings.Repeat("m", 64), strings.Repeat("m", 65)},
	"cnt":  {"0", "1", "2", "3", "100", "-1", "-2", "-7", "9223372036854775807", "-9223372036854775808", "4611686018427387904", "9223372036854775808", "x", "1.5", ""},
	"pos":  {"0", "1", "2", "100", "-1", "9223372036854775807", "9223372036854775808", "x", ""},
	"num":  {"1", "2", "3", "0", "-1", "5", "x", "", "9223372036854775807"},
	"sc":   {"0", "1", "1", "2", "-1", "1.5", "10", "-0", "inf", "-inf", "+inf", "1e300", "-1e300", "3.0e3", "0x10", "1700000000000000001", "9007199254740993", "0.1", "0.30000000000000004", "5e-324", "1e400", "1e-400", "nan", "abc", "", " 1", "1 "},
	"z0":   {"0"},
	"sr":   {"-inf", "+inf", "inf", "(1", "1", "(2", "0", "10", "(-1", "-1", "(1.5", "1e400", "-1e400", " 1", "", "(", "(x", "x", "nan", "( 1", "1.0", "(inf", "0x1", "1\x00junk"},
	"mr":   {"-", "-", "+", "+", "[a", "(a", "[b", "(c", "[", "(", "[1", "a", "", "-x", "+x", "[\xff", "(bin\x00\r\n\xff"},
	"lk":   {"ties", "{ties}2"},
	"agg":  {"SUM", "MIN", "MAX", "odd"},
	"minx": {"MIN", "MAX", "max", "odd"},
	"side": {"LEFT", "RIGHT", "left", "right", "odd"},
	"near": {"BEFORE", "AFTER", "after", "odd"},
	"db":   {"0", "0", "5", "15", "16", "-1", "x", ""},
	"odd":  {"FOO", "xx ", "\r\n", ""},
}

// options are what may stand in each place for options, in any number and order.
var drawnOptions = map[string][]string{
	"set":   {"NX", "XX", "GET", "KEEPTTL", "EX s", "PX ms", "EXAT at", "PXAT atms", "PERSIST", "odd", "EX"},
	"getex": {"PERSIST", "EX s", "PX ms", "EXAT at", "PXAT atms", "KEEPTTL", "odd", "EXAT"},
	"when":  {"NX", "XX", "GT", "LT", "odd"},
	"scan":  {"MATCH p", "COUNT n", "TYPE string", "TYPE hash", "TYPE set", "odd"},
	"walk":  {"MATCH p", "COUNT n", "TYPE string", "odd"},
	"card":  {"LIMIT pos", "LIMIT", "odd"},
	"copy":  {"REPLACE", "DB db", "odd", "DB"},
	"add":   {"NX", "XX", "GT", "LT", "CH", "INCR", "odd"},
	"range": {"WITHSCORES", "LIMIT i i", "REV", "BYSCORE", "odd", "LIMIT i"},
	"limit": {"WITHSCORES", "LIMIT i i", "odd", "LIMIT i"},
	"lex":   {"LIMIT i i", "odd"},
	"join":  {"WEIGHTS sc sc", "AGGREGATE agg", "WITHSCORES", "odd"},
	"mpop":  {"COUNT pos", "odd", "COUNT"},
	"lpos":  {"RANK i", "COUNT pos", "MAXLEN pos", "odd", "COUNT"},
	"flush": {"ASYNC", "SYNC", "odd"},
}

// calls draws commands, most of them well formed.
func calls(forms []form) *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		var words []string
		for _, place := range strings.Fields(string(rapid.SampledFrom(forms).Draw(t, "form"))) {
			words = append(words, draw(t, place)...)
		}
		if strings.EqualFold(words[0], "OTHER") || strings.HasPrefix(strings.ToUpper(words[0]), "MANY") {
			return words
		}
		switch rapid.IntRange(0, 19).Draw(t, "arity") {
		case 1:
			words = words[:max(1, len(words)-1)]
		case 2:
			words = append(words, draw(t, "v")...)
		}
		return words
	})
}

// draw fills one place of a form.
func draw(t *rapid.T, place string) []string {
	if choices := drawnOptions[place]; choices != nil {
		var words []string
		for _, option := range rapid.SliceOfN(rapid.SampledFrom(choices), 0, 3).Draw(t, place) {
			for _, part := range strings.Fields(option) {
				words = append(words, draw(t, part)...)
			}
		}
		return words
	}
	if unit, many := strings.CutSuffix(place, "+"); many {
		var words []string
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			for _, one := range units(unit) {
				words = append(words, draw(t, one)...)
			}
		}
		return words
	}
	if choices := drawn[place]; choices != nil {
		return []string{rapid.SampledFrom(choices).Draw(t, place)}
	}
	return []string{rapid.SampledFrom([]string{place, strings.ToLower(place), place[:1] + strings.ToLower(place[1:])}).Draw(t, "case")}
}

// units are the places of what repeats, each a letter; hp is a field with its
// value, sm and zm a score with a member.
func units(unit string) []string {
	switch unit {
	case "hp":
		return []string{"h", "v"}
	case "sm":
		return []string{"sc", "m"}
	case "zm":
		return []string{"z0", "m"}
	}
	return strings.Split(unit, "")
}

// fillTimes makes the times of the i-th call of a sequence its own. They are
// far enough apart that the milliseconds between the two servers decide nothing,
// and far enough ahead that no key expires during the sequence.
func fillTimes(words []string, i int) []string {
	filled := slices.Clone(words)
	for j, w := range filled {
		seconds := 5000 + 100*((i*389)%1009) // earlier ones may be later than later ones: GT and LT
		switch w {
		case "{s}":
			filled[j] = strconv.Itoa(seconds)
		case "{ms}":
			filled[j] = strconv.Itoa(seconds*1000 + 123)
		}
	}
	return filled
}

// comparison is one sequence under way.
type comparison struct {
	redis   *redisServer
	desks   []*desk
	slack   int64    // ms by which a time that redis-server replies may be later than ours
	partial bool     // a string was changed in place
	words   []string // of the call that is compared
}

// run gives the command to all and compares what they reply.
func (b *comparison) run(t *rapid.T, words []string) {
	name := strings.ToUpper(words[0])
	switch {
	case name == "OTHER":
		b.other(t, words[1])
		return
	case strings.HasPrefix(name, "MANY"):
		b.many(t, words)
		return
	case name == "SPOP" && len(words) > 1:
		b.pop(t, words)
		return
	case (name == "HSCAN" || name == "SSCAN" || name == "ZSCAN") && len(words) > 2 && (words[2] == "0" || words[2] == "+0" || words[2] == ""):
		b.walkElements(t, words)
		return
	case name == "SCAN" && len(words) > 1 && (words[1] == "0" || words[1] == "+0" || words[1] == ""):
		b.scan(t, words)
		return
	case b.refused(t, name, words):
		return
	}
	if name == "DBSIZE" { // both have collected what expired once it was asked for
		b.timed(t, redistest.Request(append([]string{"EXISTS"}, drawn["k"]...)...))
	}
	b.partial = b.partial || name == "APPEND" || name == "SETRANGE"
	b.words = words
	theirs, ours := b.timed(t, redistest.Request(words...))
	for i, reply := range ours {
		if bytes.Equal(reply, theirs) {
			continue
		}
		if sameNumbers(b, theirs, reply) {
			continue
		}
		if excuse := excuses[name]; excuse.may == nil || !excuse.may(b, theirs, reply) {
			t.Fatalf("%d shards: %q\nredis: %q\nours:  %q", b.desks[i].engine.Shards(), words, theirs, reply)
		}
	}
}

// timed runs one request everywhere, at redis-server's time.
func (b *comparison) timed(t *rapid.T, raw []byte) (theirs []byte, ours [][]byte) {
	theirs, before, after := b.redis.timed(t, raw)
	// An expiry set from now is off by at most the time between the readings, and
	// so is the now it is compared with.
	b.slack = max(b.slack, int64(after-before)/1e6+1)
	for _, d := range b.desks {
		d.clock.Set(before)
		ours = append(ours, d.raw(t, raw))
	}
	return theirs, ours
}

// other puts something into a key that no command compared here is for: a stream
// there, a limiter here, with one and the same expiry.
func (b *comparison) other(t *rapid.T, key string) {
	b.timed(t, redistest.Request("DEL", key))
	for _, d := range b.desks {
		d.raw(t, redistest.Request("FW.HIT", key, "5", "3650d", "ANCHOR", "FIRST"))
	}
	until := string(b.desks[0].raw(t, redistest.Request("PEXPIRETIME", key)))
	b.redis.send(t, redistest.Request("XADD", key, "*", "f", "v"), redistest.Request("PEXPIREAT", key, strings.Trim(until, ":\r\n")))
}

// refused says whether the command would change the expiry of a limiter. Redis
// would do that to a stream, so only ours is asked: it must refuse.
func (b *comparison) refused(t *rapid.T, name string, words []string) bool {
	if !slices.Contains([]string{"EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "PERSIST"}, name) || len(words) < 2 {
		return false
	}
	for _, d := range b.desks {
		if !bytes.HasPrefix(d.raw(t, redistest.Request("TYPE", words[1])), []byte("+limit")) {
			return false
		}
		if reply := d.raw(t, redistest.Request(words...)); reply[0] != '-' {
			t.Fatalf("%q on a limiter: %q", words, reply)
		}
	}
	return true
}

// scan walks through all keys everywhere and compares what was found.
func (b *comparison) scan(t *rapid.T, words []string) {
	theirs, ours := b.timed(t, redistest.Request(words...))
	for i, reply := range ours {
		if theirs[0] == '-' || reply[0] == '-' {
			if !bytes.Equal(reply, theirs) {
				t.Fatalf("%q\nredis: %q\nours:  %q", words, theirs, reply)
			}
			continue
		}
		want := walkAll(theirs, words, func(raw []byte) []byte { return b.redis.send(t, raw)[0] })
		got := walkAll(reply, words, func(raw []byte) []byte { return b.desks[i].raw(t, raw) })
		if !slices.Equal(got, slices.Compact(want)) {
			t.Fatalf("%d shards: %q\nredis: %q\nours:  %q", b.desks[i].engine.Shards(), words, want, got)
		}
	}
}

// walkAll follows the cursors of SCAN from its first reply on and returns the
// keys in order.
func walkAll(reply []byte, words []string, ask func([]byte) []byte) (keys []string) {
	for {
		in := bufio.NewReader(bytes.NewReader(bytes.TrimPrefix(reply, []byte("*2\r\n"))))
		head, _ := redistest.AppendReply(nil, in)
		found, _ := redistest.AppendReply(nil, in)
		keys = append(keys, elements(found)...)
		cursor := strings.Split(string(head), "\r\n")[1]
		if cursor == "0" {
			slices.Sort(keys)
			return keys
		}
		reply = ask(redistest.Request(append([]string{words[0], cursor}, words[2:]...)...))
	}
}

// excuse is a difference that is meant.
type excuse struct {
	why string
	may func(b *comparison, theirs, ours []byte) bool
}

// excuses are all of them, by command.
var excuses = map[string]excuse{
	"TTL":         {"the clocks are read one after the other", sameTime(1000)},
	"PTTL":        {"the clocks are read one after the other", sameTime(1)},
	"EXPIRETIME":  {"the clocks are read one after the other", sameTime(1000)},
	"PEXPIRETIME": {"the clocks are read one after the other", sameTime(1)},
	"KEYS":        {"the order is nobody's promise", sameKeys},
	"RANDOMKEY":   {"any key will do", func(_ *comparison, theirs, ours []byte) bool { return isNull(theirs) == isNull(ours) }},
	"TYPE":        {"our keys of another type are limiters", pairs("+stream\r\n", "+limit-fixed\r\n")},
	"HKEYS":       {"a hash table has no order", sameUnless},
	"HVALS":       {"a hash table has no order", sameUnless},
	"HGETALL":     {"a hash table has no order", samePairs},
	"SMEMBERS":    {"a hash table has no order", sameUnless},
	"SDIFF":       {"the order is nobody's promise", sameKeys},
	"SINTER":      {"the order is nobody's promise", sameKeys},
	"SUNION":      {"the order is nobody's promise", sameKeys},
	"HRANDFIELD":  {"chance decides", sameDraw},
	"SRANDMEMBER": {"chance decides", sameDraw},
	"ZRANK":       {"7.2 knows WITHSCORE", pairs("-ERR wrong number of arguments for 'zrank' command\r\n", "-ERR syntax error\r\n")},
	"ZREVRANK":    {"7.2 knows WITHSCORE", pairs("-ERR wrong number of arguments for 'zrevrank' command\r\n", "-ERR syntax error\r\n")},
	"LPOS":        {"7.2 refuses a RANK that has no positive one", smallestRank},
	"ZRANDMEMBER": {"chance decides", sameDraw},
	"OBJECT":      {"see sameObject", sameObject},
}

// sameTime compares times in units of so many milliseconds. Whether there is
// one at all may not differ.
func sameTime(unit int64) func(*comparison, []byte, []byte) bool {
	return func(b *comparison, theirs, ours []byte) bool {
		x, err := strconv.ParseInt(strings.Trim(string(theirs), ":\r\n"), 10, 64)
		y, err2 := strconv.ParseInt(strings.Trim(string(ours), ":\r\n"), 10, 64)
		return err == nil && err2 == nil && x >= 0 && y >= 0 && max(x-y, y-x) <= (2*b.slack+unit-1)/unit
	}
}

// sameKeys compares two arrays as sets.
func sameKeys(_ *comparison, theirs, ours []byte) bool {
	x, y := elements(theirs), elements(ours)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func isNull(reply []byte) bool { return string(reply) == "$-1\r\n" || string(reply) == "_\r\n" }

// pairs allows one reply of ours for one of theirs.
func pairs(theirs, ours string) func(*comparison, []byte, []byte) bool {
	return func(_ *comparison, x, y []byte) bool { return string(x) == theirs && string(y) == ours }
}

// sameObject allows for what our records do not keep. Redis calls a string raw
// for ever once it was changed in place; it shares small integers; it knows how
// long a key was idle; it keeps for ever how a collection was kept when it was large;
// and a stream is no limiter.
func sameObject(b *comparison, theirs, ours []byte) bool {
	switch string(theirs) {
	case "$3\r\nraw\r\n":
		return b.partial && string(ours) == "$6\r\nembstr\r\n"
	case "$9\r\nhashtable\r\n": // kept when it shrinks; 7.2 keeps small sets as listpacks
		return string(ours) == "$8\r\nlistpack\r\n" || string(ours) == "$6\r\nintset\r\n"
	case "$8\r\nskiplist\r\n", "$9\r\nquicklist\r\n": // kept when it shrinks; 7.2 keeps small lists as listpacks
		return string(ours) == "$8\r\nlistpack\r\n"
	case "$6\r\nstream\r\n":
		return string(ours) == "$6\r\npacked\r\n"
	case ":2147483647\r\n":
		return string(ours) == ":1\r\n"
	}
	return theirs[0] == ':' && string(ours) == "-"+IdleNotTracked.Text()+"\r\n"
}

package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
)

// scriptCase is a script, or a few commands around some, that a server which is
// not quite Redis has answered wrongly, and the right answers.
type scriptCase struct {
	source string // the trap of the list of semantics, or the public report
	lines  []string
	want   []string // as redis-cli shows the last answers, oldest first
	newer  string   // why Redis 7.0 answers otherwise, "" when it does not
}

// scriptCases are all of them.
var scriptCases = []scriptCase{
	{source: "trap 1: numbers that are not whole become arguments with 17 digits, as in Redis 7.0",
		lines: []string{`EVAL "redis.call('SET','n',5e-7) return redis.call('GET','n')" 0`, `EVAL "return redis.call('ECHO', 0.1)" 0`}, want: []string{`"4.9999999999999998e-07"`, `"0.10000000000000001"`}},
	{source: "trap 1, redis/redis#13113, alicebob/miniredis#117: whole numbers",
		lines: []string{`EVAL "return {redis.call('ECHO', 1e6), redis.call('ECHO', 1e9), redis.call('ECHO', 1000000), redis.call('ECHO', 2^53), redis.call('ECHO', -1e15)}" 0`},
		want:  []string{"1) \"1000000\"\n2) \"1000000000\"\n3) \"1000000\"\n4) \"9007199254740992\"\n5) \"-1000000000000000\""}},
	{source: "trap 1, Redis 7.2.5: whole numbers of more than 17 digits have no exponent either", lines: []string{`EVAL "return {redis.call('ECHO', 1e17), redis.call('ECHO', 2^61)}" 0`},
		want: []string{"1) \"100000000000000000\"\n2) \"2305843009213693952\""}, newer: "7.0 writes %.17g"},
	{source: "redis/redis#13113: hincrby by tonumber('1000000000')", lines: []string{`EVAL "return redis.call('hincrby', KEYS[1], 'f', tonumber('1000000000'))" 1 h`}, want: []string{"(integer) 1000000000"}},
	{source: "alicebob/miniredis#117: expire by a million", lines: []string{"SET k v", `EVAL "return redis.call('expire', KEYS[1], 1000000)" 1 k`}, want: []string{"(integer) 1"}},
	{source: "trap 2: tostring is %.14g", lines: []string{`EVAL "return {tostring(0.1+0.2), tostring(1e15), tostring(1734567890.1234567), 1e15 .. '', tostring(1/0), tostring(2^63)}" 0`},
		want: []string{"1) \"0.3\"\n2) \"1e+15\"\n3) \"1734567890.1235\"\n4) \"1e+15\"\n5) \"inf\"\n6) \"9.2233720368548e+18\""}},
	{source: "trap 3: a reply cuts numbers, and ends at nil", lines: []string{`EVAL "return {3.99, -3.99, 2^53, 1e19, true, false, nil, 5}" 0`},
		want: []string{"1) (integer) 3\n2) (integer) -3\n3) (integer) 9007199254740992\n4) (integer) -9223372036854775808\n5) (integer) 1\n6) (nil)"}},
	{source: "trap 3: false and nil alone", lines: []string{`EVAL "return false" 0`, `EVAL "return nil" 0`, `EVAL "return" 0`, `EVAL "return true" 0`, `EVAL "" 0`}, want: []string{"(nil)", "(nil)", "(nil)", "(integer) 1", "(nil)"}},
	{source: "trap 4: scripts see the shapes of RESP2", lines: []string{"HSET h a 1 b 2", `EVAL "local r = redis.call('HGETALL', 'h') return {#r, r[2], r[4], table.maxn(r)}" 0`},
		want: []string{"1) (integer) 4\n2) \"1\"\n3) \"2\"\n4) (integer) 4"}},
	{source: "trap 4: unless they ask for others", lines: []string{"HSET h a 1", `EVAL "redis.setresp(3) local r = redis.call('HGETALL', 'h') return r.map.a" 0`}, want: []string{`"1"`}},
	{source: "trap 4: booleans and doubles after setresp", lines: []string{"ZADD z 1.5 m", `EVAL "redis.setresp(3) return {redis.call('ZSCORE', 'z', 'm'), true, false}" 0`, `EVAL "redis.setresp(3) return redis.call('ZSCORE', 'z', 'm').double * 2" 0`}, want: []string{"(integer) 3"}},
	{source: "trap 5, SGrondin/bottleneck#205: a code alone", lines: []string{`EVAL "return redis.error_reply('UNKNOWN_CLIENT')" 0`, `EVAL "return redis.error_reply('key does not exist')" 0`, `EVAL "return {err='X'}" 0`, `EVAL "return {err='X Y', ok='Z'}" 0`},
		want: []string{"(error) ERR UNKNOWN_CLIENT", "(error) key does not exist", "(error) X", "(error) X Y"}},
	{source: "trap 6: errors of commands", lines: []string{"SET s x", `EVAL "return redis.call('INCR', 's')" 0`, `EVAL "return redis.pcall('INCR', 's').err" 0`, `EVAL "local r = redis.pcall('INCR', 's') return r" 0`},
		want: []string{"(error) ERR value is not an integer or out of range"}},
	{source: "trap 6: unknown commands", lines: []string{`EVAL "return redis.call('nosuch')" 0`, `EVAL "return redis.pcall('nosuch', 1)" 0`, `EVAL "return redis.call('GET')" 0`, `EVAL "return redis.call()" 0`, `EVAL "return redis.call({})" 0`, `EVAL "return redis.call('GET', nil)" 0`, `EVAL "return redis.call('SUBSCRIBE', 'x')" 0`, `EVAL "return redis.call('EVAL', 'return 1', 0)" 0`}},
	{source: "trap 7: globals", lines: []string{`EVAL "return foo" 0`, `EVAL "foo = 1" 0`, `EVAL "redis.foo = 1" 0`, `EVAL "string.foo = 1" 0`, `EVAL "KEYS = 1 return KEYS" 0`, `EVAL "function f() return 1 end return f()" 0`, `EVAL "_G.x = 1" 0`, `EVAL "setmetatable(_G, {})" 0`, `EVAL "rawset(_G, 'x', 1)" 0`, `EVAL "return tostring(print)" 0`}},
	{source: "trap 8, spring-cloud-gateway#2959: replicate_commands, also after a write", lines: []string{`EVAL "redis.call('SET', 'k', 1) return redis.replicate_commands()" 0`}, want: []string{"(integer) 1"}},
	{source: "trap 9: small hashes keep the order in which they were filled", lines: []string{`EVAL "for i = 20, 1, -1 do redis.call('HSET', 'h', 'f' .. i, i) end redis.call('HSET', 'h', 'f20', 'x') return redis.call('HGETALL', 'h')" 0`}},
	{source: "trap 10: ties are in the order of bytes", lines: []string{`EVAL "redis.call('ZADD', 'z', 1734567890123456789, 'b', 1734567890123456790, 'a', 1734567890123456789, 'B') return redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')" 0`},
		want: []string{"1) \"B\"\n2) \"1734567890123456768\"\n3) \"a\"\n4) \"1734567890123456768\"\n5) \"b\"\n6) \"1734567890123456768\""}, newer: "7.2 writes whole scores without an exponent"},
	{source: "trap 11, alisaifee/limits PR#169: unpack", lines: []string{`EVAL "local t = {} for i = 1, 7900 do t[i] = i end return select('#', unpack(t))" 0`, `EVAL "local t = {} for i = 1, 8001 do t[i] = i end return select('#', unpack(t))" 0`, `EVAL "local t = {} for i = 1, 5000 do t[i] = 'k' .. i end return redis.call('DEL', unpack(t))" 0`}},
	{source: "trap 12: struct and cjson", lines: []string{`EVAL "return {struct.pack('Bc0I', 3, 'abc', 7), cjson.encode({1, 2, {a = 1.5}}), cjson.encode({}), cjson.decode('[1,null,2.5]')[3]}" 0`},
		want: []string{"1) \"\\x03abc\\x07\\x00\\x00\\x00\"\n2) \"[1,2,{\\\"a\\\":1.5}]\"\n3) \"{}\"\n4) (integer) 2"}},
	{source: "trap 13: strings as numbers, and in order", lines: []string{`EVAL "return {'9' > '10', '7' % '4', '10' + 1, -5 % 3, 5 % -3, '010' + 0, '0x10' + 0, 10 .. 20}" 0`},
		want: []string{"1) (integer) 1\n2) (integer) 3\n3) (integer) 11\n4) (integer) 1\n5) (integer) -1\n6) (integer) 10\n7) (integer) 16\n8) \"1020\""}},
	{source: "trap 14, yuin/gopher-lua#472, #491: tonumber", lines: []string{`EVAL "return {tonumber('2e2'), tostring(tonumber('5e-07')), tonumber('0x10'), tonumber('  7  '), tonumber('ff', 16), tostring(tonumber('')), tostring(tonumber('1_0')), tostring(tonumber('0b1'))}" 0`},
		want: []string{"1) (integer) 200\n2) \"5e-07\"\n3) (integer) 16\n4) (integer) 7\n5) (integer) 255\n6) \"nil\"\n7) \"nil\"\n8) \"nil\""}},
	{source: "trap 15: time stands still", lines: []string{`EVAL "local a = redis.call('TIME') local x = 0 for i = 1, 100000 do x = x + i end local b = redis.call('TIME') return a[1] == b[1] and a[2] == b[2]" 0`}, want: []string{"(integer) 1"}, newer: "since 7.2 the clock stands still in a script"},
	{source: "trap 16, #83, #209: a key without time left is gone", lines: []string{`EVAL "redis.call('SET', 'k', 1) redis.call('PEXPIREAT', 'k', 1) return {redis.call('PTTL', 'k'), redis.call('EXISTS', 'k')}" 0`}, want: []string{"1) (integer) -2\n2) (integer) 0"}},
	{source: "trap 17, GrahamCampbell/Laravel-Throttle#100: expiries", lines: []string{"SET k v", `EVAL "return redis.call('EXPIRE', 'k', '1.5')" 0`, `EVAL "return redis.call('SETEX', 'k', '6.0', 'v')" 0`, `EVAL "return redis.call('SETEX', 'k', 0, 'v')" 0`, `EVAL "return redis.call('SET', 'k', 'v', 'EX', 0)" 0`, `EVAL "return {redis.call('PEXPIRE', 'k', 0), redis.call('EXISTS', 'k')}" 0`}},
	{source: "trap 18, redis/redis#13102: EVAL puts into the cache", lines: []string{`EVAL "return 1" 0`, "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0", "EVALSHA E0E1F9FABFC9D4800C877A703B823AC0578FF8DB 0", "SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db nosuch", "SCRIPT FLUSH", "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0"},
		want: []string{"OK", "(error) NOSCRIPT No matching script. Please use EVAL."}},
	{source: "trap 18: a script that does not compile is not cached", lines: []string{`EVAL "return (" 0`, `SCRIPT LOAD "return ("`, `SCRIPT LOAD "x ="`, `EVAL "goto x" 0`}},
	{source: "trap 19, redis/redis#7378, redis/go-redis#3228: NOSCRIPT in a transaction is one answer", lines: []string{"SCRIPT FLUSH", "MULTI", "SET before 1", "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0", "SET after 1", "EXEC", "MGET before after"}, want: []string{"1) OK\n2) (error) NOSCRIPT No matching script. Please use EVAL.\n3) OK", "1) \"1\"\n2) \"1\""}},
	{source: "dragonflydb/dragonfly#782, taskforcesh/bullmq#2463: EVAL in a transaction, keys undeclared", lines: []string{"SCRIPT FLUSH", "MULTI", `EVAL "return {redis.call('INCR', 'far1'), redis.call('INCR', 'far2'), redis.call('INCR', KEYS[1])}" 1 k`, "GET far2", `SCRIPT LOAD "return 7"`, "EXEC"}},
	{source: "valkey-io/iovalkey#76: DISCARD after EVAL", lines: []string{"SCRIPT FLUSH", "MULTI", `EVAL "return 1" 0`, "DISCARD", "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0"}, want: []string{"(error) NOSCRIPT No matching script. Please use EVAL."}},
	{source: "trap 22: numbers of keys", lines: []string{`EVAL "return 1" 2 a`, `EVAL "return 1" -1`, `EVAL "return 1" x`, `EVAL "return 1" 99999999999999999999`, `EVAL "return 1"`, `eval "return {KEYS, ARGV}" 1 a b c`, "EVALSHA x -1", "EVALSHA x 1", "EVALSHA x 0", `EVAL_RO "return 1" 1`}},
	{source: "trap 23: prefixes of errors", lines: []string{"LPUSH l 1", `EVAL "return redis.call('GET', 'l')" 0`, `EVAL "return redis.pcall('GET', 'l')" 0`, `EVAL "local ok, e = pcall(redis.call, 'GET', 'l') return {ok, type(e), e.err or e}" 0`, `EVAL "error(redis.pcall('GET', 'l'))" 0`, `EVAL "error('plain')" 0`, `EVAL "error({err = 'MINE own'})" 0`, `EVAL "error()" 0`, `EVAL "error('at 2', 2)" 0`, `EVAL "error('bare', 0)" 0`, `EVAL "assert(false, 'asserted')" 0`, `EVAL "assert(nil)" 0`}},
	{source: "upstash/ratelimit-js#95: a number is no string", lines: []string{`EVAL "return {1 == '1', ARGV[1] == 1, tonumber(ARGV[1]) == 1}" 0 1`}, want: []string{"1) (nil)\n2) (nil)\n3) (integer) 1"}},
	{source: "redisson/redisson#4663: SET clears the expiry", lines: []string{`EVAL "redis.call('SET', 'k', 1, 'PX', 100000) redis.call('SET', 'k', 2) return redis.call('PTTL', 'k')" 0`}, want: []string{"(integer) -1"}},
	{source: "dragonflydb/dragonfly#2034: set EX NX, incrby, pttl", lines: []string{`EVAL "redis.call('set', KEYS[1], 0, 'EX', ARGV[2], 'NX') local c = redis.call('incrby', KEYS[1], ARGV[1]) local ttl = redis.call('pttl', KEYS[1]) if ttl == -1 then redis.call('expire', KEYS[1], ARGV[2]) ttl = 1000 * ARGV[2] end return {c, ttl > 0 and ttl <= 1000 * ARGV[2]}" 1 k 1 10`}, want: []string{"1) (integer) 1\n2) (integer) 1"}},
	{source: "traefik/traefik#13824: table.maxn and the rest of 5.1", lines: []string{`EVAL "return {table.maxn({1, 2, nil, 4}), type(unpack), type(loadstring), type(math.pow), type(string.gfind), type(table.getn), type(setfenv), type(getfenv), math.fmod(7, 4), math.mod and 1 or 0}" 0`}},
	{source: "dragonflydb/dragonfly#272: ttl of no key", lines: []string{`EVAL "return redis.call('ttl', KEYS[1]) < 5" 1 none`}, want: []string{"(integer) 1"}},
	{source: "wemake-services/asyncio-redis-rate-limit#213: EXPIRE NX", lines: []string{"SET k 1", `EVAL "return {redis.call('EXPIRE', 'k', 86400, 'NX'), redis.call('EXPIRE', 'k', 5, 'NX'), redis.call('EXPIRE', 'k', 5, 'GT')}" 0`}, want: []string{"1) (integer) 1\n2) (integer) 0\n3) (integer) 0"}},
	{source: "alicebob/miniredis#255: set answers a table", lines: []string{`EVAL "local r = redis.call('SET', 'k', 1) return {type(r), r.ok, redis.call('TYPE', 'k').ok, redis.call('PING').ok}" 0`}, want: []string{"1) \"table\"\n2) \"OK\"\n3) \"string\"\n4) \"PONG\""}},
	{source: "stipsan/ioredis-mock#920: values are strings", lines: []string{`EVAL "redis.call('SET', 'k', 5) return type(redis.call('GET', 'k'))" 0`}, want: []string{`"string"`}},
	{source: "fppt/jedis-mock#779: statuses, and ends of lines in them", lines: []string{`EVAL "return redis.status_reply('FINE')" 0`, `EVAL "return redis.status_reply('a\r\n+b')" 0`, `EVAL "return redis.error_reply('a\r\nb')" 0`, `EVAL "return {ok = 'a\nb'}" 0`, `EVAL "return {err = 'a\r\n:1'}" 0`, `EVAL "return redis.status_reply()" 0`, `EVAL "return redis.error_reply(1, 2)" 0`, `EVAL "error('a\r\n:1\r\n')" 0`}},
	{source: "microsoft/garnet PR#645, aspnetcore-redis-rate-limiting#154: TIME, tables of replies", lines: []string{`EVAL "return #redis.call('TIME')" 0`}, want: []string{"(integer) 2"}},
	{source: "go-redis/redis_rate#110: an expiry of inf and nan", lines: []string{`EVAL "return redis.call('SET', 'k', 1, 'EX', math.ceil(1/0))" 0`, `EVAL "return redis.call('SET', 'k', 1, 'EX', 0/0)" 0`}},
	{source: "alisaifee/limits#8: LINDEX at 98765432198765432198765", lines: []string{"RPUSH l a", `EVAL "return redis.call('LINDEX', 'l', tonumber('98765432198765432198765'))" 0`}},
	{source: "animir/node-rate-limiter-flexible#268: an argument that is no number", lines: []string{`EVAL "return redis.call('INCRBY', KEYS[1], ARGV[1])" 1 k undefined`}},
	{source: "redisson/redisson#3025: struct.unpack of what is too short", lines: []string{`EVAL "return struct.unpack('Bc0I', 'x')" 0`}},
	{source: "SGrondin/bottleneck: an array with booleans", lines: []string{`EVAL "return {true, 1, false, 'x', {}, {true, {false}}}" 0`}},
	{source: "laravel: pairs over mget with holes", lines: []string{"MSET a 1 c 3", `EVAL "local n = {} for i, v in pairs(redis.call('mget', unpack(KEYS))) do n[#n + 1] = i .. tostring(v) end return n" 3 a b c`}, want: []string{"1) \"11\"\n2) \"2false\"\n3) \"33\""}},
	{source: "throttled: a value that is binary, compared and set", lines: []string{`EVAL "redis.call('SET', KEYS[1], '\0\255\r\n') local v = redis.call('GET', KEYS[1]) return {#v, v, v == '\0\255\r\n'}" 1 k`}},
	{source: "spring-cloud-gateway: TIME()[1] as a number", lines: []string{`EVAL "return redis.call('TIME')[1] > '1700000000'" 0`}, want: []string{"(integer) 1"}},
	{source: "async-ratelimiter: KEYS over all", lines: []string{"MSET limit:a 1", `EVAL "for i, n in ipairs(redis.call('KEYS', 'limit:*')) do redis.call('DEL', n) end return redis.call('DBSIZE')" 0`}},
	{source: "upstash: SCAN in a script", lines: []string{"MSET limit:a 1", `EVAL "local r = redis.call('SCAN', 0, 'MATCH', 'limit:*', 'COUNT', 1000) return {r[1], r[2]}" 0`}},
	{source: "symfony: the score as an expiry", lines: []string{`EVAL "redis.call('ZADD', 'z', 4102444800000, 'm') return redis.call('PEXPIREAT', 'z', redis.call('ZREVRANGE', 'z', 0, 0, 'WITHSCORES')[2])" 0`}, want: []string{"(integer) 1"}},
	{source: "Redis 7: #! and flags", lines: []string{"EVAL \"#!lua flags=no-writes\\nreturn redis.call('SET', 'k', 1)\" 0", "EVAL \"#!lua flags=no-writes\\nreturn redis.call('GET', 'k')\" 0", "EVAL \"#!lua\\nreturn 1\" 0", "EVAL \"#!lua flags=nosuch\\nreturn 1\" 0", "EVAL \"#!js\\nreturn 1\" 0", "EVAL \"#!lua x\\nreturn 1\" 0", "EVAL \"#!lua\" 0", "EVAL \"#!lua flags=no-writes\\nerror('at line 2')\" 0", "EVAL_RO \"return redis.call('SET', 'k', 1)\" 0", "EVAL_RO \"return redis.pcall('PUBLISH', 'c', 1)\" 0"}},
	{source: "SELECT in a script is the script's", lines: []string{`EVAL "redis.call('SELECT', 1) redis.call('SET', 'k', 'one') return redis.call('GET', 'k')" 0`, "GET k", "SELECT 1", "GET k", "SELECT 0"}},
	{source: "SCRIPT and its subcommands", lines: []string{"SCRIPT", "SCRIPT NOSUCH", "SCRIPT LOAD", "SCRIPT EXISTS", "SCRIPT FLUSH now", "SCRIPT FLUSH ASYNC", "SCRIPT FLUSH SYNC x", "SCRIPT KILL", "SCRIPT KILL x", `SCRIPT LOAD "return ARGV[1]"`, "EVALSHA 098e0f0d1448c0a81dafe820f66d460eb09263da 0 x"}},
}

// TestScriptCasesAreRedis asks each at servers of one and of eight shards, and at
// redis-server, in both protocols.
func TestScriptCasesAreRedis(t *testing.T) {
	theirs := callAt(t, redistest.Start(t))
	for _, shards := range []int{1, 8} {
		ours := newRig(t, func(s *setup) { s.shards = shards }).call()
		for _, hello := range []string{"HELLO 2", "HELLO 3"} {
			theirs.do(hello)
			ours.do(hello)
			for _, c := range scriptCases {
				c.compare(t, fmt.Sprintf("%s, %d shards: %s", hello, shards, c.source), ours, theirs)
			}
		}
	}
}

func (c *scriptCase) compare(t *testing.T, about string, ours, theirs *caller) {
	ours.do("FLUSHALL")
	theirs.do("FLUSHALL")
	var shown []string
	for _, line := range c.lines {
		ask := request(redistest.Words(t, line)...)
		ours.send(ask)
		theirs.send(ask)
		got, want := ours.reply(), theirs.reply()
		text, _ := redistest.Show([]byte(got))
		shown = append(shown, text)
		if got != want && c.newer == "" {
			t.Errorf("%s\n%s\ngot  %q\nwant %q", about, line, got, want)
		}
	}
	if last := shown[max(0, len(shown)-len(c.want)):]; strings.Join(last, "\n") != strings.Join(c.want, "\n") && c.want != nil {
		t.Errorf("%s\ngot  %s\nwant %s", about, last, c.want)
	}
}

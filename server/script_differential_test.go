package server

import (
	"crypto/sha1"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
	"pgregory.net/rapid"
)

// inScripts are the commands of random scripts: k is a key, declared or not, v a
// value, f a field, n a number, at a time far ahead. Their replies depend on
// neither the time nor the order of a hash table.
var inScripts = []string{
	"GET k", "SET k v", "SET k v", "SET k v NX", "SET k v XX GET", "SET k v EXAT at", "SET k v KEEPTTL", "SETNX k v", "GETDEL k", "APPEND k v", "SETRANGE k 2 v", "STRLEN k", "INCR k", "INCRBY k n", "DECR k", "INCRBYFLOAT k 0.5",
	"MGET k k k", "MSET k v k v", "MSETNX k v k v", "DEL k", "DEL k k", "UNLINK k", "EXISTS k k", "TYPE k", "RENAME k k", "RENAMENX k k", "COPY k k", "TOUCH k",
	"EXPIREAT k at", "EXPIREAT k at NX", "EXPIREAT k at GT", "PEXPIREAT k 4102444800123", "EXPIREAT k 1", "EXPIRE k 0", "PERSIST k", "EXPIRETIME k", "PEXPIRETIME k", "EXPIRE k x",
	"HSET k f v", "HSET k f v f v", "HGET k f", "HMGET k f f", "HDEL k f", "HINCRBY k f n", "HGETALL k", "HLEN k", "HKEYS k", "HSETNX k f v", "HEXISTS k f",
	"ZADD k n f", "ZADD k n f n f", "ZADD k NX n f", "ZADD k INCR n f", "ZSCORE k f", "ZREM k f", "ZRANGE k 0 -1", "ZRANGE k 0 -1 WITHSCORES", "ZCARD k", "ZREMRANGEBYSCORE k -inf n", "ZCOUNT k -inf +inf", "ZINCRBY k n f", "ZRANK k f", "ZPOPMIN k",
	"LPUSH k v", "RPUSH k v v", "LPOP k", "RPOP k 2", "LRANGE k 0 -1", "LLEN k", "LINDEX k -1", "LTRIM k 0 1", "LSET k 0 v", "LREM k 0 v", "LMOVE k k LEFT RIGHT", "RPOPLPUSH k k",
	"SADD k n n", "SREM k n", "SCARD k", "SISMEMBER k n", "SMISMEMBER k n n", "SINTERCARD 2 k k",
	"PUBLISH c v", "ECHO v", "PING", "SELECT 0", "NOSUCH k", "GET", "SET k", "SUBSCRIBE c", "MULTI", "DBSIZE", "FLUSHDB",
}

// scriptWords are what the places stand for, as Lua.
var scriptWords = map[string][]string{
	"k":  {"KEYS[1]", "KEYS[1]", "KEYS[2]", "'far1'", "'far2'", "'far3'", "'{t}' .. (ARGV[1] or 1)"},
	"v":  {"'v'", "'10'", "7", "ARGV[1] or 'none'", "3.5", "-0.25", "1e15", "''", "'\\0\\255'", "true"},
	"f":  {"'f'", "'g'", "1", "ARGV[1] or 'h'"},
	"n":  {"1", "-2", "'3'", "10 / 4", "2 ^ 40", "'x'", "9007199254740993"},
	"at": {"4102444800", "4102444860", "'4102444920'"},
	"c":  {"'c'"},
}

// luaValues are what a script may answer with beside replies.
var luaValues = []string{
	"1", "2.9", "-2.9", "'text'", "true", "false", "nil", "{}", "{1, 'a', {2, {3}}}", "{1, nil, 3}", "{ok = 'FINE'}", "{err = 'MINE bad'}", "{err = 'bare'}", "redis.status_reply('S')", "redis.error_reply('E text')", "redis.error_reply('E')",
	"{double = 1.5}", "{map = {a = 1}}", "{set = {a = true}}", "{big_number = '123'}", "{verbatim_string = {format = 'txt', string = 'x'}}", "{a = 1, 5}",
	"#KEYS", "ARGV", "KEYS", "tostring(0.1)", "cjson.encode({1, 'x'})", "redis.sha1hex('x')", "('x'):rep(300)", "#r", "type(r[1])", "r[1]", "redis.REPL_ALL", "tonumber(ARGV[1])",
}

// luaCall draws a command of a script.
func luaCall(t *rapid.T, how string) string {
	var words []string
	for i, word := range strings.Fields(rapid.SampledFrom(inScripts).Draw(t, "command")) {
		switch choices := scriptWords[word]; {
		case choices != nil:
			word = rapid.SampledFrom(choices).Draw(t, word)
		case i > 0 || rapid.Bool().Draw(t, "upper"):
			word = "'" + word + "'"
		default:
			word = "'" + strings.ToLower(word) + "'"
		}
		words = append(words, word)
	}
	return how + "(" + strings.Join(words, ", ") + ")"
}

// luaBlock draws some statements, those within them being less deep.
func luaBlock(t *rapid.T, deep int) string {
	var all []string
	for range rapid.IntRange(1, 4).Draw(t, "statements") {
		all = append(all, luaStatement(t, deep))
	}
	return strings.Join(all, rapid.SampledFrom([]string{" ", "\n"}).Draw(t, "between"))
}

func luaStatement(t *rapid.T, deep int) string {
	kinds := []string{"call", "call", "call", "call", "pcall", "pcall", "pcall", "value", "value", "error", "resp"}
	if deep > 0 {
		kinds = append(kinds, "try", "try", "if", "for", "coroutine")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "pcall":
		return "r[#r + 1] = " + luaCall(t, "redis.pcall")
	case "value":
		return "r[#r + 1] = " + rapid.SampledFrom(luaValues).Draw(t, "value")
	case "error":
		return "if #r > 2 then " + rapid.SampledFrom([]string{"error('half-way')", "error({err = 'OWN code'})", "error('bare', 0)", "local x = nil + 1", "nosuch()", "x = 1", "return redis.error_reply('LEFT early')", "return r[1]", "error(redis.pcall('INCR', 'far1', 2))", "assert(false, 'asserted')"}).Draw(t, "error") + " end"
	case "resp":
		return "redis.setresp(" + rapid.SampledFrom([]string{"2", "3"}).Draw(t, "version") + ")"
	case "try":
		return "do local ok, e = pcall(function() " + luaBlock(t, deep-1) + " end) r[#r + 1] = ok r[#r + 1] = type(e) == 'table' and e.err or tostring(e) end"
	case "if":
		return "if redis.call('EXISTS', " + rapid.SampledFrom(scriptWords["k"]).Draw(t, "k") + ") == 1 then " + luaBlock(t, deep-1) + " else " + luaBlock(t, deep-1) + " end"
	case "for":
		return "for i = 1, " + strconv.Itoa(rapid.IntRange(0, 3).Draw(t, "times")) + " do " + luaBlock(t, deep-1) + " end"
	case "coroutine":
		return "do local co = coroutine.wrap(function() " + luaBlock(t, deep-1) + " coroutine.yield() " + luaBlock(t, deep-1) + " end) co() co() end"
	}
	return "r[#r + 1] = " + luaCall(t, "redis.call")
}

// drawScripts draws a few sources, which a conversation then runs.
func drawScripts(t *rapid.T) []string {
	all := make([]string, rapid.IntRange(1, 3).Draw(t, "scripts"))
	for i := range all {
		head := rapid.SampledFrom([]string{"", "", "", "", "#!lua flags=no-writes\n", "#!lua\n"}).Draw(t, "head")
		tail := rapid.SampledFrom([]string{" return r", " return r", " return r", "", " return r[#r]", " return #r"}).Draw(t, "tail")
		all[i] = head + "local r = {} " + luaBlock(t, 2) + tail
	}
	return all
}

// betweenScripts are the commands around them.
var betweenScripts = []string{"GET k", "SET k v", "INCR k", "MGET k k", "DEL k k", "TYPE k", "EXISTS k", "EXPIRETIME k", "EXPIREAT k 4102444800", "LPUSH k v", "HSET k f v", "DBSIZE", "MULTI", "MULTI", "EXEC", "EXEC", "DISCARD", "WATCH k", "SCRIPT FLUSH", "PING", "HELLO 2", "HELLO 3", "SELECT 1", "SELECT 0", "FLUSHDB"}

// scriptedCall draws one command of a conversation.
func scriptedCall(t *rapid.T, sources []string) []string {
	key := rapid.SampledFrom([]string{"a", "b", "far1", "far2", "far3", "{t}1", "{t}x"})
	source := rapid.SampledFrom(sources).Draw(t, "source")
	sum := sha1.Sum([]byte(source))
	sha := hex.EncodeToString(sum[:])
	words := []string{"EVAL", source}
	switch rapid.SampledFrom([]string{"EVAL", "EVAL", "EVAL", "EVALSHA", "EVALSHA", "LOAD", "EXISTS", "RO", "other", "other", "other", "other"}).Draw(t, "call") {
	case "EVALSHA":
		words = []string{"EVALSHA", sha}
	case "RO":
		words = []string{"EVAL_RO", source}
	case "LOAD":
		return []string{"SCRIPT", "LOAD", source}
	case "EXISTS":
		return []string{"SCRIPT", "EXISTS", sha, "x"}
	case "other":
		words = strings.Fields(rapid.SampledFrom(betweenScripts).Draw(t, "other"))
		for i := range words {
			if words[i] == "k" {
				words[i] = key.Draw(t, "key")
			}
		}
		return words
	}
	keys := rapid.SliceOfN(key, 2, 2).Draw(t, "keys")
	words = append(words, "2", keys[0], keys[1])
	return append(words, rapid.SliceOfN(rapid.SampledFrom([]string{"1", "x", "2.5", ""}), 0, 2).Draw(t, "arguments")...)
}

// stateOf is everything in two databases, told by commands.
func stateOf(c *caller) string {
	const tell = `local all = {} for _, k in ipairs(redis.call('KEYS', '*')) do local t = redis.call('TYPE', k).ok
		local v = t == 'string' and {redis.call('GET', k)} or t == 'hash' and redis.call('HGETALL', k) or t == 'list' and redis.call('LRANGE', k, 0, -1) or t == 'zset' and redis.call('ZRANGE', k, 0, -1, 'WITHSCORES') or redis.call('SMEMBERS', k)
		if t == 'set' then table.sort(v) end
		for i, word in ipairs(v) do v[i] = #word .. ':' .. word end
		all[#all + 1] = k .. ' ' .. t .. ' ' .. redis.call('PEXPIRETIME', k) .. ' ' .. table.concat(v, ',') end table.sort(all) return table.concat(all, '\n')`
	c.send("DISCARD\r\nHELLO 2\r\nSELECT 1\r\n" + eval(tell, "0") + "SELECT 0\r\n" + eval(tell, "0"))
	c.reply()
	c.reply()
	return c.replies(4)
}

// TestScriptsAreRedis runs random scripts, alone, in transactions and in pipelines
// with other commands, at servers of one and eight shards and at redis-server: the
// same replies, and the same keys in the end.
func TestScriptsAreRedis(t *testing.T) {
	theirs := redistest.Start(t)
	one, eight := newRig(t, func(s *setup) { s.shards = 1 }).addr, newRig(t, func(s *setup) { s.shards = 8 }).addr
	rapid.Check(t, func(rt *rapid.T) {
		sources := drawScripts(rt)
		var asked []string
		for range rapid.IntRange(1, 12).Draw(rt, "calls") {
			asked = append(asked, request(scriptedCall(rt, sources)...))
		}
		atOnce := rapid.SampledFrom([]int{1, 3, 12}).Draw(rt, "at once")
		want := talkScripts(t, theirs, asked, atOnce)
		for _, addr := range []string{one, eight} {
			got := talkScripts(t, addr, asked, atOnce)
			for i := range want {
				if got[i] != want[i] {
					rt.Fatalf("eight %v, after %q\ngot  %q\nwant %q", addr == eight, asked[:min(i+1, len(asked))], got[i], want[i])
				}
			}
		}
	})
}

// talkScripts asks it all, a few at once, and returns the replies and the state
// that is left.
func talkScripts(t *testing.T, addr string, asked []string, atOnce int) (heard []string) {
	c := callAt(t, addr)
	defer c.Close()
	c.send(request("FLUSHALL") + request("SCRIPT", "FLUSH"))
	c.replies(2)
	for len(heard) < len(asked) {
		some := asked[len(heard):min(len(heard)+atOnce, len(asked))]
		c.send(strings.Join(some, ""))
		for range some {
			heard = append(heard, addresses.ReplaceAllString(steady(c.reply()), "$1: 0x0"))
		}
	}
	return append(heard, stateOf(c))
}

// addresses of tables differ between any two runs.
var addresses = regexp.MustCompile(`(table|function|thread): 0x[0-9a-f]+`)

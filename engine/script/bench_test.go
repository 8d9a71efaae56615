package script

import (
	"bytes"
	"testing"

	"github.com/limitstore/limitstore/resp"
)

// The scripts of well-known limiters, in the shape their libraries send them.
const (
	gcraScript = `
redis.replicate_commands()
local rate_limit_key = KEYS[1]
local burst = ARGV[1]
local rate = ARGV[2]
local period = ARGV[3]
local cost = tonumber(ARGV[4])
local emission_interval = period / rate
local increment = emission_interval * cost
local burst_offset = emission_interval * burst
local jan_1_2017 = 1483228800
local now = redis.call("TIME")
now = (now[1] - jan_1_2017) + (now[2] / 1000000)
local tat = redis.call("GET", rate_limit_key)
if not tat then
  tat = now
else
  tat = tonumber(tat)
end
tat = math.max(tat, now)
local new_tat = tat + increment
local allow_at = new_tat - burst_offset
local diff = now - allow_at
local remaining = diff / emission_interval
if remaining < 0 then
  local reset_after = tat - now
  local retry_after = diff * -1
  return {0, 0, tostring(retry_after), tostring(reset_after)}
end
local reset_after = new_tat - now
if reset_after > 0 then
  redis.call("SET", rate_limit_key, new_tat, "EX", math.ceil(reset_after))
end
local retry_after = -1
return {cost, remaining, tostring(retry_after), tostring(reset_after)}
`
	bucketScript = `
local key = KEYS[1]
local rate = tonumber(ARGV[1])
local capacity = tonumber(ARGV[2])
local now = tonumber(ARGV[3])
local requested = tonumber(ARGV[4])
local state = redis.call('HMGET', key, 'tokens', 'ts')
local tokens = tonumber(state[1])
local ts = tonumber(state[2])
if tokens == nil then
  tokens = capacity
  ts = now
end
local delta = math.max(0, now - ts)
local filled = math.min(capacity, tokens + delta * rate)
local allowed = filled >= requested
local left = filled
if allowed then
  left = filled - requested
end
redis.call('HSET', key, 'tokens', left, 'ts', now)
redis.call('PEXPIRE', key, math.ceil(capacity / rate * 1000) * 2)
return {allowed and 1 or 0, left}
`
	incrScript = `
local current = redis.call("INCR", KEYS[1])
if current == 1 then
  redis.call("PEXPIRE", KEYS[1], ARGV[1])
end
return {current, redis.call("PTTL", KEYS[1])}
`
)

// canned is a Host whose commands cost nothing.
type canned struct{ commandless }

var (
	timeReply  = []byte("*2\r\n$10\r\n1783228800\r\n$6\r\n123456\r\n")
	getReply   = []byte("$15\r\n300000000.12345\r\n")
	hmgetReply = []byte("*2\r\n$3\r\n7.5\r\n$12\r\n1783228800.5\r\n")
	incrReply  = []byte(":1\r\n")
	okReply    = []byte("+OK\r\n")
)

func (canned) Call(args [][]byte, _ int, reply []byte) []byte {
	switch {
	case bytes.Equal(args[0], []byte("TIME")):
		return append(reply, timeReply...)
	case bytes.Equal(args[0], []byte("GET")):
		return append(reply, getReply...)
	case bytes.Equal(args[0], []byte("HMGET")):
		return append(reply, hmgetReply...)
	case bytes.Equal(args[0], []byte("SET")):
		return append(reply, okReply...)
	}
	return append(reply, incrReply...)
}

// words are the arguments of a run.
func words(list ...string) (b [][]byte) {
	for _, w := range list {
		b = append(b, []byte(w))
	}
	return b
}

func benchmark(b *testing.B, source string, args ...string) {
	s, err := Compile([]byte(source))
	if err != nil {
		b.Fatal(err)
	}
	m, w := NewMachine(Options{}), &resp.Writer{}
	w.Reset(resp.RESP2)
	keys, argv := words("limit:user:42"), words(args...)
	b.ReportAllocs()
	for b.Loop() {
		w.Truncate(0)
		if err := m.Run(s, keys, argv, canned{}, w); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGCRA(b *testing.B) { benchmark(b, gcraScript, "10", "10", "60", "1") }

func BenchmarkTokenBucket(b *testing.B) {
	benchmark(b, bucketScript, "10", "100", "1783228801.25", "1")
}

func BenchmarkIncrExpire(b *testing.B) { benchmark(b, incrScript, "60000") }

func BenchmarkLoop(b *testing.B) {
	benchmark(b, "local s = 0 for i = 1, 1000 do s = s + i % 7 end return s")
}

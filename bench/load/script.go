package load

import (
	"crypto/sha1"
	"encoding/hex"
)

// The limits as they are written in Redis: Lua scripts that take the time from the
// server, for callers' clocks differ. Arguments of both: capacity, tokens, the
// microseconds in which so many come back, cost. Both answer as TB.TAKE does:
// allowed, limit, remaining, retry_after_ms, reset_after_ms.

// gcraScript keeps one number a key, the theoretical arrival time of the generic
// cell rate algorithm (ITU-T I.371): the moment at which the bucket is full again.
const gcraScript = `
local capacity, tokens, period, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval = period / tokens
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local later = arrival + cost * interval
local early = later - now - capacity * interval
if early > 0 then
  return {0, capacity, math.floor(capacity - (arrival - now) / interval), math.ceil(early / 1000), math.ceil((arrival - now) / 1000)}
end
redis.call('SET', KEYS[1], string.format('%.0f', later), 'PX', math.ceil((later - now) / 1000))
return {1, capacity, math.floor(capacity - (later - now) / interval), 0, math.ceil((later - now) / 1000)}
`

// bucketScript keeps a hash with the level and its time.
const bucketScript = `
local capacity, tokens, period, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local kept = redis.call('HMGET', KEYS[1], 'level', 'at')
local level = capacity
if kept[1] then
  level = math.min(capacity, kept[1] + math.max(0, now - kept[2]) * tokens / period)
end
local allowed, retry = 0, math.ceil((cost - level) * period / tokens / 1000)
if level >= cost then
  allowed, retry, level = 1, 0, level - cost
  redis.call('HSET', KEYS[1], 'level', string.format('%.6f', level), 'at', string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], math.ceil((capacity - level) * period / tokens / 1000))
end
return {allowed, capacity, math.floor(level), retry, math.ceil((capacity - level) * period / tokens / 1000)}
`

// sha is the name by which EVALSHA knows a script.
func sha(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}

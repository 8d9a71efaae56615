package server

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/redistest"
)

// strides is a clock that moves on each time it is read: so everything takes as
// many steps as the clock is read meanwhile.
type strides struct{ at, step atomic.Int64 }

func (s *strides) Now() limit.Instant { return limit.Instant(s.at.Add(s.step.Load())) }

// stepping is a rig with one shard whose clock strides.
func stepping(t *testing.T, step time.Duration, change ...func(*setup)) (*rig, *strides) {
	s := &strides{}
	s.at.Store(int64(midnight))
	s.step.Store(int64(step))
	return newRig(t, append(change, func(set *setup) { set.shards, set.clock = 1, s })...), s
}

// wordsOfSlowlog are the words of the entries, the latest first.
func wordsOfSlowlog(t *testing.T, c *caller) (all []string) {
	for _, entry := range parsed(t, c.do("SLOWLOG GET -1")).([]any) {
		all = append(all, fmt.Sprintf("%q", listOf(entry.([]any)[3])))
	}
	return all
}

// slowlogStory is what is said with a threshold of 0, where all is logged.
var slowlogStory = [][]string{
	{"CONFIG", "SET", "slowlog-log-slower-than", "0"}, {"GET", "a"}, {"AUTH", "x"}, {"AUTH", "default", "y"}, {"HELLO", "2"}, {"HELLO", "2", "AUTH", "default", "pw", "SETNAME", "me"},
	{"HELLO", "2", "SETNAME", "you"}, {"CONFIG", "SET", "requirepass", "pw"}, {"CONFIG", "SET", "timeout", "0", "requirepass", "pw"}, {"config", "set", "RequirePass", ""},
	{"SET", "k", strings.Repeat("x", 128)}, {"SET", "k", strings.Repeat("x", 129)}, append([]string{"MSET"}, strings.Fields(strings.Repeat("k v ", 16))...),
	append([]string{"DEL"}, strings.Fields(strings.Repeat("k ", 31))...), append([]string{"DEL"}, strings.Fields(strings.Repeat("k ", 32))...),
	{"CLIENT", "SETNAME", "me"}, {"PING"}, {"NOSUCH"}, {"GET"}, {"DBSIZE"}, {"SELECT", "99"}, {"SLOWLOG", "LEN"}, {"INCRBY", "k", "x"},
}

// TestSlowlogIsRedis plays the story to both and compares the words kept.
func TestSlowlogIsRedis(t *testing.T) {
	theirs, ours := callAt(t, redistest.Start(t)), newRig(t).call()
	for _, words := range slowlogStory {
		for _, c := range []*caller{theirs, ours} {
			c.send(request(words...))
			c.reply()
		}
	}
	got, want := wordsOfSlowlog(t, ours), wordsOfSlowlog(t, theirs)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestSlowlogEntry is what is kept of a command that takes one stride.
func TestSlowlogEntry(t *testing.T) {
	r, _ := stepping(t, 20*time.Millisecond)
	c := r.call()
	c.do("CLIENT SETNAME gateway")
	c.do("SLOWLOG RESET")
	c.do("MSET a 1 b 2")
	c.do("SET a 1") // flagged fast: not timed
	entries := parsed(t, c.do("SLOWLOG GET")).([]any)
	if len(entries) != 2 {
		t.Fatalf("%v", entries)
	}
	e := entries[0].([]any)
	if e[2] != int64(20_000) || e[1] != int64(midnight)/1e9 || fmt.Sprint(e[3]) != "[MSET a 1 b 2]" || e[4] != c.LocalAddr().String() || e[5] != "gateway" {
		t.Errorf("%v", e)
	}
	if first := entries[1].([]any); first[0].(int64)+1 != e[0].(int64) || fmt.Sprint(first[3]) != "[SLOWLOG RESET]" {
		t.Errorf("%v before %v", first, e)
	}
	stats := fields(t, c.do("INFO commandstats"))
	if got := stats["cmdstat_mset"]; got != "calls=1,usec=20000,usec_per_call=20000.00,failed_calls=0" {
		t.Errorf("mset: %s", got)
	}
	if got := stats["cmdstat_set"]; got != "calls=1,failed_calls=0" {
		t.Errorf("set: %s", got)
	}
}

// TestSlowlogThreshold logs what takes as long as the threshold and nothing that
// takes less, and never with -1.
func TestSlowlogThreshold(t *testing.T) {
	r, clock := stepping(t, 5*time.Millisecond)
	c := r.call()
	for threshold, logged := range map[string]string{
		"5000": `["COMMAND" "COUNT"] ["MSET" "a" "1" "b" "2"]`, "5001": "", "-1": "",
		"999": `["COMMAND" "COUNT"] ["SET" "a" "1"] ["MSET" "a" "1" "b" "2"]`,
	} {
		clock.step.Store(0)
		c.do("CONFIG SET slowlog-log-slower-than " + threshold)
		c.do("SLOWLOG RESET")
		clock.step.Store(int64(5 * time.Millisecond))
		c.do("MSET a 1 b 2")
		c.do("SET a 1")
		c.do("COMMAND COUNT")
		clock.step.Store(0)
		c.do("CONFIG SET slowlog-log-slower-than -1")
		if got := strings.Join(wordsOfSlowlog(t, c), " "); got != logged {
			t.Errorf("threshold %s: %s, want %s", threshold, got, logged)
		}
	}
}

// TestSlowlogIsBounded by slowlog-max-len, the oldest first.
func TestSlowlogIsBounded(t *testing.T) {
	c := newRig(t).call()
	c.do("CONFIG SET slowlog-max-len 3 slowlog-log-slower-than 0")
	for i := range 5 {
		c.do(fmt.Sprintf("ECHO %d", i))
	}
	if got := strings.Join(wordsOfSlowlog(t, c), " "); got != `["ECHO" "4"] ["ECHO" "3"] ["ECHO" "2"]` {
		t.Error(got)
	}
	c.do("CONFIG SET slowlog-log-slower-than -1 slowlog-max-len 1")
	if got := wordsOfSlowlog(t, c); len(got) != 1 {
		t.Errorf("%q", got)
	}
	c.do("CONFIG SET slowlog-max-len 0")
	if got := c.do("SLOWLOG LEN"); got != ":0\r\n" {
		t.Errorf("%q", got)
	}
}

// TestLatency has the longest time of each second, and nothing while it is off.
func TestLatency(t *testing.T) {
	r, clock := stepping(t, 0)
	c := r.call()
	second := int64(midnight) / 1e9
	play := func(step time.Duration) {
		clock.step.Store(int64(step))
		c.do("MSET a 1 b 2")
		clock.step.Store(0)
	}
	play(30 * time.Millisecond)
	if got := c.do("LATENCY LATEST"); got != "*0\r\n" {
		t.Errorf("off: %q", got)
	}
	clock.at.Store(int64(midnight))
	c.do("CONFIG SET latency-monitor-threshold 10")
	play(9 * time.Millisecond)
	play(10 * time.Millisecond)
	play(40 * time.Millisecond)
	play(20 * time.Millisecond)
	clock.at.Store(int64(midnight) + 5e9)
	play(12 * time.Millisecond)
	clock.step.Store(int64(15 * time.Millisecond))
	c.do("SET a 1")
	clock.step.Store(0)
	want := fmt.Sprintf("[[command %d 12 40] [fast-command %d 15 15]]", second+5, second+5)
	if got := fmt.Sprint(parsed(t, c.do("LATENCY LATEST"))); got != want {
		t.Errorf("latest %s, want %s", got, want)
	}
	want = fmt.Sprintf("[[%d 40] [%d 12]]", second, second+5)
	if got := fmt.Sprint(parsed(t, c.do("LATENCY HISTORY command"))); got != want {
		t.Errorf("history %s, want %s", got, want)
	}
	if got := c.do("LATENCY RESET nosuch command"); got != ":1\r\n" {
		t.Errorf("reset %q", got)
	}
	if got := fmt.Sprint(parsed(t, c.do("LATENCY LATEST"))); strings.Contains(got, "[command") || !strings.Contains(got, "fast-command") {
		t.Errorf("after reset %s", got)
	}
}

// TestLatencyKeeps 160 seconds.
func TestLatencyKeeps(t *testing.T) {
	var e latencyEvent
	for i := range int64(keptSamples + 5) {
		e.add(latencySample{second: i, millis: 1000 - i})
	}
	if len(e.samples) != keptSamples || e.samples[0].second != 5 || e.most != 1000 {
		t.Errorf("%d samples from %v, most %d", len(e.samples), e.samples[0], e.most)
	}
}

package engine

import (
	"strings"
	"testing"
)

// endlessly starts a script that does not end on the shard of key. What it is answered
// comes from the channel.
func (d *desk) endlessly(t *testing.T, key string) <-chan string {
	t.Helper()
	source := "redis.call('SET', KEYS[1], 'half') redis.log(3, 'runs') while true do end"
	d.do("SCRIPT", "LOAD", source)
	answer, other := make(chan string, 1), d.another()
	go func() { answer <- other.do("EVALSHA", shaOf(source), "1", key) }()
	return answer
}

// A script stops nobody but those who need its shard: others are answered while it
// runs, one by one and through the door, until it is killed.
func TestOtherShardsAnswerWhileAScriptRuns(t *testing.T) {
	runs := make(chan bool, 1)
	d := scriptDesk(t, 4, Limits{ScriptSteps: 1 << 62, ScriptTime: 1 << 62})
	d.engine.log = func(int, string) { runs <- true }
	keys := apart(t, 4)
	d.do("SET", keys[1], "whole")
	d.do("SCRIPT", "LOAD", "return redis.call('GET', KEYS[1])")
	answer := d.endlessly(t, keys[1])
	<-runs
	for i := range 100 {
		for _, words := range [][]string{{"INCR", keys[0]}, {"EVALSHA", shaOf("return redis.call('GET', KEYS[1])"), "1", keys[0]}, {"MSET", keys[2], "x", keys[3], "y"}, {"MGET", keys[0], keys[2], keys[3]}} {
			if got := d.do(words...); strings.HasPrefix(got, "(error)") {
				t.Fatalf("round %d, %q: %s", i, words, got)
			}
		}
	}
	select {
	case got := <-answer:
		t.Fatalf("it has ended: %s", got)
	default:
	}
	for d.do("SCRIPT", "KILL") != "OK" {
	}
	if got := <-answer; got != told(ScriptKilled) {
		t.Errorf("killed: %s", got)
	}
	if got := d.do("MGET", keys[0], keys[1]); got != "1) \"100\"\n2) \"whole\"" {
		t.Errorf("afterwards: %s", got)
	}
}

package server

import (
	"fmt"
	"strings"
	"testing"
)

// TestConfigSetTakesEffect changes settings and looks at what they do.
func TestConfigSetTakesEffect(t *testing.T) {
	r := newRig(t)
	c, old := r.call(), r.call()
	old.do("PING")
	c.do("CONFIG SET maxclients 2")
	if got := r.call().rest(); got != "-ERR max number of clients reached\r\n" {
		t.Errorf("one too many: %q", got)
	}
	c.do("CONFIG SET maxclients 10 requirepass secret")
	if got := r.call().do("PING"); !strings.HasPrefix(got, "-NOAUTH ") {
		t.Errorf("a newcomer: %q", got)
	}
	if got := old.do("PING"); got != "+PONG\r\n" {
		t.Errorf("who is in: %q", got)
	}
	if got := r.call().do("AUTH secret"); got != "+OK\r\n" {
		t.Errorf("with the password: %q", got)
	}
	c.send(request("CONFIG", "SET", "requirepass", ""))
	c.reply()
	if got := r.call().do("PING"); got != "+PONG\r\n" {
		t.Errorf("without a password: %q", got)
	}
	c.do("CONFIG SET timeout 3")
	if got := fmt.Sprint(parsed(t, c.do("CONFIG GET timeout idle-timeout maxclients max-clients"))); got != "[idle-timeout 3s max-clients 10 maxclients 10 timeout 3]" {
		t.Errorf("by both names: %s", got)
	}
	r.settled()
	r.visits(5)
	if got := old.rest(); got != "" {
		t.Errorf("idle for 3 s: %q", got)
	}
	if all := strings.Join(r.log.lines("changed settings"), ""); strings.Contains(all, "secret") || strings.Count(all, "\n") != 4 {
		t.Errorf("log: %s", all)
	}
}

// TestThePasswordStays where other machines reach the server.
func TestThePasswordStays(t *testing.T) {
	r := newRig(t, func(s *setup) { s.Password, s.NeedsPassword = "secret", true })
	c := r.call()
	c.do("AUTH secret")
	c.send(request("CONFIG", "SET", "timeout", "9", "requirepass", ""))
	if got := c.reply(); !strings.HasPrefix(got, "-ERR CONFIG SET failed (possibly related to argument 'requirepass') - ") {
		t.Errorf("%q", got)
	}
	if got := c.do("CONFIG GET timeout"); got != "*2\r\n$7\r\ntimeout\r\n$1\r\n0\r\n" {
		t.Errorf("timeout was set: %q", got)
	}
	if got := c.do("CONFIG SET requirepass other"); got != "+OK\r\n" {
		t.Errorf("another one: %q", got)
	}
}

// TestRefusedSettings cannot be changed, whatever the value.
func TestRefusedSettings(t *testing.T) {
	c := newRig(t).call()
	for _, r := range RefusedSettings() {
		if got, want := c.do("CONFIG SET "+r.Name+" 1234567"), "-ERR CONFIG SET failed (possibly related to argument '"+r.Name+"') - "+r.Why+"\r\n"; got != want {
			t.Errorf("%s: %q, want %q", r.Name, got, want)
		}
	}
}

// TestResetStat counts from zero again, and the metrics go on.
func TestResetStat(t *testing.T) {
	r, c := busy(t)
	before := r.census(r.engine.Each)
	if got := c.do("CONFIG RESETSTAT"); got != "+OK\r\n" {
		t.Fatalf("%q", got)
	}
	c.do("GET a")
	got := fields(t, c.do("INFO everything"))
	for name, want := range map[string]string{
		"total_connections_received": "0", "keyspace_hits": "1", "keyspace_misses": "0", "limiter_allowed": "0", "total_error_replies": "0",
		"cmdstat_get": "calls=1,failed_calls=0", "cmdstat_set": "", "errorstat_ERR": "", "total_commands_processed": "2",
	} {
		if got[name] != want {
			t.Errorf("%s:%s, want %q", name, got[name], want)
		}
	}
	if after := r.census(r.engine.Each); after.stats.Hits != before.stats.Hits+1 || after.stats.Errors["ERR"] != before.stats.Errors["ERR"] {
		t.Errorf("the census was reset: %+v", after.stats)
	}
}

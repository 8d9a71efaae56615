package server

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// busy is a rig that has done a little of everything, and what that was.
func busy(t *testing.T) (*rig, *caller) {
	r := newRig(t, func(s *setup) { s.Settings = []Setting{{"max-key", "64KiB"}}; s.shards = 4 })
	c := r.call()
	for _, line := range []string{
		"SET a 1", "SET b 2 PX 5000", "GET a", "GET nobody", "INCR a", "INCR a", "TB.TAKE t 2 1 1s", "TB.TAKE t 2 1 1s", "TB.TAKE t 2 1 1s",
		"SELECT 3", "MSET x 1 y 2 z 3", "SELECT 0", "LPUSH a", "NOSUCH", "GET t", "ECHO", "SELECT 99", "PING", "PING", "AUTH bob x",
	} {
		c.do(line)
	}
	return r, c
}

// TestInfoIsTrue compares fields with what was done.
func TestInfoIsTrue(t *testing.T) {
	r, c := busy(t)
	r.clock.Advance(90061 * time.Second)
	got := fields(t, c.do("INFO everything"))
	port := r.addr[strings.LastIndexByte(r.addr, ':')+1:]
	want := map[string]string{
		"redis_version": "7.2.4", "limitstore_version": "1.2.3", "limitstore_commit": "abc", "redis_mode": "standalone", "tcp_port": port, "shards": "4",
		"uptime_in_seconds": "90061", "uptime_in_days": "1", "server_time_usec": strconv.FormatInt((int64(midnight)/1000)+90061*1e6, 10),
		"connected_clients": "1", "maxclients": "10000", "maxmemory": "0", "maxmemory_policy": "noeviction", "loading": "0", "role": "master", "cluster_enabled": "0",
		"total_connections_received": "1", "total_commands_processed": "18", "rejected_connections": "0", "keyspace_hits": "2", "keyspace_misses": "1",
		"limiter_allowed": "2", "limiter_denied": "1", "total_error_replies": "6",
		"errorstat_ERR": "count=4", "errorstat_WRONGTYPE": "count=1", "errorstat_WRONGPASS": "count=1",
		"cmdstat_set": "calls=2,failed_calls=0", "cmdstat_tb.take": "calls=3,failed_calls=0", "cmdstat_get": "calls=3,failed_calls=1", "cmdstat_ping": "calls=2,failed_calls=0",
		"cmdstat_select": "calls=3,failed_calls=1", "cmdstat_mset": "calls=1,usec=0,usec_per_call=0.00,failed_calls=0", "cmdstat_auth": "calls=1,failed_calls=1",
		"db3": "keys=3,expires=0,avg_ttl=0",
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s:%s, want %s", name, got[name], value)
		}
	}
	for name, form := range map[string]string{
		"run_id": `^[0-9a-f]{40}$`, "used_memory": `^[1-9]\d+$`, "used_memory_human": `^\d+\.\d\d[KMG]$`, "used_memory_rss": `^[1-9]\d+$`, "used_memory_dataset": `^[1-9]\d+$`,
		"used_cpu_user": `^\d+\.\d{6}$`, "mem_fragmentation_ratio": `^\d+\.\d\d$`, "process_id": `^\d+$`,
	} {
		if !regexp.MustCompile(form).MatchString(got[name]) {
			t.Errorf("%s:%s", name, got[name])
		}
	}
}

// TestKeyspaceAverages what is left to live.
func TestKeyspaceAverages(t *testing.T) {
	r, c := busy(t)
	// b lives 5000 ms, the bucket t 2000 ms; a for ever.
	got := fields(t, c.do("INFO keyspace"))["db0"]
	var keys, expires, average int
	if _, err := fmt.Sscanf(got, "keys=%d,expires=%d,avg_ttl=%d", &keys, &expires, &average); err != nil || keys != 3 || expires != 2 || average < 2000 || average > 5000 {
		t.Errorf("db0:%s", got)
	}
	r.clock.Advance(10 * time.Second)
	if got := fields(t, c.do("INFO stats"))["expired_keys"]; got != "2" {
		eventually(t, "both are collected", func() bool { return fields(t, c.do("INFO stats"))["expired_keys"] == "2" })
	}
}

// TestInfoSections shows what is asked for, each once.
func TestInfoSections(t *testing.T) {
	c := newRig(t).call()
	for ask, want := range map[string]string{
		"INFO cluster": "# Cluster", "INFO CPU cluster cpu": "# CPU # Cluster", "INFO commandstats": "# Commandstats", "INFO nosuch": "", "INFO nosuch Keyspace": "# Keyspace",
		"INFO default commandstats": "# Server # Clients # Memory # Persistence # Stats # Replication # CPU # Modules # Commandstats # Errorstats # Cluster # Keyspace",
	} {
		if got := strings.Join(titles(t, c.do(ask)), " "); got != want {
			t.Errorf("%s: %q, want %q", ask, got, want)
		}
	}
	c.do("HELLO 3")
	if got := c.do("INFO modules"); got != "=15\r\ntxt:# Modules\r\n\r\n" {
		t.Errorf("in RESP3: %q", got)
	}
}

// TestHuman spells sizes as Redis does.
func TestHuman(t *testing.T) {
	for n, want := range map[uint64]string{0: "0B", 1023: "1023B", 1024: "1.00K", 916328: "894.85K", 6578176: "6.27M", 25276063744: "23.54G"} {
		if got := human(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// TestConfigGet knows the process' settings and those of Redis, and no password.
func TestConfigGet(t *testing.T) {
	r := newRig(t, func(s *setup) {
		s.Settings, s.Password, s.IdleTimeout = []Setting{{"max-key", "64KiB"}, {"shards", "2"}}, "secret", 90*time.Second
	})
	c := r.call()
	c.do("AUTH secret")
	all := listOf(parsed(t, c.do("CONFIG GET *")))
	got := map[string]string{}
	for i := 0; i < len(all); i += 2 {
		got[all[i]] = all[i+1]
	}
	for name, value := range map[string]string{"max-key": "64KiB", "shards": "2", "timeout": "90", "bind": "127.0.0.1", "databases": "16", "proto-max-bulk-len": "67108864", "appendonly": "no", "save": ""} {
		if v, ok := got[name]; !ok || v != value {
			t.Errorf("%s is %q, want %q", name, v, value)
		}
	}
	if strings.Contains(strings.Join(all, " "), "secret") || len(got)*2 != len(all) {
		t.Errorf("all settings: %q", all)
	}
}

// scraped are the figures of one scrape, by name and labels.
func scraped(t *testing.T, r *rig) map[string]float64 {
	registry := prometheus.NewPedanticRegistry()
	r.Register(registry)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, family := range families {
		if family.GetHelp() == "" {
			t.Errorf("%s says nothing of itself", family.GetName())
		}
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetName() + "=" + label.GetValue()
			}
			all[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return all
}

// TestMetricsAreTrue compares figures with what was done.
func TestMetricsAreTrue(t *testing.T) {
	r, c := busy(t)
	c.send("QUIT\r\n")
	c.rest()
	bad := r.call()
	bad.send("*x\r\n")
	bad.rest()
	eventually(t, "both have left", func() bool { _, n := r.sum(); return n == 0 })
	got := scraped(t, r)
	want := map[string]float64{
		"commands_total command=tb.take": 3, "commands_total command=get": 3, "commands_total command=ping": 2, "commands_total command=mset": 1, "commands_total command=quit": 1,
		"command_errors_total command=get": 1, "command_errors_total command=select": 1, "commands_rejected_total": 3,
		"error_replies_total code=ERR": 4, "error_replies_total code=WRONGTYPE": 1, "error_replies_total code=WRONGPASS": 1,
		"decisions_total command=tb.take outcome=allowed": 2, "decisions_total command=tb.take outcome=denied": 1,
		"keyspace_lookups_total result=hit": 2, "keyspace_lookups_total result=miss": 1,
		"connections": 0, "connections_accepted_total": 2, "connections_refused_total": 0, "connections_closed_total reason=quit": 1, "connections_closed_total reason=protocol_error": 1,
		"protocol_errors_total": 1, "auth_failures_total": 1, "keys db=0": 3, "keys db=3": 3, "keys_expiring db=0": 2, "expired_keys_total": 0,
		"inbox_batches shard=0": 0, "inbox_batches shard=3": 0,
	}
	for name, value := range want {
		if v, ok := got["limitstore_"+name]; !ok || v != value {
			t.Errorf("%s is %v, want %v", name, v, value)
		}
	}
	for _, name := range []string{"keyspace_bytes", "heap_bytes", "network_bytes_total direction=in", "network_bytes_total direction=out"} {
		if got["limitstore_"+name] <= 0 {
			t.Errorf("%s is %v", name, got["limitstore_"+name])
		}
	}
	if t.Failed() {
		t.Log(slices.Sorted(maps.Keys(got)))
	}
}

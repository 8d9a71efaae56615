package server

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/limitstore/limitstore/engine"
)

// infoCommands describe the server.
func infoCommands() []engine.Command {
	return []engine.Command{{
		Name: "INFO", Group: engine.Server, Since: since, Summary: "Describes the server, its memory, clients and keys.", Complexity: "O(N) with N the number of connections",
		Args:  []engine.Arg{{Name: "section", Type: engine.String, Optional: true, Multiple: true}},
		Flags: engine.Loading | engine.Stale, Scope: engine.EachShard, Run: of((*conn).info),
		Reply: "lines of name:value, in sections", Examples: []engine.Example{{In: "INFO cluster", Out: `"# Cluster\r\ncluster_enabled:0\r\n"`}},
		Notes: "The fields are Redis' where Redis has them. What is not measured is left out: commandstats (shown with INFO all, or when named) has times of the commands that are timed, see SLOWLOG: usec_per_call is the mean of those. " +
			"Counts are since the start or CONFIG RESETSTAT. " +
			"redis_version is the Redis whose protocol is spoken, limitstore_version the program. used_memory is what keys take, counted exactly; used_memory_rss what the process has of the system, buffers of connections and what Go keeps included. limiter_evicted_debt is what the limiter states among evicted_keys owed. avg_ttl is an estimate.",
	}}
}

// section is one part of INFO.
type section struct {
	title    string
	standard bool // shown by INFO without a name
	write    func(*report)
}

// sections in the order in which INFO shows them.
func sections() []section {
	return []section{
		{"Server", true, (*report).server}, {"Clients", true, (*report).clients}, {"Memory", true, (*report).memory},
		{"Persistence", true, (*report).persistence}, {"Stats", true, (*report).stats}, {"Replication", true, (*report).replication},
		{"CPU", true, (*report).cpu}, {"Modules", true, func(*report) {}}, {"Commandstats", false, (*report).commands},
		{"Errorstats", true, (*report).errors}, {"Cluster", true, (*report).cluster}, {"Keyspace", true, (*report).keyspace},
	}
}

// named says whether the section is among those asked for.
func (s *section) named(asked [][]byte) bool {
	if len(asked) == 0 {
		return s.standard
	}
	return slices.ContainsFunc(asked, func(word []byte) bool {
		switch name := strings.ToLower(string(word)); name {
		case "default":
			return s.standard
		case "all", "everything":
			return true
		default:
			return name == strings.ToLower(s.title)
		}
	})
}

// info is INFO.
func (c *conn) info(call *engine.Call) {
	c.publish()
	r := &report{s: c.server}
	for _, s := range sections() {
		if !s.named(call.Args[1:]) {
			continue
		}
		if r.census == nil {
			r.census = c.server.census(call.Each)
			r.census.since(c.server.base.Load())
		}
		if len(r.text) > 0 {
			r.end()
		}
		r.text = append(r.text, "# "+s.title...)
		r.end()
		s.write(r)
	}
	call.Out.Verbatim("txt", string(r.text))
}

// report is the text of an INFO being written.
type report struct {
	*census
	s    *Server
	text []byte
}

// end ends a line. The text is not RESP, though its lines end alike.
func (r *report) end() { r.text = append(r.text, '\r', '\n') }

func (r *report) line(name string, value any) {
	r.text = fmt.Appendf(r.text, "%s:%v", name, value)
	r.end()
}

// bytes writes a number of bytes, and again for people.
func (r *report) bytes(name string, n uint64) {
	r.line(name, n)
	r.line(name+"_human", human(n))
}

func (r *report) server() {
	up := time.Duration(r.now - r.s.started)
	r.line("redis_version", redisVersion)
	r.line("limitstore_version", r.s.cfg.Version)
	r.line("limitstore_commit", r.s.cfg.Commit)
	r.line("redis_mode", "standalone")
	r.line("os", runtime.GOOS+" "+runtime.GOARCH)
	r.line("arch_bits", strconv.IntSize)
	r.line("go_version", runtime.Version())
	r.line("process_id", os.Getpid())
	r.line("run_id", r.s.runID)
	r.line("tcp_port", r.s.port())
	r.line("server_time_usec", int64(r.now)/1000)
	r.line("uptime_in_seconds", int64(up.Seconds()))
	r.line("uptime_in_days", int64(up.Hours())/24)
	r.line("shards", r.s.engine.Shards())
}

func (r *report) clients() {
	r.line("connected_clients", r.connections)
	r.line("maxclients", r.s.maxClients())
	r.line("blocked_clients", 0)
	r.line("tracking_clients", 0)
	r.line("pubsub_clients", r.subscribers)
	r.line("watching_clients", r.s.watching())
	r.line("total_watched_keys", r.watched)
}

func (r *report) memory() {
	m, resident := r.census.memoryNow(), residentBytes()
	r.bytes("used_memory", uint64(m.used))
	r.bytes("used_memory_rss", resident)
	r.bytes("used_memory_peak", uint64(m.peak))
	r.line("used_memory_peak_perc", fmt.Sprintf("%.2f%%", m.share(m.used, m.peak)))
	r.line("used_memory_overhead", m.overhead())
	r.line("used_memory_dataset", m.dataset)
	r.line("used_memory_dataset_perc", fmt.Sprintf("%.2f%%", m.share(m.dataset, m.used)))
	r.line("allocator_allocated", heapInUse())
	r.bytes("maxmemory", uint64(r.s.engine.Limits().Memory))
	r.line("maxmemory_policy", "noeviction")
	r.line("mem_fragmentation_ratio", fmt.Sprintf("%.2f", float64(resident)/float64(m.used)))
	r.line("mem_fragmentation_bytes", int64(resident)-m.used)
	r.line("mem_allocator", runtime.Version())
}

func (r *report) persistence() {
	for _, name := range []string{"loading", "async_loading", "rdb_bgsave_in_progress", "aof_enabled", "aof_rewrite_in_progress"} {
		r.line(name, 0)
	}
}

func (r *report) stats() {
	allowed, denied := r.decisions()
	r.line("total_connections_received", r.accepted)
	r.line("total_commands_processed", r.totals.commands)
	r.line("instantaneous_ops_per_sec", r.watch.rate.commands)
	r.line("total_net_input_bytes", r.totals.in)
	r.line("total_net_output_bytes", r.totals.out)
	r.line("instantaneous_input_kbps", fmt.Sprintf("%.2f", float64(r.watch.rate.in)/1024))
	r.line("instantaneous_output_kbps", fmt.Sprintf("%.2f", float64(r.watch.rate.out)/1024))
	r.line("rejected_connections", r.refused)
	r.line("expired_keys", r.counts.Expired)
	r.line("evicted_keys", r.counts.Evicted)
	r.line("evicted_clients", 0)
	r.line("keyspace_hits", r.census.stats.Hits)
	r.line("keyspace_misses", r.census.stats.Misses)
	r.line("pubsub_channels", r.hub.channels)
	r.line("pubsub_patterns", r.hub.patterns)
	r.line("pubsubshard_channels", r.hub.shardChannels)
	r.line("total_error_replies", r.errorReplies())
	r.line("limiter_allowed", allowed)
	r.line("limiter_denied", denied)
	r.line("limiter_evicted_debt", r.counts.EvictedDebt)
}

func (r *report) replication() {
	r.line("role", "master")
	r.line("connected_slaves", 0)
	r.line("master_failover_state", "no-failover")
	r.line("master_replid", r.s.runID)
	r.line("master_repl_offset", 0)
}

func (r *report) cpu() {
	system, user := cpuTime()
	r.line("used_cpu_sys", fmt.Sprintf("%.6f", system.Seconds()))
	r.line("used_cpu_user", fmt.Sprintf("%.6f", user.Seconds()))
	r.line("used_cpu_sys_children", "0.000000")
	r.line("used_cpu_user_children", "0.000000")
}

func (r *report) commands() {
	for _, row := range r.s.table.Rows() {
		id, st := row.ID(), r.census.stats
		timed, took := st.Timed[id], time.Duration(st.Took[id])
		switch {
		case st.Calls[id] == 0:
		case timed == 0:
			r.line("cmdstat_"+row.Lower(), fmt.Sprintf("calls=%d,failed_calls=%d", st.Calls[id], st.Failed[id]))
		default:
			r.line("cmdstat_"+row.Lower(), fmt.Sprintf("calls=%d,usec=%d,usec_per_call=%.2f,failed_calls=%d",
				st.Calls[id], took.Microseconds(), float64(took.Nanoseconds())/1000/float64(timed), st.Failed[id]))
		}
	}
}

func (r *report) errors() {
	for _, code := range slices.Sorted(maps.Keys(r.census.stats.Errors)) {
		r.line("errorstat_"+code, fmt.Sprintf("count=%d", r.census.stats.Errors[code]))
	}
}

func (r *report) cluster() { r.line("cluster_enabled", 0) }

func (r *report) keyspace() {
	for n := range r.databases {
		if p := &r.databases[n]; p.keys > 0 {
			r.line(fmt.Sprintf("db%d", n), fmt.Sprintf("keys=%d,expires=%d,avg_ttl=%d", p.keys, p.expires, p.averageTTL()))
		}
	}
}

package server

import (
	"runtime"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// Register lets r scrape the server. Each scrape asks every shard once.
func (s *Server) Register(r prometheus.Registerer) { r.MustRegister(collector{s}) }

// collector answers a scrape with what was counted so far: nothing is counted
// for its sake.
type collector struct{ s *Server }

// metric describes one family of figures.
func metric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("limitstore_"+name, help, labels, nil)
}

// The families of figures.
var (
	metricBuild       = metric("build_info", "The program; always 1.", "version", "commit", "goversion")
	metricCommands    = metric("commands_total", "Commands run.", "command")
	metricFailed      = metric("command_errors_total", "Commands run that replied with an error.", "command")
	metricRejected    = metric("commands_rejected_total", "Commands refused before they ran: unknown, of the wrong arity, or before AUTH.")
	metricErrors      = metric("error_replies_total", "Error replies by code.", "code")
	metricDecisions   = metric("decisions_total", "Answers of limiters.", "command", "outcome")
	metricHits        = metric("keyspace_lookups_total", "Keys looked up by reading commands.", "result")
	metricConnections = metric("connections", "Connections now.")
	metricAccepted    = metric("connections_accepted_total", "Connections accepted.")
	metricRefused     = metric("connections_refused_total", "Connections refused because there were too many.")
	metricEnded       = metric("connections_closed_total", "Connections ended, by reason.", "reason")
	metricProtocol    = metric("protocol_errors_total", "Connections closed after bytes that are no command.")
	metricPasswords   = metric("auth_failures_total", "Wrong passwords given.")
	metricNetwork     = metric("network_bytes_total", "Bytes received from clients and taken by them.", "direction")
	metricKeys        = metric("keys", "Keys held.", "db")
	metricExpiring    = metric("keys_expiring", "Keys held that have an expiry.", "db")
	metricMemory      = metric("keyspace_bytes", "Memory of records, index and wheels.")
	metricHeap        = metric("heap_bytes", "Memory of objects on the heap, the keyspace included.")
	metricMaxMemory   = metric("maxmemory_bytes", "Memory that keyspace_bytes may come to; 0: no limit.")
	metricEvicted     = metric("evicted_keys_total", "Limiter states given up because memory was full.")
	metricDebt        = metric("evicted_debt_total", "Tokens and hits that the states given up owed: so many more may have been admitted.")
	metricExpired     = metric("expired_keys_total", "Keys collected after their expiry.")
	metricChannels    = metric("pubsub_channels", "Channels that somebody listens to, by kind.", "kind")
	metricSubscribers = metric("pubsub_clients", "Connections with subscriptions.")
	metricSent        = metric("pubsub_messages_total", "Messages handed to subscribers.")
	metricInbox       = metric("inbox_batches", "Pipelines waiting at a shard.", "shard")
)

// Describe is part of prometheus.Collector.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		metricBuild, metricCommands, metricFailed, metricRejected, metricErrors, metricDecisions, metricHits,
		metricConnections, metricAccepted, metricRefused, metricEnded, metricProtocol, metricPasswords, metricNetwork,
		metricKeys, metricExpiring, metricMemory, metricMaxMemory, metricHeap, metricExpired, metricEvicted, metricDebt, metricInbox, metricChannels, metricSubscribers, metricSent,
	} {
		out <- d
	}
}

// scrape sends figures to one scrape.
type scrape chan<- prometheus.Metric

func (out scrape) counter(d *prometheus.Desc, n uint64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

func (out scrape) gauge(d *prometheus.Desc, n float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, n, labels...)
}

// Collect is part of prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	out, s, now := scrape(to), c.s, c.s.census(c.s.engine.Each)
	out.gauge(metricBuild, 1, s.cfg.Version, s.cfg.Commit, runtime.Version())
	out.commands(s, now)
	out.connections(s, now)
	for n := range now.databases {
		if p := &now.databases[n]; p.keys > 0 || n == 0 {
			out.gauge(metricKeys, float64(p.keys), strconv.Itoa(n))
			out.gauge(metricExpiring, float64(p.expires), strconv.Itoa(n))
		}
	}
	out.gauge(metricMemory, float64(now.memory.Total()))
	out.gauge(metricMaxMemory, float64(s.engine.Limits().Memory))
	out.gauge(metricHeap, float64(heapInUse()))
	out.counter(metricExpired, uint64(now.counts.Expired))
	out.counter(metricEvicted, uint64(now.counts.Evicted))
	out.counter(metricDebt, uint64(now.counts.EvictedDebt))
	out.gauge(metricChannels, float64(now.hub.channels), "channel")
	out.gauge(metricChannels, float64(now.hub.patterns), "pattern")
	out.gauge(metricChannels, float64(now.hub.shardChannels), "shard")
	out.gauge(metricSubscribers, float64(now.subscribers))
	out.counter(metricSent, now.hub.sent)
	for i, waiting := range now.waiting {
		out.gauge(metricInbox, float64(waiting), strconv.Itoa(i))
	}
}

// commands sends the figures of commands that have been used.
func (out scrape) commands(s *Server, now *census) {
	stats := now.stats
	for _, row := range s.table.Rows() {
		id, name := row.ID(), row.Lower()
		if stats.Calls[id] > 0 {
			out.counter(metricCommands, stats.Calls[id], name)
			out.counter(metricFailed, stats.Failed[id], name)
		}
		if stats.Allowed[id]+stats.Denied[id] > 0 {
			out.counter(metricDecisions, stats.Allowed[id], name, "allowed")
			out.counter(metricDecisions, stats.Denied[id], name, "denied")
		}
	}
	for code, n := range stats.Errors {
		out.counter(metricErrors, n, code)
	}
	out.counter(metricRejected, s.counts.rejected.Load())
	out.counter(metricHits, stats.Hits, "hit")
	out.counter(metricHits, stats.Misses, "miss")
}

func (out scrape) connections(s *Server, now *census) {
	out.gauge(metricConnections, float64(now.connections))
	out.counter(metricAccepted, s.counts.accepted.Load())
	out.counter(metricRefused, s.counts.refused.Load())
	for why := open + 1; why < reasons; why++ {
		out.counter(metricEnded, s.counts.ended[why].Load(), reasonNames[why])
	}
	out.counter(metricProtocol, s.counts.ended[byProtocol].Load())
	out.counter(metricPasswords, s.counts.wrongPass.Load())
	out.counter(metricNetwork, now.totals.in, "in")
	out.counter(metricNetwork, now.totals.out, "out")
}

package main

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/limitstore/limitstore/server"
)

// directive is one row of the table of Redis' directives that are more than
// passed over. docs/refused.md is made from it.
type directive struct {
	name     string
	does     string                         // what a directive with a meaning does
	take     func(*reading, []string) error // does it; nil for one that is refused
	harmless []string                       // the values of a refused one that promise nothing
	why      string                         // a refused one is refused for
}

// directives lists Redis' directives: first those with a meaning.
func directives() []directive {
	const disk, replicas, cipher = "nothing is kept on disk", "there are no replicas", "TLS here is 1.2 or later with Go's ciphers, and nothing of it can be chosen"
	return []directive{
		{name: "port", does: "where to listen, 6379 by default; 0: only at unixsocket", take: func(r *reading, v []string) (err error) {
			r.portGiven = true
			return number(v, &r.port, 0, math.MaxUint16)
		}},
		{name: "bind", does: "addresses to listen at; * is all. Without a password and with protected-mode, * is loopback", take: func(r *reading, v []string) error {
			r.binds = slices.DeleteFunc(slices.Clone(v), func(host string) bool { return host == "" })
			return nil
		}},
		{name: "protected-mode", does: "no: listening beyond loopback needs no password, `--allow-no-password`", take: func(r *reading, v []string) error {
			err := choice(v, &r.protected)
			r.allowNoPassword = yes(!r.protected)
			return err
		}},
		{name: "requirepass", does: "`--requirepass`", take: func(r *reading, v []string) error { return word(v, (*string)(&r.password)) }},
		{name: "maxclients", does: "`--max-clients`", take: func(r *reading, v []string) error { return number(v, (*int)(&r.maxClients), 1, 1_000_000) }},
		{name: "timeout", does: "`--idle-timeout`, in seconds", take: func(r *reading, v []string) error { return seconds(v, &r.idleTimeout) }},
		{name: "tcp-keepalive", does: "`--keep-alive`, in seconds", take: func(r *reading, v []string) error { return seconds(v, &r.keepAlive) }},
		{name: "unixsocket", does: "`--unix-socket`", take: func(r *reading, v []string) error { return word(v, (*string)(&r.unixSocket)) }},
		{name: "unixsocketperm", does: "`--unix-socket-mode`", take: func(r *reading, v []string) error { return r.unixMode.Set(strings.Join(v, " ")) }},
		{name: "tls-port", does: "the port, with TLS; port must be 0", take: func(r *reading, v []string) error { return number(v, &r.tlsPort, 0, math.MaxUint16) }},
		{name: "tls-cert-file", does: "`--tls-cert`", take: func(r *reading, v []string) error { return word(v, &r.cert) }},
		{name: "tls-key-file", does: "`--tls-key`", take: func(r *reading, v []string) error { return word(v, &r.key) }},
		{name: "tls-ca-cert-file", does: "`--tls-ca`", take: func(r *reading, v []string) error { return word(v, &r.ca) }},
		{name: "tls-auth-clients", does: "yes, by default: clients must show a certificate; no; optional is refused", take: func(r *reading, v []string) error { return choice(v, &r.secure) }},
		{name: "loglevel", does: "`--log-level`: verbose is debug, notice info, warning warn, nothing error", take: logLevelOf},
		{name: "logfile", does: "`--log-file`; standard output by default", take: func(r *reading, v []string) error { return word(v, (*string)(&r.logFile)) }},
		{name: "pidfile", does: "`--pid-file`", take: func(r *reading, v []string) error { return word(v, (*string)(&r.pidFile)) }},
		{name: "dir", does: "the folder that the names of files are below", take: func(r *reading, v []string) error { return word(v, &r.dir) }},
		{name: "maxmemory", does: "`--maxmemory`", take: func(r *reading, v []string) error { return r.maxMemory.Set(strings.Join(v, " ")) }},
		{name: "databases", does: "16 or fewer: there are always 16", take: func(_ *reading, v []string) error {
			var n int
			return number(v, &n, 1, 16)
		}},
		{name: "include", does: "reads another file; * and ? stand for names, and files may include files 16 deep", why: "it stands in files only"},

		{name: "save", harmless: []string{""}, why: disk},
		{name: "appendonly", harmless: []string{"no"}, why: disk},
		{name: "replicaof", harmless: []string{"no one"}, why: replicas},
		{name: "slaveof", harmless: []string{"no one"}, why: replicas},
		{name: "min-replicas-to-write", harmless: []string{"0"}, why: replicas},
		{name: "min-slaves-to-write", harmless: []string{"0"}, why: replicas},
		{name: "cluster-enabled", harmless: []string{"no"}, why: "there is no Redis cluster here"},
		{name: "notify-keyspace-events", harmless: []string{""}, why: "changes of keys are not announced"},
		{name: "maxmemory-policy", harmless: []string{"noeviction"}, why: "ordinary keys are never evicted, and limiter states only by what is lost with them"},
		{name: "maxmemory-clients", harmless: []string{"0"}, why: "no client is ever evicted; --output-buffer and --query-buffer bound each"},
		{name: "daemonize", harmless: []string{"no"}, why: "it stays in the foreground: let systemd, a container or & put it into the background"},
		{name: "supervised", harmless: []string{"no", "auto"}, why: "it does not tell its supervisor when it is ready: watch the port, or /readyz of --http-addr"},
		{name: "syslog-enabled", harmless: []string{"no"}, why: "it logs to standard output or to logfile"},
		{name: "user", why: "there is one user, default"},
		{name: "aclfile", harmless: []string{""}, why: "there is one user, default"},
		{name: "rename-command", why: "commands keep their names"},
		{name: "loadmodule", why: "there are no modules"},
		{name: "enable-debug-command", harmless: []string{"no"}, why: "there is no DEBUG"},
		{name: "enable-module-command", harmless: []string{"no"}, why: "there are no modules"},
		{name: "tls-ca-cert-dir", harmless: []string{""}, why: "authorities come from tls-ca-cert-file"},
		{name: "tls-key-file-pass", harmless: []string{""}, why: "the key's file must not be encrypted"},
		{name: "tls-protocols", harmless: []string{"", "tlsv1.2 tlsv1.3"}, why: cipher},
		{name: "tls-ciphers", harmless: []string{"", "default"}, why: cipher},
		{name: "tls-ciphersuites", harmless: []string{""}, why: cipher},
		{name: "tls-replication", harmless: []string{"no"}, why: replicas},
		{name: "tls-cluster", harmless: []string{"no"}, why: "there is no Redis cluster here"},
	}
}

// findDirective is the row of a name in any case.
func findDirective(name string) (directive, bool) {
	for _, d := range directives() {
		if strings.EqualFold(d.name, name) {
			return d, true
		}
	}
	return directive{}, false
}

// word takes one value as it is.
func word(values []string, into *string) error {
	if len(values) != 1 {
		return errors.New("want one value")
	}
	*into = values[0]
	return nil
}

// number takes one whole number.
func number(values []string, into *int, least, most int) error {
	var value string
	if err := word(values, &value); err != nil {
		return err
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		return fmt.Errorf("want a number from %d to %d", least, most)
	}
	*into = n
	return nil
}

// seconds takes a number of seconds up to a year.
func seconds(values []string, into *span) error {
	var n int
	err := number(values, &n, 0, int(365*24*time.Hour/time.Second))
	if err == nil {
		*into = span(time.Duration(n) * time.Second)
	}
	return err
}

// choice takes yes or no.
func choice(values []string, into *bool) error {
	switch strings.ToLower(strings.Join(values, " ")) {
	case "yes":
		*into = true
	case "no":
		*into = false
	default:
		return errors.New("want yes or no")
	}
	return nil
}

// logLevelOf takes one of Redis' levels.
func logLevelOf(r *reading, values []string) error {
	own := map[string]string{"debug": "debug", "verbose": "debug", "notice": "info", "warning": "warn", "nothing": "error"}
	name, ok := own[strings.ToLower(strings.Join(values, " "))]
	if !ok {
		return errors.New("want debug, verbose, notice, warning or nothing")
	}
	return r.logLevel.Set(name)
}

// redisUnits are the units of Redis' memory sizes, longest name first.
var redisUnits = [...]struct {
	name  string
	bytes int64
}{{"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"b", 1}}

// redisBytes reads a size as Redis spells it: 1k is 1000 bytes, 1kb 1024.
func redisBytes(value string) (int64, bool) {
	digits, unit := strings.ToLower(value), int64(1)
	for _, u := range redisUnits {
		if before, ok := strings.CutSuffix(digits, u.name); ok {
			digits, unit = before, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n * unit, err == nil && n >= 0 && n <= math.MaxInt64/unit
}

// redisSettings are settings by the names and in the spelling of Redis, for
// CONFIG GET. Those that the server itself has an opinion of are not here.
func (c *config) redisSettings() []server.Setting {
	levels := map[string]string{"debug": "debug", "info": "notice", "warn": "warning", "error": "nothing"}
	here, err := os.Getwd()
	if err != nil {
		here = "" // it was removed
	}
	protected := map[bool]string{true: "no", false: "yes"}[bool(c.allowNoPassword)]
	return []server.Setting{
		{Name: "dir", Value: here},
		{Name: "logfile", Value: c.logFile.String()},
		{Name: "loglevel", Value: levels[c.logLevel.String()]},
		{Name: "pidfile", Value: c.pidFile.String()},
		{Name: "protected-mode", Value: protected},
		{Name: "tcp-keepalive", Value: strconv.Itoa(int(time.Duration(c.keepAlive) / time.Second))},
		{Name: "tls-cert-file", Value: c.tlsCert.String()},
		{Name: "unixsocket", Value: c.unixSocket.String()},
		{Name: "unixsocketperm", Value: c.unixMode.String()},
	}
}

// joinAddress is HOST:PORT; * is every address.
func joinAddress(host string, port int) string {
	return net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port))
}

// hosts are the hosts to listen at. Redis in protected mode listens everywhere
// and answers nobody from elsewhere; here it listens on loopback.
func (r *reading) hosts() (hosts []string) {
	binds := r.binds
	if binds == nil {
		binds = []string{"*"}
	}
	add := func(more ...string) {
		for _, host := range more {
			if !slices.Contains(hosts, host) && !slices.Contains(hosts, strings.TrimPrefix(host, "-")) {
				hosts = append(hosts, host)
			}
		}
	}
	for _, host := range binds {
		everywhere := slices.Contains([]string{"*", "::*", "::", "0.0.0.0"}, strings.TrimPrefix(host, "-"))
		switch {
		case everywhere && r.protected && r.password == "":
			add("127.0.0.1", "-::1")
			r.confined = r.binds != nil
		case everywhere && host != "0.0.0.0":
			add("")
		default:
			add(host)
		}
	}
	return hosts
}

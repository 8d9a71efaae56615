package main

import (
	"bufio"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/resp"
	"github.com/limitstore/limitstore/server"
	"github.com/limitstore/limitstore/shard"
	"github.com/peterbourgon/ff/v3"
)

// config is all that can be set. Each field has one row in options.
type config struct {
	addr            text
	unixSocket      text
	unixMode        mode
	keepAlive       span
	shards          count
	password        text
	allowNoPassword yes
	tlsCert         text
	tlsKey          text
	tlsCA           text
	httpAddr        text
	pprof           yes
	logLevel        level
	logFile         text
	pidFile         text
	file            text
	check           yes
	slower          count
	slowlog         count
	latency         count
	maxClients      count
	idleTimeout     span
	writeTimeout    span
	maxMemory       size
	maxKey          size
	maxValue        size
	maxElements     count
	maxArgs         count
	queryBuffer     size
	pipeline        count
	outputBuffer    size
	inbox           count
	subscriptions   count
	subscriber      size
	transaction     count
	transactionSize size
	scriptTime      span
	scriptMemory    size

	notes    []string // what the log warns of at the start
	ready    []string // what the log says once clients are taken
	problems []string // values that could not be read, one line each
}

// option is one row of the table that the flags, the help, docs/configuration.md
// and CONFIG GET are made from.
type option struct {
	name     string
	standard string // the default, as it would be typed
	unit     string // what the value is, as the help names it; empty: on or off
	help     string // one sentence
	min, max int64  // of a number, a size or a duration in nanoseconds; both 0: any
	secret   bool   // never shown
	field    func(*config) flag.Value
}

// typed is the option as it stands on a command line.
func (o option) typed() string { return strings.TrimSpace("--" + o.name + " " + o.unit) }

// env is the environment variable that sets the option.
func (o option) env() string {
	return envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(o.name, "-", "_"))
}

const (
	envPrefix  = "LIMITSTORE"
	mostShards = 1024
	gib        = 1 << 30
	ms         = 1_000_000
	day        = 86_400_000 * ms
)

// options lists every flag in the order in which the help shows them.
func options() []option { return slices.Concat(placeOptions(), limitOptions(), fileOptions()) }

// placeOptions say where to listen, to whom, and where to tell what happens.
func placeOptions() []option {
	return []option{
		{name: "addr", standard: "127.0.0.1:7379", unit: "HOST:PORT", field: func(c *config) flag.Value { return &c.addr },
			help: "where to listen for clients; port 0 takes a free one; several with commas between them; one that begins with - may be missing on this machine"},
		{name: "unix-socket", unit: "FILE", field: func(c *config) flag.Value { return &c.unixSocket },
			help: "socket in the file system where to listen too; never with TLS; what is left of one is replaced"},
		{name: "unix-socket-mode", standard: "0", unit: "MODE", field: func(c *config) flag.Value { return &c.unixMode },
			help: "who may connect to it, in octal as for chmod; 0: as the umask says"},
		{name: "keep-alive", standard: "5m", unit: "DURATION", max: day, field: func(c *config) flag.Value { return &c.keepAlive },
			help: "silence after which TCP asks whether the client's machine is still there, three times in as long again; 0: never"},
		{name: "shards", standard: "0", unit: "N", max: mostShards, field: func(c *config) flag.Value { return &c.shards },
			help: "parts of the keyspace, each with its own goroutine; 0: one for each processor (GOMAXPROCS)"},
		{name: "requirepass", unit: "PASSWORD", secret: true, field: func(c *config) flag.Value { return &c.password },
			help: "the password clients must give with AUTH; better set in the environment or the file, for a command line can be seen by others"},
		{name: "allow-no-password", standard: "false", field: func(c *config) flag.Value { return &c.allowNoPassword },
			help: "listen beyond loopback without a password"},
		{name: "tls-cert", unit: "FILE", field: func(c *config) flag.Value { return &c.tlsCert },
			help: "certificate chain in PEM; with --tls-key, clients must speak TLS"},
		{name: "tls-key", unit: "FILE", field: func(c *config) flag.Value { return &c.tlsKey },
			help: "private key of --tls-cert in PEM"},
		{name: "tls-ca", unit: "FILE", field: func(c *config) flag.Value { return &c.tlsCA },
			help: "authorities in PEM; clients must show a certificate of one of them"},
		{name: "http-addr", unit: "HOST:PORT", field: func(c *config) flag.Value { return &c.httpAddr },
			help: "where to serve /metrics, /livez and /readyz over plain HTTP; empty: nowhere"},
		{name: "pprof", standard: "false", field: func(c *config) flag.Value { return &c.pprof },
			help: "serve /debug/pprof/ there too: profiles show names of functions and command lines, and taking one costs time"},
		{name: "log-level", standard: "info", unit: "LEVEL", field: func(c *config) flag.Value { return &c.logLevel },
			help: "debug, info, warn or error"},
		{name: "log-file", unit: "FILE", field: func(c *config) flag.Value { return &c.logFile },
			help: "where to append the log; empty: standard error"},
		{name: "pid-file", unit: "FILE", field: func(c *config) flag.Value { return &c.pidFile },
			help: "file to write the process' number to; it is removed at the end"},
		{name: "slowlog-log-slower-than", standard: "10000", unit: "MICROSECONDS", min: -1, max: 3_600_000_000, field: func(c *config) flag.Value { return &c.slower },
			help: "SLOWLOG has the commands that take so long; -1: none"},
		{name: "slowlog-max-len", standard: "128", unit: "N", max: server.MostSlowlog, field: func(c *config) flag.Value { return &c.slowlog },
			help: "commands that SLOWLOG keeps; the oldest are forgotten"},
		{name: "latency-monitor-threshold", standard: "0", unit: "MILLISECONDS", max: 3_600_000, field: func(c *config) flag.Value { return &c.latency },
			help: "LATENCY has the commands that take so long, and all commands are timed; 0: none"},
	}
}

// limitOptions are the limits of connections and of what they store.
func limitOptions() []option {
	wire, limits := resp.DefaultLimits(), engine.DefaultLimits()
	return []option{
		{name: "max-clients", standard: "10000", unit: "N", min: 1, max: 1_000_000, field: func(c *config) flag.Value { return &c.maxClients },
			help: "connections at once; one more is told so and closed"},
		{name: "idle-timeout", standard: "0", unit: "DURATION", max: 365 * day, field: func(c *config) flag.Value { return &c.idleTimeout },
			help: "close a connection that has sent nothing for this long; 0: never"},
		{name: "write-timeout", standard: "30s", unit: "DURATION", min: ms, max: day, field: func(c *config) flag.Value { return &c.writeTimeout },
			help: "close a connection that has taken none of its replies for this long"},
		{name: "maxmemory", standard: "0", unit: "BYTES", max: 1 << 50, field: func(c *config) flag.Value { return &c.maxMemory },
			help: "memory that keys may take, 100mb or 1gb as in redis.conf; beyond it limiter states are given up, then commands refused; 0: no limit"},
		{name: "max-key", standard: sized(limits.Key), unit: "BYTES", min: 1, max: shard.MaxKey, field: func(c *config) flag.Value { return &c.maxKey },
			help: "longest key"},
		{name: "max-value", standard: sized(limits.Value), unit: "BYTES", min: 1 << 10, max: shard.MaxValue, field: func(c *config) flag.Value { return &c.maxValue },
			help: "longest argument on the wire and longest string value"},
		{name: "max-elements", standard: strconv.Itoa(limits.Elements), unit: "N", min: 1, max: 1 << 24, field: func(c *config) flag.Value { return &c.maxElements },
			help: "most elements of a hash, set, sorted set or list"},
		{name: "max-args", standard: strconv.Itoa(wire.Args), unit: "N", min: 16, max: 1 << 30, field: func(c *config) flag.Value { return &c.maxArgs },
			help: "words of one command"},
		{name: "query-buffer", standard: sized(wire.Query), unit: "BYTES", min: 16 << 10, max: 4 * gib, field: func(c *config) flag.Value { return &c.queryBuffer },
			help: "most bytes received from one connection and not yet run; must have room for --max-value"},
		{name: "pipeline", standard: strconv.Itoa(limits.Pipeline), unit: "N", min: 1, max: 1 << 20, field: func(c *config) flag.Value { return &c.pipeline },
			help: "commands of one connection queued before they run; more run in turns"},
		{name: "output-buffer", standard: sized(limits.Output), unit: "BYTES", min: 1 << 20, max: 4 * gib, field: func(c *config) flag.Value { return &c.outputBuffer },
			help: "most bytes of replies of one connection held at once; a connection that asks for more is closed"},
		{name: "inbox", standard: strconv.Itoa(limits.Inbox), unit: "N", min: 1, max: 1 << 20, field: func(c *config) flag.Value { return &c.inbox },
			help: "pipelines that wait at one shard; further connections wait before they are read again"},
		{name: "max-subscriptions", standard: strconv.Itoa(server.DefaultMaxSubscriptions), unit: "N", min: 1, max: 1 << 24, field: func(c *config) flag.Value { return &c.subscriptions },
			help: "channels and patterns that one connection may listen to"},
		{name: "subscriber-buffer", standard: sized(server.DefaultSubscriberBuffer), unit: "BYTES", min: 64 << 10, max: 4 * gib, field: func(c *config) flag.Value { return &c.subscriber },
			help: "most bytes that may wait for one subscriber, and a quarter of it for a minute; one that is further behind is cut off"},
		{name: "transaction", standard: strconv.Itoa(limits.Transaction), unit: "N", min: 1, max: 1 << 20, field: func(c *config) flag.Value { return &c.transaction },
			help: "commands of one transaction, from MULTI to EXEC"},
		{name: "transaction-buffer", standard: sized(limits.TransactionBytes), unit: "BYTES", min: 16 << 10, max: 4 * gib, field: func(c *config) flag.Value { return &c.transactionSize },
			help: "most bytes that the commands of one transaction take"},
		{name: "script-time", standard: "5s", unit: "DURATION", min: ms, max: day, field: func(c *config) flag.Value { return &c.scriptTime },
			help: "longest that one Lua script may run; one that takes longer is stopped and has changed nothing"},
		{name: "script-memory", standard: sized(limits.ScriptBytes), unit: "BYTES", min: 1 << 20, max: 4 * gib, field: func(c *config) flag.Value { return &c.scriptMemory },
			help: "most bytes that one Lua script may take, counting what it let go of"},
	}
}

// fileOptions are about the settings themselves.
func fileOptions() []option {
	return []option{
		{name: "config", unit: "FILE", field: func(c *config) flag.Value { return &c.file },
			help: "file of settings: a name and its value on each line, without dashes"},
		{name: "check-config", standard: "false", field: func(c *config) flag.Value { return &c.check },
			help: "print the settings in force as such a file, check them, and end"},
	}
}

// sized is a number of bytes as it would be typed.
func sized(bytes int) string {
	s := size(bytes)
	return s.String()
}

// noting is the flag.Value given to the flag set: a value that cannot be read is
// noted as a problem, so that all problems are told at once.
type noting struct {
	flag.Value
	option option
	config *config
}

// Set sets the field, or notes why it could not.
func (n noting) Set(word string) error {
	if err := n.Value.Set(word); err != nil {
		n.config.problems = append(n.config.problems, fmt.Sprintf("--%s %q: %v", n.option.name, word, err))
	}
	return nil
}

// IsBoolFlag says whether the flag may stand without a value.
func (n noting) IsBoolFlag() bool {
	_, ok := n.Value.(*yes)
	return ok
}

// parse reads flags, then the environment, then the file: what comes first
// counts. The error says what cannot be understood at all; values that are wrong
// are told by validate.
func parse(args []string) (*config, error) {
	c := &config{}
	set := flag.NewFlagSet("limitstore", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, o := range options() {
		v := o.field(c)
		if o.standard != "" {
			if err := v.Set(o.standard); err != nil {
				panic(fmt.Sprintf("the default of --%s: %v", o.name, err))
			}
		}
		set.Var(noting{v, o, c}, o.name, o.help)
	}
	err := ff.Parse(set, args, ff.WithEnvVarPrefix(envPrefix), ff.WithConfigFileFlag("config"),
		ff.WithConfigFileParser(func(r io.Reader, set func(name, value string) error) error {
			return c.readFile(r, set)
		}))
	if err == nil && set.NArg() > 0 {
		err = fmt.Errorf("%q is neither a command nor a flag", set.Arg(0))
	}
	return c, err
}

// readFile reads a settings file: on each line a name and, after blanks, its
// value up to the end of the line; a name alone is true. Lines that begin with #
// and empty ones are passed over.
func (c *config) readFile(r io.Reader, set func(name, value string) error) error {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, value := line, "true"
		if at := strings.IndexAny(line, " \t"); at > 0 {
			name, value = line[:at], strings.TrimSpace(line[at:])
		}
		if err := set(name, value); err != nil {
			c.problems = append(c.problems, fmt.Sprintf("--config %s, line %d: there is no setting %q", c.file.String(), n, name))
		}
	}
	return lines.Err()
}

// validate lists everything that is wrong with the settings, one line each.
func (c *config) validate() []string {
	wrong := c.problems
	for _, o := range options() {
		if n, ok := amount(o.field(c)); ok && (o.min != 0 || o.max != 0) && (n < o.min || n > o.max) {
			wrong = append(wrong, fmt.Sprintf("--%s %s: want %s to %s", o.name, o.field(c), o.spell(o.min), o.spell(o.max)))
		}
	}
	wrong = append(wrong, c.checkAddresses()...)
	switch {
	case (c.tlsCert == "") != (c.tlsKey == ""):
		wrong = append(wrong, "--tls-cert and --tls-key: give both or neither")
	case c.tlsCA != "" && c.tlsCert == "":
		wrong = append(wrong, "--tls-ca: needs --tls-cert and --tls-key")
	}
	if bool(c.pprof) && c.httpAddr == "" {
		wrong = append(wrong, "--pprof: needs --http-addr")
	}
	if least := size(engine.LeastShardMemory * c.shardCount()); c.maxMemory > 0 && c.maxMemory < least {
		wrong = append(wrong, fmt.Sprintf("--maxmemory %s: want 0, which is no limit, or at least %s: %d shards have an equal part each",
			&c.maxMemory, &least, c.shardCount()))
	}
	if c.queryBuffer < c.maxValue+1<<10 {
		wrong = append(wrong, fmt.Sprintf("--query-buffer %s: has no room for --max-value %s", &c.queryBuffer, &c.maxValue))
	}
	return wrong
}

// amount is a value as a number, if it is one.
func amount(v flag.Value) (int64, bool) {
	switch n := v.(type) {
	case *count:
		return int64(*n), true
	case *size:
		return int64(*n), true
	case *span:
		return int64(*n), true
	}
	return 0, false
}

// spell writes n as a value of the option would be typed.
func (o option) spell(n int64) string {
	v := o.field(&config{})
	switch p := v.(type) {
	case *count:
		*p = count(n)
	case *size:
		*p = size(n)
	case *span:
		*p = span(n)
	}
	return v.String()
}

// address is one place to listen at.
type address struct {
	where    string // HOST:PORT
	optional bool   // this machine need not have it
}

// addresses are the places that --addr names.
func (c *config) addresses() (all []address) {
	if c.addr == "" {
		return nil
	}
	for _, where := range strings.Split(string(c.addr), ",") {
		bare, optional := strings.CutPrefix(where, "-")
		all = append(all, address{where: bare, optional: optional})
	}
	return all
}

func (c *config) checkAddresses() (wrong []string) {
	if c.addr == "" && c.unixSocket == "" {
		wrong = append(wrong, "--addr and --unix-socket are both empty: there is nowhere to listen")
	}
	for _, a := range c.addresses() {
		host, err := splitAddress(a.where)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Sprintf("--addr %q: %v", a.where, err))
		case !isLoopback(host) && c.password == "" && !bool(c.allowNoPassword):
			wrong = append(wrong, fmt.Sprintf("--addr %s: anybody who reaches this address could use the store: "+
				"set a password with --requirepass, or say --allow-no-password", a.where))
		}
	}
	if c.httpAddr == "" {
		return wrong
	}
	if _, err := splitAddress(string(c.httpAddr)); err != nil {
		wrong = append(wrong, fmt.Sprintf("--http-addr %q: %v", string(c.httpAddr), err))
	}
	return wrong
}

// splitAddress is the host of a HOST:PORT.
func splitAddress(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", errors.New("want HOST:PORT as in 127.0.0.1:7379")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", errors.New("want a port from 0 to 65535")
	}
	return host, nil
}

// isLoopback says whether only this machine reaches the host. A name other than
// localhost may resolve to anything, so it is not trusted.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// shardCount is the number of shards asked for.
func (c *config) shardCount() int {
	if c.shards == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return int(c.shards)
}

// limits are the engine's.
func (c *config) limits() engine.Limits {
	return engine.Limits{
		Key: int(c.maxKey), Value: int(c.maxValue), Elements: int(c.maxElements), Pipeline: int(c.pipeline), Output: int(c.outputBuffer), Inbox: int(c.inbox), Memory: int(c.maxMemory),
		Transaction: int(c.transaction), TransactionBytes: int(c.transactionSize),
		ScriptTime: time.Duration(c.scriptTime), ScriptBytes: int(c.scriptMemory),
	}
}

// wire are the reader's.
func (c *config) wire() resp.Limits {
	l := resp.DefaultLimits()
	l.Args, l.Bulk, l.Query = int(c.maxArgs), int(c.maxValue), int(c.queryBuffer)
	return l
}

// server is what the server at addr, blanks between several, is made of.
func (c *config) server(addr string, secure *tls.Config, log *slog.Logger, shutdown func()) server.Config {
	return server.Config{
		Addr: addr, Password: string(c.password), TLS: secure, Wire: c.wire(),
		MaxClients: int(c.maxClients), IdleTimeout: time.Duration(c.idleTimeout), WriteTimeout: time.Duration(c.writeTimeout),
		MaxSubscriptions: int(c.subscriptions), SubscriberBuffer: int(c.subscriber),
		Thresholds:    &server.Thresholds{Slower: int64(c.slower), Kept: int(c.slowlog), Latency: int64(c.latency)},
		NeedsPassword: c.needsPassword(),
		Log:           log, Version: version, Commit: commit, Settings: append(c.settings(), c.redisSettings()...), Shutdown: shutdown,
	}
}

// needsPassword says whether other machines reach the server that nobody has said
// may do without a password.
func (c *config) needsPassword() bool {
	return !bool(c.allowNoPassword) && slices.ContainsFunc(c.addresses(), func(a address) bool {
		host, err := splitAddress(a.where)
		return err != nil || !isLoopback(host)
	})
}

// settings are the flags with their values as CONFIG GET shows them; secrets are
// left out, and what a server never runs with.
func (c *config) settings() []server.Setting {
	var shown []server.Setting
	for _, o := range options() {
		if !o.secret && o.name != "check-config" && o.name != "maxmemory" { // the server tells maxmemory in bytes, as Redis does
			shown = append(shown, server.Setting{Name: o.name, Value: o.field(c).String()})
		}
	}
	return shown
}

// settingsFile is the settings in force, in the form that --config reads. Secrets
// are left out, and what asked for this output.
func (c *config) settingsFile() string {
	var out strings.Builder
	for _, o := range options() {
		value := o.field(c).String()
		switch {
		case o.name == "config" || o.name == "check-config":
		case o.secret && value != "":
			fmt.Fprintf(&out, "# %s is set and not shown\n", o.name)
		case value == "":
			fmt.Fprintf(&out, "# %s\n", o.name)
		default:
			fmt.Fprintf(&out, "%s %s\n", o.name, value)
		}
	}
	return out.String()
}

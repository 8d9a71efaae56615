package server

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/shard"
)

// configCommands tell about the settings and change some.
func configCommands() []engine.Command {
	admin := engine.Admin | engine.NoScript | engine.Loading | engine.Stale
	return []engine.Command{{
		Name: "CONFIG", Group: engine.Server, Since: since, Summary: "A container for commands about settings.", Complexity: "Depends on subcommand.",
		Reply: "depends on the subcommand", Examples: []engine.Example{{In: "CONFIG REWRITE", Out: "(error) ERR CONFIG REWRITE is refused: settings are not written back: change them where the server is started"}},
		Notes: "Settings are given when the server starts; CONFIG SET changes some until it ends.",
		Subs: []engine.Command{{
			Name: "GET", Group: engine.Server, Since: since, Summary: "Returns the settings that match a pattern.", Complexity: "O(N) with N the number of settings",
			Args:  []engine.Arg{{Name: "parameter", Type: engine.Pattern, Multiple: true}},
			Flags: admin, Scope: engine.Here, Run: of((*conn).configGet),
			Reply: "map: names and values", Examples: []engine.Example{{In: "CONFIG GET maxmemory*", Out: "1) \"maxmemory\"\n2) \"0\"\n3) \"maxmemory-policy\"\n4) \"noeviction\""}},
			Notes: "There are limitstore's own names (its flags) and those of Redis' that clients ask for. The password is not shown.",
		}, {
			Name: "SET", Group: engine.Server, Since: since, Summary: "Changes settings, all or none.", Complexity: "O(N) with N the number of settings given",
			Args:  []engine.Arg{{Name: "data", Type: engine.Block, Multiple: true, Args: []engine.Arg{{Name: "parameter", Type: engine.String}, {Name: "value", Type: engine.String}}}},
			Flags: admin, Scope: engine.Here, Run: of((*conn).configSet), Reply: "OK",
			Examples: []engine.Example{
				{In: "CONFIG SET maxclients 500 timeout 60", Out: "OK"}, {In: "CONFIG GET timeout", Out: "1) \"timeout\"\n2) \"60\""},
				{In: "CONFIG SET appendonly yes", Out: "(error) ERR CONFIG SET failed (possibly related to argument 'appendonly') - nothing is kept on disk"},
			},
			Notes: "These can be changed: " + strings.Join(changeable(), ", ") + ". What promises something that is not done is refused, unless the value is what it is already.",
		}, {
			Name: "RESETSTAT", Group: engine.Server, Since: since, Summary: "Makes INFO count from now.", Complexity: "O(N) with N the number of commands",
			Flags: admin, Scope: engine.EachShard, Run: of((*conn).resetStat), Reply: "OK", Examples: []engine.Example{{In: "CONFIG RESETSTAT", Out: "OK"}},
			Notes: "The metrics for Prometheus go on: what reads them expects counters that only grow.",
		}, helpCommand(engine.Server)},
	}}
}

// configGet is CONFIG GET.
func (c *conn) configGet(call *engine.Call) {
	var found []Setting
	for _, setting := range c.server.settings() {
		if slices.ContainsFunc(call.Args[2:], func(pattern []byte) bool {
			return engine.Match(bytes.ToLower(pattern), []byte(setting.Name))
		}) {
			found = append(found, setting)
		}
	}
	call.Out.Map(len(found))
	for _, setting := range found {
		writePair(call.Out, setting.Name, setting.Value)
	}
}

// outputLimits are the limits of output buffers as Redis writes them: of each type
// of clients the hard one, the soft one and its seconds.
func (s *Server) outputLimits() string {
	most := s.cfg.SubscriberBuffer
	return fmt.Sprintf("normal %d 0 0 slave 0 0 0 pubsub %d %d %d", s.engine.Limits().Output, most, most/softPart, softVisits)
}

// settings are those of Redis that clients ask for and the process' own, by
// name. Where both have a name it is Redis' value that is shown.
func (s *Server) settings() []Setting {
	hosts, port := s.places()
	all := []Setting{
		{"appendonly", "no"},
		{"bind", hosts},
		{"client-output-buffer-limit", s.outputLimits()},
		{"client-query-buffer-limit", strconv.Itoa(s.cfg.Wire.Query)},
		{"cluster-enabled", "no"},
		{"daemonize", "no"},
		{"databases", strconv.Itoa(shard.Databases)},
		{"maxmemory", strconv.Itoa(s.engine.Limits().Memory)},
		{"maxmemory-policy", "noeviction"},
		{"notify-keyspace-events", ""},
		{"port", port},
		{"proto-max-bulk-len", strconv.Itoa(s.cfg.Wire.Bulk)},
		{"save", ""},
	}
	for _, p := range parameters() {
		if p.get != nil {
			all = append(all, Setting{p.name, p.get(s)})
		}
		if p.flag != "" {
			all = append(all, Setting{p.flag, p.get(s) + p.unit})
		}
	}
	for _, own := range s.cfg.Settings {
		if !slices.ContainsFunc(all, func(other Setting) bool { return other.Name == own.Name }) {
			all = append(all, own)
		}
	}
	slices.SortFunc(all, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// places are the hosts listened at, blanks between them, and the port of the
// first; 0 for none.
func (s *Server) places() (hosts, port string) {
	port = "0"
	var all []string
	for _, addr := range strings.Fields(s.cfg.Addr) {
		host, p, err := net.SplitHostPort(addr)
		if err != nil {
			continue // a socket in the file system
		}
		if len(all) == 0 {
			port = p
		}
		all = append(all, host)
	}
	return strings.Join(all, " "), port
}

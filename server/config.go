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

// configCommands tell about the settings.
func configCommands() []engine.Command {
	return []engine.Command{{
		Name: "CONFIG", Group: engine.Server, Since: since, Summary: "A container for commands about settings.", Complexity: "Depends on subcommand.",
		Reply: "depends on the subcommand", Examples: []engine.Example{{In: "CONFIG REWRITE", Out: "(error) ERR unknown subcommand 'REWRITE'. Try CONFIG HELP."}},
		Notes: "Settings are given when the server starts, and do not change while it runs.",
		Subs: []engine.Command{{
			Name: "GET", Group: engine.Server, Since: since, Summary: "Returns the settings that match a pattern.", Complexity: "O(N) with N the number of settings",
			Args:  []engine.Arg{{Name: "parameter", Type: engine.Pattern, Multiple: true}},
			Flags: engine.Admin | engine.NoScript | engine.Loading | engine.Stale, Scope: engine.Here, Run: of((*conn).configGet),
			Reply: "map: names and values", Examples: []engine.Example{{In: "CONFIG GET maxmemory*", Out: "1) \"maxmemory\"\n2) \"0\"\n3) \"maxmemory-policy\"\n4) \"noeviction\""}},
			Notes: "There are limitstore's own names (its flags) and those of Redis' that clients ask for. The password is not shown.",
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

// settings are the process' own and those of Redis that clients ask for, by name.
func (s *Server) settings() []Setting {
	host, port, _ := net.SplitHostPort(s.cfg.Addr)
	all := append([]Setting{
		{"appendonly", "no"},
		{"bind", host},
		{"client-output-buffer-limit", s.outputLimits()},
		{"client-query-buffer-limit", strconv.Itoa(s.cfg.Wire.Query)},
		{"cluster-enabled", "no"},
		{"databases", strconv.Itoa(shard.Databases)},
		{"maxclients", strconv.Itoa(s.cfg.MaxClients)},
		{"maxmemory", strconv.Itoa(s.engine.Limits().Memory)},
		{"maxmemory-policy", "noeviction"},
		{"notify-keyspace-events", ""},
		{"port", port},
		{"proto-max-bulk-len", strconv.Itoa(s.cfg.Wire.Bulk)},
		{"save", ""},
		{"timeout", strconv.Itoa(int(visitsIn(s.cfg.IdleTimeout)))},
	}, s.cfg.Settings...)
	slices.SortFunc(all, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	return all
}

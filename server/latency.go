package server

import (
	"slices"
	"time"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/limit"
)

// latencyCommands show what took long, by kind and second.
func latencyCommands() []engine.Command {
	flags := engine.Admin | engine.NoScript | engine.Loading | engine.Stale
	event := engine.Arg{Name: "event", Type: engine.String}
	events := event
	events.Optional, events.Multiple = true, true
	return []engine.Command{{
		Name: "LATENCY", Group: engine.Server, Since: since, Summary: "A container for commands about what took long.", Complexity: "Depends on subcommand.",
		Reply: "depends on the subcommand", Examples: []engine.Example{{In: "LATENCY LATEST", Out: "(empty array)"}},
		Notes: "Commands are noted that took at least latency-monitor-threshold, in milliseconds; 0, the default, is never. There are two events: " +
			"fast-command for commands flagged fast, command for the others. Every command is timed while it is not 0.",
		Subs: []engine.Command{{
			Name: "LATEST", Group: engine.Server, Since: since, Summary: "Returns the latest time of each event.", Complexity: "O(1)", Flags: flags, Scope: engine.Here,
			Run: of((*conn).latencyLatest), Reply: "array: of each event its name, Unix seconds, milliseconds, the most milliseconds ever", Examples: []engine.Example{{In: "LATENCY LATEST", Out: "(empty array)"}},
		}, {
			Name: "HISTORY", Group: engine.Server, Since: since, Summary: "Returns the times of an event.", Complexity: "O(1)", Flags: flags, Scope: engine.Here,
			Args: []engine.Arg{event}, Run: of((*conn).latencyHistory), Reply: "array, the oldest first: Unix seconds, the most milliseconds in that second; the last 160",
			Examples: []engine.Example{{In: "LATENCY HISTORY command", Out: "(empty array)"}},
		}, {
			Name: "RESET", Group: engine.Server, Since: since, Summary: "Forgets the times of events, all unless some are named.", Complexity: "O(1)", Flags: flags, Scope: engine.Here,
			Args: []engine.Arg{events}, Run: of((*conn).latencyReset), Reply: "integer: events forgotten", Examples: []engine.Example{{In: "LATENCY RESET", Out: "(integer) 0"}},
		}, helpCommand(engine.Server)},
	}}
}

// The events of LATENCY.
const (
	slowCommand = iota
	slowFastCommand
	latencyEvents // how many there are
)

// latencyNames are the events as Redis names them.
var latencyNames = [latencyEvents]string{slowCommand: "command", slowFastCommand: "fast-command"}

// keptSamples is how many seconds of an event are kept, as in Redis.
const keptSamples = 160

// latencyEvent is what is known of an event.
type latencyEvent struct {
	samples []latencySample // the latest last
	most    int64           // milliseconds
}

// latencySample is the longest time in one second.
type latencySample struct{ second, millis int64 }

// sample notes a command that took long.
func (s *slowness) sample(command *engine.Command, at limit.Instant, took time.Duration) {
	kind := slowCommand
	if command.Flags&engine.Fast != 0 {
		kind = slowFastCommand
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events[kind].add(latencySample{second: int64(at) / int64(time.Second), millis: took.Milliseconds()})
}

func (e *latencyEvent) add(next latencySample) {
	e.most = max(e.most, next.millis)
	if last := len(e.samples) - 1; last >= 0 && e.samples[last].second == next.second {
		e.samples[last].millis = max(e.samples[last].millis, next.millis)
		return
	}
	if len(e.samples) == keptSamples {
		e.samples = slices.Delete(e.samples, 0, 1)
	}
	e.samples = append(e.samples, next)
}

// happened lists the events that have happened, copied, by name.
func (s *slowness) happened() map[string]latencyEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]latencyEvent{}
	for i, e := range s.events {
		if len(e.samples) > 0 {
			all[latencyNames[i]] = latencyEvent{samples: slices.Clone(e.samples), most: e.most}
		}
	}
	return all
}

// latencyLatest is LATENCY LATEST.
func (c *conn) latencyLatest(call *engine.Call) {
	all := c.server.slow.happened()
	call.Out.Array(len(all))
	for _, name := range latencyNames {
		e, ok := all[name]
		if !ok {
			continue
		}
		last := e.samples[len(e.samples)-1]
		call.Out.Array(4)
		call.Out.BulkString(name)
		call.Out.Int(last.second)
		call.Out.Int(last.millis)
		call.Out.Int(e.most)
	}
}

// latencyHistory is LATENCY HISTORY.
func (c *conn) latencyHistory(call *engine.Call) {
	samples := c.server.slow.happened()[string(call.Args[2])].samples
	call.Out.Array(len(samples))
	for _, sample := range samples {
		call.Out.Array(2)
		call.Out.Int(sample.second)
		call.Out.Int(sample.millis)
	}
}

// latencyReset is LATENCY RESET.
func (c *conn) latencyReset(call *engine.Call) {
	s := &c.server.slow
	s.mu.Lock()
	defer s.mu.Unlock()
	forgotten := int64(0)
	for i := range s.events {
		named := len(call.Args) == 2 || slices.ContainsFunc(call.Args[2:], func(word []byte) bool { return string(word) == latencyNames[i] })
		if named && len(s.events[i].samples) > 0 {
			s.events[i] = latencyEvent{}
			forgotten++
		}
	}
	call.Out.Int(forgotten)
}

package server

import (
	"fmt"
	"strings"
	"time"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/resp"
)

// monitorCommands show what others do.
func monitorCommands() []engine.Command {
	return []engine.Command{{
		Name: "MONITOR", Group: engine.Server, Since: since, Summary: "Shows every command the server takes, as it takes it.", Complexity: "O(1)",
		Flags: engine.Admin | engine.NoScript | engine.Loading | engine.Stale | engine.Fence, Scope: engine.Here, Run: of((*conn).monitor),
		Reply: "OK, then a line for each command: the time in seconds, the database, the client's address, the words", Examples: []engine.Example{{In: "MONITOR", Out: "OK"}},
		Notes: "Passwords and operators' commands are not shown. A command is shown when it is queued, so the order between connections is not that in which a shard runs them. " +
			"A monitor that does not keep up is cut off as a subscriber is. RESET ends it.",
	}}
}

// monitor is MONITOR. As in Redis, a second one is not answered.
func (c *conn) monitor(call *engine.Call) {
	if c.monitoring {
		return
	}
	o, h := c.box(), &c.server.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.monitors == nil {
		h.monitors = map[*outbox]struct{}{}
	}
	h.monitors[o] = struct{}{}
	c.server.attention.Add(1)
	c.monitoring = true
	o.watch(true)
	call.Out.OK()
}

// stopMonitoring ends what MONITOR began.
func (c *conn) stopMonitoring() {
	if !c.monitoring {
		return
	}
	o, h := c.outbox.Load(), &c.server.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.monitors, o)
	c.server.attention.Add(-1)
	c.monitoring = false
	o.watch(false)
}

// show tells the monitors of a command that c has just given.
func (c *conn) show(row *engine.Command, args [][]byte) {
	h := &c.server.hub
	if row.Flags&engine.Admin != 0 || !h.watched() {
		return
	}
	line := c.sketch(row, args, time.Now())
	h.mu.Lock()
	h.draft.begin(func(w *resp.Writer) { w.SimpleString(line) })
	for o := range h.monitors {
		o.show(&h.draft)
	}
	h.mu.Unlock()
	if c.monitoring && c.leaving == open {
		c.session.Interject(c.outbox.Load().overdue())
	}
}

// watched says whether there is a monitor.
func (h *hub) watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.monitors) > 0
}

// sketch is the line about a command.
func (c *conn) sketch(row *engine.Command, args [][]byte, now time.Time) string {
	var line strings.Builder
	fmt.Fprintf(&line, "%d.%06d [%d %s]", now.Unix(), now.Nanosecond()/1000, c.identity.Load().db, c.raw.RemoteAddr())
	hidden := 0
	for i, word := range args {
		line.WriteByte(' ')
		if hidden > 0 {
			hidden--
			line.WriteString(`"(redacted)"`)
			continue
		}
		quote(&line, word)
		if row.Flags&engine.NoAuth != 0 && engine.EqualFold(word, "AUTH") {
			hidden = min(2, len(args)-1-i) // a user, a password
		}
	}
	return line.String()
}

// quote writes a word as Redis' sdscatrepr does.
func quote(out *strings.Builder, word []byte) {
	out.WriteByte('"')
	for _, b := range word {
		switch at := strings.IndexByte("\\\"\n\r\t\a\b", b); {
		case at >= 0:
			out.WriteByte('\\')
			out.WriteByte(`\"nrtab`[at])
		case b < ' ' || b > '~':
			fmt.Fprintf(out, `\x%02x`, b)
		default:
			out.WriteByte(b)
		}
	}
	out.WriteByte('"')
}

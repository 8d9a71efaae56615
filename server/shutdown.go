package server

import "github.com/limitstore/limitstore/engine"

// shutdownCommands end the process.
func shutdownCommands() []engine.Command {
	return []engine.Command{{
		Name: "SHUTDOWN", Group: engine.Server, Since: since, Summary: "Ends the server: connections finish what they have sent, then it exits.", Complexity: "O(1)",
		Args: []engine.Arg{
			{Name: "save-selector", Type: engine.OneOf, Optional: true, Args: words("NOSAVE", "SAVE")},
			{Name: "now", Type: engine.PureToken, Token: "NOW", Optional: true},
			{Name: "force", Type: engine.PureToken, Token: "FORCE", Optional: true},
			{Name: "abort", Type: engine.PureToken, Token: "ABORT", Optional: true},
		},
		Flags: engine.Admin | engine.NoScript | engine.NoMulti | engine.Loading | engine.Stale | engine.Fence, Scope: engine.Here, Run: of((*conn).shutdown),
		Reply: "none: the connection is closed", Examples: []engine.Example{{In: "SHUTDOWN ABORT", Out: "(error) ERR No shutdown in progress."}},
		Notes: "NOW and FORCE change nothing. SAVE is refused: nothing is kept on disk.",
	}}
}

// The options of SHUTDOWN that matter, as bits.
const (
	shutdownPlain = 1 << iota // NOW, FORCE
	shutdownNoSave
	shutdownSave
	shutdownAbort
)

// shutdownOption is the bit of an option; 0 for another word.
func shutdownOption(word []byte) int {
	switch {
	case engine.EqualFold(word, "NOSAVE"):
		return shutdownNoSave
	case engine.EqualFold(word, "SAVE"):
		return shutdownSave
	case engine.EqualFold(word, "NOW"), engine.EqualFold(word, "FORCE"):
		return shutdownPlain
	case engine.EqualFold(word, "ABORT"):
		return shutdownAbort
	}
	return 0
}

// shutdown is SHUTDOWN.
func (c *conn) shutdown(call *engine.Call) {
	options := 0
	for _, word := range call.Args[1:] {
		option := shutdownOption(word)
		if option == 0 {
			call.Fail(engine.Syntax)
			return
		}
		options |= option
	}
	const both = shutdownNoSave | shutdownSave
	switch {
	case options&shutdownAbort != 0 && options != shutdownAbort, options&both == both:
		call.Fail(engine.Syntax)
	case options == shutdownAbort:
		fail(call, failNoShutdown)
	case options&shutdownSave != 0:
		fail(call, failShutdownSave)
	case c.server.cfg.Shutdown == nil:
		fail(call, failShutdownOff)
	default:
		c.leaving = byShutdown
		c.server.cfg.Log.Info("a client asked for shutdown", "addr", c.raw.RemoteAddr())
		c.server.cfg.Shutdown()
	}
}

package server

import (
	"strconv"

	"github.com/limitstore/limitstore/engine"
)

// timeCommands tell the time.
func timeCommands() []engine.Command {
	return []engine.Command{{
		Name: "TIME", Group: engine.Server, Since: since, Summary: "Tells the time that limits are counted by.", Complexity: "O(1)",
		Flags: engine.Loading | engine.Stale | engine.Fast | engine.Fence, Scope: engine.Here, Run: of((*conn).time),
		Reply: "array: Unix seconds, microseconds within the second", Examples: []engine.Example{{In: "TIME", Out: "1) \"1767225600\"\n2) \"0\""}},
		Notes: "The first shard is asked. Its time never goes back.",
	}}
}

// time is TIME.
func (c *conn) time(call *engine.Call) {
	micros := int64(call.Moment()) / 1000
	call.Out.Array(2)
	call.Out.BulkString(strconv.FormatInt(micros/1e6, 10))
	call.Out.BulkString(strconv.FormatInt(micros%1e6, 10))
}

package engine

// An execution runs commands one after another where its caller runs: on the
// one shard whose goroutine that is, or on shards that stand for it. Time stands
// still meanwhile, and nobody else sees what is half done. Where, as whom and in
// which database the commands run is data in it, so that a transaction and
// whatever else is made of commands go one way.
//
// The zero value is ready for begin.
type execution struct{ call Call }

// begin takes the place of the call that the execution is part of: its
// keyspaces, its caller, its database and its writer of replies.
func (x *execution) begin(c *Call) {
	x.call = Call{Out: c.Out, Session: c.Session, db: c.db, ks: c.ks, held: c.held, stats: c.stats, limits: c.limits, caller: c.caller, shard: c.shard}
}

// do runs one command and counts it. The command was found by Table.Resolve for
// args, and its keyspaces are among those that the execution has. What it selects
// is selected for the next one.
func (x *execution) do(command *Command, args [][]byte) {
	x.call.Command, x.call.Args = command, args
	x.call.run()
}

// end lets go of everything.
func (x *execution) end() { x.call = Call{} }

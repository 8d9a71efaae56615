package engine

import (
	"errors"
	"time"

	"github.com/limitstore/limitstore/engine/script"
	"github.com/limitstore/limitstore/resp"
	"github.com/limitstore/limitstore/shard"
)

// scripting is what an engine needs to run scripts: the cache, which all shards
// share and only a caller that holds all of them changes, and for each shard a
// place where one script runs at a time.
type scripting struct {
	cache     scriptCache
	functions functions
	stages    []*stage
}

// stage is where a script runs: on the shard with its number, or where several
// stand of which that is the lowest. What is costly to make is kept in it.
type stage struct {
	engine   *Engine
	machine  *script.Machine
	inside   execution // the commands of the script
	attempts []attempt // by shard
	begun    []*attempt
	single   []*shard.Keyspace // the one keyspace of an engine with one shard
	reply    writer
	// running holds a token while a script runs. Whoever takes it out, kills the
	// script.
	running chan struct{}

	readOnly bool
	wide     bool // the script went beyond the shards that the stage holds
	full     bool // a reply, or what would take back its changes, has outgrown the script's memory
}

func newScripting(e *Engine, shards int) scripting {
	s := scripting{cache: newScriptCache(), functions: newFunctions(), stages: make([]*stage, shards)}
	for i := range s.stages {
		s.stages[i] = &stage{engine: e, attempts: make([]attempt, shards), running: make(chan struct{}, 1)}
	}
	return s
}

// stage is where the call's script runs.
func (c *Call) stage() *stage {
	e := c.caller.engine
	for i, ks := range c.held {
		if ks != nil {
			return e.scripting.stages[i]
		}
	}
	return e.scripting.stages[c.shard]
}

// kill ends the scripts that run now and says whether there was one.
func (s *scripting) kill() (found bool) {
	for _, st := range s.stages {
		select {
		case <-st.running:
			found = true
		default:
		}
	}
	return found
}

// killed says whether the running script was killed, or cannot be of use any
// more.
func (st *stage) killed() bool {
	return len(st.running) == 0 || st.wide || st.full
}

// open makes the machine when the first script comes.
func (st *stage) open() {
	if st.machine != nil {
		return
	}
	l := &st.engine.limits
	st.reply.SetLimit(l.ScriptBytes)
	st.machine = script.NewMachine(script.Options{
		Limits:  script.Limits{Steps: int64(l.ScriptSteps), Bytes: int64(l.ScriptBytes), Duration: l.ScriptTime},
		Now:     func() time.Duration { return time.Duration(st.engine.clock.Now()) },
		Killed:  st.killed,
		Version: st.engine.version,
	})
}

// load runs a library, which registers its functions.
func (st *stage) load(l *script.Library) ([]script.Function, error) {
	st.wide, st.full = false, false
	st.running <- struct{}{}
	functions, err := st.machine.Load(l)
	if st.stopped() {
		err = script.ErrKilled
	}
	return functions, err
}

// run runs a script or a function for c: play does it on the machine, name is what
// errors call it. One that is stopped, or went beyond its shards, has changed
// nothing.
func (st *stage) run(c *Call, name string, play func() error) {
	st.open()
	st.inside.begin(c)
	st.inside.call.Session, st.inside.call.scripted = c.caller, true
	if len(st.attempts) == 1 && c.ks != nil {
		st.single = append(st.single[:0], c.ks)
		st.inside.call.held = st.single
	}
	st.wide, st.full = false, false
	st.begin(c)
	written := c.Out.Len()
	st.running <- struct{}{}
	err := play()
	switch {
	case st.stopped():
		st.wide, err = false, script.ErrKilled
	case st.full:
		err = script.ErrBytes
	}
	if err != nil || st.wide {
		c.Out.Truncate(written)
	}
	st.finish(c, name, err)
	st.inside.end()
	st.reply.Reset(resp.RESP2) // it may be large
}

// stopped ends the time in which the script can be killed.
func (st *stage) stopped() bool {
	select {
	case <-st.running:
		return false
	default:
		return true
	}
}

// finish keeps or takes back what the script did, and replies with its error.
func (st *stage) finish(c *Call, name string, err error) {
	var failed *script.Error
	done := err == nil || errors.As(err, &failed)
	st.end(done && !st.wide)
	switch {
	case st.wide:
		c.wide, c.reached = true, true
	case failed != nil:
		c.Out.Error(failed.Reply(name))
	case err != nil:
		c.Out.Error(stoppedText(&st.engine.limits, err))
	}
}

// stoppedText is what a client is told of a script that was stopped.
func stoppedText(l *Limits, err error) string {
	switch {
	case errors.Is(err, script.ErrSteps):
		return ScriptSteps.Text(l.ScriptSteps)
	case errors.Is(err, script.ErrBytes):
		return ScriptBytes.Text(l.ScriptBytes)
	case errors.Is(err, script.ErrDuration):
		return ScriptTime.Text(l.ScriptTime)
	}
	if errors.Is(err, script.ErrFailed) {
		return ScriptFailed.Text(err)
	}
	return ScriptKilled.Text()
}

// attempt is what the script does to one keyspace, until it is known whether it
// stays.
type attempt struct {
	ks   *shard.Keyspace
	undo shard.Undo
	shard.Attempt
}

// begin makes the changes of the script ones that can be taken back.
func (st *stage) begin(c *Call) {
	st.begun = st.begun[:0]
	if c.ks != nil {
		st.beginOn(c.shard, c.ks)
		return
	}
	for i, ks := range c.held {
		if ks != nil {
			st.beginOn(i, ks)
		}
	}
}

func (st *stage) beginOn(i int, ks *shard.Keyspace) {
	a := &st.attempts[i]
	a.ks, a.Attempt = ks, ks.Begin(&a.undo)
	st.begun = append(st.begun, a)
}

// end keeps what the script has changed, or takes it back.
func (st *stage) end(keep bool) {
	for _, a := range st.begun {
		a.ks.End(a.Attempt, keep)
		a.ks = nil
	}
}

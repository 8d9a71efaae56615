package script

import (
	"fmt"
	"time"

	"github.com/limitstore/limitstore/resp"
)

// Host is what a script acts on.
type Host interface {
	// Call runs the command in args, which are valid during the call, and appends
	// its reply, encoded for the version of RESP given, 2 or 3. An error is a reply.
	Call(args [][]byte, version int, reply []byte) []byte
	// Allowed says whether the command in args exists, and whether the caller may
	// run it.
	Allowed(args [][]byte) (allowed, exists bool)
	// Log takes a line that the script wrote by redis.log, at one of Redis' four
	// levels: 0 debug, 1 verbose, 2 notice, 3 warning.
	Log(level int, line string)
}

// Limits bounds a run. Zero means the default.
type Limits struct {
	// Steps is how many instructions a run may take. What a library does counts
	// for as many as it would take in Lua.
	Steps int64
	// Bytes is how many bytes a run may take altogether; what it lets go of is not
	// given back.
	Bytes int64
	// Duration is how long a run may take by the machine's clock; without a clock
	// there is no such limit.
	Duration time.Duration
}

// The limits of a run that says nothing else.
const (
	DefaultSteps    = 200_000_000
	DefaultBytes    = 256 << 20
	DefaultDuration = 5 * time.Second
)

// pollEvery is after how many steps a run looks at the clock and asks whether it
// was killed.
const pollEvery = 20_000

// bytesPerStep is how many bytes a library may move for one step.
const bytesPerStep = 64

// Options are what a Machine needs from around it.
type Options struct {
	Limits Limits
	// Now returns a time that only differences matter of; nil for no limit of time.
	Now func() time.Duration
	// Killed is asked every few steps whether the run is to end; nil for never.
	Killed func() bool
	// Version is what redis.REDIS_VERSION says, as 7.2.4; "" for 7.2.0.
	Version string
}

// Machine runs scripts, one at a time. It belongs to one goroutine.
type Machine struct {
	options Options
	heap    *heap
	main    *thread
	globals *table
	*libraries

	host    Host
	version int // of RESP, for commands that the script calls
	fuel    int // steps until the next poll
	granted int
	steps   int64 // left after those granted
	started time.Duration
	nested  int
	hosted  bool // a command runs
	random  uint64
	json    jsonSettings
	call    commandBuffers

	registered []Function // by the library that runs
}

// libraries are the parts of a machine that the libraries look for.
type libraries struct {
	stringMeta *table
	nextFn     value
	iterFn     value
	keysName   value
	argvName   value
	redisName  value
	serverName value

	redisTable *table // what scripts and functions call redis
	loadTable  *table // what a library calls so while it registers functions
}

// NewMachine makes a machine. It takes about 100 KB.
func NewMachine(o Options) *Machine {
	if o.Limits.Steps == 0 {
		o.Limits.Steps = DefaultSteps
	}
	if o.Limits.Bytes == 0 {
		o.Limits.Bytes = DefaultBytes
	}
	if o.Limits.Duration == 0 {
		o.Limits.Duration = DefaultDuration
	}
	if o.Version == "" {
		o.Version = "7.2.0"
	}
	m := &Machine{options: o, heap: newHeap(), libraries: &libraries{}}
	m.main = &thread{m: m, heap: m.heap}
	m.open()
	return m
}

// Error is the error that ended a script.
type Error struct {
	// Text begins with a code, as ERR; it has no end of line.
	Text string
	// Source is what Redis calls the script, or what the script loaded; "" when that
	// is not known.
	Source string
	// Line is where in the source, counted from 1.
	Line int
	// Counted says that a command of the script failed with this error, which was
	// counted with the command.
	Counted bool
}

// Error returns the text without the place.
func (e *Error) Error() string { return e.Text }

// Reply is the error as Redis words it to the client of a script.
func (e *Error) Reply(sha string) string {
	if e.Source == "" {
		return e.Text
	}
	return fmt.Sprintf("%s script: %s, on %s:%d.", e.Text, sha, e.Source, e.Line)
}

// Run runs a script with its keys and arguments, which are copied, and writes its
// reply to out. The error is an *Error, or tells by errors.Is what limit the
// script ran into; nothing is written then.
func (m *Machine) Run(s *Script, keys, args [][]byte, host Host, out *resp.Writer) error {
	return m.guarded(host, out, func() {
		m.globals.set(m.keysName, m.list(keys))
		m.globals.set(m.argvName, m.list(args))
		result := first(m.main.invoke(value{o: &s.main.obj}, nil))
		(&replier{m: m, out: out}).write(result, 0)
	})
}

// guarded does body as one run: with the limits of one, and with its error.
func (m *Machine) guarded(host Host, out *resp.Writer, body func()) (err error) {
	written := out.Len()
	defer func() {
		if r := recover(); r != nil {
			out.Truncate(written)
			err = m.failure(r)
		}
		m.host = nil
		clear(m.registered)
		m.registered = m.registered[:0]
		m.globals.set(m.keysName, boolean(false))
		m.globals.set(m.argvName, boolean(false))
		m.main.release()
		m.heap.reset(0) // at once: an idle machine holds on to nothing
	}()
	m.begin(host)
	body()
	return nil
}

// begin gives the next run a machine as new.
func (m *Machine) begin(host Host) {
	m.heap.reset(m.options.Limits.Bytes)
	m.main.reset()
	m.host, m.version, m.nested, m.hosted = host, 2, 0, false
	m.random = randomStart
	m.json = defaultJSON()
	m.steps = m.options.Limits.Steps
	m.fuel, m.granted = 0, 0
	if m.options.Now != nil {
		m.started = m.options.Now()
	}
	m.grant()
}

// list makes a table of strings.
func (m *Machine) list(items [][]byte) value {
	tab := m.heap.table(wholePower(len(items)), 0)
	for i, item := range items {
		tab.setInt(i+1, m.heap.copied(item))
	}
	return value{o: &tab.obj}
}

// spend counts steps.
func (m *Machine) spend(n int) {
	if m.fuel -= n; m.fuel < 0 {
		m.refuel()
	}
}

// refuel ends a run that is over its limits or killed, and lets others go on.
func (m *Machine) refuel() {
	m.steps -= int64(m.granted - m.fuel)
	m.fuel, m.granted = 0, 0
	if m.steps < 0 {
		panic(stop{ErrSteps})
	}
	if m.options.Killed != nil && m.options.Killed() {
		panic(stop{ErrKilled})
	}
	if m.options.Now != nil && m.options.Now()-m.started > m.options.Limits.Duration {
		panic(stop{ErrDuration})
	}
	m.grant()
}

func (m *Machine) grant() {
	m.granted = int(min(m.steps, pollEvery))
	m.fuel = m.granted
}

// failure makes an error of what ended a run. A fault of the host is not the
// script's: it goes on.
func (m *Machine) failure(r any) error {
	switch r := r.(type) {
	case stop:
		return r.err
	case *thrown:
		return m.scriptError(r)
	}
	if m.hosted {
		panic(r)
	}
	return fmt.Errorf("%w: %v", ErrFailed, r)
}

// scriptError words an error that no pcall caught.
func (m *Machine) scriptError(e *thrown) error {
	if tab := e.v.table(); tab != nil {
		err := &Error{Text: "ERR unknown error", Source: e.source, Line: e.line}
		if text := tab.get(constant("err")); isText(text) {
			err.Text = oneLine(string(appendText(nil, text)))
		}
		err.Counted = !tab.get(constant("ignore_error_stats_update")).isFalse()
		return err
	}
	return &Error{Text: "ERR " + oneLine(describeValue(m.heap, e.v)), Source: e.source, Line: e.line}
}

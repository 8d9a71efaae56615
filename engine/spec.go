package engine

import "strings"

// Command is one row of the command table: the only place where a command is
// declared. Arity, key positions, flags, option errors, COMMAND, COMMAND DOCS,
// docs/commands.md and the ACL categories are all derived from it.
type Command struct {
	Name       string    // upper case, as documented; a subcommand's own word
	Group      Group     // the chapter it is documented in
	Since      string    // first limitstore version
	Summary    string    // one sentence
	Complexity string    // as Redis words it: "O(1)"
	Args       []Arg     // after the name, in order
	Keys       Keys      // where the keys stand in the argument list
	Flags      Flags     // what it may do
	Scope      Scope     // where it runs
	Reply      string    // the reply's shape, units included
	Subs       []Command // subcommands; Run may be nil then
	Examples   []Example // run as a test
	Notes      string    // what differs from Redis, or a limit worth knowing
	Run        func(*Call)

	// Prepare, unless nil, is what can be done of a command that needs all shards
	// before they are asked to stand.
	Prepare func(limits *Limits, args [][]byte) any

	parent string // the container's name in lower case, set by NewTable
	lower  string // the name in lower case, set by NewTable
	id     int    // position in Table.rows, set by NewTable
	arity  int    // set by NewTable
}

// Group is a chapter of the command reference.
type Group string

// The chapters, in the order in which docs/commands.md shows them. Redis' own
// group names are kept for Redis' own commands: clients show them.
const (
	TokenBucket   Group = "token-bucket"
	LeakyBucket   Group = "leaky-bucket"
	FixedWindow   Group = "fixed-window"
	SlidingWindow Group = "sliding-window"
	SlidingLog    Group = "sliding-log"
	Compatible    Group = "compatible-limiters"
	Strings       Group = "string"
	Hashes        Group = "hash"
	Sets          Group = "set"
	SortedSets    Group = "sorted-set"
	Lists         Group = "list"
	Generic       Group = "generic"
	Messages      Group = "pubsub"
	Transactions  Group = "transactions"
	Scripting     Group = "scripting"
	Connection    Group = "connection"
	Server        Group = "server"
)

// Groups lists every chapter in reading order.
var Groups = []Group{TokenBucket, LeakyBucket, FixedWindow, SlidingWindow, SlidingLog, Compatible, Strings, Hashes, Sets, SortedSets, Lists, Generic, Transactions, Scripting, Messages, Connection, Server}

// Flags say what a command may do; the names are Redis'.
type Flags uint32

// The flags of a command.
const (
	Write        Flags = 1 << iota // may change a keyspace
	ReadOnly                       // changes nothing
	DenyOOM                        // refused when memory is full
	Admin                          // an operator's command
	PubSub                         // about messages between clients
	NoScript                       // refused inside a script
	Loading                        // allowed while data loads
	Stale                          // allowed on a stale replica
	Fast                           // constant or logarithmic time
	NoAuth                         // allowed before AUTH
	NoMulti                        // refused after MULTI
	SkipSlowlog                    // not in the slow log: its parts are
	Fence                          // all that was queued before it finishes first
	MayReplicate                   // has an effect though it writes no key; waits as a write does
	AtOnce                         // runs at once also after MULTI
	Scripted                       // runs commands of its own, on any keys
	Subscribed                     // allowed to a subscriber who speaks RESP2
	Sparing                        // with DenyOOM: it runs when memory is full too, and grows nothing then
)

// MovableKeys is what COMMAND INFO adds to the flags of a command with counted
// keys.
const MovableKeys = "movablekeys"

var flagNames = [...]string{"write", "readonly", "denyoom", "admin", "pubsub", "noscript", "loading", "stale", "fast", "no_auth", "no_multi", "skip_slowlog"}

// Names lists the flags as COMMAND INFO spells them.
func (f Flags) Names() []string {
	var names []string
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Scope says where a command runs.
type Scope uint8

// Where a command runs. OnKeys and EveryShard run on the leader of a
// replicated group, Here on the node that was asked.
const (
	OnKeys     Scope = iota // on the shard of its keys; through the door when they live in several
	EveryShard              // through the door, all shards standing
	EachShard               // on the caller's goroutine, asking one shard after another (no atomicity)
	Here                    // on the caller's goroutine, without a keyspace
	OnQueue                 // EXEC: where what was queued since MULTI runs, all at once
)

// Keys says which arguments are keys: argument First (the name is 0), then
// every Step-th up to Last; a negative Last counts from the end. Unless Count is
// zero, argument Count says how many more keys follow it. Zero means none.
type Keys struct{ First, Last, Step, Count int }

// OneKey is the common case: the first argument is the key.
var OneKey = Keys{First: 1, Last: 1, Step: 1}

// Each calls fn with every key in args.
func (k Keys) Each(args [][]byte, fn func(key []byte)) {
	last := k.Last
	if last < 0 {
		last += len(args)
	}
	for i := k.First; i > 0 && i <= last && i < len(args); i += k.Step {
		fn(args[i])
	}
	for _, key := range k.counted(args) {
		fn(key)
	}
}

// fit says whether no key in args is longer than most.
func (k Keys) fit(args [][]byte, most int) bool {
	fits := true
	k.Each(args, func(key []byte) { fits = fits && len(key) <= most })
	return fits
}

// span adds the shards of the keys to an ascending list. With a number of keys
// that cannot be right it adds one: any shard will say so.
func (k Keys) span(ascending []int, args [][]byte, shards int) []int {
	none := true
	k.Each(args, func(key []byte) {
		ascending, none = insert(ascending, route(key, shards)), false
	})
	if none {
		ascending = insert(ascending, 0)
	}
	return ascending
}

// counted are the keys that follow argument Count. When it cannot be right there
// are none: the command will say so.
func (k Keys) counted(args [][]byte) [][]byte {
	if k.Count == 0 || k.Count >= len(args) {
		return nil
	}
	rest := args[k.Count+1:]
	n, ok := Int(args[k.Count])
	if !ok || n < 1 || n > int64(len(rest)) {
		return nil
	}
	return rest[:n]
}

// None says that a command has no keys.
func (k Keys) None() bool { return k.First == 0 && k.Count == 0 }

// ArgType is what an argument holds; the names are COMMAND DOCS'.
type ArgType string

// The types of arguments. Duration is ours; COMMAND DOCS shows it as a string.
const (
	Key       ArgType = "key"
	String    ArgType = "string"
	Integer   ArgType = "integer"
	Double    ArgType = "double"
	Pattern   ArgType = "pattern"
	UnixTime  ArgType = "unix-time"
	Duration  ArgType = "duration"
	PureToken ArgType = "pure-token" // an option without a value
	OneOf     ArgType = "oneof"
	Block     ArgType = "block"
)

// Arg declares one argument. Min and Max bound an Integer; both zero: unbounded.
// A Duration is 1 ms to 10 years.
type Arg struct {
	Name     string
	Type     ArgType
	Token    string // the option's word; with a value unless Type is PureToken
	Optional bool
	Multiple bool
	Min, Max int64
	Default  int64  // what an absent option means, for native commands
	Hint     string // appended to the out-of-range error
	Args     []Arg  // of OneOf and Block
}

// words counts the fewest words the argument takes on the wire.
func (a Arg) words() int {
	if a.Optional {
		return 0
	}
	n := 0
	if a.Token != "" && a.Type != PureToken {
		n = 1
	}
	switch a.Type {
	case Block:
		for _, sub := range a.Args {
			n += sub.words()
		}
	case OneOf:
		least := a.Args[0].words()
		for _, sub := range a.Args[1:] {
			least = min(least, sub.words())
		}
		n += least
	default:
		n++
	}
	return n
}

// open says whether the argument may take more words than its fewest.
func (a Arg) open() bool {
	if a.Optional || a.Multiple {
		return true
	}
	for _, sub := range a.Args {
		if sub.open() || (a.Type == OneOf && sub.words() != a.Args[0].words()) {
			return true
		}
	}
	return false
}

// Example is a line a user can type and what redis-cli shows for it. A test
// runs every example in an empty store at a fixed time, each after the ones
// above it.
type Example struct{ In, Out string }

// Arity is Redis' arity: the exact number of words including the name, or minus
// the fewest.
func (c *Command) Arity() int { return c.arity }

// FullName is the name a user types, container included: "CLIENT ID".
func (c *Command) FullName() string {
	if c.parent == "" {
		return c.Name
	}
	return strings.ToUpper(c.parent) + " " + c.Name
}

// Lower is the name in lower case as Redis' errors and COMMAND show it; a
// subcommand's is "client|id".
func (c *Command) Lower() string { return c.lower }

// ID numbers the commands of a table from 0, subcommands included, for counters.
func (c *Command) ID() int { return c.id }

func (c *Command) countWords(before int) int {
	n, open := before+1, len(c.Subs) > 0
	for _, a := range c.Args {
		n += a.words()
		open = open || a.open()
	}
	if len(c.Subs) > 0 && c.Run == nil {
		n++
	}
	if open {
		return -n
	}
	return n
}

// Takes says whether a call of n words has as many as the command asks for.
func (c *Command) Takes(n int) bool {
	return n == c.arity || (c.arity < 0 && n >= -c.arity)
}

package server

import (
	"strings"

	"github.com/limitstore/limitstore/engine"
)

// Refusal is one command that Redis has and this server refuses: an answer of OK
// would promise what is not done. Such a command is not in the command table, so
// that COMMAND does not show it.
type Refusal struct {
	Command string // as typed, with its subcommand
	Why     string // a clause for the documentation and, unless Text says otherwise, for the error
	Text    string // Redis' own error, where it has one that is true here

	arity     int  // Redis'
	container bool // other subcommands than those of the table do not exist
}

// noCluster is what a Redis without its cluster says, and what is true here.
const noCluster = "ERR This instance has cluster support disabled"

// Refusals is the table of refused commands, for docs/refused.md.
func Refusals() []Refusal {
	const disk, replicas, modules, user = "nothing is kept on disk", "there are no replicas", "there are no modules", `there is one user, "default"`
	rows := []Refusal{
		{Command: "SAVE", arity: 1, Why: disk},
		{Command: "BGSAVE", arity: -1, Why: disk},
		{Command: "BGREWRITEAOF", arity: 1, Why: disk},
		{Command: "LASTSAVE", arity: 1, Why: disk},
		{Command: "REPLICAOF", arity: 3, Why: replicas},
		{Command: "SLAVEOF", arity: 3, Why: replicas},
		{Command: "SYNC", arity: 1, Why: replicas},
		{Command: "PSYNC", arity: -3, Why: replicas},
		{Command: "REPLCONF", arity: -1, Why: replicas},
		{Command: "FAILOVER", arity: -1, Why: replicas, Text: "ERR FAILOVER requires connected replicas."},
		{Command: "WAITAOF", arity: 4, Why: disk},
		{Command: "ACL SETUSER", arity: -3, Why: user},
		{Command: "ACL DELUSER", arity: -3, Why: user},
		{Command: "ACL LOAD", arity: 2, Why: user},
		{Command: "ACL SAVE", arity: 2, Why: user},
		{Command: "CONFIG REWRITE", arity: 2, Why: "settings are not written back: change them where the server is started"},
		{Command: "MODULE LOAD", arity: -3, Why: modules},
		{Command: "MODULE LOADEX", arity: -3, Why: modules},
		{Command: "MODULE UNLOAD", arity: 3, Why: modules},
		{Command: "DEBUG", arity: -2, Why: "it is for those who build Redis"},
		{Command: "MIGRATE", arity: -6, Why: "keys are not moved between servers"},
		{Command: "DUMP", arity: 2, Why: "values have no serialized form that Redis could read"},
		{Command: "RESTORE", arity: -4, Why: "values have no serialized form that Redis could read"},
		{Command: "RESTORE-ASKING", arity: -4, Why: "values have no serialized form that Redis could read"},
		{Command: "LATENCY DOCTOR", arity: 2, Why: "the figures are in LATENCY LATEST and LATENCY HISTORY, the advice would be Redis'"},
		{Command: "LATENCY GRAPH", arity: 3, Why: "LATENCY HISTORY has the figures"},
		{Command: "LATENCY HISTOGRAM", arity: -2, Why: "not every command is timed; INFO commandstats has means of those that are"},
		{Command: "READONLY", arity: 1, Text: noCluster},
		{Command: "READWRITE", arity: 1, Text: noCluster},
		{Command: "ASKING", arity: 1, Text: noCluster},
		{Command: "CLUSTER", arity: -2, Text: noCluster, container: true},
	}
	for _, sub := range clusterCommands() {
		rows = append(rows, Refusal{Command: "CLUSTER " + sub.name, arity: sub.arity, Text: noCluster})
	}
	for i := range rows {
		if rows[i].Text == "" {
			rows[i].Text = "ERR " + rows[i].Command + " is refused: " + rows[i].Why
		}
		if rows[i].Text == noCluster {
			rows[i].Why = "this is no node of a Redis cluster"
		}
	}
	return rows
}

// clusterCommand is a subcommand of CLUSTER with Redis' arity.
type clusterCommand struct {
	name  string
	arity int
}

func clusterCommands() []clusterCommand {
	return []clusterCommand{
		{"ADDSLOTS", -3}, {"ADDSLOTSRANGE", -4}, {"BUMPEPOCH", 2}, {"COUNT-FAILURE-REPORTS", 3}, {"COUNTKEYSINSLOT", 3},
		{"DELSLOTS", -3}, {"DELSLOTSRANGE", -4}, {"FAILOVER", -2}, {"FLUSHSLOTS", 2}, {"FORGET", 3}, {"GETKEYSINSLOT", 4},
		{"HELP", 2}, {"INFO", 2}, {"KEYSLOT", 3}, {"LINKS", 2}, {"MEET", -4}, {"MYID", 2}, {"NODES", 2}, {"REPLICAS", 3},
		{"REPLICATE", 3}, {"RESET", -2}, {"SAVECONFIG", 2}, {"SET-CONFIG-EPOCH", 3}, {"SETSLOT", -4}, {"SHARDS", 2},
		{"SLAVES", 3}, {"SLOTS", 2},
	}
}

// refusal is what a client is told that asks for a refused command; false when
// args are none.
func refusal(args [][]byte) (text string, ok bool) {
	name := strings.ToUpper(string(args[0]))
	both := name
	if len(args) > 1 {
		both += " " + strings.ToUpper(string(args[1]))
	}
	var whole *Refusal
	rows := Refusals()
	for i := range rows {
		switch r := &rows[i]; r.Command {
		case both:
			return r.answer(args), true
		case name:
			whole = r
		}
	}
	switch {
	case whole == nil:
		return "", false
	case whole.container && len(args) > 1:
		return engine.UnknownSubcommand.Text(engine.Printable(args[1]), name), true
	}
	return whole.answer(args), true
}

// answer is the error, or that of a wrong number of words.
func (r *Refusal) answer(args [][]byte) string {
	if n := len(args); r.arity > 0 && n != r.arity || n < -r.arity {
		return engine.WrongArity.Text(strings.ReplaceAll(strings.ToLower(r.Command), " ", "|"))
	}
	return r.Text
}

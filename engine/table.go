package engine

import (
	"fmt"
	"sort"
	"strings"
)

// longestName bounds the words looked up; longer ones cannot be a command.
const longestName = 32

// Table is the command table of one process: the rows of every package that
// declares some. It is immutable once made and safe for concurrent use.
type Table struct {
	top    []*Command            // sorted by name
	rows   []*Command            // every command that can run, by ID
	byName map[string]*Command   // upper case
	subs   map[string][]*Command // container name in lower case -> its subcommands
}

// NewTable joins rows into one table. It returns an error when two rows have
// one name or a row cannot be right.
func NewTable(families ...[]Command) (*Table, error) {
	t := &Table{byName: map[string]*Command{}, subs: map[string][]*Command{}}
	for _, family := range families {
		for i := range family {
			if err := t.add(family[i]); err != nil {
				return nil, err
			}
		}
	}
	sort.Slice(t.top, func(i, j int) bool { return t.top[i].Name < t.top[j].Name })
	return t, nil
}

func (t *Table) add(c Command) error {
	c.lower = strings.ToLower(c.Name)
	switch {
	case c.Name != strings.ToUpper(c.Name) || len(c.Name) > longestName:
		return fmt.Errorf("command %q: the name must be upper case and at most %d bytes", c.Name, longestName)
	case t.byName[c.Name] != nil:
		return fmt.Errorf("command %q is declared twice", c.Name)
	case c.Run == nil && len(c.Subs) == 0:
		return fmt.Errorf("command %q does nothing", c.Name)
	}
	c.arity = c.countWords(0)
	t.register(&c)
	t.byName[c.Name] = &c
	t.top = append(t.top, &c)
	for _, sub := range c.Subs {
		sub.parent, sub.lower = c.lower, c.lower+"|"+strings.ToLower(sub.Name)
		sub.arity = sub.countWords(1)
		t.register(&sub)
		t.subs[c.lower] = append(t.subs[c.lower], &sub)
	}
	return nil
}

func (t *Table) register(c *Command) {
	c.id = len(t.rows)
	t.rows = append(t.rows, c)
}

// Top lists the commands in alphabetical order, subcommands inside theirs.
func (t *Table) Top() []*Command { return t.top }

// Rows lists everything that can be counted, by ID: commands and subcommands.
func (t *Table) Rows() []*Command { return t.rows }

// Subs lists the subcommands of a container in the order declared.
func (t *Table) Subs(c *Command) []*Command { return t.subs[c.lower] }

// Lookup finds the command with the given name in any case; nil when there is
// none. It does not allocate.
func (t *Table) Lookup(name []byte) *Command {
	var upper [longestName]byte
	if len(name) > longestName {
		return nil
	}
	for i, b := range name {
		if 'a' <= b && b <= 'z' {
			b -= 'a' - 'A'
		}
		upper[i] = b
	}
	return t.byName[string(upper[:len(name)])]
}

// Sub finds the subcommand of c with the given word in any case; nil when there
// is none.
func (t *Table) Sub(c *Command, word []byte) *Command {
	for _, sub := range t.subs[c.lower] {
		if EqualFold(word, sub.Name) {
			return sub
		}
	}
	return nil
}

// Resolve finds the row that runs args and checks its arity. When there is none
// it returns the error a client is told.
func (t *Table) Resolve(args [][]byte) (*Command, string) {
	c := t.Lookup(args[0])
	if c == nil {
		return nil, unknownCommand(args)
	}
	if len(c.Subs) > 0 && len(args) > 1 {
		sub := t.Sub(c, args[1])
		if sub == nil {
			return nil, UnknownSubcommand.Text(Printable(args[1]), c.Name)
		}
		c = sub
	}
	if !c.Takes(len(args)) {
		return nil, WrongArity.Text(c.lower)
	}
	return c, ""
}

// Runs says whether c is the row that Resolve finds for args; false also when
// that is not seen from c alone.
func (c *Command) Runs(args [][]byte) bool {
	return c.parent == "" && len(c.Subs) == 0 && EqualFold(args[0], c.Name) && c.Takes(len(args))
}

// EqualFold says whether b spells the ASCII word upper in any case.
func EqualFold(b []byte, upper string) bool {
	if len(b) != len(upper) {
		return false
	}
	for i := 0; i < len(b); i++ {
		x := b[i]
		if 'a' <= x && x <= 'z' {
			x -= 'a' - 'A'
		}
		if x != upper[i] {
			return false
		}
	}
	return true
}

// Help is HELP of any container: its subcommands as the table declares them.
func (c *Call) Help() {
	table := c.Session.engine.table
	container := table.Lookup(c.Args[0])
	lines := []string{container.Name + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"}
	if container.Run != nil {
		lines = append(lines, "(no subcommand)", "    "+container.Summary)
	}
	for _, sub := range table.Subs(container) {
		lines = append(lines, strings.TrimPrefix(sub.Syntax(), container.Name+" "), "    "+sub.Summary)
	}
	c.Out.Array(len(lines))
	for _, line := range lines {
		c.Out.SimpleString(line)
	}
}

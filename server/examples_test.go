package server

import (
	"regexp"
	"slices"
	"testing"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/redistest"
)

// TestExamples runs what every row shows, each row on a new server and a new
// connection.
func TestExamples(t *testing.T) {
	for _, row := range ownRows(t) {
		t.Run(row.FullName(), func(t *testing.T) {
			c := newRig(t, func(s *setup) { s.shards = 1 }).call()
			for _, x := range row.Examples {
				c.send(request(redistest.Words(t, x.In)...))
				if got, _ := redistest.Show([]byte(c.reply())); got != x.Out {
					t.Errorf("> %s\ngot:\n%s\nwant:\n%s", x.In, got, x.Out)
				}
			}
		})
	}
}

// ownRows are the rows of this package, subcommands included.
func ownRows(t *testing.T) []*engine.Command {
	table, err := engine.NewTable(Commands())
	if err != nil {
		t.Fatal(err)
	}
	return table.Rows()
}

// nothingToShow are the commands whose answer is never the same twice, or is as
// long as a page.
var nothingToShow = []string{"CLIENT INFO", "CLIENT HELP", "COMMAND COUNT", "COMMAND INFO", "COMMAND DOCS", "COMMAND HELP", "CONFIG HELP", "MEMORY STATS", "MEMORY MALLOC-STATS", "MEMORY HELP", "PUBSUB HELP",
	"ACL HELP", "LATENCY HELP", "MODULE HELP", "SLOWLOG HELP"}

// TestRowsAreComplete holds every row to what the reference promises.
func TestRowsAreComplete(t *testing.T) {
	sentence := regexp.MustCompile(`^[A-Z][^\n]*\.$`)
	for _, row := range ownRows(t) {
		name := row.FullName()
		if !sentence.MatchString(row.Summary) || row.Since == "" || row.Complexity == "" || row.Reply == "" || !slices.Contains(engine.Groups, row.Group) {
			t.Errorf("%s: summary %q, since %q, complexity %q, reply %q, group %q", name, row.Summary, row.Since, row.Complexity, row.Reply, row.Group)
		}
		if (len(row.Examples) == 0) != slices.Contains(nothingToShow, name) {
			t.Errorf("%s: has %d examples", name, len(row.Examples))
		}
	}
}

// TestErrorsAndLimitsAreTold keeps empty rows out of the generated pages.
func TestErrorsAndLimitsAreTold(t *testing.T) {
	for _, e := range Errors() {
		if !regexp.MustCompile(`^[A-Z]+ .`).MatchString(e.Format) || e.When == "" {
			t.Errorf("error %q when %q", e.Format, e.When)
		}
	}
	for _, l := range Limits() {
		if l.Name == "" || l.WhenHit == "" || (l.Default == "") == (l.Flag == "") {
			t.Errorf("limit %+v", l)
		}
	}
}

package server

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/engine"
)

// TestExamples runs what every row shows, each row on a new server and a new
// connection.
func TestExamples(t *testing.T) {
	for _, row := range ownRows(t) {
		t.Run(row.FullName(), func(t *testing.T) {
			c := newRig(t, func(s *setup) { s.shards = 1 }).call()
			for _, x := range row.Examples {
				c.send(request(splitLine(t, x.In)...))
				if got, _ := shownAs(t, c.reply(), ""); got != x.Out {
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
var nothingToShow = []string{"CLIENT INFO", "CLIENT HELP", "COMMAND COUNT", "COMMAND INFO", "COMMAND DOCS", "COMMAND HELP", "CONFIG HELP"}

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

// shownAs renders the first reply in raw as redis-cli does, and returns what
// follows it.
func shownAs(t *testing.T, raw, indent string) (string, string) {
	head, rest, _ := strings.Cut(raw, "\r\n")
	text := head[1:]
	n, _ := strconv.Atoi(text)
	switch head[0] {
	case '+':
		return text, rest
	case '-':
		return "(error) " + text, rest
	case ':':
		return "(integer) " + text, rest
	case '_':
		return "(nil)", rest
	case '$', '=':
		if n < 0 {
			return "(nil)", rest
		}
		return quoted(rest[:n]), rest[n+2:]
	case '*', '~':
		return shownAll(t, rest, n, indent, ") ", 1)
	case '%':
		return shownAll(t, rest, n, indent, "# ", 2)
	}
	t.Fatalf("not a reply: %q", raw)
	return "", ""
}

// shownAll renders n elements, or n pairs, numbered.
func shownAll(t *testing.T, raw string, n int, indent, mark string, per int) (string, string) {
	if n == 0 {
		return "(empty array)", raw
	}
	var out []string
	for i := 1; i <= n; i++ {
		label := fmt.Sprintf("%*d%s", len(strconv.Itoa(n)), i, mark)
		deeper := indent + strings.Repeat(" ", len(label))
		var element string
		element, raw = shownAs(t, raw, deeper)
		if per == 2 {
			var value string
			value, raw = shownAs(t, raw, deeper)
			element += " => " + value
		}
		if i > 1 {
			label = indent + label
		}
		out = append(out, label+element)
	}
	return strings.Join(out, "\n"), raw
}

// quoted writes a bulk string as redis-cli does; examples hold no other bytes.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\r", `\r`, "\n", `\n`).Replace(s) + `"`
}

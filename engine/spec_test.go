package engine

import (
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
	"pgregory.net/rapid"
)

// rowsOf are all rows of the data commands, containers included.
func rowsOf(t *testing.T) []*Command { return newTable(t).Rows() }

// sentence begins with a capital, ends with a full stop and is one line.
var sentence = regexp.MustCompile(`^[A-Z].*\.$|^[a-z][a-z-]+'s command: .*\.$`)

var version = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// A row says all there is to say about its command.
func TestRowsAreComplete(t *testing.T) {
	for _, row := range rowsOf(t) {
		name := row.FullName()
		if !sentence.MatchString(row.Summary) || strings.Contains(row.Summary, "\n") {
			t.Errorf("%s: summary %q is no sentence", name, row.Summary)
		}
		if !version.MatchString(row.Since) {
			t.Errorf("%s: since %q is no version", name, row.Since)
		}
		if !strings.HasPrefix(row.Complexity, "O(") {
			t.Errorf("%s: complexity %q", name, row.Complexity)
		}
		if row.Reply == "" || len(row.Examples) == 0 && row.Name != "HELP" || !slices.Contains(Groups, row.Group) {
			t.Errorf("%s: reply %q, %d examples, group %q", name, row.Reply, len(row.Examples), row.Group)
		}
		if len(row.Args) > maxNative {
			t.Errorf("%s: %d arguments, a call has room for %d", name, len(row.Args), maxNative)
		}
	}
}

// An example is of the command itself, or prepares for one that is.
func TestExamplesAreOfTheirCommand(t *testing.T) {
	for _, row := range rowsOf(t) {
		shown := slices.ContainsFunc(row.Examples, func(x Example) bool {
			return strings.HasPrefix(x.In+" ", row.FullName()+" ")
		})
		if !shown && row.Name != "HELP" { // as long as a page
			t.Errorf("%s: no example shows it", row.FullName())
		}
	}
}

// A command that touches keys either writes or only reads.
func TestRowsWriteOrRead(t *testing.T) {
	for _, row := range rowsOf(t) {
		if row.Scope == Here || row.Scope == OnQueue || row.Run == nil || row.Group == Scripting {
			continue
		}
		if bits.OnesCount16(uint16(row.Flags&(Write|ReadOnly))) != 1 {
			t.Errorf("%s: flags %v, want one of write and readonly", row.FullName(), row.Flags.Names())
		}
		if row.Flags&DenyOOM != 0 && row.Flags&Write == 0 {
			t.Errorf("%s: denyoom without write", row.FullName())
		}
	}
}

// The positions of the keys are those of the arguments that are keys, in any
// call, and a call drawn from the row has as many words as the row asks for.
func TestKeysAreWhereTheArgumentsAre(t *testing.T) {
	for _, row := range rowsOf(t) {
		if row.Run == nil {
			continue // the words that follow are its subcommands'
		}
		t.Run(row.FullName(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := drawCall(t, row)
				args := make([][]byte, len(s.words))
				for i, w := range s.words {
					args[i] = []byte(w)
				}
				var keys []string
				row.Keys.Each(args, func(key []byte) { keys = append(keys, string(key)) })
				if !slices.Equal(keys, s.keys) {
					t.Fatalf("%q: keys %q, want %q", s.words, keys, s.keys)
				}
				if row.Scope == OnKeys && len(keys) == 0 && row.Flags&Scripted == 0 {
					t.Fatalf("runs on keys and has none")
				}
				if !row.Takes(len(args)) {
					t.Fatalf("%q: arity %d does not take %d words", s.words, row.Arity(), len(args))
				}
			})
		})
	}
}

// shown are the lines users are shown: every command of the transcripts and the
// examples, words by line.
func shown(t *testing.T) (lines [][]string) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if call, ok := strings.CutPrefix(line, "> "); ok {
				lines = append(lines, redistest.Words(t, strings.TrimSpace(call)))
			}
		}
	}
	for _, row := range rowsOf(t) {
		for _, x := range row.Examples {
			lines = append(lines, redistest.Words(t, x.In))
		}
	}
	return lines
}

// wordsOf lists the words of a row's options, choices included.
func wordsOf(args []Arg) (words []string) {
	for _, a := range args {
		if a.Token != "" {
			words = append(words, a.Token)
		}
		words = append(words, wordsOf(a.Args)...)
	}
	return words
}

// Every command is played in a transcript, and each of its options is shown with it
// there or in an example.
func TestEverythingIsShown(t *testing.T) {
	table := newTable(t)
	seen := map[string]map[string]bool{} // by full name, the words used with it
	for _, words := range shown(t) {
		args := make([][]byte, len(words))
		for i, w := range words {
			args[i] = []byte(w)
		}
		row, _ := table.Resolve(args)
		if row == nil {
			continue
		}
		used := seen[row.FullName()]
		if used == nil {
			used = map[string]bool{}
			seen[row.FullName()] = used
		}
		for _, w := range words {
			used[strings.ToUpper(w)] = true
		}
	}
	for _, row := range table.Rows() {
		if seen[row.FullName()] == nil && row.Run != nil && row.Name != "HELP" {
			t.Errorf("%s is in no transcript and no example", row.FullName())
		}
		for _, word := range wordsOf(row.Args) {
			if !seen[row.FullName()][word] {
				t.Errorf("%s: option %s is in no transcript and no example", row.FullName(), word)
			}
		}
	}
}

// The table of errors has no empty row, and each error begins with its code.
func TestErrorsAreComplete(t *testing.T) {
	code := regexp.MustCompile(`^[A-Z]+ .`)
	for id, row := range Errors {
		if !code.MatchString(row.Format) || row.When == "" {
			t.Errorf("error %d: %+v", id, row)
		}
	}
}

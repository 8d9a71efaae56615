package engine

import (
	"bytes"
	"strings"
	"testing"
)

// natives are the rows of the commands whose arguments are read as declared.
func natives() []Command {
	var all []Command
	for _, chapter := range [][]Command{bucketCommands(), leakyCommands(), fixedCommands(), slidingCommands(), logCommands(), throttleCommands()} {
		all = append(all, chapter...)
	}
	return all
}

// parsed runs a row's parse over words and returns the call and the error.
func parsed(t *testing.T, row Command, line string) (*Call, string) {
	t.Helper()
	d := newDesk(t, 1)
	var seen *Call
	row.Run = func(c *Call) {
		if c.parse() {
			copied := *c
			seen = &copied
			c.Out.OK()
		}
	}
	table, err := NewTable([]Command{row})
	if err != nil {
		t.Fatal(err)
	}
	d.engine.table = table
	return seen, d.brief(t, line)
}

// Positional arguments come first, an absent one has its default; options come
// in any order and any case.
func TestParse(t *testing.T) {
	row := Command{Name: "X", Keys: OneKey, Args: []Arg{
		{Name: "key", Type: Key},
		{Name: "count", Type: Integer, Min: -5, Max: 5},
		{Name: "span", Type: Duration},
		{Name: "more", Type: Integer, Optional: true, Max: 9, Default: 4},
		{Name: "size", Type: Integer, Token: "SIZE", Optional: true, Min: 1, Max: 8, Default: 2},
		{Name: "way", Type: OneOf, Token: "WAY", Optional: true, Args: []Arg{{Token: "UP", Type: PureToken}, {Token: "DOWN", Type: PureToken}}},
		{Name: "loud", Type: PureToken, Token: "LOUD", Optional: true},
	}}
	cases := []struct {
		line  string
		want  [4]int64 // count, span, more, size
		way   int64
		given string // of more, size, way, loud
	}{
		{"X k 3 1s", [4]int64{3, 1000, 4, 2}, 0, "----"},
		{"x k -5 2ms 0", [4]int64{-5, 2, 0, 2}, 0, "m---"},
		{"X k 3 1s 9 size 8 LOUD Way down", [4]int64{3, 1000, 9, 8}, 1, "mswl"},
		{"X k 3 1s 9 WAY UP loud SIZE 1", [4]int64{3, 1000, 9, 1}, 0, "mswl"},
	}
	for _, want := range cases {
		c, reply := parsed(t, row, want.line)
		if c == nil {
			t.Errorf("%s: %s", want.line, reply)
			continue
		}
		if got := [4]int64{c.N(1), c.N(2), c.N(3), c.N(4)}; got != want.want || c.N(5) != want.way {
			t.Errorf("%s: %v way %d, want %v way %d", want.line, got, c.N(5), want.want, want.way)
		}
		given := []byte("mswl")
		for i := range given {
			if !c.Given(3 + i) {
				given[i] = '-'
			}
		}
		if string(given) != want.given {
			t.Errorf("%s: given %s, want %s", want.line, given, want.given)
		}
	}
}

// A word that is no option: the legal ones are listed, or there are too many
// words where there are no options. What is repeated is made printable and cut.
func TestParseNamesWhatIsWrong(t *testing.T) {
	long := strings.Repeat("x", 500)
	for line, want := range map[string]string{
		"TB.TAKE k 10 1 6s BURST 3":               "ERR unknown option 'BURST' for 'tb.take'; options: COST FULL",
		`TB.TAKE k 10 1 6s "a\r\nb"`:              "ERR unknown option 'a  b' for 'tb.take'; options: COST FULL",
		"TB.TAKE k 10 1 6s " + long:               "ERR unknown option '" + long[:128] + "' for 'tb.take'; options: COST FULL",
		"TB.TAKE k 10 1 " + long:                  "ERR bad period '" + long[:128] + "': use <n>ms|s|m|h|d|w, or a bare number of seconds",
		`TB.TAKE k 10 1 ""`:                       "ERR bad period '': use <n>ms|s|m|h|d|w, or a bare number of seconds",
		`TB.TAKE k "" 1 6s`:                       "ERR capacity must be between 1 and 1000000000000",
		"TB.TAKE k 9223372036854775808 1 6s":      "ERR capacity must be between 1 and 1000000000000",
		"TB.TAKE k 10 1 99999999999999999999999w": "ERR period must be between 1ms and 3650d",
		"TB.TAKE k 10 1 6s FULL COST":             "ERR option COST needs a value",
		"TB.TAKE k 10 1 6s COST FULL":             "ERR cost must be between 1 and 1000000000000; use PEEK to ask without charging",
		"CL.THROTTLE k 1 1 1 1 FULL":              "ERR wrong number of arguments for 'cl.throttle' command",
		"FW.HIT k 10 6s ANCHOR " + long:           "ERR bad anchor '" + long[:128] + "': use CLOCK or FIRST",
		"FW.HIT k 10":                             "ERR wrong number of arguments for 'fw.hit' command",
	} {
		if got := newDesk(t, 1).brief(t, line); got != want {
			t.Errorf("%.60s: %s\nwant %s", line, got, want)
		}
	}
}

// FuzzParse gives random words to every native command. Each call has one
// well-formed reply, and neither an error nor a look changes anything.
func FuzzParse(f *testing.F) {
	rows := natives()
	for i, row := range rows {
		for _, x := range row.Examples {
			_, words, _ := strings.Cut(x.In, " ")
			f.Add(uint8(i), []byte(words))
		}
		f.Add(uint8(i), []byte("bucket 10 1 1s COST 0"))
		f.Add(uint8(i), []byte("fixed 1000000000000 1000000000000 10 cost 1000000000000 full"))
		f.Add(uint8(i), []byte("k 9223372036854775807 -1 3650d 0"))
		f.Add(uint8(i), []byte("string 5 5 5 5 ANCHOR FIRST MAX 1 MAXWAIT 1ms"))
	}
	held := []string{"TB.DEBIT bucket 10 1 1s COST 15", "FW.HIT fixed 10 1m COST 10", "SWC.HIT sliding 10 1m COST 10", "SWL.HIT log 10 1m COST 10"}
	f.Fuzz(func(t *testing.T, which uint8, words []byte) {
		row := rows[int(which)%len(rows)]
		d := newDesk(t, 1)
		for _, line := range held {
			d.brief(t, line)
		}
		before := d.dump()
		args := []string{row.Name}
		for _, w := range bytes.Split(words, []byte(" ")) {
			args = append(args, string(w))
		}
		reply := d.do(args...) // panics unless it is one reply
		unchanged := strings.HasPrefix(reply, "(error)") || strings.HasSuffix(row.Name, "PEEK")
		if unchanged && d.dump() != before {
			t.Errorf("%q: %s\nchanged\n%sto\n%s", args, reply, before, d.dump())
		}
	})
}

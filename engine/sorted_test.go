package engine

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
	"pgregory.net/rapid"
)

// A command that would make a sorted set or list have too many elements is
// refused as a whole; what changes no number is not.
func TestElementLimitOfOrdered(t *testing.T) {
	d := limited(t, Limits{Elements: 3})
	full := "(error) " + TooManyElements.Text(3)
	for _, v := range []struct{ in, out string }{
		{"ZADD z 1 a 2 b", "(integer) 2"}, {"ZADD z 3 c 4 d", full}, {"ZCARD z", "(integer) 2"}, {"ZADD z 3 c 5 a", "(integer) 1"},
		{"ZADD z CH 1 a 1 b 1 c 2 a", "(integer) 4"}, {"ZADD z 1 d", full}, {"ZADD z XX 1 d", "(integer) 0"}, {"ZINCRBY z 1 a", `"3"`}, {"ZINCRBY z 1 d", full},
		{"ZADD y 4 d", "(integer) 1"}, {"ZUNIONSTORE u 2 z y", full}, {"EXISTS u", "(integer) 0"}, {"ZUNION 2 z y", "1) \"b\"\n2) \"c\"\n3) \"a\"\n4) \"d\""},
		{"ZRANDMEMBER y -4", "(error) " + TooManyPicks.Text(3)}, {"ZRANDMEMBER y 4", `1) "d"`},
		{"RPUSH l a b", "(integer) 2"}, {"RPUSH l c d", full}, {"LLEN l", "(integer) 2"}, {"LPUSH l c", "(integer) 3"}, {"LPUSHX l d", full}, {"LSET l 0 x", "OK"},
		{"LINSERT l BEFORE a y", full}, {"LINSERT l BEFORE nobody y", "(integer) -1"}, {"RPUSH m 1", "(integer) 1"}, {"LMOVE m l LEFT LEFT", full}, {"RPOPLPUSH m l", full},
		{"LLEN m", "(integer) 1"}, {"LMOVE l l LEFT RIGHT", `"x"`}, {"LLEN l", "(integer) 3"}, {"RPUSH n 1 2 3 4", full}, {"EXISTS n", "(integer) 0"},
	} {
		if got := d.do(redistest.Words(t, v.in)...); got != v.out {
			t.Errorf("%s: %s, want %s", v.in, got, v.out)
		}
	}
}

// ZSCAN of what is too large for one piece goes through all of it, once, and not
// in one call, while what it has shown gets other scores.
func TestSortedScan(t *testing.T) {
	d := newDesk(t, 1)
	const n = 1000
	for i := range n {
		d.do("ZADD", "z", strconv.Itoa(i), fmt.Sprint("m", i))
	}
	seen, cursor, calls := map[string]int{}, "0", 0
	for ; calls == 0 || cursor != "0"; calls++ {
		reply := strings.Split(string(d.raw(t, redistest.Request("ZSCAN", "z", cursor, "COUNT", "100"))), "\r\n")
		cursor = reply[2]
		for i := 5; i+2 < len(reply); i += 4 {
			if seen[reply[i]]++; reply[i][1:] != reply[i+2] {
				t.Fatalf("%s has the score %s", reply[i], reply[i+2])
			}
			d.do("ZADD", "z", strconv.Itoa(-calls), reply[i])
		}
	}
	if calls != n/100 || len(seen) != n {
		t.Errorf("%d members in %d calls", len(seen), calls)
	}
	for member, times := range seen {
		if times != 1 {
			t.Errorf("%s came %d times", member, times)
		}
	}
}

// What ZRANDMEMBER draws is there, with its score; without a minus nothing is
// drawn twice.
func TestSortedDraws(t *testing.T) {
	d := newDesk(t, 1)
	for i := range 1000 {
		d.do("ZADD", "z", strconv.Itoa(i), fmt.Sprint("m", i))
	}
	for _, count := range []string{"1", "10", "999", "5000", "-1", "-5000"} {
		words := elements(d.raw(t, redistest.Request("ZRANDMEMBER", "z", count, "WITHSCORES")))
		n, _ := strconv.Atoi(count)
		if want := max(-n, min(n, 1000)); len(words) != 2*want {
			t.Fatalf("%s asked for, %d drawn", count, len(words)/2)
		}
		var members []string
		for i := 0; i < len(words); i += 2 {
			members = append(members, words[i])
			if words[i] != "m"+words[i+1] {
				t.Fatalf("%s has the score %s", words[i], words[i+1])
			}
		}
		slices.Sort(members)
		if n > 0 && len(slices.Compact(members)) != len(words)/2 {
			t.Fatalf("%s different ones asked for: %d came", count, len(slices.Compact(members)))
		}
	}
}

// Numbers are read as by C's strtod, of which ParseFloat differs in what it
// takes: a spelling of a double in any form reads as that double.
func TestDoublesAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if math.IsNaN(f) {
			return
		}
		form := rapid.SampledFrom([]string{"%v", "%.17g", "%e", "%x", "%f", "%+.17g", "%X"}).Draw(t, "form")
		word := fmt.Sprintf(form, f)
		want, err := strconv.ParseFloat(word, 64) // it may have been rounded
		if got, ok := parseDouble([]byte(word)); ok != (err == nil && (want != 0 || f == 0 || form == "%f" && !strings.ContainsAny(word, "123456789"))) || ok && got != want {
			t.Fatalf("%s: %v %t, want %v %v", word, got, ok, want, err)
		}
	})
	for word, want := range map[string]float64{"0x10": 16, "0X1.8P1": 3, "0x.8": .5, "+inf": math.Inf(1), "-Infinity": math.Inf(-1), "5.": 5, ".5": .5, "1e+2": 100, "9007199254740993": 9007199254740992, "5e-324": 5e-324} {
		if got, ok := parseDouble([]byte(word)); !ok || got != want {
			t.Errorf("%s: %v %t, want %v", word, got, ok, want)
		}
	}
	for _, word := range []string{"", " 1", "1 ", "nan", "0x", "0x_1", "1_0", "1e", "e1", ".", "1e400", "1e-400", "-1e400", "0x1p99999", "inf ", "infin", "--1", "1\x00"} {
		if got, ok := parseDouble([]byte(word)); ok {
			t.Errorf("%q is read as %v", word, got)
		}
	}
}

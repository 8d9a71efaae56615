package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
	"pgregory.net/rapid"
)

// ofTransactions are the lines of random conversations: around transactions most
// often, then all that changes a key, or seems to.
var ofTransactions = [][]string{
	{"MULTI", "MULTI", "EXEC", "EXEC", "DISCARD", "WATCH k", "WATCH k k", "WATCH k k k", "UNWATCH"},
	{
		"SET k v", "SET k v", "SET k v NX", "SET k v XX GET", "SET k v KEEPTTL", "SET k v EXAT 4102444800", "SETNX k v", "GETSET k v", "GETDEL k", "APPEND k v", `APPEND k ""`,
		"SETRANGE k 0 v", `SETRANGE k 0 ""`, "SETRANGE k 3 v", "INCR k", "INCRBY k 0", "INCRBYFLOAT k 0.5", "DECRBY k x", "MSET k v k v", "MSETNX k v k v",
		"DEL k", "UNLINK k k", "RENAME k k", "RENAMENX k k", "PERSIST k", "EXPIREAT k 4102444800", "EXPIREAT k 4102444800", "EXPIREAT k 1", "EXPIREAT k 4102444801 GT", "GETEX k PERSIST", "GETEX k EXAT 4102444800", "GETEX k",
		"FLUSHDB", "FLUSHALL",
	},
	{"GET k", "MGET k k k", "EXISTS k k", "STRLEN k", "TYPE k", "TOUCH k", "EXPIRETIME k", "DBSIZE", "PING", "ECHO v", "CLIENT GETNAME", "CLIENT SETNAME v", "COMMAND GETKEYS GET a"},
	{
		"SELECT 0", "SELECT 1", "SELECT 16", "HELLO 2", "HELLO 3", "HELLO 4", "RESET", "NOSUCH a", "GET", "CLIENT", "EXEC x", "MULTI x", "DISCARD x", "WATCH", "UNWATCH x", "AUTH x", "SHUTDOWN ABORT", "QUIT x",
	},
}

// say is what one of two clients says at once.
type say struct {
	who   int
	lines []string
}

// sayings draws a conversation of two.
func sayings(t *rapid.T) []say {
	fill := func(line string) string {
		var words []string
		for _, word := range strings.Split(line, " ") {
			switch word {
			case "k":
				word = rapid.SampledFrom([]string{"a", "a", "b", "c", "d"}).Draw(t, "k")
			case "v":
				word = rapid.SampledFrom([]string{"1", "1", "2", "x", "y"}).Draw(t, "v")
			}
			words = append(words, word)
		}
		return strings.Join(words, " ")
	}
	line := rapid.Custom(func(t *rapid.T) string {
		chapter := rapid.SampledFrom([]int{0, 0, 0, 1, 1, 1, 2, 2, 3}).Draw(t, "chapter")
		return rapid.SampledFrom(ofTransactions[chapter]).Draw(t, "line")
	})
	all := make([]say, rapid.IntRange(4, 30).Draw(t, "sayings"))
	for i := range all {
		all[i].who = rapid.IntRange(0, 1).Draw(t, "who")
		for range rapid.SampledFrom([]int{1, 1, 1, 2, 5}).Draw(t, "at once") {
			all[i].lines = append(all[i].lines, fill(line.Draw(t, "line")))
		}
	}
	return all
}

// converseInTurns says it all, each time waiting for the answers. A client that
// quits is followed by a new one.
func converseInTurns(t *testing.T, addr string, all []say) (heard []string) {
	callAt(t, addr).do("FLUSHALL")
	clients := []*caller{callAt(t, addr), callAt(t, addr)}
	for _, s := range all {
		c := clients[s.who]
		c.send(strings.Join(s.lines, "\r\n") + "\r\n")
		for _, line := range s.lines {
			heard = append(heard, fmt.Sprintf("%d %s %q", s.who, line, steady(c.reply())))
			if strings.HasPrefix(line, "QUIT") {
				c.Close()
				clients[s.who] = callAt(t, addr)
				break
			}
		}
	}
	for _, c := range clients {
		c.Close()
	}
	return heard
}

// TestTransactionsAreRedis lets two clients get in each other's way, the same way
// here and at redis-server.
func TestTransactionsAreRedis(t *testing.T) {
	theirs := redistest.Start(t)
	for _, shards := range []int{1, 8} {
		t.Run(fmt.Sprintf("%d shards", shards), func(t *testing.T) {
			ours := newRig(t, func(s *setup) { s.shards = shards }).addr
			rapid.Check(t, func(rt *rapid.T) {
				all := sayings(rt)
				got, want := converseInTurns(t, ours, all), converseInTurns(t, theirs, all)
				for i := range want {
					if got[i] != want[i] {
						rt.Fatalf("%s\ngot  %s\nwant %s", strings.Join(want[:i], "\n"), got[i], want[i])
					}
				}
			})
		})
	}
}

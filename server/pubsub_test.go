package server

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
	"pgregory.net/rapid"
)

// stage is several connections to one server. Each line of a play is said by one
// of them; then all hear what has come of it.
type stage struct {
	t     testing.TB
	addr  string
	cast  []*caller
	marks int
}

// breaks stand in words for what would end them.
var breaks = strings.NewReplacer("␤", "\n", "␍", "\r", "␉", "\t", "␠", " ")

// play performs the lines and returns everything that everybody heard. A line is
// the number of the one who speaks, then commands separated by ";", which are sent
// at once.
func play(t testing.TB, addr string, actors int, lines []string) string {
	s := &stage{t: t, addr: addr}
	for range actors {
		s.cast = append(s.cast, callAt(t, addr))
	}
	var heard strings.Builder
	for _, line := range lines {
		var who int
		what := strings.TrimLeft(line, "0123456789")
		fmt.Sscan(line, &who)
		fmt.Fprintf(&heard, "> %s\n", line)
		for command := range strings.SplitSeq(what, ";") {
			words := strings.Fields(command)
			for i := range words {
				words[i] = breaks.Replace(words[i])
			}
			s.cast[who].send(request(words...))
		}
		s.hear(&heard, who, strings.Contains(line, "QUIT"))
		for other := range s.cast {
			if other != who {
				s.hear(&heard, other, false)
			}
		}
	}
	for _, c := range s.cast {
		if c != nil {
			c.Close()
		}
	}
	return heard.String()
}

// hear writes down what has come to one of them: all that comes before the answer
// to a PING with a mark, or if it is the last, all.
func (s *stage) hear(heard *strings.Builder, who int, last bool) {
	s.marks++
	if last || s.cast[who] == nil {
		s.leave(heard, who)
		return
	}
	mark := fmt.Sprintf("$%d\r\n~%d\r\n", len(fmt.Sprint(s.marks))+1, s.marks)
	_, _ = s.cast[who].Write(redistest.Request("PING", fmt.Sprintf("~%d", s.marks))) // it may have been cut off
	for {
		b, err := redistest.AppendReply(nil, s.cast[who].in)
		if err != nil {
			s.leave(heard, who)
			return
		}
		if strings.HasSuffix(string(b), mark) {
			return
		}
		fmt.Fprintf(heard, "%d %q\n", who, sighted.ReplaceAllString(steady(string(b)), "+time [$1 addr]"))
	}
}

// sighted is what begins a line of MONITOR.
var sighted = regexp.MustCompile(`(?m)^\+\d+\.\d{6} \[(\d+) [^ ]+\]`)

// leave hears the last words of one of them.
func (s *stage) leave(heard *strings.Builder, who int) {
	if c := s.cast[who]; c != nil {
		fmt.Fprintf(heard, "%d %q has left\n", who, sighted.ReplaceAllString(c.rest(), "+time [$1 addr]"))
		s.cast[who] = nil
	}
}

// plays are compared with redis-server word for word.
var plays = map[string][]string{
	"one channel, RESP2": {"0 SUBSCRIBE a", "1 PUBLISH a x", "1 PUBLISH b x", "0 UNSUBSCRIBE a", "1 PUBLISH a x", "0 GET nobody"},
	"one channel, RESP3": {"0 HELLO 3", "0 SUBSCRIBE a", "1 PUBLISH a x", "0 SET k v", "0 GET k", "0 UNSUBSCRIBE a", "1 PUBLISH a x"},
	"two protocols":      {"0 HELLO 3", "0 SUBSCRIBE a", "1 SUBSCRIBE a", "2 PUBLISH a x", "0 PSUBSCRIBE a*", "1 PSUBSCRIBE a*", "2 PUBLISH a y"},
	"twice the same":     {"0 SUBSCRIBE a a b a", "1 PUBLISH a x", "0 UNSUBSCRIBE a a", "0 UNSUBSCRIBE c", "1 PUBLISH a x"},
	"unsubscribe alone":  {"0 UNSUBSCRIBE", "0 PUNSUBSCRIBE", "0 SUNSUBSCRIBE", "0 HELLO 3", "0 UNSUBSCRIBE", "0 UNSUBSCRIBE a b", "0 SUBSCRIBE a", "0 UNSUBSCRIBE"},
	"channel and pattern": {"0 SUBSCRIBE news.tech", "0 PSUBSCRIBE news.* *?[a-t]rt", "1 PUBLISH news.tech x", "1 PUBLISH old.art x", "0 PUNSUBSCRIBE news.*", "1 PUBLISH news.tech x",
		"1 PUBSUB NUMPAT", "1 PUBSUB NUMSUB news.tech news.art", "1 PUBSUB CHANNELS", "1 PUBSUB CHANNELS n*", "1 PUBSUB CHANNELS x*"},
	"refusals": {"0 SUBSCRIBE a", "0 GET x", "0 PUBLISH a x", "0 HELLO 3", "0 CLIENT ID", "0 SELECT 1", "0 NOSUCH", "0 GET", "0 PING", "0 PING x", "0 PING x y", "0 PUBSUB CHANNELS",
		"0 UNSUBSCRIBE a", "0 PING", "0 GET x", "0 PSUBSCRIBE *", "0 GET x", "0 PUNSUBSCRIBE", "0 SSUBSCRIBE a", "0 GET x", "0 SUNSUBSCRIBE", "0 GET x"},
	"to oneself":     {"0 HELLO 3", "0 SUBSCRIBE a", "0 PUBLISH a x", "0 SET k 1 ; PUBLISH a x ; GET k ; PUBLISH a y ; PING", "0 PSUBSCRIBE a", "0 GET k ; PUBLISH a z ; UNSUBSCRIBE a ; PUBLISH a z ; GET k"},
	"in one breath":  {"0 PING ; SUBSCRIBE a ; PING ; GET x ; UNSUBSCRIBE a ; PING ; GET x", "0 SUBSCRIBE a ; SUBSCRIBE b ; UNSUBSCRIBE a", "1 PUBLISH a x ; PUBLISH b x ; PUBLISH b y"},
	"change of mind": {"0 HELLO 3 ; SUBSCRIBE a ; HELLO 2 ; PING", "1 PUBLISH a x", "0 GET x", "0 RESET", "1 PUBLISH a x", "0 HELLO 3 ; SUBSCRIBE a ; PUBLISH a x ; HELLO 2 ; PUBLISH a x"},
	"reset":          {"0 SUBSCRIBE a ; PSUBSCRIBE b ; SSUBSCRIBE c", "1 PUBSUB NUMSUB a ; PUBSUB NUMPAT ; PUBSUB SHARDNUMSUB c", "0 RESET", "1 PUBSUB NUMSUB a ; PUBSUB NUMPAT ; PUBSUB SHARDNUMSUB c", "0 GET x"},
	"quit":           {"0 SUBSCRIBE a ; PSUBSCRIBE b", "0 QUIT", "1 PUBLISH a x", "1 PUBSUB CHANNELS ; PUBSUB NUMPAT"},
	"shard channels": {"0 SSUBSCRIBE a b", "1 SPUBLISH a x", "1 PUBLISH a x", "0 SUBSCRIBE a", "1 SPUBLISH a x", "1 PUBLISH a x", "1 PUBSUB SHARDNUMSUB a b c", "1 PUBSUB SHARDCHANNELS a", "0 SUNSUBSCRIBE a", "0 SUNSUBSCRIBE", "0 UNSUBSCRIBE",
		"1 HELLO 3", "1 SSUBSCRIBE a", "1 SPUBLISH a x"},
	"monitor": {"0 MONITOR", "1 SET a b", "1 SELECT 3 ; GET a ; PING", "1 AUTH x", "1 AUTH u p", "1 HELLO 2 AUTH u p SETNAME n", "1 HELLO 3 SETNAME n AUTH default p", "1 HELLO 2 AUTH", "1 CLIENT LIST TYPE master", "1 CONFIG GET nosuch",
		"1 NOSUCH", "1 GET", "1 ECHO a\"\\\a\b\x01\x7f\xff␤␍␉␠'", "1 SET AUTH a b", "1 MSET a b c d", "1 GETRANGE a 0 x", "1 DBSIZE", "0 PING ; PING x", "0 GET a", "0 DBSIZE", "0 MONITOR", "0 SUBSCRIBE a", "1 PUBLISH a x", "0 RESET", "1 PING", "0 GET a"},
	"two monitors": {"0 HELLO 3", "0 MONITOR", "1 MONITOR", "2 PING", "1 PING", "0 PING", "1 QUIT", "2 PING", "0 SUBSCRIBE a ; PUBLISH a x ; PING"},
	"mute subscriber": {"0 HELLO 3", "0 CLIENT REPLY OFF ; SUBSCRIBE a ; PING ; PUBLISH a x ; UNSUBSCRIBE ; CLIENT REPLY ON", "0 SUBSCRIBE a ; CLIENT REPLY SKIP ; PUBLISH a y ; PING", "0 CLIENT REPLY OFF ; MULTI ; PUBLISH a z ; SUBSCRIBE b ; UNSUBSCRIBE b ; PING ; EXEC ; CLIENT REPLY ON", "0 CLIENT REPLY SKIP ; SUBSCRIBE b ; PING",
		"0 CLIENT REPLY OFF ; RESET ; PING", "0 CLIENT REPLY OFF ; UNSUBSCRIBE ; CLIENT REPLY ON"},
	"mute monitor": {"0 MONITOR ; CLIENT REPLY OFF ; PING ; GET nobody ; NOSUCH ; CLIENT REPLY ON", "0 CLIENT REPLY SKIP ; PING ; PING", "1 PING"},
	"in a transaction": {"0 HELLO 3", "0 MULTI ; SUBSCRIBE a ; PUBLISH a x ; SET k 1 ; UNSUBSCRIBE ; EXEC", "0 SUBSCRIBE a ; MULTI ; PUBLISH a y ; PUBLISH a z ; GET k ; EXEC", "1 MULTI ; SUBSCRIBE b ; PING ; EXEC", "1 GET k", "0 MULTI ; PUBLISH b 1 ; INCR k ; PUBLISH b 2 ; EXEC",
		"1 RESET", "1 MULTI ; PUBLISH a x ; DISCARD", "1 MULTI ; SUBSCRIBE ; PUBLISH a x ; EXEC", "1 WATCH k", "0 INCR k", "1 MULTI ; PUBLISH a x ; EXEC"},
	"transactions seen": {"0 MONITOR", "1 MULTI ; SET a 1 ; PUBLISH a b ; EXEC", "1 MULTI ; GET a ; SUBSCRIBE b ; EXEC", "2 MULTI ; NOSUCH ; EXEC", "0 MULTI ; GET a ; EXEC"},
	"mute transaction":  {"0 MULTI ; CLIENT REPLY SKIP ; PING ; EXEC ; PING 1", "0 CLIENT REPLY OFF ; MULTI ; PING ; EXEC ; CLIENT REPLY ON", "0 CLIENT REPLY SKIP ; MULTI ; SET k 1 ; EXEC", "0 MULTI ; SET k 2 ; CLIENT REPLY SKIP ; EXEC ; PING 2"},
	"killed":            {"0 SUBSCRIBE a", "1 CLIENT KILL TYPE pubsub", "1 PUBSUB CHANNELS", "1 PUBLISH a x", "1 CLIENT KILL TYPE normal"},
	"wrong": {"0 SUBSCRIBE", "0 PSUBSCRIBE", "0 SSUBSCRIBE", "0 PUBLISH", "0 PUBLISH a", "0 PUBLISH a b c", "0 SPUBLISH a", "0 PUBSUB", "0 PUBSUB NOSUCH", "0 PUBSUB CHANNELS a b", "0 pubsub shardchannels a b", "0 PUBSUB NUMPAT x",
		"0 PUBSUB NUMSUB", "0 PUBSUB SHARDNUMSUB", "0 COMMAND GETKEYS SSUBSCRIBE a b", "0 COMMAND GETKEYS SPUBLISH a b", "0 COMMAND GETKEYS PUBLISH a b", "0 COMMAND LIST FILTERBY ACLCAT pubsub"},
}

// TestPlaysAreRedis compares what several connections hear.
func TestPlaysAreRedis(t *testing.T) {
	theirs, ours := redistest.Start(t), newRig(t).addr
	for name, lines := range plays {
		t.Run(name, func(t *testing.T) {
			got, want := inOrder(play(t, ours, 3, lines)), inOrder(play(t, theirs, 3, lines))
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// inOrder sorts the names of commands, which Redis lists in the order of a hash.
func inOrder(heard string) string {
	return regexp.MustCompile(`"\*\d+\\r\\n(.*publish.*)"`).ReplaceAllStringFunc(heard, func(reply string) string {
		words := strings.Split(reply, `\r\n`)
		slices.Sort(words)
		return strings.Join(words, " ")
	})
}

// TestRandomPlaysAreRedis lets three connections say what they like. No two of the
// patterns match one channel: Redis sends those in the order of a hash. Names that
// are unsubscribed from together come in such an order too, so they are masked.
func TestRandomPlaysAreRedis(t *testing.T) {
	theirs, ours := redistest.Start(t), newRig(t).addr
	vocabulary := []string{
		"SUBSCRIBE a", "SUBSCRIBE b", "SUBSCRIBE a b", "UNSUBSCRIBE a", "UNSUBSCRIBE b a", "UNSUBSCRIBE", "PSUBSCRIBE a*", "PSUBSCRIBE [b-d]", "PUNSUBSCRIBE a*", "PUNSUBSCRIBE",
		"SSUBSCRIBE a", "SUNSUBSCRIBE a", "SUNSUBSCRIBE", "PUBLISH a x", "PUBLISH b y", "PUBLISH c z", "SPUBLISH a s", "HELLO 2", "HELLO 3", "RESET", "PING", "PING x", "GET nobody", "INCR n", "ECHO e", "NOSUCH",
		"PUBSUB NUMSUB a b", "PUBSUB NUMPAT", "PUBSUB SHARDNUMSUB a", "PUBSUB CHANNELS a", "CLIENT GETNAME",
		"MONITOR", "AUTH u p", "CLIENT REPLY SKIP ; PUBLISH a q", "CLIENT REPLY OFF ; PING ; GET nobody ; PUBLISH b m ; NOSUCH ; CLIENT REPLY ON", "CLIENT REPLY SKIP ; NOSUCH", "SELECT 2",
	}
	mask := regexp.MustCompile(`(unsubscribe\\r\\n)\$\d+\\r\\n[^\\]+`)
	rapid.Check(t, func(rt *rapid.T) {
		lines := []string{"0 FLUSHALL"}
		for range rapid.IntRange(1, 12).Draw(rt, "lines") {
			said := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 4).Draw(rt, "said")
			lines = append(lines, fmt.Sprint(rapid.IntRange(0, 2).Draw(rt, "who"))+" "+strings.Join(said, " ; "))
		}
		got, want := play(t, ours, 3, lines), play(t, theirs, 3, lines)
		if mask.ReplaceAllString(got, "$1") != mask.ReplaceAllString(want, "$1") {
			rt.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

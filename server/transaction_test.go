package server

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"

	"github.com/limitstore/limitstore/engine"
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

// TestTransactionsOfGoRedis does what the library's own examples do: a pipeline
// wrapped in MULTI and EXEC, and an update that begins anew when somebody was faster.
func TestTransactionsOfGoRedis(t *testing.T) {
	for _, shards := range []int{1, 8} {
		for _, proto := range []int{2, 3} {
			addr := newRig(t, func(s *setup) { s.shards = shards }).addr
			ctx, client := context.Background(), goredis.NewClient(&goredis.Options{Addr: addr, Protocol: proto})
			t.Cleanup(func() { client.Close() })
			var hits *goredis.IntCmd
			var left *goredis.DurationCmd
			_, err := client.TxPipelined(ctx, func(p goredis.Pipeliner) error {
				hits = p.Incr(ctx, "hits")
				p.PExpire(ctx, "hits", time.Minute)
				left = p.PTTL(ctx, "hits")
				return nil
			})
			if err != nil || hits.Val() != 1 || left.Val() != time.Minute {
				t.Errorf("RESP%d, %d shards: %v, %d hits, %v left", proto, shards, err, hits.Val(), left.Val())
			}
			tries := 0
			err = client.Watch(ctx, func(tx *goredis.Tx) error {
				n, _ := tx.Get(ctx, "other").Int()
				if tries++; tries == 1 {
					client.Set(ctx, "other", 10, 0)
				}
				_, err := tx.TxPipelined(ctx, func(p goredis.Pipeliner) error {
					p.Set(ctx, "other", n+1, 0)
					p.Set(ctx, "another", n+1, 0)
					return nil
				})
				return err
			}, "other", "another")
			if err != goredis.TxFailedErr || client.Get(ctx, "other").Val() != "10" || client.Exists(ctx, "another").Val() != 0 {
				t.Errorf("RESP%d, %d shards: somebody was faster, and %v", proto, shards, err)
			}
		}
	}
}

// TestTransactionsOfRedigo sends commands one by one, and gives a connection that
// still watches back to its pool, which says UNWATCH.
func TestTransactionsOfRedigo(t *testing.T) {
	r := newRig(t)
	pool := &redis.Pool{MaxIdle: 1, Dial: func() (redis.Conn, error) { return redis.Dial("tcp", r.addr) }}
	t.Cleanup(func() { pool.Close() })
	c := pool.Get()
	for _, call := range [][]any{{"MULTI"}, {"SET", "a", "x"}, {"INCR", "a"}, {"GET", "a"}} {
		if err := c.Send(call[0].(string), call[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	replies, err := redis.Values(c.Do("EXEC"))
	if err != nil || len(replies) != 3 || replies[0] != "OK" || fmt.Sprint(replies[1]) != engine.NotInteger.Text() || string(replies[2].([]byte)) != "x" {
		t.Errorf("EXEC: %v, %v", replies, err)
	}
	if _, err := c.Do("WATCH", "a"); err != nil {
		t.Error(err)
	}
	c.Close()
	c = pool.Get()
	defer c.Close()
	if id, _ := redis.Int(c.Do("CLIENT", "ID")); id != 1 {
		t.Fatalf("the pool gave connection %d", id)
	}
	_ = c.Send("SET", "a", 1)
	_ = c.Send("MULTI")
	if replies, err := redis.Values(c.Do("EXEC")); err != nil || len(replies) != 0 {
		t.Errorf("after the pool's UNWATCH: %v, %v", replies, err)
	}
}

// TestOthersSeeWhoIsInATransaction asks CLIENT LIST and INFO, and ends the
// connection, which must leave nothing behind.
func TestOthersSeeWhoIsInATransaction(t *testing.T) {
	r := newRig(t)
	c, other := r.call(), r.call()
	c.send("WATCH a b\r\nMULTI\r\nGET a\r\nGET b\r\n")
	c.replies(4)
	list := parsed(t, other.do("CLIENT LIST ID 1")).(string)
	if !strings.Contains(list, " flags=x ") || !strings.Contains(list, " multi=2 ") {
		t.Errorf("CLIENT LIST: %s", list)
	}
	info := fields(t, other.do("INFO clients"))
	if info["watching_clients"] != "1" || info["total_watched_keys"] != "2" {
		t.Errorf("%s clients watch %s keys, want 1 and 2", info["watching_clients"], info["total_watched_keys"])
	}
	c.Close()
	eventually(t, "it has gone", func() bool { return fields(t, other.do("INFO clients"))["connected_clients"] == "1" })
	if n := fields(t, other.do("INFO clients"))["total_watched_keys"]; n != "0" {
		t.Errorf("%s keys are watched by nobody", n)
	}
}

// TestEveryCommandMayBeInATransaction runs in one the commands that visit shards
// or connections: none waits for a shard that stands for it.
func TestEveryCommandMayBeInATransaction(t *testing.T) {
	r := newRig(t, func(s *setup) { s.shards = 4 })
	c := r.call()
	c.do("MSET a 1 b 2 c 3 d 4")
	lines := []string{"INFO everything", "TIME", "DBSIZE", "KEYS *", "SCAN 0", "RANDOMKEY", "CLIENT LIST", "CLIENT INFO", "COMMAND COUNT", "CONFIG GET *", "SELECT 1", "FLUSHDB", "DBSIZE", "SELECT 0", "DBSIZE", "HELLO 3", "FLUSHALL", "RANDOMKEY", "MEMORY DOCTOR", "MEMORY PURGE"}
	c.send("MULTI\r\n" + strings.Join(lines, "\r\n") + "\r\nEXEC\r\n")
	c.replies(1 + len(lines))
	replies := parsed(t, c.reply()).([]any)
	if len(replies) != len(lines) {
		t.Fatalf("%d replies, want %d", len(replies), len(lines))
	}
	for i, want := range map[int]any{2: int64(4), 10: "OK", 12: int64(0), 14: int64(4), 16: "OK", 17: nil} {
		if replies[i] != want {
			t.Errorf("%s: %v, want %v", lines[i], replies[i], want)
		}
	}
	now := listOf(replies[1])
	if want := strconv.FormatInt(int64(midnight)/int64(time.Second), 10); now[0] != want {
		t.Errorf("TIME: %q, want %s seconds", now, want)
	}
}

// TestSlimmingKeepsTheTransaction lets a connection with large buffers idle
// between WATCH, MULTI and EXEC.
func TestSlimmingKeepsTheTransaction(t *testing.T) {
	r := newRig(t)
	c, other := r.call(), r.call()
	for _, touched := range []bool{false, true} {
		for _, say := range []string{"WATCH a", "MULTI", "SET b " + strings.Repeat("x", wideBytes), "STRLEN b"} {
			c.do(say)
			r.widenAll()
			eventually(t, "it has let go", r.slimmed)
		}
		want := "*2\r\n+OK\r\n:2048\r\n"
		if touched {
			other.do("SET a 1")
			want = "*-1\r\n"
		}
		if got := c.do("EXEC"); got != want {
			t.Errorf("touched %t: %q, want %q", touched, got, want)
		}
	}
}

package engine

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/shard"
)

// TestHotStringCommandsDoNotAllocate runs pipelines as a connection does, on one
// shard and on several.
func TestHotStringCommandsDoNotAllocate(t *testing.T) {
	for _, pipeline := range []string{
		"GET text", "GET number", "GET missing", "SET text other", "SET number 18", "SET text v EX 100", "SET text v KEEPTTL XX", "INCR number",
		"INCRBY number -3", "APPEND text x; SET text v", "STRLEN number", "GETRANGE text 0 1", "MGET text number missing", "EXPIRE text 100",
		"PEXPIRE text 5000 NX", "TTL text", "PTTL text", "PERSIST text", "EXISTS text missing", "TYPE text", "DEL missing",
		"SET gone v; DEL gone", "SET gone v PX 10; UNLINK gone", "SETNX gone v; GETDEL gone", "MSET {t}a 1 {t}b 2", "RENAME {t}a {t}b; SET {t}a v",
		"HSET hash f v; HSET hash f w", "HGET hash f", "HMGET hash f g", "HINCRBY hash n 1", "HEXISTS hash f", "HLEN hash", "HGETALL hash", "SISMEMBER set a", "SCARD set",
		"ZADD sorted 1 a; ZADD sorted 3.5 a", "ZADD sorted XX CH 1700000000000000001 a 2 b; ZADD sorted 1 a", "ZINCRBY sorted 1 a", "ZSCORE sorted a", "ZCARD sorted", "ZRANK sorted a",
		"ZCOUNT sorted -inf (5", "ZREMRANGEBYSCORE sorted -inf -1", "LLEN list", "LINDEX list -1", "LRANGE list 0 -1", "LTRIM list 0 5",
		"INCREX number UBOUND 1000000 EX 60 ENX", "INCREX number UBOUND 0", "GET text; INCR number; EXISTS text; TTL text",
	} {
		for _, shards := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s/%d", pipeline, shards), func(t *testing.T) {
				d := newDesk(t, shards)
				d.do("SET", "text", "value")
				d.do("SET", "number", "17")
				d.do("HSET", "hash", "f", "v", "n", "1")
				d.do("SADD", "set", "a")
				d.do("ZADD", "sorted", "1", "a", "2", "b")
				d.do("RPUSH", "list", "a", "b")
				if got := allocations(t, d, strings.Split(pipeline, "; ")); got != 0 {
					t.Errorf("%v allocations", got)
				}
			})
		}
	}
}

// allocations are those of one pipeline in steady state.
func allocations(t *testing.T, d *desk, lines []string) float64 {
	session := d.engine.NewSession(nil, io.Discard)
	rows, words := make([]*Command, len(lines)), make([][][]byte, len(lines))
	for i, line := range lines {
		for _, w := range strings.Fields(line) {
			words[i] = append(words[i], []byte(w))
		}
		var refusal string
		if rows[i], refusal = d.engine.table.Resolve(words[i]); rows[i] == nil {
			t.Fatal(refusal)
		}
	}
	pipeline := func() {
		for i, row := range rows {
			if err := session.Queue(row, words[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := session.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 {
		pipeline()
	}
	return testing.AllocsPerRun(1000, pipeline)
}

// TestValueLimit: a value that would outgrow the limit is refused and stays.
func TestValueLimit(t *testing.T) {
	d, err := makeDesk(1, midnight)
	if err != nil {
		t.Fatal(err)
	}
	d.engine.Close()
	d.engine = New(Config{Shards: 1, Clock: d.clock, Table: d.engine.table, Limits: Limits{Value: 10}})
	d.session = d.engine.NewSession(nil, &d.sent)
	t.Cleanup(d.engine.Close)
	tooLong := "(error) " + StringTooLong.Text()
	for _, v := range []struct{ in, out string }{
		{"SET k 12345", "OK"}, {"APPEND k 67890", "(integer) 10"}, {"APPEND k 1", tooLong}, {"SETRANGE k 9 x", "(integer) 10"},
		{"SETRANGE k 10 x", tooLong}, {"SETRANGE k 9 xy", tooLong}, {"SETRANGE none 9223372036854775807 x", tooLong},
		{"GET k", `"123456789x"`}, {"EXISTS none", "(integer) 0"},
	} {
		if got := d.do(redistest.Words(t, v.in)...); got != v.out {
			t.Errorf("%s: %s, want %s", v.in, got, v.out)
		}
	}
}

// TestKeyLimit: of several keys none is touched when one is too long.
func TestKeyLimit(t *testing.T) {
	d := newDesk(t, 4)
	long := strings.Repeat("k", DefaultLimits().Key+1)
	want := "(error) " + KeyTooLong.Text(DefaultLimits().Key)
	for _, words := range [][]string{{"SET", long, "v"}, {"MSET", "a", "1", long, "2"}, {"RENAME", "a", long}, {"OBJECT", "ENCODING", long}} {
		if got := d.do(words...); got != want {
			t.Errorf("%s: %s", words[0], got)
		}
	}
	if got := d.do("EXISTS", "a"); got != "(integer) 0" {
		t.Errorf("MSET with a key too long set another: %s", got)
	}
}

// TestManyKeysOverShards: commands on keys of several shards answer as on one.
func TestManyKeysOverShards(t *testing.T) {
	const keys = 40
	set, get, del := []string{"MSET"}, []string{"MGET"}, []string{"DEL"}
	for i := range keys {
		key := fmt.Sprint("key:", i)
		set, get, del = append(set, key, fmt.Sprint(i)), append(get, key), append(del, key)
	}
	one, many := newDesk(t, 1), newDesk(t, 8)
	for _, words := range [][]string{
		set, get, append([]string{"MSETNX", "new", "1"}, set[1:]...), {"GET", "new"}, append([]string{"EXISTS"}, get[1:]...),
		{"RENAME", "key:0", "key:1"}, {"RENAMENX", "key:2", "key:3"}, {"RENAMENX", "key:2", "free"}, get, {"DBSIZE"}, del, {"DBSIZE"}, {"GET", "free"},
	} {
		if x, y := one.do(words...), many.do(words...); x != y {
			t.Errorf("%s: one shard %s, eight shards %s", words[0], x, y)
		}
	}
	spread := map[int]bool{}
	for _, key := range get[1:] {
		spread[route([]byte(key), 8)] = true
	}
	if len(spread) < 4 {
		t.Fatalf("the keys lie on %d shards only", len(spread))
	}
}

// TestRenameKeepsLargeValues: the record moves between shards, or within one,
// through every size of cell.
func TestRenameKeepsLargeValues(t *testing.T) {
	for _, shards := range []int{1, 8} {
		d := newDesk(t, shards)
		for size := 1; size <= 1<<20; size *= 4 {
			value := strings.Repeat("0123456789abcdef", size/16+1)[:size]
			d.do("SET", "from", value, "EX", "100")
			d.do("RENAME", "from", "to")
			if got := d.do("GET", "to"); got != `"`+value+`"` {
				t.Errorf("%d bytes became %d", size, len(got)-2)
			}
			if got := d.do("TTL", "to"); got != "(integer) 100" {
				t.Errorf("%d bytes: TTL %s", size, got)
			}
		}
	}
}

// TestReadingChangesNothing: what only reads writes no effects.
func TestReadingChangesNothing(t *testing.T) {
	d := newDesk(t, 1)
	d.do("SET", "text", "value", "EX", "100")
	d.do("SET", "number", "17")
	d.do("HSET", "hash", "f", "v", "n", "1")
	d.do("SADD", "set", "a", "b")
	var effects shard.Effects
	d.engine.On(0, func(_ int, ks *shard.Keyspace, _ *Stats) { ks.Record(&effects) })
	for _, line := range []string{
		"GET text", "MGET text number", "STRLEN text", "GETRANGE text 0 -1", "EXISTS text", "TOUCH text", "TYPE text", "OBJECT ENCODING text", "TTL text",
		"PEXPIRETIME text", "SCAN 0", "KEYS *", "RANDOMKEY", "DBSIZE", "GETEX text", "SET text v NX", "SET none v XX", "SETNX text v", "MSETNX text v other v",
		"DEL none", "GETDEL none", "EXPIRE text 50 NX", "EXPIRE text 50 GT", "PERSIST number", "RENAMENX text number", "RENAME text text", "SETRANGE text 0 \"\"",
		"HSET hash f v", "HSETNX hash f w", "HGETALL hash", "HDEL hash x", "HSCAN hash 0", "HRANDFIELD hash 2", "HINCRBY hash f 1", "SADD set a", "SREM set x", "SMEMBERS set",
		"SRANDMEMBER set", "SPOP set 0", "SMOVE set set a", "SMOVE set other x", "SUNION set set", "SADD text a", "COPY text number",
		"INCR text", "INCRBY number x", "INCREX number UBOUND 17", "INCREX none XX", "INCREX number BYFLOAT 1 UBOUND 1",
	} {
		d.do(redistest.Words(t, line)...)
		if n := len(effects.Bytes()); n != 0 {
			t.Errorf("%s wrote %d bytes of effects", line, n)
			effects.Reset()
		}
	}
}

// TestARefusedAppendChangesNothing, not even how the value is kept.
func TestARefusedAppendChangesNothing(t *testing.T) {
	d := newDesk(t, 1)
	d.engine.limits.Value = 8
	d.do("SET", "n", "123")
	if got, want := d.do("APPEND", "n", "456789"), "(error) "+StringTooLong.Text(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := d.do("OBJECT", "ENCODING", "n"); got != `"int"` {
		t.Errorf("the value is kept as %s", got)
	}
}

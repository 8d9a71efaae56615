package server

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// library is what the tests want of a Go client: something that runs a command,
// and something that runs several at once.
type library struct {
	name string
	open func(t *testing.T, addr, password string) (runOne, runAll)
}

type (
	runOne func(words ...any) (any, error)
	runAll func(calls ...[]any) ([]any, error)
)

func libraries() []library {
	return []library{
		{"go-redis", func(t *testing.T, addr, password string) (runOne, runAll) {
			return openGoRedis(t, &goredis.Options{Addr: addr, Password: password, ClientName: "me", DB: 3})
		}},
		{"go-redis RESP2", func(t *testing.T, addr, password string) (runOne, runAll) {
			return openGoRedis(t, &goredis.Options{Addr: addr, Password: password, ClientName: "me", DB: 3, Protocol: 2})
		}},
		{"rueidis", openRueidis},
		{"redigo", openRedigo},
	}
}

func openGoRedis(t *testing.T, options *goredis.Options) (runOne, runAll) {
	client := goredis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	do := func(words ...any) (any, error) { return client.Do(context.Background(), words...).Result() }
	pipeline := func(calls ...[]any) (all []any, err error) {
		p := client.Pipeline()
		for _, call := range calls {
			p.Do(context.Background(), call...)
		}
		answers, err := p.Exec(context.Background())
		for _, a := range answers {
			all = append(all, a.(*goredis.Cmd).Val())
		}
		return all, err
	}
	return do, pipeline
}

func openRueidis(t *testing.T, addr, password string) (runOne, runAll) {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, Password: password, ClientName: "me", SelectDB: 3, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	build := func(words []any) rueidis.Completed {
		var text []string
		for _, w := range words {
			text = append(text, fmt.Sprint(w))
		}
		return client.B().Arbitrary(text...).Build()
	}
	do := func(words ...any) (any, error) { return client.Do(context.Background(), build(words)).ToAny() }
	pipeline := func(calls ...[]any) (all []any, err error) {
		var built []rueidis.Completed
		for _, call := range calls {
			built = append(built, build(call))
		}
		for _, answer := range client.DoMulti(context.Background(), built...) {
			v, failed := answer.ToAny()
			all, err = append(all, v), failed
		}
		return all, err
	}
	return do, pipeline
}

func openRedigo(t *testing.T, addr, password string) (runOne, runAll) {
	c, err := redis.Dial("tcp", addr, redis.DialPassword(password), redis.DialClientName("me"), redis.DialDatabase(3))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	do := func(words ...any) (any, error) { return plain(c.Do(words[0].(string), words[1:]...)) }
	pipeline := func(calls ...[]any) (all []any, err error) {
		for _, call := range calls {
			if err := c.Send(call[0].(string), call[1:]...); err != nil {
				return nil, err
			}
		}
		if err := c.Flush(); err != nil {
			return nil, err
		}
		for range calls {
			v, failed := plain(c.Receive())
			all, err = append(all, v), failed
		}
		return all, err
	}
	return do, pipeline
}

// plain turns redigo's bytes into strings.
func plain(v any, err error) (any, error) {
	if b, ok := v.([]byte); ok {
		return string(b), err
	}
	return v, err
}

// TestGoClients lets each client shake hands as it does by itself, with a
// password, a name and a database, and work.
func TestGoClients(t *testing.T) {
	for _, lib := range libraries() {
		t.Run(lib.name, func(t *testing.T) {
			r := newRig(t, func(s *setup) { s.Password = "secret" })
			do, pipeline := lib.open(t, r.addr, "secret")
			for _, step := range []struct {
				call []any
				want any
			}{
				{[]any{"SET", "a", "1"}, "OK"}, {[]any{"GET", "a"}, "1"}, {[]any{"INCR", "a"}, int64(2)}, {[]any{"EXPIRE", "a", 100}, int64(1)}, {[]any{"TTL", "a"}, int64(100)},
				{[]any{"TB.TAKE", "user:42", 10, 1, "6s"}, []any{int64(1), int64(10), int64(9), int64(0), int64(6000)}},
				{[]any{"CLIENT", "GETNAME"}, "me"},
			} {
				got, err := do(step.call...)
				if err != nil || fmt.Sprint(got) != fmt.Sprint(step.want) {
					t.Errorf("%v: %v, %v, want %v", step.call, got, err, step.want)
				}
			}
			if _, err := do("NOSUCH"); err == nil {
				t.Error("an unknown command is no error")
			}
			got, err := pipeline([]any{"SET", "b", "x"}, []any{"GET", "b"}, []any{"TB.TAKE", "user:42", 10, 1, "6s"}, []any{"DEL", "a", "b"})
			if want := "[OK x [1 10 8 0 12000] 2]"; err != nil || fmt.Sprint(got) != want {
				t.Errorf("pipeline: %v, %v, want %v", got, err, want)
			}
			if db3 := r.call().do("AUTH secret"); db3 != "+OK\r\n" {
				t.Error(db3)
			}
			if keys := r.census(r.engine.Each).databases[3].keys; keys != 1 {
				t.Errorf("%d keys in database 3, want the bucket", keys)
			}
		})
	}
}

// TestGoClientsWithAWrongPassword are told so.
func TestGoClientsWithAWrongPassword(t *testing.T) {
	r := newRig(t, func(s *setup) { s.Password = "secret" })
	do, _ := openGoRedis(t, &goredis.Options{Addr: r.addr, Password: "wrong"})
	if _, err := do("PING"); err == nil || err.Error() != failWrongPass.text() {
		t.Errorf("go-redis: %v", err)
	}
	if _, err := redis.Dial("tcp", r.addr, redis.DialPassword("wrong")); err == nil || err.Error() != failWrongPass.text() {
		t.Errorf("redigo: %v", err)
	}
	if _, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{r.addr}, Password: "wrong", DisableCache: true}); err == nil || err.Error() != failWrongPass.text() {
		t.Errorf("rueidis: %v", err)
	}
}

// TestGoRedisReadsWhatIsToldOfCommands uses the typed readers of COMMAND, CLIENT
// INFO and CONFIG GET.
func TestGoRedisReadsWhatIsToldOfCommands(t *testing.T) {
	ctx := context.Background()
	for _, proto := range []int{2, 3} {
		client := goredis.NewClient(&goredis.Options{Addr: newRig(t).addr, Protocol: proto, ClientName: "me"})
		t.Cleanup(func() { client.Close() })
		all, err := client.Command(ctx).Result()
		if take := all["tb.take"]; err != nil || take == nil || take.Arity != -5 || take.FirstKeyPos != 1 || !slices.Contains(take.Flags, "write") {
			t.Errorf("RESP%d: tb.take is %+v, %v", proto, take, err)
		}
		info, err := client.ClientInfo(ctx).Result()
		if err != nil || info.Name != "me" || info.Resp != proto || info.LibName == "" {
			t.Errorf("RESP%d: CLIENT INFO %+v, %v", proto, info, err)
		}
		settings, err := client.ConfigGet(ctx, "max*").Result()
		if err != nil || settings["maxmemory"] != "0" || settings["maxclients"] != "10000" {
			t.Errorf("RESP%d: CONFIG GET %v, %v", proto, settings, err)
		}
		keys, err := client.CommandGetKeys(ctx, "MSET", "a", "1", "b", "2").Result()
		if err != nil || !slices.Equal(keys, []string{"a", "b"}) {
			t.Errorf("RESP%d: COMMAND GETKEYS %v, %v", proto, keys, err)
		}
	}
}

// TestGoRedisReadsHashesAndSets uses the typed readers of maps, sets and walks,
// whose forms differ between the protocols.
func TestGoRedisReadsHashesAndSets(t *testing.T) {
	ctx := context.Background()
	for _, proto := range []int{2, 3} {
		client := goredis.NewClient(&goredis.Options{Addr: newRig(t).addr, Protocol: proto})
		t.Cleanup(func() { client.Close() })
		client.HSet(ctx, "h", "a", 1, "b", 2)
		client.SAdd(ctx, "s", "x", "y")
		all, err := client.HGetAll(ctx, "h").Result()
		if err != nil || fmt.Sprint(all) != "map[a:1 b:2]" {
			t.Errorf("RESP%d: HGETALL %v, %v", proto, all, err)
		}
		pairs, err := client.HRandFieldWithValues(ctx, "h", 2).Result()
		if err != nil || len(pairs) != 2 || pairs[0].Key+pairs[0].Value == pairs[1].Key+pairs[1].Value {
			t.Errorf("RESP%d: HRANDFIELD %v, %v", proto, pairs, err)
		}
		is, err := client.SMIsMember(ctx, "s", "x", "z").Result()
		if err != nil || fmt.Sprint(is) != "[true false]" {
			t.Errorf("RESP%d: SMISMEMBER %v, %v", proto, is, err)
		}
		members, err := client.SMembersMap(ctx, "s").Result()
		if err != nil || len(members) != 2 {
			t.Errorf("RESP%d: SMEMBERS %v, %v", proto, members, err)
		}
		words, cursor, err := client.HScan(ctx, "h", 0, "b*", 10).Result()
		if err != nil || cursor != 0 || fmt.Sprint(words) != "[b 2]" {
			t.Errorf("RESP%d: HSCAN %v %d, %v", proto, words, cursor, err)
		}
		keys, err := client.CommandGetKeys(ctx, "SINTERCARD", "2", "s", "t", "LIMIT", "5").Result()
		if err != nil || !slices.Equal(keys, []string{"s", "t"}) {
			t.Errorf("RESP%d: COMMAND GETKEYS %v, %v", proto, keys, err)
		}
	}
}

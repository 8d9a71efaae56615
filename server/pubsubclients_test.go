package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// audience is a client library listening to the channel a and the pattern b*.
type audience struct {
	name   string
	listen func(t *testing.T, addr string) (next func() string)
}

func audiences() []audience {
	return []audience{
		{"go-redis, RESP2", func(t *testing.T, addr string) func() string { return listenGoRedis(t, addr, 2) }},
		{"go-redis, RESP3", func(t *testing.T, addr string) func() string { return listenGoRedis(t, addr, 3) }},
		{"redigo", listenRedigo},
		{"rueidis, RESP2", func(t *testing.T, addr string) func() string { return listenRueidis(t, addr, true) }},
		{"rueidis, RESP3", func(t *testing.T, addr string) func() string { return listenRueidis(t, addr, false) }},
	}
}

func listenGoRedis(t *testing.T, addr string, proto int) func() string {
	ctx := context.Background()
	client := goredis.NewClient(&goredis.Options{Addr: addr, Protocol: proto})
	t.Cleanup(func() { client.Close() })
	listening := client.Subscribe(ctx, "a")
	t.Cleanup(func() { listening.Close() })
	if err := errors.Join(listening.PSubscribe(ctx, "b*"), listening.Ping(ctx, "hello")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"subscribe: a", "psubscribe: b*", "Pong<hello>"} {
		if got, err := listening.Receive(ctx); err != nil || fmt.Sprint(got) != want {
			t.Fatalf("got %v, %v, want %s", got, err, want)
		}
	}
	return func() string {
		m, err := listening.ReceiveMessage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return m.Pattern + "|" + m.Channel + "|" + m.Payload
	}
}

func listenRedigo(t *testing.T, addr string) func() string {
	c, err := redis.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	listening := redis.PubSubConn{Conn: c}
	if err := errors.Join(listening.Subscribe("a"), listening.PSubscribe("b*"), listening.Ping("hello")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []any{redis.Subscription{Kind: "subscribe", Channel: "a", Count: 1}, redis.Subscription{Kind: "psubscribe", Channel: "b*", Count: 2}, redis.Pong{Data: "hello"}} {
		if got := listening.Receive(); got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	return func() string {
		m, ok := listening.Receive().(redis.Message)
		if !ok {
			t.Fatal("not a message")
		}
		return m.Pattern + "|" + m.Channel + "|" + string(m.Data)
	}
}

func listenRueidis(t *testing.T, addr string, old bool) func() string {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, AlwaysRESP2: old, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	listening, free := client.Dedicate()
	t.Cleanup(free)
	heard := make(chan string, 100)
	confirmed := make(chan string, 2)
	listening.SetPubSubHooks(rueidis.PubSubHooks{
		OnMessage:      func(m rueidis.PubSubMessage) { heard <- m.Pattern + "|" + m.Channel + "|" + m.Message },
		OnSubscription: func(s rueidis.PubSubSubscription) { confirmed <- s.Kind + " " + s.Channel },
	})
	ctx := context.Background()
	for _, answer := range listening.DoMulti(ctx, client.B().Subscribe().Channel("a").Build(), client.B().Psubscribe().Pattern("b*").Build()) {
		if err := answer.Error(); err != nil {
			t.Fatal(err)
		}
	}
	<-confirmed
	<-confirmed
	return func() string { return <-heard }
}

// TestGoClientsListen lets each library hear what the others publish.
func TestGoClientsListen(t *testing.T) {
	for _, a := range audiences() {
		t.Run(a.name, func(t *testing.T) {
			r := newRig(t)
			next := a.listen(t, r.addr)
			for _, lib := range libraries() {
				do, pipeline := lib.open(t, r.addr, "")
				if n, err := do("PUBLISH", "a", lib.name); err != nil || n != int64(1) {
					t.Fatalf("PUBLISH with %s: %v, %v", lib.name, n, err)
				}
				if got, want := next(), "|a|"+lib.name; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				all, err := pipeline([]any{"INCR", "n"}, []any{"PUBLISH", "bc", "x"}, []any{"PUBLISH", "b", "y"}, []any{"PUBLISH", "nobody", "y"})
				if err != nil || !strings.HasSuffix(fmt.Sprint(all), " 1 1 0]") {
					t.Fatalf("pipeline with %s: %v, %v", lib.name, all, err)
				}
				if got := next() + " " + next(); got != "b*|bc|x b*|b|y" {
					t.Errorf("got %q", got)
				}
			}
		})
	}
}

// TestRueidisAsksForTracking unless told otherwise, and says that it is missing.
func TestRueidisAsksForTracking(t *testing.T) {
	_, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{newRig(t).addr}, ForceSingleClient: true})
	if !errors.Is(err, rueidis.ErrNoCache) && (err == nil || !strings.Contains(err.Error(), failTracking.text())) {
		t.Errorf("got %v", err)
	}
}

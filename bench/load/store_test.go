package load_test

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/limitstore/limitstore/clock"
	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/server"
	"github.com/limitstore/limitstore/shard"
)

// startStore is a limitstore of the test's own with as many shards.
func startStore(t *testing.T, shards int, password string) (addr string) {
	t.Helper()
	table, err := engine.NewTable(engine.Commands(), server.Commands())
	if err != nil {
		t.Fatal(err)
	}
	now := clock.NewSystem(nil)
	e := engine.New(engine.Config{Shards: shards, Clock: now, Seed: shard.Seed{1, 2}, Table: table, Limits: engine.DefaultLimits()})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(e, server.Config{Addr: ln.Addr().String(), Password: password, MaxClients: 100, WriteTimeout: time.Minute})
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		<-served
		e.Close()
		now.Close()
	})
	return ln.Addr().String()
}

// listen serves every connection with fn.
func listen(t *testing.T, fn func(net.Conn)) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			fn(conn)
			_, _ = io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		ln.Close()
		<-ended
	})
	return ln.Addr().String()
}

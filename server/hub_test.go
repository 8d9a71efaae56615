package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// confirmed is the reply to subscribing to one name.
func confirmed(verb, name string, n int) string {
	return fmt.Sprintf("*3\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n:%d\r\n", len(verb), verb, len(name), name, n)
}

// heard is a message in RESP2.
func heard(channel, text string) string {
	return fmt.Sprintf("*3\r\n$7\r\nmessage\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(channel), channel, len(text), text)
}

// deaf subscribes over a pipe, which holds no bytes, and reads nothing but the
// confirmation.
func (r *rig) deaf() (near net.Conn, done chan struct{}) {
	near, far := net.Pipe()
	done = r.serveOver(far)
	r.t.Cleanup(func() { near.Close() })
	want := confirmed("subscribe", "a", 1)
	go io.WriteString(near, request("SUBSCRIBE", "a"))
	got := make([]byte, len(want))
	if _, err := io.ReadFull(near, got); err != nil || string(got) != want {
		r.t.Fatalf("got %q, %v", got, err)
	}
	return near, done
}

// TestASubscriberThatNeverReads is cut off while 100,000 messages are published;
// another one, who reads, has them all in order, and the publisher is answered.
func TestASubscriberThatNeverReads(t *testing.T) {
	const many, each = 100_000, 1000
	r := newRig(t, func(s *setup) { s.SubscriberBuffer = 1 << 20 })
	_, done := r.deaf()
	reader, publisher := r.call(), r.call()
	reader.do("SUBSCRIBE a")
	before := memoryHeld()
	for i := 0; i < many; i += each {
		var calls strings.Builder
		for n := range each {
			calls.WriteString(request("PUBLISH", "a", fmt.Sprint(i+n)))
		}
		publisher.send(calls.String())
		for n := range each {
			if got := publisher.reply(); got != ":2\r\n" && got != ":1\r\n" {
				t.Fatalf("PUBLISH answers %q", got)
			}
			if got, want := reader.reply(), heard("a", fmt.Sprint(i+n)); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	}
	<-done
	if n := r.counts.ended[bySlowSubscriber].Load(); n != 1 {
		t.Errorf("%d connections ended by the subscriber's buffer", n)
	}
	if len(r.log.lines("does not keep up")) != 1 {
		t.Errorf("it is not logged: %v", r.log.lines(""))
	}
	if got := publisher.do("PUBSUB NUMSUB a"); got != "*2\r\n$1\r\na\r\n:1\r\n" {
		t.Errorf("it is still subscribed: %q", got)
	}
	if grown := memoryHeld() - before; grown > slowBytes {
		t.Errorf("%d bytes are kept", grown)
	}
}

// TestASubscriberFarBehind is cut off after a minute, one that catches up is not.
func TestASubscriberFarBehind(t *testing.T) {
	r := newRig(t, func(s *setup) { s.SubscriberBuffer = 1 << 20; s.WriteTimeout = time.Hour })
	near, done := r.deaf()
	text := strings.Repeat("x", 1<<20/softPart+1)
	r.call().send(request("PUBLISH", "a", text))
	c := func() *conn { r.mu.Lock(); defer r.mu.Unlock(); return r.conns[1<<20] }()
	behind := func() bool { l := c.listener(); return l.waiting > 1<<20/softPart }
	eventually(t, "it is behind", behind)
	r.visits(softVisits)
	if _, err := io.ReadFull(near, make([]byte, len(heard("a", text)))); err != nil {
		t.Fatalf("cut off too early: %v", err)
	}
	eventually(t, "it has caught up", func() bool { return !behind() })
	r.visits(1)
	r.call().send(request("PUBLISH", "a", text))
	eventually(t, "it is behind again", behind)
	r.visits(softVisits)
	select {
	case <-done:
		t.Fatal("cut off before its time")
	default:
	}
	r.visits(1)
	<-done
}

// TestASlowMonitor is cut off like a slow subscriber.
func TestASlowMonitor(t *testing.T) {
	r := newRig(t, func(s *setup) { s.SubscriberBuffer = 64 << 10 })
	near, far := net.Pipe()
	defer near.Close()
	done := r.serveOver(far)
	go io.WriteString(near, request("MONITOR"))
	if _, err := io.ReadFull(near, make([]byte, len("+OK\r\n"))); err != nil {
		t.Fatal(err)
	}
	c := r.call()
	for range 100 {
		c.send(request("ECHO", strings.Repeat("x", 1000)))
		c.reply()
	}
	<-done
	if n := r.counts.ended[bySlowSubscriber].Load(); n != 1 {
		t.Errorf("%d connections ended by the subscriber's buffer", n)
	}
	if n := r.attention.Load(); n != 0 {
		t.Errorf("commands are still shown to %d", n)
	}
}

// TestMessagesWaitForTheRepliesBefore pushes to a connection in the middle of its
// pipeline.
func TestMessagesWaitForTheRepliesBefore(t *testing.T) {
	r := newRig(t)
	near, far := net.Pipe()
	c := newConn(r.Server, far, 1)
	o := c.box() // held, as in a pipeline
	r.hub.join(o, toChannel, "a")
	r.hub.publish(toChannel, []byte("a"), []byte("1"))
	go func() {
		_, _ = c.Write([]byte("+OK\r\n"))
		r.hub.publish(toChannel, []byte("a"), []byte("2"))
		c.release()
		r.hub.publish(toChannel, []byte("a"), []byte("3"))
	}()
	want := "+OK\r\n" + heard("a", "1") + heard("a", "2") + heard("a", "3")
	got := make([]byte, len(want))
	if _, err := io.ReadFull(near, got); err != nil || string(got) != want {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	c.retire()
	near.Close()
}

// TestOneOrder lets two publish at once: all subscribers see one order.
func TestOneOrder(t *testing.T) {
	const many = 500
	r := newRig(t)
	readers := []*caller{r.call(), r.call(), r.call()}
	for _, c := range readers {
		c.do("SUBSCRIBE a")
	}
	var publishers sync.WaitGroup
	for p := range 2 {
		c := r.call()
		publishers.Go(func() {
			for i := range many {
				_, _ = io.WriteString(c, request("PUBLISH", "a", fmt.Sprintf("%d-%d", p, i)))
			}
		})
	}
	publishers.Wait()
	want := readers[0].replies(2 * many)
	for _, c := range readers[1:] {
		if got := c.replies(2 * many); got != want {
			t.Error("two subscribers saw two orders")
		}
	}
}

// TestPatternsInOrder: a channel first, then the patterns in the order in which
// they were first subscribed to.
func TestPatternsInOrder(t *testing.T) {
	r := newRig(t)
	first, c := r.call(), r.call()
	first.do("PSUBSCRIBE ?")
	c.do("PSUBSCRIBE *")
	c.do("PSUBSCRIBE [ab]")
	c.do("PSUBSCRIBE ?")
	c.do("SUBSCRIBE a")
	r.call().do("PUBLISH a x")
	got := c.replies(4)
	last := -1
	for _, word := range []string{"$7\r\nmessage", "$1\r\n?", "$1\r\n*", "$4\r\n[ab]"} {
		at := strings.Index(got, word)
		if at <= last {
			t.Errorf("%q comes at %d, after %d: %q", word, at, last, got)
		}
		last = at
	}
}

// TestSubscriptionLimits are refused, and nothing is subscribed to.
func TestSubscriptionLimits(t *testing.T) {
	c := newRig(t, func(s *setup) { s.MaxSubscriptions = 3 }).call()
	long := strings.Repeat("n", longestPattern+1)
	for _, step := range []struct{ line, want string }{
		{"SUBSCRIBE a b c d", "-ERR a connection may have 3 subscriptions\r\n"},
		{"SUBSCRIBE " + strings.Repeat("n", longestChannel+1), "-ERR name is longer than 4096 bytes\r\n"},
		{"SSUBSCRIBE " + strings.Repeat("n", longestChannel+1), "-ERR name is longer than 4096 bytes\r\n"},
		{"PSUBSCRIBE " + long, "-ERR name is longer than 1024 bytes\r\n"},
		{"PING", "+PONG\r\n"},
		{"SUBSCRIBE " + long, confirmed("subscribe", long, 1)},
		{"PSUBSCRIBE a", confirmed("psubscribe", "a", 2)},
		{"SSUBSCRIBE a", confirmed("ssubscribe", "a", 1)},
		{"SUBSCRIBE b", "-ERR a connection may have 3 subscriptions\r\n"},
		{"SUBSCRIBE " + long, confirmed("subscribe", long, 2)},
		{"SUNSUBSCRIBE a", confirmed("sunsubscribe", "a", 0)},
		{"SUBSCRIBE b", confirmed("subscribe", "b", 3)},
	} {
		if got := c.do(step.line); got != step.want {
			t.Errorf("%.40s: %q, want %q", step.line, got, step.want)
		}
	}
}

// TestSubscribersAreSeen in CLIENT LIST, INFO and the idle timeout.
func TestSubscribersAreSeen(t *testing.T) {
	r := newRig(t, func(s *setup) { s.IdleTimeout = 2 * time.Second })
	subscriber, monitor := r.call(), r.call()
	subscriber.send("SUBSCRIBE a b\r\nPSUBSCRIBE *\r\nSSUBSCRIBE s\r\n")
	subscriber.replies(4)
	monitor.do("MONITOR")
	r.visits(10)
	c := r.call()
	got := line(t, c.do("CLIENT LIST TYPE pubsub"))
	for name, want := range map[string]string{"flags": "P", "sub": "2", "psub": "1", "ssub": "1", "cmd": "ssubscribe", "omem": "0"} {
		if got[name] != want {
			t.Errorf("%s=%s, want %s", name, got[name], want)
		}
	}
	if got := line(t, c.do("CLIENT LIST ID 2")); got["flags"] != "O" {
		t.Errorf("the monitor's flags are %s", got["flags"])
	}
	told := fields(t, c.do("INFO everything"))
	for name, want := range map[string]string{"pubsub_channels": "2", "pubsub_patterns": "1", "pubsubshard_channels": "1", "pubsub_clients": "1"} {
		if told[name] != want {
			t.Errorf("%s:%s, want %s", name, told[name], want)
		}
	}
}

// TestStorm lets many come, subscribe, publish, change their minds and go, some in
// the middle of a word. Nothing of them is left.
func TestStorm(t *testing.T) {
	const clients, rounds = 16, 30
	r := newRig(t)
	r.call().do("MONITOR")
	storm := func(id int) {
		for round := range rounds {
			nc, err := net.Dial("tcp", r.addr)
			if err != nil {
				t.Error(err)
				return
			}
			said := []string{"SUBSCRIBE a b", "PSUBSCRIBE a* b*", "SSUBSCRIBE a", "PUBLISH a x", "UNSUBSCRIBE", "HELLO 3", "PUBLISH a y", "MONITOR", "SUBSCRIBE a", "RESET", "SPUBLISH a z", "CLIENT REPLY OFF", "SUBSCRIBE b", "PUNSUBSCRIBE", "SUNS"}
			from := (id + round) % len(said)
			_, _ = io.WriteString(nc, strings.Join(said[from:], "\r\n")+"\r\n"+strings.Join(said[:from+1], "\r\n"))
			if round%3 > 0 { // the others do not wait for an answer
				_, _ = nc.Read(make([]byte, 1000))
			}
			nc.Close()
		}
	}
	var all sync.WaitGroup
	for id := range clients {
		all.Go(func() { storm(id) })
	}
	all.Wait()
	eventually(t, "all are gone", func() bool { _, n := r.sum(); return n <= 1 })
	if left := r.hub.figures(); left.channels+left.patterns+left.shardChannels > 0 {
		t.Errorf("left in the hub: %+v", left)
	}
	if err := r.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if n := r.attention.Load(); n != 0 {
		t.Errorf("%d monitors are left", n)
	}
}

// TestManySubscriptions come and go without a walk over all of them for each.
func TestManySubscriptions(t *testing.T) {
	const many = 30_000
	r := newRig(t)
	c := r.call()
	words := []string{"PSUBSCRIBE"}
	for i := range many {
		words = append(words, fmt.Sprintf("p%d*", i))
	}
	c.send(request(words...))
	c.replies(many)
	if got := r.hub.figures().patterns; got != many {
		t.Errorf("%d patterns", got)
	}
	if got := r.call().do("PUBLISH p777 x"); got != ":3\r\n" { // p7*, p77*, p777*
		t.Errorf("PUBLISH answers %q", got)
	}
	words[0] = "PUNSUBSCRIBE"
	c.send(request(words[:many/2]...))
	c.replies(3 + many/2 - 1)
	if got := r.hub.figures().patterns; got != many/2+1 {
		t.Errorf("%d patterns are left", got)
	}
	c.send(request("RESET"))
	if got := c.reply(); got != "+RESET\r\n" {
		t.Errorf("RESET answers %q", got)
	}
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	if r.hub.named != nil || r.hub.patterns != nil {
		t.Error("the patterns keep memory")
	}
}

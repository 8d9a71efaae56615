package load

import (
	"bytes"
	"context"
	"fmt"
	"net"

	"testing"
	"time"

	"github.com/limitstore/limitstore/resp"
)

// echo is a connection whose other end has answered before it was asked.
type echo struct {
	net.Conn // nil: what is not here is not called
	reply    []byte
	at       int
}

func (e *echo) Read(p []byte) (int, error) {
	n := copy(p, e.reply[e.at:])
	e.at = (e.at + n) % len(e.reply)
	return n, nil
}

func (e *echo) Write(p []byte) (int, error)      { return len(p), nil }
func (e *echo) SetReadDeadline(time.Time) error  { return nil }
func (e *echo) SetWriteDeadline(time.Time) error { return nil }

// onEcho is a connection that is played without a network.
func onEcho(depth int) *connection {
	conn := &echo{reply: bytes.Repeat([]byte("*5\r\n:1\r\n:10\r\n:9\r\n:0\r\n:6000\r\n"), depth)}
	p := DefaultPlan()
	return &connection{
		Conn: conn, ctx: context.Background(), clock: newStopwatch(), timeout: time.Second, replies: resp.NewReplies(conn, longestReply),
		pipelines: pipelines(Workloads[0].requests(), depth), depth: depth, keys: p.newPicker(0, nil), tally: newTally(0, never),
	}
}

// TestRequestsDoNotAllocate holds the promise that the generator is cheap.
func TestRequestsDoNotAllocate(t *testing.T) {
	c := onEcho(16)
	if n := testing.AllocsPerRun(1000, func() {
		if err := c.loop(never, 16); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("16 requests allocate %v times", n)
	}
	if got := c.tally.answered.Load(); got != 16*1001 {
		t.Errorf("%d answered", got)
	}
}

// TestAlarmIsNeverEarly waits for moments and holds the time against them.
func TestAlarmIsNeverEarly(t *testing.T) {
	watch := newStopwatch()
	alarm, err := newAlarm(watch)
	if err != nil {
		t.Fatal(err)
	}
	defer alarm.close()
	for i := range 20 {
		until := watch.now() + time.Duration(i*i)*10*time.Microsecond
		alarm.wait(t.Context(), until)
		if now := watch.now(); now < until {
			t.Fatalf("rang at %v, wanted at %v", now, until)
		}
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	alarm.wait(over, never) // comes back
}

func BenchmarkConnection(b *testing.B) {
	for _, depth := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			c := onEcho(depth)
			b.ReportAllocs()
			for b.Loop() {
				if err := c.loop(never, depth); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

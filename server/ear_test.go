package server

import (
	"net"
	"strings"
	"testing"
	"time"
)

// TestTheEndIsSeen: a client that has sent many pipelines says no more. When its
// end comes alone it is seen at once, and when it comes with the last pipeline, by
// the watch at the latest. The connection hears on in between.
func TestTheEndIsSeen(t *testing.T) {
	for name, last := range map[string]string{"alone": "", "with a pipeline": request("PING") + request("PING")} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c := r.call()
			for range 2 * trustAfter {
				if got := c.do("PING"); got != "+PONG\r\n" {
					t.Fatal(got)
				}
			}
			c.send(last)
			if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan string)
			go func() { ended <- c.rest() }()
			for done := false; !done; {
				select {
				case got := <-ended:
					if done = true; got != strings.Repeat("+PONG\r\n", strings.Count(last, "PING")) {
						t.Errorf("%q", got)
					}
				case <-time.After(time.Millisecond):
					r.visits(1)
				}
			}
		})
	}
}

// TestATrustedConnectionHears: after many pipelines, and visits of the watch
// between them, all that is sent is heard, in whatever pieces.
func TestATrustedConnectionHears(t *testing.T) {
	r := newRig(t)
	c := r.call()
	for i := range 3 * trustAfter {
		if i%10 == 0 {
			r.settled()
			r.visits(2)
		}
		text := request("ECHO", strings.Repeat("x", i*i))
		c.send(text[:len(text)/2])
		c.send(text[len(text)/2:])
		if got := c.reply(); !strings.Contains(got, strings.Repeat("x", i*i)) {
			t.Fatalf("%d: %.80q", i, got)
		}
	}
}

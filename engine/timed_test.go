package engine

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/shard"
)

// strides is a clock that moves on by a second each time it is read.
type strides struct{ at atomic.Int64 }

func (s *strides) Now() limit.Instant { return limit.Instant(s.at.Add(int64(time.Second))) }

// TestTook: a pipeline's commands are timed one by one, from one reading of the
// clock to the next, and those flagged fast only when that is asked for.
func TestTook(t *testing.T) {
	for _, c := range []struct {
		all  bool
		told string
	}{
		{false, "mget=1s mset=1s flushall=1s mget=1s"},
		{true, "set=1s get=1s mget=1s get=1s mset=1s flushall=1s mget=1s"},
	} {
		e := New(Config{Shards: 1, Clock: &strides{}, Seed: shard.Seed{1, 2}, Table: newTable(t)})
		var sent bytes.Buffer
		s := e.NewSession(nil, &sent)
		var told []string
		last := limit.Instant(0)
		s.TimeAll, s.Took = c.all, func(command *Command, args [][]byte, at limit.Instant, took time.Duration) {
			told = append(told, fmt.Sprintf("%s=%s", command.Lower(), took))
			if at <= last || !EqualFold(args[0], command.Name) {
				t.Errorf("%q was done at %d, the one before at %d", args, at, last)
			}
			last = at
		}
		for _, line := range []string{"SET a 1", "GET a", "MGET a b", "GET a", "MSET a 1 b 2", "FLUSHALL", "MGET a b"} {
			var args [][]byte
			for _, w := range redistest.Words(t, line) {
				args = append(args, []byte(w))
			}
			row, _ := e.Table().Resolve(args)
			if err := s.Queue(row, args); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(told, " "); got != c.told {
			t.Errorf("all %t: told %s, want %s", c.all, got, c.told)
		}
		var calls, timed, took uint64
		e.Each(func(_ int, _ *shard.Keyspace, st *Stats) {
			for i := range st.Calls {
				calls, timed, took = calls+st.Calls[i], timed+st.Timed[i], took+st.Took[i]
			}
		})
		if n := uint64(len(told)); calls != 7 || timed != n || took != n*uint64(time.Second) {
			t.Errorf("all %t: %d calls, %d of them timed, %d ns", c.all, calls, timed, took)
		}
		e.Close()
	}
}

// TestStatsSince leaves what came after.
func TestStatsSince(t *testing.T) {
	one, two := newStats(2), newStats(2)
	one.Calls[0], one.Hits, one.Errors["ERR"], one.Errors["OLD"] = 3, 4, 5, 6
	two.Add(one)
	two.Calls[0], two.Calls[1], two.Took[1], two.Hits, two.Errors["ERR"] = 10, 1, 9, 5, 6
	two.Since(one)
	if two.Calls[0] != 7 || two.Calls[1] != 1 || two.Took[1] != 9 || two.Hits != 1 || fmt.Sprint(two.Errors) != "map[ERR:1]" {
		t.Errorf("%+v", two)
	}
}

package engine

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/shard"
)

// step is a call some time after the one before, and its reply in brief.
type step struct {
	after      time.Duration
	line, want string
}

// timeline plays steps.
func (d *desk) timeline(t *testing.T, steps ...step) {
	t.Helper()
	now := time.Duration(0)
	for _, s := range steps {
		d.clock.Advance(s.after)
		now += s.after
		if got := d.brief(t, s.line); got != s.want {
			t.Errorf("at %v: %s\n got %s\nwant %s", now, s.line, got, s.want)
		}
	}
}

// timeline plays steps on a new store of one shard.
func timeline(t *testing.T, steps ...step) {
	t.Helper()
	newDesk(t, 1).timeline(t, steps...)
}

// brief runs a line and returns its reply on one line: the elements of an array
// with spaces between, an error as it is.
func (d *desk) brief(t *testing.T, line string) string {
	t.Helper()
	d.queue(redistest.Words(t, line)...)
	text, rest := brief(d.flush())
	if len(rest) != 0 {
		t.Fatalf("%s: more than one reply: %q", line, rest)
	}
	return text
}

func brief(b []byte) (string, []byte) {
	head, rest, _ := bytes.Cut(b, []byte("\r\n"))
	text := string(head[1:])
	n, _ := strconv.Atoi(text)
	switch head[0] {
	case '*', '%':
		if head[0] == '%' {
			n *= 2
		}
		words := make([]string, n)
		for i := range words {
			words[i], rest = brief(rest)
		}
		return strings.Join(words, " "), rest
	case '$':
		if n < 0 {
			return "nil", rest
		}
		return string(rest[:n]), rest[n+2:]
	}
	return text, rest
}

// dump is everything the store holds, one record a line. Equal stores give equal
// dumps, however they came about.
func (d *desk) dump() string {
	var all strings.Builder
	d.engine.Each(func(_ int, ks *shard.Keyspace, _ *Stats) {
		ks.Tick() // a shard without work has not looked at the clock
		all.WriteString(dump(ks))
	})
	return all.String()
}

func dump(ks *shard.Keyspace) string {
	var all strings.Builder
	ks.Dump(func(db int, key []byte, kind shard.Kind, when int64, value []byte) {
		fmt.Fprintf(&all, "%d %q kind %d until %d: %x\n", db, key, kind, when, value)
	})
	return all.String()
}

// on runs fn on the goroutine of the only shard.
func (d *desk) on(fn func(ks *shard.Keyspace)) {
	d.engine.On(0, func(_ int, ks *shard.Keyspace, _ *Stats) { fn(ks) })
}

// views are the limiter commands by what they see: the words after the key for a
// limit of 10 in 10 s, for every verb that decides.
var views = []struct {
	kind             shard.Kind
	hit, peek, after string
}{
	{shard.KindBucket, "TB.TAKE", "TB.PEEK", "10 1 1s"},
	{shard.KindBucket, "LB.TAKE", "LB.PEEK", "10 1 1s"},
	{shard.KindFixed, "FW.HIT", "FW.PEEK", "10 10s"},
	{shard.KindFixed, "FW.HIT", "FW.PEEK", "10 10s ANCHOR FIRST"},
	{shard.KindSliding, "SWC.HIT", "SWC.PEEK", "10 10s"},
	{shard.KindLog, "SWL.HIT", "SWL.PEEK", "10 10s"},
}

// Every family begins with its whole limit, denies what goes beyond, and never
// grants what is more than the limit.
func TestEveryFamilyKeepsItsLimit(t *testing.T) {
	for _, v := range views {
		t.Run(v.hit+" "+v.after, func(t *testing.T) {
			d := newDesk(t, 1)
			is := func(line, allowed, remaining, retry string) {
				t.Helper()
				words := strings.Fields(d.brief(t, line))
				if words[0] != allowed || words[1] != "10" || words[2] != remaining || retry != "" && words[3] != retry {
					t.Errorf("%s: %v; want allowed %s, limit 10, remaining %s, retry %s", line, words, allowed, remaining, retry)
				}
			}
			is(v.peek+" k "+v.after, "1", "10", "0")
			is(v.hit+" k "+v.after+" COST 11", "0", "10", "-1")
			for left := 9; left >= 0; left-- {
				is(v.hit+" k "+v.after, "1", strconv.Itoa(left), "0")
			}
			is(v.hit+" k "+v.after, "0", "0", "")
			is(v.peek+" k "+v.after, "0", "0", "")
			is(v.hit+" k "+v.after+" COST 11", "0", "0", "-1")
		})
	}
}

// What is denied or only looked at changes nothing and has no effects.
func TestDeniedAndPeekWriteNothing(t *testing.T) {
	lines := []string{"LB.QUEUE full 1 1s MAX 10", "LB.QUEUE absent 1 1s MAX 3 COST 4", "LB.QUEUE full 1 1s MAXWAIT 9s",
		"CL.THROTTLE full 9 1 1", "CL.THROTTLE full 9 1 1 0", "CL.THROTTLE absent 9 1 1 11", "CL.THROTTLE absent 9 1 1 -3",
		"THROTTLE full 10 1 1", "THROTTLE full 10 1 1 0", "TB.GIVE absent 10 1 1s", "FW.GIVE absent 10 1s", "SWC.GIVE absent 10 1s", "SWL.GIVE absent 10 1s"}
	for _, v := range views {
		key := fmt.Sprintf("full%d", v.kind)
		lines = append(lines, v.hit+" "+key+" "+v.after, v.hit+" "+key+" "+v.after+" COST 11", v.peek+" "+key+" "+v.after, v.peek+" absent "+v.after)
	}
	d := newDesk(t, 1)
	for _, v := range views {
		d.brief(t, fmt.Sprintf("%s full%d %s COST 10", v.hit, v.kind, v.after))
	}
	d.brief(t, "TB.TAKE full 10 1 1s COST 10")
	before := d.dump()
	var effects shard.Effects
	d.on(func(ks *shard.Keyspace) { ks.Record(&effects) })
	for _, line := range lines {
		d.brief(t, line)
		if effects.Len() != 0 {
			t.Fatalf("%s wrote effects: %q", line, effects.Bytes())
		}
	}
	if after := d.dump(); after != before {
		t.Errorf("changed from\n%sto\n%s", before, after)
	}
}

// A key belongs to one family: any other is refused and changes nothing. The
// bucket commands share theirs.
func TestFamiliesDoNotShareKeys(t *testing.T) {
	d := newDesk(t, 1)
	d.on(func(ks *shard.Keyspace) {
		db := ks.Database(0)
		e := db.Lookup([]byte("string"))
		db.Put(&e, shard.KindString, 0, []byte("hello"))
		e = db.Lookup([]byte("empty"))
		db.Put(&e, shard.KindString, 0, nil)
		e = db.Lookup([]byte("int"))
		db.PutInt(&e, 0, 7)
	})
	keys := map[string]shard.Kind{"string": shard.KindString, "empty": shard.KindString, "int": shard.KindInt}
	calls := map[string]shard.Kind{
		"LB.QUEUE %s 1 1s": shard.KindBucket, "CL.THROTTLE %s 9 1 1": shard.KindBucket, "THROTTLE %s 9 1 1": shard.KindBucket,
		"CL.THROTTLE %s 9 1 1 0": shard.KindBucket, "CL.THROTTLE %s 9 1 1 -1": shard.KindBucket,
		"TB.GIVE %s 10 1 1s": shard.KindBucket, "TB.DEBIT %s 10 1 1s": shard.KindBucket, "LB.GIVE %s 10 1 1s": shard.KindBucket,
		"FW.GIVE %s 10 1s": shard.KindFixed, "SWC.GIVE %s 10 1s": shard.KindSliding, "SWL.GIVE %s 10 1s": shard.KindLog,
	}
	for i, v := range views {
		key := fmt.Sprintf("view%d", i)
		d.brief(t, v.hit+" "+key+" "+v.after)
		keys[key] = v.kind
		calls[v.hit+" %s "+v.after] = v.kind
		calls[v.peek+" %s "+v.after] = v.kind
	}
	for call, kind := range calls {
		for key, holds := range keys {
			if kind == holds {
				continue
			}
			before, line := d.dump(), fmt.Sprintf(call, key)
			if got := d.brief(t, line); got != WrongType.Text() {
				t.Errorf("%s: %s", line, got)
			}
			if d.dump() != before {
				t.Errorf("%s changed something", line)
			}
		}
	}
}

// A limiter key always carries the expiry that reset_after_ms announces, after
// every verb that leaves one.
func TestKeysExpireWhenTheyReset(t *testing.T) {
	d := newDesk(t, 1)
	for i, v := range views {
		key := fmt.Sprintf("k%d", i)
		give := strings.NewReplacer("TAKE", "GIVE", "HIT", "GIVE").Replace(v.hit)
		for _, line := range []string{v.hit + " " + key + " " + v.after + " COST 5", give + " " + key + " " + v.after + " COST 2", v.hit + " " + key + " " + v.after} {
			d.clock.Advance(7 * time.Millisecond)
			reset := strings.Fields(d.brief(t, line))[4]
			if got := d.brief(t, "PTTL "+key); got != reset {
				t.Errorf("%s: resets after %s, expires after %s", line, reset, got)
			}
		}
	}
}

// The commands of a hot path allocate nothing, whether they grant, deny, create
// a key or find one that has expired.
func TestHotCommandsDoNotAllocate(t *testing.T) {
	lines := map[string]string{
		"TB.TAKE": "TB.TAKE user:42 10 1 5ms", "LB.TAKE": "LB.TAKE user:42 10 1 5ms", "FW.HIT": "FW.HIT user:42 10 20ms",
		"SWC.HIT": "SWC.HIT user:42 10 20ms", "SWL.HIT": "SWL.HIT user:42 10 20ms", "CL.THROTTLE": "CL.THROTTLE user:42 10 1 1",
		"THROTTLE": "THROTTLE user:42 10 1 1", "LB.QUEUE": "LB.QUEUE user:42 1 5ms MAX 10", "TB.PEEK": "TB.PEEK user:42 10 1 5ms",
		"TB.GIVE": "TB.GIVE user:42 10 1 5ms",
	}
	for name, line := range lines {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, 1)
			session := d.engine.NewSession(nil, io.Discard)
			var words [][]byte
			for _, w := range redistest.Words(t, line) {
				words = append(words, []byte(w))
			}
			row, refusal := d.engine.table.Resolve(words)
			if row == nil {
				t.Fatal(refusal)
			}
			calls := 0
			call := func() {
				calls++
				if calls%50 == 0 {
					d.clock.Advance(time.Second) // everything expires
				}
				d.clock.Advance(time.Millisecond)
				if session.Queue(row, words) != nil || session.Flush() != nil {
					t.Fatal("no reply")
				}
			}
			for range 1000 {
				call()
			}
			if got := testing.AllocsPerRun(1000, call); got != 0 {
				t.Errorf("%v allocations a call", got)
			}
		})
	}
}

// Decisions are counted by command; peeks and refunds decide nothing. A peek reads,
// and finds its key or not.
func TestDecisionsAreCounted(t *testing.T) {
	d := newDesk(t, 1)
	for _, line := range []string{"TB.PEEK k 1 1 1s", "TB.TAKE k 1 1 1s", "TB.TAKE k 1 1 1s", "TB.PEEK k 1 1 1s", "TB.GIVE k 1 1 1s", "CL.THROTTLE k 0 1 1", "CL.THROTTLE k 0 1 1 0"} {
		d.brief(t, line)
	}
	st := d.stats()
	for name, want := range map[string][2]uint64{"TB.TAKE": {1, 1}, "TB.PEEK": {}, "TB.GIVE": {}, "CL.THROTTLE": {1, 0}} {
		id := d.engine.table.Lookup([]byte(name)).ID()
		if got := [2]uint64{st.Allowed[id], st.Denied[id]}; got != want {
			t.Errorf("%s: allowed and denied %v, want %v", name, got, want)
		}
	}
	if st.Hits != 2 || st.Misses != 1 {
		t.Errorf("%d hits and %d misses, want 2 and 1", st.Hits, st.Misses)
	}
}

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/shard"
)

// limited is a desk of one shard with other limits.
func limited(t *testing.T, limits Limits) *desk {
	d, err := makeDesk(1, midnight)
	if err != nil {
		t.Fatal(err)
	}
	d.engine.Close()
	d.engine = New(Config{Shards: 1, Clock: d.clock, Table: d.engine.table, Limits: limits})
	d.session = d.engine.NewSession(nil, &d.sent)
	t.Cleanup(d.engine.Close)
	return d
}

// A command that would make a hash or set have too many elements is refused as a
// whole; what changes no number is not.
func TestElementLimit(t *testing.T) {
	d := limited(t, Limits{Elements: 3})
	full := "(error) " + TooManyElements.Text(3)
	for _, v := range []struct{ in, out string }{
		{"HSET h a 1 b 2", "(integer) 2"}, {"HSET h c 3 d 4", full}, {"HLEN h", "(integer) 2"}, {"HSET h c 3 a 5", "(integer) 1"},
		{"HSET h a 1 b 1 c 1 a 2", "(integer) 0"}, {"HSET h d 1", full}, {"HSETNX h d 1", full}, {"HSETNX h a 1", "(integer) 0"}, {"HMSET h d 1", full},
		{"HINCRBY h a 1", "(integer) 3"}, {"HINCRBY h d 1", full}, {"HINCRBYFLOAT h d 1", full}, {"HSET new a 1 a 2 a 3 a 4", "(integer) 1"},
		{"SADD s 1 2 3", "(integer) 3"}, {"SADD s 3 2 1 1", "(integer) 0"}, {"SADD s 3 4", full}, {"SADD t 4", "(integer) 1"}, {"SMOVE t s 4", full}, {"SCARD t", "(integer) 1"},
		{"SUNIONSTORE u s t", full}, {"EXISTS u", "(integer) 0"}, {"SUNION s t", "1) \"1\"\n2) \"2\"\n3) \"3\"\n4) \"4\""}, {"SMOVE t s 1", "(integer) 0"},
		{"SRANDMEMBER t -3", "1) \"4\"\n2) \"4\"\n3) \"4\""}, {"SRANDMEMBER t -4", "(error) " + TooManyPicks.Text(3)}, {"HRANDFIELD h -4", "(error) " + TooManyPicks.Text(3)},
		{"SRANDMEMBER t 4", `1) "4"`},
	} {
		if got := d.do(redistest.Words(t, v.in)...); got != v.out {
			t.Errorf("%s: %s, want %s", v.in, got, v.out)
		}
	}
}

// A collection may not take more memory than can be written as one effect.
func TestCollectionMemoryLimit(t *testing.T) {
	d := newDesk(t, 1)
	value, tooLarge := strings.Repeat("v", 60<<20), "(error) "+CollectionTooLarge.Text(maxCollection)
	stored := 0
	for i := range 10 {
		switch got := d.do("HSET", "h", fmt.Sprint(i), value); got {
		case "(integer) 1":
			stored++
		case tooLarge:
		default:
			t.Fatal(got)
		}
	}
	if stored != 8 || d.do("HLEN", "h") != "(integer) 8" {
		t.Errorf("%d values of 60 MiB were stored in %d bytes", stored, maxCollection)
	}
	d.on(func(ks *shard.Keyspace) {
		e := ks.Database(0).Lookup([]byte("h"))
		if n := len(ks.Database(0).Value(&e)); n > shard.MaxValue {
			t.Errorf("the whole value takes %d bytes", n)
		}
	})
}

// What is drawn is there; without a minus nothing is drawn twice and all of few
// are drawn; each is drawn about as often as the others.
func TestDraws(t *testing.T) {
	d := newDesk(t, 1)
	const members = 1000
	for i := range members {
		d.queue("SADD", "s", fmt.Sprint("m", i))
		d.queue("HSET", "h", fmt.Sprint("m", i), fmt.Sprint("v", i))
	}
	d.flush()
	for _, count := range []int{1, 10, 333, 334, 999, 1000, 5000} {
		times := map[string]int{}
		rounds := max(1, 200*members/count)
		for range rounds {
			got := elements(d.raw(t, redistest.Request("SRANDMEMBER", "s", fmt.Sprint(count))))
			slices.Sort(got)
			if len(got) != min(count, members) || len(slices.Compact(got)) != min(count, members) {
				t.Fatalf("%d asked for, %d drawn", count, len(got))
			}
			for _, m := range got {
				times[m]++
			}
		}
		each := rounds * min(count, members) / members
		for i := range members {
			// Six standard deviations of a count with mean 200 are 85.
			if n := times[fmt.Sprint("m", i)]; n < each-85 || n > each+85 {
				t.Fatalf("m%d was drawn %d times of %d, about %d were due", i, n, rounds, each)
			}
		}
		if len(times) != members {
			t.Fatalf("%d members were drawn, there are %d", len(times), members)
		}
	}
	pairs := elements(d.raw(t, redistest.Request("HRANDFIELD", "h", "-500", "WITHVALUES")))
	if len(pairs) != 1000 {
		t.Fatalf("%d words", len(pairs))
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i][1:] != pairs[i+1][1:] {
			t.Fatalf("%s has the value %s", pairs[i], pairs[i+1])
		}
	}
}

// SPOP empties a set member by member; each comes once.
func TestPopAll(t *testing.T) {
	d := newDesk(t, 1)
	for i := range 1000 {
		d.queue("SADD", "s", fmt.Sprint("m", i))
	}
	d.flush()
	seen := map[string]bool{}
	for _, count := range []string{"1", "300", "600", "98", "5"} {
		for _, m := range elements(d.raw(t, redistest.Request("SPOP", "s", count))) {
			seen[m] = true
		}
	}
	if len(seen) != 1000 || d.do("EXISTS", "s") != "(integer) 0" {
		t.Errorf("%d members came out", len(seen))
	}
}

// HSCAN and SSCAN of what is too large for one piece go through all of it, and
// not in one call.
func TestElementScan(t *testing.T) {
	d := newDesk(t, 1)
	const n = 1000
	want := []string{}
	for i := range n {
		d.queue("HSET", "h", fmt.Sprint("f", i), fmt.Sprint("v", i))
		d.queue("SADD", "s", fmt.Sprint("f", i))
		want = append(want, fmt.Sprint("f", i))
	}
	d.flush()
	slices.Sort(want)
	for _, name := range []string{"HSCAN", "SSCAN"} {
		calls, cursor, found := 0, "0", []string{}
		for calls == 0 || cursor != "0" {
			reply := strings.Split(string(d.raw(t, redistest.Request(name, strings.ToLower(name[:1]), cursor, "COUNT", "100"))), "\r\n")
			cursor = reply[2]
			for i := 5; i < len(reply); i += 2 {
				if reply[i][0] == 'f' {
					found = append(found, reply[i])
				}
			}
			calls++
		}
		slices.Sort(found)
		if calls != n/100 || !slices.Equal(found, want) {
			t.Errorf("%s: %d names in %d calls", name, len(found), calls)
		}
	}
}

// A pattern that would keep the shard busy is given up; one that is merely long
// is not, and one that matches early matches.
func TestMatchingIsBounded(t *testing.T) {
	d := newDesk(t, 1)
	long := strings.Repeat("a", 60_000)
	d.do("SADD", "s", long)
	hard := strings.Repeat("*a", 500) + strings.Repeat("a?", 1000) + "b"
	if got, want := d.do("SSCAN", "s", "0", "MATCH", hard), "(error) "+MatchingTooLong.Text(maxMatching); got != want {
		t.Errorf("%.200s, want %s", got, want)
	}
	if got := d.do("SSCAN", "s", "0", "MATCH", long); !strings.HasSuffix(got, long+`"`) {
		t.Errorf("%.200s", got)
	}
	if got := d.do("SSCAN", "s", "0", "MATCH", strings.Repeat("*a", 500)+"*"); !strings.HasSuffix(got, long+`"`) {
		t.Errorf("%.200s", got)
	}
}

// A whole collection moves between shards and databases as it is: order,
// numbers and expiry.
func TestCollectionsMoveWhole(t *testing.T) {
	d := newDesk(t, 8)
	for i := range 700 {
		d.queue("HSET", "h", fmt.Sprint("f", i), fmt.Sprint(i))
		d.queue("HDEL", "h", fmt.Sprint("f", i-i%3))
	}
	d.queue("EXPIRE", "h", "100")
	d.flush()
	want := d.do("HGETALL", "h")
	for _, step := range [][]string{
		{"RENAME", "h", "other"}, {"COPY", "other", "third"}, {"RENAME", "third", "h"}, {"COPY", "h", "far", "DB", "3"}, {"MOVE", "h", "4"},
	} {
		if got := d.do(step...); got != "OK" && got != "(integer) 1" {
			t.Fatalf("%q: %s", step, got)
		}
	}
	for db, key := range map[int]string{0: "other", 3: "far", 4: "h"} {
		d.session.SetDB(db)
		if got := d.do("HGETALL", key); got != want {
			t.Errorf("%s in database %d is another one", key, db)
		}
		if got := d.do("TTL", key); got != "(integer) 100" {
			t.Errorf("%s in database %d: TTL %s", key, db, got)
		}
	}
}

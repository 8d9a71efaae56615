package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/limitstore/limitstore/clock"
	"github.com/limitstore/limitstore/shard"
	"pgregory.net/rapid"
)

// newTightDesk is a desk with a bound on its memory. The caller closes its engine.
func newTightDesk(t fataler, shards, memory int) *desk {
	table, err := NewTable(Commands())
	if err != nil {
		t.Fatalf("%v", err)
	}
	d := &desk{clock: clock.NewManual(midnight)}
	d.engine = New(Config{Shards: shards, Clock: d.clock, Seed: shard.Seed{1, 2}, Table: table, Limits: Limits{Memory: memory}})
	d.session = d.engine.NewSession(nil, &d.sent)
	return d
}

// counted are the counts of all shards.
func (d *desk) counted() (sum shard.Stats) {
	d.engine.Each(func(_ int, ks *shard.Keyspace, _ *Stats) { sum.Add(ks.Stats()) })
	return sum
}

// allowedBy is the first number of a limiter's reply as redis-cli shows it.
func allowedBy(t fataler, reply string) bool {
	first, ok := strings.CutPrefix(reply, "1) (integer) ")
	if !ok {
		t.Fatalf("no decision: %s", reply)
	}
	return first[0] == '1'
}

// denier is a call that is denied once its limit is used up.
type denier struct {
	call  string
	uses  int  // how often it is allowed at first
	lower bool // its first number is 0 when it is allowed
}

// deniers are calls of every family, some of which are denied with something
// remaining, since they ask for more.
var deniers = []denier{
	{"TB.TAKE key:tb 3 1 10m", 3, false},
	{"TB.TAKE key:large 10 1 10m COST 4", 2, false},
	{"LB.TAKE key:lb 2 1 10m", 2, false},
	{"LB.QUEUE key:lq 1 10m MAX 2 MAXWAIT 1d", 2, false},
	{"FW.HIT key:fw 2 1h", 2, false},
	{"FW.HIT key:fw5 7 1h ANCHOR FIRST COST 5", 1, false},
	{"SWC.HIT key:swc 3 1h", 3, false},
	{"SWL.HIT key:swl 3 1h", 3, false},
	{"SWL.HIT key:swl2 5 1h COST 2", 2, false},
	{"THROTTLE key:crab 2 1 600", 2, false},
	{"CL.THROTTLE key:cell 1 1 600", 2, true},
}

// An attacker's flood of new keys, with limits of all lengths, does not drop the
// keys that deny: each is still denied afterwards, and before the flood ends memory has
// been turned over several times.
func TestDeniersOutliveAFlood(t *testing.T) {
	d := newTightDesk(t, 1, 3<<20)
	defer d.engine.Close()
	for _, x := range deniers {
		for n := range x.uses {
			if allowedBy(t, d.do(strings.Fields(x.call)...)) == x.lower {
				t.Fatalf("%s: denied at %d", x.call, n)
			}
		}
		if x.uses%2 == 0 { // some are denied before the flood, some are only used up
			d.do(strings.Fields(x.call)...)
		}
	}
	d.do("TB.TAKE", "key:free", "10", "1", "1s") // loses a second's worth, and denies nobody
	rng := rand.New(rand.NewPCG(3, 4))
	const flood = 100_000
	for i := 0; i < flood; {
		for range 100 {
			d.queue("TB.TAKE", fmt.Sprintf("attacker:%0*d", 1+rng.IntN(60), i), "100", "1", strconv.Itoa(1+rng.IntN(1000)))
			i++
		}
		if replies := string(d.flush()); strings.Contains(replies, "-") {
			t.Fatalf("refused: %.200q", replies[strings.Index(replies, "-"):])
		}
		d.clock.Advance(time.Millisecond)
	}
	if n := d.counted(); n.Evicted < flood/2 || n.EvictedDebt < n.Evicted {
		t.Fatalf("%d were given up, that owed %d", n.Evicted, n.EvictedDebt)
	}
	if d.do("EXISTS", "key:free") != "(integer) 0" {
		t.Error("what loses least is still there")
	}
	for _, x := range deniers {
		if allowedBy(t, d.do(strings.Fields(x.call)...)) != x.lower {
			t.Errorf("%s: allowed after the flood", x.call)
		}
	}
}

// When all keys deny, a new key is refused, and nothing is dropped; they go on
// being answered.
func TestAFloodOfDeniersIsRefused(t *testing.T) {
	d := newTightDesk(t, 1, 2<<20)
	defer d.engine.Close()
	i, refused := 0, false
	for ; !refused; i++ {
		d.queue("TB.TAKE", fmt.Sprintf("key:%06d", i), "1", "1", "1h")
		refused = strings.HasPrefix(string(d.flush()), "-OOM")
	}
	if n := d.counted(); i < 10_000 || n.Evicted != 0 {
		t.Fatalf("refused at %d, %d given up", i, n.Evicted)
	}
	for n := range i - 1 {
		if allowedBy(t, d.do("TB.TAKE", fmt.Sprintf("key:%06d", n), "1", "1", "1h")) {
			t.Fatalf("key %d is allowed again", n)
		}
	}
	d.clock.Advance(time.Hour)
	if !allowedBy(t, d.do("TB.TAKE", "new", "1", "1", "1h")) {
		t.Error("denied when all others have expired")
	}
}

// Memory stays within maxmemory and what one command adds, whatever is asked; the
// effects of it all, evictions included, replay to an equal store, and undo to
// an empty one.
func TestMemoryIsHeldWhateverIsAsked(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { holdMemory(t, 1+int(seed%2), rand.New(rand.NewPCG(seed, 0))) })
	}
}

func holdMemory(t *testing.T, shards int, rng *rand.Rand) {
	d := newTightDesk(t, shards, shards*LeastShardMemory)
	defer d.engine.Close()
	r := newRecording(shards)
	d.record(r, true)
	heavy := rng.IntN(50) // of a hundred commands, those on ordinary keys
	for i := 0; i < 60_000; {
		for range 200 {
			d.queue(askAnything(rng, i, heavy)...)
			i++
		}
		d.flush()
		d.clock.Advance(time.Duration(rng.IntN(20)) * time.Millisecond)
		over := int64(0)
		d.engine.Each(func(_ int, ks *shard.Keyspace, _ *Stats) { over = max(over, ks.Memory()-LeastShardMemory) })
		if over > 2*64<<10 { // one to run under, one that the last command may have begun
			t.Fatalf("after %d commands a shard's memory is %d over its part", i, over)
		}
	}
	if d.counted().Evicted == 0 {
		t.Fatal("memory was never full")
	}
	d.engine.Each(func(i int, ks *shard.Keyspace, _ *Stats) {
		ks.Tick()
		if dump(replay(t, d.clock, r.effects[i].Bytes())) != dump(ks) {
			t.Errorf("shard %d: replayed effects give another store", i)
		}
		ks.Record(nil)
		ks.Arm(nil)
		if ks.Undo(&r.undo[i]); dump(ks) != "" {
			t.Errorf("shard %d: undone it is not empty", i)
		}
	})
}

// askAnything is the i-th command of a mix that makes memory grow. Its records are
// of a dozen sizes, whose chunks are less than half of the least part of a shard.
func askAnything(rng *rand.Rand, i, heavy int) []string {
	key := fmt.Sprintf("%0*d", 1+rng.IntN(40), rng.IntN(i/2+100))
	if rng.IntN(100) < heavy {
		return [][]string{
			{"SET", "s" + key, strings.Repeat("x", rng.IntN(60))}, {"INCR", "i" + key}, {"APPEND", "s" + key, "more"}, {"DEL", "s" + key, "i" + key},
			{"SET", "e" + key, "1", "PX", strconv.Itoa(1 + rng.IntN(2000))}, {"MSET", "s" + key, "1", "t" + key, "2"},
		}[rng.IntN(6)]
	}
	return [][]string{
		{"TB.TAKE", "b" + key, strconv.Itoa(1 + rng.IntN(5)), "1", strconv.Itoa(1 + rng.IntN(100))}, {"TB.DEBIT", "b" + key, "5", "1", "10"},
		{"FW.HIT", "f" + key, "3", "1m"}, {"SWC.HIT", "c" + key, "3", "1m"}, {"SWL.HIT", "l" + key, "3", "1m"}, {"LB.QUEUE", "b" + key, "1", "1s"},
		{"TB.GIVE", "b" + key, "5", "1", "10"}, {"CL.THROTTLE", "b" + key, "3", "1", "60"},
	}[rng.IntN(8)]
}

// A database near the end of its chunk numbers refuses what may make it grow
// before it runs, changes nothing, and goes on with the rest.
func TestChunksRunOut(t *testing.T) {
	d := newDesk(t, 1)
	d.on(func(ks *shard.Keyspace) { ks.LimitChunks(100) })
	large, n := strings.Repeat("x", 17_000), 0
	for d.do("SET", fmt.Sprint("k", n), large) == "OK" {
		n++
	}
	if want := "(error) " + OutOfChunks.Text(); n < 60 || n > 80 || d.do("SET", "more", large) != want {
		t.Fatalf("%d values of 17 KB in 100 chunks, then %s", n, d.do("SET", "more", large))
	}
	d.do("DEL", "k0", "k1", "k2", "k3", "k4", "k5")
	pairs := []string{"MSET"}
	for i := range 6 {
		pairs = append(pairs, fmt.Sprint("m", i), large)
	}
	for _, x := range []struct{ call, want string }{
		{strings.Join(pairs, " "), "(error) " + OutOfChunks.Text()}, {"EXISTS m0", "(integer) 0"},
		{"SET a 1", "OK"}, {"RENAME k6 k5", "OK"}, {"STRLEN k5", "(integer) 17000"}, {"TB.PEEK new 1 1 1s", "1) (integer) 1\n2) (integer) 1\n3) (integer) 1\n4) (integer) 0\n5) (integer) 0"},
		{"SELECT-nothing", "(error) ERR unknown command 'SELECT-nothing', with args beginning with: "},
	} {
		if got := d.do(strings.Split(x.call, " ")...); got != x.want {
			t.Errorf("%.40s: %s, want %s", x.call, got, x.want)
		}
	}
}

// Over-admission by what was given up is at most the debt it owed: of two stores
// asked the same, where one is never short of memory, the other admits at no moment
// more than that beyond the first. Requests ask for one.
func TestOverAdmissionIsAtMostTheDebt(t *testing.T) {
	calls := []string{"TB.TAKE key 5 1 7s", "LB.TAKE key 3 2 1s", "LB.QUEUE key 1 2s MAX 4 MAXWAIT 1h", "FW.HIT key 4 10s", "FW.HIT key 4 10s ANCHOR FIRST", "SWL.HIT key 5 10s", "SWC.HIT key 6 10s"}
	rapid.Check(t, func(t *rapid.T) {
		call := strings.Fields(rapid.SampledFrom(calls).Draw(t, "call"))
		roomy, tight := newShards(t, 1), newShards(t, 1)
		defer roomy.engine.Close()
		defer tight.engine.Close()
		more, debt := 0, int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			ms := rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 3000), rapid.IntRange(0, 20_000)).Draw(t, "ms")
			roomy.clock.Advance(time.Duration(ms) * time.Millisecond)
			tight.clock.Advance(time.Duration(ms) * time.Millisecond)
			if rapid.IntRange(0, 9).Draw(t, "give up") == 0 {
				debt += tight.drop(call[1])
			}
			if allowedBy(t, tight.do(call...)) {
				more++
			}
			if allowedBy(t, roomy.do(call...)) {
				more--
			}
			if int64(more) > debt {
				t.Fatalf("%d more were admitted, what was given up owed %d", more, debt)
			}
		}
	})
}

// drop drops a limiter as eviction does and returns what it owed.
func (d *desk) drop(key string) (debt int64) {
	d.on(func(ks *shard.Keyspace) {
		ks.Tick()
		db := ks.Database(0)
		e := db.Lookup([]byte(key))
		debt = db.Debt(&e)
		db.Delete(&e)
	})
	return debt
}

// Debt is what PEEK calls used.
func TestDebtIsWhatIsUsed(t *testing.T) {
	d := newDesk(t, 1)
	for _, x := range []struct {
		call, peek string
		used       int64
	}{
		{"TB.TAKE key 10 3 10s COST 7", "TB.PEEK key 10 3 10s FULL", 7}, {"FW.HIT key 10 1h COST 6", "FW.PEEK key 10 1h FULL", 6},
		{"SWC.HIT key 10 1h COST 6", "SWC.PEEK key 10 1h FULL", 6}, {"SWL.HIT key 10 1h COST 6", "SWL.PEEK key 10 1h FULL", 6},
	} {
		d.do(strings.Fields(x.call)...)
		d.clock.Advance(time.Second)
		shown := strings.Split(d.do(strings.Fields(x.peek)...), "\n")
		at := slices.IndexFunc(shown, func(s string) bool { return strings.Contains(s, `"used"`) })
		want, _ := strconv.ParseInt(shown[at+1][strings.LastIndexByte(shown[at+1], ' ')+1:], 10, 64)
		if got := d.drop("key"); got != want || got < 1 || got > x.used {
			t.Errorf("%s: owes %d, PEEK says %d", x.call, got, want)
		}
	}
}

package server

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/redistest"
	"github.com/limitstore/limitstore/shard"
)

// tight is a rig whose memory is bounded and full: of limiter states, some of
// which were given up, and then of a string.
func tight(t *testing.T) (*rig, *caller) {
	r := newRig(t, func(s *setup) { s.shards, s.limits.Memory = 2, 2*engine.LeastShardMemory })
	c := r.call()
	for i := 0; i < 60_000; i += 500 {
		var batch strings.Builder
		for n := range 500 {
			batch.WriteString(request("TB.TAKE", fmt.Sprintf("user:%06d", i+n), "10", "1", "1s", "COST", "3"))
		}
		c.send(batch.String())
		if got := c.replies(500); strings.Contains(got, "-") {
			t.Fatalf("refused: %.100q", got[strings.Index(got, "-"):])
		}
	}
	return r, c
}

// memoryOf is what the shards count.
func (r *rig) memoryOf() (sum int64) {
	r.engine.Each(func(_ int, ks *shard.Keyspace, _ *engine.Stats) { sum += ks.Memory() })
	return sum
}

// number is a field of INFO.
func number(t *testing.T, all map[string]string, name string) int64 {
	n, err := strconv.ParseInt(all[name], 10, 64)
	if err != nil {
		t.Fatalf("%s:%s", name, all[name])
	}
	return n
}

// INFO and the metrics tell what is taken, what may be, and what was given up.
func TestFullMemoryIsTold(t *testing.T) {
	r, c := tight(t)
	r.visits(1)
	all := fields(t, c.do("INFO everything"))
	used, most := number(t, all, "used_memory"), int64(2*engine.LeastShardMemory)
	if used != r.memoryOf() || used > most+4*64<<10 || used < most/2 {
		t.Errorf("used_memory:%d, the shards count %d, maxmemory is %d", used, r.memoryOf(), most)
	}
	if got := number(t, all, "used_memory_dataset") + number(t, all, "used_memory_overhead"); got != used {
		t.Errorf("dataset and overhead come to %d of %d", got, used)
	}
	if peak := number(t, all, "used_memory_peak"); peak < used {
		t.Errorf("used_memory_peak:%d", peak)
	}
	keys, evicted := int64(0), number(t, all, "evicted_keys")
	if _, err := fmt.Sscanf(all["db0"], "keys=%d,", &keys); err != nil || keys+evicted != 60_000 {
		t.Errorf("evicted_keys:%d, db0:%s", evicted, all["db0"])
	}
	if debt := number(t, all, "limiter_evicted_debt"); debt != 3*evicted {
		t.Errorf("%d states that owed 3 each owed %d", evicted, debt)
	}
	if all["maxmemory"] != strconv.FormatInt(most, 10) || all["maxmemory_human"] != "4.00M" {
		t.Errorf("maxmemory:%s, %s", all["maxmemory"], all["maxmemory_human"])
	}
	if got := c.do("CONFIG GET maxmemory"); got != request("maxmemory", all["maxmemory"]) {
		t.Errorf("CONFIG GET: %q", got)
	}
	figures := scraped(t, r)
	for name, want := range map[string]int64{"keyspace_bytes": used, "maxmemory_bytes": most, "evicted_keys_total": evicted, "evicted_debt_total": 3 * evicted} {
		if got := figures["limitstore_"+name]; got != float64(want) {
			t.Errorf("%s is %v, want %d", name, got, want)
		}
	}
}

// MEMORY DOCTOR finds what there is to find.
func TestDoctor(t *testing.T) {
	_, c := tight(t)
	for _, key := range []string{"{a}", "{b}", "{c}", "{d}"} { // both shards have some of them
		c.do("SETRANGE " + key + " 3000000 x")
	}
	c.do("SET {a}:more 1")
	report := parsed(t, c.do("MEMORY DOCTOR")).(string)
	evicted := number(t, fields(t, c.do("INFO stats")), "evicted_keys")
	for _, want := range []string{"of the 4.00M that maxmemory allows", fmt.Sprintf("%d limiter states that owed %d were given up", evicted, 3*evicted), "commands were refused because memory was full"} {
		if !strings.Contains(report, want) {
			t.Errorf("%q is not in %q", want, report)
		}
	}
	quiet := newRig(t, func(s *setup) { s.limits.Memory = 1 << 30 }).call()
	if got := parsed(t, quiet.do("MEMORY DOCTOR")); got != "Memory is as it should be.\n" {
		t.Errorf("%q", got)
	}
}

// MEMORY PURGE gives chunks back that sparse records hold.
func TestPurge(t *testing.T) {
	r := newRig(t)
	c := r.call()
	for i := range 20_000 {
		c.send(request("TB.TAKE", fmt.Sprintf("user:%06d", i), "10", "1", "1s"))
	}
	c.replies(20_000)
	del := []string{"DEL"}
	for i := range 20_000 {
		if i%50 != 0 {
			del = append(del, fmt.Sprintf("user:%06d", i))
		}
	}
	c.send(request(del...))
	c.reply()
	before := r.memoryOf()
	if got := c.do("MEMORY PURGE"); got != "+OK\r\n" || r.memoryOf() > before/3 {
		t.Errorf("%q: %d bytes, %d before", got, r.memoryOf(), before)
	}
	if got := c.do("DBSIZE"); got != ":400\r\n" {
		t.Errorf("%s keys are left", got)
	}
}

// MEMORY STATS has no name that Redis does not have, and its figures are INFO's.
func TestMemoryStats(t *testing.T) {
	theirs, ours := callAt(t, redistest.Start(t)), newRig(t).call()
	known := map[string]bool{}
	for _, c := range []*caller{theirs, ours} {
		c.do("SELECT 2")
		c.do("SET a 1")
	}
	for name := range pairsOf(parsed(t, theirs.do("MEMORY STATS"))) {
		known[name] = true
	}
	got := pairsOf(parsed(t, ours.do("MEMORY STATS")))
	for name := range got {
		if !known[name] {
			t.Errorf("Redis has no %q", name)
		}
	}
	all := fields(t, ours.do("INFO memory"))
	for name, field := range map[string]string{"total.allocated": "used_memory", "dataset.bytes": "used_memory_dataset", "overhead.total": "used_memory_overhead"} {
		if n := number(t, all, field); got[name] != n {
			t.Errorf("%s is %v, %s is %d", name, got[name], field, n)
		}
	}
	if got["keys.count"] != int64(1) || len(got) != 13 {
		t.Errorf("%v", got)
	}
}

// pairsOf is a reply that is a map.
func pairsOf(v any) map[string]any {
	all := map[string]any{}
	for pair := range slices.Chunk(v.([]any), 2) {
		all[pair[0].(string)] = pair[1]
	}
	return all
}

// Redis refuses in the same words.
func TestOutOfMemoryIsRedis(t *testing.T) {
	theirs := callAt(t, redistest.Start(t, "--maxmemory", "1", "--maxmemory-policy", "noeviction"))
	ours := newRig(t, func(s *setup) { s.shards, s.limits.Memory = 1, engine.LeastShardMemory }).call()
	ours.do("SETRANGE full 3000000 x")
	for _, line := range []string{"SET a 1", "INCR n", "APPEND a 1", "MSET a 1 b 2", "SETRANGE a 1 x", "GETSET a 1", "GET a", "DEL a", "EXPIRE a 10", "GETEX a", "GETDEL a", "RENAME a b", "TOUCH a", "FLUSHALL"} {
		if got, want := ours.do(line), theirs.do(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

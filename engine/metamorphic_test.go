package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/shard"
	"pgregory.net/rapid"
)

// A variant is a way to run a program that must not make a difference.
type variant struct {
	shards  int
	single  bool // one call at a time, not in pipelines
	garbage bool // expired records are collected
}

// outcome is what a program answered, and what it left.
func (v variant) outcome(t fataler, program []pipeline, proto int) (replies []string, left []string) {
	d := newShards(t, v.shards)
	defer d.engine.Close()
	d.session.SetProto(proto)
	d.engine.Each(func(_ int, ks *shard.Keyspace, _ *Stats) { ks.SetGarbage(v.garbage) })
	replies = d.play(program, v.single)
	left = strings.SplitAfter(d.dump(), "\n")
	slices.Sort(left)
	return replies, left
}

// sameOutcome checks that variants agree on random programs.
func sameOutcome(t *testing.T, variants ...variant) {
	rows := programmable(t)
	rapid.Check(t, func(t *rapid.T) {
		p := program(t, rows)
		proto := rapid.SampledFrom([]int{2, 3}).Draw(t, "proto")
		want, wantLeft := variants[0].outcome(t, p, proto)
		for _, v := range variants[1:] {
			got, left := v.outcome(t, p, proto)
			compare(t, p, want, got, fmt.Sprintf("%+v", variants[0]), fmt.Sprintf("%+v", v))
			if !slices.Equal(left, wantLeft) {
				t.Fatalf("%+v left\n%s%+v left\n%s", variants[0], wantLeft, v, left)
			}
		}
	})
}

// compare finds the first call that was answered differently.
func compare(t fataler, program []pipeline, want, got []string, wanted, gotten string) {
	at := 0
	for _, p := range program {
		for _, call := range p.calls {
			if at >= len(want) || at >= len(got) {
				t.Fatalf("%d and %d replies", len(want), len(got))
			}
			if want[at] != got[at] {
				t.Fatalf("call %d, %q\n%s: %q\n%s: %q", at, call, wanted, want[at], gotten, got[at])
			}
			at++
		}
	}
	if len(want) != at || len(got) != at {
		t.Fatalf("%d calls, %d and %d replies", at, len(want), len(got))
	}
}

// How many shards share the keys changes no answer.
func TestShardsChangeNoAnswer(t *testing.T) {
	sameOutcome(t, variant{shards: 1, garbage: true}, variant{shards: 8, garbage: true}, variant{shards: 3, garbage: true})
}

// A pipeline answers as its calls would one by one.
func TestPipelinesChangeNoAnswer(t *testing.T) {
	sameOutcome(t, variant{shards: 4, garbage: true, single: true}, variant{shards: 4, garbage: true})
}

// The wheel frees memory; it never changes an answer.
func TestGarbageChangesNoAnswer(t *testing.T) {
	sameOutcome(t, variant{shards: 2}, variant{shards: 2, garbage: true})
}

// The programs are worth something: in them every command succeeds, and every
// limiter both allows and denies.
func TestProgramsReachEveryCommand(t *testing.T) {
	rows := anyOnKeys(t)
	sum := newStats(2 * len(rows)) // more than there are IDs
	programs := rapid.Custom(func(t *rapid.T) []pipeline { return program(t, rows) })
	for seed := range 1000 { // always the same ones
		d := newShards(t, 1)
		d.play(programs.Example(seed), false)
		sum.Add(d.stats())
		d.engine.Close()
	}
	for _, row := range rows {
		id, name := row.ID(), row.FullName()
		never := strings.HasPrefix(name, "EVALSHA") || strings.HasPrefix(name, "FCALL") || name == "FUNCTION DELETE" || name == "OBJECT FREQ" || name == "OBJECT IDLETIME" // errors by design, unless there is no key; and scripts and libraries are seldom loaded before
		if sum.Calls[id] == 0 || sum.Calls[id] == sum.Failed[id] && !never {
			t.Errorf("%s: %d calls, %d of them failed", name, sum.Calls[id], sum.Failed[id])
		}
	}
	for _, row := range natives() {
		id := newTable(t).Lookup([]byte(row.Name)).ID()
		if row.Flags&DenyOOM != 0 && !strings.HasSuffix(row.Name, "DEBIT") && (sum.Allowed[id] == 0 || sum.Denied[id] == 0) {
			t.Errorf("%s: %d allowed, %d denied", row.Name, sum.Allowed[id], sum.Denied[id])
		}
	}
}

package engine

import (
	"bytes"
	"testing"

	"github.com/limitstore/limitstore/clock"
	"github.com/limitstore/limitstore/shard"
	"pgregory.net/rapid"
)

// replay applies effects to an empty keyspace which lives at another time, then
// brings it to the given one.
func replay(t fataler, at *clock.Manual, effects []byte) *shard.Keyspace {
	elsewhere := clock.NewManual(midnight - 1)
	ks := shard.NewKeyspace(shard.Config{Clock: elsewhere, Seed: shard.Seed{7, 8}})
	if err := ks.Apply(effects); err != nil {
		t.Fatalf("%v", err)
	}
	elsewhere.Set(at.Now())
	ks.Tick()
	return ks
}

// recording is what each shard of a desk wrote down.
type recording struct {
	effects []shard.Effects
	undo    []shard.Undo
}

// record makes every shard write its effects down, and its inverses if asked.
func (d *desk) record(r *recording, undo bool) {
	d.engine.Each(func(i int, ks *shard.Keyspace, _ *Stats) {
		ks.Record(&r.effects[i])
		if undo {
			ks.Arm(&r.undo[i])
		}
	})
}

func newRecording(shards int) *recording {
	return &recording{effects: make([]shard.Effects, shards), undo: make([]shard.Undo, shards)}
}

// Replaying the effects of any run into an empty keyspace gives equal state,
// whatever the time is where they are replayed; undoing them gives the state before.
func TestEffectsReplayAndUndo(t *testing.T) {
	rows := anyOnKeys(t)
	rapid.Check(t, func(t *rapid.T) {
		shards := rapid.IntRange(1, 3).Draw(t, "shards")
		d := newShards(t, shards)
		defer d.engine.Close()
		r := newRecording(shards)

		d.record(r, false)
		d.play(program(t, rows), false)
		before := make([]int, shards)
		for i := range before {
			before[i] = r.effects[i].Len()
		}
		d.record(r, true)
		d.play(program(t, rows), false)

		d.engine.Each(func(i int, ks *shard.Keyspace, _ *Stats) {
			ks.Tick()
			all := r.effects[i].Bytes()
			if got, want := dump(replay(t, d.clock, all)), dump(ks); got != want {
				t.Errorf("replayed\n%swant\n%s", got, want)
			}
			ks.Record(nil)
			ks.Arm(nil)
			ks.Undo(&r.undo[i])
			if got, want := dump(ks), dump(replay(t, d.clock, all[:before[i]])); got != want {
				t.Errorf("undone\n%swant\n%s", got, want)
			}
		})
	})
}

// Effects are the same whether or not inverses are written, and recording them
// changes no answer.
func TestRecordingChangesNoAnswer(t *testing.T) {
	rows := programmable(t)
	rapid.Check(t, func(t *rapid.T) {
		p := program(t, rows)
		plain, recorded, armed := newShards(t, 2), newShards(t, 2), newShards(t, 2)
		defer plain.engine.Close()
		defer recorded.engine.Close()
		defer armed.engine.Close()
		one, other := newRecording(2), newRecording(2)
		recorded.record(one, false)
		armed.record(other, true)
		want := plain.play(p, false)
		compare(t, p, want, recorded.play(p, false), "plain", "recorded")
		compare(t, p, want, armed.play(p, false), "plain", "armed")
		recorded.engine.Each(func(i int, _ *shard.Keyspace, _ *Stats) {
			if string(one.effects[i].Bytes()) != string(other.effects[i].Bytes()) {
				t.Errorf("shard %d: effects differ when inverses are written too", i)
			}
		})
	})
}

// copyFrom fills an empty store of one shard with what another holds.
func (d *desk) copyFrom(t fataler, from *desk) {
	type record struct {
		key, value []byte
		kind       shard.Kind
		when       int64
	}
	var all []record
	from.on(func(ks *shard.Keyspace) {
		ks.Tick()
		ks.Dump(func(_ int, key []byte, kind shard.Kind, when int64, value []byte) {
			all = append(all, record{bytes.Clone(key), bytes.Clone(value), kind, when})
		})
	})
	d.on(func(ks *shard.Keyspace) {
		db := ks.Database(0)
		for _, r := range all {
			e := db.Lookup(r.key)
			db.Put(&e, r.kind, r.when, r.value)
		}
	})
}

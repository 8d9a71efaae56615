package load

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/limitstore/limitstore/resp"
	"pgregory.net/rapid"
)

// commands are those in text, each as a line of words.
func commands(t interface{ Fatal(...any) }, text []byte) (lines []string) {
	r := resp.NewReader(bytes.NewReader(text), resp.DefaultLimits())
	if err := r.Fill(); err != nil {
		t.Fatal(err)
	}
	for {
		args, err := r.Next()
		if err != nil || r.Buffered() > 0 && args == nil {
			t.Fatal("not commands: ", err)
		}
		if args == nil {
			return lines
		}
		lines = append(lines, string(bytes.Join(args, []byte(" "))))
	}
}

// TestRequestsHaveTheirTurnAndTheirKeys sends what a connection would send, at any
// depth, and compares with the templates filled in by hand.
func TestRequestsHaveTheirTurnAndTheirKeys(t *testing.T) {
	templates := []string{"TB.TAKE key:{n} 10 1 6s", "MSET a:{n} 1 b:{n} 2", "PING pong"}
	w := Workload{Requests: templates, Reply: "*+$"}
	rapid.Check(t, func(t *rapid.T) {
		depth := rapid.IntRange(1, 9).Draw(t, "depth")
		c := &connection{pipelines: pipelines(w.requests(), depth)}
		keys := &count{at: rapid.Uint64Range(0, 9_999_999_999_999_000).Draw(t, "first"), step: 7}
		i, number := 0, keys.at
		for range 2*len(templates) + 1 {
			p := c.next()
			for at, got := range commands(t, p.fill(depth, keys)) {
				want := strings.ReplaceAll(templates[i%3], "{n}", fmt.Sprintf("%016d", number))
				name, _, _ := strings.Cut(want, " ")
				if got != want || p.names[at] != name || p.replies[at] != w.Reply[i%3] {
					t.Fatalf("%d: %s, %s, %c; want %s", i, got, p.names[at], p.replies[at], want)
				}
				i, number = i+1, number+7
			}
		}
		if want := depth * (2*len(templates) + 1); i != want {
			t.Fatalf("%d requests, want %d", i, want)
		}
	})
}

func TestPartOfAPipeline(t *testing.T) {
	p := newPipeline(Workload{Requests: []string{"INCR cnt:{n}"}, Reply: ":"}.requests(), 5, 0)
	want := []string{"INCR cnt:0000000000000004", "INCR cnt:0000000000000005"}
	if got := commands(t, p.fill(2, &count{at: 4, step: 1})); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWorkloadsAreWellFormed holds every row against what the code takes for
// granted.
func TestWorkloadsAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range Workloads {
		if seen[w.Name] || w.Name == "" || w.Shows == "" || len(w.Requests) == 0 {
			t.Errorf("%q is there twice, or lacks something", w.Name)
		}
		seen[w.Name] = true
		if len(w.Reply) != 1 && len(w.Reply) != len(w.Requests) {
			t.Errorf("%s: %d kinds of replies to %d requests", w.Name, len(w.Reply), len(w.Requests))
		}
		if (w.Script != "") != w.NeedsLua {
			t.Errorf("%s: a script needs Lua", w.Name)
		}
		for _, r := range w.requests() {
			for _, line := range commands(t, r.text) {
				for word := range strings.FieldsSeq(line) {
					if strings.Contains(word, strings.Repeat("0", digits)) && len(word) != 20 {
						t.Errorf("%s: the key %s has %d bytes, want 20", w.Name, word, len(word))
					}
				}
			}
		}
	}
}

func TestEveryKeyIsChosen(t *testing.T) {
	p := DefaultPlan()
	p.Keys = 10
	chosen := map[uint64]int{}
	keys := p.newPicker(3, nil)
	for range 10_000 {
		chosen[keys.next()]++
	}
	for key := range uint64(10) {
		if n := chosen[key]; n < 800 || n > 1200 { // six standard deviations of 30
			t.Errorf("key %d was chosen %d times of 10000, want about 1000", key, n)
		}
	}
	if len(chosen) != 10 {
		t.Errorf("%d keys, want 10", len(chosen))
	}
}

// TestBusyKeys compares how often keys come with the distribution: the k-th, counted
// from 1, as 1/k^1.1.
func TestBusyKeys(t *testing.T) {
	p := DefaultPlan()
	p.Workload.Pick, p.Keys = Zipf, 1000
	keys := p.newPicker(0, p.drawZipf())
	chosen := map[uint64]float64{}
	for range zipfDraws {
		chosen[keys.next()]++
	}
	for key, share := range map[uint64]float64{1: 2.1435, 3: 4.5948, 9: 12.5893} { // (key+1)^1.1
		if ratio := chosen[0] / chosen[key]; ratio < 0.9*share || ratio > 1.1*share {
			t.Errorf("the first key comes %.2f times as often as key %d, want %.2f", ratio, key, share)
		}
	}
	for key := range chosen {
		if key >= 1000 {
			t.Errorf("key %d of 1000", key)
		}
	}
}

func TestFreshKeysAreNobodyElses(t *testing.T) {
	p := DefaultPlan()
	p.Workload.Pick, p.Conns, p.FirstKey = Fresh, 3, 1000
	seen := map[uint64]bool{}
	for conn := range p.Conns {
		keys := p.newPicker(conn, nil)
		for range 100 {
			seen[keys.next()] = true
		}
	}
	for key := uint64(1000); key < 1300; key++ {
		if !seen[key] {
			t.Errorf("key %d is nobody's", key)
		}
	}
	if len(seen) != 300 {
		t.Errorf("%d keys, want 300", len(seen))
	}
}

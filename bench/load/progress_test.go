package load

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgressIsForTerminals(t *testing.T) {
	var out bytes.Buffer
	l := NewProgressLine(&out)
	l.Show("half")
	l.Clear()
	if out.Len() != 0 {
		t.Errorf("what is no terminal was shown %q", out.String())
	}
	l = &ProgressLine{&out}
	l.Show("half")
	l.Clear()
	if got := out.String(); got != "\r\x1b[Khalf\r\x1b[K" {
		t.Errorf("a terminal is shown %q", got)
	}
}

// TestProgressIsTold counts a run of a second that answers every millisecond.
func TestProgressIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.took = ms
		p := f.plan()
		p.Duration += ms
		var told []Progress
		p.Progress = func(at Progress) { told = append(told, at) }
		if _, err := f.play(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if len(told) != 4 {
			t.Fatalf("told %d times, want every quarter of a second: %v", len(told), told)
		}
		for i, at := range told {
			if want := time.Duration(i+1) * tellEvery; at.Elapsed != want || at.Total != time.Second+ms || at.Answered < uint64(want/ms)-1 || at.Answered > uint64(want/ms) {
				t.Errorf("after %v: %+v", want, at)
			}
		}
		if got := told[1].String(); got != "0 of 1 s, 499 answered" && got != "0 of 1 s, 500 answered" {
			t.Errorf("a person is told %q", got)
		}
	})
}

package clock

import (
	"sync"
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
)

func TestManualShowsWhatItIsTold(t *testing.T) {
	m := NewManual(epoch)
	if m.Now() != epoch {
		t.Fatalf("shows %d, want %d", m.Now(), epoch)
	}
	m.Advance(3 * ms)
	m.Advance(-ms)
	if want := epoch + limit.Instant(2*ms); m.Now() != want {
		t.Fatalf("shows %d, want %d", m.Now(), want)
	}
	m.Set(5)
	if m.Now() != 5 {
		t.Fatalf("shows %d, want 5", m.Now())
	}
}

func TestManualAddsUpConcurrentAdvances(t *testing.T) {
	var m Manual
	var moving sync.WaitGroup
	for range 8 {
		moving.Go(func() {
			for range 100_000 {
				m.Advance(time.Microsecond)
				m.Now()
			}
		})
	}
	moving.Wait()
	if got := time.Duration(m.Now()); got != 800*ms {
		t.Fatalf("moved by %v, want 800ms", got)
	}
}

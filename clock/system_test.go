package clock

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/limitstore/limitstore/limit"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a source on the workbench: it shows what it is set to. onMono and onRead, if set, run inside the readings.
type bench struct {
	mu     sync.Mutex
	shown  reading
	onMono func()
	onRead func()
}

func newBench() *bench { return &bench{shown: reading{wall: epoch}} }

func (b *bench) mono() time.Duration {
	if b.onMono != nil {
		b.onMono()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shown.mono
}

func (b *bench) read() reading {
	b.mu.Lock()
	r := b.shown
	b.mu.Unlock()
	if b.onRead != nil {
		b.onRead()
	}
	return r
}

// pass lets d go by on all clocks.
func (b *bench) pass(d time.Duration) { b.step(d, limit.Instant(d), 0) }

func (b *bench) step(mono time.Duration, wall limit.Instant, asleep time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shown.mono += mono
	b.shown.wall += wall
	b.shown.asleep += asleep
}

func TestSystemStartsAtWallTimeAndFollowsTheMonotonicClock(t *testing.T) {
	b := newBench()
	s := newSystem(b, nil)
	if got := s.Now(); got != epoch {
		t.Fatalf("starts %v off the wall clock", time.Duration(got-epoch))
	}
	b.step(hour, -limit.Instant(hour), 0)
	if got := time.Duration(s.Now() - epoch); got != hour {
		t.Fatalf("moved by %v while an hour passed", got)
	}
}

func TestWatchLooksAtEveryTickUntilClosed(t *testing.T) {
	b := newBench()
	s := newSystem(b, nil)
	ticks := make(chan time.Time)
	go s.watch(ticks)
	b.step(0, limit.Instant(hour), hour)
	ticks <- time.Time{}
	ticks <- time.Time{} // taken up only when the first is done with
	if got := time.Duration(s.Now() - epoch); got != hour {
		t.Fatalf("moved by %v over a suspend of an hour", got)
	}
	s.Close()
	select {
	case <-s.done:
	default:
		t.Fatal("Close came back before the watch had ended")
	}
	s.Close()
	b.pass(minute)
	if got := time.Duration(s.Now() - epoch); got != hour+minute {
		t.Fatalf("a minute after Close the clock shows %v", got)
	}
}

func TestSystemLogsOncePerChange(t *testing.T) {
	var out bytes.Buffer
	b := newBench()
	s := newSystem(b, slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	lines := func(want ...string) {
		t.Helper()
		for range 3 {
			b.pass(time.Second)
			s.look()
		}
		got := strings.Split(strings.TrimSpace(out.String()), "\n")
		out.Reset()
		if len(got) != len(want) {
			t.Fatalf("logged %q, want %d lines", got, len(want))
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("logged %q, want %q in it", got[i], want[i])
			}
		}
	}
	b.step(0, limit.Instant(hour), 0)
	lines("level=WARN msg=\"wall clock is out of reach, clock holds its course\" wall_minus_clock=1h0m0s")
	b.step(0, limit.Instant(200*ms-hour), 0)
	lines("level=INFO msg=\"wall clock is within reach again\"", "level=DEBUG msg=\"clock slews towards the wall clock\" wall_minus_clock=200ms")
	b.step(0, limit.Instant(minute), minute)
	lines("level=INFO msg=\"clock stepped forward after a suspend\" slept=1m0s")
}

// TestReaderOvertakenByANewCourse stops a reader between the course it took and its look at the monotonic clock, and
// replaces the course by a slower one meanwhile. The old one would show more than anybody is shown after.
func TestReaderOvertakenByANewCourse(t *testing.T) {
	b := newBench()
	s := newSystem(b, nil)
	b.onMono = func() {
		b.onMono = nil
		b.step(0, -limit.Instant(400*ms), 0)
		s.look()
		b.pass(minute)
	}
	overtaken := s.Now()
	if later := s.Now(); later < overtaken {
		t.Fatalf("a later call got an instant %v earlier", time.Duration(overtaken-later))
	}
	if got := time.Duration(overtaken - epoch); got != minute-400*ms {
		t.Fatalf("shows %v, want a minute less the slew", got)
	}
}

// TestReaderDuringATurn asks for the time after the watch took the reading at which the new, slower course begins, and
// before that course is there. The old one must be gone by then.
func TestReaderDuringATurn(t *testing.T) {
	b := newBench()
	s := newSystem(b, nil)
	b.step(0, -limit.Instant(400*ms), 0)
	asked := make(chan limit.Instant, 1)
	reads := 0
	b.onRead = func() {
		if reads++; reads < 2 {
			return
		}
		if s.course.Load() != nil {
			t.Error("the reading for a new course was taken with the old one still in use")
		}
		b.pass(minute)
		go func() { asked <- s.Now() }()
	}
	s.look()
	if got := time.Duration(<-asked - epoch); got != minute-400*ms {
		t.Fatalf("shows %v, want a minute less the slew", got)
	}
	if reads != 2 {
		t.Fatalf("a turn took %d readings, want one to see it and one to make it", reads)
	}
}

func TestNoTurnWithoutAChange(t *testing.T) {
	b := newBench()
	s := newSystem(b, nil)
	course := s.course.Load()
	reads := 0
	b.onRead = func() { reads++ }
	for range 5 {
		b.pass(time.Second)
		s.look()
	}
	if s.course.Load() != course || reads != 5 {
		t.Fatalf("five looks in step took %d readings, course replaced %t", reads, s.course.Load() != course)
	}
}

// TestNeverBackwardsForManyReaders swings the wall clock to and fro, so that every look turns the course from fast to
// slow or back, while readers compare with the latest instant any of them was given.
func TestNeverBackwardsForManyReaders(t *testing.T) {
	b := newBench()
	b.onMono = func() { b.pass(time.Microsecond) }
	s := newSystem(b, nil)
	ticks := make(chan time.Time)
	go s.watch(ticks)
	defer s.Close()
	var (
		mu      sync.Mutex
		latest  limit.Instant
		readers sync.WaitGroup
	)
	for range 4 {
		readers.Go(func() {
			for range 5000 {
				mu.Lock()
				if now := s.Now(); now < latest {
					t.Errorf("went back by %v", time.Duration(latest-now))
				} else {
					latest = now
				}
				mu.Unlock()
			}
		})
	}
	swing := limit.Instant(400 * ms)
	for range 500 {
		b.step(0, swing, 0)
		ticks <- time.Time{}
		swing = -swing
	}
	readers.Wait()
}

func TestNowDoesNotAllocate(t *testing.T) {
	s := NewSystem(nil)
	defer s.Close()
	if n := testing.AllocsPerRun(100, func() { s.Now() }); n != 0 {
		t.Errorf("Now allocates %v times", n)
	}
}

func TestMachineReadings(t *testing.T) {
	m := newMachine()
	before, wall := m.mono(), limit.Instant(time.Now().UnixNano())
	r := m.read()
	if after := m.mono(); r.mono < before || after < r.mono {
		t.Errorf("reading at %v, taken between %v and %v", r.mono, before, after)
	}
	if off := time.Duration(r.wall - wall).Abs(); off > hour {
		t.Errorf("wall clock reading is off by %v", off)
	}
	if r.asleep < -ms {
		t.Errorf("asleep for %v", r.asleep)
	}
}

func BenchmarkSystemNow(b *testing.B) {
	s := NewSystem(nil)
	defer s.Close()
	b.ReportAllocs()
	for b.Loop() {
		s.Now()
	}
}

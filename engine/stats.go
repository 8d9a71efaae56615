package engine

import (
	"bytes"
	"time"
)

// Stats counts what one shard did. It is owned by the shard's goroutine; read it
// through Engine.Each.
type Stats struct {
	Calls   []uint64 // by command ID
	Failed  []uint64 // calls that replied with an error, by command ID
	Timed   []uint64 // calls that were timed, by command ID: see Session.Took
	Took    []uint64 // the time they took together in nanoseconds, by command ID
	Allowed []uint64 // limiter decisions, by command ID
	Denied  []uint64
	Hits    uint64 // keys found by reading commands
	Misses  uint64
	Errors  map[string]uint64 // replies that were errors, by their code: "WRONGTYPE"
}

func newStats(commands int) *Stats {
	return &Stats{
		Calls: make([]uint64, commands), Failed: make([]uint64, commands),
		Timed: make([]uint64, commands), Took: make([]uint64, commands),
		Allowed: make([]uint64, commands), Denied: make([]uint64, commands),
		Errors: map[string]uint64{},
	}
}

// fail counts a call that replied with an error.
func (s *Stats) fail(command int, reply []byte) {
	s.Failed[command]++
	s.Errors[string(ErrorCode(reply))]++
}

// timed counts a call that took so long.
func (s *Stats) timed(command int, took time.Duration) {
	s.Timed[command]++
	s.Took[command] += uint64(took)
}

// ErrorCode is the first word of an error reply, the - aside: "WRONGTYPE".
func ErrorCode(reply []byte) []byte {
	code := bytes.TrimPrefix(reply, []byte{'-'})
	if end := bytes.IndexAny(code, " \r"); end >= 0 {
		code = code[:end]
	}
	return code
}

// Add sums other into s.
func (s *Stats) Add(other *Stats) {
	for i := range other.Calls {
		s.Calls[i] += other.Calls[i]
		s.Failed[i] += other.Failed[i]
		s.Timed[i] += other.Timed[i]
		s.Took[i] += other.Took[i]
		s.Allowed[i] += other.Allowed[i]
		s.Denied[i] += other.Denied[i]
	}
	s.Hits += other.Hits
	s.Misses += other.Misses
	for code, n := range other.Errors {
		s.Errors[code] += n
	}
}

// Since takes an earlier reading of the same counters from s.
func (s *Stats) Since(earlier *Stats) {
	for _, counters := range [...][2][]uint64{
		{s.Calls, earlier.Calls}, {s.Failed, earlier.Failed}, {s.Timed, earlier.Timed}, {s.Took, earlier.Took},
		{s.Allowed, earlier.Allowed}, {s.Denied, earlier.Denied},
	} {
		for i := range counters[0] {
			counters[0][i] -= counters[1][i]
		}
	}
	s.Hits -= earlier.Hits
	s.Misses -= earlier.Misses
	for code, n := range earlier.Errors {
		if s.Errors[code] -= n; s.Errors[code] == 0 {
			delete(s.Errors, code)
		}
	}
}

// NewStats are counters that stand at zero, to sum up those of the shards.
func (e *Engine) NewStats() *Stats { return newStats(len(e.table.rows)) }

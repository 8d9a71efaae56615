package engine

import "bytes"

// Stats counts what one shard did. It is owned by the shard's goroutine; read it
// through Engine.Each.
type Stats struct {
	Calls   []uint64 // by command ID
	Failed  []uint64 // calls that replied with an error, by command ID
	Allowed []uint64 // limiter decisions, by command ID
	Denied  []uint64
	Hits    uint64 // keys found by reading commands
	Misses  uint64
	Errors  map[string]uint64 // replies that were errors, by their code: "WRONGTYPE"
}

func newStats(commands int) *Stats {
	return &Stats{
		Calls: make([]uint64, commands), Failed: make([]uint64, commands),
		Allowed: make([]uint64, commands), Denied: make([]uint64, commands),
		Errors: map[string]uint64{},
	}
}

// fail counts a call that replied with an error.
func (s *Stats) fail(command int, reply []byte) {
	s.Failed[command]++
	s.Errors[string(ErrorCode(reply))]++
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
		s.Allowed[i] += other.Allowed[i]
		s.Denied[i] += other.Denied[i]
	}
	s.Hits += other.Hits
	s.Misses += other.Misses
	for code, n := range other.Errors {
		s.Errors[code] += n
	}
}

// NewStats are counters that stand at zero, to sum up those of the shards.
func (e *Engine) NewStats() *Stats { return newStats(len(e.table.rows)) }

//go:build unix

package server

import (
	"syscall"
	"time"
)

// cpuTime is the processor time the process has used, in the system and by
// itself.
func cpuTime() (system, user time.Duration) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Stime.Nano()), time.Duration(u.Utime.Nano())
}

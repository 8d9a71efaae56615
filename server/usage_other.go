//go:build !unix

package server

import "time"

// cpuTime is not known here.
func cpuTime() (system, user time.Duration) { return 0, 0 }

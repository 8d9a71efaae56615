//go:build !linux

package clock

import "time"

// asleep is 0: this system does not tell a suspend from a step of the wall clock.
func asleep() time.Duration { return 0 }

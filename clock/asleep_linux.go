package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// asleep is how long the machine has been suspended since it booted: what CLOCK_BOOTTIME counts and CLOCK_MONOTONIC
// does not. A kernel that refuses to say (a sandbox) counts as one that never slept.
func asleep() time.Duration {
	var mono, boot unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return 0
	}
	return time.Duration(boot.Nano() - mono.Nano())
}

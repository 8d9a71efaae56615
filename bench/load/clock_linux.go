package load

import (
	"context"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// alarm is a clock whose waits end within microseconds, as the sending of requests
// needs it: a timer of the kernel that is read as a file. The runtime's own timers
// wait in whole milliseconds when the processor is idle, and that would be charged
// to the server.
type alarm struct {
	*stopwatch
	timer   *os.File
	control syscall.RawConn
	set     unix.ItimerSpec
}

// longestSleep is how long an alarm sleeps before it looks whether it is still
// wanted.
const longestSleep = 100 * time.Millisecond

func newAlarm(s *stopwatch) (clock, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	a := &alarm{stopwatch: s, timer: os.NewFile(uintptr(fd), "timer")}
	a.control, err = a.timer.SyscallConn()
	return a, err
}

func (a *alarm) wait(ctx context.Context, until time.Duration) {
	var rang [8]byte // how often
	for left := until - a.now(); left > 0 && ctx.Err() == nil; left = until - a.now() {
		a.set.Value = unix.NsecToTimespec(int64(min(left, longestSleep)))
		if a.control.Control(a.start) != nil {
			return // closed
		}
		_, _ = a.timer.Read(rang[:]) // a failure shows in the time
	}
}

// start sets the timer off. Its arguments are right, so it does not fail.
func (a *alarm) start(fd uintptr) { _ = unix.TimerfdSettime(int(fd), 0, &a.set, nil) }

func (a *alarm) close() { _ = a.timer.Close() }

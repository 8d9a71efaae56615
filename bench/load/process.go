package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit in which Linux shows programs the time of processes: USER_HZ is
// 100 on every architecture that Go knows.
const tick = 10 * time.Millisecond

// usage is what a process has taken from the machine.
type usage struct {
	cpu      time.Duration // of user and system together, since it began
	resident int64         // bytes of memory
	calls    int64         // of read and write to the system, in vain or not; 0 when it does not tell
}

// The places of fields behind the name in /proc/PID/stat, see proc(5), which
// counts from 1 and has the state as number 3.
const (
	utimeField = 14 - 3
	stimeField = 15 - 3
	rssField   = 24 - 3
)

// readUsage reads what the process has taken so far. proc is /proc.
func readUsage(proc fs.FS, pid int) (usage, error) {
	text, err := fs.ReadFile(proc, strconv.Itoa(pid)+"/stat")
	if err != nil {
		return usage{}, fmt.Errorf("the processor time of process %d: %w", pid, err)
	}
	// The name is in parentheses and may itself have some.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= rssField {
		return usage{}, fmt.Errorf("the processor time of process %d: %d fields", pid, len(fields))
	}
	user, err1 := strconv.ParseInt(fields[utimeField], 10, 64)
	system, err2 := strconv.ParseInt(fields[stimeField], 10, 64)
	pages, err3 := strconv.ParseInt(fields[rssField], 10, 64)
	return usage{time.Duration(user+system) * tick, pages * int64(os.Getpagesize()), readCalls(proc, pid)}, errors.Join(err1, err2, err3)
}

// readCalls reads how often the process has called read and write. A kernel need not
// count them, and shows them to the process' own user only.
func readCalls(proc fs.FS, pid int) (calls int64) {
	text, err := fs.ReadFile(proc, strconv.Itoa(pid)+"/io")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		name, count, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if n, err := strconv.ParseInt(count, 10, 64); err == nil && (name == "syscr" || name == "syscw") {
			calls += n
		}
	}
	return calls
}

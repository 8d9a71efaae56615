package load

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// statLine is as proc(5) describes it: the fields have their own number as value,
// but for the name, which is made to confuse.
func statLine() string {
	line := "1 (a) b (c)"
	for field := 3; field <= 52; field++ {
		line += fmt.Sprint(" ", field)
	}
	return line + "\n"
}

func TestUsageIsReadFromStat(t *testing.T) {
	proc := fstest.MapFS{"7/stat": {Data: []byte(statLine())}, "7/io": {Data: []byte("rchar: 9\nwchar: 8\nsyscr: 30\nsyscw: 12\nread_bytes: 5\n")}, "8/stat": {Data: []byte("8 (x) S 1")}, "9/stat": {Data: []byte(strings.ReplaceAll(statLine(), " 15", " x"))}}
	got, err := readUsage(proc, 7)
	if want := (usage{(14 + 15) * 10 * time.Millisecond, 24 * int64(os.Getpagesize()), 30 + 12}); got != want || err != nil {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, pid := range []int{8, 9, 10} {
		if _, err := readUsage(proc, pid); err == nil {
			t.Errorf("process %d: no error", pid)
		}
	}
}

func TestUsageOfThisProcess(t *testing.T) {
	got, err := readUsage(os.DirFS("/proc"), os.Getpid())
	if err != nil || got.resident < 1<<20 || got.resident > 1<<40 || got.cpu < 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

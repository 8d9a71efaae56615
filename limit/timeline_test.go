package limit

import (
	"fmt"
	"math/big"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A timeline is a text that reads as what happens, in order. A line names the
// limiter, or changes the parameters of the one in use; a line names columns;
// each other line is a call and what it answers:
//
//	TB 10 1 6s
//	at    call     allowed   remaining   retry   reset
//	0s    TAKE 4   yes       6           0       24s
//
// Columns are separated by two spaces or more and stand in any order; cells that
// are "-" are not looked at. An error is written in the column allowed. Every
// call must also keep the laws of laws_test.go.

// noon is the instant that timelines count from; a time of day is of that day.
const (
	noon = Instant(1_767_225_600_000_000_000) // 2026-01-01 00:00:00 UTC
)

var columnGap = regexp.MustCompile(`\s{2,}`)

// runTimeline runs every limiter of a text and returns how many calls it held.
func runTimeline(t *testing.T, text string) (calls int) {
	t.Helper()
	var l limiter
	var columns []string
	for number, line := range strings.Split(text, "\n") {
		cells := columnGap.Split(strings.TrimSpace(line), -1)
		switch {
		case cells[0] == "":
		case isUpper(cells[0]):
			l = configure(t, l, strings.Fields(line))
		case cells[0] == "at":
			columns = cells
		default:
			row := step{t: t, line: fmt.Sprintf("line %d: %s", number+1, strings.TrimSpace(line)), cells: map[string]string{}}
			if len(cells) != len(columns) {
				t.Fatalf("%s: %d cells for %d columns", row.line, len(cells), len(columns))
			}
			for i, c := range columns {
				row.cells[c] = cells[i]
			}
			row.run(l)
			calls++
		}
	}
	if calls == 0 {
		t.Fatal("a timeline without calls")
	}
	return calls
}

func isUpper(s string) bool { return s[0] >= 'A' && s[0] <= 'Z' }

// step is one line of a timeline.
type step struct {
	t     *testing.T
	line  string
	cells map[string]string
}

func (s step) run(l limiter) {
	s.t.Helper()
	now := s.instant(s.cells["at"])
	op, cost, _ := strings.Cut(s.cells["call"], " ")
	n := s.number(cost)
	s.expect("before", l.before(now))
	got, err := obey(s.t, s.line, l, now, op, n)
	if err != nil {
		s.expect("allowed", errorName(err))
		return
	}
	s.expect("allowed", map[bool]string{true: "yes", false: "no"}[got.Allowed])
	s.expectNumber("remaining", got.Remaining)
	s.expectNumber("used", got.Used)
	s.expectNumber("limit", got.Limit)
	s.expectSpan("retry", got.RetryAfter)
	s.expectSpan("reset", got.ResetAfter)
	s.expectSpan("wait", got.wait)
	if next, err := l.next(now); err == nil {
		s.expectSpan("next", next)
	} else {
		s.expect("next", errorName(err))
	}
}

func (s step) expect(column, got string) {
	s.t.Helper()
	if want := s.cells[column]; want != "" && want != "-" && want != got {
		s.t.Errorf("%s: %s is %s, want %s", s.line, column, got, want)
	}
}

func (s step) expectNumber(column string, got int64) {
	s.t.Helper()
	if want := s.cells[column]; want != "" && want != "-" && s.number(want) != got {
		s.t.Errorf("%s: %s is %d, want %s", s.line, column, got, want)
	}
}

func (s step) expectSpan(column string, got time.Duration) {
	s.t.Helper()
	if want := s.cells[column]; want != "" && want != "-" && s.span(want) != got {
		s.t.Errorf("%s: %s is %v, want %s", s.line, column, got, want)
	}
}

func (s step) number(text string) int64 {
	s.t.Helper()
	n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
	if err != nil {
		s.t.Fatalf("%s: bad number %q", s.line, text)
	}
	return n
}

func (s step) span(text string) time.Duration {
	s.t.Helper()
	if text == "never" {
		return Never
	}
	return parseSpan(s.t, text)
}

func (s step) instant(text string) Instant {
	s.t.Helper()
	if !strings.Contains(text, ":") {
		return noon + Instant(s.span(text))
	}
	clock, err := time.Parse("15:04:05", text)
	if err != nil {
		s.t.Fatalf("%s: bad time %q", s.line, text)
	}
	midnight := clock.Truncate(24 * time.Hour)
	return noon + Instant(clock.Sub(midnight))
}

// parseSpan reads a Go duration, with days and years of 365 days in front: 1y2d3h.
func parseSpan(t *testing.T, text string) (d time.Duration) {
	t.Helper()
	for _, unit := range []struct {
		suffix string
		length time.Duration
	}{{"y", 365 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		if n, rest, found := strings.Cut(text, unit.suffix); found {
			count, err := strconv.Atoi(n)
			if err != nil {
				t.Fatalf("bad duration %q", text)
			}
			d, text = d+time.Duration(count)*unit.length, rest
		}
	}
	if text == "" {
		return d
	}
	rest, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("bad duration %q", text)
	}
	return d + rest
}

func errorName(err error) string {
	for name, known := range map[string]error{
		"ErrCapacity": ErrCapacity, "ErrLimit": ErrLimit, "ErrLogLimit": ErrLogLimit, "ErrRate": ErrRate,
		"ErrPeriod": ErrPeriod, "ErrWindow": ErrWindow, "ErrCost": ErrCost, "ErrWait": ErrWait,
		"ErrClear": ErrClear, "ErrDebt": ErrDebt, "ErrInstant": ErrInstant, "ErrState": ErrState,
	} {
		if err == known {
			return name
		}
	}
	return err.Error()
}

// mixed writes a rational as people do: 3 1/2.
func mixed(r *big.Rat) string {
	whole, part := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	switch {
	case part.Sign() == 0:
		return whole.String()
	case whole.Sign() == 0:
		return fmt.Sprintf("%v/%v", part, r.Denom())
	}
	return fmt.Sprintf("%v %v/%v", whole, part, r.Denom())
}

// TestCommentTimelines runs the worked timelines in the package's own comments.
func TestCommentTimelines(t *testing.T) {
	for _, file := range []string{"bucket.go", "queue.go", "fixed.go", "sliding.go", "log.go"} {
		t.Run(file, func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, text, found := strings.Cut(string(source), "// Worked timeline")
			if !found {
				t.Fatal("no worked timeline")
			}
			if calls := runTimeline(t, commentBlock(text)); calls < 4 {
				t.Fatalf("%d calls", calls)
			}
		})
	}
}

// commentBlock is the first indented block of a comment, without its margin.
func commentBlock(text string) string {
	var block []string
	for _, line := range strings.Split(text, "\n")[1:] {
		inside, indented := strings.CutPrefix(line, "//\t")
		if !indented && len(block) > 0 {
			break
		}
		if indented {
			block = append(block, inside)
		}
	}
	return strings.Join(block, "\n")
}

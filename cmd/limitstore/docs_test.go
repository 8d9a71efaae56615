package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPagesAreFresh holds the generated pages in docs against what would be
// generated now.
func TestPagesAreFresh(t *testing.T) {
	all, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		got, err := os.ReadFile(filepath.Join("../../docs", name))
		if err != nil || string(got) != want {
			t.Errorf("docs/%s is not what the tables say (%v): run make docs", name, err)
		}
	}
}

// TestEveryCommandHasItsPlace finds every command of the table in the reference
// once, below the chapter of its group.
func TestEveryCommandHasItsPlace(t *testing.T) {
	table, err := commandTable()
	if err != nil {
		t.Fatal(err)
	}
	chapters := map[string]string{} // by title
	for _, text := range strings.Split(commandsPage(table), "\n## ")[1:] {
		title, body, _ := strings.Cut(text, "\n")
		chapters[title] += body
	}
	for _, c := range table.Rows() {
		heading := "\n### " + c.FullName() + "\n"
		found := 0
		for _, body := range chapters {
			found += strings.Count(body, heading)
		}
		if own := chapters[chapterTitle(c.Group)]; found != 1 || !strings.Contains(own, heading) {
			t.Errorf("%s stands in %d places, want one, below %q", c.FullName(), found, chapterTitle(c.Group))
		}
	}
}

// TestLimitsNameRealFlags wants every limit to have a value: its own, or that of
// a flag which is there.
func TestLimitsNameRealFlags(t *testing.T) {
	for line := range strings.Lines(limitsPage()) {
		cells := strings.Split(line, " | ")
		if len(cells) == 4 && cells[1] == "" {
			t.Errorf("no value: %s", line)
		}
	}
}

// tourLine is a command in a code block of README.
var tourLine = regexp.MustCompile(`^127\.0\.0\.1:7379> (.*)$`)

// times are the numbers of a reply that depend on when one asks: the fourth and
// fifth of a limiter's. Only whether they are nought, positive or negative is
// compared.
var times = regexp.MustCompile(`(?m)^([45]\) \(integer\) )([1-9][0-9]*)$`)

// TestTour types README's tour into redis-cli and compares what it shows.
func TestTour(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	p, err := startProcess(t.TempDir(), os.Environ(), "--addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	addr, _, ok := p.addresses()
	if !ok {
		t.Fatal(p.log.String())
	}
	lines, typed := strings.Split(string(readme), "\n"), 0
	for i, line := range lines {
		if found := tourLine.FindStringSubmatch(line); found != nil {
			typed++
			want := strings.Join(reply(lines[i+1:]), "\n")
			if got := redisCLI(t, addr, found[1]); times.ReplaceAllString(got, "${1}n") != times.ReplaceAllString(want, "${1}n") {
				t.Errorf("README, line %d: %s\ngot:\n%s\nwant:\n%s", i+1, found[1], got, want)
			}
		}
	}
	if typed < 5 {
		t.Errorf("README's tour has %d commands, want at least 5", typed)
	}
}

// reply is the lines up to the next command or the end of the block.
func reply(lines []string) []string {
	for i, line := range lines {
		if tourLine.MatchString(line) || strings.HasPrefix(line, "```") {
			return lines[:i]
		}
	}
	return lines
}

// redisCLI is what redis-cli shows on a terminal.
func redisCLI(t *testing.T, addr, command string) string {
	t.Helper()
	host, port, _ := strings.Cut(addr, ":")
	words := append([]string{"--no-raw", "-h", host, "-p", port}, strings.Fields(command)...)
	out, err := exec.Command("redis-cli", words...).CombinedOutput()
	if err != nil {
		t.Fatalf("redis-cli, which comes with redis-server: %v: %s", err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

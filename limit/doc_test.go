package limit

import (
	"os"
	"strings"
	"testing"
)

// TestDocumentedTraces runs every trace of docs/algorithms.md.
func TestDocumentedTraces(t *testing.T) {
	page, err := os.ReadFile("../docs/algorithms.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```timeline\n")[1:]
	if len(blocks) != 5 {
		t.Fatalf("%d traces, want one for each of the 5 limiters", len(blocks))
	}
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		if runTimeline(t, text) < 3 {
			t.Errorf("a trace of fewer than three calls:\n%s", text)
		}
	}
}

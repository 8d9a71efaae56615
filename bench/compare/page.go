package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The lines of a page between which the figures stand. What is outside of them is
// written by people.
const (
	figuresBegin = "<!-- figures: written by limitstore bench compare -->\n"
	figuresEnd   = "<!-- end of figures -->\n"
)

// replaceFigures puts figures where a page has its old ones.
func replaceFigures(page, figures string) (string, error) {
	before, rest, ok1 := strings.Cut(page, figuresBegin)
	_, after, ok2 := strings.Cut(rest, figuresEnd)
	if !ok1 || !ok2 || strings.Contains(after, figuresBegin) {
		return "", fmt.Errorf("the page needs one pair of lines %q and %q", strings.TrimSpace(figuresBegin), strings.TrimSpace(figuresEnd))
	}
	return before + figuresBegin + "\n" + figures + "\n" + figuresEnd + after, nil
}

// figures are the text for a page, with links to the plots in folder.
func (r Results) figures(folder string) string {
	text := r.Text()
	for _, p := range plots() {
		if p.data(r) != nil {
			text += fmt.Sprintf("\n![%s](%s/%s)\n", p.title, folder, p.file)
		}
	}
	return text
}

// writePage renews the figures of a page and the plots in the folder beside it that
// has the page's name.
func (r Results) writePage(page string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	folder := strings.TrimSuffix(page, filepath.Ext(page))
	renewed, err := replaceFigures(string(text), r.figures(filepath.Base(folder)))
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := r.writePlots(folder); err != nil {
		return err
	}
	return os.WriteFile(page, []byte(renewed), 0o644)
}

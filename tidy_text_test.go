package tidy_test

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// leftovers are words for work not done. They are put together here so that this
// file does not hold them.
var leftovers = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX|HA` + `CK)\b`)

// machinePaths are folders of somebody's machine.
var machinePaths = regexp.MustCompile(`(^|[\s"'=(` + "`" + `])/(ro` + `ot|ho` + `me|wo` + `rk|Us` + `ers)/`)

// idlers are the calls by which a test waits for luck or looks away.
var idlers = []string{"Skip", "Skipf", "SkipNow"}

func testLaws() []law {
	return []law{
		{
			name: "tests do not sleep", check: checkIdlers,
			bad:  map[string]string{"ttl/a_test.go": "package ttl\nfunc f() { time.Sleep(1) }"},
			says: "ttl/a_test.go:2: time.Sleep",
		},
		{
			name: "tests are not skipped", check: checkIdlers,
			bad:  map[string]string{"ttl/a_test.go": "package ttl\nfunc f(t *testing.T) { t.Skip() }"},
			says: "ttl/a_test.go:2: t.Skip",
		},
	}
}

func checkIdlers(t *tree) (wrong []string) {
	t.tests(func(f *file) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, _ := sel.X.(*ast.Ident)
			if x != nil && (slices.Contains(idlers, sel.Sel.Name) || x.Name == "time" && sel.Sel.Name == "Sleep") {
				wrong = append(wrong, t.at(call.Pos(), "%s.%s", x.Name, sel.Sel.Name))
			}
			return true
		})
	})
	return wrong
}

func textLaws() []law {
	return []law{
		{
			name: "nothing is left over", check: checkLeftovers,
			bad:  map[string]string{"ttl/a.go": "package ttl\n\n// TO" + "DO: more"},
			says: "ttl/a.go:3: TO" + "DO",
		},
		{
			name: "no path of a machine", check: checkLeftovers,
			bad:  map[string]string{"README.md": "# x\n\ncd /ro" + "ot/x"},
			says: "README.md:3:",
		},
		{
			name: "one title a page", check: checkTitles,
			bad:  map[string]string{"docs/a.md": "# one\n\n# two\n"},
			says: "docs/a.md: 2 titles",
		},
		{
			name: "links lead somewhere", check: checkLinks,
			bad:  map[string]string{"docs/a.md": "# one\n\n[gone](gone.md)\n"},
			says: "docs/a.md:3: gone.md leads nowhere",
		},
		{
			name: "anchors lead somewhere", check: checkLinks,
			bad:  map[string]string{"docs/a.md": "# one\n\n[gone](#two)\n"},
			says: "docs/a.md:3: #two leads nowhere",
		},
	}
}

func checkLeftovers(t *tree) (wrong []string) {
	for _, f := range t.files {
		for i, line := range strings.Split(f.text, "\n") {
			for _, banned := range []*regexp.Regexp{leftovers, machinePaths} {
				if found := banned.FindString(line); found != "" {
					wrong = append(wrong, fmt.Sprintf("%s:%d: %s", f.path, i+1, strings.TrimSpace(found)))
				}
			}
		}
	}
	return wrong
}

// prose calls fn with every line of a page that is not inside a code block.
func prose(f *file, fn func(line int, text string)) {
	fenced := false
	for i, text := range strings.Split(f.text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(text), "```") {
			fenced = !fenced
		} else if !fenced {
			fn(i+1, text)
		}
	}
}

func checkTitles(t *tree) (wrong []string) {
	for _, f := range t.files {
		if !f.isMarkdown() {
			continue
		}
		titles := 0
		prose(f, func(_ int, text string) {
			if strings.HasPrefix(text, "# ") {
				titles++
			}
		})
		if titles != 1 || !strings.HasPrefix(f.text, "# ") {
			wrong = append(wrong, fmt.Sprintf("%s: %d titles, want one in the first line", f.path, titles))
		}
	}
	return wrong
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// checkLinks wants every link into the tree to name a file or folder that is
// there, and its anchor a heading there.
func checkLinks(t *tree) (wrong []string) {
	for _, f := range t.files {
		if !f.isMarkdown() {
			continue
		}
		prose(f, func(line int, text string) {
			for _, found := range link.FindAllStringSubmatch(text, -1) {
				if target := found[1]; !strings.Contains(target, "://") && !t.leads(f, target) {
					wrong = append(wrong, fmt.Sprintf("%s:%d: %s leads nowhere", f.path, line, target))
				}
			}
		})
	}
	return wrong
}

func (t *tree) leads(from *file, target string) bool {
	name, anchor, _ := strings.Cut(target, "#")
	page := from
	if name != "" {
		name = path.Join(path.Dir(from.path), name)
		page = t.find(name)
	}
	if page == nil {
		return anchor == "" && t.has(name)
	}
	if anchor == "" {
		return true
	}
	found := false
	prose(page, func(_ int, text string) { found = found || anchorOf(text) == anchor })
	return found
}

// has says whether name is a folder of the tree, or a file that is no source
// (LICENSE).
func (t *tree) has(name string) bool {
	inside := func(f *file) bool { return strings.HasPrefix(f.path, name+"/") }
	return name == "LICENSE" || slices.ContainsFunc(t.files, inside)
}

var heading = regexp.MustCompile(`^#+ `)

// anchorOf is the anchor a heading gets where the pages are shown: lower case,
// punctuation dropped, spaces as hyphens.
func anchorOf(line string) string {
	if !heading.MatchString(line) {
		return ""
	}
	text := strings.ToLower(heading.ReplaceAllString(line, ""))
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			return r
		}
		return -1
	}, text)
}

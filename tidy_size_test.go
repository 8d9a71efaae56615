package tidy_test

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// The sizes of code that is read in one look. A function's lines are counted from
// its func to its closing brace. A literal without code in it is a table and
// counts as one line, however many rows it has.
const (
	longestFile     = 500
	longestFunction = 70
	longNine        = 36 // nine functions in ten are at most this long
	longMedian      = 10
)

func sizeLaws() []law {
	return []law{
		{
			name: "files", check: checkFiles,
			bad:  map[string]string{"shard/a.go": "package shard" + strings.Repeat("\n", longestFile+1)},
			says: fmt.Sprintf("shard/a.go: %d lines", longestFile+1),
		},
		{
			name: "functions", check: checkFunctions,
			bad:  map[string]string{"shard/a_test.go": "package shard\nfunc f() {" + strings.Repeat("\n", longestFunction) + "}"},
			says: fmt.Sprintf("shard/a_test.go:2: f has %d lines", longestFunction+1),
		},
		{
			name: "most functions", check: checkMostFunctions,
			bad:  map[string]string{"shard/a.go": "package shard\nfunc f() {" + strings.Repeat("\n", longNine) + "}"},
			says: "nine functions in ten have up to 37 lines",
		},
		{
			name: "the median function", check: checkMostFunctions,
			bad:  map[string]string{"shard/a.go": "package shard\nfunc f() {" + strings.Repeat("\n", longMedian) + "}"},
			says: "the median function has 11 lines",
		},
	}
}

func checkFiles(t *tree) (wrong []string) {
	for _, f := range t.files {
		if n := strings.Count(f.text, "\n"); f.ast != nil && n > longestFile {
			wrong = append(wrong, fmt.Sprintf("%s: %d lines, at most %d", f.path, n, longestFile))
		}
	}
	return wrong
}

// functions calls fn with every function of f.
func functions(t *tree, f *file, fn func(decl *ast.FuncDecl, lines int)) {
	for _, decl := range f.ast.Decls {
		if d, ok := decl.(*ast.FuncDecl); ok && d.Body != nil {
			fn(d, t.line(d.End())-t.line(d.Pos())+1-t.tableLines(d.Body))
		}
	}
}

// tableLines is the number of lines that tables below n take beyond their first.
func (t *tree) tableLines(n ast.Node) (lines int) {
	ast.Inspect(n, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || hasCode(lit) {
			return true
		}
		lines += t.line(lit.End()) - t.line(lit.Pos())
		return false
	})
	return lines
}

func hasCode(lit *ast.CompositeLit) (found bool) {
	ast.Inspect(lit, func(n ast.Node) bool {
		_, code := n.(*ast.FuncLit)
		found = found || code
		return !found
	})
	return found
}

func checkFunctions(t *tree) (wrong []string) {
	for _, f := range t.files {
		if f.ast == nil {
			continue
		}
		functions(t, f, func(d *ast.FuncDecl, lines int) {
			if lines > longestFunction {
				wrong = append(wrong, t.at(d.Pos(), "%s has %d lines, at most %d", d.Name.Name, lines, longestFunction))
			}
		})
	}
	return wrong
}

func checkMostFunctions(t *tree) (wrong []string) {
	var all []int
	t.code(func(f *file) {
		functions(t, f, func(_ *ast.FuncDecl, lines int) { all = append(all, lines) })
	})
	slices.Sort(all)
	if nine := all[len(all)*9/10]; nine > longNine {
		wrong = append(wrong, fmt.Sprintf("nine functions in ten have up to %d lines, at most %d", nine, longNine))
	}
	if median := all[len(all)/2]; median > longMedian {
		wrong = append(wrong, fmt.Sprintf("the median function has %d lines, at most %d", median, longMedian))
	}
	return wrong
}

// Package tidy_test holds the laws of the house that a machine can check: who
// may import whom, who may ask for the time, where a command's name may stand,
// how long a function may be, and that the pages say what is there. It reads the
// source tree as text and never runs it.
//
// Every law carries the smallest tree that breaks it, and a test shows that the
// law complains there: a law that cannot fail would be none.
package tidy_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is the path the packages are imported by.
const module = "github.com/limitstore/limitstore"

// law is one rule over the whole tree.
type law struct {
	name  string
	check func(*tree) []string // what is wrong, one line each
	bad   map[string]string    // a tree that breaks it: path to text
	says  string               // part of what check must say of it
}

func laws() []law {
	return slices.Concat(importLaws(), codeLaws(), nameLaws(), sizeLaws(), testLaws(), textLaws())
}

// TestTheTreeIsTidy holds every law against the tree as it is.
func TestTheTreeIsTidy(t *testing.T) {
	house, err := readTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(house.files) < 50 {
		t.Fatalf("read %d files only: is this the root?", len(house.files))
	}
	if house.commands, err = commandNames(); err != nil {
		t.Fatal(err)
	}
	for _, l := range laws() {
		t.Run(l.name, func(t *testing.T) {
			for _, complaint := range l.check(house) {
				t.Error(complaint)
			}
		})
	}
}

// TestEveryLawCanFail shows each law a tree that breaks it.
func TestEveryLawCanFail(t *testing.T) {
	for _, l := range laws() {
		t.Run(l.name, func(t *testing.T) {
			got := strings.Join(l.check(plant(t, l.bad)), "\n")
			if !strings.Contains(got, l.says) {
				t.Errorf("the law says %q of a tree that breaks it, want %q in it", got, l.says)
			}
		})
	}
}

// file is one file of the tree.
type file struct {
	path string // from the root, with slashes
	text string
	ast  *ast.File // nil unless it is Go
}

// dir is the package a Go file belongs to, as the arrows name it: "engine".
func (f *file) dir() string { return path.Dir(f.path) }

// isTest says whether only tests are made of it: redistest is what they share, and
// since no arrow leads there nothing else may import it.
func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") || f.dir() == "redistest" }

func (f *file) isMarkdown() bool { return strings.HasSuffix(f.path, ".md") }

// tree is every file that people write, parsed.
type tree struct {
	fset     *token.FileSet
	files    []*file
	commands []string // names that the command table declares
}

// readTree reads root. Folders that hold no source are passed over: hidden ones,
// build output and test data.
func readTree(root fs.FS) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && name != ".ci" && (base[0] == '.' || base == "testdata" || base == "bin"):
			return fs.SkipDir
		case d.IsDir() || !d.Type().IsRegular() || !isSource(name):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return t.add(name, string(text))
	})
	return t, err
}

// isSource says whether people write the file, or a page shows it.
func isSource(name string) bool {
	switch filepath.Ext(name) {
	case ".go", ".md", ".mod", ".svg":
		return true
	}
	return name == "Makefile" || name == ".ci/run"
}

func (t *tree) add(name, text string) error {
	f := &file{path: name, text: text}
	if strings.HasSuffix(name, ".go") {
		parsed, err := parser.ParseFile(t.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f.ast = parsed
	}
	t.files = append(t.files, f)
	return nil
}

// plant makes a tree of the files given.
func plant(t *testing.T, files map[string]string) *tree {
	t.Helper()
	planted := &tree{fset: token.NewFileSet(), commands: []string{"TB.TAKE"}}
	for name, text := range files {
		if err := planted.add(name, text); err != nil {
			t.Fatal(err)
		}
	}
	return planted
}

// code calls fn with every Go file that is part of the program.
func (t *tree) code(fn func(*file)) {
	for _, f := range t.files {
		if f.ast != nil && !f.isTest() {
			fn(f)
		}
	}
}

// tests calls fn with every Go file that is a test.
func (t *tree) tests(fn func(*file)) {
	for _, f := range t.files {
		if f.ast != nil && f.isTest() {
			fn(f)
		}
	}
}

// find is the file at the given path; nil when there is none.
func (t *tree) find(name string) *file {
	at := slices.IndexFunc(t.files, func(f *file) bool { return f.path == name })
	if at < 0 {
		return nil
	}
	return t.files[at]
}

// line is the line of pos in its file.
func (t *tree) line(pos token.Pos) int { return t.fset.Position(pos).Line }

// at words a complaint about a place.
func (t *tree) at(pos token.Pos, format string, words ...any) string {
	p := t.fset.Position(pos)
	return fmt.Sprintf("%s:%d: ", p.Filename, p.Line) + fmt.Sprintf(format, words...)
}

// calls lists every pkg.name that a file mentions, as "time.Now".
func calls(f *file, fn func(pos token.Pos, name string)) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				fn(sel.Pos(), x.Name+"."+sel.Sel.Name)
			}
		}
		return true
	})
}

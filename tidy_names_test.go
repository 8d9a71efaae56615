package tidy_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/limitstore/limitstore/engine"
	"github.com/limitstore/limitstore/server"
)

// vague are the endings of type names that say nothing of what the type is for.
var vague = []string{"Manager", "Helper", "Util", "Base", "Impl"}

// shapeless are package and file names under which anything would fit.
var shapeless = []string{"util", "utils", "common", "types", "helpers", "helper", "misc", "pkg"}

func nameLaws() []law {
	return []law{
		{
			name: "types are named for what they are", check: checkTypeNames,
			bad:  map[string]string{"shard/a.go": "package shard\ntype keyManager struct{}"},
			says: "shard/a.go:2: keyManager",
		},
		{
			name: "packages and files are named for what they hold", check: checkPlaceNames,
			bad:  map[string]string{"server/helpers.go": "package server"},
			says: "server/helpers.go:1: helpers",
		},
		{
			name: "a command's name stands in one place", check: checkCommandNames,
			bad: map[string]string{
				"engine/a.go": "package engine\nvar rows = []Command{{Name: \"TB.TAKE\", Run: f}}",
				"engine/b.go": "package engine\nfunc f(s string) bool { return s == \"TB.TAKE\" }",
			},
			says: `:2: "TB.TAKE" stands in a second place`,
		},
		{
			name: "every package says what it is for", check: checkPackageDocs,
			bad:  map[string]string{"ttl/a.go": "package ttl"},
			says: "ttl: no package comment",
		},
		{
			name: "every exported name is explained", check: checkDocs,
			bad:  map[string]string{"ttl/a.go": "package ttl\nfunc Advance() {}"},
			says: "ttl/a.go:2: Advance has no comment",
		},
	}
}

func checkTypeNames(t *tree) (wrong []string) {
	t.code(func(f *file) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			for _, end := range vague {
				if strings.HasSuffix(spec.Name.Name, end) || strings.EqualFold(spec.Name.Name, end) {
					wrong = append(wrong, t.at(spec.Pos(), "%s: a type is named for what it is, not %s", spec.Name.Name, end))
				}
			}
			return true
		})
	})
	return wrong
}

func checkPlaceNames(t *tree) (wrong []string) {
	for _, f := range t.files {
		if f.ast == nil {
			continue
		}
		stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.path), ".go"), "_test")
		for _, name := range []string{f.ast.Name.Name, stem} {
			if slices.Contains(shapeless, name) {
				wrong = append(wrong, t.at(f.ast.Package, "%s: a name under which anything fits", name))
			}
		}
	}
	return wrong
}

// commandNames are the names in the command table that stand for nothing else:
// GET, PERSIST and COUNT are also options or subcommands, and their words stand
// where those are read.
func commandNames() ([]string, error) {
	table, err := engine.NewTable(engine.Commands(), server.Commands())
	if err != nil {
		return nil, err
	}
	others := map[string]bool{}
	for _, c := range table.Rows() {
		optionWords(c.Args, others)
	}
	for _, c := range table.Top() {
		for _, sub := range table.Subs(c) {
			others[sub.Name] = true
		}
	}
	var names []string
	for _, c := range table.Top() {
		if !others[c.Name] {
			names = append(names, c.Name)
		}
	}
	return names, nil
}

func optionWords(args []engine.Arg, words map[string]bool) {
	for _, a := range args {
		words[a.Token] = true
		optionWords(a.Args, words)
	}
}

// checkCommandNames wants each command's name in one place of the program: where
// it is declared. What a client is shown does not count.
func checkCommandNames(t *tree) (wrong []string) {
	places := map[string][]token.Pos{}
	t.code(func(f *file) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				word, _ := strconv.Unquote(lit.Value)
				places[word] = append(places[word], lit.Pos())
			}
			return !isShown(n)
		})
	})
	for _, name := range t.commands {
		if len(places[name]) == 0 {
			wrong = append(wrong, fmt.Sprintf("%q stands nowhere", name))
			continue
		}
		for _, again := range places[name][1:] {
			wrong = append(wrong, t.at(again, "%q stands in a second place", name))
		}
	}
	return wrong
}

// isShown says whether n is something a client sees rather than a name: an
// example of a command, or its reply (RESET answers RESET).
func isShown(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		key, ok := n.Key.(*ast.Ident)
		return ok && (key.Name == "Examples" || key.Name == "Reply")
	case *ast.CompositeLit:
		typ, ok := n.Type.(*ast.Ident)
		return ok && typ.Name == "Example"
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "SimpleString"
	}
	return false
}

func checkPackageDocs(t *tree) (wrong []string) {
	documented := map[string]bool{}
	t.code(func(f *file) { documented[f.dir()] = documented[f.dir()] || f.ast.Doc != nil })
	for dir, ok := range documented {
		if !ok {
			wrong = append(wrong, dir+": no package comment")
		}
	}
	return wrong
}

func checkDocs(t *tree) (wrong []string) {
	t.code(func(f *file) {
		for _, decl := range f.ast.Decls {
			for _, name := range undocumented(decl) {
				wrong = append(wrong, t.at(name.Pos(), "%s has no comment", name.Name))
			}
		}
	})
	return wrong
}

// undocumented lists the exported names a declaration leaves without a comment;
// one comment serves a group.
func undocumented(decl ast.Decl) (names []*ast.Ident) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && receiverExported(d) {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if d.Doc == nil && s.Doc == nil && s.Comment == nil && s.Name.IsExported() {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				if d.Doc == nil && s.Doc == nil && s.Comment == nil && s.Names[0].IsExported() {
					names = append(names, s.Names[0])
				}
			}
		}
	}
	return names
}

// receiverExported says whether a function belongs to no type or to an exported
// one.
func receiverExported(fn *ast.FuncDecl) bool {
	if fn.Recv == nil {
		return true
	}
	recv := fn.Recv.List[0].Type
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = star.X
	}
	id, ok := recv.(*ast.Ident)
	return ok && id.IsExported()
}

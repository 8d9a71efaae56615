package tidy_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// timekeepers may look at a clock: the clock package for the shards, and the
// edges for deadlines of sockets and for the time a process has been up. What
// measures has a watch of its own.
var timekeepers = []string{"clock", "server", "cmd/limitstore", "bench/load", "bench/compare", "compat/run"}

// mains may end the process and write to its streams.
var mains = []string{"cmd/limitstore/main.go", "bench/main.go", "compat/run/main.go"}

// readings are the calls that read a clock.
var readings = []string{"time.Now", "time.Since", "time.Until"}

// waits are the calls that let time pass; a shard sleeps until its wheel is due.
var waits = []string{"time.After", "time.AfterFunc", "time.NewTimer", "time.NewTicker", "time.Tick", "time.Sleep"}

func codeLaws() []law {
	return []law{
		{
			name: "time is an argument below the drain", check: checkTime,
			bad:  map[string]string{"shard/a.go": "package shard\nvar _ = time.Now()"},
			says: "shard/a.go:2: time.Now: shard takes time as an argument",
		},
		{
			name: "no waiting below the shard", check: checkTime,
			bad:  map[string]string{"engine/a.go": "package engine\nfunc f() { <-time.After(1) }"},
			says: "engine/a.go:2: time.After: engine takes time as an argument",
		},
		{
			name: "no float decides", check: checkFloats,
			bad:  map[string]string{"limit/a.go": "package limit\nfunc f(x int) float64 { return 0 }"},
			says: "limit/a.go:2: float64",
		},
		{
			name: "no state of a package", check: checkVariables,
			bad:  map[string]string{"engine/a.go": "package engine\nvar cache = map[string]int{}\nfunc f() { cache[\"x\"] = 1 }"},
			says: "engine/a.go:3: cache is changed: package variables are tables and errors",
		},
		{
			name: "no variable without a value", check: checkVariables,
			bad:  map[string]string{"server/a.go": "package server\nvar count int"},
			says: "server/a.go:2: count: package variables are tables and errors",
		},
		{
			name: "no init", check: checkInit,
			bad:  map[string]string{"engine/a.go": "package engine\nfunc init() {}"},
			says: "engine/a.go:2: init",
		},
		{
			name: "only main ends the process and only passed loggers log", check: checkProcess,
			bad:  map[string]string{"server/a.go": "package server\nfunc f() { os.Exit(1) }"},
			says: "server/a.go:2: os.Exit",
		},
		{
			name: "reply bytes are made in resp", check: checkWire,
			bad:  map[string]string{"engine/a.go": "package engine\nconst pong = \"+PONG\\r\\n\""},
			says: `engine/a.go:2: "+PONG\r\n"`,
		},
	}
}

func checkTime(t *tree) (wrong []string) {
	t.code(func(f *file) {
		if slices.Contains(timekeepers, f.dir()) {
			return
		}
		calls(f, func(pos token.Pos, name string) {
			if slices.Contains(readings, name) || f.dir() != "shard" && slices.Contains(waits, name) {
				wrong = append(wrong, t.at(pos, "%s: %s takes time as an argument", name, f.dir()))
			}
		})
	})
	return wrong
}

func checkFloats(t *tree) (wrong []string) {
	t.code(func(f *file) {
		if !slices.Contains([]string{"limit", "ttl", "shard"}, f.dir()) {
			return
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && (id.Name == "float64" || id.Name == "float32") {
				wrong = append(wrong, t.at(id.Pos(), "%s: whole numbers decide here", id.Name))
			}
			return true
		})
	})
	return wrong
}

// isEmbedded says whether the variable is a table in a file beside the code.
func isEmbedded(decl *ast.GenDecl) bool {
	return decl.Doc != nil && slices.ContainsFunc(decl.Doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// checkVariables lets a package variable be a table or an error: it is made where
// it is declared, from a literal, by one of makers or by a function of its own
// package, and no function of the package assigns to it or to a part of it.
func checkVariables(t *tree) (wrong []string) {
	tables := map[string]bool{} // folder and name
	t.code(func(f *file) {
		for _, decl := range f.ast.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR || isEmbedded(gen) {
				continue
			}
			for _, spec := range gen.Specs {
				v := spec.(*ast.ValueSpec)
				for i, name := range v.Names {
					tables[f.dir()+"."+name.Name] = true
					if name.Name != "_" && !isMade(v.Values[min(i, len(v.Values)):]) {
						wrong = append(wrong, t.at(name.Pos(), "%s: package variables are tables and errors", name.Name))
					}
				}
			}
		}
	})
	t.code(func(f *file) {
		for _, decl := range f.ast.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				wrong = append(wrong, t.changes(f, fn, tables)...)
			}
		}
	})
	return wrong
}

// makers make what no one changes afterwards.
var makers = []string{"errors.New", "fmt.Errorf", "regexp.MustCompile", "strings.NewReplacer", "slices.Concat"}

// isMade says whether the first of values is a literal or comes from a maker.
func isMade(values []ast.Expr) bool {
	if len(values) == 0 {
		return false
	}
	switch v := values[0].(type) {
	case *ast.CompositeLit, *ast.BasicLit:
		return true
	case *ast.UnaryExpr:
		return isMade([]ast.Expr{v.X})
	case *ast.CallExpr:
		if sel, ok := v.Fun.(*ast.SelectorExpr); ok {
			x, _ := sel.X.(*ast.Ident)
			return x != nil && slices.Contains(makers, x.Name+"."+sel.Sel.Name)
		}
		id, ok := v.Fun.(*ast.Ident)
		return ok && id.Name != "new" && id.Name != "make"
	}
	return false
}

// changes finds assignments to a table. A local of the same name is one too for
// this rule: it would hide the table from its reader.
func (t *tree) changes(f *file, fn *ast.FuncDecl, tables map[string]bool) (wrong []string) {
	accuse := func(target ast.Expr) {
		if name := root(target); tables[f.dir()+"."+name] {
			wrong = append(wrong, t.at(target.Pos(), "%s is changed: package variables are tables and errors", name))
		}
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			for _, target := range s.Lhs {
				accuse(target)
			}
		case *ast.IncDecStmt:
			accuse(s.X)
		}
		return true
	})
	return wrong
}

// root is the name that an assignment's target begins with: x of x.f[i].
func root(target ast.Expr) string {
	switch x := target.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.IndexExpr:
		return root(x.X)
	case *ast.SelectorExpr:
		return root(x.X)
	case *ast.StarExpr:
		return root(x.X)
	}
	return ""
}

func checkInit(t *tree) (wrong []string) {
	t.code(func(f *file) {
		for _, decl := range f.ast.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				wrong = append(wrong, t.at(fn.Pos(), "init: what must happen is called where it happens"))
			}
		}
	})
	return wrong
}

// endings are the calls that end the process or write to its streams unasked.
var endings = []string{
	"os.Exit", "log.Fatal", "log.Fatalf", "log.Print", "log.Printf", "log.Println",
	"fmt.Print", "fmt.Printf", "fmt.Println", "slog.Info", "slog.Warn", "slog.Error", "slog.Debug", "slog.Default",
}

func checkProcess(t *tree) (wrong []string) {
	t.code(func(f *file) {
		calls(f, func(pos token.Pos, name string) {
			if slices.Contains(endings, name) && !slices.Contains(mains, f.path) {
				wrong = append(wrong, t.at(pos, "%s: only a main.go may", name))
			}
		})
	})
	return wrong
}

// checkWire finds ends of lines in strings outside of resp. A set of characters to
// cut off or look for is no reply.
func checkWire(t *tree) (wrong []string) {
	t.code(func(f *file) {
		if f.dir() == "resp" {
			return
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, _ := strconv.Unquote(lit.Value); strings.Contains(text, "\r\n") {
					wrong = append(wrong, t.at(lit.Pos(), "%s: reply bytes are made in resp only", lit.Value))
				}
			}
			return !takesSet(n)
		})
	})
	return wrong
}

// takesSet says whether n calls a function of strings or bytes that takes a set
// of characters.
func takesSet(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Trim", "TrimLeft", "TrimRight", "ContainsAny", "IndexAny"}, sel.Sel.Name)
}

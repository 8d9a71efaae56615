package tidy_test

import (
	"slices"
	"strconv"
	"strings"
)

// arrows says what each package may import beside the standard library: packages
// of this module by their folder, modules of others by their path. A package that
// is not here may not exist: first decide what it may know.
var arrows = map[string][]string{
	"limit":          {},
	"ttl":            {},
	"clock":          {"limit", "golang.org/x/sys"},
	"resp":           {"github.com/tidwall/redcon"},
	"shard":          {"limit", "ttl"},
	"engine":         {"engine/script", "shard", "limit", "resp", "github.com/cespare/xxhash/v2"},
	"engine/script":  {"resp"},
	"server":         {"engine", "shard", "limit", "resp", "github.com/prometheus/client_golang"},
	"bench/load":     {"resp", "github.com/HdrHistogram/hdrhistogram-go", "github.com/peterbourgon/ff/v3", "golang.org/x/sys"},
	"bench/compare":  {"bench/load", "github.com/cespare/xxhash/v2", "gonum.org/v1/plot"},
	"bench":          {"bench/compare"},
	"compat":         {},
	"compat/run":     {"compat"},
	"cmd/limitstore": {"bench/compare", "compat", "clock", "engine", "resp", "server", "shard", "github.com/peterbourgon/ff/v3", "github.com/prometheus/client_golang"},
}

func importLaws() []law {
	return []law{
		{
			name: "import arrows", check: checkArrows,
			bad:  map[string]string{"limit/a.go": `package limit; import _ "github.com/limitstore/limitstore/shard"`},
			says: "limit/a.go:1: limit may not import shard",
		},
		{
			name: "server and replication do not know each other", check: checkArrows,
			bad:  map[string]string{"server/a.go": `package server; import _ "github.com/limitstore/limitstore/replication"`},
			says: "server may not import replication",
		},
		{
			name: "every package has its arrows", check: checkArrows,
			bad:  map[string]string{"stray/a.go": `package stray`},
			says: "stray/a.go:1: the package is not in the table of arrows",
		},
		{
			name: "no locks below the door", check: checkLocks,
			bad:  map[string]string{"shard/index.go": `package shard; import _ "sync/atomic"`},
			says: "shard/index.go:1: imports sync/atomic",
		},
		{
			name: "every dependency has its reason", check: checkReasons,
			bad:  map[string]string{"go.mod": "require (\n\texample.com/left/pad v1.0.0\n)", "CONTRIBUTING.md": "# none\n"},
			says: "CONTRIBUTING.md: no reason for example.com/left/pad",
		},
	}
}

func checkArrows(t *tree) (wrong []string) {
	t.code(func(f *file) {
		allowed, known := arrows[f.dir()]
		if !known {
			wrong = append(wrong, t.at(f.ast.Package, "the package is not in the table of arrows"))
		}
		for _, spec := range f.ast.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			name = strings.TrimPrefix(name, module+"/")
			if known && !isStandard(name) && !within(name, allowed) {
				wrong = append(wrong, t.at(spec.Pos(), "%s may not import %s", f.dir(), name))
			}
		}
	})
	return wrong
}

// isStandard says whether an import, our own without the module's name, is of
// the standard library.
func isStandard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	if strings.Contains(first, ".") {
		return false
	}
	_, ours := arrows[name]
	return !ours && !slices.Contains([]string{"replication", "client", "gateway", "bench", "redistest"}, first)
}

// within says whether name is one of the allowed packages or below one.
func within(name string, allowed []string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool { return name == a || strings.HasPrefix(name, a+"/") })
}

// lockless are the packages without mutex and atomics, and the files in which
// they meet other goroutines.
var lockless = map[string][]string{
	"limit":  {},
	"ttl":    {},
	"engine": {},
	"shard":  {"shard/inbox.go", "shard/door.go"},
}

func checkLocks(t *tree) (wrong []string) {
	t.code(func(f *file) {
		except, bound := lockless[f.dir()]
		if !bound || slices.Contains(except, f.path) {
			return
		}
		for _, spec := range f.ast.Imports {
			if name, _ := strconv.Unquote(spec.Path.Value); name == "sync" || name == "sync/atomic" {
				wrong = append(wrong, t.at(spec.Pos(), "imports %s: a keyspace is touched only by its goroutine or through the door", name))
			}
		}
	})
	return wrong
}

// checkReasons wants every module that go.mod asks for directly in CONTRIBUTING.
func checkReasons(t *tree) (wrong []string) {
	mod, page := t.find("go.mod"), t.find("CONTRIBUTING.md")
	if mod == nil || page == nil {
		return []string{"go.mod and CONTRIBUTING.md must be there"}
	}
	for line := range strings.Lines(mod.text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "require ")
		name, version, _ := strings.Cut(line, " ")
		if strings.HasPrefix(version, "v") && !strings.Contains(line, "// indirect") && !strings.Contains(page.text, "`"+name+"`") {
			wrong = append(wrong, "CONTRIBUTING.md: no reason for "+name)
		}
	}
	return wrong
}

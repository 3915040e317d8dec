package earshot_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLayers(t *testing.T) {
	t.Parallel()
	packages := mustLoad(t, os.DirFS("."))
	report(t, layerViolations(packages))
}

func TestPureLayers(t *testing.T) {
	t.Parallel()
	packages := mustLoad(t, os.DirFS("."))
	report(t, purityViolations(packages))
}

// TestNoUnusedAllowance: each row is of a package that exists, and allows what its sources import and no more.
func TestNoUnusedAllowance(t *testing.T) {
	t.Parallel()
	report(t, unusedAllowances(mustLoad(t, os.DirFS(".")), layerTable))
}

// TestLayerTable proves that the table itself is sound: rows only point downward, and at rows.
func TestLayerTable(t *testing.T) {
	t.Parallel()
	for _, r := range layerTable {
		for i, own := range r.own {
			if slices.Contains(r.own[:i], own) {
				t.Errorf("%s is told twice that it may import %s", r.pkg, own)
			}
			if own == "*" {
				continue
			}
			below, ok := ruleOf(own)
			if !ok {
				t.Errorf("%s may import %s, which has no row", r.pkg, own)
			} else if below.layer >= r.layer {
				t.Errorf("%s (layer %d) may import %s (layer %d): only lower layers", r.pkg, r.layer, own, below.layer)
			}
		}
		for beside, reason := range r.beside {
			if next, ok := ruleOf(beside); !ok || next.layer != r.layer || reason == "" {
				t.Errorf("%s may import %s beside it: needs a row on the same layer and a reason", r.pkg, beside)
			}
		}
	}
}

// TestLayersCheckerBites feeds the checkers one wrong package after the other.
func TestLayersCheckerBites(t *testing.T) {
	t.Parallel()
	imports := func(pkg string, paths ...string) string {
		return "package " + path.Base(pkg) + "\nimport (\n_ \"" + strings.Join(paths, "\"\n_ \"") + "\"\n)\n"
	}
	tests := []struct {
		name, file, text string
		want             string // "" means that nothing may be found
	}{
		{"lower layer", "aaep/session/a.go", imports("session", "time", module+"/aaep"), ""},
		{"upward", "aaep/a.go", imports("aaep", module+"/internal/kernel"), "aaep may not import internal/kernel"},
		{"sideways", "utp/a.go", imports("utp", module+"/aaep"), "utp may not import aaep"},
		{"beside, with a reason", "tool/a.go", imports("tool", module+"/internal/rpc"), ""},
		{"beside, without", "internal/rpc/a.go", imports("internal/rpc", module+"/tool"), "internal/rpc may not import tool"},
		{"not listed", "tool/a.go", imports("tool", module+"/internal/kernel/turn"), "tool may not import internal/kernel/turn"},
		{"unknown package", "gadget/a.go", "package gadget\n", "gadget has no row"},
		{"unknown import", "cmd/earshot/a.go", imports("main", module+"/gadget"), "gadget has no row"},
		{"top imports all", "cmd/earshot/a.go", imports("main", module+"/internal/kernel", module+"/aaep", "github.com/spf13/cobra"), ""},
		{"third party", "internal/kernel/turn/a.go", imports("turn", "golang.org/x/text/language"), "internal/kernel/turn may not import golang.org/x/text/language"},
		{"prefix is a path", "internal/bus/a.go", imports("internal/bus", "github.com/nats-io.evil/x"), "internal/bus may not import github.com/nats-io.evil/x"},
		{"third party listed", "aaep/a.go", imports("aaep", "golang.org/x/text/language"), ""},
		{"tests are free", "aaep/a_test.go", imports("aaep_test", module+"/internal/kernel", "pgregory.net/rapid", "os"), ""},
		{"testdata is not code", "aaep/testdata/a.go", imports("x", "os"), ""},
		{"other module", "bench/a.go", imports("bench", "example.com/peer"), ""},
		{"impure import", "aaep/a.go", imports("aaep", "os"), "imports os"},
		{"impure below", "utp/a.go", imports("utp", "sync/atomic"), "imports sync/atomic"},
		{"url only parses", "aaep/a.go", imports("aaep", "net/url"), ""},
		{"shells may", "internal/kernel/a.go", imports("internal/kernel", "context", "sync"), ""},
		{"clock", "internal/kernel/consent/a.go", "package consent\nimport \"time\"\nvar x = time.Now()\n", "uses time.Now"},
		{"clock by another name", "utp/a.go", "package utp\nimport t \"time\"\nfunc f() { t.Sleep(1) }\n", "uses time.Sleep"},
		{"clock without a name", "utp/a.go", "package utp\nimport . \"time\"\nvar x = Second\n", "dot import"},
		{"a method is not a clock", "utp/a.go", "package utp\ntype c struct{}\nfunc (c) Now() int { return 0 }\nvar time c\nvar x = time.Now()\n", ""},
		{"a table at its first use", "utp/a.go", "package utp\nimport \"sync\"\nvar x = sync.OnceValue(func() int { return 1 })\n", ""},
		{"a lock", "utp/a.go", "package utp\nimport \"sync\"\nvar x sync.Mutex\n", "uses sync.Mutex"},
		{"goroutine", "internal/kernel/turn/a.go", "package turn\nfunc f() { go f() }\n", "starts a goroutine"},
		{"goroutine above", "internal/kernel/a.go", "package kernel\nfunc f() { go f() }\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := fstest.MapFS{
				tt.file:        {Data: []byte(tt.text)},
				"bench/go.mod": {Data: []byte("module example.com/bench\n")},
			}
			packages := mustLoad(t, fsys)
			got := append(layerViolations(packages), purityViolations(packages)...)
			wantFinding(t, got, tt.want)
		})
	}
}

func TestUnusedAllowancesBite(t *testing.T) {
	t.Parallel()
	packages := mustLoad(t, fstest.MapFS{
		"x/a.go": {Data: []byte("package x\nimport (\n_ \"" + module + "/aaep/session\"\n_ \"golang.org/x/text/language\"\n)\n")},
	})
	for name, tt := range map[string]struct {
		row  rule
		want string
	}{
		"used":         {rule{pkg: "x", own: []string{"aaep/session"}, third: []string{textModule}}, ""},
		"own":          {rule{pkg: "x", own: []string{"aaep", "aaep/session"}}, "x may import aaep and does not"},
		"beside":       {rule{pkg: "x", beside: map[string]string{"utp": "why"}}, "x may import utp and does not"},
		"third party":  {rule{pkg: "x", third: []string{sysModule}}, "x may import golang.org/x/sys and does not"},
		"a reason":     {rule{pkg: "x", both: "why"}, "has a reason to know both"},
		"without code": {rule{pkg: "y"}, "y has a row and no sources"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantFinding(t, unusedAllowances(packages, []rule{tt.row}), tt.want)
		})
	}
}

func ruleOf(pkg string) (rule, bool) {
	i := slices.IndexFunc(layerTable, func(r rule) bool { return r.pkg == pkg })
	if i < 0 {
		return rule{}, false
	}
	return layerTable[i], true
}

func layerViolations(packages []source) []string {
	var found []string
	for _, p := range packages {
		r, ok := ruleOf(p.pkg)
		if !ok {
			found = append(found, p.pkg+" has no row in the table: give it a layer, or put its code where it belongs")
			continue
		}
		for _, imp := range p.imports() {
			if why := judgeImport(r, imp.path); why != "" {
				found = append(found, imp.where+": "+why)
			}
		}
		if knowsBoth(p) && r.both == "" {
			found = append(found, p.pkg+" knows both protocols without a reason in the table")
		}
	}
	return found
}

// knowsBoth reports whether a package imports of the people's side and of the tools' side. The machine of questions
// is a part of the kernel and is about people.
func knowsBoth(p source) bool {
	people, tools := false, false
	for _, imp := range p.imports() {
		own := strings.TrimPrefix(imp.path, module+"/")
		asks := own == "internal/kernel/consent"
		people = people || asks || under(own, "aaep")
		tools = tools || !asks && (under(own, "utp") || under(own, "internal/kernel"))
	}
	return people && tools
}

// unusedAllowances finds what a row allows and nobody uses.
func unusedAllowances(packages []source, rows []rule) []string {
	var found []string
	for _, r := range rows {
		i := slices.IndexFunc(packages, func(p source) bool { return p.pkg == r.pkg })
		if i < 0 {
			found = append(found, r.pkg+" has a row and no sources")
			continue
		}
		imports := packages[i].imports()
		unused := func(what string, is func(imp string) bool) {
			if !slices.ContainsFunc(imports, func(imp importLine) bool { return is(imp.path) }) {
				found = append(found, r.pkg+" may import "+what+" and does not")
			}
		}
		for _, own := range slices.AppendSeq(slices.Clone(r.own), maps.Keys(r.beside)) {
			if own != "*" {
				unused(own, func(imp string) bool { return imp == module+"/"+own })
			}
		}
		for _, third := range r.third {
			unused(third, func(imp string) bool { return under(imp, third) })
		}
		if r.both != "" && !knowsBoth(packages[i]) {
			found = append(found, r.pkg+" has a reason to know both protocols and does not")
		}
	}
	return found
}

// judgeImport says why rule r may not import imp, or "".
func judgeImport(r rule, imp string) string {
	listed := func(list []string) bool {
		return slices.ContainsFunc(list, func(prefix string) bool { return under(imp, prefix) })
	}
	own, isOwn := strings.CutPrefix(imp, module+"/")
	switch {
	case isOwn:
		below, ok := ruleOf(own)
		if !ok {
			return own + " has no row in the table"
		}
		if _, beside := r.beside[own]; beside {
			return ""
		}
		if !slices.Contains(r.own, own) && !slices.Contains(r.own, "*") || below.layer >= r.layer {
			return fmt.Sprintf("%s may not import %s", r.pkg, own)
		}
	case strings.Contains(strings.Split(imp, "/")[0], "."):
		if !listed(r.third) && !under(imp, jsonModule) {
			return fmt.Sprintf("%s may not import %s", r.pkg, imp)
		}
	case r.layer <= pureLayer && listed(impureImports) && !listed(impureExcept):
		return r.pkg + " is pure but imports " + imp
	}
	return ""
}

// purityViolations finds what a pure package does rather than imports: reading the clock and starting goroutines.
func purityViolations(packages []source) []string {
	var found []string
	for _, p := range packages {
		if r, ok := ruleOf(p.pkg); !ok || r.layer > pureLayer {
			continue
		}
		for _, f := range p.files {
			ast.Inspect(f.syntax, func(n ast.Node) bool {
				if what := impureNode(p.info, n); what != "" {
					found = append(found, p.at(n)+": "+p.pkg+" is pure but "+what)
				}
				return true
			})
		}
	}
	return found
}

func impureNode(info *types.Info, n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "starts a goroutine"
	case *ast.ImportSpec:
		if n.Name != nil && n.Name.Name == "." {
			return "has a dot import, which hides what is called"
		}
	case *ast.SelectorExpr:
		base, ok := n.X.(*ast.Ident)
		if !ok {
			return ""
		}
		pkg, ok := info.Uses[base].(*types.PkgName)
		if ok && pkg.Imported().Path() == "time" && slices.Contains(impureClock, n.Sel.Name) {
			return "uses time." + n.Sel.Name
		}
		if ok && pkg.Imported().Path() == "sync" && !slices.Contains(pureSync, n.Sel.Name) {
			return "uses sync." + n.Sel.Name
		}
	}
	return ""
}

// under reports whether p is dir or lies below it.
func under(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, dir+"/")
}

package earshot_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is one package: its Go files without the tests, parsed, and its names resolved as far as that goes
// without the imported packages.
type source struct {
	pkg   string // folder, slash-separated, relative to the module
	files []sourceFile
	fset  *token.FileSet
	info  *types.Info
	scope *types.Scope
}

type sourceFile struct {
	name   string // relative to the module
	text   string
	syntax *ast.File
}

type importLine struct {
	path  string
	where string // file:line
}

func (s source) at(n ast.Node) string {
	p := s.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

func (s source) imports() []importLine {
	var all []importLine
	for _, f := range s.files {
		for _, spec := range f.syntax.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				p = spec.Path.Value // the parser has complained already
			}
			all = append(all, importLine{path: p, where: s.at(spec)})
		}
	}
	return all
}

// mustLoad reads every package of the module at the root of fsys, whatever its build tags say.
func mustLoad(t *testing.T, fsys fs.FS) []source {
	t.Helper()
	folders := map[string][]string{}
	err := walk(fsys, func(name string) error {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			folders[path.Dir(name)] = append(folders[path.Dir(name)], name)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("reading the sources: %v", err)
	}
	all := make([]source, 0, len(folders))
	for folder, names := range folders {
		s, err := load(fsys, folder, names)
		if err != nil {
			t.Fatalf("reading %s: %v", folder, err)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b source) int { return strings.Compare(a.pkg, b.pkg) })
	return all
}

func load(fsys fs.FS, folder string, names []string) (source, error) {
	s := source{
		pkg:  folder,
		fset: token.NewFileSet(),
		info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}},
	}
	var syntax []*ast.File
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return source{}, fmt.Errorf("reading a file: %w", err)
		}
		file, err := parser.ParseFile(s.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return source{}, fmt.Errorf("parsing: %w", err)
		}
		s.files = append(s.files, sourceFile{name: name, text: string(text), syntax: file})
		syntax = append(syntax, file)
	}
	// The imported packages are left out on purpose: names of this package and of its imports resolve without
	// them, and the test needs no build. The errors that this causes are expected.
	config := types.Config{Importer: noImporter{}, Error: func(error) {}}
	pkg, err := config.Check(folder, s.fset, syntax, s.info)
	if pkg == nil {
		return source{}, fmt.Errorf("resolving names: %w", err)
	}
	s.scope = pkg.Scope()
	return s, nil
}

var errNotImported = errors.New("not imported")

type noImporter struct{}

func (noImporter) Import(string) (*types.Package, error) { return nil, errNotImported }

// walk calls visit with every file of the module: no hidden folder but .ci, no test data, no build product, no
// folder that is a module of its own.
func walk(fsys fs.FS, visit func(name string) error) error {
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == ".git" && !d.IsDir() {
			return nil // a worktree says there where its repository is
		}
		if !d.IsDir() {
			return visit(name)
		}
		if name == "." {
			return nil
		}
		base := d.Name()
		if base != ".ci" && strings.HasPrefix(base, ".") || slices.Contains([]string{"testdata", "bin", "dist", "vendor"}, base) {
			return fs.SkipDir
		}
		if _, err := fs.Stat(fsys, name+"/go.mod"); err == nil {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("walking the module: %w", err)
	}
	return nil
}

func report(t *testing.T, found []string) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
}

// wantFinding checks a checker: it must find want and only want, or nothing when want is "".
func wantFinding(t *testing.T, found []string, want string) {
	t.Helper()
	switch {
	case want == "" && len(found) > 0:
		t.Errorf("found %q, want nothing", found)
	case want != "" && (len(found) != 1 || !strings.Contains(found[0], want)):
		t.Errorf("found %q, want one finding with %q", found, want)
	}
}

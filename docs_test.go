package earshot_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update", false, "write the Go examples of the documents again from their sources")

// exampleBlock is a block of Go in a document, below a comment that names its source:
//
//	<!-- example: FOLDER FUNCTION -->
//
// With "program" instead of "example" it is a whole program, whose main function that is.
var exampleBlock = regexp.MustCompile("(?s)<!-- (example|program): (\\S+) (\\S+) -->\n\n```go\n(.*?)```\n")

// TestExamplesInDocuments: every block of Go in a document is the body of an Example
// function, which `go test` compiles and runs, or a program around it. With -update the
// blocks are written again.
func TestExamplesInDocuments(t *testing.T) {
	t.Parallel()
	documents, err := filepath.Glob("docs/*.md")
	if err != nil || len(documents) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	count := 0
	for _, name := range append(documents, "README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fresh, found := withExamples(t, name, text)
		count += found
		if *updateDocs && !bytes.Equal(fresh, text) {
			if err := os.WriteFile(name, fresh, 0o600); err != nil {
				t.Fatal(err)
			}
			text = fresh
		}
		if !bytes.Equal(fresh, text) {
			t.Errorf("%s: an example differs from its source; write it again with: go test . -run TestExamplesInDocuments -update", name)
		}
		if blocks := bytes.Count(text, []byte("```go\n")); blocks != found {
			t.Errorf("%s: %d blocks of Go, %d of them below the name of an example", name, blocks, found)
		}
	}
	if count < 5 {
		t.Errorf("only %d examples in all documents", count)
	}
}

// withExamples puts the sources of the examples into a document.
func withExamples(t *testing.T, name string, text []byte) (fresh []byte, count int) {
	t.Helper()
	fresh = exampleBlock.ReplaceAllFunc(text, func(block []byte) []byte {
		parts := exampleBlock.FindSubmatch(block)
		count++
		source, err := sourceOf(string(parts[2]), string(parts[3]))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return block
		}
		text := source.body()
		if string(parts[1]) == "program" {
			text = source.program()
		}
		return fmt.Appendf(nil, "<!-- %s: %s %s -->\n\n```go\n%s```\n", parts[1], parts[2], parts[3], text)
	})
	return fresh, count
}

// example is a function of the tests in a folder.
type example struct {
	file     *ast.File
	function *ast.FuncDecl
	braces   string // what stands between them
}

func sourceOf(folder, function string) (example, error) {
	files, err := filepath.Glob(path.Join(folder, "*_test.go"))
	if err != nil {
		return example{}, err
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return example{}, err
		}
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, file, source, parser.ParseComments)
		if err != nil {
			return example{}, err
		}
		for _, declared := range syntax.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Name.Name == function {
				body := source[set.Position(f.Body.Lbrace).Offset+1 : set.Position(f.Body.Rbrace).Offset]
				return example{file: syntax, function: f, braces: string(body)}, nil
			}
		}
	}
	return example{}, fmt.Errorf("no function %s in the tests of %s", function, folder)
}

// body is the function's, one step to the left.
func (e example) body() string {
	return strings.TrimPrefix(strings.ReplaceAll(e.braces, "\n\t", "\n"), "\n")
}

// program is one with the function as its main, and with what that imports.
func (e example) program() string {
	used := map[string]bool{}
	ast.Inspect(e.function.Body, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is {
			if x, is := s.X.(*ast.Ident); is {
				used[x.Name] = true
			}
		}
		return true
	})
	var library, others []string
	for _, spec := range e.file.Imports {
		switch name := path.Base(strings.Trim(spec.Path.Value, `"`)); {
		case !used[name]:
		case strings.Contains(spec.Path.Value, "."):
			others = append(others, "\t"+spec.Path.Value+"\n")
		default:
			library = append(library, "\t"+spec.Path.Value+"\n")
		}
	}
	slices.Sort(others) // those of this repository stand below all others in its files
	imports := strings.Join(library, "") + "\n" + strings.Join(others, "")
	return "package main\n\nimport (\n" + imports + ")\n\nfunc main() {" + e.braces + "}\n"
}

func TestExamplesAreFound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		folder, function, want string
	}{
		{"aaep", "ExampleValidate", "for _, v := range aaep.Validate(raw, aaep.ModeProducer) {\n\tfmt.Println(v, v.Also)\n}\n"},
		{"aaep", "ExampleValidate", "raw := []byte("},
	} {
		source, err := sourceOf(tt.folder, tt.function)
		body := source.body()
		if err != nil || !strings.Contains(body, tt.want) || strings.HasPrefix(body, "\n") || strings.HasPrefix(body, "\t") {
			t.Errorf("%s: %v\n%q", tt.function, err, body)
		}
	}
	if _, err := sourceOf("aaep", "ExampleNothing"); err == nil {
		t.Error("a function that is not there is found")
	}
	whole, err := sourceOf("tool/service", "Example")
	if program := whole.program(); err != nil || !strings.HasPrefix(program, "package main\n\nimport (\n\t\"context\"\n\t\"strings\"\n\n\t\"github.com/") ||
		!strings.Contains(program, "\n\tservice.Main(") || !strings.HasSuffix(program, "\n}\n") {
		t.Errorf("a program: %v\n%s", err, program)
	}
	stale := []byte("<!-- example: aaep ExampleValidate -->\n\n```go\nold\n```\n")
	if fresh, count := withExamples(t, "a test", stale); count != 1 || bytes.Equal(fresh, stale) {
		t.Errorf("a stale example stays: %d %s", count, fresh)
	}
}

// TestPublicPackagesHaveExamples: each package that is promised has a comment, and an example that a test runs.
func TestPublicPackagesHaveExamples(t *testing.T) {
	t.Parallel()
	packages := mustLoad(t, os.DirFS("."))
	var found []string
	for _, p := range packages {
		if !slices.ContainsFunc([]string{"aaep", "api", "client", "tool", "utp", "worker"}, func(root string) bool { return under(p.pkg, root) }) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(p.pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(name string) bool { return exampleRuns.MatchString(mustRead(t, name)) }) {
			found = append(found, p.pkg+" has no example that a test runs")
		}
	}
	report(t, found)
}

// exampleRuns finds an example that is more than compiled: with an output, or a process that a test of its package runs.
var exampleRuns = regexp.MustCompile(`(?s)\nfunc Example\w*\(\) \{.*?\n\t// (?:Unordered o|O)utput:|//nolint:testableexamples // [^\n]*\bTest[A-Z]`)

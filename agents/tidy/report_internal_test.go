package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// constants are the values that the file operations declare under names with a prefix.
func constants(t *testing.T, file, prefix string) []string {
	t.Helper()
	syntax, err := parser.ParseFile(token.NewFileSet(), filepath.Join("files", file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	ast.Inspect(syntax, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || !strings.HasPrefix(spec.Names[0].Name, prefix) || len(spec.Values) == 0 {
			return true
		}
		if literal, is := spec.Values[0].(*ast.BasicLit); is {
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
		}
		return true
	})
	return all
}

// TestEverySkipIsSaid: each reason for which a scan passes something by is said in words with
// its count, for one and for several, and so is each for which a file cannot be hashed.
func TestEverySkipIsSaid(t *testing.T) {
	t.Parallel()
	reasons := constants(t, "scan.go", "Skip")
	if len(reasons) < 12 {
		t.Fatalf("scan.go has the reasons %q", reasons)
	}
	reasons = append(reasons, string(files.CodeChanged), string(files.CodeNotRegular), string(files.CodeEscapesRoot))
	for _, reason := range reasons {
		words := skips()[reason]
		for count, want := range map[int]string{1: "Skipped: 1 " + words[0] + ".", 1200: "Skipped: 1,200 " + words[1] + "."} {
			p := New(Args{Root: "/r"})
			p.counts.Skipped[reason] = count
			got := p.report(Nothing, Result{}, false)
			if words[0] == "" || words[1] == "" || got[len(got)-1] != want {
				t.Errorf("%s, %d times, is said as %q", reason, count, got)
			}
		}
	}
}

// TestEveryRefusalIsSaid: each reason for which a removal leaves a file alone is said with its
// code, its words and its count.
func TestEveryRefusalIsSaid(t *testing.T) {
	t.Parallel()
	codes := constants(t, "refusal.go", "Code")
	if len(codes) < 8 {
		t.Fatalf("refusal.go has the codes %q", codes)
	}
	for _, code := range codes {
		p := New(Args{Root: "/r"})
		p.counts.Refused[code] = 2
		words := refusals()[code]
		want := "Left alone: 2 files, reason " + code + " (" + words + ")."
		if got := p.leftovers(Done); words == "" || len(got) != 1 || got[0] != want {
			t.Errorf("%s is said as %q, want %q", code, got, want)
		}
	}
}

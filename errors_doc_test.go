package earshot_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/earshot-dev/earshot/utp"
)

const errorsDoc = "docs/errors.md"

// TestErrorCodesAreDocumented compares docs/errors.md with the sources, both ways: each exported constant of an
// exported string type whose name ends in Code has a row in the section that names the type, and each row there
// has its constant.
func TestErrorCodesAreDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(errorsDoc)
	if err != nil {
		t.Fatal(err)
	}
	report(t, codeViolations(mustLoad(t, os.DirFS(".")), string(doc)))
}

// TestErrorCodesTellTheTruth compares the column "safe to retry" with what package utp says.
func TestErrorCodesTellTheTruth(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(errorsDoc)
	if err != nil {
		t.Fatal(err)
	}
	rows := codeSections(string(doc))["utp.Code"]
	if len(rows) == 0 {
		t.Fatalf("%s has no rows for utp.Code", errorsDoc)
	}
	for code, cells := range rows {
		if says := strings.HasPrefix(cells[1], "yes"); says != utp.Code(code).SafeToRetry() {
			t.Errorf("%s says of %s %q; SafeToRetry is %v", errorsDoc, code, cells[1], !says)
		}
	}
}

func TestErrorCodesCheckerBites(t *testing.T) {
	t.Parallel()
	const code = "package x\ntype Code string\nconst CodeLost Code = \"lost\"\nconst codeInner Code = \"inner\"\n"
	tests := []struct {
		name, code, doc, want string
	}{
		{"documented", code, "## `x.Code`\n\n| `lost` | it is gone | yes | look |\n", ""},
		{"missing", code, "## `x.Code`\n\n| `other` | … | no | … |\n", "no row for `lost`"},
		{"no section", code, "# Codes\n", "no section"},
		{"in another section", code, "## `x.Code`\n\n## `y.Code`\n\n| `lost` | gone | yes | look |\n", "no row for `lost`"},
		{"stale", code, "## `x.Code`\n\n| `lost` | gone | yes | look |\n| `found` | here | no | – |\n", "`found`, which is not a constant"},
		{"empty cell", code, "## `x.Code`\n\n| `lost` | gone | yes | |\n", "every cell"},
		{"retry is yes, no or in part", code, "## `x.Code`\n\n| `lost` | gone | perhaps | look |\n", "safe to retry"},
		{"not a code", "package x\ntype Mode string\nconst A Mode = \"a\"\n", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			packages := mustLoad(t, fstest.MapFS{"x/a.go": {Data: []byte(tt.code)}})
			found := codeViolations(packages, tt.doc)
			if tt.want == "" || len(found) == 0 {
				wantFinding(t, found, tt.want)
			} else if !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, tt.want) }) {
				t.Errorf("found %q, want one with %q", found, tt.want)
			}
		})
	}
}

var (
	codeRow   = regexp.MustCompile("^\\| `([a-z0-9_]+)` \\|(.*)\\|$")
	retryable = regexp.MustCompile(`^(yes|no)\b`)
)

func codeViolations(packages []source, doc string) []string {
	sections := codeSections(doc)
	var found []string
	for name, codes := range codeTypes(packages) {
		rows, ok := sections[name]
		if !ok {
			found = append(found, fmt.Sprintf("%s has no section for `%s`", errorsDoc, name))
			continue
		}
		for _, code := range codes {
			cells, ok := rows[code]
			if !ok {
				found = append(found, fmt.Sprintf("%s, `%s`: no row for `%s`", errorsDoc, name, code))
				continue
			}
			found = append(found, judgeCells(name, code, cells)...)
		}
		for row := range rows {
			if !slices.Contains(codes, row) {
				found = append(found, fmt.Sprintf("%s, `%s`: a row for `%s`, which is not a constant", errorsDoc, name, row))
			}
		}
	}
	slices.Sort(found)
	return found
}

func judgeCells(name, code string, cells []string) []string {
	var found []string
	if len(cells) != 3 || slices.Contains(cells, "") {
		found = append(found, fmt.Sprintf("%s, `%s`, `%s`: every cell says something", errorsDoc, name, code))
	} else if !retryable.MatchString(cells[1]) {
		found = append(found, fmt.Sprintf("%s, `%s`, `%s`: safe to retry begins with yes or no, not %q", errorsDoc, name, code, cells[1]))
	}
	return found
}

// codeTypes maps each type of error codes, as package.Type without internal/, to its exported constants' values.
func codeTypes(packages []source) map[string][]string {
	all := map[string][]string{}
	for _, p := range packages {
		for _, name := range p.scope.Names() {
			c, ok := p.scope.Lookup(name).(*types.Const)
			if !ok || !ast.IsExported(name) || c.Val().Kind() != constant.String {
				continue
			}
			named, ok := c.Type().(*types.Named)
			if !ok || !named.Obj().Exported() || !strings.HasSuffix(named.Obj().Name(), "Code") {
				continue
			}
			key := strings.TrimPrefix(p.pkg, "internal/") + "." + named.Obj().Name()
			all[key] = append(all[key], constant.StringVal(c.Val()))
		}
	}
	return all
}

// codeSections maps the type that a heading names to its table: code to the remaining cells.
func codeSections(doc string) map[string]map[string][]string {
	sections := map[string]map[string][]string{}
	var rows map[string][]string
	for line := range strings.Lines(doc) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			rows = map[string][]string{}
			if _, after, ok := strings.Cut(heading, "`"); ok {
				name, _, _ := strings.Cut(after, "`")
				sections[name] = rows
			}
			continue
		}
		if m := codeRow.FindStringSubmatch(line); m != nil && rows != nil {
			cells := strings.Split(m[2], "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows[m[1]] = cells
		}
	}
	return sections
}

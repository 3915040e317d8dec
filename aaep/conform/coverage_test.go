package conform_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/conform"
)

// TestCoverage holds the coverage of the catalogue against floor.json, which may only
// rise, and prints it.
func TestCoverage(t *testing.T) {
	t.Parallel()
	all, err := conform.Measure()
	if err != nil {
		t.Fatal(err)
	}
	var covered []string
	for _, c := range all {
		if c.Covered {
			covered = append(covered, c.Rule.ID)
		}
		if c.Rule.Due() && !c.Covered && c.Reason == "" {
			t.Errorf("%s (%s, %v) is covered by nothing and has no reason: %d vectors keep it, %d break it", c.Rule.ID, c.Rule.Level, c.Rule.Check, c.Passing, c.Failing)
		}
		if c.Rule.Exchange() && !c.Covered && c.Rule.Uncovered == "" {
			t.Errorf("%s takes an exchange, no check covers it, and catalogue.json has no reason (uncovered): %s", c.Rule.ID, c.Reason)
		}
		if c.Rule.Uncovered != "" && c.Covered {
			t.Errorf("%s is covered: take its reason out of catalogue.json", c.Rule.ID)
		}
	}
	for _, n := range conform.Summarise(all) {
		t.Logf("%-6s %3d of %3d covered where one event, message or stream shows it; %3d of %3d of the others", n.Level, n.DueCovered, n.Due, n.OtherCovered, n.Other)
	}
	t.Logf("%d of %d rules covered", len(covered), len(all))
	for _, c := range all {
		if c.Rule.Due() && !c.Covered {
			t.Logf("not covered: %s: %s", c.Rule.ID, c.Reason)
		}
	}
	holdFloor(t, covered)
}

func holdFloor(t *testing.T, covered []string) {
	t.Helper()
	raw, err := os.ReadFile("floor.json")
	if err != nil {
		t.Fatal(err)
	}
	var floor struct {
		Covered []string `json:"covered"`
	}
	if err := json.Unmarshal(raw, &floor); err != nil {
		t.Fatal(err)
	}
	for _, id := range floor.Covered {
		if !slices.Contains(covered, id) {
			t.Errorf("%s was covered and is not any more", id)
		}
	}
	for _, id := range covered {
		if !slices.Contains(floor.Covered, id) && !*update {
			t.Errorf("%s is covered and not in floor.json: run go test ./aaep/conform -run TestCoverage -update", id)
		}
	}
	if *update && !t.Failed() {
		floor.Covered = covered
		raised, err := json.Marshal(floor, jsontext.WithIndent("  "))
		if err != nil {
			t.Fatal(err)
		}
		save(t, "floor.json", append(raised, '\n'))
	}
}

// TestElsewhere: every test that the table names exists, in that package, and its file
// names the rule.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	tests, err := conform.Elsewhere()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := conform.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for id, names := range tests {
		if !slices.ContainsFunc(rules, func(r conform.Rule) bool { return r.ID == id }) {
			t.Errorf("elsewhere.json names the rule %s, which the catalogue does not have", id)
		}
		for _, name := range names {
			dot := strings.LastIndexByte(name, '.')
			if dot < 0 || !declares(t, filepath.Join("..", "..", filepath.FromSlash(name[:dot])), name[dot+1:], id) {
				t.Errorf("%s: there is no test %s in a file that names the rule", id, name)
			}
		}
	}
}

// declares reports whether a file of the folder that names the rule has this test.
func declares(t *testing.T, folder, test, rule string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), rule) {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == test && strings.HasPrefix(test, "Test") {
				return true
			}
		}
	}
	return false
}

// TestCatalogue: the rows are well formed, and what they refer to exists.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	rules, err := conform.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, r := range rules {
		if known[r.ID] {
			t.Errorf("%s is there twice", r.ID)
		}
		known[r.ID] = true
		if r.Title == "" || r.Level == "" || len(r.Title) > 120 {
			t.Errorf("%s: a rule needs a level and a short title: %+v", r.ID, r)
		}
	}
	for _, r := range rules {
		for _, id := range r.Restates {
			if !known[id] {
				t.Errorf("%s restates %s, which does not exist", r.ID, id)
			}
		}
	}
	if got := fmt.Sprint(len(rules)); got != "640" {
		t.Errorf("%s rules, expected 640", got)
	}
}

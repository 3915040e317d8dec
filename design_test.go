package earshot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	designDoc       = "docs/design.md"
	dependenciesDoc = "docs/decisions/040-dependencies.md"
	// onePage is how many lines a decision may have.
	onePage = 60
)

var (
	packageRow   = regexp.MustCompile("^\\|[^|]*\\| `([\\w/]+)` \\|[^|]*\\|([^|]*)\\|$")
	backticked   = regexp.MustCompile("`([^`]+)`")
	requirement  = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)
	decisionRow  = regexp.MustCompile(`^\| \[(\d{3})\]\((decisions/[\w-]+\.md)\) \| (.+) \|$`)
	decisionFile = regexp.MustCompile(`^docs/decisions/(\d{3})-[a-z0-9-]+\.md$`)
)

// TestDesignNamesModules: the table of packages names the modules that each package imports, and no other.
func TestDesignNamesModules(t *testing.T) {
	t.Parallel()
	report(t, moduleViolations(mustLoad(t, os.DirFS(".")), mustRead(t, designDoc)))
}

// TestDependenciesHaveReasons: each module that go.mod requires has its row, and each row its module.
func TestDependenciesHaveReasons(t *testing.T) {
	t.Parallel()
	report(t, dependencyViolations(mustRead(t, dependenciesDoc), mustRead(t, "go.mod")))
}

// TestDecisions: the index lists each decision under its number and title, and a decision is one page of four parts.
func TestDecisions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("docs/decisions/*")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, file := range files {
		pages[file] = mustRead(t, file)
	}
	report(t, decisionViolations(mustRead(t, designDoc), pages))
}

func TestDesignCheckersBite(t *testing.T) {
	t.Parallel()
	const whole = "# 001. A title\n\n## Context\n\n## Decision\n\n## Chosen over\n\n## Consequences\n"
	const row = "| [001](decisions/001-a.md) | A title |\n"
	decisions := func(index, page string) []string {
		return decisionViolations(index, map[string]string{"docs/decisions/001-a.md": page})
	}
	packages := func(table string) []string {
		text := "package bus\nimport _ \"github.com/nats-io/nats.go\"\nimport _ \"os\"\n"
		return moduleViolations(mustLoad(t, fstest.MapFS{"bus/a.go": {Data: []byte(text)}}), table)
	}
	const needs = "require (\n\texample.com/a/b v1.0.0\n\texample.com/c v1.0.0 // indirect\n)\n"
	for name, tt := range map[string]struct {
		found []string
		want  string
	}{
		"module":            {packages("| 3 | `bus` | x | `nats-io` |\n"), ""},
		"module missing":    {packages("| 3 | `bus` | x | |\n"), "does not name the module of github.com/nats-io/nats.go"},
		"module too many":   {packages("| 3 | `bus` | x | `nats-io`, `yaml` |\n"), "`yaml`"},
		"no row":            {packages("| 3 | `hub` | x | |\n"), "no row"},
		"dependency":        {dependencyViolations("| x | `a/b` | y |\n", needs), ""},
		"dependency gone":   {dependencyViolations("| x | `a/b`, `d` | y |\n", needs), "`d`"},
		"no reason":         {dependencyViolations("| x | none | y |\n", needs), "example.com/a/b"},
		"decision":          {decisions(row, whole), ""},
		"not in the index":  {decisions("", whole), "not in the index"},
		"no such page":      {decisions(row+"| [002](decisions/002-b.md) | B |\n", whole), "002-b.md"},
		"other title":       {decisions(row, strings.Replace(whole, "A title", "Another", 1)), "# 001. A title"},
		"a part is missing": {decisions(row, strings.Replace(whole, "## Chosen over\n", "", 1)), "Chosen over"},
		"too long":          {decisions(row, whole+strings.Repeat("x\n", onePage)), "lines"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantFinding(t, tt.found, tt.want)
		})
	}
}

func moduleViolations(packages []source, design string) []string {
	rows := map[string][]string{}
	for line := range strings.Lines(design) {
		if m := packageRow.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			rows[m[1]] = tokens(m[2])
		}
	}
	var found []string
	for _, p := range packages {
		named, ok := rows[p.pkg]
		if !ok {
			found = append(found, designDoc+" has no row for "+p.pkg)
			continue
		}
		var modules []string
		for _, imp := range p.imports() {
			if strings.Contains(strings.Split(imp.path, "/")[0], ".") && !under(imp.path, module) && !under(imp.path, jsonModule) {
				modules = append(modules, imp.path)
			}
		}
		for _, imp := range modules {
			if !slices.ContainsFunc(named, func(name string) bool { return strings.Contains(imp, name) }) {
				found = append(found, fmt.Sprintf("%s, `%s`: does not name the module of %s", designDoc, p.pkg, imp))
			}
		}
		for _, name := range named {
			if !slices.ContainsFunc(modules, func(imp string) bool { return strings.Contains(imp, name) }) {
				found = append(found, fmt.Sprintf("%s, `%s`: names `%s`, which is not imported", designDoc, p.pkg, name))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func dependencyViolations(page, gomod string) []string {
	var required, named, found []string
	for _, m := range requirement.FindAllStringSubmatch(gomod, -1) {
		required = append(required, m[1])
	}
	for line := range strings.Lines(page) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			named = append(named, tokens(cells[2])...)
		}
	}
	for _, name := range named {
		if !slices.ContainsFunc(required, func(path string) bool { return strings.Contains(path, name) }) {
			found = append(found, fmt.Sprintf("%s names `%s`, which go.mod does not require", dependenciesDoc, name))
		}
	}
	for _, path := range required {
		if !slices.ContainsFunc(named, func(name string) bool { return strings.Contains(path, name) }) {
			found = append(found, fmt.Sprintf("%s has no row for %s", dependenciesDoc, path))
		}
	}
	return found
}

func decisionViolations(index string, pages map[string]string) []string {
	var found []string
	listed := map[string]bool{}
	for line := range strings.Lines(index) {
		m := decisionRow.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		file := "docs/" + m[2]
		listed[file] = true
		if heading := "# " + m[1] + ". " + m[3] + "\n"; !strings.HasPrefix(pages[file], heading) {
			found = append(found, fmt.Sprintf("%s does not begin with %q, as the index of %s has it", file, heading, designDoc))
		}
	}
	for file, page := range pages {
		switch {
		case decisionFile.FindString(file) == "":
			found = append(found, file+" is not named NNN-title.md")
		case !listed[file]:
			found = append(found, file+" is not in the index of "+designDoc)
		}
		for _, part := range []string{"Context", "Decision", "Chosen over", "Consequences"} {
			if !strings.Contains(page, "\n## "+part+"\n") {
				found = append(found, fmt.Sprintf("%s has no part %q", file, part))
			}
		}
		if n := strings.Count(page, "\n"); n > onePage {
			found = append(found, fmt.Sprintf("%s has %d lines, at most %d: a decision is one page", file, n, onePage))
		}
	}
	slices.Sort(found)
	return found
}

// tokens are what stands in backticks.
func tokens(cell string) []string {
	var all []string
	for _, m := range backticked.FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

func mustRead(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

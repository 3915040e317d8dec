package earshot_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// criteria are those of WCAG 2.2, levels A and AA. 4.1.1 is obsolete.
const criteria = `1.1.1 1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.3.1 1.3.2 1.3.3 1.3.4 1.3.5 1.4.1 1.4.2 1.4.3 1.4.4 1.4.5 1.4.10 1.4.11 1.4.12 1.4.13
2.1.1 2.1.2 2.1.4 2.2.1 2.2.2 2.3.1 2.4.1 2.4.2 2.4.3 2.4.4 2.4.5 2.4.6 2.4.7 2.4.11 2.5.1 2.5.2 2.5.3 2.5.4 2.5.7 2.5.8
3.1.1 3.1.2 3.2.1 3.2.2 3.2.3 3.2.4 3.2.6 3.3.1 3.3.2 3.3.3 3.3.4 3.3.7 3.3.8 4.1.2 4.1.3`

var (
	testNamed    = regexp.MustCompile("`(Test[A-Z]\\w*)`")
	testDeclared = regexp.MustCompile(`(?m)^func (Test[A-Z]\w*)\(`)
	criterion    = regexp.MustCompile(`\b\d\.\d\.\d+\b`)
)

// TestAccessibilityTable: each criterion has one row with something in each of its cells, and each test that a row names is there.
func TestAccessibilityTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/accessibility.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testsIn(t, "internal/transport/web/browser", "internal/transport/web", "internal/surface/page", "aaep/announce", ".")
	for _, name := range testNamed.FindAllStringSubmatch(string(text), -1) {
		if !tests[name[1]] {
			t.Errorf("%s is not a test", name[1])
		}
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 1 && criterion.MatchString(cells[1]) {
			found = append(found, criterion.FindAllString(cells[1], -1)...)
			if len(cells) != 5 || strings.TrimSpace(cells[3]) == "" {
				t.Errorf("a row is not whole: %s", line)
			}
		}
	}
	if want := strings.Fields(criteria); !slices.Equal(found, want) {
		t.Errorf("the criteria are %v\nexpected are %v", found, want)
	}
}

// testsIn returns the names of the tests in some folders.
func testsIn(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests in %s: %v", folder, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range testDeclared.FindAllStringSubmatch(string(source), -1) {
				tests[name[1]] = true
			}
		}
	}
	return tests
}

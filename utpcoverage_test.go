package earshot_test

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const coverageDoc = "docs/utp-coverage.md"

// coverageSections is how many sections v1r4 has in the document.
const coverageSections = 25

// coverageStates are the words for what became of a row, and whether a test has to prove it.
var coverageStates = map[string]bool{"built": true, "replaced": true, "open": false, "not applicable": false}

var (
	coverageHeading = regexp.MustCompile(`^## (\d+)\. `)
	coverageID      = regexp.MustCompile(`^\d+\.\d+$`)
	coverageProof   = regexp.MustCompile("`([^`]+)`")
	losesNothing    = regexp.MustCompile(`\bloses? (?:nothing|anything)`)
)

// TestCoverageOfUTP: each section of v1r4 has its rows in docs/utp-coverage.md, in order. A row that is built or replaced
// names a test that its package has; one that is replaced says who loses nothing.
func TestCoverageOfUTP(t *testing.T) {
	t.Parallel()
	report(t, coverageViolations(t, os.DirFS(".")))
}

func coverageViolations(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	text, err := fs.ReadFile(fsys, coverageDoc)
	if err != nil {
		t.Fatal(err)
	}
	f := findings{file: coverageDoc}
	tests := collectTargets(t, fsys).tests
	section, rows := 0, map[int]int{}
	for i, line := range strings.Split(string(text), "\n") {
		if m := coverageHeading.FindStringSubmatch(line); m != nil {
			section, _ = strconv.Atoi(m[1]) // digits
			continue
		}
		cells := cellsOf(line)
		if len(cells) == 0 || !coverageID.MatchString(cells[0]) {
			continue
		}
		rows[section]++
		if want := fmt.Sprintf("%d.%d", section, rows[section]); cells[0] != want {
			f.addf(i+1, "row %s; expected %s", cells[0], want)
		}
		coverageRow(&f, i+1, cells, tests)
	}
	for n := range coverageSections {
		if rows[n+1] == 0 {
			f.addf(1, "section %d has no row", n+1)
		}
	}
	return f.found
}

// cellsOf returns the cells of a line of a table.
func cellsOf(line string) []string {
	line, is := strings.CutPrefix(line, "|")
	if !is {
		return nil
	}
	cells := strings.Split(strings.TrimSuffix(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// coverageRow judges a row: its number, what v1r4 has, the state, what Earshot does, and the proof.
func coverageRow(f *findings, line int, cells []string, tests map[string]map[string]bool) {
	if len(cells) != 5 {
		f.addf(line, "row %s has %d cells; expected 5", cells[0], len(cells))
		return
	}
	proved, known := coverageStates[cells[2]]
	switch {
	case !known:
		f.addf(line, "row %s is %q; expected built, replaced, open or not applicable", cells[0], cells[2])
	case proved != (cells[4] != ""):
		f.addf(line, "row %s is %s, and its proof is %q", cells[0], cells[2], cells[4])
	case cells[2] == "replaced" && !losesNothing.MatchString(cells[3]):
		f.addf(line, "row %s is replaced and does not say who loses nothing", cells[0])
	}
	if !known || !proved || cells[4] == "" {
		return
	}
	if wrong := wrongProof(cells[4], tests); wrong != "" {
		f.addf(line, "row %s %s", cells[0], wrong)
	}
}

// wrongProof says what is wrong with a proof: names of packages, each with the tests behind it.
func wrongProof(proof string, tests map[string]map[string]bool) string {
	pkg, named := "", false
	for _, m := range coverageProof.FindAllStringSubmatch(proof, -1) {
		switch {
		case !testName.MatchString(m[1]):
			if pkg = byLastFolders(tests, m[1]); pkg == "" {
				return "names " + m[1] + ", which is not one package"
			}
		case pkg == "":
			return "names " + m[1] + " of no package"
		case !tests[pkg][m[1]]:
			return "names " + m[1] + ", which is no test of " + pkg
		default:
			named = true
		}
	}
	if !named {
		return "names no test"
	}
	return ""
}

func TestCoverageCheckerBites(t *testing.T) {
	t.Parallel()
	const good = "| %d.1 | a | built | b | `utp` `TestIs` |\n"
	for name, tt := range map[string]struct{ second, want string }{
		"as it should be":      {fmt.Sprintf(good, 2), ""},
		"open":                 {"| 2.1 | a | open | | |\n", ""},
		"replaced":             {"| 2.1 | a | replaced | b. A worker loses nothing | `utp` `TestIs`, `TestIs` |\n", ""},
		"no row":               {"", "section 2 has no row"},
		"another number":       {"| 2.2 | a | open | | |\n", "row 2.2; expected 2.1"},
		"another state":        {"| 2.1 | a | partly | b | |\n", `row 2.1 is "partly"`},
		"a cell too many":      {"| 2.1 | a | open | b | | |\n", "has 6 cells"},
		"built without a test": {"| 2.1 | a | built | b | |\n", `its proof is ""`},
		"no name of a test":    {"| 2.1 | a | built | b | `utp` |\n", "names no test"},
		"a test of no package": {"| 2.1 | a | built | b | `TestIs` |\n", "TestIs of no package"},
		"no such test":         {"| 2.1 | a | built | b | `utp` `TestIsNot` |\n", "no test of utp"},
		"no such package":      {"| 2.1 | a | built | b | `utq` `TestIs` |\n", "utq, which is not one package"},
		"whoever loses":        {"| 2.1 | a | replaced | b | `utp` `TestIs` |\n", "who loses nothing"},
		"open with a test":     {"| 2.1 | a | open | b | `utp` `TestIs` |\n", "row 2.1 is open"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var doc strings.Builder
			for n := 1; n <= coverageSections; n++ {
				fmt.Fprintf(&doc, "## %d. Part\n\n| row | v1r4 | state | Earshot | proof |\n|---|---|---|---|---|\n", n)
				if n == 2 {
					doc.WriteString(tt.second)
					continue
				}
				fmt.Fprintf(&doc, good, n)
			}
			wantFinding(t, coverageViolations(t, fstest.MapFS{
				coverageDoc:      {Data: []byte(doc.String())},
				"utp/is_test.go": {Data: []byte("package utp\n\nfunc TestIs(*testing.T) {}\n")},
			}), tt.want)
		})
	}
}

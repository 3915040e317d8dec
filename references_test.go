package earshot_test

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/go-json-experiment/json"
)

const (
	protocolDoc   = "docs/call-protocol.md"
	wireDoc       = "docs/utp.md"
	deviationsDoc = "docs/deviations.md"
	catalogueFile = "aaep/conform/catalogue.json"
)

// TestReferencesResolve: whatever the sources and the documents refer to is in the repository.
//
//	C-31, U-13                    a row of docs/deviations.md
//	SEQ-22                        a rule of the catalogue
//	call protocol, "States"       a heading of docs/call-protocol.md
//	call protocol, step E         a step of it
//	UTP, "Headers"                a heading of docs/utp.md
//	docs/tools.md#quick-start     a document and a heading of it; as a link, also without the folder
//	kernel/turn/gate.go           in a document: a file
//	TestSeeds, TestCrash…         in a document or a comment: a test, or the beginning of some; in a document
//	                              one of the package that is named before it on the line, in full or by its last folders
func TestReferencesResolve(t *testing.T) {
	t.Parallel()
	report(t, referenceViolations(t, os.DirFS(".")))
}

func TestReferencesCheckerBites(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, text string
		want             string // "" means that nothing may be found
	}{
		{"resolution", "x/a.go", "package x // as C-" + "01 says\n", ""},
		{"unknown resolution", "x/a.go", "package x\n\n// C-" + "77\n", "x/a.go:3: C-" + "77"},
		{"resolution of UTP", "x/a.md", "U-" + "01 and U-" + "02\n", "x/a.md:1: U-" + "02"},
		{"rule", "x/a.go", "package x // SEQ-22\n", ""},
		{"unknown rule", "x/a.md", "SEQ-" + "99\n", "SEQ-" + "99"},
		{"no rule", "x/a.md", "SHA-256, UTF-16\n", ""},
		{"section", "x/a.go", "package x\n\n// It is so (call\n// protocol, \"Effect\n// classes\").\n", ""},
		{"unknown section", "x/a.go", "package x\n\n// It is (call protocol, \"Eff" + "orts\").\n", `"Eff` + `orts"`},
		{"step", "x/a.go", "package x // call protocol, step E\n", ""},
		{"unknown step", "x/a.go", "package x // call protocol, step" + " Y\n", "step" + " Y"},
		{"name of ours", "x/a.go", "package x\n\nvar _ = f(PrefixUTP, \"footers\")\n", ""},
		{"section of the wire", "x/a.go", "package x // UTP, \"Headers\"\n", ""},
		{"unknown second section of the wire", "x/a.go", "package x // UTP, \"Headers\" and \"Foot" + "ers\"\n", "Foot" + "ers"},
		{"unknown section of the wire", "x/a.go", "package x // UTP, \"Foot" + "ers\"\n", "Foot" + "ers"},
		{"elsewhere", "internal/hub/a.go", "package hub // (contr" + "act §5)\n", "contr" + "act §"},
		{"elsewhere, the wire", "docs/a.md", "v1r4 " + "§5\n", "v1r4 " + "§"},
		{"elsewhere, its own section", "internal/kernel/a.go", "package kernel // of the step (§" + "5)\n", "§" + "5"},
		{"elsewhere, a conflict", "utp/a.go", "package utp // confl" + "icts #5\n", "confl" + "icts #"},
		{"a section of AAEP", "aaep/a.go", "package aaep // §6.3.4\n", ""},
		{"a section of an RFC", "tool/a.go", "package tool // RFC 9110 §5.6.2\n", ""},
		{"document", "x/a.go", "package x // see docs/utp.md#headers\n", ""},
		{"unknown document", "x/a.go", "package x // see docs/no" + "ne.md\n", "docs/no" + "ne.md"},
		{"unknown heading", "x/a.go", "package x // see docs/utp.md#no" + "ne\n", "#no" + "ne"},
		{"link", "docs/a.md", "[b](utp.md#headers) [c](#d)\n\n## D\n", ""},
		{"link with a slash", "x/a.md", "[b](../docs/utp.md#headers)\n", ""},
		{"link to no heading", "docs/a.md", "[b](utp.md#fo" + "oters)\n", "#fo" + "oters"},
		{"link to no heading here", "docs/a.md", "[b](#c" + "d)\n", "#c" + "d"},
		{"link in code", "docs/a.md", "```\n[b](#c" + "d)\n```\n", ""},
		{"file", "x/a.md", "`docs/utp.md` and utp/is.go\n", ""},
		{"unknown file", "x/a.md", "in a block: utp/is" + "nt.go\n", "utp/is" + "nt.go"},
		{"test", "x/a.md", "`utp` `TestIs`, `TestI…`\n", ""},
		{"unknown test", "x/a.md", "TestIs" + "Not\n", "TestIs" + "Not"},
		{"unknown beginning", "x/a.go", "package x // TestNo" + "ne…\n", "TestNo" + "ne…"},
		{"test of another package", "x/a.md", "`docs` is not a package; `aaep` `TestIs`\n", "aaep has no TestIs"},
		{"test of a package by its last folder", "x/a.md", "`deep` `TestDeep`\n", ""},
		{"unknown test of such a package", "x/a.md", "`deep` `TestIs`\n", "internal/deep has no TestIs"},
		{"test in a string", "x/a.go", "package x\n\nvar _ = \"TestIsNot\"\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found := referenceViolations(t, fstest.MapFS{
				tt.file:                   {Data: []byte(tt.text)},
				catalogueFile:             {Data: []byte(`{"rules":[{"id":"SEQ-22"}]}`)},
				deviationsDoc:             {Data: []byte("| C-" + "01 | a | b |\n| U-" + "01 | c | d |\n")},
				protocolDoc:               {Data: []byte("## Effect classes\n\n### Step E: effect\n")},
				wireDoc:                   {Data: []byte("## Headers\n")},
				"utp/is.go":               {Data: []byte("package utp\n")},
				"utp/is_test.go":          {Data: []byte("package utp\n\nfunc TestIs(*testing.T) {}\n")},
				"internal/deep/a_test.go": {Data: []byte("package deep\n\nfunc TestDeep(*testing.T) {}\n")},
				"aaep/is_test.go":         {Data: []byte("package aaep\n\nfunc TestAll(*testing.T) {}\n")},
			})
			wantFinding(t, found, tt.want)
		})
	}
}

var (
	headingLine   = regexp.MustCompile(`^#{1,6} +(.+?) *$`)
	resolutionRow = regexp.MustCompile(`^\| ([CU]-\d+) \|`)
	stepHeading   = regexp.MustCompile(`^Step ([A-Z]):`)
	testFunction  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)

	// A pattern begins with a fixed text, by which it is found quickly; a blank in it may be several.
	protocolSection = regexp.MustCompile(`call +protocol, +(?:step +([A-Z])\b|"([^"]+)")`)
	wireSection     = regexp.MustCompile(`UTP, +"([^"]+)"(?: +and +"([^"]+)")?`)
	documentPath    = regexp.MustCompile(`docs/[\w/-]+\.md(#[\w-]+)?`)
	markdownLink    = regexp.MustCompile(`\]\(([^)\s:#]*)#([^)\s]+)\)`)
	testName        = regexp.MustCompile(`\b((?:Test|Fuzz|Benchmark)[A-Z]\w*)(…?)`)
	packageOrTest   = regexp.MustCompile("`([\\w/]+)…?`")
	codeSpan        = regexp.MustCompile("`[^`]*`")
	sourcePath      = regexp.MustCompile(`(?:^|[^\w./<-])((?:` + strings.Join([]string{
		"aaep", "agents", "api", "bench", "boottime", "bus", "cause", "client", "cmd", "hub", "internal", "kernel", "listen", "narrate", "rpc", "scripts", "tool", "utp", "worker",
	}, "|") + `)/[\w/-]+\.(?:go|md|json))\b`)

	// elsewhere are references to documents that are not here. The sections of AAEP are named on its own side, as §6.3.4.
	elsewhere = []*regexp.Regexp{
		regexp.MustCompile(`(?:contract(?:'s)?|v1r4) +§`), regexp.MustCompile(`conflicts? +#\d`), regexp.MustCompile(`catalogue +§`), regexp.MustCompile(`seed +§`),
	}
	clause   = regexp.MustCompile(`§\d[\d.]*`)
	ofAnRFC  = regexp.MustCompile(`RFC \d+ $`)
	toolSide = regexp.MustCompile(`^(api|internal/(bus|kernel|rpc)|tool|utp|worker)/`)
)

// mayBeAbsent are documents that come and go.
var mayBeAbsent = []string{"docs/flaky.md"}

// targets is what can be referred to.
type targets struct {
	files       map[string]bool
	anchors     map[string]map[string]bool // by document
	headings    map[string]map[string]bool // by document
	steps       map[string]bool            // of the call protocol
	resolutions map[string]bool
	rules       map[string]bool
	prefixes    map[string]bool            // of rules
	tests       map[string]map[string]bool // by package
}

func referenceViolations(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	all := collectTargets(t, fsys)
	return eachFile(t, fsys, func(name, text string) []string {
		switch path.Ext(name) {
		case ".md":
			return all.inDocument(name, text)
		case ".go":
			return all.inSource(name, text)
		}
		return nil
	})
}

func collectTargets(t *testing.T, fsys fs.FS) targets {
	t.Helper()
	all := targets{
		files: map[string]bool{}, anchors: map[string]map[string]bool{}, headings: map[string]map[string]bool{},
		steps: map[string]bool{}, resolutions: map[string]bool{}, rules: map[string]bool{}, prefixes: map[string]bool{},
		tests: map[string]map[string]bool{},
	}
	eachFile(t, fsys, func(name, text string) []string {
		all.files[name] = true
		switch {
		case strings.HasSuffix(name, ".md"):
			all.document(name, text)
		case strings.HasSuffix(name, ".go"):
			pkg := path.Dir(name)
			if all.tests[pkg] == nil {
				all.tests[pkg] = map[string]bool{}
			}
			for _, m := range testFunction.FindAllStringSubmatch(text, -1) {
				all.tests[pkg][m[1]] = true
			}
		case name == catalogueFile:
			all.catalogue(t, text)
		}
		return nil
	})
	return all
}

// document notes the headings and the rows of a document.
func (all *targets) document(name, text string) {
	all.anchors[name], all.headings[name] = map[string]bool{}, map[string]bool{}
	used := map[string]int{}
	for _, line := range outsideCode(text) {
		if m := resolutionRow.FindStringSubmatch(line); m != nil && name == deviationsDoc {
			all.resolutions[m[1]] = true
		}
		m := headingLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		all.headings[name][m[1]] = true
		if step := stepHeading.FindStringSubmatch(m[1]); step != nil && name == protocolDoc {
			all.steps[step[1]] = true
		}
		anchor := anchorOf(m[1])
		if n := used[anchor]; n > 0 {
			all.anchors[name][fmt.Sprintf("%s-%d", anchor, n)] = true
		}
		used[anchor]++
		all.anchors[name][anchor] = true
	}
}

func (all *targets) catalogue(t *testing.T, text string) {
	t.Helper()
	var file struct {
		Rules []struct {
			ID string `json:"id"`
		} `json:"rules"`
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatalf("%s: %v", catalogueFile, err)
	}
	for _, r := range file.Rules {
		all.rules[r.ID] = true
		if i := strings.LastIndexByte(r.ID, '-'); i > 0 {
			all.prefixes[r.ID[:i]] = true
		}
	}
}

// anchorOf is the anchor that a heading gets: lower case, marks dropped, blanks as hyphens.
func anchorOf(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// outsideCode are the lines of a document, those of blocks of code emptied.
func outsideCode(text string) []string {
	lines := strings.Split(text, "\n")
	inside := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			inside = !inside
		}
		if fence || inside {
			lines[i] = ""
		}
	}
	return lines
}

// findings are what a file refers to and is not there.
type findings struct {
	file  string
	found []string
}

func (f *findings) addf(line int, format string, args ...any) {
	f.found = append(f.found, fmt.Sprintf("%s:%d: ", f.file, line)+fmt.Sprintf(format, args...))
}

func (all *targets) inDocument(name, text string) []string {
	f := findings{file: name}
	all.everywhere(&f, text)
	for i, line := range strings.Split(text, "\n") {
		all.documents(&f, i+1, line)
		for _, m := range sourcePath.FindAllStringSubmatch(line, -1) {
			if !all.files[m[1]] {
				f.addf(i+1, "%s is not a file", m[1])
			}
		}
		all.testsOf(&f, i+1, line)
	}
	for i, line := range outsideCode(text) {
		for _, m := range markdownLink.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
			target := name
			if m[1] != "" {
				target = path.Join(path.Dir(name), m[1])
			}
			if strings.HasSuffix(target, ".md") && !all.anchors[target][m[2]] {
				f.addf(i+1, "%s has no heading #%s", target, m[2])
			}
		}
	}
	return f.found
}

func (all *targets) inSource(name, text string) []string {
	f := findings{file: name}
	all.everywhere(&f, text)
	comments := onlyComments(text)
	named := text
	if strings.HasSuffix(name, "_test.go") {
		named = comments // a test of documents makes up its own
	}
	for i, line := range strings.Split(named, "\n") {
		all.documents(&f, i+1, line)
	}
	for i, line := range strings.Split(comments, "\n") {
		if !strings.Contains(line, "Test") {
			continue
		}
		for _, m := range testName.FindAllStringSubmatch(line, -1) {
			if !all.hasTest("", m[1], m[2] != "") {
				f.addf(i+1, "there is no test %s%s", m[1], m[2])
			}
		}
	}
	return f.found
}

// everywhere finds what has the same form in documents and in sources. A reference may go over the end of a line.
func (all *targets) everywhere(f *findings, text string) {
	flat := flattened(text)
	line := func(at int) int { return strings.Count(text[:at], "\n") + 1 }
	for at, name := range numbered(text) {
		prefix := name[:strings.LastIndexByte(name, '-')]
		switch {
		case (prefix == "C" || prefix == "U") && !all.resolutions[name]:
			f.addf(line(at), "%s is not a row of %s", name, deviationsDoc)
		case all.prefixes[prefix] && !all.rules[name]:
			f.addf(line(at), "%s is not a rule of %s", name, catalogueFile)
		}
	}
	for _, m := range protocolSection.FindAllStringSubmatchIndex(flat, -1) {
		step, heading := group(flat, m, 1), group(flat, m, 2)
		if step != "" && !all.steps[step] {
			f.addf(line(m[0]), "%s has no step %s", protocolDoc, step)
		}
		if heading != "" && !all.headings[protocolDoc][heading] {
			f.addf(line(m[0]), "%s has no heading %q", protocolDoc, heading)
		}
	}
	for _, m := range wireSection.FindAllStringSubmatchIndex(flat, -1) {
		if m[0] > 0 && unicode.IsLetter(rune(flat[m[0]-1])) {
			continue // the end of a name, such as PrefixUTP
		}
		for n := range 2 {
			if heading := group(flat, m, n+1); heading != "" && !all.headings[wireDoc][heading] {
				f.addf(line(m[0]), "%s has no heading %q", wireDoc, heading)
			}
		}
	}
	for _, pattern := range elsewhere {
		for _, m := range pattern.FindAllStringIndex(flat, -1) {
			f.addf(line(m[0]), "%q refers to a document that is not here", flat[m[0]:m[1]])
		}
	}
	if !toolSide.MatchString(f.file) || strings.HasPrefix(f.file, "internal/kernel/consent/") {
		return
	}
	for _, m := range clause.FindAllStringIndex(flat, -1) {
		if !ofAnRFC.MatchString(flat[max(0, m[0]-12):m[0]]) {
			f.addf(line(m[0]), "%q is a section of no named document", flat[m[0]:m[1]])
		}
	}
}

// group is what a part of a pattern matched, with single blanks; "" for nothing.
func group(text string, match []int, n int) string {
	if match[2*n] < 0 {
		return ""
	}
	return strings.Join(strings.Fields(text[match[2*n]:match[2*n+1]]), " ")
}

// numbered yields names such as SEQ-22 and TR-SSE-01: capitals and hyphens, and a number of two or three digits.
func numbered(text string) iter.Seq2[int, string] {
	word := func(c byte) bool {
		return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	return func(yield func(int, string) bool) {
		for i := 1; i < len(text)-2; i++ {
			if text[i] != '-' || !digit(text[i+1]) || !digit(text[i+2]) {
				continue
			}
			start, end := i, i+1
			for start > 0 && word(text[start-1]) {
				start--
			}
			for end < len(text) && word(text[end]) {
				end++
			}
			name := text[start:end]
			if number := text[i+1 : end]; len(number) <= 3 && strings.ToUpper(name) == name && digit(text[end-1]) && !yield(start, name) {
				return
			}
		}
	}
}

// documents finds paths of documents.
func (all *targets) documents(f *findings, line int, text string) {
	for _, m := range documentPath.FindAllString(text, -1) {
		name, anchor, _ := strings.Cut(m, "#")
		switch {
		case !all.files[name]:
			if !slices.Contains(mayBeAbsent, name) {
				f.addf(line, "%s is not a document", name)
			}
		case anchor != "" && !all.anchors[name][anchor]:
			f.addf(line, "%s has no heading #%s", name, anchor)
		}
	}
}

// testsOf finds tests that are named on a line of a document, each of the package that is named before it.
func (all *targets) testsOf(f *findings, line int, text string) {
	pkg, at := "", 0
	for _, m := range testName.FindAllStringSubmatchIndex(text, -1) {
		for _, p := range packageOrTest.FindAllStringSubmatch(text[at:m[0]], -1) {
			if folder := byLastFolders(all.tests, p[1]); folder != "" {
				pkg = folder
			}
		}
		at = m[0]
		name, beginning := text[m[2]:m[3]], m[4] < m[5]
		if all.hasTest(pkg, name, beginning) {
			continue
		}
		if pkg != "" && all.hasTest("", name, beginning) {
			f.addf(line, "%s has no %s", pkg, text[m[0]:m[1]])
			continue
		}
		f.addf(line, "there is no test %s", text[m[0]:m[1]])
	}
}

// byLastFolders is the one path that ends with what a document calls it, such as internal/transport/web for
// transport/web; "" where none or several do.
func byLastFolders[V any](paths map[string]V, name string) string {
	var found []string
	for full := range paths {
		switch {
		case full == name:
			return name
		case strings.HasSuffix(full, "/"+name):
			found = append(found, full)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// hasTest reports whether a package, or any where none is named, has the test, or one that begins so.
func (all *targets) hasTest(pkg, name string, beginning bool) bool {
	for folder, tests := range all.tests {
		if pkg != "" && folder != pkg {
			continue
		}
		if tests[name] {
			return true
		}
		for test := range tests {
			if beginning && strings.HasPrefix(test, name) {
				return true
			}
		}
	}
	return false
}

// flattened is a text of the same length in which the ends of lines, and the marks of comments behind them, are blanks.
func flattened(text string) string {
	flat := []byte(text)
	for i := range flat {
		if flat[i] != '\n' {
			continue
		}
		flat[i] = ' '
		rest := bytes.TrimLeft(flat[i:], " \t")
		if bytes.HasPrefix(rest, []byte("//")) {
			rest[0], rest[1] = ' ', ' '
		}
	}
	return string(flat)
}

// onlyComments is the text of a source with everything but its comments and line ends blanked.
func onlyComments(text string) string {
	kept := bytes.Repeat([]byte{' '}, len(text))
	for i := range len(text) {
		if text[i] == '\n' {
			kept[i] = '\n'
		}
	}
	var s scanner.Scanner
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(text))
	s.Init(file, []byte(text), nil, scanner.ScanComments)
	for {
		pos, kind, literal := s.Scan()
		switch kind {
		case token.EOF:
			return string(kept)
		case token.COMMENT:
			copy(kept[file.Offset(pos):], literal)
		default:
		}
	}
}

// TestAnchors: the anchors are those that the usual renderers make.
func TestAnchors(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string]string{
		"Who writes what, when":  "who-writes-what-when",
		"`agent.state.changed`":  "agentstatechanged",
		"Step E: effect":         "step-e-effect",
		"What is not built, yet": "what-is-not-built-yet",
	} {
		if got := anchorOf(heading); got != want {
			t.Errorf("%q has the anchor %q, want %q", heading, got, want)
		}
	}
	var all targets
	all.anchors, all.headings = map[string]map[string]bool{}, map[string]map[string]bool{}
	all.document("a.md", "# A\n\n## A\n\n```\n# B\n```\n")
	if got := all.anchors["a.md"]; !got["a"] || !got["a-1"] || got["b"] {
		t.Errorf("the anchors are %v", got)
	}
	if got := outsideCode("a\n```\nb\n```\nc"); !slices.Equal(got, []string{"a", "", "", "", "c"}) {
		t.Errorf("outside of code: %q", got)
	}
}

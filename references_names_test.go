package earshot_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestNamesInDocumentsResolve: what a document calls by its name in the code is there.
//
//	kernel/feed.go, stream.go      a file without a folder is in the folder that is named before it on the line
//	`kernel.Options.Generation`    each part is a name of the package
//	`utp/class.go`, `Class`        each name behind a file or a folder is in it
func TestNamesInDocumentsResolve(t *testing.T) {
	t.Parallel()
	report(t, nameViolations(t, os.DirFS(".")))
}

// TestCrashTableIsWhole: each TestCrash… of package kernel is in the table of the call protocol.
func TestCrashTableIsWhole(t *testing.T) {
	t.Parallel()
	report(t, crashViolations(t, os.DirFS(".")))
}

func TestNamesCheckerBites(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       string // "" means that nothing may be found
	}{
		{"file behind a folder", "kernel/a.go, b.go\n", ""},
		{"file in another folder", "\nkernel/a.go, c.go\n", "docs/x.md:2: kernel/c.go is not a file"},
		{"file that begins a line", "`c.go` and kernel/a.go\n", ""},
		{"no such file", "`d.go`\n", "d.go is not a file"},
		{"file of another project", "nats-io/nats.go\n", ""},
		{"name", "`kernel.Options.Generation`, `kernel.New(o)`\n", ""},
		{"name of another package", "`time.Now`\n", ""},
		{"unknown name", "`kernel.News`\n", "kernel has no News"},
		{"unknown field", "`kernel.Options.Age`\n", "kernel has no Age"},
		{"name in a comment alone", "`kernel.Gone`\n", "kernel has no Gone"},
		{"name of a test", "`kernel.World`\n", "kernel has no World"},
		{"names behind a file", "`kernel/a.go`, `Options`, `Options.Generation`\n", ""},
		{"names behind a folder", "`kernel`, `New`\n", ""},
		{"names behind the last folder", "`deep`, `Old`\n", "deep has no Old"},
		{"name in another file", "`kernel/b.go`, `Generation`\n", "kernel/b.go has no Generation"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantFinding(t, nameViolations(t, fstest.MapFS{
				"docs/x.md":          {Data: []byte(tt.text)},
				"kernel/a.go":        {Data: []byte("package kernel\n\n// Gone was here.\ntype Options struct {\n\tGeneration string // Gone\n}\n")},
				"internal/deep/a.go": {Data: []byte("package deep\n\nfunc New() {}\n")},
				"kernel/b.go":        {Data: []byte("package kernel\n\nfunc New(Options) {}\n")},
				"kernel/b_test.go":   {Data: []byte("package kernel\n\ntype World struct{}\n")},
				"utp/c.go":           {Data: []byte("package utp\n")},
			}), tt.want)
		})
	}
}

func TestCrashCheckerBites(t *testing.T) {
	t.Parallel()
	for table, want := range map[string]string{
		"`TestCrashA`, `TestCrashB`":  "",
		"`TestCrash…`":                "",
		"`TestCrashA`, `TestCrashBC`": "internal/kernel/a_test.go:5: TestCrashB is not in " + protocolDoc,
	} {
		wantFinding(t, crashViolations(t, fstest.MapFS{
			protocolDoc:                 {Data: []byte(table)},
			"internal/kernel/a_test.go": {Data: []byte("package kernel\n\nfunc TestCrashA(*testing.T) {}\n\nfunc TestCrashB(*testing.T) {}\n")},
		}), want)
	}
}

var (
	goFile      = regexp.MustCompile(`(?:^|[^\w./*<-])((?:[\w-]+/)*)([a-z]\w*\.go)\b`)
	nameIn      = regexp.MustCompile("`([a-z]+)\\.([A-Z]\\w*(?:\\.[A-Z]\\w*)*)[`(]")
	namesBehind = regexp.MustCompile("`([a-z][\\w/]*(?:\\.go)?)`((?:, `[A-Z]\\w*(?:\\.[A-Z]\\w*)*`)+)")
	exported    = regexp.MustCompile(`\b[A-Z]\w*`)
)

// changelog is the document that names what is gone.
const changelog = "CHANGELOG.md"

// code is what documents can name: the files by their base names, and the exported names of each file and folder.
type code struct {
	files    map[string]bool            // with their folders
	bases    map[string]bool            // without
	names    map[string]map[string]bool // by file and by folder
	packages map[string]map[string]bool // by the last part of the folder
}

func nameViolations(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	c := code{map[string]bool{}, map[string]bool{}, map[string]map[string]bool{}, map[string]map[string]bool{}}
	eachFile(t, fsys, func(name, text string) []string {
		if strings.HasSuffix(name, ".go") {
			c.note(name, text)
		}
		return nil
	})
	return eachFile(t, fsys, func(name, text string) []string {
		if !strings.HasSuffix(name, ".md") || name == changelog {
			return nil
		}
		f := findings{file: name}
		for i, line := range strings.Split(text, "\n") {
			c.line(&f, i+1, line)
		}
		return f.found
	})
}

// note keeps a source with the exported names in it; those of tests cannot be named.
func (c *code) note(name, text string) {
	folder, base := path.Split(name)
	folder = strings.TrimSuffix(folder, "/")
	c.files[name], c.bases[base] = true, true
	if strings.HasSuffix(name, "_test.go") {
		return
	}
	c.names[name] = map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, "//")
		for _, m := range exported.FindAllString(line, -1) {
			add(c.names, name, m)
			add(c.names, folder, m)
			add(c.packages, path.Base(folder), m)
		}
	}
}

func add(to map[string]map[string]bool, key, name string) {
	if to[key] == nil {
		to[key] = map[string]bool{}
	}
	to[key][name] = true
}

func (c *code) line(f *findings, n int, line string) {
	folder := ""
	for _, m := range goFile.FindAllStringSubmatch(line, -1) {
		if m[1] != "" {
			folder = m[1]
			continue
		}
		if folder == "" && !c.bases[m[2]] || folder != "" && !c.files[folder+m[2]] {
			f.addf(n, "%s is not a file", folder+m[2])
		}
	}
	for _, m := range nameIn.FindAllStringSubmatch(line, -1) {
		if known := c.packages[m[1]]; known != nil {
			c.all(f, n, m[1], known, strings.Split(m[2], "."))
		}
	}
	for _, m := range namesBehind.FindAllStringSubmatch(line, -1) {
		if known := c.names[byLastFolders(c.names, m[1])]; known != nil {
			c.all(f, n, m[1], known, exported.FindAllString(m[2], -1))
		}
	}
}

func (c *code) all(f *findings, n int, where string, known map[string]bool, names []string) {
	for _, name := range names {
		if !known[name] {
			f.addf(n, "%s has no %s", where, name)
		}
	}
}

func crashViolations(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	exact, beginnings := map[string]bool{}, []string{}
	eachFile(t, fsys, func(name, text string) []string {
		if name == protocolDoc {
			for _, m := range testName.FindAllStringSubmatch(text, -1) {
				if exact[m[1]] = m[2] == ""; m[2] != "" {
					beginnings = append(beginnings, m[1])
				}
			}
		}
		return nil
	})
	return eachFile(t, fsys, func(name, text string) []string {
		if path.Dir(name) != "internal/kernel" {
			return nil
		}
		f := findings{file: name}
		for _, m := range testFunction.FindAllStringSubmatchIndex(text, -1) {
			test := text[m[2]:m[3]]
			listed := exact[test] || slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(test, b) })
			if strings.HasPrefix(test, "TestCrash") && !listed {
				f.addf(strings.Count(text[:m[0]], "\n")+1, "%s is not in %s", test, protocolDoc)
			}
		}
		return f.found
	})
}

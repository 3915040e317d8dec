package page_test

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/surface/page"
)

// TestSize: the style, the scripts and the images together are small.
func TestSize(t *testing.T) {
	t.Parallel()
	const most = 60_000 // bytes, compressed
	assets, err := page.Load()
	if err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, name := range names {
		if file, found := assets.File(name.Name()); found {
			size += compressed(t, file.Body)
		} else if filepath.Ext(name.Name()) == ".css" {
			style, err := os.ReadFile(filepath.Join("assets", name.Name()))
			if err != nil {
				t.Fatal(err)
			}
			size += compressed(t, style)
		}
	}
	t.Logf("%d bytes", size)
	if size == 0 || size > most {
		t.Errorf("they have %d bytes compressed; the limit is %d", size, most)
	}
}

// counter counts what is written.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func compressed(t *testing.T, body []byte) int {
	t.Helper()
	var n counter
	w := gzip.NewWriter(&n)
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// TestOneScript: a page asks for one script, in which everything is that it imports, in whatever depth, each once and before what
// imports it. Nothing is left for the browser to import but the phrases of a language.
func TestOneScript(t *testing.T) {
	t.Parallel()
	assets, err := page.Load()
	if err != nil {
		t.Fatal(err)
	}
	imports := regexp.MustCompile(`(?m)^import .*?"\./(.*?)"`)
	for template, data := range map[string]any{"home": page.Home{}, "login": page.Login{}} {
		body, err := assets.In("").Render(template, data)
		if err != nil {
			t.Fatal(err)
		}
		script := map[string]string{"home": "page.js", "login": "zone.js"}[template]
		if n := strings.Count(string(body), `.js"`); n != 1 || !strings.Contains(string(body), `<script type="module" src="/page/`+script+`"></script>`) {
			t.Errorf("%s names %d scripts, expected %s alone", template, n, script)
		}
		file, _ := assets.File(script)
		sent := string(file.Body)
		var follow func(name string)
		seen := map[string]bool{}
		follow = func(name string) {
			seen[name] = true
			source, err := os.ReadFile(filepath.Join("assets", name))
			if err != nil {
				t.Fatal(err)
			}
			begins, _, _ := strings.Cut(string(source), "\n")
			if n := strings.Count(sent, begins+"\n"); n != 1 {
				t.Errorf("%s has %s %d times", script, name, n)
			}
			for _, one := range imports.FindAllStringSubmatch(string(source), -1) {
				other, _ := os.ReadFile(filepath.Join("assets", one[1]))
				first, _, _ := strings.Cut(string(other), "\n")
				if strings.Index(sent, first) > strings.Index(sent, begins) {
					t.Errorf("%s has %s before %s, which it imports", script, name, one[1])
				}
				if !seen[one[1]] {
					follow(one[1])
				}
			}
		}
		follow(script)
		if script == "page.js" && len(seen) < 10 {
			t.Errorf("%s has %d parts", script, len(seen))
		}
		if left := regexp.MustCompile(`(?m)^(?:import|export)\b.*|import\("[^)]*\)`).FindString(sent); left != "" {
			t.Errorf("%s has %q", script, left)
		}
	}
}

// TestNamedNotPlaced: no sentence of the page sends its reader to something by its place, its shape or its colour (WCAG 1.3.3). What
// is "below" are the folders in a folder.
func TestNamedNotPlaced(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("assets/*.html")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	markup := regexp.MustCompile(`(?s)\{\{.*?\}\}|<style.*?</style>|<svg.*?</svg>|<[^>]*>`)
	placed := regexp.MustCompile(`(?i)\b(?:on|to|at) the (?:left|right|top|bottom|side)\b|\b(?:above|below|beneath|red|green|yellow|orange|round|square|icon|coloured?)\b`)
	for _, name := range append(names, "../../narrate/catalogue/en.txt") {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		if filepath.Ext(name) == ".html" {
			text = markup.ReplaceAllString(text, " ")
		} else {
			text = regexp.MustCompile(`(?m)^\[.*\]$|\{\w+`).ReplaceAllString(text, " ") // keys and parameters are not read
		}
		for _, found := range placed.FindAllString(strings.ReplaceAll(text, "folders below", "folders in them"), -1) {
			t.Errorf("%s says %q", name, found)
		}
	}
}

// TestMarksStayInTheLine: what is heard only does not begin with a mark. It stands outside the line, and a name has a space before it.
func TestMarksStayInTheLine(t *testing.T) {
	t.Parallel()
	apart := regexp.MustCompile(`class="unseen">\s*[,.;:!?)]`)
	for _, name := range files(t, "assets/*.html") {
		if found := apart.FindString(read(t, name)); found != "" {
			t.Errorf("%s has %s: put the mark into a span.unseen-mark before it", name, found)
		}
	}
}

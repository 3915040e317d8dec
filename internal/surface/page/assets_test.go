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

// TestScriptsAreToldAtOnce: a page names all scripts that its own imports, in whatever depth, and each once. With its own they are no more
// than a browser asks for in two turns, without TLS.
func TestScriptsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	assets, err := page.Load()
	if err != nil {
		t.Fatal(err)
	}
	imported := regexp.MustCompile(`(?m)^import .*?"\./(.*?)"`)
	var all func(name string, found map[string]bool)
	all = func(name string, found map[string]bool) {
		file, _ := assets.File(name)
		for _, one := range imported.FindAllStringSubmatch(string(file.Body), -1) {
			if !found[one[1]] {
				found[one[1]] = true
				all(one[1], found)
			}
		}
	}
	for template, data := range map[string]any{"home": page.Home{}, "login": page.Login{}} {
		body, err := assets.In("").Render(template, data)
		if err != nil {
			t.Fatal(err)
		}
		script := map[string]string{"home": "page.js", "login": "zone.js"}[template]
		want := map[string]bool{}
		all(script, want)
		for name := range want {
			if n := strings.Count(string(body), `<link rel="modulepreload" href="/page/`+name+`">`); n != 1 {
				t.Errorf("%s names %s %d times", template, name, n)
			}
		}
		if n := strings.Count(string(body), "modulepreload"); n != len(want) || script == "page.js" && (n < 10 || n > 2*6) {
			t.Errorf("%s names %d scripts, expected %d, and no more than a browser asks for in two turns without TLS", template, n, len(want))
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

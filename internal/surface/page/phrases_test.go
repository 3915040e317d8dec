package page_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/earshot-dev/earshot/internal/phrasebook"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// scriptPhrase is a sentence of a script.
var scriptPhrase = regexp.MustCompile(`\btr\(\s*("(?:[^"\\]|\\.)*")`)

// phrases are what the templates and the scripts say, in order.
func phrases(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, name := range files(t, "assets/*.html") {
		page.Translated(read(t, name), func(text string) string {
			all = append(all, text)
			return text
		})
	}
	for _, name := range files(t, "assets/*.js") {
		for _, found := range scriptPhrase.FindAllStringSubmatch(read(t, name), -1) {
			text, err := strconv.Unquote(found[1])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(all), err)
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestPhrases: each language has what the templates and the scripts say.
func TestPhrases(t *testing.T) {
	t.Parallel()
	for _, tag := range phrasebook.Tags() {
		b, err := phrasebook.Open(tag)
		if err != nil {
			t.Fatal(err)
		}
		known := b.Phrases()
		for _, english := range phrases(t) {
			if _, found := slices.BinarySearch(known, english); !found {
				t.Errorf("%s has no translation of %q", b.Tag, english)
			}
		}
	}
}

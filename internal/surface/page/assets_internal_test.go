package page

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/phrasebook"
)

// TestLateParts: what is read at the first page can be read, in each language.
func TestLateParts(t *testing.T) {
	t.Parallel()
	p, err := load()
	if err != nil {
		t.Fatal(err)
	}
	if p.In("") != p.english || p.In("xx") != p.english {
		t.Error("an unknown language is not shown in English")
	}
	if _, found := p.File("page.svg"); found {
		t.Error("there is a page.svg")
	}
	if s, err := p.scripts(); err != nil || len(s.files) == 0 {
		t.Errorf("the scripts: %v, %v", s, err)
	}
	if _, err := p.english.templates(); err != nil {
		t.Error(err)
	}
	for _, tag := range phrasebook.Tags() {
		if l, err := p.languages[tag](); err != nil || l.Tag != tag || p.In(tag) != l {
			t.Errorf("%s: %v", tag, err)
		}
	}
}

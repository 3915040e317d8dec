package instance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/narrate"
)

// Languages are the languages besides English that events are said in.
type Languages []hub.Translation

// Tags lists all languages, English first.
func (l Languages) Tags() []string {
	tags := append(make([]string, 0, 1+len(l)), "en")
	for _, t := range l {
		tags = append(tags, t.Tag())
	}
	return tags
}

// ByMachine lists those whose sentences no native speaker has read.
func (l Languages) ByMachine() []string {
	var tags []string
	for _, t := range l {
		if t.ByMachine() {
			tags = append(tags, t.Tag())
		}
	}
	return tags
}

// OpenLanguages returns the languages besides English that events are said in: those whose catalogue a native speaker
// has signed, and of the others, which a machine has translated, those that are allowed by their tags.
func OpenLanguages(allowed []string) (Languages, error) {
	var all Languages
	var known []string
	for _, c := range narrate.Headers() {
		tag := c.Tag.String()
		known = append(known, tag)
		if c.ByMachine() && !slices.Contains(allowed, tag) {
			continue
		}
		t, err := narrate.NewTranslation(c.WithMessages())
		if err != nil {
			return nil, fmt.Errorf("the language %s: %w", tag, err)
		}
		all = append(all, t)
	}
	for _, tag := range allowed {
		if !slices.Contains(known, tag) {
			return nil, cause.Misuse(fmt.Sprintf("there is no language %.64q", tag), "the languages besides English are "+strings.Join(known, ", "))
		}
	}
	return all, nil
}

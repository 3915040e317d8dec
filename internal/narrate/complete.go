package narrate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrIncomplete is the error of [Catalogue.Complete]. Its text names the message and what it lacks.
var ErrIncomplete = errors.New("the catalogue does not say what the English one says")

// Complete checks a translation: it has each message and each field of the English catalogue and no others, every text
// has the same parameters and the same cases, and each plural has all forms of its language.
func (c Catalogue) Complete() error {
	source := English()
	if extra := missing(c.Messages, source.Messages); len(extra) > 0 {
		return fmt.Errorf("%w: %v are no messages", ErrIncomplete, extra)
	}
	if lacks := missing(source.Messages, c.Messages); len(lacks) > 0 {
		return fmt.Errorf("%w: the messages %v are missing", ErrIncomplete, lacks)
	}
	forms := formsOf(c)
	for key, m := range source.Messages {
		if err := compare(m, c.Messages[key], forms); err != nil {
			return fmt.Errorf("%w: message %s: %w", ErrIncomplete, key, err)
		}
	}
	return nil
}

// missing returns the keys of a that b does not have.
func missing[V any](a, b map[string]V) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a)), func(key string) bool { _, has := b[key]; return has })
}

// formsOf returns the plural forms that whole numbers have in a language.
func formsOf(c Catalogue) []string {
	t, forms := newLocalizer(c.Tag), map[string]bool{}
	for n := range int64(200) {
		forms[t.form(n)] = true
	}
	forms[t.form(million)] = true
	return slices.Sorted(maps.Keys(forms))
}

var errFields = errors.New("its fields are others")

func compare(source, translated Message, forms []string) error {
	want, err := compile(source)
	if err != nil {
		return err
	}
	have, err := compile(translated)
	if err != nil {
		return err
	}
	if len(missing(want, have)) > 0 || len(missing(have, want)) > 0 {
		return fmt.Errorf("%w: found %v, expected %v", errFields, slices.Sorted(maps.Keys(have)), slices.Sorted(maps.Keys(want)))
	}
	for name, p := range want {
		if err := comparePhrases(p, have[name], forms); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

var (
	errParams = errors.New("its parameters are others")
	errCases  = errors.New("its cases are others")
	errForms  = errors.New("a plural form is missing")
)

func comparePhrases(source, translated phrase, forms []string) error {
	want, have := source.params(), translated.params()
	if !maps.Equal(want, have) {
		return fmt.Errorf("%w: found %v, expected %v", errParams, slices.Sorted(maps.Keys(have)), slices.Sorted(maps.Keys(want)))
	}
	wantCases, haveCases := map[string]bool{}, map[string]bool{}
	source.cases(wantCases)
	translated.cases(haveCases)
	if !maps.Equal(wantCases, haveCases) {
		return fmt.Errorf("%w: found %v, expected %v", errCases, slices.Sorted(maps.Keys(haveCases)), slices.Sorted(maps.Keys(wantCases)))
	}
	return translated.hasForms(forms)
}

// cases collects what a phrase selects by: parameter and word.
func (p phrase) cases(into map[string]bool) {
	for _, n := range p {
		for _, a := range n.arms {
			if n.kind == selectParam {
				into[n.param+"="+a.key] = true
			}
			a.body.cases(into)
		}
	}
}

// hasForms checks that each plural of a phrase has these forms.
func (p phrase) hasForms(forms []string) error {
	for _, n := range p {
		keys := map[string]bool{}
		for _, a := range n.arms {
			keys[a.key] = true
			if err := a.body.hasForms(forms); err != nil {
				return err
			}
		}
		for _, form := range forms {
			if n.kind == pluralParam && !keys[form] {
				return fmt.Errorf("%w: %s of {%s}", errForms, form, n.param)
			}
		}
	}
	return nil
}

package audit

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// How much of a value a finding shows, in characters.
const shortest, longest = 32, 64

// part is a part of a sentence, apart from its values.
func part(form string, values ...any) legible.Sentence { return legible.NewSentence(form, values...) }

// cut is the beginning of a text.
func cut[T ~string](text T, most int) string { return fmt.Sprintf("%.*s", most, string(text)) }

// quoted is the beginning of a text in quotation marks.
func quoted[T ~string](text T, most int) string { return fmt.Sprintf("%.*q", most, string(text)) }

// abbreviated is the beginning of a digest.
func abbreviated(text string) string {
	const shown = 16
	return fmt.Sprintf("%.*s…", shown, text)
}

// orElse is the beginning of a text in quotation marks, or a part of ours where there is none.
func orElse(text, none string) any {
	if text == "" {
		return part(none)
	}
	return quoted(text, longest)
}

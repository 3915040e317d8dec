package legible

import "fmt"

// Sentence is a sentence of ours, or a part of one, apart from the values that are put into it: so another language can be found for it by
// its form, and a surface can set the values apart, which stay as they are.
type Sentence struct {
	// Form is the English text, with %s for a text and %d for a whole number. Without values it is the text itself, which may be one that
	// no other language has: what a library says.
	Form string
	// Values are put into it in their order: a string is a text of others, a [Sentence] a part of ours.
	Values []any
}

// NewSentence is a sentence of a form that has its values.
func NewSentence(form string, values ...any) Sentence { return Sentence{Form: form, Values: values} }

// String is the sentence in English.
func (s Sentence) String() string {
	if len(s.Values) == 0 {
		return s.Form
	}
	return fmt.Sprintf(s.Form, s.Values...)
}

// Map is the sentence with each text of others in it changed.
func (s Sentence) Map(change func(string) string) Sentence {
	if len(s.Values) == 0 {
		return s
	}
	values := make([]any, len(s.Values))
	for i, value := range s.Values {
		switch value := value.(type) {
		case string:
			values[i] = change(value)
		case Sentence:
			values[i] = value.Map(change)
		default:
			values[i] = value
		}
	}
	s.Values = values
	return s
}

// MarshalText is the sentence in English, as it stands in JSON.
func (s Sentence) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a sentence whose form is not known any more.
func (s *Sentence) UnmarshalText(text []byte) error {
	*s = NewSentence(string(text))
	return nil
}

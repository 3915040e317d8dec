package utp

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The names under which a step's calls that no service runs stand in cards and
// transcripts. No tool can be registered under them.
const (
	// AskPerson is a question that an agent puts to the person.
	AskPerson = "ask_person"
	// SubmitResult is the answer of a turn that was started with required result fields
	// (UTP, "Result fields").
	SubmitResult = "submit_result"
)

// Field is one field of a turn's result (UTP, "Result fields").
type Field struct {
	Name  string         `json:"name"`
	Value jsontext.Value `json:"value"`
}

// maxFields bounds what a turn may require.
const maxFields = 64

// CheckRequired says what is wrong with the names of required result fields: at most 64,
// each once, 1 to 128 printable characters.
func CheckRequired(names []string) error {
	if len(names) > maxFields {
		return wrong("result_fields", fmt.Sprintf("%d names", len(names)), "at most 64")
	}
	for i, name := range names {
		if !Printable(name, maxToken) || slices.Contains(names[:i], name) {
			return wrong("result_fields", Shown(name), "names of 1 to 128 printable characters, each once")
		}
	}
	return nil
}

// CheckFields says which of the required names are missing from a result, and which stand
// in it twice (UTP, "Result fields"). Other names may be there.
func CheckFields(required []string, fields []Field) error {
	var missing, twice []string
	for i, f := range fields {
		same := func(o Field) bool { return o.Name == f.Name }
		if slices.ContainsFunc(fields[:i], same) && !slices.Contains(twice, f.Name) {
			twice = append(twice, f.Name)
		}
	}
	for _, name := range required {
		if !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name }) {
			missing = append(missing, name)
		}
	}
	var wants []string
	if len(missing) > 0 {
		wants = append(wants, "missing: "+strings.Join(missing, ", "))
	}
	if len(twice) > 0 {
		wants = append(wants, "twice: "+strings.Join(twice, ", "))
	}
	if len(wants) == 0 {
		return nil
	}
	return wrong("result.fields", strings.Join(wants, "; "), "each of "+strings.Join(required, ", ")+" once")
}

// FieldError says what is wrong with what an agent asks, hands over or answers.
type FieldError struct{ Field, Found, Expected string }

func (e *FieldError) Error() string {
	return e.Field + " is " + e.Found + "; expected " + e.Expected
}

// Code is bad_request.
func (*FieldError) Code() Code { return CodeBadRequest }

func wrong(field, found, expected string) error {
	return &FieldError{Field: field, Found: found, Expected: expected}
}

// Printable reports whether a text of at most so many characters is all that can be seen of it.
func Printable(s string, most int) bool {
	return s != "" && utf8.RuneCountInString(s) <= most && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

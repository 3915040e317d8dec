package utp

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The names, in cards and transcripts, of the calls that no service runs. Tools cannot be registered under them.
const (
	// AskPerson is an agent's question to the person.
	AskPerson = "ask_person"
	// SubmitResult is the answer of a turn that was started with required result fields (UTP, "Result fields").
	SubmitResult = "submit_result"
)

// Field is one field of a turn's result (UTP, "Result fields").
type Field struct {
	Name  string         `json:"name"`
	Value jsontext.Value `json:"value"`
}

// maxFields limits the fields that a turn may require.
const maxFields = 64

// CheckRequired validates the names of required result fields: at most 64, no duplicates, 1 to 128 printable characters
// each.
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

// CheckFields returns an error that names the required fields that are missing or duplicated in a result (UTP, "Result
// fields"). Additional fields are allowed.
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

// FieldError describes what is wrong with an agent's question, hand-off or answer.
type FieldError struct{ Field, Found, Expected string }

func (e *FieldError) Error() string {
	return e.Field + " is " + e.Found + "; expected " + e.Expected
}

// Code is bad_request.
func (*FieldError) Code() Code { return CodeBadRequest }

func wrong(field, found, expected string) error {
	return &FieldError{Field: field, Found: found, Expected: expected}
}

// Printable reports whether a text has at most so many characters, all of them printable.
func Printable(s string, most int) bool {
	return s != "" && utf8.RuneCountInString(s) <= most && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

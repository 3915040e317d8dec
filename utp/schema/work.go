package schema

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ErrWork says that a value takes too much work to be judged. A schema of a few lines can have
// it judged in more ways than there is time for, by schemas that each try several others on the
// same value; and the kernel judges by schemas that tool services have written.
var ErrWork = errors.New("the schema tries too many ways on it to be judged")

// How many schemas may be tried on a value: so many, and so many more for each value within it.
const (
	baseWork  = 100_000
	valueWork = 16
)

// Schema is a compiled schema. It judges one value at a time: who shares it has a lock.
type Schema struct {
	*jsonschema.Schema

	work *work
}

// Validate judges a value as [jsonschema.Schema.Validate] does, with a bound on its work:
// beyond that it is [ErrWork].
func (s *Schema) Validate(value any) (err error) {
	defer func() {
		s.work.bounded = false
		if p := recover(); p == errWorked {
			err = ErrWork
		} else if p != nil {
			panic(p)
		}
	}()
	s.work.left, s.work.bounded = baseWork+valueWork*values(value), true
	return s.Schema.Validate(value) //nolint:wrapcheck // it is the library's own, as it says
}

// values counts a value and those within it.
func values(value any) int {
	n := 1
	switch value := value.(type) {
	case map[string]any:
		for _, v := range value {
			n += values(v)
		}
	case []any:
		for _, v := range value {
			n += values(v)
		}
	}
	return n
}

// work counts how many schemas are tried. It is part of each schema, where the library lets
// others take part in judging; there is no other way to call it off.
type work struct {
	left    int
	bounded bool
}

type workedError struct{}

func (workedError) Error() string { return ErrWork.Error() }

var errWorked any = workedError{}

func (w *work) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL:     "urn:earshot:work",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return w, nil },
	}
}

// Validate implements [jsonschema.SchemaExt].
func (w *work) Validate(*jsonschema.ValidatorContext, any) {
	if w.left--; w.bounded && w.left < 0 {
		panic(errWorked)
	}
}

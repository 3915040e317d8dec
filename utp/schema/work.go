package schema

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ErrWork means that validating a value takes too much work. A schema of a few lines can take exponential time, if its
// subschemas each try several others on the same value; and the kernel validates with schemas that tool services have
// written.
var ErrWork = errors.New("the schema tries too many ways on it to be judged")

// The limit of subschemas that may be tried on a value: a fixed number, plus a number for each value within it.
const (
	baseWork  = 100_000
	valueWork = 16
)

// Schema is a compiled schema. It validates one value at a time: concurrent users need a lock.
type Schema struct {
	*jsonschema.Schema

	work *work
}

// Validate validates a value as [jsonschema.Schema.Validate] does, but returns [ErrWork] if it takes too much work.
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

// work counts the subschemas that are tried. It is added to each schema as an extension of the library, because there
// is no other way to cancel a validation.
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

package schema

import "errors"

// ErrWork means that validating a value takes too much work. A schema of a few lines can take exponential time, if its
// subschemas each try several others on the same value; and the kernel validates with schemas that tool services have
// written.
var ErrWork = errors.New("the schema tries too many ways on it to be judged")

// The limit of subschemas that may be tried on a value: a fixed number, plus a number for each value within it.
const (
	baseWork  = 100_000
	valueWork = 16
)

// fullWork is what one subschema counts. A subschema that the type of the value or a constant rules out counts 1, as does a
// value that is compared with others.
const fullWork = 64

// maxDepth is how many subschemas may be within each other. It only stops what no list and no object ends.
const maxDepth = 50_000

type workedError struct{}

func (workedError) Error() string { return ErrWork.Error() }

// errWorked ends a validation from any depth: a subschema that merely failed could be the one that a not asks for.
var errWorked any = workedError{}

// bounded runs a validation and returns [ErrWork] if it ended for too much work.
func bounded(validate func() error) (err error) {
	defer func() {
		if p := recover(); p == errWorked {
			err = ErrWork
		} else if p != nil {
			panic(p)
		}
	}()
	return validate()
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

func (e *evaluation) spend(work int) {
	if e.left -= work; e.left < 0 {
		panic(errWorked)
	}
}

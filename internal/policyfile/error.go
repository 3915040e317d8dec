package policyfile

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/tool/settings"
)

// Error says why a file is not a valid policy.
type Error struct{ why legible.Sentence }

func (e *Error) Error() string { return e.why.String() }

// Sentence is the text of the error, apart from its values.
func (e *Error) Sentence() legible.Sentence { return e.why }

// Why says why the policy in a file does not apply, as a part of a sentence and apart from what stands in the file. What the system says of a file
// is told in English, but for the two things that happen.
func Why(err error, path string) legible.Sentence {
	if wrong, is := errors.AsType[*settings.Error](err); is {
		return legible.NewSentence("the policy %s: %s", path, wrong.Sentence())
	}
	if wrong, is := errors.AsType[*rulebook.Error](err); is {
		return wrong.Sentence()
	}
	if wrong, is := errors.AsType[*Error](err); is {
		return wrong.Sentence()
	}
	if _, is := errors.AsType[*fs.PathError](err); !is {
		return legible.NewSentence(cause.Of(err))
	}
	why := legible.NewSentence(cause.System(err))
	switch {
	case errors.Is(err, syscall.ENOENT):
		why = legible.NewSentence("%s is not there", path)
	case errors.Is(err, syscall.EACCES):
		why = legible.NewSentence("this user may not use %s", path)
	}
	return legible.NewSentence("the policy cannot be read: %s", why)
}

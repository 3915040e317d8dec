package cause

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
)

// Plain is an error with its own text for people: what was found, and what was expected. Text of wrapping errors is
// dropped.
type Plain interface {
	error
	Plain() string
}

// Of returns why err happened, as part of a sentence: it begins with a lowercase letter and has no full stop. Known
// errors of the system and the standard library are translated; the text around them stays, without package names. Nil
// gives "".
func Of(err error) string {
	if err == nil {
		return ""
	}
	if e, is := errors.AsType[Plain](err); is {
		return e.Plain()
	}
	var parts []string
	for _, one := range joined(err) {
		if text := ofOne(one); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

// System returns a translated error of the system or the standard library, without the text around it; "" if there is
// none.
func System(err error) string {
	if err == nil {
		return ""
	}
	words, _ := translated(err)
	return words
}

// joined returns the errors of a join.
func joined(err error) []error {
	if list, is := err.(interface{ Unwrap() []error }); is {
		if text := err.Error(); strings.Contains(text, "\n") {
			return list.Unwrap()
		}
	}
	return []error{err}
}

func ofOne(err error) string {
	if err == nil {
		return ""
	}
	words, inner := translated(err)
	text := err.Error()
	if inner != nil { // if its text is missing, somebody has replaced it by their own
		text = strings.Replace(text, inner.Error(), words, 1)
	}
	return withoutPackages(text)
}

// packages are the package names before error texts, for readers of the code.
var packages = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(access|aaep|agent|audit|authenticator|bus|capture|chat|client|cluster|conform|enrol|exec|files|http|hub|json|jsontext|kernel|ledger|llm|local|mcp|` +
		`narrate|nats|net|passkey|phrasebook|postgres|rpc|service|` +
		`settings|sim|sqlite|storetest|strconv|subscribe|terminal|tidy|time|tls|tool|utp|web|worker|x509|yaml): `)
})

func withoutPackages(text string) string {
	for {
		found := packages().FindString(text)
		if found == "" {
			return text
		}
		text = text[len(found):]
	}
}

// translated finds the error whose text is Go's or the system's, and translates it. It takes the outermost of its kind:
// that one knows the file or address.
func translated(err error) (words string, inner error) {
	for _, find := range []func(error) (string, error){ofNet, ofCertificate, ofFile, ofJSON, ofNumber} {
		if words, inner := find(err); inner != nil {
			return words, inner
		}
	}
	for _, row := range []struct {
		sentinel error
		message  string
	}{
		{context.DeadlineExceeded, late},
		{os.ErrDeadlineExceeded, late},
		{context.Canceled, "it was told to end"},
		{io.ErrUnexpectedEOF, short},
		{io.EOF, short},
		{io.ErrClosedPipe, closed},
		{fs.ErrClosed, closed},
		{http.ErrServerClosed, closed},
		{http.ErrHandlerTimeout, late},
		{fs.ErrNotExist, "it is not there"},
		{fs.ErrPermission, "this user may not do that"},
		{fs.ErrExist, "it is there already"},
	} {
		if errors.Is(err, row.sentinel) {
			return row.message, row.sentinel
		}
	}
	return "", nil
}

const (
	late   = "no answer came in time"
	short  = "it ends too early"
	closed = "it was closed"
)

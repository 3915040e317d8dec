package utp

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ArgumentError says why arguments are refused before anyone is asked. Nothing has begun, and the same arguments are
// always refused.
type ArgumentError struct {
	// Pointer is the place, as a JSON Pointer (RFC 6901); "" is the whole document.
	Pointer  string
	Found    string
	Expected string
	Err      error
}

func (e *ArgumentError) Error() string {
	where := "arguments"
	if e.Pointer != "" {
		where += " at " + Shown(e.Pointer)
	}
	return where + ": found " + e.Found + "; expected " + e.Expected
}

func (e *ArgumentError) Unwrap() error { return e.Err }

// Code is bad_request.
func (*ArgumentError) Code() Code { return CodeBadRequest }

// SafeToRetry is true: refused arguments were never dispatched.
func (*ArgumentError) SafeToRetry() bool { return true }

// argumentError translates an error of the JSON decoder.
func argumentError(err error) *ArgumentError {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return &ArgumentError{Found: clip(err.Error()), Expected: "a JSON object", Err: err}
	}
	e := &ArgumentError{Pointer: string(syntax.JSONPointer), Err: err}
	text := syntax.Err.Error()
	switch {
	case errors.Is(syntax.Err, jsontext.ErrDuplicateName):
		e.Found, e.Expected = "the name "+Shown(syntax.JSONPointer.LastToken())+" twice", "every name once"
	case strings.Contains(text, "UTF-8"):
		e.Found, e.Expected = "bytes that are not UTF-8", "UTF-8"
	case strings.Contains(text, "surrogate"):
		e.Found, e.Expected = "half a surrogate pair", "whole characters"
	case errors.Is(syntax.Err, io.ErrUnexpectedEOF):
		e.Found, e.Expected = "the end of the text", "the rest of the JSON"
	default:
		e.Found, e.Expected = clip(text), "valid JSON"
	}
	return e
}

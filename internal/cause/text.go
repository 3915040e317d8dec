package cause

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ofJSON says where a text is not the expected JSON.
func ofJSON(err error) (words string, inner error) {
	if e, is := errors.AsType[*jsontext.SyntacticError](err); is {
		switch {
		case errors.Is(e.Err, jsontext.ErrDuplicateName):
			return "it has the member " + string(e.JSONPointer) + " twice", e
		case errors.Is(e.Err, io.ErrUnexpectedEOF):
			return short, e
		}
		return fmt.Sprintf("it is not JSON from byte %d on", e.ByteOffset+1), e
	}
	if e, is := errors.AsType[*json.SemanticError](err); is {
		switch {
		case errors.Is(e.Err, json.ErrUnknownName):
			return "it has the member " + string(e.JSONPointer) + ", which is not known", e
		case e.JSONPointer != "":
			return "the value of " + string(e.JSONPointer) + " is not of the kind that it should be", e
		}
		return "it is not of the kind that it should be", e
	}
	if e, is := errors.AsType[*stdjson.SyntaxError](err); is {
		return fmt.Sprintf("it is not JSON from byte %d on", e.Offset), e
	}
	if e, is := errors.AsType[*stdjson.UnmarshalTypeError](err); is {
		return "the value of " + e.Field + " is not of the kind that it should be", e
	}
	return "", nil
}

// ofNumber says that a text is not a number.
func ofNumber(err error) (words string, inner error) {
	e, is := errors.AsType[*strconv.NumError](err)
	switch {
	case !is:
		return "", nil
	case errors.Is(e.Err, strconv.ErrRange):
		return strconv.Quote(e.Num) + " is too large or too small", e
	}
	return strconv.Quote(e.Num) + " is not a number", e
}

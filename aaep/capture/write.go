package capture

import (
	"bytes"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Write writes one message on one line, at once. What is not JSON is kept as well as a line can keep it: the file is there
// to be judged.
func Write(to io.Writer, raw []byte) error {
	if bytes.ContainsAny(raw, "\r\n") {
		raw = flat(raw)
	}
	_, err := to.Write(append(raw, '\n'))
	return err //nolint:wrapcheck // the caller says what could not be written
}

// flat takes the line ends out of a message: between its values they mean nothing.
func flat(raw []byte) []byte {
	value := jsontext.Value(bytes.Clone(raw))
	if err := value.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true)); err == nil {
		return value
	}
	return bytes.Join(bytes.FieldsFunc(raw, func(r rune) bool { return r == '\r' || r == '\n' }), []byte(" "))
}

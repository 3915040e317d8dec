package capture

import (
	"bytes"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Write writes one message as one line, in a single write. A message that is not JSON is preserved as well as a line
// can, because the file is there to be checked.
func Write(to io.Writer, raw []byte) error {
	if bytes.ContainsAny(raw, "\r\n") {
		raw = flat(raw)
	}
	_, err := to.Write(append(raw, '\n'))
	return err //nolint:wrapcheck // the caller says what could not be written
}

// flat removes the line ends from a message: between JSON values they mean nothing.
func flat(raw []byte) []byte {
	value := jsontext.Value(bytes.Clone(raw))
	if err := value.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true)); err == nil {
		return value
	}
	return bytes.Join(bytes.FieldsFunc(raw, func(r rune) bool { return r == '\r' || r == '\n' }), []byte(" "))
}

package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// encode writes a result as JSON that every store and reader accepts. An error tells the author of the tool what is
// wrong, and where.
func encode(value any) (jsontext.Value, *utp.ToolError) {
	raw, err := json.Marshal(value, json.Deterministic(true), jsontext.PreserveRawStrings(true))
	if err != nil {
		return nil, toolError(Error(utp.CodeResultNotSerializable, "the tool returned what is not JSON: "+err.Error()+hint(err)))
	}
	if err := Keepable(raw); err != nil {
		return nil, toolError(Error(utp.CodeResultNotSerializable, "the tool returned what cannot be kept: "+err.Error()+hint(err)))
	}
	return raw, nil
}

// hint says what to do about the usual mistakes.
func hint(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "UTF-8"):
		return "; a text is valid UTF-8, other bytes are returned as []byte"
	case strings.Contains(text, "NaN"), strings.Contains(text, "Inf"):
		return "; JSON has no such number, leave it out or say it as a text"
	case strings.Contains(text, "NUL"):
		return "; remove it, or return the bytes as []byte"
	default:
		return ""
	}
}

// Keepable returns an error if a JSON text cannot be stored as a result, with the reason and the place. A text without
// an escaped NUL, which is the usual case, is read once.
func Keepable(raw jsontext.Value) error {
	if !raw.IsValid() {
		return errors.New("it is not JSON, or has a name twice or half of a surrogate pair")
	}
	if !bytes.Contains(raw, []byte(`\u0000`)) {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := dec.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil // what looked like one was an escaped backslash
		case err != nil:
			return fmt.Errorf("it cannot be read: %w", err)
		case token.Kind() == jsontext.KindString && strings.ContainsRune(token.String(), 0):
			return fmt.Errorf("the text at %q holds a NUL character", dec.StackPointer())
		}
	}
}

// Readable returns a text that every store accepts: U+FFFD replaces invalid UTF-8 and NUL.
func Readable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

package wording

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Value is a text, a number or another plain value in a JSON text, and its JSON pointer.
type Value struct {
	Pointer, Text string
}

// Values lists the plain values of a JSON text, up to where it cannot be read.
func Values(raw jsontext.Value) []Value {
	var values []Value
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return values
		}
		if strings.ContainsRune("{}[]", rune(token.Kind())) {
			continue
		}
		if kind, n := d.StackIndex(d.StackDepth()); kind == '{' && n%2 == 1 {
			continue // the name of a member
		}
		values = append(values, Value{Pointer: string(d.StackPointer()), Text: token.String()})
	}
}

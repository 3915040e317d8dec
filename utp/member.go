package utp

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// member is one member of an object, as written in the text.
type member struct {
	name     string
	literal  jsontext.Value // the name as written, with its quotes
	value    jsontext.Value // as written
	from, to int            // of the value
}

// members returns the members of an object without changing their bytes. The error is an [*ArgumentError].
func members(raw []byte) ([]member, error) {
	if start := skipSpace(raw); start == len(raw) || raw[start] != '{' {
		return nil, &ArgumentError{Found: foundInstead(raw, start), Expected: "a JSON object"}
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if _, err := d.ReadToken(); err != nil {
		return nil, argumentError(err)
	}
	var all []member
	for d.PeekKind() != jsontext.KindEndObject {
		m, err := readMember(d, raw)
		if err != nil {
			return nil, argumentError(err)
		}
		all = append(all, m)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, argumentError(err)
	}
	if rest := raw[d.InputOffset():]; skipSpace(rest) != len(rest) {
		return nil, &ArgumentError{Found: "more after the object", Expected: "one JSON object"}
	}
	return all, nil
}

func readMember(d *jsontext.Decoder, raw []byte) (member, error) {
	literal, err := d.ReadValue()
	if err != nil {
		return member{}, err //nolint:wrapcheck // members wraps it
	}
	nameEnd := int(d.InputOffset())
	name, err := jsontext.AppendUnquote(nil, literal)
	if err != nil {
		return member{}, err //nolint:wrapcheck // members wraps it
	}
	m := member{name: string(name), literal: raw[nameEnd-len(literal) : nameEnd]}
	value, err := d.ReadValue()
	if err != nil {
		return member{}, err //nolint:wrapcheck // members wraps it
	}
	m.to = int(d.InputOffset())
	m.from = m.to - len(value)
	m.value = raw[m.from:m.to]
	return m, nil
}

// SetMember sets one member of an object and returns the new text. It does not change args, and keeps the literal bytes
// of all other members. A new member comes last. The error is an [*ArgumentError].
func SetMember(args jsontext.Value, name string, value jsontext.Value) (jsontext.Value, error) {
	all, err := members(args)
	if err != nil {
		return nil, err
	}
	if !value.IsValid() {
		return nil, &ArgumentError{Pointer: pointerTo(name), Found: "no JSON value", Expected: "one"}
	}
	for _, m := range all {
		if m.name == name {
			return concat(args[:m.from], value, args[m.to:]), nil
		}
	}
	quoted, err := jsontext.AppendQuote(nil, name)
	if err != nil {
		return nil, &ArgumentError{Pointer: pointerTo(name), Found: "a name that is not UTF-8", Expected: "UTF-8", Err: err}
	}
	if len(all) > 0 {
		quoted = append([]byte{','}, quoted...)
	}
	end := bytes.LastIndexByte(args, '}')
	return concat(args[:end], quoted, []byte{':'}, value, args[end:]), nil
}

func concat(parts ...[]byte) jsontext.Value { return bytes.Join(parts, nil) }

func pointerTo(name string) string { return string(jsontext.Pointer("").AppendToken(name)) }

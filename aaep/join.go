package aaep

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// join writes objects one behind the other as one object. Of a part that is exact or
// enclosed, each value is written as it is.
func join(parts ...any) ([]byte, error) {
	out := []byte{'{'}
	for _, part := range parts {
		inner, err := inside(part)
		if err != nil {
			return nil, err
		}
		if len(inner) > 0 && len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, inner...)
	}
	return append(out, '}'), nil
}

// inside writes the members of one object, without its braces.
func inside(part any) ([]byte, error) {
	switch part := part.(type) {
	case exact:
		return part.write()
	case faithful:
		return part.write()
	case enclosed:
		if part.members == nil {
			return nil, nil
		}
		inner, err := exact(part.members).write()
		return slices.Concat(quote(part.name), []byte(":{"), inner, []byte("}")), err
	}
	raw, err := json.Marshal(part, writing)
	return bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("{")), []byte("}")), err
}

// exact is values of others, which are written as they were, in the order of their
// names. Only line ends between tokens are taken out, so that a message stays one
// line.
type exact map[string]jsontext.Value

// enclosed is the same as one member.
type enclosed struct {
	name    string
	members map[string]jsontext.Value
}

// faithful is a message whose [jsontext.Value]s, wherever they stand in it, are written as
// they were, too.
type faithful struct{ message any }

func (f faithful) write() ([]byte, error) {
	type decoded struct {
		end   int64 // of what stands for the value
		value []byte
	}
	var all []decoded
	keep := json.MarshalToFunc(func(e *jsontext.Encoder, v jsontext.Value) error {
		value, err := oneLine(v)
		if err != nil {
			return err
		}
		err = e.WriteToken(jsontext.Int(0))
		all = append(all, decoded{e.OutputOffset(), value})
		return err //nolint:wrapcheck // Encode names it
	})
	raw, err := json.Marshal(f.message, writing, json.WithMarshalers(keep))
	if err != nil {
		return nil, err //nolint:wrapcheck // Encode names it
	}
	for _, k := range slices.Backward(all) {
		raw = slices.Replace(raw, int(k.end)-1, int(k.end), k.value...)
	}
	return bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("{")), []byte("}")), nil
}

func (e exact) write() ([]byte, error) {
	var out []byte
	for i, name := range slices.SortedFunc(maps.Keys(e), strings.Compare) {
		value, err := oneLine(e[name])
		if err != nil {
			return nil, &Error{Code: CodeBadEvent, Message: "the value of " + quoted(name) + " is not one JSON value", Cause: err}
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, quote(name)...), ':'), value...)
	}
	return out, nil
}

// bearing is how the values of others are read: with what is wrong in them.
var bearing = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

var errNoValue = errors.New("found no JSON value, or more than one")

// oneLine is a value without line ends, and otherwise as it was.
func oneLine(value jsontext.Value) (jsontext.Value, error) {
	if !value.IsValid(bearing...) {
		return nil, errNoValue
	}
	if !bytes.ContainsAny(value, "\r\n") {
		return value, nil
	}
	value = value.Clone()
	err := value.Compact(slices.Concat(bearing, []jsontext.Options{jsontext.PreserveRawStrings(true)})...)
	return value, err //nolint:wrapcheck // Encode names it
}

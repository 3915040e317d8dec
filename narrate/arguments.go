package narrate

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
)

const (
	// secretMember marks an object that stands for a secret.
	secretMember = "$secret"
	// maxMembers is how many arguments a summary shows.
	maxMembers = 6
	// maxArgument bounds one argument in a summary.
	maxArgument = 120
)

// summarize shows the first members of the arguments, each in a safe form: texts and
// numbers as they are, lists and objects by their size, secrets not at all. It takes
// time linear in the arguments.
func summarize(args jsontext.Value) (Param, bool) {
	d := jsontext.NewDecoder(bytes.NewReader(args))
	if d.PeekKind() != jsontext.KindBeginObject {
		return Param{}, false
	}
	if _, err := d.ReadToken(); err != nil {
		return Param{}, false
	}
	var out Param
	for d.PeekKind() == jsontext.KindString {
		name, err := d.ReadToken()
		if err != nil {
			return Param{}, false
		}
		if len(out.List) == maxMembers {
			out.Left++
			if d.SkipValue() != nil {
				return Param{}, false
			}
			continue
		}
		member, err := showMember(d, name.String())
		if err != nil {
			return Param{}, false
		}
		out.List = append(out.List, member)
	}
	return out, len(out.List) > 0
}

func showMember(d *jsontext.Decoder, name string) (Param, error) {
	shown := shorter(name, maxArgument/2)
	value, err := showArgument(d)
	if err != nil {
		return Param{}, err
	}
	switch {
	case namesCredential(name): // not even its name, which readers scan for
		return say("value.hidden", nil), nil
	case legible.Plain(name):
		shown = identifier(name)
	}
	return say("value.member", Params{"name": shown, "value": value}), nil
}

func showArgument(d *jsontext.Decoder) (Param, error) {
	switch kind := d.PeekKind(); kind {
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
		return showContainer(d, kind)
	case jsontext.KindNull:
		return say("value.null", nil), d.SkipValue()
	default:
		raw, err := d.ReadValue()
		if err != nil {
			return Param{}, err //nolint:wrapcheck // only its being there counts
		}
		text := raw.String()
		if kind == jsontext.KindString {
			unquoted, err := jsontext.AppendUnquote(nil, raw)
			if err != nil {
				return Param{}, err //nolint:wrapcheck // only its being there counts
			}
			text = string(unquoted)
		}
		return shorter(text, maxArgument), nil
	}
}

// showContainer counts what is inside a list or an object; a secret is named as such.
func showContainer(d *jsontext.Decoder, kind jsontext.Kind) (Param, error) {
	if _, err := d.ReadToken(); err != nil {
		return Param{}, err //nolint:wrapcheck // only its being there counts
	}
	n, secret := int64(0), false
	for d.PeekKind() != jsontext.KindEndObject && d.PeekKind() != jsontext.KindEndArray {
		if kind == jsontext.KindBeginObject {
			name, err := d.ReadToken()
			if err != nil {
				return Param{}, err //nolint:wrapcheck // only its being there counts
			}
			secret = secret || name.String() == secretMember
		}
		if err := d.SkipValue(); err != nil {
			return Param{}, err //nolint:wrapcheck // only its being there counts
		}
		n++
	}
	_, err := d.ReadToken()
	switch {
	case secret:
		return Param{Secret: true}, err //nolint:wrapcheck // only its being there counts
	case kind == jsontext.KindBeginObject:
		return say("value.members", Params{"n": count(n)}), err
	default:
		return say("value.items", Params{"n": count(n)}), err
	}
}

func shorter(s string, limit int) Param {
	head, more := cut(valid(s), limit)
	return Param{Text: head, More: more}
}

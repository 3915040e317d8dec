package conform_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/conform"
)

// This file is the language in which the vectors are written: an object that keeps
// the order of its members, changes to it, and a vector around it.

// object is a JSON object in order.
type object []member

type member struct {
	name  string
	value any // string, bool, int, float64, nil, []any, object, literal, absent
}

// literal is JSON as it is written.
type literal string

// absent takes a member away.
type absent struct{}

// order is the recommended one (ENV-58); the payload stands before extensions.
var order = []string{
	"@context", "aaep_version", "type", "event_id", "session_id", "sequence_number", "timestamp", "producer", "verbosity", "urgency",
	"localization_hints", "correlation_id", "", "extensions",
}

func rank(name string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return slices.Index(order, "")
}

// with returns a copy with changes: pairs of a path, its names separated by slashes,
// and a value.
func (o object) with(changes ...any) object {
	for i := 0; i < len(changes); i += 2 {
		o = o.set(strings.Split(changes[i].(string), "/"), changes[i+1], true)
	}
	return o
}

func (o object) set(path []string, value any, outer bool) object {
	changed := slices.Clone(o)
	i := slices.IndexFunc(changed, func(m member) bool { return m.name == path[0] })
	if len(path) > 1 {
		inner := object{}
		if i >= 0 {
			inner = changed[i].value.(object)
		}
		value = inner.set(path[1:], value, false)
	}
	_, gone := value.(absent)
	switch {
	case gone && i >= 0:
		return slices.Delete(changed, i, i+1)
	case gone:
		panic(fmt.Sprintf("%q is absent already", path))
	case i >= 0:
		changed[i].value = value
		return changed
	}
	at := len(changed)
	if outer {
		for at > 0 && rank(changed[at-1].name) > rank(path[0]) {
			at--
		}
	}
	return slices.Insert(changed, at, member{path[0], value})
}

// JSON writes the object compactly.
func (o object) JSON() jsontext.Value { return jsontext.Value(write(o)) }

func write(value any) string {
	switch v := value.(type) {
	case object:
		parts := make([]string, len(v))
		for i, m := range v {
			parts[i] = write(m.name) + ":" + write(m.value)
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = write(item)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case literal:
		return string(v)
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return string(raw)
	}
}

func list(items ...any) []any { return items }

// source is a vector in the making.
type source struct{ conform.Vector }

// made is a vector about an object, or about bytes.
func made(verdict conform.Verdict, rule, slug, title string, path *string, input any) source {
	v := conform.Vector{ID: rule + "-" + slug, Rule: rule, Title: title, Kind: conform.KindEvent, Mode: conform.ModeProducer, Verdict: verdict, Path: path}
	switch in := input.(type) {
	case object:
		v.Input = in.JSON()
		if i := slices.IndexFunc(in, func(m member) bool { return m.name == "type" }); i >= 0 && isMessage(in[i].value) {
			v.Kind = conform.KindMessage
		}
	case string:
		v.Raw = &in
	case []byte:
		v.Base64 = in
	case jsontext.Value:
		v.Input = in
	default:
		panic(fmt.Sprintf("no input: %T", input))
	}
	return source{v}
}

// isMessage reports whether a type is a reply or belongs to the handshake.
func isMessage(value any) bool {
	name, ok := value.(string)
	return ok && (strings.HasPrefix(name, "subscription.") || strings.HasSuffix(name, ".reply"))
}

// anywhere stands for a path that is not compared.
const anywhere = "*"

func place(path string) *string {
	if path == anywhere {
		return nil
	}
	return &path
}

func good(rule, slug, title string, input any) source {
	return made(conform.VerdictValid, rule, slug, title, nil, input)
}

func bad(rule, slug, title, path string, input any) source {
	return made(conform.VerdictError, rule, slug, title, place(path), input)
}

func warn(rule, slug, title, path string, input any) source {
	return made(conform.VerdictWarning, rule, slug, title, place(path), input)
}

func note(rule, slug, title, path string, input any) source {
	return made(conform.VerdictInfo, rule, slug, title, place(path), input)
}

func (s source) also(rules ...string) source      { s.Also = append(s.Also, rules...); return s }
func (s source) finding(rule string) source       { s.Finding = rule; return s }
func (s source) consumer() source                 { s.Mode = conform.ModeConsumer; return s }
func (s source) envelope() source                 { s.Mode = conform.ModeEnvelope; return s }
func (s source) message() source                  { s.Kind = conform.KindMessage; return s }
func (s source) options(o conform.Options) source { s.Options = &o; return s }

func (s source) fill(path, text string, times int) source {
	s.Fill = append(s.Fill, conform.Fill{Path: path, Text: text, Times: times})
	return s
}

func join(groups ...[]source) []source { return slices.Concat(groups...) }

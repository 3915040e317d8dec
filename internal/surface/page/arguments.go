package page

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/aaep/outline"
)

// Arguments are a part of the arguments that a question is about.
type Arguments struct {
	Question   int
	Text       string
	From, To   int64
	Size       int64
	Members    []Member
	Next, Back int64
	HasBack    bool
	Session    string
	Asked      *Question // the question, where it is open
}

// Member is one argument of a call.
type Member struct {
	Name  string
	Value string
	Items []string // when the value is a list
}

// Members reads the arguments one by one, in the order in which they are written.
func Members(text string) []Member {
	in := jsontext.NewDecoder(strings.NewReader(text))
	if open, err := in.ReadToken(); err != nil || open.Kind() != jsontext.KindBeginObject {
		return nil
	}
	var list []Member
	for in.PeekKind() != jsontext.KindEndObject {
		name, err := in.ReadToken()
		if err != nil {
			return nil
		}
		m := Member{Name: legible.Source(name.String())}
		value, err := in.ReadValue()
		if err != nil {
			return nil
		}
		var items []jsontext.Value
		if value.Kind() == jsontext.KindBeginArray && json.Unmarshal(value, &items) == nil {
			for _, item := range items {
				m.Items = append(m.Items, argument(item))
			}
		}
		if m.Items == nil {
			m.Value = argument(value)
		}
		list = append(list, m)
	}
	return list
}

// argument is a value as a person reads it: a text without its quotes and escapes.
func argument(value jsontext.Value) string {
	var text string
	if value.Kind() == jsontext.KindString && json.Unmarshal(value, &text) == nil {
		if text == "" {
			return "(empty)"
		}
		return legible.Source(text)
	}
	return legible.Source(string(value))
}

// value is one value of a question's arguments: its own text, or what is said in its place.
type value struct {
	Name string
	Text string
	Said string
}

func shownValue(v outline.Value) value {
	out := value{Name: legible.Source(v.Name()), Said: v.Placeholder()}
	switch {
	case v.Kind == outline.Masked:
		out.Name = "One value"
	case out.Said != "":
	case v.More > 0:
		out.Text = legible.Source(v.Value) + "… and " + legible.Counted(int64(v.More), "more character")
	default:
		out.Text = legible.Source(v.Value)
	}
	return out
}

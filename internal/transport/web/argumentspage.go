package web

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// argumentsPage is the number of bytes of the arguments on one page.
const argumentsPage = 16 << 10

type argumentsView struct {
	Question   int
	Text       string
	From, To   int64
	Size       int64
	Members    []member
	Next, Back int64
	HasBack    bool
	Session    string
	Asked      *asked // nil if the question is no longer open
}

// member is one argument of a call.
type member struct {
	Name  string
	Value string
	Items []string // if the value is a list
}

// argumentsPage shows the full arguments of a question, page by page. First comes each argument by name, if all of them
// fit, and always the exact text that runs.
func (s *Server) argumentsPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	p, err := s.argumentsPart(r, v, argumentsPage) // what is counted as read is what is shown
	if err != nil {
		return err
	}
	view := argumentsView{
		Question: p.Question, Text: legible.Source(p.Text), From: p.Offset + 1, To: p.Offset + int64(len(p.Text)), Size: p.Size, Next: p.Next,
		HasBack: p.Offset > 0, Session: r.URL.Query().Get("session"),
	}
	if p.Offset == 0 && p.Next == 0 {
		view.Members = members(p.Text)
	}
	if view.Asked, err = s.askedThere(r, v); err != nil {
		return err
	}
	return s.show(w, http.StatusOK, "arguments", view)
}

// askedThere returns the question of the request, with all possible answers: whoever has reached the end of the
// arguments has been shown everything. It returns nil if the question is no longer open.
func (s *Server) askedThere(r *http.Request, v visitor) (*asked, error) {
	number, err := questionNumber(r)
	if err != nil {
		return nil, err
	}
	listed, err := s.hub.Questions(r.Context(), v.Principal, QuestionListOptions{After: number - 1, Limit: 1, Peek: isHead(r)})
	if err != nil {
		return nil, err
	}
	for _, q := range listed.Questions {
		if q.Number == number {
			a := s.ask(q, v)
			a.Accept = a.Accept || a.ReadFirst && !a.Parked
			a.Back = r.URL.Query().Get("session")
			return &a, nil
		}
	}
	return nil, nil //nolint:nilnil // none is open
}

// members splits the arguments into their members, in the order of the text.
func members(text string) []member {
	in := jsontext.NewDecoder(strings.NewReader(text))
	if open, err := in.ReadToken(); err != nil || open.Kind() != jsontext.KindBeginObject {
		return nil
	}
	var list []member
	for in.PeekKind() != jsontext.KindEndObject {
		name, err := in.ReadToken()
		if err != nil {
			return nil
		}
		m := member{Name: legible.Source(name.String())}
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

// argument formats a value for a person: a string without its quotes and escapes.
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

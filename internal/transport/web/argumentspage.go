package web

import (
	"net/http"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// argumentsPage is the number of bytes of the arguments on one page.
const argumentsPage = 16 << 10

// argumentsPage shows in full what a question is about, page by page: first each
// argument by name, where all of them fit, and always the exact text that runs.
func (s *Server) argumentsPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	p, err := s.argumentsPart(r, v, argumentsPage) // what is counted as read is what is shown
	if err != nil {
		return err
	}
	view := page.Arguments{
		Question: p.Question, Text: legible.Source(p.Text), From: p.Offset + 1, To: p.Offset + int64(len(p.Text)), Size: p.Size, Next: p.Next,
		HasBack: p.Offset > 0, Session: r.URL.Query().Get("session"),
	}
	if p.Offset == 0 && p.Next == 0 {
		view.Members = page.Members(p.Text)
	}
	if view.Asked, err = s.askedThere(r, v); err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "arguments", view)
}

// askedThere is the question of an address, with all answers that it takes: anyone who has come to the
// end of its arguments has been shown everything. None where it is not open any more.
func (s *Server) askedThere(r *http.Request, v visitor) (*page.Question, error) {
	number, err := questionNumber(r)
	if err != nil {
		return nil, err
	}
	listed, err := s.hub.Questions(r.Context(), v.Principal, QuestionListOptions{After: number - 1, Limit: 1, Peek: isHead(r), Language: s.language(v)})
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

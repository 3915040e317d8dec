package web

import (
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// ask makes what is shown of a question for somebody who may answer, or not.
func (s *Server) ask(q api.OpenQuestion, who visitor) page.Question {
	a := page.NewQuestion(q, unanswerable(who.Principal, q), s.now(), who.zone)
	a.Form = who.form
	return a
}

// answers tells whether somebody may answer this very question: an approver for its owner.
// Buttons are there for nobody else.
func answers(who Principal, q api.OpenQuestion) bool {
	return who.May(api.Answer) && who.Approves(q.Owner)
}

// unanswerable returns why somebody may not answer a question, or "" if they may.
func unanswerable(who Principal, q api.OpenQuestion) string {
	switch {
	case answers(who, q):
		return ""
	case !who.May(api.Answer):
		return "You may hear this question, and not answer it: that takes the role approver."
	default:
		return "You may hear this question, and not answer it: it is for " + legible.Text(q.Owner) + ", or an approver for that person."
	}
}

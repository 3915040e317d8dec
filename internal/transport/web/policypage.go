package web

import (
	"net/http"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// Policy is the operator's file of rules.
type Policy struct {
	Path string // "" if there is none
	Text string // as it was last valid
	// Trouble is why the file is invalid now, in a sentence without its end; the rules in Text stay in force. It has no form if the file is
	// valid.
	Trouble legible.Sentence
}

// policyPage shows the rules as they were read. They are changed in their file only.
func (s *Server) policyPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := s.inProject(r, v); err != nil {
		return err
	}
	now := s.options.Policy()
	return s.show(w, r, http.StatusOK, "policy", page.Policy{
		Navigation: s.navigation(v), Path: legible.Text(now.Path), Text: legible.Source(now.Text), Trouble: now.Trouble.Map(legible.Line),
	})
}

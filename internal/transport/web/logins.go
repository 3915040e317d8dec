package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/surface/page"
	"github.com/earshot-dev/earshot/internal/wording"
)

// Directory is the port to who may come in; [access.Store] implements it. Its methods may be called concurrently.
type Directory interface {
	// Logins returns the logins, oldest first, and List the tokens.
	Logins() ([]access.Login, error)
	List() ([]access.Token, error)
	// EndLogins ends the logins that match, and returns them.
	EndLogins(meant func(access.Login) bool) ([]access.Login, error)
}

// loginsPage lists who is logged in, and the tokens.
func (s *Server) loginsPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := s.inProject(r, v); err != nil {
		return err
	}
	wanted, err := query(r)
	if err != nil {
		return err
	}
	view := page.Logins{Navigation: s.navigation(v), Search: page.Search{Path: "/logins", Label: "Search by person, browser or token", Query: wanted}, Form: s.formOf(v)}
	if err := s.loginsInto(r, v, &view); err != nil {
		return err
	}
	if err := s.tokensInto(r, v, &view); err != nil {
		return err
	}
	view.Notice = s.noticeOf(r, v)
	return s.show(w, r, http.StatusOK, "logins", view)
}

// loginsInto adds the logins behind a place to a list.
func (s *Server) loginsInto(r *http.Request, v visitor, view *page.Logins) error {
	after, err := placeIn(r, "after")
	if err != nil {
		return err
	}
	view.First = after == place{}
	all, err := s.options.Directory.Logins()
	if err != nil {
		return noDirectory(err)
	}
	var last place
	for _, l := range all {
		here := place{l.Begun, l.ID}
		row := page.LoginRow{ID: l.ID, Text: s.loginText(l, v), Here: v.Credential != "" && strings.HasSuffix(v.Credential, l.ID)}
		switch {
		case !here.behind(after) || !holds(view.Search.Query, row.Text):
		case len(view.Rows) == rowsPerPage:
			view.Search.Next = view.Search.Further("after", last.String())
			return nil
		default:
			view.Rows, last = append(view.Rows, row), here
		}
	}
	return nil
}

// tokensInto adds the tokens behind a place to a list.
func (s *Server) tokensInto(r *http.Request, v visitor, view *page.Logins) error {
	after, err := placeIn(r, "tokens")
	if err != nil {
		return err
	}
	view.FirstToken = after == place{}
	all, err := s.options.Directory.List()
	if err != nil {
		return noDirectory(err)
	}
	slices.SortFunc(all, func(a, b access.Token) int { return place{a.Created, a.ID}.compare(place{b.Created, b.ID}) })
	var last place
	for _, t := range all {
		here := place{t.Created, t.ID}
		row := page.Token{Name: legible.Text(t.Name), Text: legible.Line(t.Describe()) + " Made " + t.Created.In(v.zone).Format(timeInLists) + "."}
		switch {
		case !here.behind(after) || !holds(view.Search.Query, row.Name, row.Text):
		case len(view.Tokens) == rowsPerPage:
			view.MoreTokens = view.Search.Further("tokens", last.String()) + "#tokens"
			return nil
		default:
			view.Tokens, last = append(view.Tokens, row), here
		}
	}
	return nil
}

// inProject asks the hub whether the visitor's rights hold in its project, for what is not the hub's.
func (s *Server) inProject(r *http.Request, v visitor) error {
	_, err := s.hub.Newest(r.Context(), v.Principal)
	return err
}

func (s *Server) loginText(l access.Login, v visitor) string {
	return wording.Login(l.Person, l.Browser, l.Begun.In(v.zone).Format(timeInLists), l.Used.In(v.zone).Format(timeInLists), l.Expires.In(v.zone).Format(timeInLists))
}

// noDirectory is the refusal where the file of tokens and logins cannot be read or written.
func noDirectory(err error) error {
	return &Refusal{Kind: api.KindUnavailable, Message: "the file of tokens and logins cannot be used", Hint: "see the log of the server", Cause: err}
}

// endLoginForm ends a login, and with it its streams.
func (s *Server) endLoginForm(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := s.inProject(r, v); err != nil {
		return err
	}
	ended, err := s.options.Directory.EndLogins(func(l access.Login) bool { return l.ID == r.PathValue("login") })
	if err != nil {
		return noDirectory(err)
	}
	n := page.Notice{Refused: true, Text: "That login had ended already."}
	for _, l := range ended {
		n = page.Notice{Text: "Ended: the login of " + legible.Text(l.Person) + ". That browser or terminal has to log in again."}
	}
	s.backTo(w, r, v, "/logins#notice", n)
	return nil
}

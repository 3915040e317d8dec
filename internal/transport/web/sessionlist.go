package web

import (
	"context"
	"net/http"
	"strconv"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

const (
	// usualSessions is the default length of a list, mostSessions the maximum.
	usualSessions = 50
	mostSessions  = 100
	// mostSearched is how many sessions are looked at for one page of a search.
	mostSearched = 2000
)

// ListOptions select sessions for a list.
type ListOptions struct {
	// Open leaves out the sessions that have ended, Ended those that have not.
	Open, Ended bool
	// Before is a session: the list continues after it, with older ones. If the principal may not follow it, this is a
	// [Refusal].
	Before string
	Limit  int // at least 1
}

// Page is one page of a list. More reports that there are older ones.
type Page struct {
	Sessions []api.Session
	More     bool
}

// next returns the cursor of the next page: its last session, or "".
func (l Page) next() string {
	if !l.More {
		return ""
	}
	return l.Sessions[len(l.Sessions)-1].ID
}

// listOptions parses ?open=true, ?limit= and ?before=.
func listOptions(r *http.Request) (ListOptions, error) {
	query := r.URL.Query()
	w := ListOptions{Open: query.Get("open") == "true", Before: query.Get("before"), Limit: usualSessions}
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return w, refuse(api.KindInvalid, "found the limit "+clip(text)+", expected a number from 1 on", "correct the address; one answer holds 100 at most")
		}
		w.Limit = min(n, mostSessions)
	}
	return w, nil
}

// listSessions lists sessions, newest first, 50 or ?limit= of them; ?open=true leaves out those that have ended, ?q= those that do not
// hold it. If there are older ones, next in the answer is the value of ?before= for the next page.
func (s *Server) listSessions(_ http.ResponseWriter, r *http.Request, v visitor) (api.SessionList, error) {
	want, err := listOptions(r)
	if err != nil {
		return api.SessionList{}, err
	}
	wanted, err := query(r)
	if err != nil {
		return api.SessionList{}, err
	}
	page, next, err := s.sessionsWith(r.Context(), v, want, wanted)
	if err != nil {
		return api.SessionList{}, err
	}
	return api.SessionList{Sessions: append([]api.Session{}, page.Sessions...), Next: next}, nil
}

// sessionsWith lists the sessions that hold what is searched for in their name, agent, owner, request or result, and returns the cursor
// of what is older, or "". It looks at 2,000 sessions at most, so that a page may be short, or empty, and still have a cursor.
func (s *Server) sessionsWith(ctx context.Context, v visitor, want ListOptions, wanted string) (found Page, next string, err error) {
	if wanted == "" {
		found, err = s.hub.Sessions(ctx, v.Principal, want)
		return found, found.next(), err
	}
	read := want
	read.Limit = mostSessions
	for looked := 0; looked < mostSearched; looked += mostSessions {
		listed, err := s.hub.Sessions(ctx, v.Principal, read)
		if err != nil {
			return Page{}, "", err
		}
		for _, one := range listed.Sessions {
			if len(found.Sessions) == want.Limit {
				return found, found.Sessions[want.Limit-1].ID, nil
			}
			if holds(wanted, one.Name, one.Agent, one.Owner, one.Request, one.Summary) {
				found.Sessions = append(found.Sessions, one)
			}
		}
		if next = listed.next(); next == "" {
			break
		}
		read.Before = next
	}
	return found, next, nil
}

// sessionsPage is the list of all sessions as a page of its own, for what the first page has
// no room for. It works without scripts, and nothing on it changes by itself.
func (s *Server) sessionsPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	want, err := listOptions(r)
	if err != nil {
		return err
	}
	wanted, err := query(r)
	if err != nil {
		return err
	}
	listed, next, err := s.sessionsWith(r.Context(), v, want, wanted)
	if err != nil {
		return err
	}
	waiting, err := s.waiting(r.Context(), v)
	if err != nil {
		return err
	}
	view := page.SessionList{
		Navigation: s.navigation(v), Heading: "All sessions", First: want.Before == "", Running: want.Open,
		Search: page.Search{Path: "/sessions", Label: "Search by agent, request or result", Query: wanted},
	}
	if want.Open {
		view.Heading = "Running sessions"
	}
	for _, one := range listed.Sessions {
		if err := s.add(r.Context(), v, &view.Sessions, one, waiting[one.ID]); err != nil {
			return err
		}
	}
	if n := len(view.Sessions); n > 0 {
		view.Behind = view.Sessions[n-1].When
		if !view.First {
			view.Heading += " from " + view.Sessions[0].When + " and before"
		}
	}
	view.Title = view.Heading + " - Earshot"
	if next != "" {
		view.Next = page.OlderSessions(next, want.Open, wanted)
	}
	return s.show(w, r, http.StatusOK, "older", view)
}

// waiting says of each session with an open question on whom it waits.
func (s *Server) waiting(ctx context.Context, v visitor) (map[string]string, error) {
	const peek = true // no question is shown
	listed, err := s.hub.Questions(ctx, v.Principal, QuestionListOptions{Limit: 1, Peek: peek, Overview: true})
	if err != nil {
		return nil, err
	}
	return page.WaitingOn(listed.Waiting), nil
}

package web

import (
	"net/http"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// mostFind is the length of a text that is looked for, in characters.
const mostFind = 200

// sessionPage shows a session on a page of its own: the newest lines, with ?before= those before a line, with ?at= those
// around one, with ?find= those that contain a text. It works without scripts, and nothing on it changes by itself.
func (s *Server) sessionPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	want, err := selection(r)
	if err != nil {
		return err
	}
	var view page.View
	err = s.readSession(r, v, func(read *page.Record, line page.Session, tree page.Tree) { view = read.View(line, tree, want, v.zone) })
	if err != nil {
		return err
	}
	view.Density = api.Chosen(v.prefers.Density)
	return s.show(w, r, http.StatusOK, "session", view)
}

// sessionText is the same session as plain text.
func (s *Server) sessionText(w http.ResponseWriter, r *http.Request, v visitor) error {
	var text string
	err := s.readSession(r, v, func(read *page.Record, line page.Session, tree page.Tree) { text = read.Text(line, tree, v.zone) })
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(text)) // plain text, and said to be; a browser that has gone is not told
	return nil
}

func selection(r *http.Request) (want page.Selection, err error) {
	want.Find = r.URL.Query().Get("find")
	if !utf8.ValidString(want.Find) || utf8.RuneCountInString(want.Find) > mostFind {
		return want, refuse(api.KindInvalid, "the text to find has more than 200 characters, or is no text", "look for a part of it")
	}
	if want.At, err = number(r, "at"); err != nil {
		return want, err
	}
	want.Before, err = number(r, "before")
	return want, err
}

// readSession reads the session of an address, as far as its reader may, and shows it by a function that keeps nothing of it.
func (s *Server) readSession(r *http.Request, v visitor, show func(*page.Record, page.Session, page.Tree)) error {
	one, err := s.hub.Session(r.Context(), v.Principal, r.PathValue("session"))
	if err != nil {
		return err
	}
	waiting, err := s.waiting(r.Context(), v)
	if err != nil {
		return err
	}
	var line []page.Session
	if err := s.add(r.Context(), v, &line, one, waiting[one.ID]); err != nil {
		return err
	}
	return s.record(r.Context(), v, one, func(read *page.Record) { show(read, line[0], page.NewTree(one, waiting)) })
}

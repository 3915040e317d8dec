package web

import (
	"net/http"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// show answers with a page.
func (s *Server) show(w http.ResponseWriter, r *http.Request, status int, name string, data any) error {
	body, err := s.pageLanguage(r).Render(name, data)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Add("Vary", "Accept-Encoding, Accept-Language, Cookie")
	if takesGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		body = s.pages.Gzip(body)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // html/template has escaped it; a browser that has gone is not told
	return nil
}

// static serves the scripts and the images.
func (s *Server) static(w http.ResponseWriter, r *http.Request) { s.file(w, r, r.PathValue("file")) }

func (s *Server) file(w http.ResponseWriter, r *http.Request, name string) {
	f, ok := s.pages.File(name)
	if !ok {
		s.fail(w, r, refuse(api.KindNotFound, "there is no such file", "the page is at /"))
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.Kind)
	h.Set("Cache-Control", "no-cache") // asked for again each time, and answered by the tag
	h.Add("Vary", "Accept-Encoding")
	body, tag := f.Body, f.Tag
	if f.Packed != nil && takesGzip(r) {
		body, tag = f.Packed(), f.PackedTag // another tag, because it is another answer
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(body) // a browser that has gone is not told
}

// failPage shows a refusal as a page.
func (s *Server) failPage(w http.ResponseWriter, r *http.Request, refusal *Refusal) {
	t := page.Trouble{Title: "This did not work", Message: legible.Capital(refusal.Message) + ".", Hint: legible.Capital(refusal.Hint) + ".", Here: s.onPage(r)}
	switch refusal.Kind {
	case api.KindUnauthenticated:
		t.Title, t.Login = "Log in first", true
	case api.KindForbidden:
		t.Title = "Not allowed"
	case api.KindNotFound:
		t.Title = "Not here"
	case api.KindConflict:
		t.Title = "Something else came first"
	case api.KindMisdirected:
		t.Title = "The page is not here"
	case api.KindMethod:
		t.Title = "Not this way"
	case api.KindInvalid, api.KindTooLarge, api.KindMedia, api.KindBusy, api.KindUnavailable, api.KindUncertain, api.KindInternal:
	}
	if refusal.Hint == "" {
		t.Hint = ""
	}
	if err := s.show(w, r, refusal.status(), "trouble", t); err != nil {
		s.log.ErrorContext(r.Context(), "a page could not be made", "error", err)
		http.Error(w, refusal.Message, refusal.status())
	}
}

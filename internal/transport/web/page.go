package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"iter"
	"net/http"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
)

//go:embed page
var embedded embed.FS

// pages holds the page's templates and static files.
type pages struct {
	templates *template.Template
	files     map[string]file
}

type file struct {
	kind string
	tag  string
	body []byte
}

func loadPages() (*pages, error) {
	templates, err := template.New("").Funcs(template.FuncMap{
		"show":  legible.Text,
		"mixed": mixed,
		"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	}).ParseFS(embedded, "page/*.html")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	p := &pages{templates: templates, files: map[string]file{}}
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
	err = fs.WalkDir(embedded, "page", func(name string, _ fs.DirEntry, err error) error {
		kind := kinds[path.Ext(name)]
		if err != nil || kind == "" {
			return err
		}
		body, err := embedded.ReadFile(name)
		if err != nil {
			return err //nolint:wrapcheck // named below
		}
		sum := sha256.Sum256(body)
		p.files[strings.TrimPrefix(name, "page/")] = file{kind: kind, tag: `"` + hex.EncodeToString(sum[:8]) + `"`, body: body}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return p, nil
}

// The marks around the words of others in a sentence.
const (
	isolate    = '\u2068'
	isolateEnd = '\u2069'
)

// mixed renders a sentence. The words of others in it are marked as of unknown language, and isolated with their own
// direction.
func mixed(text string) template.HTML {
	var b strings.Builder
	depth := 0
	for part := range parts(text) {
		switch part {
		case string(isolate):
			if depth++; depth == 1 {
				b.WriteString(`<bdi lang="">`)
			}
		case string(isolateEnd):
			if depth--; depth == 0 {
				b.WriteString(`</bdi>`)
			}
			depth = max(depth, 0)
		default:
			b.WriteString(template.HTMLEscapeString(part))
		}
	}
	if depth > 0 {
		b.WriteString(`</bdi>`)
	}
	return template.HTML(b.String()) //nolint:gosec // each part of it is escaped
}

// parts splits a text at its marks, which are yielded as parts of their own.
func parts(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			i := strings.IndexFunc(text, func(c rune) bool { return c == isolate || c == isolateEnd })
			switch {
			case i == 0:
				i = utf8.RuneLen(isolate)
			case i < 0:
				i = len(text)
			}
			if !yield(text[:i]) {
				return
			}
			text = text[i:]
		}
	}
}

// render executes a template into memory, so that an incomplete page is never sent.
func (p *pages) render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return b.Bytes(), nil
}

// show answers with a page.
func (s *Server) show(w http.ResponseWriter, status int, name string, data any) error {
	body, err := s.pages.render(name, data)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the browser may have gone
	return nil
}

// static serves the style and the scripts.
func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	f, ok := s.pages.files[r.PathValue("file")]
	if !ok {
		s.fail(w, r, refuse(api.KindNotFound, "there is no such file", "the page is at /"))
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", "no-cache") // revalidated each time, by the tag
	h.Set("ETag", f.tag)
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(f.body) // the browser may have gone
}

// troubleView is the page of a refusal.
type troubleView struct {
	Title, Message, Hint string
	Login                bool
	Here                 bool // the page is under this name and can be linked
}

// failPage shows a refusal as a page.
func (s *Server) failPage(w http.ResponseWriter, r *http.Request, refusal *Refusal) {
	t := troubleView{Title: "This did not work", Message: legible.Capital(refusal.Message) + ".", Hint: legible.Capital(refusal.Hint) + ".", Here: s.onPage(r)}
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
	if err := s.show(w, refusal.status(), "trouble", t); err != nil {
		s.log.ErrorContext(r.Context(), "a page could not be made", "error", err)
		http.Error(w, refusal.Message, refusal.status())
	}
}

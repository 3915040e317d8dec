package web

import (
	"context"
	"net/http"

	"golang.org/x/text/language"

	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// pageTagKey is where a request keeps the language of its visitor.
type pageTagKey struct{}

// inLanguageOf returns the request with the language of its visitor, for the page that answers it.
func (s *Server) inLanguageOf(r *http.Request, v visitor) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), pageTagKey{}, s.language(v)))
}

// pageLanguage is the language of the page that answers a request: that of its visitor, and where nobody is logged in the first that
// their browser asks for and the server offers.
func (s *Server) pageLanguage(r *http.Request) *page.Language {
	if tag, known := r.Context().Value(pageTagKey{}).(string); known {
		return s.pages.In(tag)
	}
	offer := pacing.Offer{Languages: s.options.Manifest.LanguagesSupported}
	asked, _, _ := language.ParseAcceptLanguage(r.Header.Get("Accept-Language")) // what cannot be read asks for nothing
	for _, tag := range asked {
		if offered := offer.Serves(tag.String()); offered != "" {
			return s.pages.In(offered)
		}
	}
	return s.pages.In("")
}

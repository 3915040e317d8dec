package web

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/api"
)

// cookieName is the name of the page session's cookie.
const cookieName = "earshot_page"

// Surfaces, as a receipt keeps them.
const (
	surfacePage = "page"
	surfaceHTTP = "http"
)

// visitor is who made a request and how that was shown.
type visitor struct {
	Principal
	// form is the form token of a page session; "" for a token in a header.
	form string
	// zone is the time zone in which they are told times.
	zone *time.Location
	// again finds the principal once more.
	again func() (Principal, error)
}

// visitor finds out who makes a request. A header beats a cookie, and a cookie counts
// under the page's own name only: under another it was sent by anyone who has got hold of it.
func (s *Server) visitor(r *http.Request) (visitor, error) {
	v, err := s.shownBy(r)
	v.zone = s.zone(r)
	return v, err
}

func (s *Server) shownBy(r *http.Request) (visitor, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, secret, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") || secret == "" {
			return visitor{}, refuse(api.KindUnauthenticated, "found another Authorization than Bearer", "send Authorization: Bearer and the token")
		}
		return s.identify(func() (Principal, error) { return s.access.Authenticate(secret) }, surfaceHTTP, "")
	}
	cookie, err := r.Cookie(cookieName)
	if err != nil || cookie.Value == "" || !s.onPage(r) {
		return visitor{}, refuse(api.KindUnauthenticated, "nobody is logged in", "log in on the page with the one-time code, or send a token as Authorization: Bearer")
	}
	user := s.options.User(r)
	return s.identify(func() (Principal, error) { return s.access.Page(cookie.Value, user) }, surfacePage, formToken(cookie.Value))
}

func (s *Server) identify(find func() (Principal, error), surface, form string) (visitor, error) {
	again := func() (Principal, error) {
		who, err := find()
		who.Surface = cmp.Or(who.Surface, surface)
		return who, err
	}
	who, err := again()
	if err != nil {
		return visitor{}, &Refusal{
			Kind: api.KindUnauthenticated, Message: "the token or the login is not valid, or no longer", Hint: "log in again, or get a new token", Cause: err,
		}
	}
	return visitor{Principal: who, form: form, again: again}, nil
}

// formToken derives the token of a page session's forms from its secret, so that it
// needs no place of its own and holds as long as the session does.
func formToken(secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("earshot form 1"))
	return hex.EncodeToString(mac.Sum(nil))
}

// watch is the right of a visitor to go on with a stream.
type watch struct {
	access Access
	who    visitor
}

func (s *Server) watch(v visitor) watch { return watch{access: s.access, who: v} }

// changes sends when the right may have changed; it is closed after the context's end.
func (w watch) changes(ctx context.Context) <-chan struct{} { return w.access.Watch(ctx) }

// valid answers whether the visitor still is who they were, with the same rights.
func (w watch) valid() bool {
	now, err := w.who.again()
	return err == nil && sameRights(w.who.Principal, now)
}

// byToken refuses words to the API that only a cookie speaks for: the page has its forms,
// with their token, and a cookie alone goes along with more than its owner means.
func (v visitor) byToken(r *http.Request) error {
	if v.form == "" || !isAPI(r) || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	return refuse(api.KindForbidden, "a login of the page does not speak to the API", "send a token as Authorization: Bearer")
}

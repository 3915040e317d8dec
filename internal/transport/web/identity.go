package web

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// Surfaces, as recorded in a receipt.
const (
	surfacePage   = "page"
	surfaceHTTP   = "http"
	surfaceSocket = "socket"
)

// visitor is the authenticated sender of a request, and how they authenticated.
type visitor struct {
	Principal
	// form is the form token of a page session; "" for a token in a header.
	form string
	// zone is the time zone of the times shown to them.
	zone *time.Location
	// prefers is what they prefer for what they read and hear; nothing for a token, whose program asks for it itself.
	prefers api.Preferences
	// again authenticates the principal once more.
	again func() (Principal, error)
}

// visitor authenticates a request. A header beats a cookie. A cookie counts only under the page's own name: under
// another, whoever has obtained it may have sent it.
func (s *Server) visitor(r *http.Request) (visitor, error) {
	v, err := s.shownBy(r)
	v.zone = s.zone(r)
	if err == nil && v.form != "" {
		s.personal(r.Context(), &v)
	}
	return v, err
}

// single reports whether a visitor wants one question at a time.
func (v visitor) single() bool { return api.Chosen(v.prefers.Questions) == "one" }

// personal adds what a visitor prefers. Where it cannot be read, the page is as it is for everybody.
func (s *Server) personal(ctx context.Context, v *visitor) {
	now, err := s.hub.Prefer(ctx, v.Principal, api.Preferences{})
	if err != nil {
		return
	}
	v.prefers = now
	if zone, err := api.Zone(api.Chosen(now.TimeZone)); err == nil {
		v.zone = zone
	}
}

func (s *Server) shownBy(r *http.Request) (visitor, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, secret, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") || secret == "" {
			return visitor{}, refuse(api.KindUnauthenticated, "found another Authorization than Bearer", "send Authorization: Bearer and the token")
		}
		return s.identify(func() (Principal, error) { return s.authenticate(r, secret) }, surfaceHTTP, "")
	}
	cookie, err := r.Cookie(s.page.cookie())
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
		return visitor{}, unknown(err)
	}
	return visitor{Principal: who, form: form, again: again}, nil
}

// awayTime is after how long a token may be sent again whose provider could not be asked for its keys.
const awayTime = 15 * time.Second

// unknown is the refusal of whom nobody knows. Why a token of an identity provider does not count is said: it is about the token alone,
// which the sender has.
func unknown(err error) *Refusal {
	known, is := errors.AsType[*access.Error](err)
	switch {
	case is && known.Code == access.CodeAway:
		return &Refusal{Kind: api.KindUnavailable, Message: known.Message, Hint: known.Hint, After: awayTime, Cause: err}
	case is && known.Code == access.CodeNoRole:
		return &Refusal{Kind: api.KindForbidden, Message: known.Message, Hint: known.Hint, Cause: err}
	case is && known.Code == access.CodeUnknown && known != access.ErrUnknown: // not merely the sentinel: it says why
		return &Refusal{Kind: api.KindUnauthenticated, Code: codeInvalidToken, Message: known.Message, Hint: known.Hint, Cause: err}
	}
	return &Refusal{Kind: api.KindUnauthenticated, Message: "the token or the login is not valid, or no longer", Hint: "log in again, or get a new token", Cause: err}
}

// codeInvalidToken is the code for a token of an identity provider that does not count.
const codeInvalidToken = "invalid_token"

// rejection is the refusal of whom nobody knows, as a message of AAEP.
func (r *Refusal) rejection(otherwise string) aaep.SubscriptionRejected {
	switch {
	case r.Kind == api.KindUnavailable:
		return aaep.SubscriptionRejected{
			ReasonCode: aaep.ReasonTransportUnavailable, ReasonMessage: legible.Capital(r.Message) + ".", RetryAfterSeconds: int(r.After / time.Second),
		}
	case r.Kind == api.KindForbidden:
		return aaep.SubscriptionRejected{ReasonCode: aaep.ReasonAuthorizationDenied, ReasonMessage: legible.Capital(r.Message) + "."}
	case r.Code == codeInvalidToken:
		otherwise = legible.Capital(r.Message) + "."
	}
	return aaep.SubscriptionRejected{ReasonCode: aaep.ReasonAuthenticationRequired, ReasonMessage: otherwise}
}

// authenticate returns the principal of a token. If no person is known to be behind it, a login of the terminal that
// the request comes from is one.
func (s *Server) authenticate(r *http.Request, secret string) (Principal, error) {
	who, err := s.access.Authenticate(secret)
	if err != nil || who.Unattended == "" || who.Issuer != "" { // who comes by a provider is nobody of this machine
		return who, err
	}
	terminal, unknown := s.options.Terminal(r)
	if unknown != nil {
		who.Unattended = unknown.Error()
		return who, nil //nolint:nilerr // it is the reason why nobody is known to be there
	}
	if person, err := s.access.AtTerminal(who, terminal); err == nil {
		return person, nil
	}
	return who, nil
}

// formToken derives the form token from the page session's secret. It needs no storage and is valid as long as the
// session.
func formToken(secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("earshot form 1"))
	return hex.EncodeToString(mac.Sum(nil))
}

// watch checks whether a visitor may still receive a stream.
type watch struct {
	access Access
	rights *lookout
	who    visitor
}

func (s *Server) watch(v visitor) *watch { return &watch{access: s.access, rights: &s.rights, who: v} }

// Notify calls when the rights may have changed, also when a token of a provider expires. It needs no goroutine of its own.
func (w *watch) Notify(changed func()) (stop func()) {
	leave := w.rights.join(changed)
	if w.who.Issuer == "" {
		return leave
	}
	var ends *time.Timer
	var mu sync.Mutex
	over := false
	again := func() {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		changed()
		ends.Reset(time.Second) // the store may count with another clock
	}
	mu.Lock()
	defer mu.Unlock()
	ends = time.AfterFunc(time.Until(w.who.Expires), again)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		ends.Stop()
		leave()
	}
}

// Changes sends when the rights may have changed, also when a token of a provider expires; it is closed after the context's end.
func (w *watch) Changes(ctx context.Context) <-chan struct{} {
	changed := w.access.Watch(ctx)
	if w.who.Issuer == "" {
		return changed
	}
	either := make(chan struct{}, 1)
	go func() { // it ends with the context, after which changed is closed; who reads waits for that
		defer close(either)
		ends := time.NewTimer(time.Until(w.who.Expires))
		defer ends.Stop()
		for more := true; more; {
			select {
			case _, more = <-changed:
			case <-ends.C:
				ends.Reset(time.Second) // the store may count with another clock
			}
			select {
			case either <- struct{}{}:
			default:
			}
		}
	}()
	return either
}

// Valid reports whether the visitor is still the same, with the same rights.
func (w *watch) Valid() bool {
	now, err := w.who.again()
	return err == nil && sameRights(w.who.Principal, now)
}

// byToken refuses API commands that only a cookie authenticates. The page has forms, with their token; a browser sends
// the cookie alone even when its owner does not intend that.
func (v visitor) byToken(r *http.Request) error {
	if v.form == "" || !isAPI(r) || (r.Method == http.MethodGet || r.Method == http.MethodHead) && !isSocket(r) {
		return nil
	}
	return refuse(api.KindForbidden, "a login of the page does not speak to the API", "send a token as Authorization: Bearer")
}

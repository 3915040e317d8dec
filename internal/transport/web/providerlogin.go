package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

const (
	providerPath = "/login/provider"
	// backPath is where the provider sends the browser back to.
	backPath = providerPath + "/back"
	// attemptTime is how long a browser keeps a login at the provider that it has begun.
	attemptTime = 10 * time.Minute
)

func (s *Server) providerRoutes(mux *http.ServeMux) {
	if s.options.Logins == nil {
		return
	}
	mux.HandleFunc("GET "+providerPath, s.toProvider)
	mux.HandleFunc("GET "+backPath, s.fromProvider)
}

// loginForm returns the page for a login, with what came of the last one.
func (s *Server) loginForm(message string) page.Login {
	form := page.Login{Message: message}
	if s.options.Logins != nil {
		form.Provider = s.options.Logins.Called()
	}
	return form
}

// toProvider sends a browser to the identity provider for a login.
func (s *Server) toProvider(w http.ResponseWriter, r *http.Request) {
	to, kept, err := s.options.Logins.Begin(r.Context(), s.page.text+backPath)
	if err != nil {
		s.refuseProvider(w, r, err)
		return
	}
	http.SetCookie(w, s.attempt(kept, int(attemptTime/time.Second)))
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// fromProvider begins a page session for the person whom the identity provider has had log in. It answers with a page that leads on, and
// not with a redirect: the provider's page would be what asks for the next one, and browsers would not send it the cookie.
func (s *Server) fromProvider(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	kept := ""
	if cookie, err := r.Cookie(s.page.attemptCookie()); err == nil {
		kept = cookie.Value
	}
	http.SetCookie(w, s.attempt("", -1))
	who, err := s.options.Logins.Finish(r.Context(), s.page.text+backPath, kept, r.URL.Query())
	if err != nil {
		s.refuseProvider(w, r, err)
		return
	}
	session, err := s.access.BeginVouched(who, access.Browser{Name: browserName(r.UserAgent()), User: s.options.User(r)})
	if err != nil {
		s.refuseProvider(w, r, err)
		return
	}
	s.arrive(w, r, session)
	if err := s.show(w, r, http.StatusOK, "arrived", page.Arrived{Only: who.Unattended}); err != nil {
		s.fail(w, r, err)
	}
}

// refuseProvider says why a login at the provider came to nothing, on the page where it can be tried again.
func (s *Server) refuseProvider(w http.ResponseWriter, r *http.Request, err error) {
	s.counts.failedLogins.Add(1)
	if s.wrong.take(s.now()) {
		s.log.WarnContext(r.Context(), "login refused", "error", err)
	}
	status, message := http.StatusUnauthorized, "The login did not work. Log in again."
	if known, is := errors.AsType[*access.Error](err); is {
		message = legible.Capital(known.Message) + "."
		if known.Hint != "" {
			message += " " + legible.Capital(known.Hint) + "."
		}
		status = unknown(err).status()
	}
	if err := s.show(w, r, status, "login", s.loginForm(message)); err != nil {
		s.fail(w, r, err)
	}
}

// attempt returns the cookie of a login that was begun. Browsers send it with the request that the provider's page makes of them, which
// they never do with that of a page session.
func (s *Server) attempt(kept string, seconds int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure is for TLS only: on the loopback without it there would be no login
		Name: s.page.attemptCookie(), Value: kept, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: s.page.secure(), SameSite: http.SameSiteLaxMode,
	}
}

package web

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

func (s *Server) loginPage(w http.ResponseWriter, r *http.Request) {
	if err := s.show(w, r, http.StatusOK, "login", s.loginForm("")); err != nil {
		s.fail(w, r, err)
	}
}

// login exchanges the one-time code for a page session.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	if err := s.form(w, r); err != nil {
		s.fail(w, r, err)
		return
	}
	session, err := s.access.Login(r.PostForm.Get("code"), access.Browser{Name: browserName(r.UserAgent()), User: s.options.User(r)})
	if err != nil {
		s.refuseLogin(w, r, err)
		return
	}
	s.arrive(w, r, session)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// arrive gives a browser the cookie of its new page session, which takes the place of the one that it had.
func (s *Server) arrive(w http.ResponseWriter, r *http.Request, session access.PageSession) {
	s.counts.logins.Add(1)
	if old, err := r.Cookie(s.page.cookie()); err == nil {
		s.access.Logout(old.Value)
	}
	http.SetCookie(w, s.cookie(session.Cookie, session.Expires))
}

// refuseLogin reports a wrong code. When there are many, the answers are short and not every one is logged. Codes are
// checked all the same: they are too long to guess, and refusing a right one among many wrong ones would let anyone
// lock everyone out.
func (s *Server) refuseLogin(w http.ResponseWriter, r *http.Request, err error) {
	s.counts.failedLogins.Add(1)
	status := http.StatusUnauthorized
	message := "That code is not valid, or no longer. A code is good for 10 minutes and for one login; the command earshot code makes another."
	if !s.wrong.take(s.now()) {
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", "1")
		message = "That code is not valid, and many wrong ones are being tried. A right code is taken all the same; the command earshot code makes one."
	} else {
		s.log.WarnContext(r.Context(), "login refused", "error", err)
	}
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		message = legible.Capital(refusal.Message) + ". " + legible.Capital(refusal.Hint) + "."
	}
	if err := s.show(w, r, status, "login", s.loginForm(message)); err != nil {
		s.fail(w, r, err)
	}
}

// newCode creates a one-time code for a client with a token. A page gets none: a login must not be able to prolong
// itself.
func (s *Server) newCode(w http.ResponseWriter, r *http.Request, v visitor, q api.LoginCodeRequest) (api.LoginCode, error) {
	var none api.LoginCode
	if v.form != "" {
		return none, refuse(api.KindForbidden, "a login cannot make another", "use a token: the command earshot code does")
	}
	if v.Issuer != "" {
		return none, refuse(api.KindForbidden, "a token of the identity provider gets no login code: it does not show that a person is there",
			"have a code made by `earshot code` where the server runs")
	}
	if s.page.text == "" {
		return none, refuse(api.KindNotFound, "this server has no page", "")
	}
	if err := s.mayHaveCode(r, v); err != nil {
		return none, err
	}
	create := s.access.Code
	if q.Short {
		create = s.access.ShortCode
	}
	code, err := create(v.Principal)
	if err != nil {
		return none, noCode(err)
	}
	w.Header().Set("Cache-Control", "no-store")
	made := api.LoginCode{Code: code, Page: s.page.text + "/", Expires: s.now().Add(access.CodeLife).UTC().Truncate(time.Second)}
	if v.Unattended != "" && s.options.Console != nil {
		s.options.Console("Code for the page, once, within 10 minutes: " + code + ". A command of " + v.Name + " has asked for it.")
		made.Code = ""
	}
	return made, nil
}

// cookie returns the page session's cookie. It is inaccessible to scripts, not sent with requests that other sites
// start, and with TLS not over plain HTTP.
func (s *Server) cookie(secret string, until time.Time) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure is for TLS only: on the loopback without it there would be no login
		Name: s.page.cookie(), Value: secret, Path: "/", Expires: until, HttpOnly: true, Secure: s.page.secure(),
		SameSite: http.SameSiteStrictMode,
	}
}

// logout ends the page session, and with it its streams.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	v, err := s.visitor(r)
	if err == nil {
		err = s.form(w, r)
	}
	if err == nil {
		err = v.meant(r)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if cookie, err := r.Cookie(s.page.cookie()); err == nil {
		s.access.Logout(cookie.Value)
	}
	http.SetCookie(w, s.cookie("", time.Unix(1, 0)))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// form reads the fields of a form.
func (s *Server) form(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, formLimit)
	deadline(w, bodyTime)
	defer deadline(w, 0)
	if err := r.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return err //nolint:wrapcheck // told looks at the type
		}
		return &Refusal{Kind: api.KindInvalid, Message: "the form cannot be read", Hint: "go back to the page and try again", Cause: err}
	}
	return nil
}

// meant refuses a form that was not made by a page of this very session. Another site cannot send a token in a header,
// so no form token is needed there.
func (v visitor) meant(r *http.Request) error {
	if v.form == "" || subtle.ConstantTimeCompare([]byte(r.PostForm.Get("form")), []byte(v.form)) == 1 {
		return nil
	}
	return refuse(api.KindForbidden, "the form was not made by a page of this login", "reload the page and try again")
}

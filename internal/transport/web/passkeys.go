package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/passkey"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// PasskeysFromHub serves the passkeys of a hub.
func PasskeysFromHub(h *hub.Hub) Passkeys { return passkeysAdapter{hub: h} }

type passkeysAdapter struct {
	hub *hub.Hub
}

func (o passkeysAdapter) List(ctx context.Context, who Principal) (api.PasskeysAnswer, error) {
	a, err := o.hub.As(who).Passkeys(ctx)
	return a, refusal(err)
}

func (o passkeysAdapter) Challenge(ctx context.Context, who Principal, q api.PasskeyChallengeRequest) (api.PasskeyChallenge, error) {
	a, err := o.hub.As(who).PasskeyChallenge(ctx, q)
	return a, refusal(err)
}

func (o passkeysAdapter) Add(ctx context.Context, who Principal, q api.ChangePasskeyRequest) (api.Passkey, error) {
	a, err := o.hub.As(who).AddPasskey(ctx, q)
	return a, refusal(err)
}

func (o passkeysAdapter) Remove(ctx context.Context, who Principal, q api.ChangePasskeyRequest) (api.Passkey, error) {
	a, err := o.hub.As(who).RemovePasskey(ctx, q)
	return a, refusal(err)
}

// passkeyRoutes are the addresses of the page's script and forms. Programs with a token have no use for them: a passkey
// signs on the page only.
func (s *Server) passkeyRoutes(mux *http.ServeMux) {
	if s.options.Passkeys == nil {
		return
	}
	mux.Handle("GET /passkeys", s.known(api.Answer, s.passkeysPage))
	mux.Handle("POST /passkeys/challenge", s.known(api.Answer, s.byPerson(s.passkeyChallenge)))
	mux.Handle("POST /passkeys/add", s.known(api.Answer, s.byPerson(s.addPasskey)))
	mux.Handle("POST /passkeys/remove", s.known(api.Answer, s.byPerson(s.removePasskey)))
}

func (s *Server) passkeysPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	view, err := s.passkeysView(r.Context(), v)
	if err != nil {
		return err
	}
	view.Notice = s.noticeOf(r, v)
	return s.show(w, r, http.StatusOK, "passkeys", view)
}

func (s *Server) passkeysView(ctx context.Context, v visitor) (page.Passkeys, error) {
	all, err := s.options.Passkeys.List(ctx, v.Principal)
	if err != nil {
		return page.Passkeys{}, err
	}
	view := page.NewPasskeys(all, passkey.Site(s.page.text), v.form, v.zone)
	view.Navigation = s.navigation(v)
	return view, nil
}

// passkeyChallenge answers the page's script with what has to be signed.
func (s *Server) passkeyChallenge(w http.ResponseWriter, r *http.Request, v visitor) error {
	f := r.PostForm
	number, err := strconv.Atoi(f.Get("question"))
	if err != nil && f.Get("question") != "" {
		return refuse(api.KindInvalid, "found the question "+clip(f.Get("question"))+", expected its number", "reload the page and try again")
	}
	challenge, err := s.options.Passkeys.Challenge(r.Context(), v.Principal, api.PasskeyChallengeRequest{
		Purpose: f.Get("purpose"), Question: number, Token: f.Get("token"), Registration: registrationIn(r), Passkey: f.Get("passkey"),
	})
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, challenge)
	return nil
}

// addPasskey adds a passkey. The first one takes another one-time code, typed now: a login may be hours old, and somebody
// else may sit before it.
func (s *Server) addPasskey(w http.ResponseWriter, r *http.Request, v visitor) error {
	q := api.ChangePasskeyRequest{Name: r.PostForm.Get("name"), Registration: registrationIn(r), Assertion: assertionIn(r)}
	if q.Registration == (api.PasskeyRegistration{}) {
		return refuse(api.KindInvalid, "there is no passkey in the form: the browser makes one by a script", "allow scripts for this page, and try again")
	}
	if code := r.PostForm.Get("code"); code != "" {
		if err := s.access.Spend(v.Name, code); err != nil {
			s.counts.failedLogins.Add(1)
			return s.passkeyDone(w, r, v, "", &Refusal{
				Kind: api.KindForbidden, Message: "that code is not valid, or no longer",
				Hint: "the command earshot code makes another; the one that has logged you in is used up", Cause: err,
			})
		}
		q.CodeShown = true
	}
	added, err := s.options.Passkeys.Add(r.Context(), v.Principal, q)
	return s.passkeyDone(w, r, v, fmt.Sprintf("The passkey “%s” was added.", added.Name), err)
}

func (s *Server) removePasskey(w http.ResponseWriter, r *http.Request, v visitor) error {
	q := api.ChangePasskeyRequest{Passkey: r.PostForm.Get("remove"), Assertion: assertionIn(r)}
	removed, err := s.options.Passkeys.Remove(r.Context(), v.Principal, q)
	return s.passkeyDone(w, r, v, fmt.Sprintf("The passkey “%s” was removed. It signs nothing any more.", removed.Name), err)
}

// longestKeyName limits, in bytes, the name of a passkey that is kept for another attempt: more does not go into its field.
const longestKeyName = 64 * utf8.UTFMax

// passkeyDone leads back to the page of the passkeys, which says what came of it. Where nothing did, the name that was typed is there still.
func (s *Server) passkeyDone(w http.ResponseWriter, r *http.Request, v visitor, text string, err error) error {
	n := page.Notice{Text: text}
	if refusal, is := errors.AsType[*Refusal](err); is && refusal.Kind != api.KindUnauthenticated {
		if name := r.PostForm.Get("name"); len(name) <= longestKeyName {
			n.Typed = name
		}
		n.Refused, n.Text = true, "Nothing was changed: "+strings.TrimSuffix(refusal.Message, ".")+"."
		if refusal.Hint != "" {
			n.Text += " " + legible.Capital(refusal.Hint) + "."
		}
	} else if err != nil {
		return err
	}
	s.backTo(w, r, v, "/passkeys#notice", n) // the focus goes there: what is said in a page that was just loaded is not announced
	return nil
}

func registrationIn(r *http.Request) api.PasskeyRegistration {
	f := r.PostForm
	return api.PasskeyRegistration{Passkey: f.Get("new_passkey"), Attestation: f.Get("new_attestation"), Client: f.Get("new_client")}
}

func assertionIn(r *http.Request) api.Assertion {
	f := r.PostForm
	return api.Assertion{
		Passkey: f.Get("signed_passkey"), Authenticator: f.Get("signed_authenticator"), Client: f.Get("signed_client"),
		Signature: f.Get("signed_signature"),
	}
}

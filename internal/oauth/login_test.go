package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/oauth"
	"github.com/earshot-dev/earshot/internal/testkit/authserver"
	"github.com/earshot-dev/earshot/tool/settings"
)

// TestLogin: discovery, registration, PKCE, the resource, the state and the issuer, against a server that is strict about all of
// them; and the file of the login is its owner's alone.
func TestLogin(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	l := s.loggedIn()
	if l.Server != s.auth.Resource() || l.Issuer != s.auth.URL || !slices.Equal(l.Scopes, []string{"read", "write"}) || !l.Holds(s.time()) {
		t.Errorf("the login is %+v", l)
	}
	if !l.Expires.Equal(s.time().Add(time.Hour)) {
		t.Errorf("it expires at %v", l.Expires)
	}
	path := filepath.Join(s.store.Dir, "hub.json")
	info, err := os.Stat(path)
	must(t, err)
	folder, err := os.Stat(s.store.Dir)
	must(t, err)
	if info.Mode().Perm() != 0o600 || folder.Mode().Perm() != 0o700 {
		t.Errorf("its file has the mode %v in a folder of %v", info.Mode(), folder.Mode())
	}
	if _, err := s.store.Load("hub", "https://other.example.org/mcp"); !errors.Is(err, oauth.ErrNone) {
		t.Errorf("it is one for another address, too: %v", err)
	}
	must(t, os.Chmod(path, 0o640))
	_, err = s.store.Load("hub", s.auth.Resource())
	wantError(t, err, "is open to others")
	must(t, os.WriteFile(path, []byte(`{"access_token": "xyz`), 0o600))
	must(t, os.Chmod(path, 0o600))
	_, err = s.store.Load("hub", s.auth.Resource())
	wantError(t, err, "is not one")
	if strings.Contains(err.Error(), "xyz") {
		t.Errorf("a part of it is told: %v", err)
	}
}

// TestLoginByHand: a client that was registered by hand has a secret, which is named by where it lies.
func TestLoginByHand(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.auth.Behave(func(b *authserver.Behavior) { b.Hand = true })
	_, err := s.login(oauth.Request{})
	wantError(t, err, "lets no program register itself")
	l, err := s.login(oauth.Request{ClientID: authserver.HandID, Secret: settings.Secret{Env: "HUB_SECRET"}})
	must(t, err)
	if l.Client.ID != authserver.HandID || strings.Contains(s.stored(), authserver.HandSecret) {
		t.Errorf("it is stored as %s", s.stored())
	}
}

// TestRefused: what is not the answer to this login stores nothing, and says what to do.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		behave func(*authserver.Behavior)
		want   string
		kind   cause.Kind
	}{
		"declined":              {func(b *authserver.Behavior) { b.Deny = true }, "was declined in the browser", cause.Declined},
		"another state":         {func(b *authserver.Behavior) { b.State = "other" }, "its state is another one", cause.Failed},
		"another issuer":        {func(b *authserver.Behavior) { b.Issuer = "https://evil.example.org" }, "came from 'https://evil.example.org'", cause.Failed},
		"about another server":  {func(b *authserver.Behavior) { b.Resource = "https://bank.example.org/mcp" }, "and not about", cause.Failed},
		"a part beside":         {func(b *authserver.Behavior) { b.Resource = "http://127.0.0.1:1/mcp" }, "and not about", cause.Failed},
		"provider without TLS":  {func(b *authserver.Behavior) { b.Provider = "http://login.example.org" }, "expected https", cause.Failed},
		"tokens without TLS":    {func(b *authserver.Behavior) { b.TokenURL = "http://login.example.org/token" }, "cannot be used", cause.Failed},
		"provider in a network": {func(b *authserver.Behavior) { b.Provider = "https://169.254.169.254" }, "cannot be used", cause.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.auth.Behave(row.behave)
			_, err := s.login(oauth.Request{})
			wantError(t, err, row.want)
			failure, is := errors.AsType[*cause.Error](err)
			if !is || failure.Hint == "" || failure.Kind != row.kind {
				t.Errorf("it is %#v", err)
			}
			s.tellsNothing(err.Error())
			if _, err := s.store.Load("hub", ""); !errors.Is(err, oauth.ErrNone) {
				t.Errorf("something was stored: %v", err)
			}
		})
	}
}

// TestAnswers: an answer counts once, whole, and in time.
func TestAnswers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p, err := oauth.Discover(t.Context(), s.auth.Resource(), nil)
	must(t, err)
	attempt, err := s.store.Begin(t.Context(), p, oauth.Request{Name: "hub", Redirect: oauth.RedirectTo(7412)})
	must(t, err)
	good := url.Values{"state": {attempt.State}, "iss": {s.auth.URL}, "code": {"x"}}
	for name, row := range map[string]struct {
		change func(url.Values)
		want   string
	}{
		"two codes":  {func(v url.Values) { v.Add("code", "y") }, "has code twice"},
		"no code":    {func(v url.Values) { v.Del("code") }, "has no code"},
		"no issuer":  {func(v url.Values) { v.Del("iss") }, "expected"},
		"no state":   {func(v url.Values) { v.Del("state") }, "its state is another one"},
		"other code": {func(url.Values) {}, "it says invalid_grant (said invalid grant)"},
		"an error":   {func(v url.Values) { v.Set("error", "server_error"); v.Set("error_description", "Come\nback.") }, "it says server_error (Come back.)"},
	} {
		answer := url.Values{}
		for key, values := range good {
			answer[key] = slices.Clone(values)
		}
		row.change(answer)
		if _, err := s.store.Finish(t.Context(), attempt, answer); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, s.store.SaveAttempt(t.Context(), attempt))
	kept, err := s.otherStore().Attempt("hub", s.auth.Resource())
	must(t, err)
	if kept.Verifier != attempt.Verifier || !kept.Begun.Equal(attempt.Begun) {
		t.Errorf("%+v was kept", kept)
	}
	s.passes(2 * time.Hour)
	if _, err := s.store.Attempt("hub", s.auth.Resource()); !errors.Is(err, oauth.ErrNone) {
		t.Errorf("it can be answered hours later: %v", err)
	}
	for text, good := range map[string]bool{
		"http://127.0.0.1:7412/callback?code=a&state=b\n": true, "http://127.0.0.1:1/callback?state=b&error=x\r\n": true, "abc": false, "": false, "code=a": false,
	} {
		if _, err := oauth.Answer(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestCallback: only a browser that was sent back here is an answer, once.
func TestCallback(t *testing.T) {
	t.Parallel()
	back, err := oauth.Listen(0)
	must(t, err)
	waiting, stop := context.WithCancel(t.Context())
	got := make(chan url.Values, 1)
	go func() {
		answer, _ := back.Wait(waiting)
		got <- answer
	}()
	if page := opens(strings.Replace(back.Redirect(), "127.0.0.1", "localhost", 1) + "?state=a&code=evil"); !strings.Contains(page, "Nothing is here") {
		t.Errorf("by another name it shows %q", page)
	}
	if page := opens(back.Redirect()); !strings.Contains(page, "Nothing is here") {
		t.Errorf("without a state it shows %q", page)
	}
	if page := opens(back.Redirect() + "?state=a&code=b"); !strings.Contains(page, "The answer has arrived") {
		t.Errorf("it shows %q", page)
	}
	if answer := <-got; answer.Get("code") != "b" {
		t.Errorf("the answer is %v", answer)
	}
	if _, err := http.Get(back.Redirect() + "?state=a&code=c"); err == nil { //nolint:bodyclose // there is none
		t.Error("it still listens")
	}
	stop()
	back, err = oauth.Listen(0)
	must(t, err)
	if _, err := back.Wait(waiting); !errors.Is(err, context.Canceled) {
		t.Errorf("it was ended with %v", err)
	}
}

// TestElsewhere: the metadata of a server on this machine may be about this machine; that of another one may not.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	asked := false
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(inside.Close)
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://10.1.2.3/secret"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.Redirect(w, r, inside.URL, http.StatusFound)
	}))
	t.Cleanup(outside.Close)
	_, err := oauth.Discover(t.Context(), outside.URL+"/mcp", nil)
	wantError(t, err, "expected https")
	_, err = oauth.Discover(t.Context(), outside.URL+"/other", nil)
	wantError(t, err, "answers with the status 302")
	if asked {
		t.Error("a redirect to another host was followed")
	}
}

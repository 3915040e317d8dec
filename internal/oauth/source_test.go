package oauth_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/oauth"
	"github.com/earshot-dev/earshot/internal/testkit/authserver"
	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/utp"
)

// TestTakenUp: a server that asks for a login says so, is used once there is one, without a restart, and no more once it is
// ended.
func TestTakenUp(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	h := s.serves()
	h.hears("asks for a login. Log in: `earshot mcp login hub`")
	s.loggedIn()
	h.offered()
	text, failure := h.call(utp.Irreversible)
	if failure != nil || !strings.Contains(text, "seen with Bearer [secret of the login]") {
		t.Errorf("it says %q, %v", text, failure)
	}
	must(t, s.store.Remove(t.Context(), "hub"))
	h.hears("asks for a login")
	_, failure = h.call(utp.Irreversible)
	wantAuthFailed(t, failure, "earshot mcp login hub")
}

func wantAuthFailed(t *testing.T, failure *utp.ToolError, part string) {
	t.Helper()
	if failure == nil || failure.Code != utp.CodeAuthFailed || !failure.IsUntouched() || !strings.Contains(failure.Message, part) {
		t.Errorf("it ended with %v", failure)
	}
}

// TestRenewed: an access token that has expired, or that the server takes no longer, is renewed once for all calls, with a new
// refresh token each time, and each call is made once.
func TestRenewed(t *testing.T) {
	t.Parallel()
	t.Attr("counts", "effects")
	s := newScene(t)
	s.loggedIn()
	h := s.serves()
	h.offered()
	for round, spoil := range []func(){func() { s.passes(2 * time.Hour) }, s.auth.EndAccess, s.auth.EndAccess} {
		before := s.auth.Counts()
		spoil()
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				if text, failure := h.call(utp.Irreversible); failure != nil || !strings.Contains(text, "seen with") {
					t.Errorf("it says %q, %v", text, failure)
				}
			})
		}
		calls.Wait()
		if after := s.auth.Counts(); after.Refreshes != before.Refreshes+1 {
			t.Errorf("round %d: it was renewed %d times", round, after.Refreshes-before.Refreshes)
		}
	}
}

// TestTwoProcesses: of two processes one renews, and the other takes what it has stored: a refresh token is good once.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.loggedIn()
	s.passes(2 * time.Hour)
	sources := []*oauth.Source{s.store.Source("hub", s.auth.Resource()), s.otherStore().Source("hub", s.auth.Resource())}
	tokens := make([]string, len(sources))
	var both sync.WaitGroup
	for i, source := range sources {
		both.Go(func() {
			var err error
			if tokens[i], err = source.Token(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if tokens[0] == "" || tokens[0] != tokens[1] || s.auth.Counts().Refreshes != 1 {
		t.Errorf("they have %q after %d renewals", tokens, s.auth.Counts().Refreshes)
	}
}

// TestRevoked: a login that is not renewed any more ends its calls with what to do, is told once, and is not tried again; a new one is
// taken up.
func TestRevoked(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.loggedIn()
	h := s.serves()
	h.offered()
	s.auth.EndAll()
	for range 3 {
		_, failure := h.call(utp.Irreversible)
		wantAuthFailed(t, failure, "does not renew any more. Log in: `earshot mcp login hub`")
	}
	h.hears("does not renew any more")
	if got := s.auth.Counts().Refreshes; got != 1 {
		t.Errorf("it was asked %d times", got)
	}
	l, err := s.store.Load("hub", s.auth.Resource())
	must(t, err)
	if l.Holds(s.time()) || l.AccessToken != "" || l.RefreshToken != "" {
		t.Errorf("what is left is %s", s.stored())
	}
	s.loggedIn()
	h.offered()
	if _, failure := h.call(utp.Irreversible); failure != nil {
		t.Error(failure)
	}
}

// TestNoRefreshToken: without a refresh token a login ends with its access token.
func TestNoRefreshToken(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.auth.Behave(func(b *authserver.Behavior) { b.NoRefresh = true })
	if l := s.loggedIn(); !l.Holds(s.time()) || l.Holds(s.time().Add(2*time.Hour)) {
		t.Errorf("it holds in another way: %+v", l.Expires)
	}
	s.passes(2 * time.Hour)
	_, err := s.store.Source("hub", s.auth.Resource()).Token(t.Context())
	need, is := errors.AsType[*mcp.LoginError](err)
	if !is || need.Server != "hub" {
		t.Errorf("it says %v", err)
	}
}

// TestAwayFromTokens: where the authorization server cannot be reached, the login holds, and is renewed later.
func TestAwayFromTokens(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.loggedIn()
	s.passes(2 * time.Hour)
	source := s.store.Source("hub", s.auth.Resource())
	change := func(url string) {
		var l map[string]any
		must(t, json.Unmarshal([]byte(s.stored()), &l))
		l["token_url"] = url
		raw, err := json.Marshal(l)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(s.store.Dir, "hub.json"), raw, 0o600))
	}
	change("http://127.0.0.1:1/token")
	_, err := source.Token(t.Context())
	wantError(t, err, "cannot be renewed now")
	if _, is := errors.AsType[*mcp.LoginError](err); is {
		t.Error("a person is asked to help")
	}
	change(s.auth.URL + "/token")
	if _, err := source.Token(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFullDisk: renewed tokens are stored before they are used. Where that fails the call fails, and they are kept until they are.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.loggedIn()
	s.passes(2 * time.Hour)
	source := s.store.Source("hub", s.auth.Resource())
	block := filepath.Join(s.store.Dir, "hub.json.new") // a folder where the new file is written
	must(t, os.MkdirAll(filepath.Join(block, "x"), 0o700))
	for range 2 {
		_, err := source.Token(t.Context())
		wantError(t, err, "cannot be stored")
		s.tellsNothing(err.Error())
	}
	must(t, os.RemoveAll(block))
	token, err := source.Token(t.Context())
	if err != nil || token == "" || s.auth.Counts().Refreshes != 1 || !strings.Contains(s.stored(), token) {
		t.Errorf("it was renewed %d times: %v", s.auth.Counts().Refreshes, err)
	}
}

// TestMoreRights: a login that does not allow a call is told with the rights that the server names.
func TestMoreRights(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.loggedIn()
	h := s.serves()
	h.offered()
	s.auth.Behave(func(b *authserver.Behavior) { b.Insufficient = true })
	_, failure := h.call(utp.Irreversible)
	wantAuthFailed(t, failure, "`earshot mcp login hub --scope 'read' --scope 'admin'`")
	if got := s.auth.Counts().Calls; got != 1 {
		t.Errorf("it was sent %d times", got)
	}
}

// TestRevoke: the end of a login is told to the server.
func TestRevoke(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	l := s.loggedIn()
	revoked, err := s.store.Revoke(t.Context(), l)
	if err != nil || !revoked || s.auth.Counts().Revoked != 1 {
		t.Errorf("it was not revoked: %v", err)
	}
}

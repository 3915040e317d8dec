package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/earshot-dev/earshot/internal/testkit/oidctest"
)

// TestProviderLogin: somebody who has shown themselves at the identity provider, on another site, is on the page without anything more to
// press, and their yes counts.
func TestProviderLogin(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	p := oidctest.New(t)
	s := prepare(t, 1)
	secret := filepath.Join(s.home, "secret")
	must(t, os.WriteFile(secret, []byte(oidctest.ClientSecret+"\n"), 0o600))
	s.args = []string{
		"--oidc-issuer", p.URL, "--oidc-client-id", oidctest.ClientID, "--oidc-client-secret-file", secret,
		"--oidc-role", "hands=listener", "--oidc-role", "hands=approver", "--oidc-owner", "hands=*",
	}
	s.start()
	p.SignIn(oidctest.Grant{Subject: "alice", Groups: []string{"hands"}}, nil, s.page+"/login/provider/back")
	b := s.open()
	b.accessible(axe, "a login with a provider")
	b.tabTo(`a[href="/login/provider"]`)
	b.press(kb.Enter)
	b.until(`document.title === "Sign in" && document.querySelector("button") !== null`)
	b.tabTo("button")
	b.press(kb.Enter)
	b.connected()
	if want, got := []string{"earshot_page of " + s.name(), "earshot_zone of " + s.name()}, s.cookies(b); strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("the browser keeps %q, want %q", got, want)
	}
	session := s.turn(1)
	b.toQuestion("1")
	b.tabToButton("Accept question 1")
	b.press(kb.Enter)
	b.hears("Recorded: question 1 is accepted")
	s.ended(session)
	if s.left(1) {
		t.Error("the yes of a person whom the provider vouches for did not count")
	}

	p.Refuse()
	refused := s.open()
	refused.tabTo(`a[href="/login/provider"]`)
	refused.press(kb.Enter)
	refused.until(`document.title === "Sign in" && document.querySelector("button") !== null`)
	refused.tabTo("button")
	refused.press(kb.Enter)
	refused.until(`document.querySelector("[role=alert]")?.textContent.includes("has refused the login: access_denied: they said no. Log in again.")`)
	refused.accessible(axe, "a login that the provider has refused")
}

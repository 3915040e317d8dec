package browser_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// asking starts the program, which asks for a passkey for each accept.
func asking(t *testing.T, folders int) *server {
	t.Helper()
	s := prepare(t, folders)
	s.args = []string{"--require-presence", "all"}
	s.start()
	return s
}

// device gives the tab an authenticator that says yes by itself, once it knows by whom it is held.
func (b *tab) device(transport webauthn.AuthenticatorTransport) webauthn.AuthenticatorID {
	b.t.Helper()
	var id webauthn.AuthenticatorID
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return err
		}
		made, err := chromedp.Call(ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: transport, HasResidentKey: true, HasUserVerification: true, IsUserVerified: true,
			AutomaticPresenceSimulation: true,
		}})
		id = made.AuthenticatorID
		return err
	}))
	return id
}

// knows has the authenticator know its holder, or not.
func (b *tab) knows(id webauthn.AuthenticatorID, known bool) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: id, IsUserVerified: known})
		return err
	}))
}

// touched has somebody touch the authenticator whenever it asks for that, or nobody.
func (b *tab) touched(id webauthn.AuthenticatorID, yes bool) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, webauthn.SetAutomaticPresenceSimulation, webauthn.SetAutomaticPresenceSimulationParams{AuthenticatorID: id, Enabled: yes})
		return err
	}))
}

// addPasskey adds the first passkey by keyboard.
func (b *tab) addPasskey(name string) {
	b.t.Helper()
	b.visit("/passkeys")
	b.until(`document.readyState === "complete" && document.getElementById("passkey-name")`)
	b.tabTo("#passkey-name")
	b.types(name)
	b.tabTo("#passkey-code")
	b.types(b.server.newCode())
	b.press(kb.Enter)
	b.until("document.activeElement.id === 'notice' && document.activeElement.textContent === 'The passkey “" + name + "” was added.'")
}

// passkeys are those that the program lists.
func (s *server) passkeys() (names []string) {
	s.t.Helper()
	out, err := s.command("passkeys", "--json").Output()
	must(s.t, err)
	var all []struct {
		Name string `json:"name"`
	}
	must(s.t, json.Unmarshal(out, &all))
	for _, one := range all {
		names = append(names, one.Name)
	}
	return names
}

// TestPasskey: the first passkey is added with one more code. With it a yes counts, by keyboard; without it none does, from
// nowhere, and a no does. What was signed is verified again by another program.
func TestPasskey(t *testing.T) {
	t.Parallel()
	s := asking(t, 2)
	if !strings.Contains(s.said.String(), "No passkey was added yet") {
		t.Errorf("the server does not say that there is no passkey yet:\n%s", s.said)
	}
	b := s.login()
	phone := b.device(webauthn.AuthenticatorTransportInternal)
	session := s.turn(1)
	b.toQuestion("1")
	b.acts("Accept question 1")
	b.hears("assertive: Question 1 takes a passkey, and")
	b.addPasskey("my phone")

	b.visit("/")
	b.connected()
	b.hears("Accepting takes your passkey, on the page.")
	b.toQuestion("1")
	b.knows(phone, false)
	b.acts("Accept question 1")
	b.hears("assertive: Not signed: it was cancelled")
	b.focusIs("button Accept question 1")
	if open := s.questions(); len(open) != 1 || !s.left(1) {
		t.Fatalf("after nothing was signed the questions are %+v", open)
	}

	said, code := s.terminal("reply", "1", "accept")
	if code == 0 || !strings.Contains(said, "question 1 takes a passkey: answer it on the page at "+s.page+"/") {
		t.Errorf("the command says, with the code %d:\n%s", code, said)
	}
	b.knows(phone, true)
	b.press(kb.Enter)
	b.focusInNotice()
	b.hears("Recorded: question 1 is accepted.")
	s.ended(session)
	if s.left(1) {
		t.Error("the duplicate is still there")
	}

	session = s.turn(2)
	within(t, "a question is open", func() (bool, error) { return len(s.questions()) == 1, nil })
	if said, code := s.terminal("reply", "2", "reject"); code != 0 {
		t.Errorf("a no is answered with the code %d:\n%s", code, said)
	}
	s.ended(session)
	said, code = s.terminal("audit", "verify")
	if code != 0 || !strings.Contains(said, "Accepts signed by passkeys, each with a valid signature: 1.") {
		t.Errorf("the audit says, with the code %d:\n%s", code, said)
	}
}

// TestAnotherPasskey: it takes one that is there, and so does removing one.
func TestAnotherPasskey(t *testing.T) {
	t.Parallel()
	s := asking(t, 0)
	b := s.login()
	phone := b.device(webauthn.AuthenticatorTransportInternal)
	b.addPasskey("my phone")
	if b.observes("#passkey-code") {
		t.Error("another passkey is asked for with a code")
	}
	// The new one is made by the key alone, and the phone signs that.
	b.touched(phone, false)
	key := b.device(webauthn.AuthenticatorTransportUsb)
	const hold = `(() => { const real = window.fetch; window.fetch = async (to, what) => {
		if (String(what?.body).includes("purpose=add")) await new Promise((go) => { window.go = go; });
		return real(to, what);
	}; return true; })()`
	value[bool](b, hold)
	b.tabTo("#passkey-name")
	b.types("my key")
	b.press(kb.Enter)
	b.until(`window.go`)
	b.touched(phone, true)
	b.touched(key, false)
	value[bool](b, `(go(), true)`)
	b.until(`document.getElementById("notice")?.textContent === "The passkey “my key” was added."`)
	if got := strings.Join(s.passkeys(), ", "); got != "my phone, my key" {
		t.Errorf("the passkeys are %s", got)
	}

	b.tabToButton("Remove my key")
	b.knows(phone, false)
	b.press(kb.Enter)
	b.until(`document.querySelector("[role=alert]")?.textContent.startsWith("Not signed")`)
	if got := strings.Join(s.passkeys(), ", "); got != "my phone, my key" {
		t.Errorf("without a signature the passkeys are %s", got)
	}
	b.knows(phone, true)
	b.press(kb.Enter)
	b.until(`document.getElementById("notice")?.textContent.startsWith("The passkey “my key” was removed.")`)
	if said, code := s.terminal("passkeys", "revoke", "my phone"); code != 0 || !strings.Contains(said, "Revoked: my phone") {
		t.Errorf("the command says, with the code %d:\n%s", code, said)
	}
	if got := s.passkeys(); len(got) != 0 {
		t.Errorf("the passkeys are %v", got)
	}
}

func (b *tab) observes(selector string) bool {
	b.t.Helper()
	return value[bool](b, `document.querySelector("`+selector+`") !== null`)
}

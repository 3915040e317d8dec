package web_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// keys are the passkeys of everybody: they write down what is asked of them.
type keys struct {
	all      api.PasskeysAnswer
	asked    api.PasskeyChallengeRequest
	changed  api.ChangePasskeyRequest
	refusing error
}

func (k *keys) List(context.Context, web.Principal) (api.PasskeysAnswer, error) { return k.all, nil }

func (k *keys) Challenge(_ context.Context, who web.Principal, q api.PasskeyChallengeRequest) (api.PasskeyChallenge, error) {
	k.asked = q
	return api.PasskeyChallenge{Challenge: "Yw", Site: pageName, Person: who.Name, Passkeys: []string{"aWQ"}}, k.refusing
}

func (k *keys) Add(_ context.Context, _ web.Principal, q api.ChangePasskeyRequest) (api.Passkey, error) {
	k.changed = q
	return api.Passkey{Name: q.Name}, k.refusing
}

func (k *keys) Remove(_ context.Context, _ web.Principal, q api.ChangePasskeyRequest) (api.Passkey, error) {
	k.changed = q
	return api.Passkey{Name: "my <phone>"}, k.refusing
}

func withKeys(k *keys) func(*web.Options) { return func(o *web.Options) { o.Passkeys = k } }

// TestPasskeysPage: the page lists what a person has, and says how another one is added.
func TestPasskeysPage(t *testing.T) {
	t.Parallel()
	k := &keys{all: api.PasskeysAnswer{Required: "high"}}
	s := newScene(t, withKeys(k))
	s.login("ada")
	wants(t, s.page("/", "@ada"), `<a href="/passkeys">Passkeys</a>`)
	golden(t, "passkeys-none.html", s.page("/passkeys", "@ada"))
	k.all.Passkeys = []api.Passkey{
		{ID: "aWQ", Name: "my <phone>", Site: pageName, Added: noon, Used: noon.Add(48 * time.Hour)},
		{ID: "aXg", Name: "old", Site: "old.example.org", Added: noon},
	}
	golden(t, "passkeys.html", s.page("/passkeys", "@ada"))
	s.login("lis")
	lacks(t, s.page("/", "@lis"), "/passkeys")
	if w := s.do("GET", "/passkeys", "@lis", "", "Accept", "text/html"); w.Code != 403 {
		t.Errorf("a listener gets %d", w.Code)
	}
}

// TestPasskeyForms: what the page's script sends goes on as it is, from a form of this very login only; a first passkey
// with a code of this very person.
func TestPasskeyForms(t *testing.T) {
	t.Parallel()
	k := &keys{}
	s := newScene(t, withKeys(k))
	s.login("ada")
	fields := func(more string) string { return "form=" + s.form + "&" + more }
	for _, target := range []string{"/passkeys/challenge", "/passkeys/add", "/passkeys/remove"} {
		if w := s.submit(target, "@ada", "form=0&purpose=accept"); w.Code != 403 {
			t.Errorf("%s without the form's token: %d", target, w.Code)
		}
		if w := s.submit(target, "ada", fields("purpose=accept")); w.Code != 403 {
			t.Errorf("%s with a token: %d", target, w.Code)
		}
	}
	w := s.submit("/passkeys/challenge", "@ada", fields("purpose=accept&question=7&token=rpl_1"), "Accept", "application/json")
	want := api.PasskeyChallengeRequest{Purpose: "accept", Question: 7, Token: "rpl_1"}
	if w.Code != 200 || k.asked != want || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s: asked for %+v", w.Code, w.Body, k.asked)
	}
	if w := s.submit("/passkeys/challenge", "@ada", fields("purpose=accept&question=x")); w.Code != 400 {
		t.Errorf("a question that is none: %d", w.Code)
	}

	const made = "name=my+phone&new_passkey=aWQ&new_attestation=YQ&new_client=Yg"
	registration := api.PasskeyRegistration{Passkey: "aWQ", Attestation: "YQ", Client: "Yg"}
	if w := s.submit("/passkeys/add", "@ada", fields("name=my+phone")); w.Code != 400 {
		t.Errorf("without a passkey: %d", w.Code)
	}
	said := func(target, form, want string) {
		t.Helper()
		if w := s.submit(target, "@ada", fields(form)); w.Code != 303 || w.Header().Get("Location") != "/passkeys#notice" {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
		role := `good" role="status"`
		if strings.HasPrefix(want, "Nothing was changed") {
			role = `bad" role="alert"`
		}
		wants(t, s.page("/passkeys", "@ada"), `<p id="notice" class="notice `+role+` tabindex="-1">`+want+`</p>`)
	}
	said("/passkeys/add", made+"&code=anna", "Nothing was changed: that code is not valid, or no longer. "+
		"The command earshot code makes another; the one that has logged you in is used up.")
	w = s.submit("/passkeys/add", "@ada", fields("name=my+%22phone%22&code=anna&new_passkey=aWQ&new_attestation=YQ&new_client=Yg"))
	if w.Code != 303 {
		t.Errorf("a wrong code: %d", w.Code)
	}
	wants(t, s.page("/passkeys", "@ada"), `<input id="passkey-name" name="name" value="my &#34;phone&#34;" required`)
	wants(t, s.page("/passkeys", "@ada"), `<input id="passkey-name" name="name" required`) // it is kept once, with what came of it
	if k.changed != (api.ChangePasskeyRequest{}) {
		t.Errorf("with the code of another person %+v", k.changed)
	}
	said("/passkeys/add", made+"&code=ada", "The passkey “my phone” was added.")
	wants(t, s.page("/passkeys", "@ada"), `name="name" required`)
	if want := (api.ChangePasskeyRequest{Name: "my phone", Registration: registration, CodeShown: true}); k.changed != want {
		t.Errorf("got %+v, want %+v", k.changed, want)
	}
	const signed = "&signed_passkey=aWQ&signed_authenticator=YQ&signed_client=Yg&signed_signature=Yw"
	assertion := api.Assertion{Passkey: "aWQ", Authenticator: "YQ", Client: "Yg", Signature: "Yw"}
	said("/passkeys/remove", "remove=aWQ"+signed, "The passkey “my &lt;phone&gt;” was removed. It signs nothing any more.")
	if want := (api.ChangePasskeyRequest{Passkey: "aWQ", Assertion: assertion}); k.changed != want {
		t.Errorf("got %+v, want %+v", k.changed, want)
	}
	k.refusing = &web.Refusal{Kind: api.KindForbidden, Code: "passkey_required", Message: "this takes a signature"}
	said("/passkeys/remove", "remove=aWQ", "Nothing was changed: this takes a signature.")
}

// TestAcceptForm: the form of what takes a passkey says so to the script, and a signature goes on with the answer. Without
// one, as where scripts are off, the page says what is missing.
func TestAcceptForm(t *testing.T) {
	t.Parallel()
	s := newScene(t, withKeys(&keys{}))
	s.room.begin("sess_1", "tidy")
	s.room.extended("sess_1", aaep.AwaitingConfirmation{
		Action: "Delete it.", Consequence: "It is gone.", ReplyToken: tokenA, TimeoutSeconds: 60,
		DefaultDecision: aaep.DecisionReject, RiskLevel: aaep.RiskLow,
	}, map[string]any{"question": 7, "passkey": true})
	s.room.change(func() {
		s.room.questions = append(s.room.questions, api.OpenQuestion{
			Number: 7, Session: "sess_1", Token: tokenA, Kind: "confirmation", Title: "Delete it.", Deadline: noon.Add(time.Minute),
			Event: s.room.log[len(s.room.log)-1].raw,
		})
	})
	s.login("ada")
	wants(t, s.page("/", "@ada"),
		`<form role="none" method="post" action="/questions/7/accept" data-passkey="accept" data-passkey-question="7">`,
		`<form role="none" method="post" action="/questions/7/reject">`, "Accepting takes your passkey, on the page.")
	form := url.Values{
		"form": {s.form}, "token": {tokenA}, "signed_passkey": {"aWQ"}, "signed_authenticator": {"YQ"}, "signed_client": {"Yg"}, "signed_signature": {"Yw"},
	}.Encode()
	s.submit("/questions/7/accept", "@ada", form)
	var got web.Reply
	s.room.change(func() { got = s.room.words[len(s.room.words)-1] })
	if want := (api.Assertion{Passkey: "aWQ", Authenticator: "YQ", Client: "Yg", Signature: "Yw"}); got.Assertion != want || got.Decision != "accept" {
		t.Errorf("got %+v", got)
	}
	s.room.change(func() {
		s.room.fail = &web.Refusal{Kind: api.KindForbidden, Code: "passkey_required", Message: "question 7 takes a passkey: answer it on the page"}
	})
	if w := s.submit("/questions/7/accept", "@ada", "form="+s.form+"&token="+tokenA); w.Code != 303 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	s.room.change(func() { s.room.fail = nil })
	if page := s.page("/", "@ada"); !strings.Contains(page, "Question 7 takes a passkey: answer it on the page.") {
		t.Error(page)
	}
}

package kernel_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/passkey"
	"github.com/earshot-dev/earshot/internal/testkit/authenticator"
	"github.com/earshot-dev/earshot/utp"
)

// pageOrigin is the origin of the page of the kernels under test.
const pageOrigin, pageSite = "http://0123.localhost:7411", "0123.localhost"

// signing is a world in which such accepts take a passkey.
func signing(r passkey.Requirement) func(*world) { return func(w *world) { w.passkeys = r } }

// device makes a device with a passkey that nobody has added.
func (w *world) device() *authenticator.Device {
	w.t.Helper()
	d, err := authenticator.New(authenticator.ES256, pageOrigin, pageSite)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// challenge asks what a person's passkey has to sign.
func (w *world) challenge(q api.PasskeyChallengeRequest) string {
	w.t.Helper()
	a, err := operate[api.PasskeyChallenge](w, api.OpPasskeyChallenge, q)
	if err != nil {
		w.t.Fatal(err)
	}
	return a.Challenge
}

func (w *world) signs(d *authenticator.Device, challenge string) api.Assertion {
	w.t.Helper()
	a, err := d.Sign(challenge)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// added adds a passkey of a person, signed by one that the person has; the first by a code.
func (w *world) added(who, name string, by *authenticator.Device) *authenticator.Device {
	w.t.Helper()
	d := w.device()
	if _, err := w.adds(who, name, d, by); err != nil {
		w.t.Fatal(err)
	}
	return d
}

func (w *world) adds(who, name string, d, by *authenticator.Device) (api.Passkey, error) {
	w.t.Helper()
	made := d.Register(w.challenge(api.PasskeyChallengeRequest{Purpose: api.PasskeyRegister, By: who}))
	q := api.ChangePasskeyRequest{Name: name, Registration: made, By: who, CodeShown: by == nil}
	if by != nil {
		q.Assertion = w.signs(by, w.challenge(api.PasskeyChallengeRequest{Purpose: api.PasskeyAdd, Registration: made, By: who}))
	}
	return operate[api.Passkey](w, api.OpPasskeyAdd, q)
}

func (w *world) acceptChallenge(q api.QuestionRow) string {
	w.t.Helper()
	return w.challenge(api.PasskeyChallengeRequest{Purpose: api.PasskeyAccept, Question: q.Number, Token: q.Token, By: person})
}

// acceptsBy answers yes with a signature.
func (w *world) acceptsBy(q api.QuestionRow, a api.Assertion) error {
	w.t.Helper()
	_, err := w.answer(api.ReplyRequest{Token: q.Token, Decision: "accept", By: person, Surface: "page", Assertion: a})
	return err
}

// report verifies the whole ledger.
func (w *world) report() audit.Report {
	w.t.Helper()
	report, err := new(audit.Verifier).Ledger(func(q api.AuditRequest) (api.AuditAnswer, error) { return operate[api.AuditAnswer](w, api.OpAudit, q) })
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

// TestAcceptTakesAPasskey: what takes a passkey is not accepted without one, from anywhere; the refusal says where it is
// accepted. A no, more time and what takes none go through as ever.
func TestAcceptTakesAPasskey(t *testing.T) {
	for _, tt := range []struct {
		require passkey.Requirement
		tool    string
		takes   bool
	}{
		{passkey.NotRequired, burn, false},
		{passkey.High, burn, true},
		{passkey.High, paint, false},
		{passkey.Irreversible, burn, true},
		{passkey.Irreversible, paint, false},
		{passkey.All, paint, true},
	} {
		t.Run(string(tt.require)+" "+tt.tool, func(t *testing.T) {
			inWorld(t, signing(tt.require), func(t *testing.T, w *world) {
				w.work(one(tt.tool))
				a := w.begin()
				q := w.asked()
				if told := strings.Contains(strings.Join(w.bodies(a.Session), "\n"), `"passkey":true`); told != tt.takes {
					t.Errorf("the question says that it takes a passkey: %t, want %t", told, tt.takes)
				}
				_, err := w.reply(q, "accept")
				if !tt.takes {
					if err != nil {
						t.Error(err)
					}
					w.succeeded(a.Turn)
					return
				}
				wantFault(t, err, utp.CodePasskeyRequired)
				if want := "answer it on the page at " + pageOrigin + "/"; err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want that it says %q", err, want)
				}
				if again := w.asked(); again.Token != q.Token || w.last(a.Turn).State != turn.Asked {
					t.Errorf("the question is %+v; it was %+v", again, q)
				}
				if _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: q.Token, By: person, Surface: "terminal"}); err != nil {
					t.Error(err)
				}
				w.say(w.asked(), "reject")
				w.over(a.Turn)
				w.effectsAre(0)
			})
		})
	}
}

// TestSignedAccept: a yes that the person's passkey has signed counts; the receipt has the signature, and who verifies
// the ledger verifies it again.
func TestSignedAccept(t *testing.T) {
	inWorld(t, signing(passkey.All), func(t *testing.T, w *world) {
		phone := w.added(person, "my phone", nil)
		w.work(one(burn))
		a := w.begin()
		q := w.asked()
		if err := w.acceptsBy(q, w.signs(phone, w.acceptChallenge(q))); err != nil {
			t.Fatal(err)
		}
		w.succeeded(a.Turn)
		w.effectsAre(1)
		r := w.audited()[0].Receipt
		if s := r.Terms.Signed; s.Passkey != phone.Name() || s.Token != q.Token || s.Site != pageSite || s.Signature == "" {
			t.Errorf("the receipt has %+v", s)
		}
		if report := w.report(); report.Signed != 1 || report.Findings != 0 {
			t.Errorf("%+v", report)
		}
		all, err := operate[api.PasskeysAnswer](w, api.OpPasskeys, api.PasskeysRequest{Person: person})
		if err != nil || len(all.Passkeys) != 1 || all.Required != "all" || all.Page != pageOrigin {
			t.Fatalf("%+v %v", all, err)
		}
		if one := all.Passkeys[0]; one.Name != "my phone" || one.Used.IsZero() {
			t.Errorf("%+v", one)
		}
	})
}

// TestSignatureDoesNotCount: a signature that is under something else, or by something else, says yes to nothing.
func TestSignatureDoesNotCount(t *testing.T) {
	for name, tt := range map[string]struct {
		sign func(w *world, phone *authenticator.Device, q *api.QuestionRow) api.Assertion
		want string
	}{
		"of what was asked before": {func(w *world, phone *authenticator.Device, q *api.QuestionRow) api.Assertion {
			a := w.signs(phone, w.acceptChallenge(*q))
			if _, err := w.hub.Extend(w.ctx, api.ReplyRequest{Token: q.Token, By: person, Surface: "page"}); err != nil {
				w.t.Fatal(err)
			}
			*q = w.askedAnew(*q)
			return a
		}, "as it was before"},
		"of another question": {func(w *world, phone *authenticator.Device, q *api.QuestionRow) api.Assertion {
			a := w.signs(phone, w.acceptChallenge(*q))
			w.say(*q, "reject")
			w.work(one(burn))
			w.begin()
			*q = w.askedAfter(*q)
			return a
		}, "for another question"},
		"of another generation": {func(w *world, phone *authenticator.Device, q *api.QuestionRow) api.Assertion {
			a := w.signs(phone, w.acceptChallenge(*q))
			w.restart()
			*q = w.asked()
			return a
		}, "as it was before"},
		"of a change of passkeys": {func(w *world, phone *authenticator.Device, _ *api.QuestionRow) api.Assertion {
			return w.signs(phone, w.challenge(api.PasskeyChallengeRequest{Purpose: api.PasskeyRemove, Passkey: phone.Name(), By: person}))
		}, "for another question"},
		"by somebody else": {func(w *world, _ *authenticator.Device, q *api.QuestionRow) api.Assertion {
			return w.signs(w.added("bob", "bob's", nil), w.acceptChallenge(*q))
		}, "no such passkey"},
		"by one that nobody has added": {func(w *world, _ *authenticator.Device, q *api.QuestionRow) api.Assertion {
			return w.signs(w.device(), w.acceptChallenge(*q))
		}, "no such passkey"},
		"by one under the name of another": {func(w *world, phone *authenticator.Device, q *api.QuestionRow) api.Assertion {
			forged := w.device()
			forged.ID = phone.ID
			return w.signs(forged, w.acceptChallenge(*q))
		}, "not that of the passkey"},
		"by one that was revoked": {func(w *world, phone *authenticator.Device, q *api.QuestionRow) api.Assertion {
			a := w.signs(phone, w.acceptChallenge(*q))
			if _, err := operate[api.Passkey](w, api.OpRevokePasskey, api.RevokePasskeyRequest{Passkey: "my phone", By: "olga"}); err != nil {
				w.t.Fatal(err)
			}
			return a
		}, "no such passkey"},
		"without a fingerprint": {func(w *world, phone *authenticator.Device, q *api.QuestionRow) api.Assertion {
			phone.Flags = authenticator.Present
			return w.signs(phone, w.acceptChallenge(*q))
		}, "without a PIN"},
		"on another page": {func(w *world, phone *authenticator.Device, q *api.QuestionRow) api.Assertion {
			phone.Origin = "http://0123.localhost:7412"
			return w.signs(phone, w.acceptChallenge(*q))
		}, "not on the page of this server"},
		"by a copy": {func(w *world, phone *authenticator.Device, q *api.QuestionRow) api.Assertion {
			phone.Counter = 1
			return w.signs(phone, w.acceptChallenge(*q))
		}, "may have been copied"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, signing(passkey.High), func(t *testing.T, w *world) {
				phone := w.added(person, "my phone", nil)
				w.work(one(burn))
				w.begin()
				q := w.asked()
				signed := tt.sign(w, phone, &q)
				err := w.acceptsBy(q, signed)
				wantFault(t, err, utp.CodePasskeyRequired)
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %q", err, tt.want)
				}
				w.say(w.asked(), "reject")
				w.until("all turns have ended", func() bool { return w.cell(`SELECT count(*) FROM turns WHERE status <> 'ended'`) == "0" })
				w.effectsAre(0)
				if n := w.report(); n.Signed != 0 {
					t.Errorf("%+v", n)
				}
			})
		})
	}
}

// TestAskAgainTakesAPasskey: to be asked again for what may have been done says yes to something, so it takes the passkey
// that the call takes; to leave it does not.
func TestAskAgainTakesAPasskey(t *testing.T) {
	for _, word := range []string{"leave", "ask again"} {
		t.Run(word, func(t *testing.T) {
			inWorld(t, signing(passkey.Irreversible), func(t *testing.T, w *world) {
				phone := w.added(person, "my phone", nil)
				w.effects.at("done", dies)
				w.work(one(burn))
				a := w.begin()
				q := w.asked()
				if err := w.acceptsBy(q, w.signs(phone, w.acceptChallenge(q))); err != nil {
					t.Fatal(err)
				}
				w.reaches(a.Turn, turn.Unknown)
				q = w.askedAfter(q)
				if word == "leave" {
					w.say(q, word)
					w.over(a.Turn)
					return
				}
				_, err := w.reply(q, word)
				wantFault(t, err, utp.CodePasskeyRequired)
				signed := w.signs(phone, w.acceptChallenge(q))
				_, err = w.answer(api.ReplyRequest{Token: q.Token, Response: word, By: person, Surface: "page", Assertion: signed})
				if err != nil {
					t.Fatal(err)
				}
				if report := w.report(); report.Signed != 2 || report.Findings != 0 {
					t.Errorf("%+v", report)
				}
				q = w.askedAfter(q)
				w.say(q, "leave")
				w.over(a.Turn)
				w.effectsAre(1)
			})
		})
	}
}

// TestPasskeysAreAdded: the first takes a code, another one a signature by one that is there, under exactly what is added.
// No signature does it twice.
func TestPasskeysAreAdded(t *testing.T) {
	inWorld(t, signing(passkey.High), func(t *testing.T, w *world) {
		phone := w.device()
		made := phone.Register(w.challenge(api.PasskeyChallengeRequest{Purpose: api.PasskeyRegister, By: person}))
		adds := func(q api.ChangePasskeyRequest) error {
			q.By = person
			_, err := operate[api.Passkey](w, api.OpPasskeyAdd, q)
			return err
		}
		wantFault(t, adds(api.ChangePasskeyRequest{Name: "my phone", Registration: made}), utp.CodePasskeyRequired)
		wantFault(t, adds(api.ChangePasskeyRequest{Name: "my phone", Registration: made, Assertion: w.signs(phone, "x")}), utp.CodePasskeyRequired)
		for _, name := range []string{"", " ", strings.Repeat("n", 65), "a\x00b"} {
			wantFault(t, adds(api.ChangePasskeyRequest{Name: name, Registration: made, CodeShown: true}), utp.CodeBadRequest)
		}
		if err := adds(api.ChangePasskeyRequest{Name: "my phone", Registration: made, CodeShown: true}); err != nil {
			t.Fatal(err)
		}

		key := w.device()
		_, err := w.adds(person, "my key", key, nil)
		wantFault(t, err, utp.CodePasskeyRequired) // a code is not enough any more
		_, err = w.adds(person, "my key", key, w.device())
		wantFault(t, err, utp.CodePasskeyRequired)
		_, err = w.adds(person, "my phone", key, phone)
		wantFault(t, err, utp.CodeConflict)
		other := w.device().Register(w.challenge(api.PasskeyChallengeRequest{Purpose: api.PasskeyRegister, By: person}))
		signed := w.signs(phone, w.challenge(api.PasskeyChallengeRequest{Purpose: api.PasskeyAdd, Registration: other, By: person}))
		made = key.Register(w.challenge(api.PasskeyChallengeRequest{Purpose: api.PasskeyRegister, By: person}))
		wantFault(t, adds(api.ChangePasskeyRequest{Name: "my key", Registration: made, Assertion: signed}), utp.CodePasskeyRequired)
		signed = w.signs(phone, w.challenge(api.PasskeyChallengeRequest{Purpose: api.PasskeyAdd, Registration: made, By: person}))
		again := api.ChangePasskeyRequest{Name: "my key", Registration: made, Assertion: signed}
		if err := adds(again); err != nil {
			t.Fatal(err)
		}

		removal := w.signs(key, w.challenge(api.PasskeyChallengeRequest{Purpose: api.PasskeyRemove, Passkey: key.Name(), By: person}))
		remove := api.ChangePasskeyRequest{Passkey: phone.Name(), Assertion: removal, By: person}
		_, err = operate[api.Passkey](w, api.OpPasskeyRemove, remove)
		wantFault(t, err, utp.CodePasskeyRequired) // it was signed for the other one
		remove.Passkey = key.Name()
		if _, err = operate[api.Passkey](w, api.OpPasskeyRemove, remove); err != nil {
			t.Fatal(err)
		}
		if err := adds(again); err == nil {
			t.Error("one signature has added a passkey twice")
		}
		_, err = operate[api.Passkey](w, api.OpRevokePasskey, api.RevokePasskeyRequest{Passkey: "my key", By: "olga"})
		wantFault(t, err, utp.CodeNotFound)
		if _, err = operate[api.Passkey](w, api.OpRevokePasskey, api.RevokePasskeyRequest{Passkey: "my phone", By: "olga"}); err != nil {
			t.Error(err)
		}
		w.added(person, "my next phone", nil) // a first one again
		var acts []string
		for _, e := range w.chain() {
			if e.Act != nil && e.Act.Act == api.ActPasskey {
				acts = append(acts, e.Act.By+": "+e.Act.Detail)
			}
		}
		want := "ada: my phone, for 0123.localhost\nada: my key, for 0123.localhost\nada: ended\nolga: ended\nada: my next phone, for 0123.localhost"
		if got := strings.Join(acts, "\n"); got != want {
			t.Errorf("the chain has\n%s\nwant\n%s", got, want)
		}
	})
}

// TestPasskeysAltered: what is altered behind the kernel's back, a byte of a signature or a passkey that nobody added, is
// found.
func TestPasskeysAltered(t *testing.T) {
	for name, tt := range map[string]struct {
		change string
		flaw   audit.Flaw
	}{
		"a byte of a signature": {`UPDATE receipts SET terms = replace(terms, '"signature":"MEQ', '"signature":"MEU')`, audit.Altered},
		"the signature":         {`UPDATE receipts SET terms = json_remove(terms, '$.signed')`, audit.Altered},
		"another key":           {`UPDATE passkeys SET public_key = 'x'`, audit.Standing},
		"another person":        {`UPDATE passkeys SET person = 'bob'`, audit.Standing},
		"one more":              {`INSERT INTO passkeys VALUES ('x', 'ada', 'x', '0123.localhost', 'x', 0, 1, NULL)`, audit.Standing},
		"one less":              {`DELETE FROM passkeys`, audit.Standing},
	} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, func(w *world) { w.passkeys, w.unjudged = passkey.All, true }, func(t *testing.T, w *world) {
				phone := w.added(person, "my phone", nil)
				w.work(one(burn))
				a := w.begin()
				q := w.asked()
				signed := w.signs(phone, w.acceptChallenge(q))
				for !strings.HasPrefix(signed.Signature, "MEQ") { // a signature of ES256 begins with its length
					signed = w.signs(phone, w.acceptChallenge(q))
				}
				if err := w.acceptsBy(q, signed); err != nil {
					t.Fatal(err)
				}
				w.succeeded(a.Turn)
				w.wholeChain()
				w.tamper(tt.change)
				w.flaws = []audit.Flaw{tt.flaw}
				w.wholeChain()
			})
		})
	}
}

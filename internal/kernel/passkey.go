package kernel

import (
	"context"
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/passkey"
	"github.com/earshot-dev/earshot/utp"
)

// Passkeys says which accepts take a passkey, and where passkeys are used.
type Passkeys struct {
	Require passkey.Requirement
	// Origin returns the origin of the page, such as https://earshot.example.org; "" is none. Nil is none, too: then nothing
	// that takes a passkey is accepted. It is consulted inside transactions.
	Origin func() string
}

func (p Passkeys) origin() string {
	if p.Origin == nil {
		return ""
	}
	return p.Origin()
}

// needsPasskey reports whether a yes about a call takes a passkey. A question of the agent's own is information.
func (k *Kernel) needsPasskey(c turn.Call) bool {
	if c.Kind == turn.QuestionCall || c.Kind == turn.SubmitCall {
		return false
	}
	irreversible := c.Class.Order() == utp.Irreversible.Order()
	return k.o.Passkeys.Require.Covers(irreversible, api.MustBeRead(c.Class, c.Risk))
}

// checkSigned refuses a yes that takes a passkey and is not signed by one of the person's. What says yes is an accept, and
// the wish to be asked again whether to do what may have been done.
func (s *step) checkSigned(c turn.Call, q consent.Question, judged consent.State, r api.ReplyRequest) error {
	yes := judged == consent.Accepted || q.Kind == consent.Clarification && r.Response == answerAskAgain
	if !yes || !s.k.needsPasskey(c) {
		return nil
	}
	origin := s.k.o.Passkeys.origin()
	if r.Assertion == (api.Assertion{}) {
		return takesPasskey(q.Number, origin)
	}
	mine, err := passkeysOf(s.tx, r.By, passkey.Site(origin))
	if err != nil {
		return err
	}
	key, used, err := verified(mine, r.Assertion, s.k.acceptChallenge(s.rec, c, q), origin)
	if err != nil {
		return api.NewFault(utp.CodePasskeyRequired, fmt.Sprintf(
			"question %d: the passkey's signature does not count: %s. Nothing was recorded", q.Number, passkey.Reason(err)))
	}
	used.At = s.now.Wall
	s.batch.PasskeysUsed = append(s.batch.PasskeysUsed, used)
	s.signed = api.SignedAccept{Assertion: r.Assertion, Key: key.Public, Site: key.Site, Token: q.Token, Generation: s.k.generation()}
	return nil
}

func takesPasskey(question int, origin string) error {
	where := "on the page"
	if origin != "" {
		where += " at " + origin + "/"
	}
	return api.NewFault(utp.CodePasskeyRequired, fmt.Sprintf(
		"question %d takes a passkey: answer it %s. A no is taken from everywhere", question, where))
}

// acceptChallenge returns what a passkey signs to say yes to this asking of a question.
func (k *Kernel) acceptChallenge(rec store.Record, c turn.Call, q consent.Question) string {
	a := passkey.Accept{Session: rec.State.Session, Call: c.ID, Question: q.Number, Token: q.Token, Generation: k.generation()}
	if q.Kind == consent.Confirmation {
		a.Consent = c.Digest
	}
	return a.Challenge()
}

// verified verifies an assertion by one of a person's passkeys. Errors: [*passkey.Error].
func verified(mine []store.Passkey, a api.Assertion, challenge, origin string) (passkey.Key, store.PasskeyUse, error) {
	i := slices.IndexFunc(mine, func(p store.Passkey) bool { return p.ID == a.Passkey })
	if i < 0 {
		return passkey.Key{}, store.PasskeyUse{}, &passkey.Error{Message: "this person has no such passkey, or it was removed"}
	}
	key := mine[i].Key()
	counter, err := passkey.Verify(a, passkey.Expected{Challenge: challenge, Key: key, Origin: origin})
	if err == nil {
		err = passkey.CheckCounter(mine[i].Counter, counter)
	}
	return key, store.PasskeyUse{ID: key.ID, Counter: counter}, err
}

// passkeysOf returns the passkeys that a person can use on a site.
func passkeysOf(tx store.Tx, person, site string) ([]store.Passkey, error) {
	all, err := tx.Passkeys()
	return slices.DeleteFunc(all, func(p store.Passkey) bool { return p.Person != person || p.Site != site || site == "" }), err
}

// passkeys lists passkeys.
func (k *Kernel) passkeys(ctx context.Context, _ Caller, q api.PasskeysRequest) (api.PasskeysAnswer, error) {
	a := api.PasskeysAnswer{Required: string(k.o.Passkeys.Require), Page: k.o.Passkeys.origin()}
	err := k.o.Store.View(ctx, func(tx store.Tx) error {
		a.Passkeys = []api.Passkey{}
		all, err := tx.Passkeys()
		for _, p := range all {
			if q.Person == "" || p.Person == q.Person {
				a.Passkeys = append(a.Passkeys, p.Detail())
			}
		}
		return err
	})
	return a, err
}

// passkeyChallenge returns what a person's passkey has to sign.
func (k *Kernel) passkeyChallenge(ctx context.Context, _ Caller, q api.PasskeyChallengeRequest) (api.PasskeyChallenge, error) {
	origin := k.o.Passkeys.origin()
	a := api.PasskeyChallenge{Site: passkey.Site(origin), Person: q.By}
	if a.Site == "" {
		return a, noSite(origin)
	}
	err := k.o.Store.View(ctx, func(tx store.Tx) error {
		mine, err := passkeysOf(tx, q.By, a.Site)
		if err != nil {
			return err
		}
		a.Passkeys = []string{}
		for _, p := range mine {
			a.Passkeys = append(a.Passkeys, p.ID)
		}
		if q.Purpose == api.PasskeyAccept {
			if len(mine) == 0 {
				return api.NewFault(utp.CodePasskeyRequired, fmt.Sprintf(
					"question %d takes a passkey, and %s has none: add one on the page, under Passkeys", q.Question, q.By))
			}
			a.Challenge, err = k.questionChallenge(tx, q)
			return err
		}
		a.Challenge, err = k.changeChallenge(tx, q, origin)
		return err
	})
	return a, store.ProtocolError(err)
}

// questionChallenge returns what has to be signed to say yes to an open question.
func (k *Kernel) questionChallenge(tx store.Tx, q api.PasskeyChallengeRequest) (string, error) {
	rec, err := tx.Turn(store.TurnRef{Token: q.Token})
	if err != nil {
		return "", err
	}
	s := &step{k: k, tx: tx, rec: rec}
	asked := s.named(api.ReplyRequest{Question: q.Question, Token: q.Token})
	call, found := rec.State.FindQuestion(q.Question)
	if asked == nil || asked.State != consent.Open || !found || !s.mayApprove(q.By, q.Credential) {
		return "", api.NewFault(utp.CodeConflict, fmt.Sprintf("question %d is not open any more, or has been asked again", q.Question))
	}
	return k.acceptChallenge(rec, call, *asked), nil
}

func noSite(origin string) error {
	if origin == "" {
		return api.NewFault(utp.CodeConflict, "this server has no page, and passkeys are used on one")
	}
	return api.NewFault(utp.CodeConflict, "browsers use no passkeys at "+origin+": name the page by HTTPS, or leave out --page-url")
}

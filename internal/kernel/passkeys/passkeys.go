// Package passkeys keeps the passkeys of people: it lists, adds and removes them, says which accepts take one, and whether
// a signature under an accept counts.
package passkeys

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/passkey"
	"github.com/earshot-dev/earshot/utp"
)

// Options of the passkeys. Each function is required, and may be called concurrently.
type Options struct {
	Ledger store.Ledger
	// Require says which accepts take a passkey.
	Require passkey.Requirement
	// Origin returns the origin of the page, such as https://earshot.example.org; "" is none: then nothing that takes a
	// passkey is accepted. It is consulted inside transactions.
	Origin func() string
	// Generation names the run of the server. It is consulted inside transactions.
	Generation func() string
	Now        func() time.Time
	// Act makes the audit acts of a change.
	Act func(api.AuditAct) ([]api.AuditAct, error)
	// Change runs a change in a transaction which counts it, so that a ledger that is restored from before it is found
	// to be behind.
	Change func(ctx context.Context, fn func(store.Tx) error) error
	// Question returns what has to be signed to say yes to an open question.
	Question func(store.Tx, api.PasskeyChallengeRequest) (string, error)
}

// Passkeys are the passkeys of a ledger.
type Passkeys struct{ o Options }

// New returns the passkeys of a ledger.
func New(o Options) *Passkeys { return &Passkeys{o: o} }

// Needs reports whether a yes about a call takes a passkey. A question of the agent's own is information.
func (p *Passkeys) Needs(c turn.Call) bool {
	if c.Kind == turn.QuestionCall || c.Kind == turn.SubmitCall {
		return false
	}
	irreversible := c.Class.Order() == utp.Irreversible.Order()
	return p.o.Require.Covers(irreversible, api.MustBeRead(c.Class, c.Risk))
}

// Check verifies the assertion under an accept of a question by one of the person's passkeys. It returns the use to save,
// and the key that has signed.
func (p *Passkeys) Check(tx store.Tx, r api.ReplyRequest, question int, challenge string) (store.PasskeyUse, passkey.Key, error) {
	origin := p.o.Origin()
	if r.Assertion == (api.Assertion{}) {
		return store.PasskeyUse{}, passkey.Key{}, takesPasskey(question, origin)
	}
	mine, err := passkeysOf(tx, r.By, passkey.Site(origin))
	if err != nil {
		return store.PasskeyUse{}, passkey.Key{}, err
	}
	key, used, err := verified(mine, r.Assertion, challenge, origin)
	if err != nil {
		return used, key, api.NewFault(utp.CodePasskeyRequired, fmt.Sprintf(
			"question %d: the passkey's signature does not count: %s. Nothing was recorded", question, passkey.Reason(err)))
	}
	used.At = p.o.Now()
	return used, key, nil
}

func takesPasskey(question int, origin string) error {
	where := "on the page"
	if origin != "" {
		where += " at " + origin + "/"
	}
	return api.NewFault(utp.CodePasskeyRequired, fmt.Sprintf(
		"question %d takes a passkey: answer it %s. A no is taken from everywhere", question, where))
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

// List lists passkeys.
func (p *Passkeys) List(ctx context.Context, q api.PasskeysRequest) (api.PasskeysAnswer, error) {
	a := api.PasskeysAnswer{Required: string(p.o.Require), Page: p.o.Origin()}
	err := p.o.Ledger.View(ctx, func(tx store.Tx) error {
		a.Passkeys = []api.Passkey{}
		all, err := tx.Passkeys()
		for _, key := range all {
			if q.Person == "" || key.Person == q.Person {
				a.Passkeys = append(a.Passkeys, key.Detail())
			}
		}
		return err
	})
	return a, err
}

// Challenge returns what a person's passkey has to sign.
func (p *Passkeys) Challenge(ctx context.Context, q api.PasskeyChallengeRequest) (api.PasskeyChallenge, error) {
	origin := p.o.Origin()
	a := api.PasskeyChallenge{Site: passkey.Site(origin), Person: q.By}
	if a.Site == "" {
		return a, noSite(origin)
	}
	err := p.o.Ledger.View(ctx, func(tx store.Tx) error {
		mine, err := passkeysOf(tx, q.By, a.Site)
		if err != nil {
			return err
		}
		a.Passkeys = []string{}
		for _, key := range mine {
			a.Passkeys = append(a.Passkeys, key.ID)
		}
		if q.Purpose == api.PasskeyAccept {
			if len(mine) == 0 {
				return api.NewFault(utp.CodePasskeyRequired, fmt.Sprintf(
					"question %d takes a passkey, and %s has none: add one on the page, under Passkeys", q.Question, q.By))
			}
			a.Challenge, err = p.o.Question(tx, q)
			return err
		}
		a.Challenge, err = p.changeChallenge(tx, q, origin)
		return err
	})
	return a, store.ProtocolError(err)
}

func noSite(origin string) error {
	if origin == "" {
		return api.NewFault(utp.CodeConflict, "this server has no page, and passkeys are used on one")
	}
	return api.NewFault(utp.CodeConflict, "browsers use no passkeys at "+origin+": name the page by HTTPS, or leave out --page-url")
}

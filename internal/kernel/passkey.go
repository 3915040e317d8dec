package kernel

import (
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/passkeys"
	"github.com/earshot-dev/earshot/internal/kernel/replies"
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

// newPasskeys returns the passkeys of the ledger.
func (k *Kernel) newPasskeys() *passkeys.Passkeys {
	origin := k.o.Passkeys.Origin
	if origin == nil {
		origin = func() string { return "" }
	}
	return passkeys.New(passkeys.Options{
		Ledger: k.o.Store, Require: k.o.Passkeys.Require, Origin: origin, Generation: func() string { return k.generation() },
		Now: func() time.Time { return k.clock.Now().Wall }, Act: k.admin.Operated, Change: k.incarnation.Change, Question: k.questionChallenge,
	})
}

// checkSigned refuses a yes that takes a passkey and is not signed by one of the person's. What says yes is an accept, and
// the wish to be asked again whether to do what may have been done.
func (s *step) checkSigned(c turn.Call, q consent.Question, judged consent.State, r api.ReplyRequest) error {
	yes := judged == consent.Accepted || q.Kind == consent.Clarification && r.Response == answerAskAgain
	if !yes || !s.k.passkeys.Needs(c) {
		return nil
	}
	used, key, err := s.k.passkeys.Check(s.tx, r, q.Number, s.k.acceptChallenge(s.rec, c, q))
	if err != nil {
		return err
	}
	s.batch.PasskeysUsed = append(s.batch.PasskeysUsed, used)
	s.receipts.Answer.Signed = api.SignedAccept{Assertion: r.Assertion, Key: key.Public, Site: key.Site, Token: q.Token, Generation: s.k.generation()}
	return nil
}

// acceptChallenge returns what a passkey signs to say yes to this asking of a question.
func (k *Kernel) acceptChallenge(rec store.Record, c turn.Call, q consent.Question) string {
	a := passkey.Accept{Session: rec.State.Session, Call: c.ID, Question: q.Number, Token: q.Token, Generation: k.generation()}
	if q.Kind == consent.Confirmation {
		a.Consent = c.Digest
	}
	return a.Challenge()
}

// questionChallenge returns what has to be signed to say yes to an open question.
func (k *Kernel) questionChallenge(tx store.Tx, q api.PasskeyChallengeRequest) (string, error) {
	rec, err := tx.Turn(store.TurnRef{Token: q.Token})
	if err != nil {
		return "", err
	}
	s := k.newStep(tx, turn.Timestamp{}, rec)
	asked := replies.Named(&s.rec, api.ReplyRequest{Question: q.Question, Token: q.Token})
	call, found := rec.State.FindQuestion(q.Question)
	if asked == nil || asked.State != consent.Open || !found || !s.admission.MayApprove(q.By, q.Credential) {
		return "", api.NewFault(utp.CodeConflict, fmt.Sprintf("question %d is not open any more, or has been asked again", q.Question))
	}
	return k.acceptChallenge(rec, call, *asked), nil
}

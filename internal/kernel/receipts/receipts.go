// Package receipts collects what one turn proves later: receipts of answers, consents and their use, starts, and acts of
// the audit chain. They are saved with the transaction that they are about.
package receipts

import (
	"cmp"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/cards"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/ids"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// eventLanguage is the language that events are written in.
const eventLanguage = "en"

// Answer is what the answer of a transaction came with.
type Answer struct {
	Credential string           // its id
	Language   string           // that the question was shown in; "" is that of the ledger's events
	Seen       api.Seen         // how the arguments that it accepts were seen
	Signed     api.SignedAccept // by which it was signed, if it takes that
}

// Options say what a transaction's receipts come from. All are required.
type Options struct {
	Record *store.Record // the turn, as it is in the transaction so far
	Now    turn.Timestamp
	Cards  *cards.Tx
	IDs    *ids.Source
	// Act completes an act of the audit chain.
	Act func(api.AuditAct) (api.AuditAct, error)
	// Count increments the incarnation, so that a ledger restored from before the transaction is behind the copy outside.
	Count func() error
}

// Tx is the receipts of one turn within one transaction. Make it with [In]. It is for one goroutine.
type Tx struct {
	Answer Answer // set before the answer is applied

	o        Options
	receipts []store.Receipt
	consents []store.Consent
	consumed []store.Consent
	grants   []store.Grant
	acts     []api.AuditAct
}

// In returns the receipts of a turn within a transaction.
func In(o Options) *Tx { return &Tx{o: o} }

// Into adds what was collected to what the transaction saves.
func (t *Tx) Into(b *store.Batch) {
	b.Receipts, b.Consents, b.Consumed, b.Grants, b.Acts = t.receipts, t.consents, t.consumed, t.grants, t.acts
}

// Receipt adds the receipt of an answer, and the consent if it is an accept.
func (t *Tx) Receipt(e turn.Receipt) error {
	call, _ := t.o.Record.State.Find(e.Call)
	salt, err := t.o.IDs.Salt()
	if err != nil {
		return err
	}
	terms, err := t.terms(call, e.Decision)
	if err != nil {
		return err
	}
	shown := ""
	if q := t.o.Record.Question(call.Question); q != nil {
		shown = q.Shown
	}
	t.receipts = append(t.receipts, store.Receipt{
		Session: t.o.Record.State.Session, Call: e.Call, Question: call.Question, Decision: e.Decision,
		By: e.By, Surface: e.Surface, At: t.o.Now.Wall, Shown: shown, Language: cmp.Or(t.Answer.Language, eventLanguage), Salt: salt,
		Terms: terms,
	})
	if e.Decision == string(consent.Accept) {
		t.consents = append(t.consents, store.Consent{
			Question: call.Question, Call: call.ID, Digest: call.Digest, By: e.By, Surface: e.Surface, At: t.o.Now.Wall,
		})
	}
	return t.o.Count()
}

// terms returns what an answer about a call is bound to. An answer about a call's outcome does not say whether to do it, and
// so is bound to no consent.
func (t *Tx) terms(c turn.Call, decision string) (terms api.ReceiptTerms, err error) {
	put := t.o.Record.LastPresented(c.Question)
	terms = api.ReceiptTerms{Credential: t.Answer.Credential, Event: put.Event, Signed: t.Answer.Signed}
	if c.Kind != turn.ToolCall && c.Kind != turn.PermissionCall {
		if c.Outcome != nil && c.Outcome.Card != "" {
			terms.Response, err = t.o.Cards.Sum(c.Outcome.Card)
		}
		return terms, err
	}
	terms.Arguments, terms.Definition, terms.Policy = c.Arguments, c.Definition, c.Policy
	switch decision {
	case string(consent.Accept):
		terms.Consent, terms.Seen = c.Digest, t.Answer.Seen
		if t.Answer.Seen != api.SeenRead { // they were read as well
			terms.Covered = strings.Join(put.Covered, "\n")
		}
	case string(consent.Reject), turn.Undone:
		terms.Consent = c.Digest
	}
	return terms, nil
}

// Consume adds the use of a consent.
func (t *Tx) Consume(e turn.Consume) {
	call, _ := t.o.Record.State.Find(e.Call)
	t.consumed = append(t.consumed, store.Consent{Question: e.Question, Call: e.Call, Digest: call.Digest, At: t.o.Now.Wall})
}

// Grant adds a start. That of a call with an effect is an act of the audit chain, too, and is counted, so that a ledger
// restored from before it is detected.
func (t *Tx) Grant(e turn.Grant) error {
	c, _ := t.o.Record.State.Find(e.Call)
	t.grants = append(t.grants, store.Grant{Call: e.Call, Fence: e.Fence, Owner: c.Owner, At: t.o.Now.Wall})
	if !c.Class.Effectful() {
		return nil
	}
	err := t.Act(api.AuditAct{Act: api.ActStart, Call: c.ID, Fence: e.Fence, Detail: string(c.Class), Digest: c.Digest, By: c.Target})
	if err != nil {
		return err
	}
	return t.o.Count()
}

// Outcome adds the outcome, as far as it is known here, of a call with an effect that was started.
func (t *Tx) Outcome(c turn.Call) error {
	if c.Fence == 0 && c.State == turn.Closed || !c.Class.Effectful() {
		return nil // a restored ledger may have lost the start, but the outcome is known all the same
	}
	sum, err := t.o.Cards.Sum(c.Outcome.Card)
	if err != nil {
		return err
	}
	return t.Act(api.AuditAct{
		Act: api.ActOutcome, Call: c.ID, Fence: c.Fence, Detail: string(c.Outcome.Status), Digest: sum, By: c.Target,
	})
}

// Act adds an act of the turn's session to the audit chain.
func (t *Tx) Act(a api.AuditAct) error {
	a.Session, a.At = t.o.Record.State.Session, t.o.Now.Wall
	a, err := t.o.Act(a)
	t.acts = append(t.acts, a)
	return err
}

package admin

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// auditPage is how many entries of the audit chain one answer holds at most, and auditBytes how many
// bytes of arguments are read for it.
const auditPage, auditBytes = 200, 32 << 20

// Audit is [Audit] as operators and auditors ask for it.
func (ad *Admin) Audit(ctx context.Context, q api.AuditRequest) (a api.AuditAnswer, err error) {
	err = ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		a, err = Audit(tx, q)
		return err
	})
	return a, err
}

// Audit returns a page of the audit chain, or its head, with what the ledger still has of what was answered or done;
// or the calls that lack an entry in the chain. It judges nothing: that is for the reader, who may not trust this
// program.
func Audit(tx store.Tx, q api.AuditRequest) (api.AuditAnswer, error) {
	switch {
	case q.Calls:
		return auditCalls(tx, q.AfterCall)
	case q.Standing:
		return auditStanding(tx)
	case q.Head:
		return auditEntries(tx, store.AuditFilter{Newest: true, Limit: 1})
	default:
		return auditEntries(tx, store.AuditFilter{After: q.After, Limit: auditPage})
	}
}

// auditCalls lists the calls that lack an entry in the chain.
func auditCalls(tx store.Tx, after string) (api.AuditAnswer, error) {
	calls, err := tx.Unaudited(store.UnauditedFilter{After: after, Limit: auditPage})
	return api.AuditAnswer{Calls: calls, More: len(calls) == auditPage}, err
}

func auditEntries(tx store.Tx, f store.AuditFilter) (api.AuditAnswer, error) {
	entries, err := tx.Audit(f)
	if err != nil {
		return api.AuditAnswer{}, err
	}
	a := api.AuditAnswer{More: len(entries) == f.Limit && !f.Newest}
	if f.Newest {
		if a.Unchained, err = tx.Unchained(); err != nil {
			return api.AuditAnswer{}, err
		}
	}
	w, err := newEvidence(tx, entries)
	if err != nil {
		return api.AuditAnswer{}, err
	}
	r := newPageBudget()
	for _, e := range entries {
		if e.Evidence, err = w.receiptEvidence(e); err != nil {
			return api.AuditAnswer{}, err
		}
		if e.Done, err = w.actEvidence(e); err != nil {
			return api.AuditAnswer{}, err
		}
		fits, err := r.fits(e)
		if err != nil {
			return api.AuditAnswer{}, err
		}
		if !fits {
			a.More = true
			return a, nil
		}
		a.Entries = append(a.Entries, e)
		if w.read > auditBytes && !f.Newest {
			a.More = true // there may be no more: then the next page is empty
			return a, nil
		}
	}
	return a, nil
}

// evidence reads what the ledger still has of the subjects of some entries' receipts and acts.
type evidence struct {
	tx              store.Tx
	receiptSubjects map[int64]store.ReceiptSubject
	actSubjects     map[int64]store.ActSubject
	read            int // bytes of arguments and results
}

// bound reports whether an entry has a receipt that says what it was bound to.
func bound(e api.AuditEntry) bool { return e.Receipt != nil && e.Receipt.Terms != (api.ReceiptTerms{}) }

func newEvidence(tx store.Tx, entries []api.AuditEntry) (*evidence, error) {
	w := &evidence{tx: tx, receiptSubjects: map[int64]store.ReceiptSubject{}, actSubjects: map[int64]store.ActSubject{}}
	if entries := span(entries, bound); entries.To > 0 {
		subjects, err := tx.ReceiptSubjects(entries)
		if err != nil {
			return w, err
		}
		for _, a := range subjects {
			w.receiptSubjects[a.Entry] = a
		}
	}
	if entries := span(entries, ofCall); entries.To > 0 {
		subjects, err := tx.ActSubjects(entries)
		if err != nil {
			return w, err
		}
		for _, d := range subjects {
			w.actSubjects[d.Entry] = d
		}
	}
	return w, nil
}

// ofCall reports whether an entry has an act that is the start or the outcome of a call.
func ofCall(e api.AuditEntry) bool { return e.Act != nil && e.Act.Call != "" }

// span returns the range from the first to the last of the entries that fit.
func span(entries []api.AuditEntry, fits func(api.AuditEntry) bool) store.EntryFilter {
	var f store.EntryFilter
	for _, e := range entries {
		if !fits(e) {
			continue
		}
		if f.To == 0 {
			f.After = e.N - 1
		}
		f.After, f.To = min(f.After, e.N-1), max(f.To, e.N)
	}
	return f
}

// actEvidence returns what the ledger still has of the call of an entry's act; nil if the act is about no call.
func (w *evidence) actEvidence(e api.AuditEntry) (*api.AuditDone, error) {
	if !ofCall(e) {
		return nil, nil //nolint:nilnil // Nothing is known of it, and nothing has failed.
	}
	d := w.actSubjects[e.N]
	if d.Call != e.Act.Call {
		d = store.ActSubject{} // the entry is filed under another call
	}
	k := &api.AuditDone{
		Turn: turnRetention(d.Turn, d.Erased, d.Imported), Class: d.Class, Consent: d.Digest, Fence: d.Fence, Granted: d.Granted, Agreed: d.Accepted, Status: d.Status,
	}
	if o := d.Document.Outcome; o != nil {
		k.DocumentStatus = string(o.Status)
	}
	if k.Turn != api.AuditTurnWhole {
		return k, nil
	}
	card := ""
	var err error
	switch e.Act.Act {
	case api.ActStart:
		if !d.Accepted {
			k.Allowed, err = w.allowed(e.Act.Session, d)
		}
		return k, err
	case api.ActOutcome:
		card = d.Card
	case api.ActLate:
		card = e.Act.Subject
	}
	if card == "" {
		return k, nil
	}
	k.Result, err = w.result(card)
	return k, err
}

// allowed computes again the digest of a call that was started without a question; "" if its inputs cannot be read.
func (w *evidence) allowed(session string, d store.ActSubject) (string, error) {
	c := d.Document
	args, err := w.arguments(c.Card)
	if err != nil {
		return "", err
	}
	question := c.Question
	if c.Decision == turn.Allow {
		question = 0 // one that was put later was about its outcome
	}
	sum, err := api.Consented{
		Project: d.Project, Session: session, Turn: d.Turn, Call: d.Call, Tool: c.Tool, Definition: c.Definition, Args: args, Policy: c.Policy, Question: question,
	}.Digest()
	if err != nil {
		return "", nil //nolint:nilerr // The reader of the answer sees that there is none.
	}
	return hex.EncodeToString(sum[:]), nil
}

// result returns the digest of a result card's content; "" if the card is missing, or the blob that it refers to
// does not match.
func (w *evidence) result(id string) (string, error) {
	card, err := store.ReadCard(w.tx, id)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	w.read += len(card.Content)
	if card.Type == store.CardLate {
		if card, err = store.Retyped(card, utp.CardToolResult); err != nil {
			return "", err
		}
	}
	result, err := utp.DecodeToolResult(card)
	if err != nil {
		return "", nil //nolint:nilerr // The reader of the answer sees that there is none.
	}
	if r, moved := store.ReferenceIn(result.Result); moved {
		raw, err := store.ReadBlob(w.tx, r.SHA256)
		w.read += len(raw)
		switch {
		case errors.Is(store.AsDamage(err), store.ErrDamaged) || err == nil && store.SHA256Hex(raw) != r.SHA256:
			return "", nil
		case err != nil:
			return "", err
		}
	}
	return store.SHA256Hex(card.Content), nil
}

// turnRetention returns how much of a turn is still there. An imported turn never had more than its content here.
func turnRetention(turn string, erased, imported bool) api.AuditTurn {
	switch {
	case turn == "":
		return api.AuditTurnMissing
	case imported:
		return api.AuditTurnImported
	case erased:
		return api.AuditTurnErased
	}
	return api.AuditTurnWhole
}

// receiptEvidence returns what the ledger still has of the subject of an entry's receipt; nil if the receipt does not
// name it.
func (w *evidence) receiptEvidence(e api.AuditEntry) (*api.AuditEvidence, error) {
	if !bound(e) {
		return nil, nil //nolint:nilnil // Nothing is known of it, and nothing has failed.
	}
	a := w.receiptSubjects[e.N]
	k := &api.AuditEvidence{
		Turn: turnRetention(a.Turn, a.Erased, a.Imported), Call: a.Digest, Definition: a.Definition, Consent: a.Consent, Question: a.Question, Unstarted: a.Unstarted,
	}
	if a.Turn == "" || a.Erased {
		return k, nil
	}
	return k, w.content(k, *e.Receipt, a)
}

// content adds what the content of the turn shows.
func (w *evidence) content(k *api.AuditEvidence, r api.AuditReceipt, a store.ReceiptSubject) error {
	shown, err := store.OneRow(w.tx.Events(store.EventFilter{IDs: []string{r.Terms.Event}}))
	switch {
	case err == nil && shown.Session == r.Session:
		k.Shown = store.SHA256Hex(shown.Body)
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return err
	}
	args, err := w.arguments(a.Card)
	if err != nil {
		return err
	}
	canonical, err := utp.Canonical(args)
	if err != nil {
		return nil //nolint:nilerr // What has no canonical form is not what was consented to.
	}
	k.Arguments = store.SHA256Hex(canonical)
	if r.Terms.Response != "" {
		if k.Response, err = w.result(a.Answer); err != nil {
			return err
		}
	}
	sum, err := api.Consented{
		Project: a.Project, Session: r.Session, Turn: a.Turn, Call: r.Call, Tool: a.Tool, Definition: r.Terms.Definition, Args: args,
		Policy: r.Terms.Policy, Question: r.Question,
	}.Digest()
	if err == nil { // an incomplete one was never consented to
		k.Consented = hex.EncodeToString(sum[:])
	}
	return nil
}

// arguments returns the arguments in the card of a call; none if they are missing or cannot be read.
func (w *evidence) arguments(id string) (jsontext.Value, error) {
	card, err := store.ReadCard(w.tx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	content, err := utp.DecodeToolCall(card)
	if err != nil {
		return nil, nil //nolint:nilerr // The reader of the answer sees that there are none.
	}
	args, err := store.ReadValue(w.tx, content.Arguments)
	w.read += len(args)
	if errors.Is(store.AsDamage(err), store.ErrDamaged) {
		return nil, nil
	}
	return args, err
}

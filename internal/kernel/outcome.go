package kernel

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/argument"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// recordOutcome writes the records of an ended call, in the transaction that ended it: its result card
// and the inbox row.
func (s *step) recordOutcome(id string) error {
	c, _ := s.rec.State.Find(id)
	o := c.Outcome
	if o == nil || s.rec.State.Turn == "" {
		return nil
	}
	if o.Card == "" { // ended by the kernel, not by a service
		made, err := s.saveOwnResult(c)
		if err != nil {
			return err
		}
		o.Card = made
	}
	s.batch.Reports = append(s.batch.Reports, store.Report{
		Turn: s.rec.State.Turn, Call: c.ID, Card: o.Card, Status: o.Status, After: string(cmp.Or(o.After, c.After, utp.Suspend)), At: s.now.Wall,
	})
	if err := s.boxes.Add(c.ID, o.Card); err != nil {
		return err
	}
	return s.receipts.Outcome(c)
}

// saveOwnResult writes the result card of a call that no service has ended, and returns its id.
func (s *step) saveOwnResult(c turn.Call) (string, error) {
	o := c.Outcome
	r := utp.ResultCard{Status: o.Status, Source: utp.SourceWorker}
	if o.Status == utp.StatusTimeout {
		r.Source = utp.SourceWatchdog
	}
	if o.Status != utp.StatusSuccess {
		r.Error = &utp.ToolError{Code: o.Code, Message: o.Message, Source: r.Source}
	}
	if c.Batch != nil && c.State == turn.Finished {
		var err error
		if r.Result, err = s.cards.Delegated(c); err != nil {
			return "", err
		}
	}
	return s.cards.AddResult(c, r)
}

// outcome makes a card from a service's result. A result that is not valid JSON becomes a failure that
// says so, so that the call is not lost.
func (s *step) outcome(c turn.Call, status utp.Status, result api.Body, failure *utp.ToolError) (turn.Outcome, error) {
	raw, err := store.ReadBody(s.tx, result)
	if errors.Is(err, store.ErrNotFound) {
		return turn.Outcome{}, api.NewFault(utp.CodeBadRequest, "the result's blob has not been put, or not completely")
	}
	if err != nil {
		return turn.Outcome{}, err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n", status, raw)
	if failure != nil {
		fmt.Fprintf(sum, "%s\n%s\n", failure.Code, failure.Message)
	}
	o := turn.Outcome{Status: status, Digest: hex.EncodeToString(sum.Sum(nil))}
	if c.Outcome != nil && c.Outcome.Digest == o.Digest {
		return *c.Outcome, nil // the same result again
	}
	if argument.TooDeep(raw) {
		status, raw, failure = utp.StatusFailed, nil, &utp.ToolError{
			Code: utp.CodeResultNotSerializable, Message: fmt.Sprintf("the result is nested deeper than %d levels", argument.MaxNesting),
		}
	}
	card := utp.ResultCard{
		Status: status, Result: raw, Error: serviceError(failure), Source: utp.SourceTool, Command: cmp.Or(c.After, utp.Suspend),
	}.Normalize()
	o.Status, o.After = card.Status, card.AfterExecution
	if card.Error != nil {
		o.Code, o.Message, o.Untouched = card.Error.Code, card.Error.Message, card.Error.IsUntouched()
	}
	switch {
	case !c.Conclusive(o), o.TooLate() && (c.State == turn.Started || c.State == turn.LeaseExpired):
		// No result: a question about the outcome follows, or the call is asked for again.
	case c.Late == o.Digest:
		// The same late result again; it is recorded already.
	case c.State == turn.Resolved, s.rec.State.Status == turn.Ended:
		s.late = card.Result
		o.Card, err = s.saveLate(c, card)
	case c.State == turn.Finished, c.State == turn.Closed:
		// It will be refused; nothing is recorded.
	default:
		o.Card, err = s.cards.AddResult(c, card)
	}
	return o, err
}

// serviceError returns a service's error, cut to the limits of the ledger. Of the gate's own codes, a
// service may use only those for an unknown outcome, a stop request, and a consent too old to begin.
func serviceError(e *utp.ToolError) *utp.ToolError {
	if e == nil {
		return nil
	}
	out := *e
	out.Message, out.Code = store.Clip(e.Message, maxMessage), utp.Code(store.Clip(string(e.Code), store.MaxName))
	switch out.Code {
	case utp.CodeConsentDeclined, utp.CodeConsentExpired, utp.CodeConsentWithdrawn, utp.CodeDeniedByPolicy:
		out.Code = utp.CodeUnknownError
	default:
	}
	return &out
}

func (s *step) saveLate(c turn.Call, r utp.ResultCard) (string, error) {
	card, err := s.cards.AddLate(c, r)
	if err != nil || !c.Class.Effectful() {
		return card.ID, err
	}
	return card.ID, s.receipts.Act(api.AuditAct{
		Act: api.ActLate, Call: c.ID, Fence: c.Fence, Subject: card.ID, Detail: string(r.Status), Digest: store.SHA256Hex(card.Content), By: c.Target,
	})
}

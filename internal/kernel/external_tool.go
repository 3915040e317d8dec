package kernel

import (
	"context"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/external"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// commandExternal sends a call to a third-party service. There the command is the start: it is checked
// and recorded on the service's behalf in the transaction that sends it. While no service subscribes to
// it, it waits: a call that counts as started but was never received could not be distinguished from
// one that had its effect.
func (s *step) commandExternal(c turn.Call, t store.Tool, subject utp.Subject) error {
	if c.LeaseExpiries == 0 && s.k.registry.Unserved(subject) {
		return nil // it is sent again until it is too old
	}
	lease := external.Lease(t)
	check, err := s.admission.Check(c)
	if err != nil {
		return err
	}
	owner := "foreign." + c.Target
	err = s.dispatch(turn.Start{Call: c.ID, Owner: owner, Target: c.Target, Lease: lease, Check: check, Command: true})
	if err != nil {
		return err
	}
	started := s.rec.State.Live(c.ID)
	if started == nil || started.State != turn.Started {
		return nil // what was consented to has changed; the refusal is recorded
	}
	started.ThirdParty = true
	c = *started
	if c.LeaseExpiries >= external.Attempts {
		return s.dispatch(turn.Finish{Call: c.ID, Owner: owner, Fence: c.Fence, Outcome: turn.Outcome{
			Status: utp.StatusTimeout, Code: utp.CodeToolTimeout, Message: "the service did not report in time", Digest: "timeout",
		}})
	}
	return s.outgoing.Start(c, subject)
}

// saveExternalCard saves a card of a third-party peer: a tool.call of its own turn, or the result of a
// call that it was sent.
func (k *Kernel) saveExternalCard(ctx context.Context, from Caller, q api.CardRequest) (struct{}, error) {
	card, err := utp.DecodeCard(q.Card)
	if err != nil {
		return struct{}{}, api.NewFault(utp.CodeBadRequest, err.Error())
	}
	if card.Type != utp.CardToolResult {
		return k.saveCard(ctx, from, q)
	}
	content, err := utp.DecodeToolResult(card)
	switch {
	case err != nil:
		return struct{}{}, api.NewFault(external.CodeOf(err), err.Error())
	case card.AuthorID != "tool."+from.Name || card.Project != k.o.Project:
		return struct{}{}, api.NewFault(utp.CodeInvalidSourceActor, "a result is written as tool."+from.Name+", in its own project")
	}
	var refused error
	err = k.stepExternalCall(ctx, from, card.ToolCallID, func(s *step, c *turn.Call) (err error) {
		refused, err = s.offer(c, card, content)
		return err
	})
	if err == nil {
		err = refused // the effects of the refusal are recorded
	}
	return struct{}{}, err
}

// stepExternalCall steps the turn of a call that the asking peer was sent. The call is nil if it has
// ended and is forgotten.
func (k *Kernel) stepExternalCall(ctx context.Context, from Caller, call string, fn func(*step, *turn.Call) error) error {
	known := false
	err := k.step(ctx, store.TurnRef{Call: call}, func(s *step) error {
		known = true
		c := s.rec.State.Live(call)
		if c != nil && (c.Target != from.Name || !c.ThirdParty) {
			return api.NewFault(utp.CodeAuthFailed, "the call has not been sent to "+from.Name)
		}
		return fn(s, c)
	})
	if isCode(err, utp.CodeNotFound) && !known {
		err = api.NewFault(utp.CodeUnknownCall, "the ledger has no such call")
	}
	return err
}

// offer saves the result card of a call that a third-party service was sent. The first card counts. A
// different second card shows that nobody will report the first, so the first is adopted now and the
// second is refused.
func (s *step) offer(c *turn.Call, card utp.Card, content utp.ResultCard) (refused, err error) {
	if c == nil || c.State == turn.Finished || c.State == turn.Closed {
		return nil, api.NewFault(utp.CodeDone, "the call has ended; another result stands")
	}
	if card, err = external.CheckOffer(*c, s.rec.State.Turn, card, content); err != nil {
		return nil, err
	}
	if c.Offered != "" {
		return s.offeredBefore(c, card)
	}
	c.Offered = card.ID
	s.cards.Add(card)
	return nil, nil
}

// report handles a third-party service's report: three keys, and the call in its headers. It finishes
// the call through the gate. A report on an unknown call, or on another service's, changes nothing. One
// that comes twice, or too late, is a success.
func (k *Kernel) report(ctx context.Context, from Caller, m utp.Message) (api.ReportAnswer, error) {
	var a api.ReportAnswer
	r, header, err := external.ReadReport(m)
	if err != nil {
		return a, err
	}
	err = k.stepExternalCall(ctx, from, header.ToolCallID, func(s *step, c *turn.Call) (err error) {
		st := s.rec.State
		if header.AgentID != "" && header.AgentID != st.Agent || header.TurnID != "" && header.TurnID != st.Turn {
			return api.NewFault(utp.CodeAuthFailed, "the call belongs to another turn")
		}
		if header.TurnEpoch > max(st.Epoch, 1) { // the messages of a turn that has none, such as an outside one, say 1
			return api.NewFault(utp.CodeStale, "the turn has not come to that epoch")
		}
		a.Outcome, err = s.report(c, r)
		return err
	})
	return a, err
}

// report applies a report in one step.
func (s *step) report(c *turn.Call, r utp.Report) (string, error) {
	switch {
	case c == nil || c.State == turn.Closed:
		return api.ReportSuperseded, nil
	case c.State == turn.Finished && c.Offered != r.ToolResultCardID:
		return api.ReportSuperseded, nil
	case c.Offered == "" || c.Offered != r.ToolResultCardID:
		return "", api.NewFault(utp.CodeCardNotFound, "the result card has not been kept; keep it first, then report it")
	}
	content, err := external.Offered(s.tx, *c, r)
	if err != nil {
		return "", err
	}
	if content.Error != nil && content.Error.Code == utp.CodeConsentStale { // only the gate may use this code
		content.Error.Code = utp.CodeUnknownError
	}
	answered := *c
	answered.After = content.AfterExecution
	o, err := s.outcome(answered, content.Status, api.Body{Inline: content.Result}, content.Error)
	if err != nil {
		return "", err
	}
	said := api.ReportAccepted
	switch {
	case c.State == turn.Finished && c.Outcome.Digest != o.Digest:
		return api.ReportSuperseded, nil // the call had ended before this was reported
	case c.State == turn.Finished, c.Late != "" && c.Late == o.Digest:
		return api.ReportRepeated, nil
	case c.State == turn.Resolved, s.rec.State.Status == turn.Ended:
		said = api.ReportLate
	default:
	}
	return said, s.dispatch(turn.Finish{Call: c.ID, Owner: c.Owner, Fence: c.Fence, Outcome: o})
}

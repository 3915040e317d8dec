package kernel

import (
	"context"
	"errors"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/external"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// adoptOrRefuse handles a command that the ledger does not know. If its card is in the ledger, for a
// turn that has not ended, the command becomes a call of that turn like any other: resolved, judged,
// asked for, and dispatched under an id of our own. Any other command is refused. Either way, the
// received command itself starts nothing.
func (k *Kernel) adoptOrRefuse(ctx context.Context, from Caller, q api.StartRequest) error {
	refused := api.NewFault(utp.CodeUnknownCall, "the ledger has no such call; the command starts nothing")
	header, err := utp.DecodeHeader(q.Header)
	if err != nil {
		return refused
	}
	command, header, err := utp.DecodeCommand(q.Command, header)
	if err != nil || header.ToolCallID != q.Call {
		return refused
	}
	if header.RecursionDepth >= turn.MaxDepth {
		return api.NewFault(utp.CodeRecursionDepthExceeded, "the command comes from too many agents deep; it starts nothing")
	}
	adopted := ""
	err = k.step(ctx, store.TurnRef{Turn: header.TurnID}, func(s *step) error {
		if !k.active.Has(header.TurnID) {
			return api.NewFault(utp.CodeStale, "nobody attends to the turn at the moment")
		}
		c, err := s.callFromCommand(from.Name, q.Call, command, header)
		if err != nil {
			return err
		}
		adopted = c.ID
		return s.dispatch(turn.Adopt{Call: c})
	})
	if err != nil {
		k.o.Logger.Info("foreign command refused", "call", q.Call, "service", from.Name, "error", err)
		return refused
	}
	k.o.Logger.Info("foreign command adopted", "call", q.Call, "as", adopted, "service", from.Name)
	return api.NewFault(utp.CodeStale, "the command was not the kernel's own; it is being asked for as "+adopted)
}

// callFromCommand makes a call from a third-party command's card, once for each card. The card must be
// the command's own: it names the same call, which the ledger does not know. A card that the kernel
// wrote never fits. The service is the one that the command was meant for. The lineage in the headers
// fills in what the card leaves out.
func (s *step) callFromCommand(service, call string, command utp.Command, header utp.Context) (turn.Call, error) {
	card, err := store.ReadCard(s.tx, command.ToolCallCardID)
	if err != nil {
		return turn.Call{}, err
	}
	content, err := utp.DecodeToolCall(card)
	if err != nil {
		return turn.Call{}, err
	}
	if err := external.Untaken(s.tx, s.rec.State, call, card.ID); err != nil {
		return turn.Call{}, err
	}
	lineage := content.Lineage.Or(external.LineageOf(header))
	switch {
	case card.ToolCallID != call || content.ToolName != command.ToolName:
		return turn.Call{}, api.NewFault(utp.CodeToolCallIDMismatch, "the card is about another call")
	case lineage.TurnID != s.rec.State.Turn || card.Project != s.rec.State.Project:
		return turn.Call{}, api.NewFault(utp.CodeAuthFailed, "the card belongs to another turn")
	case card.AuthorID != s.rec.State.Agent:
		return turn.Call{}, api.NewFault(utp.CodeInvalidSourceActor, "the card was not written by the turn's agent")
	}
	args, err := store.ReadValue(s.tx, content.Arguments)
	if errors.Is(err, store.ErrNotFound) {
		return turn.Call{}, api.NewFault(utp.CodeBadRequest, "the blob of the arguments has not been put, or not completely")
	}
	if err != nil {
		return turn.Call{}, err
	}
	c, err := s.make(admission.Request{Key: "adopted:" + card.ID, Step: lineage.StepID, Tool: content.ToolName, Args: args})
	if err != nil {
		return c, err
	}
	if c.Outcome != nil {
		return c, api.NewFault(c.Outcome.Code, c.Outcome.Message)
	}
	if c.Target != service {
		return c, api.NewFault(utp.CodeAuthFailed, "the tool belongs to another service")
	}
	c.Origin = &turn.Origin{Call: call, Card: card.ID, After: command.AfterExecution, Tracestate: utp.BoundTracestate(header.Tracestate)}
	return c, nil
}

// saveCard saves a card that an agent wrote, of one of its own turns: a tool.call card, or one that it adds. The kernel
// writes every other kind.
func (k *Kernel) saveCard(ctx context.Context, from Caller, q api.CardRequest) (struct{}, error) {
	card, err := utp.DecodeCard(q.Card)
	if err != nil {
		return struct{}{}, api.NewFault(utp.CodeBadRequest, err.Error())
	}
	if card.AuthorID != from.Name || card.Project != k.o.Project {
		return struct{}{}, api.NewFault(utp.CodeAuthFailed, "a card is written under the agent's own name, in its own project")
	}
	if strings.HasPrefix(card.ID, external.AnswerPrefix) {
		return struct{}{}, api.NewFault(utp.CodeBadRequest, "card ids that begin with "+external.AnswerPrefix+" are the kernel's own")
	}
	if card.Type != utp.CardToolCall {
		return struct{}{}, k.addCard(ctx, from, card, q.Box)
	}
	content, err := utp.DecodeToolCall(card)
	if err != nil {
		return struct{}{}, api.NewFault(utp.CodeBadRequest, err.Error())
	}
	if q.Box != "" {
		return struct{}{}, api.NewFault(utp.CodeBadRequest, "a card of the type tool.call goes into no box: its result does")
	}
	return struct{}{}, k.update(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(store.TurnRef{Turn: content.Lineage.TurnID})
		if errors.Is(err, store.ErrNotFound) || (err == nil && rec.State.Agent != from.Name) {
			return api.NewFault(utp.CodeNotFound, "the card names no turn of this agent")
		}
		if err != nil {
			return err
		}
		if rec.Erased {
			return api.NewFault(utp.CodeTurnEnded, "the turn has ended, and its content is erased")
		}
		return tx.Save(store.Batch{Cards: []utp.Card{card}})
	})
}

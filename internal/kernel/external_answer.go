package kernel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// answerPrefix begins the ids of the result cards for third-party workers. Nobody else may write a card
// with such an id.
const answerPrefix = "card_answer_"

// answerID returns the id of the card that answers a third-party worker's call: one for each call in a
// project, so that an answer is found again and a call is never answered twice.
func answerID(project, call string) string {
	sum := sha256.Sum256([]byte("earshot-answer-1\n" + project + "\n" + call))
	return answerPrefix + hex.EncodeToString(sum[:16])
}

// answerOrigins answers the third-party workers whose calls have ended in this step: with a result card
// under their own id of the call, and a wakeup.
func (s *step) answerOrigins() error {
	rang := false
	for _, report := range s.batch.Reports {
		c, found := s.rec.State.Find(report.Call)
		if !found || c.Origin == nil || c.ReplacedBy != "" {
			continue
		}
		given, err := answersTo(s.tx, s.rec.State, c.Origin.Call)
		if err != nil {
			return err
		}
		id, as := given.next(s.rec.State, c.Origin.Call, false)
		if id == "" || given.to(c.Step) { // the first answer counts, as everywhere
			continue
		}
		if err := s.answerOrigin(c, report.Card, id, as); err != nil {
			return err
		}
		rang = true
	}
	if rang {
		return s.wakeOrigin()
	}
	return nil
}

// answerOrigin saves the answer to one call, under the given card id and as the given type of card.
func (s *step) answerOrigin(c turn.Call, result, id, as string) error {
	card, err := s.card(result)
	if err != nil {
		return store.AsDamage(err)
	}
	r, err := utp.DecodeToolResult(card)
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	r.ID, r.ToolCallID, r.CreatedAt = id, c.Origin.Call, s.now.Wall
	if theirs, err := store.ReadCard(s.tx, c.Origin.Card); err == nil {
		if content, err := utp.DecodeToolCall(theirs); err == nil {
			r.Lineage = content.Lineage.Or(r.Lineage)
		}
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	answer, err := answerAs(r, as)
	if err != nil {
		return fmt.Errorf("kernel: answer to call %s: %w", c.ID, err)
	}
	s.batch.Cards = append(s.batch.Cards, answer)
	return nil
}

// wakeOrigin sends a wakeup to the turn's worker through the outbox: a third-party worker may not poll.
func (s *step) wakeOrigin() error {
	control, err := s.control()
	if err != nil {
		return err
	}
	subject, err := utp.Wakeup(control.ProjectID, control.ChannelID, control.AgentID)
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	header, err := utp.EncodeWakeup(control, utp.Stamp{At: s.now.Wall})
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	s.batch.Outbox = append(s.batch.Outbox, store.Outgoing{
		Session: s.rec.State.Session, Subject: subject.String(), Header: header, Payload: []byte("{}"),
	})
	return nil
}

// answerRefused answers a command that did not become a call, and sends a wakeup. The turn does not
// change: nothing has happened in it, and nothing is reported. A lost wakeup costs one poll.
func (k *Kernel) answerRefused(ctx context.Context, from Caller, a arrived, refused *commandError) error {
	if a.lineage.StepID == "" {
		a.lineage.StepID = "step_unknown" // a worker fails the turn over a result without one
	}
	tool := a.command.ToolName
	if tool == "" {
		tool = "unknown"
	}
	var st turn.State
	err := k.update(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(store.TurnRef{Turn: a.lineage.TurnID})
		if err != nil {
			return err
		}
		st = rec.State
		given, err := answersTo(tx, st, a.call)
		if err != nil {
			return err
		}
		id, as := given.next(st, a.call, a.reused)
		if id == "" || given.to(a.lineage.StepID) { // the same command again, at the same time
			return nil
		}
		card, err := answerAs(utp.ResultCard{
			ID: id, Project: st.Project, AuthorID: "tool." + a.service, CreatedAt: k.o.Clock.timestamp().Wall,
			ToolCallID: a.call, FunctionName: tool, Lineage: a.lineage, Status: utp.StatusFailed, Command: a.command.AfterExecution,
			Error: &utp.ToolError{Code: refused.code, Message: store.Clip(refused.message, maxMessage), Source: utp.SourceTool},
		}, as)
		if err != nil {
			return err
		}
		return tx.Save(store.Batch{Cards: []utp.Card{card}})
	})
	if err != nil {
		return fmt.Errorf("kernel: answering %s: %w", from.Name, err)
	}
	k.wakeWorker(ctx, st)
	return nil
}

// inbox returns the reports on a third-party worker's ended calls, as rows of an inbox.
func (k *Kernel) inbox(ctx context.Context, from Caller, q api.InboxRequest) (api.InboxAnswer, error) {
	a := api.InboxAnswer{Rows: []jsontext.Value{}}
	if len(q.Calls) > maxCalls {
		return a, api.NewFault(utp.CodeBadRequest, "an inbox is asked about at most 256 calls at once")
	}
	err := k.o.Store.View(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(store.TurnRef{Turn: q.Turn})
		if err != nil {
			return err
		}
		if rec.State.Agent != from.Name {
			return notYours()
		}
		for _, call := range q.Calls {
			given, err := answersTo(tx, rec.State, call)
			if err != nil {
				return err
			}
			for _, r := range given.ofTurn {
				row, err := inboxRow(rec.State, r)
				if err != nil {
					return err
				}
				a.Rows = append(a.Rows, row)
			}
		}
		return nil
	})
	return a, store.ProtocolError(err)
}

// inboxRow makes an inbox row from an answer.
func inboxRow(st turn.State, r utp.ResultCard) (jsontext.Value, error) {
	id := strings.TrimPrefix(r.ID, answerPrefix)
	return utp.EncodeInboxRow(utp.InboxRow{
		ID: "inbox_" + id, MessageType: utp.InboxToolResult, Report: r.Report(),
		Context: utp.Context{
			ProjectID: st.Project, ChannelID: st.Channel, AgentID: st.Agent, TurnID: st.Turn, TurnEpoch: max(st.Epoch, 1),
			StepID: r.Lineage.StepID, ParentStepID: r.Lineage.ParentStepID, ToolCallID: r.ToolCallID,
			Traceparent: "00-" + traceOf(st.Turn) + "-" + id[16:] + "-01",
		},
	})
}

// readCard returns a card that concerns a third-party peer: the arguments of a call that it was sent, its
// own cards, and the answers to them. Any other card is not found.
func (k *Kernel) readCard(ctx context.Context, from Caller, q api.ReadRequest) (api.CardRequest, error) {
	var out api.CardRequest
	err := k.o.Store.View(ctx, func(tx store.Tx) error {
		card, err := store.ReadCard(tx, q.Card)
		if err != nil {
			return err
		}
		served, err := servedCard(tx, from, card)
		if err != nil {
			return err
		}
		if !served {
			if err := askedCard(tx, from, card); err != nil {
				return err
			}
		}
		if card, err = asAnswer(card); err != nil {
			return err
		}
		out.Card, err = utp.EncodeCard(card)
		return err
	})
	return out, store.ProtocolError(err)
}

// servedCard reports whether the card holds the arguments of a call that the peer serves
// and that has been started.
func servedCard(tx store.Tx, from Caller, card utp.Card) (bool, error) {
	rec, err := tx.Turn(store.TurnRef{Call: card.ToolCallID})
	if errors.Is(err, store.ErrNotFound) || card.ToolCallID == "" {
		return false, nil
	}
	c, found := rec.State.Find(card.ToolCallID)
	return found && c.Card == card.ID && c.Target == from.Name && c.ThirdParty, err
}

// askedCard refuses a card that is neither of the peer's own turns nor an answer in one.
func askedCard(tx store.Tx, from Caller, card utp.Card) error {
	var lineage utp.Lineage
	switch {
	case card.Type == utp.CardToolCall && card.AuthorID == from.Name:
		content, err := utp.DecodeToolCall(card)
		if err != nil {
			return store.ErrNotFound
		}
		lineage = content.Lineage
	case strings.HasPrefix(card.ID, answerPrefix):
		content, err := answerOn(tx, card.ID)
		if err != nil {
			return store.ErrNotFound
		}
		lineage = content.Lineage
	default:
		return store.ErrNotFound
	}
	rec, err := tx.Turn(store.TurnRef{Turn: lineage.TurnID})
	if err == nil && rec.State.Agent != from.Name {
		err = store.ErrNotFound
	}
	return err
}

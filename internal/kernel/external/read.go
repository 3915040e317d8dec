package external

import (
	"cmp"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// maxCalls is how many calls an inbox is asked about at once.
const maxCalls = 256

// Ledger is what is read of the ledger for third-party peers.
type Ledger interface {
	store.TurnReader
	store.CardReader
}

// Inbox returns the reports on a third-party worker's ended calls, as rows of an inbox.
func Inbox(tx store.Tx, peer string, q api.InboxRequest) (api.InboxAnswer, error) {
	a := api.InboxAnswer{Rows: []jsontext.Value{}}
	if len(q.Calls) > maxCalls {
		return a, api.NewFault(utp.CodeBadRequest, "an inbox is asked about at most 256 calls at once")
	}
	rec, err := tx.Turn(store.TurnRef{Turn: q.Turn})
	if err != nil {
		return a, err
	}
	if rec.State.Agent != peer {
		return a, api.NewFault(utp.CodeAuthFailed, "the turn belongs to another agent")
	}
	for _, call := range q.Calls {
		given, err := AnswersTo(tx, rec.State, call)
		if err != nil {
			return a, err
		}
		for _, r := range given.ofTurn {
			row, err := inboxRow(rec.State, r)
			if err != nil {
				return a, err
			}
			a.Rows = append(a.Rows, row)
		}
	}
	return a, nil
}

// inboxRow makes an inbox row from an answer.
func inboxRow(st turn.State, r utp.ResultCard) (jsontext.Value, error) {
	id := strings.TrimPrefix(r.ID, AnswerPrefix)
	kind := utp.InboxToolResult
	if r.Status == utp.StatusTimeout && r.Error != nil && r.Error.Source == utp.SourceWatchdog {
		kind = utp.InboxTimeout
	}
	control := st.Context(id[16:])
	control.StepID, control.ToolCallID = r.Lineage.StepID, r.ToolCallID
	control.ParentStepID = cmp.Or(r.Lineage.ParentStepID, control.ParentStepID)
	for _, c := range st.Calls {
		if c.Origin != nil && c.Origin.Call == r.ToolCallID && c.Step == r.Lineage.StepID {
			control.Tracestate = cmp.Or(c.Origin.Tracestate, control.Tracestate)
		}
	}
	return utp.EncodeInboxRow(utp.InboxRow{ID: "inbox_" + id, MessageType: kind, Report: r.Report(), Context: control})
}

// ReadCard returns a card that concerns a third-party peer: the arguments of a call that it was sent, its
// own cards, and the answers to them. Any other card is not found.
func ReadCard(tx store.Tx, peer string, q api.ReadRequest) (api.CardRequest, error) {
	var out api.CardRequest
	card, err := store.ReadCard(tx, q.Card)
	if err != nil {
		return out, err
	}
	served, err := servedCard(tx, peer, card)
	if err == nil && !served {
		err = askedCard(tx, peer, card)
	}
	if err == nil {
		card, err = asAnswer(card)
	}
	if err == nil {
		out.Card, err = utp.EncodeCard(card)
	}
	return out, err
}

// servedCard reports whether the card holds the arguments of a call that the peer serves
// and that has been started.
func servedCard(tx Ledger, peer string, card utp.Card) (bool, error) {
	rec, err := tx.Turn(store.TurnRef{Call: card.ToolCallID})
	if errors.Is(err, store.ErrNotFound) || card.ToolCallID == "" {
		return false, nil
	}
	c, found := rec.State.Find(card.ToolCallID)
	return found && c.Card == card.ID && c.Target == peer && c.ThirdParty, err
}

// askedCard refuses a card that is neither of the peer's own turns nor an answer in one.
func askedCard(tx Ledger, peer string, card utp.Card) error {
	var lineage utp.Lineage
	switch {
	case card.Type == utp.CardToolCall && card.AuthorID == peer:
		content, err := utp.DecodeToolCall(card)
		if err != nil {
			return store.ErrNotFound
		}
		lineage = content.Lineage
	case strings.HasPrefix(card.ID, AnswerPrefix):
		content, err := answerOn(tx, card.ID)
		if err != nil {
			return store.ErrNotFound
		}
		lineage = content.Lineage
	case card.Type == utp.CardToolResult:
		return actionCard(tx, peer, card)
	case card.AuthorID == peer: // it has added it, or has delivered it
		lineage.TurnID = card.TurnID()
	default:
		return store.ErrNotFound
	}
	rec, err := tx.Turn(store.TurnRef{Turn: lineage.TurnID})
	if err == nil && rec.State.Agent != peer {
		err = store.ErrNotFound
	}
	return err
}

// actionCard refuses a result that is not that of an action of the peer's.
func actionCard(tx Ledger, peer string, card utp.Card) error {
	rec, err := tx.Turn(store.TurnRef{Call: card.ToolCallID})
	if err == nil && (rec.State.Agent != peer || !rec.State.Action) {
		err = store.ErrNotFound
	}
	return err
}

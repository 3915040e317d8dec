// Package cards reads and writes the cards of one turn within one transaction of the ledger: its calls with their
// arguments, their results, its answer, and what only the kernel keeps there. What was added in the transaction is read
// like what was there before. A value that is too large for a card is saved as a blob at once, and the card refers to it.
package cards

import (
	"cmp"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/argument"
	"github.com/earshot-dev/earshot/internal/kernel/ids"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Tx is the cards of one turn within one transaction. Make it with [In]. It is for one goroutine.
type Tx struct {
	tx    store.Tx
	of    turn.State // the turn, as it was when the transaction came to it
	at    time.Time
	ids   *ids.Source
	added []utp.Card
}

// In returns the cards of a turn within a transaction that takes place at a time.
func In(tx store.Tx, of turn.State, at time.Time, names *ids.Source) *Tx {
	return &Tx{tx: tx, of: of, at: at, ids: names}
}

// Added are the cards that are to be saved with the transaction.
func (t *Tx) Added() []utp.Card { return t.added }

// Add adds cards as they are.
func (t *Tx) Add(cards ...utp.Card) { t.added = append(t.added, cards...) }

// Card finds a card by its id. The error may be [store.ErrNotFound].
func (t *Tx) Card(id string) (utp.Card, error) {
	for _, card := range t.added {
		if card.ID == id {
			return card, nil
		}
	}
	return store.ReadCard(t.tx, id)
}

// Sum returns the SHA-256 in hex of a card's content. A card that is not there is damage.
func (t *Tx) Sum(id string) (string, error) {
	card, err := t.Card(id)
	if err != nil {
		return "", store.Unexpected("the card "+id, store.AsDamage(err))
	}
	return store.SHA256Hex(card.Content), nil
}

// AddCall adds the card of a call, for the subject that its command goes to.
func (t *Tx) AddCall(c turn.Call, target string, r argument.Resolved) error {
	args, err := t.outOfLine(r.Args)
	if err != nil {
		return err
	}
	card, err := utp.NewToolCall(utp.CallCard{
		ID: c.Card, Project: t.of.Project, AuthorID: t.of.Agent, CreatedAt: t.at,
		ToolCallID: c.ID, ToolName: c.Tool, Arguments: args, TargetSubject: target, Lineage: t.lineage(c.Step),
		DefaultsApplied: r.Defaults, FixedApplied: r.Fixed, Envs: r.Envs,
	})
	if err != nil {
		return fmt.Errorf("kernel: card of call %s: %w", c.ID, err)
	}
	t.Add(card)
	return nil
}

// Args returns the resolved arguments of a call, with references in place of secrets.
func (t *Tx) Args(c turn.Call) (jsontext.Value, error) {
	args, _, err := t.args(c)
	return args, err
}

// SuppliedArgs returns the arguments of a call without what the operator's environment filled in.
func (t *Tx) SuppliedArgs(c turn.Call) (jsontext.Value, error) {
	args, envs, err := t.args(c)
	if err != nil || len(envs) == 0 {
		return args, err
	}
	return argument.Without(args, envs)
}

func (t *Tx) args(c turn.Call) (args jsontext.Value, envs map[string]string, err error) {
	card, err := t.Card(c.Card)
	if err != nil {
		return nil, nil, store.Unexpected("arguments of call "+c.ID, store.AsDamage(err))
	}
	content, err := utp.DecodeToolCall(card)
	if err != nil {
		return nil, nil, store.Unexpected("arguments of call "+c.ID, fmt.Errorf("%w: %w", store.ErrDamaged, err))
	}
	args, err = store.ReadValue(t.tx, content.Arguments)
	return args, content.Envs, store.AsDamage(err)
}

// Body makes the body of an answer to a service from arguments.
func (t *Tx) Body(args jsontext.Value) (api.Body, error) {
	if len(args) <= api.InlineLimit {
		return api.Body{Inline: args}, nil
	}
	raw, err := t.outOfLine(args)
	return argument.Body(raw), err
}

// AddResult adds the result card of a call and returns its id.
func (t *Tx) AddResult(c turn.Call, r utp.ResultCard) (string, error) {
	card, err := t.result(c, r)
	if err == nil {
		t.Add(card)
	}
	return card.ID, err
}

// AddLate adds the card of a result that came after its call had another one, and returns it.
func (t *Tx) AddLate(c turn.Call, r utp.ResultCard) (utp.Card, error) {
	card, err := t.result(c, r)
	if err == nil {
		card, err = store.Retyped(card, store.CardLate)
	}
	if err == nil {
		t.Add(card)
	}
	return card, err
}

func (t *Tx) result(c turn.Call, r utp.ResultCard) (utp.Card, error) {
	id, err := t.ids.ID(t.at)
	if err != nil {
		return utp.Card{}, err
	}
	r.ID, r.Project, r.CreatedAt = "card_"+id, t.of.Project, t.at
	r.AuthorID, r.ToolCallID, r.FunctionName = "tool."+c.Target, c.ID, c.Tool
	if c.Target == "" {
		r.AuthorID = "sys.kernel"
	}
	r.Lineage, r.Command = t.lineage(c.Step), cmp.Or(c.After, utp.Suspend)
	if r.Result, err = t.outOfLine(r.Result); err != nil {
		return utp.Card{}, err
	}
	card, err := utp.NewToolResult(r)
	if err != nil {
		return utp.Card{}, fmt.Errorf("kernel: result of call %s: %w", c.ID, err)
	}
	return card, nil
}

// AddedResult returns the result that this transaction adds for a call, if a service gave one and it is small enough to
// be reported.
func (t *Tx) AddedResult(c turn.Call) (jsontext.Value, error) {
	if c.Outcome == nil || c.Outcome.Card == "" {
		return nil, nil
	}
	for _, card := range t.added {
		if card.ID != c.Outcome.Card {
			continue
		}
		content, err := utp.DecodeToolResult(card)
		if err != nil {
			return nil, fmt.Errorf("kernel: %w", err)
		}
		if _, moved := store.ReferenceIn(content.Result); moved {
			return nil, nil
		}
		return content.Result, nil
	}
	return nil, nil
}

// Answer makes the card of the turn's answer from its fields, and adds it to nothing.
func (t *Tx) Answer(fields []utp.Field, partial bool) (utp.Card, error) {
	id, err := t.ids.ID(t.at)
	if err != nil {
		return utp.Card{}, err
	}
	card, err := utp.NewDeliverable(utp.Deliverable{
		ID: "card_" + id, Project: t.of.Project, AuthorID: t.of.Agent, CreatedAt: t.at, Lineage: t.lineage("step_" + id),
		Fields: fields, Partial: partial,
	})
	if err != nil {
		return card, api.NewFault(utp.CodeBadRequest, "the result: "+err.Error())
	}
	return card, nil
}

func (t *Tx) lineage(step string) utp.Lineage {
	return utp.Lineage{TurnID: t.of.Turn, StepID: step, TraceID: turn.TraceID(t.of.Turn), ParentStepID: t.of.Within.Step}
}

// outOfLine saves a large value as a blob and returns a reference to it.
func (t *Tx) outOfLine(v jsontext.Value) (jsontext.Value, error) {
	out, pieces, err := argument.OutOfLine(v)
	if err != nil || len(pieces) == 0 {
		return out, err
	}
	return out, t.tx.Save(store.Batch{Blobs: pieces}) // at once: this transaction may read it again
}

package kernel

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/argument"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// cardStep is the type of the card that stores an agent's own data about a step. It belongs to the turn, and is
// exported and erased with it.
const cardStep = "earshot.step"

// stepContent is its content.
type stepContent struct {
	Type string         `json:"__type__"` //nolint:tagliatelle // the name on the wire
	Data jsontext.Value `json:"data"`
}

// stepCard returns the id of a step's card.
func stepCard(stepID string) string { return "card_" + stepID }

// saveStepData saves the agent's own data about a step with the step.
func (s *step) saveStepData(stepID string, body api.Body) error {
	if body.SHA256 == "" && len(body.Inline) == 0 {
		return nil
	}
	if max(int64(len(body.Inline)), body.Size) > api.StepDataLimit {
		return api.NewFault(utp.CodeTooLarge, fmt.Sprintf("a step's own data may have %d MiB", api.StepDataLimit>>20))
	}
	raw, err := store.ReadBody(s.tx, body)
	data := jsontext.Value(raw)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return api.NewFault(utp.CodeBadRequest, "the blob of the step's data has not been put, or not completely")
	case err != nil:
		return err
	case data.Kind() != jsontext.KindBeginObject || !data.IsValid():
		return api.NewFault(utp.CodeBadRequest, "a step's own data is a JSON object")
	}
	return s.saveOwnCard(stepCard(stepID), stepID, cardStep, data)
}

// saveOwnCard saves an object that concerns only the kernel with the cards of the turn, under a type of its own.
func (s *step) saveOwnCard(id, stepID, kind string, data jsontext.Value) error {
	data, err := s.outOfLine(data)
	if err != nil {
		return err
	}
	card, err := utp.NewDeliverable(utp.Deliverable{ // the metadata of any card of a turn
		ID: id, Project: s.rec.State.Project, AuthorID: s.rec.State.Agent, CreatedAt: s.now.Wall,
		Lineage: utp.Lineage{TurnID: s.rec.State.Turn, StepID: stepID, TraceID: s.trace()},
	})
	if err == nil {
		card, err = store.Retyped(card, kind)
	}
	if err == nil {
		card.Content, err = json.Marshal(stepContent{Type: "JsonContent", Data: data}, jsontext.PreserveRawStrings(true))
	}
	if err != nil {
		return store.Unexpected("a card of type "+kind, err)
	}
	s.batch.Cards = append(s.batch.Cards, card)
	return nil
}

// stepData returns what an agent saved with a step; an empty body if it saved nothing.
func stepData(tx store.Tx, stepID string) (api.Body, error) {
	data, err := ownCard(tx, stepCard(stepID))
	return argument.Body(data), err
}

// ownCard returns the data of a card of [step.saveOwnCard]; nil if there is none.
func ownCard(tx store.Tx, id string) (jsontext.Value, error) {
	card, err := store.ReadCard(tx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var content stepContent
	if err := json.Unmarshal(card.Content, &content); err != nil {
		return nil, fmt.Errorf("%w: the data of %s: %w", store.ErrDamaged, id, err)
	}
	return content.Data, nil
}

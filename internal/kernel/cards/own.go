package cards

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

// The types of the cards that only the kernel reads. They belong to their turn, and are exported and erased with it.
const (
	typeStep   = "earshot.step"   // an agent's own data about a step
	typeAnswer = "earshot.answer" // the answer of a turn, for the turn above it
)

// own is the content of such a card.
type own struct {
	Type string         `json:"__type__"` //nolint:tagliatelle // the name on the wire
	Data jsontext.Value `json:"data"`
}

// AddStepData adds what an agent keeps about a step, which is a JSON object. There is one such card for a step.
func (t *Tx) AddStepData(step string, body api.Body) error {
	if body.SHA256 == "" && len(body.Inline) == 0 {
		return nil
	}
	if max(int64(len(body.Inline)), body.Size) > api.StepDataLimit {
		return api.NewFault(utp.CodeTooLarge, fmt.Sprintf("a step's own data may have %d MiB", api.StepDataLimit>>20))
	}
	raw, err := store.ReadBody(t.tx, body)
	data := jsontext.Value(raw)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return api.NewFault(utp.CodeBadRequest, "the blob of the step's data has not been put, or not completely")
	case err != nil:
		return err
	case data.Kind() != jsontext.KindBeginObject || !data.IsValid():
		return api.NewFault(utp.CodeBadRequest, "a step's own data is a JSON object")
	}
	return t.addOwn("card_"+step, step, typeStep, data)
}

// StepData returns what an agent keeps about a step; an empty body if it keeps nothing.
func StepData(tx store.Tx, step string) (api.Body, error) {
	data, err := readOwn(tx, "card_"+step)
	return argument.Body(data), err
}

// answerText is the text that a turn ends with.
type answerText struct {
	Text string `json:"text"`
}

// AddText adds the text that the turn ends with, for the turn above it, and returns the id of its card.
func (t *Tx) AddText(text string) (string, error) {
	id, err := t.ids.ID(t.at)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(answerText{text}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return "", store.Unexpected("the answer of a turn", err)
	}
	return "card_" + id, t.addOwn("card_"+id, "step_"+id, typeAnswer, data)
}

// Text returns the text that another turn has ended with, from the id of its card; "" if it left none.
func Text(tx store.Tx, card string) (string, error) {
	data, err := readOwn(tx, card)
	if err == nil && data != nil {
		data, err = store.ReadValue(tx, data)
	}
	var a answerText
	if err != nil || data == nil {
		return "", err
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return "", fmt.Errorf("%w: the text of %s: %w", store.ErrDamaged, card, err)
	}
	return a.Text, nil
}

func (t *Tx) addOwn(id, step, kind string, data jsontext.Value) error {
	data, err := t.outOfLine(data)
	if err != nil {
		return err
	}
	card, err := utp.NewDeliverable(utp.Deliverable{ // the metadata of any card of a turn
		ID: id, Project: t.of.Project, AuthorID: t.of.Agent, CreatedAt: t.at, Lineage: t.lineage(step),
	})
	if err == nil {
		card, err = store.Retyped(card, kind)
	}
	if err == nil {
		card.Content, err = json.Marshal(own{Type: "JsonContent", Data: data}, jsontext.PreserveRawStrings(true))
	}
	if err != nil {
		return store.Unexpected("a card of type "+kind, err)
	}
	t.Add(card)
	return nil
}

// readOwn returns the data of a card of [Tx.addOwn]; nil if there is none.
func readOwn(tx store.Tx, id string) (jsontext.Value, error) {
	card, err := store.ReadCard(tx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var content own
	if err := json.Unmarshal(card.Content, &content); err != nil {
		return nil, fmt.Errorf("%w: the data of %s: %w", store.ErrDamaged, id, err)
	}
	return content.Data, nil
}

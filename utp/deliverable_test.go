package utp_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// TestDeliverable: the card in its stored form (UTP, "Cards"), and read again.
func TestDeliverable(t *testing.T) {
	t.Parallel()
	card, err := utp.NewDeliverable(utp.Deliverable{
		ID: "card_1", Project: "home", AuthorID: "tidy", CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Lineage: utp.Lineage{TurnID: "turn_1", StepID: "step_1"}, Fields: []utp.Field{{Name: "title", Value: jsontext.Value(`"T"`)}}, Partial: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	const content = `{"__type__":"JsonContent","data":{"fields":[{"name":"title","value":"T"}]}}`
	const metadata = `{"type":"task.deliverable","project_id":"home","author_id":"tidy","created_at":"2026-03-01T12:00:00.000000+00:00","role":"assistant","partial":true,"agent_turn_id":"turn_1","step_id":"step_1"}`
	if string(card.Content) != content || string(card.Metadata) != metadata || card.Type != "task.deliverable" {
		t.Errorf("%s\n%s", card.Content, card.Metadata)
	}
	fields, err := utp.DecodeDeliverable(card)
	if err != nil || len(fields) != 1 || fields[0].Name != "title" || string(fields[0].Value) != `"T"` {
		t.Errorf("%v: %+v", err, fields)
	}
	card.Type = utp.CardToolResult
	if _, err := utp.DecodeDeliverable(card); err == nil {
		t.Error("another card was read")
	}
}

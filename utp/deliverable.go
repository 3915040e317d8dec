package utp

import "time"

// CardDeliverable is the type of the card that stores a turn's result (UTP, "Cards").
const CardDeliverable = "task.deliverable"

const typeJSON = "JsonContent"

// Deliverable is the result of a turn as named fields: a task.deliverable card.
type Deliverable struct {
	ID        string
	Project   string
	AuthorID  string // the agent
	CreatedAt time.Time
	Lineage   Lineage
	Fields    []Field
	// Partial means that the agent's work is incomplete.
	Partial bool
}

type deliverableContent struct {
	Type string `json:"__type__"` //nolint:tagliatelle // the name on the wire
	Data struct {
		Fields []Field `json:"fields"`
	} `json:"data"`
}

type deliverableMetadata struct {
	Type      string `json:"type"`
	ProjectID string `json:"project_id"`
	AuthorID  string `json:"author_id"`
	CreatedAt string `json:"created_at"`
	Role      string `json:"role"`
	Partial   bool   `json:"partial,omitzero"`

	Lineage
}

// NewDeliverable creates the card. The error is a [*CardError].
func NewDeliverable(f Deliverable) (Card, error) {
	c := Card{ID: f.ID, Project: f.Project, Type: CardDeliverable, AuthorID: f.AuthorID, CreatedAt: cardInstant(f.CreatedAt)}
	content := deliverableContent{Type: typeJSON}
	content.Data.Fields = f.Fields
	return seal(c, f.Lineage, content, deliverableMetadata{
		Type: CardDeliverable, ProjectID: f.Project, AuthorID: f.AuthorID, CreatedAt: c.CreatedAt.Format(cardTime),
		Role: "assistant", Partial: f.Partial, Lineage: f.Lineage,
	})
}

// DecodeDeliverable returns the fields of such a card.
func DecodeDeliverable(c Card) ([]Field, error) {
	if c.Type != CardDeliverable {
		return nil, c.wrong("type", Shown(c.Type), CardDeliverable, nil)
	}
	var content deliverableContent
	if err := c.decode("content", c.Content, &content); err != nil {
		return nil, err
	}
	return content.Data.Fields, c.expectContent(content.Type, typeJSON)
}

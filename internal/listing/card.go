package listing

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/utp"
)

// Card is what is said of a card.
type Card struct {
	ID       string         `json:"card_id"`
	Type     string         `json:"type"`
	Author   string         `json:"author_id"`
	Call     string         `json:"tool_call_id"`
	Created  time.Time      `json:"created_at"`
	Content  jsontext.Value `json:"content"`
	Metadata jsontext.Value `json:"metadata"`
}

// Turn returns the turn that wrote the card; "" if it does not say.
func (c Card) Turn() string { return utp.Card{Metadata: c.Metadata}.TurnID() }

// CardOf reads what is shown; a member that is missing stays empty.
func CardOf(raw jsontext.Value) Card {
	if c, err := utp.DecodeCard(raw); err == nil {
		return Card{ID: c.ID, Type: c.Type, Author: c.AuthorID, Call: c.ToolCallID, Created: c.CreatedAt, Content: c.Content, Metadata: c.Metadata}
	}
	var c Card
	_ = json.Unmarshal(raw, &c)
	return c
}

// CardLine tells of a card in a line.
func (p Printer) CardLine(c Card) string {
	return strings.Join([]string{c.ID, cause.OneLine(c.Type), c.Call, p.Time(c.Created)}, ", ") + "."
}

// Card shows a card in full.
func (p Printer) Card(raw jsontext.Value) {
	c := CardOf(raw)
	p.Field("Card", c.ID)
	p.Field("Type", c.Type)
	p.Field("Author", c.Author)
	p.Field("Turn", c.Turn())
	p.Field("Call", c.Call)
	p.Since("Created", c.Created)
	p.Document("Content", c.Content)
	p.Document("Metadata", c.Metadata)
}

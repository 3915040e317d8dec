package utp

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The types of cards that UTP itself defines.
const (
	CardToolCall   = "tool.call"
	CardToolResult = "tool.result"
)

// cardTime is ISO 8601 in UTC with microseconds and an offset, as peers write it.
const cardTime = "2006-01-02T15:04:05.000000-07:00"

// Card is one immutable entry of the card store (UTP, "Cards"). Type, AuthorID and CreatedAt repeat the metadata, so
// that a store can index them.
type Card struct {
	ID         string
	Project    string
	Type       string
	AuthorID   string
	CreatedAt  time.Time // to the microsecond, UTC
	ToolCallID string    // "" for cards that belong to no call
	// Content is an object with `__type__`.
	Content jsontext.Value
	// Metadata is an object with at least type, project_id, author_id and created_at.
	Metadata jsontext.Value
}

// CardError describes what is wrong with a card.
type CardError struct {
	Reason   Code
	Card     string
	Field    string
	Found    string
	Expected string
	Err      error
}

func (e *CardError) Error() string {
	return "card " + Shown(e.Card) + ": " + e.Field + " is " + e.Found + "; expected " + e.Expected
}

func (e *CardError) Unwrap() error { return e.Err }

// Code is the reason: bad_request, invalid_card_type or tool_call_id_mismatch.
func (e *CardError) Code() Code { return e.Reason }

// row is a card as a JSON object with the names of its database columns.
type row struct {
	ID         string         `json:"card_id"`
	Project    string         `json:"tenant_id"`
	ToolCallID string         `json:"tool_call_id,omitzero"`
	Content    jsontext.Value `json:"content"`
	Metadata   jsontext.Value `json:"metadata"`
}

// EncodeCard writes a card as a JSON object with the names of its database columns: card_id, tenant_id, tool_call_id,
// content and metadata. Numbers and strings of the content keep their literal form. The error is a [*CardError].
func EncodeCard(c Card) ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return marshal(row{ID: c.ID, Project: c.Project, ToolCallID: c.ToolCallID, Content: c.Content, Metadata: c.Metadata})
}

// DecodeCard reads what [EncodeCard] writes. The error is a [*CardError].
func DecodeCard(raw []byte) (Card, error) {
	var r row
	if err := json.Unmarshal(raw, &r); err != nil {
		return Card{}, &CardError{Reason: CodeBadRequest, Field: "the card", Found: "malformed", Expected: "a JSON object", Err: err}
	}
	c := Card{ID: r.ID, Project: r.Project, ToolCallID: r.ToolCallID, Content: r.Content, Metadata: r.Metadata}
	m, err := c.mandatory()
	if err != nil {
		return Card{}, err
	}
	c.Type, c.AuthorID, c.CreatedAt = m.Type, m.AuthorID, m.created
	if err := c.Validate(); err != nil {
		return Card{}, err
	}
	return c, nil
}

// mandatory are the four required members of every card's metadata.
type mandatory struct {
	Type      string `json:"type"`
	ProjectID string `json:"project_id"`
	AuthorID  string `json:"author_id"`
	CreatedAt string `json:"created_at"`

	created time.Time
}

func (c Card) mandatory() (mandatory, error) {
	var m mandatory
	if err := c.decode("metadata", c.Metadata, &m); err != nil {
		return m, err
	}
	t, err := time.Parse(time.RFC3339Nano, m.CreatedAt)
	if err != nil {
		return m, c.wrong("metadata.created_at", Shown(m.CreatedAt), "a time with an offset", err)
	}
	m.created = t.UTC().Truncate(time.Microsecond)
	return m, nil
}

// Validate checks the ids, that content and metadata are objects, that the content has a `__type__`, and that the
// metadata agrees with the card. The error is a [*CardError].
func (c Card) Validate() error {
	if err := c.validateFrame(); err != nil {
		return err
	}
	var content struct {
		Type string `json:"__type__"` //nolint:tagliatelle // the name on the wire
	}
	if err := c.decode("content", c.Content, &content); err != nil {
		return err
	}
	if content.Type == "" {
		return c.wrong("content.__type__", "missing", "the type of the content", nil)
	}
	return nil
}

// validateFrame checks everything but the content, which can be large and is read only once.
func (c Card) validateFrame() error {
	for _, id := range []struct{ name, value string }{
		{"the id", c.ID}, {"the type", c.Type}, {"the author", c.AuthorID},
	} {
		if !validID(id.value) {
			return c.wrong(id.name, Shown(id.value), idRule, nil)
		}
	}
	if !ValidToken(c.Project) {
		return c.wrong("the project", Shown(c.Project), alphabetRule, nil)
	}
	if c.ToolCallID != "" && !validID(c.ToolCallID) {
		return c.wrong("the call", Shown(c.ToolCallID), idRule, nil)
	}
	return c.validateMetadata()
}

func (c Card) validateMetadata() error {
	m, err := c.mandatory()
	if err != nil {
		return err
	}
	switch {
	case m.Type != c.Type:
		return c.wrong("metadata.type", Shown(m.Type), Shown(c.Type), nil)
	case m.ProjectID != c.Project:
		return c.wrong("metadata.project_id", Shown(m.ProjectID), Shown(c.Project), nil)
	case m.AuthorID != c.AuthorID:
		return c.wrong("metadata.author_id", Shown(m.AuthorID), Shown(c.AuthorID), nil)
	case !m.created.Equal(c.CreatedAt):
		return c.wrong("metadata.created_at", Shown(m.CreatedAt), Shown(c.CreatedAt.UTC().Format(cardTime)), nil)
	default:
		return nil
	}
}

// decode reads the content or the metadata of a card.
func (c Card) decode(name string, raw jsontext.Value, into any) error {
	if raw.Kind() != jsontext.KindBeginObject {
		return c.wrong(name, "not an object", "a JSON object", nil)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return c.wrong(name, "malformed: "+clip(err.Error()), "what its type demands", err)
	}
	return nil
}

// expect checks the frame of a card of a call, and its type.
func (c Card) expect(cardType string) error {
	if err := c.validateFrame(); err != nil {
		return err
	}
	if c.Type != cardType {
		return &CardError{Reason: CodeInvalidCardType, Card: c.ID, Field: "the type", Found: Shown(c.Type), Expected: cardType}
	}
	if c.ToolCallID == "" {
		return c.wrong("the call", "nothing", "the id of the call", nil)
	}
	return nil
}

// expectContent checks the `__type__` of decoded content.
func (c Card) expectContent(found, expected string) error {
	if found == expected {
		return nil
	}
	return &CardError{Reason: CodeInvalidCardType, Card: c.ID, Field: "content.__type__", Found: Shown(found), Expected: expected}
}

// sameCall checks that a call in the metadata is the card's call.
func (c Card) sameCall(inMetadata string) error {
	if inMetadata == "" || inMetadata == c.ToolCallID {
		return nil
	}
	return &CardError{
		Reason: CodeToolCallIDMismatch, Card: c.ID, Field: "metadata.tool_call_id", Found: Shown(inMetadata), Expected: Shown(c.ToolCallID),
	}
}

func (c Card) wrong(field, found, expected string, err error) error {
	return &CardError{Reason: CodeBadRequest, Card: c.ID, Field: field, Found: found, Expected: expected, Err: err}
}

// marshal writes JSON and keeps the literal form of the strings in raw values.
func marshal(v any) (jsontext.Value, error) {
	out, err := json.Marshal(v, jsontext.PreserveRawStrings(true))
	if err != nil {
		return nil, fmt.Errorf("card: %w", err)
	}
	return out, nil
}

// TurnID returns the turn in the card's lineage (metadata.agent_turn_id); "" if it has none or cannot be read.
func (c Card) TurnID() string {
	var m struct {
		TurnID string `json:"agent_turn_id"`
	}
	if json.Unmarshal(c.Metadata, &m) != nil {
		return ""
	}
	return m.TurnID
}

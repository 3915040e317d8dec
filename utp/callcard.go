package utp

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	typeToolCall = "ToolCallContent"
	calledStatus = "called"
)

// CallCard is the content of a tool.call card (UTP, "Cards").
type CallCard struct {
	ID         string
	Project    string
	AuthorID   string // the agent's id
	CreatedAt  time.Time
	ToolCallID string
	ToolName   string
	// Arguments is an object; its numbers and strings keep their literal form.
	Arguments jsontext.Value
	// TargetSubject is where the command is sent; "" is null, for calls that no service handles.
	TargetSubject string
	Lineage       Lineage

	// The changes that [Resolve] made to the arguments.
	DefaultsApplied []string
	FixedApplied    []string
	Envs            map[string]string

	DispatchRequestedAt time.Time // zero if unknown
}

type callContent struct {
	Type          string         `json:"__type__"` //nolint:tagliatelle // the name on the wire
	ToolName      string         `json:"tool_name"`
	Arguments     jsontext.Value `json:"arguments"`
	Status        string         `json:"status"`
	TargetSubject *string        `json:"target_subject"`
}

type callMetadata struct {
	cardBase

	DefaultsApplied     []string          `json:"tool_args_defaults_applied,omitempty"`
	FixedApplied        []string          `json:"tool_args_fixed_applied,omitempty"`
	Envs                map[string]string `json:"tool_args_envs,omitempty"`
	DispatchRequestedAt string            `json:"dispatch_requested_at,omitzero"`
}

// NewToolCall creates the tool.call card. The error is a [*CardError].
func NewToolCall(f CallCard) (Card, error) {
	c := Card{
		ID: f.ID, Project: f.Project, Type: CardToolCall, AuthorID: f.AuthorID,
		CreatedAt: cardInstant(f.CreatedAt), ToolCallID: f.ToolCallID,
	}
	if err := f.validate(c); err != nil {
		return Card{}, err
	}
	content := callContent{Type: typeToolCall, ToolName: f.ToolName, Arguments: f.Arguments, Status: calledStatus}
	if f.TargetSubject != "" {
		content.TargetSubject = &f.TargetSubject
	}
	metadata := callMetadata{
		cardBase: cardBase{
			Type: CardToolCall, ProjectID: f.Project, AuthorID: f.AuthorID,
			CreatedAt: c.CreatedAt.Format(cardTime), ToolCallID: f.ToolCallID, Lineage: f.Lineage,
		},
		DefaultsApplied: f.DefaultsApplied, FixedApplied: f.FixedApplied, Envs: f.Envs,
	}
	if !f.DispatchRequestedAt.IsZero() {
		metadata.DispatchRequestedAt = cardInstant(f.DispatchRequestedAt).Format(cardTime)
	}
	return seal(c, f.Lineage, content, metadata)
}

func (f CallCard) validate(c Card) error {
	if !validID(f.ToolCallID) {
		return c.wrong("the call", Shown(f.ToolCallID), idRule, nil)
	}
	if !validID(f.ToolName) {
		return c.wrong("content.tool_name", Shown(f.ToolName), idRule, nil)
	}
	if f.Arguments.Kind() != jsontext.KindBeginObject {
		return c.wrong("content.arguments", "not an object", "a JSON object", nil)
	}
	if f.TargetSubject != "" {
		if _, err := ParseSubject(f.TargetSubject); err != nil {
			return c.wrong("content.target_subject", Shown(f.TargetSubject), "a subject", err)
		}
	}
	return nil
}

// DecodeToolCall reads a tool.call card, including those of third-party workers: unknown members are ignored, and
// lineage may be missing if the command's headers have it. The error is a [*CardError].
func DecodeToolCall(c Card) (CallCard, error) {
	if err := c.expect(CardToolCall); err != nil {
		return CallCard{}, err
	}
	var content callContent
	if err := c.decode("content", c.Content, &content); err != nil {
		return CallCard{}, err
	}
	if err := c.expectContent(content.Type, typeToolCall); err != nil {
		return CallCard{}, err
	}
	var metadata callMetadata
	if err := c.decode("metadata", c.Metadata, &metadata); err != nil {
		return CallCard{}, err
	}
	if err := c.sameCall(metadata.ToolCallID); err != nil {
		return CallCard{}, err
	}
	f := CallCard{
		ID: c.ID, Project: c.Project, AuthorID: c.AuthorID, CreatedAt: c.CreatedAt, ToolCallID: c.ToolCallID,
		ToolName: content.ToolName, Arguments: content.Arguments, Lineage: metadata.Lineage,
		DefaultsApplied: metadata.DefaultsApplied, FixedApplied: metadata.FixedApplied, Envs: metadata.Envs,
	}
	if content.TargetSubject != nil {
		f.TargetSubject = *content.TargetSubject
	}
	if t := metadata.DispatchRequestedAt; t != "" {
		at, err := time.Parse(time.RFC3339Nano, t)
		if err != nil {
			return CallCard{}, c.wrong("metadata.dispatch_requested_at", Shown(t), "a time with an offset", err)
		}
		f.DispatchRequestedAt = cardInstant(at)
	}
	if err := f.validate(c); err != nil {
		return CallCard{}, err
	}
	return f, nil
}

package utp

import "time"

// Lineage identifies the origin of a call. A tool.result copies it from its tool.call (U-19).
type Lineage struct {
	TurnID string `json:"agent_turn_id"`
	// StepID is the step that requested the call. It is required, because some workers fail the whole turn if a result
	// lacks it.
	StepID       string `json:"step_id"`
	TraceID      string `json:"trace_id,omitzero"` // 32 hex digits
	ParentStepID string `json:"parent_step_id,omitzero"`
}

// validate checks the ids.
func (l Lineage) validate(c Card) error {
	for _, id := range []struct{ name, value string }{{"metadata.agent_turn_id", l.TurnID}, {"metadata.step_id", l.StepID}} {
		if !validID(id.value) {
			return c.wrong(id.name, Shown(id.value), idRule, nil)
		}
	}
	if l.ParentStepID != "" && !validID(l.ParentStepID) {
		return c.wrong("metadata.parent_step_id", Shown(l.ParentStepID), idRule, nil)
	}
	if l.TraceID != "" {
		if _, err := ParseTraceID(l.TraceID); err != nil {
			return c.wrong("metadata.trace_id", Shown(l.TraceID), "a trace id", err)
		}
	}
	return nil
}

// Or fills in missing fields from other: the command's headers replace the lineage that a card lacks.
func (l Lineage) Or(other Lineage) Lineage {
	return Lineage{
		TurnID:       orDefault(l.TurnID, other.TurnID),
		StepID:       orDefault(l.StepID, other.StepID),
		TraceID:      orDefault(l.TraceID, other.TraceID),
		ParentStepID: orDefault(l.ParentStepID, other.ParentStepID),
	}
}

// cardBase holds the metadata members that both cards of a call have.
type cardBase struct {
	Type       string `json:"type"`
	ProjectID  string `json:"project_id"`
	AuthorID   string `json:"author_id"`
	CreatedAt  string `json:"created_at"`
	ToolCallID string `json:"tool_call_id"`

	Lineage
}

// seal creates the card and validates it.
func seal(c Card, l Lineage, content, metadata any) (Card, error) {
	if c.CreatedAt.IsZero() {
		return Card{}, c.wrong("metadata.created_at", "nothing", "the time of its making", nil)
	}
	if err := l.validate(c); err != nil {
		return Card{}, err
	}
	var err error
	if c.Content, err = marshal(content); err != nil {
		return Card{}, c.wrong("content", "malformed: "+clip(err.Error()), "valid JSON", err)
	}
	if c.Metadata, err = marshal(metadata); err != nil {
		return Card{}, c.wrong("metadata", "malformed: "+clip(err.Error()), "valid JSON", err)
	}
	if err := c.validateFrame(); err != nil {
		return Card{}, err
	}
	return c, nil
}

func cardInstant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

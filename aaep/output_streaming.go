package aaep

import _ "embed" // the example

// TypeOutputStreaming carries a piece of the agent's own text.
const TypeOutputStreaming = "aaep:agent.output.streaming"

//go:embed examples/output.streaming.json
var exampleOutputStreaming string

// OutputStreaming is one chunk of one output (§4.3.3). Position counts the code
// points of that output before this chunk; Complete is true on its last chunk only.
type OutputStreaming struct {
	Chunk        string       `json:"chunk"`    // required, may be empty, at most 16,384 code points
	Position     int64        `json:"position"` // required, from 0
	Complete     bool         `json:"complete"` // required
	CoalesceHint CoalesceHint `json:"coalesce_hint,omitzero"`
	OutputID     string       `json:"output_id,omitzero"`    // absent: the one output of the session
	ContentType  string       `json:"content_type,omitzero"` // absent means text/plain
	Language     string       `json:"language,omitzero"`     // overrides the hints for this chunk
}

// EventType returns [TypeOutputStreaming].
func (OutputStreaming) EventType() string { return TypeOutputStreaming }

// CoalesceHint names the boundary at which a chunk ends.
type CoalesceHint string

// The boundaries of OUT-04, weakest first.
const (
	BoundaryNone       CoalesceHint = "none"
	BoundaryWord       CoalesceHint = "word"
	BoundarySentence   CoalesceHint = "sentence"
	BoundaryParagraph  CoalesceHint = "paragraph"
	BoundaryCompletion CoalesceHint = "completion"
)

package utp

import "github.com/go-json-experiment/json/jsontext"

// The suffixes of an agent's events, `evt.agent.<agent>.<suffix>`, and of its stream, `str.agent.<agent>.chunk` (UTP,
// "Events of agents"). They are hints for followers: sent after the commit, and not part of the record.
const (
	SuffixState = "state"
	SuffixStep  = "step"
	SuffixTask  = "task"
	SuffixChunk = "chunk"
)

// AgentState is the state of an agent's turn: Status is idle, dispatched, running or suspended.
type AgentState struct {
	Agent    string             `json:"agent_id"`
	Turn     string             `json:"agent_turn_id"`
	Status   string             `json:"status"`
	Epoch    int                `json:"turn_epoch"`
	Updated  string             `json:"updated_at"` // RFC 3339, in UTC
	Output   *string            `json:"output_box_id"`
	Metadata AgentStateMetadata `json:"metadata"`
}

// AgentStateMetadata is the agent's current activity: thinking, executing_tool or awaiting_tool_result.
type AgentStateMetadata struct {
	Activity string   `json:"activity,omitzero"`
	Tool     string   `json:"current_tool,omitzero"` // if the turn waits for one call
	Waiting  int      `json:"waiting_tool_count,omitzero"`
	Calls    []string `json:"waiting_tool_call_ids,omitzero"`
	Deadline string   `json:"resume_deadline,omitzero"` // RFC 3339, in UTC
	Error    string   `json:"error,omitzero"`
}

// The phases of a step. A step that is planned has no id yet: the state of its turn tells it.
const (
	PhaseStarted   = "started"
	PhaseExecuting = "executing"
	PhaseCompleted = "completed"
	PhaseFailed    = "failed"
)

// AgentStep is the progress of a step.
type AgentStep struct {
	Turn     string   `json:"agent_turn_id"`
	Step     string   `json:"step_id"`
	Phase    string   `json:"phase"`
	Metadata struct{} `json:"metadata"`
	Cards    []string `json:"new_card_ids"`
}

// AgentTask is the outcome of a turn. What is unknown is null.
type AgentTask struct {
	Turn        string         `json:"agent_turn_id"`
	Status      Status         `json:"status"`
	Output      *string        `json:"output_box_id"`
	Deliverable *string        `json:"deliverable_card_id"`
	Result      *string        `json:"tool_result_card_id"`
	Box         jsontext.Value `json:"output_box"`
	Error       *string        `json:"error"`
	Code        *Code          `json:"error_code"`
	Stats       AgentStats     `json:"stats"`
}

// AgentStats are the statistics of a turn.
type AgentStats struct {
	DurationMS int64 `json:"duration_ms"`
}

// The types of a chunk. A text may start again, from its beginning, when its agent has been started again.
const (
	ChunkStart   = "start"
	ChunkContent = "content"
	ChunkEnd     = "end"
)

// AgentChunk is a piece of an agent's text, or where the text starts or ends.
type AgentChunk struct {
	Turn    string `json:"agent_turn_id"`
	Step    string `json:"step_id,omitzero"`
	Type    string `json:"chunk_type"`
	Content string `json:"content,omitzero"`
	Index   int64  `json:"index,omitzero"` // the byte offset in the step's text
}

// AgentEvent returns the subject of an agent's event, or of a piece of its stream. The error is a [*SubjectError].
func AgentEvent(project, channel, agent, suffix string) (Subject, error) {
	s := Subject{
		Version: Version, Project: project, Channel: channel,
		Category: CategoryEvent, Component: ComponentAgent, Target: agent, Suffix: suffix,
	}
	if suffix == SuffixChunk {
		s.Category = CategoryStream
	}
	return s, s.Validate()
}

package api

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// ClaimRequest asks for work of an agent. Worker is a nonce of the worker process.
type ClaimRequest struct {
	Agent  string `json:"agent"`
	Worker string `json:"worker"`
}

// ClaimAnswer is a turn, or nothing when Turn is empty.
type ClaimAnswer struct {
	Turn    string         `json:"turn_id,omitzero"`
	Session string         `json:"session_id,omitzero"`
	Epoch   int            `json:"epoch,omitzero"`
	Nonce   string         `json:"nonce,omitzero"`
	Step    int            `json:"step,omitzero"`
	Args    jsontext.Value `json:"args,omitzero"`
	// Suspended: calls of the last step are still open; [OpResume] tells when not.
	Suspended bool `json:"suspended,omitzero"`
	LeaseMS   int  `json:"lease_ms,omitzero"`
	// ResultFields are the names that the answer must have a value for.
	ResultFields []string `json:"result_fields,omitzero"`
	// ReportedText is what has been told of the step that is planned now.
	ReportedText ReportedText `json:"said,omitzero"`
}

// WorkerRequest is how its worker addresses the claimed turn.
func (a ClaimAnswer) WorkerRequest(worker string) WorkerRequest {
	return WorkerRequest{Turn: a.Turn, Epoch: a.Epoch, Worker: worker, Nonce: a.Nonce}
}

// WorkerRequest addresses a held turn: renew, resume and release. Nonce names the epoch, as
// [ClaimAnswer] or [ResumeAnswer] gave both: a ledger that has gone back counts the same epochs
// again, under other nonces. A third-party peer need not say it.
type WorkerRequest struct {
	Turn   string `json:"turn_id"`
	Epoch  int    `json:"epoch"`
	Worker string `json:"worker"`
	Nonce  string `json:"nonce,omitzero"`
}

// CallRequest asks for the calls of one step, numbered from 1. Sending it again
// changes nothing.
type CallRequest struct {
	WorkerRequest

	Step  int        `json:"step"`
	Calls []ToolCall `json:"calls"`
}

// ToolCall is one call that a planner wants.
type ToolCall struct {
	// Key is the planner's own name for the call, unique within its step.
	Key  string `json:"key"`
	Tool string `json:"tool"`
	Args Body   `json:"args"`
	// Comment are the agent's own words about it, quoted as such.
	Comment string `json:"says,omitzero"`
	// From and To are the part of the whole work, in percent, that the call stands for.
	From float64 `json:"from,omitzero"`
	To   float64 `json:"to,omitzero"`
	// Question, where it is set, is put to the person instead: Tool is [utp.AskPerson], and
	// Args stay empty. Its result is an [Answered].
	Question *Question `json:"question,omitzero"`
}

// ResumeAnswer tells how many calls of the step are still open; when none is, the turn runs
// again under Epoch and Nonce, and the step's results stand in its transcript: the page of it
// that was asked for comes with the answer. Another step than the worker asked for last says
// that the ledger has gone back: the worker claims again.
type ResumeAnswer struct {
	Step    int    `json:"step,omitzero"`
	Waiting int    `json:"waiting"`
	Ended   bool   `json:"ended,omitzero"`
	Epoch   int    `json:"epoch,omitzero"`
	Nonce   string `json:"nonce,omitzero"`
	LeaseMS int    `json:"lease_ms,omitzero"`

	TranscriptAnswer
}

// CardRequest keeps a tool.call card, in the form of [utp.EncodeCard].
type CardRequest struct {
	Card jsontext.Value `json:"card"`
}

// TranscriptRequest reads the applied results of a turn, in order, after the first
// After of them.
type TranscriptRequest struct {
	WorkerRequest

	After int `json:"after"`
	// Args asks for the arguments of the calls as well.
	Args bool `json:"args,omitzero"`
}

// TranscriptAnswer is a page of results; More says that there are others.
type TranscriptAnswer struct {
	Results []CallResult `json:"results,omitzero"`
	More    bool         `json:"more,omitzero"`
}

// CallResult is the result of one call as a planner sees it.
type CallResult struct {
	Key    string     `json:"key"`
	Call   string     `json:"call_id"`
	Tool   string     `json:"tool"`
	Status utp.Status `json:"status"`
	Code   utp.Code   `json:"code,omitzero"`
	// Message says more about a result that is not a success.
	Message string `json:"message,omitzero"`
	Result  Body   `json:"result,omitzero"`
	// Step is the id of the step that asked for the call; Args are its arguments, where
	// they were asked for, as they ran.
	Step string `json:"step_id,omitzero"`
	Args Body   `json:"args,omitzero"`
}

// DeliverRequest ends a turn with the agent's own word.
type DeliverRequest struct {
	WorkerRequest

	Status utp.Status `json:"status"`
	Code   utp.Code   `json:"code,omitzero"`
	// Output is the answer itself, in full sentences; Summary is its first line.
	Summary string `json:"summary"`
	Output  string `json:"output,omitzero"`
	// Fields are the result by name; those that the turn requires must be there once each.
	Fields []utp.Field `json:"fields,omitzero"`
	// Handoff asks that somebody else takes over.
	Handoff *Handoff `json:"handoff,omitzero"`
}

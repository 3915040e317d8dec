package api

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// ClaimRequest asks for a turn of an agent. Worker is a nonce of the worker process.
type ClaimRequest struct {
	Agent  string `json:"agent"`
	Worker string `json:"worker"`
}

// ClaimAnswer is a turn; an empty Turn means that there is none.
type ClaimAnswer struct {
	Turn    string         `json:"turn_id,omitzero"`
	Session string         `json:"session_id,omitzero"`
	Epoch   int            `json:"epoch,omitzero"`
	Nonce   string         `json:"nonce,omitzero"`
	Step    int            `json:"step,omitzero"`
	Args    jsontext.Value `json:"args,omitzero"`
	// Suspended reports that calls of the last step are still open; [OpResume] reports when they have ended.
	Suspended bool `json:"suspended,omitzero"`
	LeaseMS   int  `json:"lease_ms,omitzero"`
	// ResultFields are the names of the fields that the answer must have.
	ResultFields []string `json:"result_fields,omitzero"`
	// ReportedText is what has been reported of the step that is now planned.
	ReportedText ReportedText `json:"said,omitzero"`
	// Depth counts the agents above this one. DeadlineMS is how much time the turn has left; 0 is no limit.
	Depth      int   `json:"depth,omitzero"`
	DeadlineMS int64 `json:"deadline_ms,omitzero"`
	// Traceparent has the trace id of the turn, which is in every message of it and in the rows of its inbox.
	Traceparent string `json:"traceparent,omitzero"`
	// The turn that has begun this one, if one has, as its messages name it: its agent, its own id, the step whose call began it,
	// and its trace.
	ParentAgent       string `json:"parent_agent_id,omitzero"`
	ParentTurn        string `json:"parent_agent_turn_id,omitzero"`
	ParentStep        string `json:"parent_step_id,omitzero"`
	ParentTraceparent string `json:"parent_traceparent,omitzero"`

	Boxes
}

// WorkerRequest returns what identifies the claimed turn in the worker's requests.
func (a ClaimAnswer) WorkerRequest(worker string) WorkerRequest {
	return WorkerRequest{Turn: a.Turn, Epoch: a.Epoch, Worker: worker, Nonce: a.Nonce}
}

// WorkerRequest identifies a claimed turn: renew, resume and release. Nonce identifies the epoch, as [ClaimAnswer] or
// [ResumeAnswer] gave both: a restored ledger uses the same epochs again, with other nonces. A third-party peer may
// omit it.
type WorkerRequest struct {
	Turn   string `json:"turn_id"`
	Epoch  int    `json:"epoch"`
	Worker string `json:"worker"`
	Nonce  string `json:"nonce,omitzero"`
}

// CallRequest requests the calls of one step, numbered from 1. Repeating it changes nothing.
type CallRequest struct {
	WorkerRequest

	Step  int        `json:"step"`
	Calls []ToolCall `json:"calls"`
	// Data is the agent's own data about the step: an object of at most [StepDataLimit] bytes. The kernel saves it with
	// the step, does not read it, and returns it in the transcript.
	Data Body `json:"data,omitzero"`
}

// StepDataLimit limits [CallRequest].Data.
const StepDataLimit = 4 << 20

// ToolCall is one call that a planner wants.
type ToolCall struct {
	// Key is the planner's name for the call, unique within its step.
	Key  string `json:"key"`
	Tool string `json:"tool"`
	Args Body   `json:"args"`
	// Comment is the agent's own text about the call, quoted as such. Lang is its language, as a BCP 47 tag; "" if the
	// agent does not say it.
	Comment string `json:"says,omitzero"`
	Lang    string `json:"lang,omitzero"`
	// From and To are the part of the whole work that the call covers, in percent.
	From float64 `json:"from,omitzero"`
	To   float64 `json:"to,omitzero"`
	// Question, if set, is asked instead: Tool is [utp.AskPerson], and Args stay empty. Its result is an [Answered].
	Question *Question `json:"question,omitzero"`
}

// ResumeAnswer says how many calls of the step are still open. If none is, the turn runs again under Epoch and Nonce,
// and the step's results are in its transcript; the answer includes the requested page of it. If the step is not the
// one that the worker requested last, the ledger was restored, and the worker claims again.
type ResumeAnswer struct {
	Step    int    `json:"step,omitzero"`
	Waiting int    `json:"waiting"`
	Ended   bool   `json:"ended,omitzero"`
	Epoch   int    `json:"epoch,omitzero"`
	Nonce   string `json:"nonce,omitzero"`
	LeaseMS int    `json:"lease_ms,omitzero"`

	TranscriptAnswer
}

// CardRequest stores a card that a worker writes, in the form of [utp.EncodeCard]: a tool.call card, or one of a type that it
// adds to its turn. Box is the output box of the turn, if an added card is to be put there.
type CardRequest struct {
	Card jsontext.Value `json:"card"`
	Box  string         `json:"box_id,omitzero"`
}

// TranscriptRequest reads the applied results of a turn, in order, after the first After of them.
type TranscriptRequest struct {
	WorkerRequest

	After int `json:"after"`
	// Args asks for the arguments of the calls as well.
	Args bool `json:"args,omitzero"`
}

// TranscriptAnswer is a page of results; More reports that others follow.
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
	// Message explains a result that is not a success.
	Message string `json:"message,omitzero"`
	Result  Body   `json:"result,omitzero"`
	// Step is the id of the step that requested the call; Args are the arguments that it ran with, if they were
	// requested.
	Step string `json:"step_id,omitzero"`
	Args Body   `json:"args,omitzero"`
	// StepData is the data that the agent gave with the step, if arguments were requested. Only the first result of each
	// step on a page has it.
	StepData Body `json:"step_data,omitzero"`
}

// DeliverRequest ends a turn with the agent's result.
type DeliverRequest struct {
	WorkerRequest

	Status utp.Status `json:"status"`
	Code   utp.Code   `json:"code,omitzero"`
	// Output is the answer itself, in full sentences; Summary is its first line.
	Summary string `json:"summary"`
	Output  string `json:"output,omitzero"`
	// Lang is the language of Output, as a BCP 47 tag; "" if the agent does not say it.
	Lang string `json:"lang,omitzero"`
	// Fields are the named parts of the result; each field that the turn requires must be there exactly once.
	Fields []utp.Field `json:"fields,omitzero"`
	// Handoff asks for someone else to take over.
	Handoff *Handoff `json:"handoff,omitzero"`
}

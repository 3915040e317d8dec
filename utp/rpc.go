package utp

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The operations of the kernel, requested over NATS as
// `earshot.v1.<project>.kernel.<op>` (call protocol, "Who writes what, when"). Which
// kind of peer may ask which is the bus's table of credentials.
const (
	// Asked by agent workers.
	OpClaim      = "claim"
	OpRenew      = "renew"
	OpCall       = "call"
	OpCard       = "card"
	OpTranscript = "transcript"
	OpResume     = "resume"
	OpDeliver    = "deliver"
	// Asked by tool services.
	OpRegister  = "register"
	OpStart     = "start"
	OpBeat      = "beat"
	OpFinish    = "finish"
	OpReconcile = "reconcile"
	OpSettle    = "settle"
	// Asked by both.
	OpPut = "put"
	OpGet = "get"
	// Asked by hubs, for people.
	OpEnqueue   = "enqueue"
	OpSessions  = "sessions"
	OpEvents    = "events"
	OpQuestions = "questions"
	OpArguments = "arguments"
	OpAnswer    = "answer"
	OpExtend    = "extend"
	OpStop      = "stop"
	OpUndo      = "undo"
	OpAbsent    = "absent"
)

// The suffixes of the two notices that the kernel sends to a service on its command
// subject, with the call in [HeaderToolCallID]: to end a running call, and to find
// out what became of a lapsed one.
const (
	SuffixCancel    = "cancel"
	SuffixReconcile = "reconcile"
)

const (
	// InlineLimit is the largest value, in bytes of JSON, that travels and is kept
	// inside a message; a larger one is content-addressed and paged.
	InlineLimit = 256 << 10
	// ChunkLimit is the most bytes of a blob in one put or get.
	ChunkLimit = 256 << 10
	// BlobLimit is the largest value at all.
	BlobLimit = 64 << 20
	// MessageLimit is the most that one message may hold.
	MessageLimit = 512 << 10
)

// Fault is the refusal of an operation: `{"error":{"code","message","safe_to_retry"}}`.
type Fault struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Retry says that the same request may be sent again without a second effect.
	Retry bool `json:"safe_to_retry"`
}

func (f *Fault) Error() string { return string(f.Code) + ": " + f.Message }

// SafeToRetry answers whether the same request may be sent again.
func (f *Fault) SafeToRetry() bool { return f.Retry }

// verbatim keeps the literal form of the strings in raw values: what was consented to
// is handed out as it is.
var verbatim = jsontext.PreserveRawStrings(true)

type answer struct {
	OK    jsontext.Value `json:"ok,omitzero"`
	Error *Fault         `json:"error,omitzero"`
}

// EncodeAnswer writes `{"ok":value}`, or `{"error":…}` when err is not nil. An error
// that is no [*Fault] becomes internal_error.
func EncodeAnswer(value any, err error) []byte {
	if err == nil {
		raw, merr := json.Marshal(value, verbatim)
		if merr == nil {
			out, _ := json.Marshal(answer{OK: raw}, verbatim)
			return out
		}
		err = merr
	}
	var fault *Fault
	if !errors.As(err, &fault) {
		fault = &Fault{Code: CodeInternalError, Message: err.Error()}
	}
	out, _ := json.Marshal(answer{Error: fault})
	return out
}

// DecodeAnswer reads an answer into the value, or returns its [*Fault].
func DecodeAnswer(raw []byte, into any) error {
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return fmt.Errorf("answer of the kernel: %w", err)
	}
	if a.Error != nil {
		return a.Error
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(a.OK, into); err != nil {
		return fmt.Errorf("answer of the kernel: %w", err)
	}
	return nil
}

// Body is a JSON value: inline up to [InlineLimit], above that named by its hash and
// fetched with [OpGet].
type Body struct {
	Inline jsontext.Value `json:"inline,omitzero"`
	SHA256 string         `json:"sha256,omitzero"`
	Size   int64          `json:"size,omitzero"`
}

// PutRequest uploads a piece of a blob. Pieces come in order; the last one makes
// Offset+len(Data) equal Size and is checked against the hash.
type PutRequest struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Offset int64  `json:"offset"`
	Data   []byte `json:"data"`
}

// GetRequest asks for at most [ChunkLimit] bytes of a blob from Offset on.
type GetRequest struct {
	SHA256 string `json:"sha256"`
	Offset int64  `json:"offset"`
}

// GetAnswer is a piece of a blob of Size bytes.
type GetAnswer struct {
	Size int64  `json:"size"`
	Data []byte `json:"data"`
}

// EnqueueRequest starts a turn of an agent for a person.
type EnqueueRequest struct {
	Agent string         `json:"agent"`
	Args  jsontext.Value `json:"args"`
	// Request is what the person asked for, in words.
	Request string `json:"request,omitzero"`
	// Answer is how long questions stay open, in seconds; 0 leaves it to the tool.
	Answer int `json:"answer_seconds,omitzero"`
}

// EnqueueAnswer names the new turn and its session.
type EnqueueAnswer struct {
	Turn    string `json:"turn_id"`
	Session string `json:"session_id"`
}

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
	Step    int            `json:"step,omitzero"`
	Args    jsontext.Value `json:"args,omitzero"`
	// Suspended: calls of the last step are still open; [OpResume] tells when not.
	Suspended bool `json:"suspended,omitzero"`
	LeaseMS   int  `json:"lease_ms,omitzero"`
}

// WorkerRequest addresses a held turn: renew and resume.
type WorkerRequest struct {
	Turn   string `json:"turn_id"`
	Epoch  int    `json:"epoch"`
	Worker string `json:"worker"`
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
	// Key is the planner's own name for the call, unique within its turn.
	Key  string `json:"key"`
	Tool string `json:"tool"`
	Args Body   `json:"args"`
	// Says are the agent's own words about it, quoted as such.
	Says string `json:"says,omitzero"`
	// From and To are the part of the whole work, in percent, that the call stands for.
	From float64 `json:"from,omitzero"`
	To   float64 `json:"to,omitzero"`
}

// ResumeAnswer tells how many calls are still open; when none is, the turn runs again
// under Epoch and the step's results stand in its transcript.
type ResumeAnswer struct {
	Waiting int  `json:"waiting"`
	Ended   bool `json:"ended,omitzero"`
	Epoch   int  `json:"epoch,omitzero"`
	LeaseMS int  `json:"lease_ms,omitzero"`
}

// CardRequest keeps a tool.call card, in the form of [EncodeCard].
type CardRequest struct {
	Card jsontext.Value `json:"card"`
}

// TranscriptRequest reads the applied results of a turn, in order, after the first
// After of them.
type TranscriptRequest struct {
	WorkerRequest

	After int `json:"after"`
}

// TranscriptAnswer is a page of results; More says that there are others.
type TranscriptAnswer struct {
	Results []CallResult `json:"results,omitzero"`
	More    bool         `json:"more,omitzero"`
}

// CallResult is the result of one call as a planner sees it.
type CallResult struct {
	Key    string `json:"key"`
	Call   string `json:"call_id"`
	Tool   string `json:"tool"`
	Status Status `json:"status"`
	Code   Code   `json:"code,omitzero"`
	// Message says more about a result that is not a success.
	Message string `json:"message,omitzero"`
	Result  Body   `json:"result,omitzero"`
}

// DeliverRequest ends a turn with the agent's own word.
type DeliverRequest struct {
	WorkerRequest

	Status Status `json:"status"`
	Code   Code   `json:"code,omitzero"`
	// Output is the answer itself, in full sentences; Summary is its first line.
	Summary string `json:"summary"`
	Output  string `json:"output,omitzero"`
}

// StartRequest asks to begin a call. Owner is a random nonce of the service process;
// Command is what was received, so that an unknown one can be adopted or refused.
type StartRequest struct {
	Call    string              `json:"call_id"`
	Owner   string              `json:"owner"`
	Boot    string              `json:"boot,omitzero"`
	Subject string              `json:"subject,omitzero"`
	Header  map[string][]string `json:"header,omitzero"`
	Command jsontext.Value      `json:"command,omitzero"`
}

// StartAnswer grants the start: the very bytes that were consented to, and what is
// needed to hold on to it.
type StartAnswer struct {
	Call  string `json:"call_id"`
	Turn  string `json:"turn_id"`
	Tool  string `json:"tool"`
	Args  Body   `json:"args"`
	Fence int    `json:"fence"`
	// Secrets are the values behind the {"$secret":ref} arguments, by ref.
	Secrets map[string]string `json:"secrets,omitzero"`
	// StartBy is the last instant at which an effect may begin.
	StartBy time.Time `json:"start_by"`
	LeaseMS int       `json:"lease_ms"`
	// Stop: the person has stopped the turn since the start was granted, whose answer
	// was lost. Nothing may begin; what had begun is ended and told.
	Stop bool `json:"stop,omitzero"`
}

// OwnerRequest addresses a started call: beat, reconcile.
type OwnerRequest struct {
	Call  string `json:"call_id"`
	Owner string `json:"owner"`
	Fence int    `json:"fence,omitzero"`
}

// BeatRequest renews the lease of a started call. Fraction is the progress from 0 to
// 1; nil says nothing about it.
type BeatRequest struct {
	OwnerRequest

	Fraction *float64 `json:"fraction,omitzero"`
}

// BeatAnswer tells the new lease, and whether the person wants the tool to stop.
type BeatAnswer struct {
	LeaseMS int  `json:"lease_ms"`
	Stop    bool `json:"stop,omitzero"`
}

// FinishRequest records a result. Sending the same one again changes nothing.
type FinishRequest struct {
	OwnerRequest

	Status Status     `json:"status"`
	Result Body       `json:"result,omitzero"`
	Error  *ToolError `json:"error,omitzero"`
}

// ReconcileAnswer is what a service needs to find out what became of a call.
type ReconcileAnswer struct {
	Call string `json:"call_id"`
	Tool string `json:"tool"`
	Args Body   `json:"args"`
}

// SettleRequest is a service's word on a lapsed call: done (with its result),
// not_begun or unknown.
type SettleRequest struct {
	Call   string     `json:"call_id"`
	Fate   string     `json:"fate"`
	Status Status     `json:"status,omitzero"`
	Result Body       `json:"result,omitzero"`
	Error  *ToolError `json:"error,omitzero"`
}

// RegisterRequest offers a tool's definition. A new or changed one is unreviewed.
type RegisterRequest struct {
	Definition Definition `json:"definition"`
}

// EventsRequest reads a session's events after a sequence number.
type EventsRequest struct {
	Session string `json:"session_id"`
	After   int64  `json:"after"`
}

// EventsAnswer is a page of events. More says that there are others; Ended that the
// session has had its last.
type EventsAnswer struct {
	Events []EventRow `json:"events,omitzero"`
	More   bool       `json:"more,omitzero"`
	Ended  bool       `json:"ended,omitzero"`
}

// EventRow is one event of a session's gapless sequence, which begins at 1.
type EventRow struct {
	Seq  int64          `json:"seq"`
	Body jsontext.Value `json:"body"`
}

// SessionsRequest lists sessions, oldest first; Open leaves those out that have ended.
type SessionsRequest struct {
	Open bool `json:"open,omitzero"`
}

// SessionRow is one session in a list.
type SessionRow struct {
	Session string    `json:"session_id"`
	Turn    string    `json:"turn_id"`
	Agent   string    `json:"agent"`
	Status  string    `json:"status"`
	Created time.Time `json:"created"`
}

// QuestionRow is one open question.
type QuestionRow struct {
	Number   int       `json:"number"`
	Session  string    `json:"session_id"`
	Token    string    `json:"reply_token"`
	Deadline time.Time `json:"deadline"`
}

// ArgumentsRequest asks for the arguments that a question is about, as JSON text,
// from a byte on.
type ArgumentsRequest struct {
	Question int   `json:"question"`
	Offset   int64 `json:"offset"`
}

// ReplyRequest answers, extends, stops or undoes. Token or Question names the
// question; Session the session to stop.
type ReplyRequest struct {
	Question int    `json:"question,omitzero"`
	Token    string `json:"reply_token,omitzero"`
	Session  string `json:"session_id,omitzero"`
	// Decision is accept or reject; Response answers a clarification.
	Decision string `json:"decision,omitzero"`
	Response string `json:"response,omitzero"`
	Reason   string `json:"reason,omitzero"`
	// By is the person, Surface where the answer was given, At when it was decided.
	By      string    `json:"by,omitzero"`
	Surface string    `json:"surface,omitzero"`
	At      time.Time `json:"at,omitzero"`
}

// ReplyAnswer says what the ledger now holds.
type ReplyAnswer struct {
	Question   int       `json:"question,omitzero"`
	Resolution string    `json:"resolution"`
	Deadline   time.Time `json:"deadline,omitzero"`
}

package api

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
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
	OpSay        = "say"
	OpRelease    = "release"
	// Asked by tool services.
	OpRegister  = "register"
	OpStart     = "start"
	OpBeat      = "beat"
	OpFinish    = "finish"
	OpReconcile = "reconcile"
	OpSettle    = "settle"
	// Asked by foreign peers, beside claim, renew, card, register and deliver.
	OpCommand = "command"
	OpReport  = "report"
	OpRead    = "read"
	OpInbox   = "inbox"
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
	OpNoticed   = "noticed"
	OpAbsent    = "absent"
	OpSince     = "since"
	OpPresent   = "present"
	OpPrefer    = "prefer"
)

const (
	// InlineLimit is the largest value, in bytes of JSON, that travels and is kept
	// inside a message; a larger one is content-addressed and paged.
	InlineLimit = 256 << 10
	// ChunkLimit is the most bytes of a blob in one put or get.
	ChunkLimit = 256 << 10
	// BlobLimit is the largest value at all.
	BlobLimit = 64 << 20
)

// Fault is the refusal of an operation: `{"error":{"code","message","safe_to_retry"}}`.
type Fault struct {
	Code    utp.Code `json:"code"`
	Message string   `json:"message"`
	// Retry says that the same request may be sent again without a second effect.
	Retry bool `json:"safe_to_retry"`
	// Closed says how a question ended, where a word on it came too late.
	Closed *Closed `json:"closed,omitzero"`
}

// Closed is how a question ended, for whoever comes too late.
type Closed struct {
	Question int `json:"question"`
	// Resolution is accepted, rejected, answered, expired or withdrawn.
	Resolution string `json:"resolution"`
	// By and Surface are who answered and where, if somebody did; At is when it ended.
	By      string    `json:"by,omitzero"`
	Surface string    `json:"surface,omitzero"`
	At      time.Time `json:"at"`
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
		fault = &Fault{Code: utp.CodeInternalError, Message: err.Error()}
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
	// Label says in a few words what it is about, such as "photos/big": the session is named after
	// it. Default the beginning of Request.
	Label string `json:"label,omitzero"`
	// Owner is the person whose turn it is; default the hub's own name.
	Owner string `json:"owner,omitzero"`
	// Answer is how long questions stay open, in seconds; 0 leaves it to the tool.
	Answer int `json:"answer_seconds,omitzero"`
	// ResultFields are the names that the agent's answer must have a value for (contract
	// §20), at most 64.
	ResultFields []string `json:"result_fields,omitzero"`
	// Depth is how many agents called each other to come here; 0 for a person's own request.
	Depth int `json:"depth,omitzero"`
	// Key makes the request one that may be sent again: within a day the same request of the same
	// owner with the same key gives the same turn, and another request is [utp.CodeConflict]. At most
	// [MaxKey] visible ASCII characters; none, and each request begins a turn of its own.
	Key string `json:"idempotency_key,omitzero"`
}

// MaxKey is how long the idempotency key of a request may be.
const MaxKey = 255

// CheckKey refuses an idempotency key that is too long, or has other characters than visible
// ASCII: what a header can carry, and nobody mistakes for another.
func CheckKey(key string) error {
	if len(key) > MaxKey {
		return fmt.Errorf("the idempotency key has %d characters; it may have %d", len(key), MaxKey)
	}
	if i := strings.IndexFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }); i >= 0 {
		return fmt.Errorf("character %d of the idempotency key is not a visible ASCII character", i+1)
	}
	return nil
}

// EnqueueAnswer names the new turn and its session. Repeated says that an earlier request with
// the same key had begun it.
type EnqueueAnswer struct {
	Turn     string `json:"turn_id"`
	Session  string `json:"session_id"`
	Repeated bool   `json:"repeated,omitzero"`
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
	// StartWithinMS is how many milliseconds are left to begin an effect, counted from the instant
	// before the request was sent, on a clock that goes on while the machine sleeps. 0: none.
	StartWithinMS int `json:"start_within_ms"`
	// StartBy is when that is over by the kernel's time of day.
	//
	// Deprecated: two machines need not agree on the time of day. Measure StartWithinMS.
	StartBy time.Time `json:"start_by"`
	// LeaseMS is how long the call is the owner's unless it renews the lease, counted likewise.
	LeaseMS int `json:"lease_ms"`
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

// BeatAnswer tells the new lease, counted from before the beat was sent, and whether the person wants the tool to stop.
type BeatAnswer struct {
	LeaseMS int  `json:"lease_ms"`
	Stop    bool `json:"stop,omitzero"`
}

// FinishRequest records a result. Sending the same one again changes nothing.
type FinishRequest struct {
	OwnerRequest

	Status utp.Status     `json:"status"`
	Result Body           `json:"result,omitzero"`
	Error  *utp.ToolError `json:"error,omitzero"`
}

// ReconcileAnswer is what a service needs to find out what became of a call.
type ReconcileAnswer struct {
	Call string `json:"call_id"`
	Tool string `json:"tool"`
	Args Body   `json:"args"`
	// Lapse says which of the call's lapses it is about; the settlement repeats it.
	Lapse int `json:"lapse"`
}

// SettleRequest is a service's word on a lapsed call: done (with its result), not_begun
// or unknown (with an Error that tells the person what is known). Owner is the nonce of
// the process that says it.
type SettleRequest struct {
	Call   string         `json:"call_id"`
	Owner  string         `json:"owner"`
	Lapse  int            `json:"lapse"`
	Fate   string         `json:"fate"`
	Status utp.Status     `json:"status,omitzero"`
	Result Body           `json:"result,omitzero"`
	Error  *utp.ToolError `json:"error,omitzero"`
}

// RegisterRequest offers a tool's definition. A new or changed one is unreviewed.
type RegisterRequest struct {
	Definition utp.Definition `json:"definition"`
}

// EventsRequest reads a session's events after a sequence number, at most Limit of them
// (0, or one that is too large, is the kernel's own page).
type EventsRequest struct {
	Session string `json:"session_id"`
	After   int64  `json:"after"`
	Limit   int    `json:"limit,omitzero"`
}

// EventsAnswer is a page of events. More says that there are others; Ended that the
// session has had its last.
type EventsAnswer struct {
	Events []EventRow `json:"events,omitzero"`
	More   bool       `json:"more,omitzero"`
	Ended  bool       `json:"ended,omitzero"`
}

// EventRow is one event of a session's gapless sequence, which begins at 1. A broadcast
// names the session and its owner as well; in a page of one session they are left out.
type EventRow struct {
	Seq     int64          `json:"seq"`
	Body    jsontext.Value `json:"body"`
	Session string         `json:"session_id,omitzero"`
	Owner   string         `json:"owner,omitzero"`
}

// SessionsRequest lists sessions, at most Limit of them (0, or one that is too large, is
// the kernel's own page; fewer where their texts fill a message), oldest first. An empty
// answer, and nothing else, says that there are no more. At most one of Session, Token and Question names
// a single one; a name that leads nowhere gives an empty list.
type SessionsRequest struct {
	// Open leaves those out that have ended, Ended those that have not.
	Open  bool `json:"open,omitzero"`
	Ended bool `json:"ended,omitzero"`
	// Newest turns the order round.
	Newest bool `json:"newest,omitzero"`
	// Owners keeps only the sessions of these people; none does not narrow.
	Owners []string `json:"owners,omitzero"`
	// After is the turn_id of the last row that is known: the list goes on behind it.
	After    string `json:"after,omitzero"`
	Limit    int    `json:"limit,omitzero"`
	Session  string `json:"session_id,omitzero"`
	Token    string `json:"reply_token,omitzero"`
	Question int    `json:"question,omitzero"`
}

// SessionRow is one session in a list.
type SessionRow struct {
	Session string `json:"session_id"`
	Turn    string `json:"turn_id"`
	Agent   string `json:"agent"`
	// Name is what people call it: no two open sessions have the same.
	Name    string    `json:"name,omitzero"`
	Owner   string    `json:"owner,omitzero"`
	Status  string    `json:"status"`
	Created time.Time `json:"created"`
	// Request is what the person asked for, Summary the first line of the answer once
	// there is one: both at most 1 KiB here.
	Request string `json:"request,omitzero"`
	Summary string `json:"summary,omitzero"`
	// Last is the number of the session's last event so far, 0 before the first.
	Last  int64 `json:"last"`
	Ended bool  `json:"ended,omitzero"`
	// End is there where a single session was asked for, and has ended.
	End *SessionEnd `json:"end,omitzero"`
}

// SessionEnd is how a session's turn ended, as the ledger has it.
type SessionEnd struct {
	Status utp.Status `json:"status"`
	Code   utp.Code   `json:"code,omitzero"`
	Tally  Tally      `json:"tally"`
	// Fields are the agent's result by name, where it gave one.
	Fields []utp.Field `json:"fields,omitzero"`
}

// Tally counts what became of a turn's calls.
type Tally struct {
	Invoked   int `json:"invoked"`
	Failed    int `json:"failed"`
	Declined  int `json:"declined"`
	Expired   int `json:"expired"`
	Undone    int `json:"undone"`
	Unknown   int `json:"unknown"`
	Effects   int `json:"effects"`
	Cancelled int `json:"cancelled"`
	// Broken are calls that were accepted and then not done through no word of the
	// person: the yes went stale, and the question that came of it ran out.
	Broken int `json:"broken"`
}

// AllFailed answers whether tools were called and none of them did anything: each failed, or was refused.
func (t Tally) AllFailed() bool { return t.Failed > 0 && t.Failed >= t.Invoked && t.Effects == 0 }

// SinceRequest asks which sessions have had events after the one named, in the order of
// the ledger. Without an event it asks about the whole ledger; Now asks only which event
// is the newest. OverlapMS moves the point back by so many milliseconds of the ledger's
// time: what other sessions told shortly before the event counts as after it. Owners keeps
// only the sessions of these people, and only they count for what is too large; none does
// not narrow.
type SinceRequest struct {
	Event     string   `json:"event_id,omitzero"`
	OverlapMS int64    `json:"overlap_ms,omitzero"`
	Now       bool     `json:"now,omitzero"`
	Owners    []string `json:"owners,omitzero"`
}

// SinceAnswer is the sessions that have gone on, and the newest event of the ledger at
// the moment of the answer, "" where there is none. Owner is whose session the event that
// was named is of: only they, and who may hear them, are to learn that there is such one. An event that the ledger does not
// know is not_found; too many sessions are too_large: begin anew.
type SinceAnswer struct {
	Newest   string     `json:"newest,omitzero"`
	Owner    string     `json:"owner,omitzero"`
	Sessions []SinceRow `json:"sessions,omitzero"`
}

// SinceRow is one session that has gone on. Seq is the number of the last event that it
// had at the point asked about, or an earlier one: never a later one.
type SinceRow struct {
	Session string `json:"session_id"`
	Seq     int64  `json:"seq"`
	Last    int64  `json:"last"`
	Owner   string `json:"owner,omitzero"`
	Ended   bool   `json:"ended,omitzero"`
}

// QuestionsRequest lists open questions, those of the oldest turns first, behind the turn
// that the last answer names as Next; "" begins.
type QuestionsRequest struct {
	After string `json:"after,omitzero"`
}

// QuestionsAnswer is a page of open questions. Next is where the next page begins, "" where
// there is none.
type QuestionsAnswer struct {
	Questions []QuestionRow `json:"questions,omitzero"`
	Next      string        `json:"next,omitzero"`
}

// QuestionRow is one open question.
type QuestionRow struct {
	Number   int       `json:"number"`
	Session  string    `json:"session_id"`
	Token    string    `json:"reply_token"`
	Deadline time.Time `json:"deadline"`
	// Asked is when it was asked last, Extensions how often it got more time.
	Asked      time.Time `json:"asked"`
	Extensions int       `json:"extensions,omitzero"`
	// Unseen: nobody who can answer it is known to have been shown it.
	Unseen bool `json:"unseen,omitzero"`
	// Parked: its turn is not under way here, so that an accept would start nothing.
	Parked bool `json:"parked,omitzero"`
	// Kind is confirmation or clarification; Call and Tool are what it is about.
	Kind  string `json:"kind"`
	Call  string `json:"call_id,omitzero"`
	Tool  string `json:"tool,omitzero"`
	Owner string `json:"owner,omitzero"`
	Agent string `json:"agent,omitzero"`
	// Name is what its session is called, Request what that was asked for, at most 256 bytes here.
	Name    string `json:"name,omitzero"`
	Request string `json:"request,omitzero"`
	// Title is its first line. The kernel, which knows no events, leaves it to the hub.
	Title string `json:"title,omitzero"`
	// Event, Seq and Body are the event that asks, as it was sent; Body is left out where
	// the list would outgrow a message.
	Event string         `json:"event_id,omitzero"`
	Seq   int64          `json:"seq,omitzero"`
	Body  jsontext.Value `json:"body,omitzero"`
}

// ArgumentsRequest asks for the arguments that a question is about, as JSON text,
// from a byte on, at most Limit bytes where that is not 0. By, Credential and Surface are of a person who may answer it: what they have read
// from the first byte to the last, a yes of theirs on that surface can be about.
type ArgumentsRequest struct {
	Question   int    `json:"question"`
	Offset     int64  `json:"offset"`
	Limit      int64  `json:"limit,omitzero"`
	By         string `json:"by,omitzero"`
	Credential string `json:"credential,omitzero"`
	Surface    string `json:"surface,omitzero"`
}

// ArgumentsAddress is where the HTTP API has the arguments that a question is about, page by page.
func ArgumentsAddress(question int) string {
	return "/api/v1/questions/" + strconv.Itoa(question) + "/arguments"
}

// ReplyRequest answers, extends, stops or undoes, or says that a question was shown. Token or Question names the
// question; where both are given they have to belong together. Session is the session to stop.
type ReplyRequest struct {
	Question int    `json:"question,omitzero"`
	Token    string `json:"reply_token,omitzero"`
	Session  string `json:"session_id,omitzero"`
	// Decision is accept or reject; Response answers a clarification.
	Decision string `json:"decision,omitzero"`
	Response string `json:"response,omitzero"`
	// ResponseType is text, bool or number, where the sender's answer had that type; else it
	// is read as whatever was asked for.
	ResponseType string `json:"response_type,omitzero"`
	Reason       string `json:"reason,omitzero"`
	// By is the person, Credential what they have shown for it, Surface where the answer was
	// given, At when it was decided.
	By         string    `json:"by,omitzero"`
	Credential string    `json:"credential,omitzero"`
	Surface    string    `json:"surface,omitzero"`
	At         time.Time `json:"at,omitzero"`
	// Lists: the surface shows the values that an event lists in extensions.earshot.arguments.
	Lists bool `json:"lists,omitzero"`
}

// ReplyAnswer says what the ledger now holds.
type ReplyAnswer struct {
	Question   int       `json:"question,omitzero"`
	Resolution string    `json:"resolution"`
	Deadline   time.Time `json:"deadline,omitzero"`
	// Undo is for how many seconds an accept can be taken back, from when its surface was told of it.
	Undo int `json:"undo_seconds,omitzero"`
}

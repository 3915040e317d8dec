package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// OpenRequest begins the session of an agent that is a program outside: its calls come one by one, and no worker claims it.
type OpenRequest struct {
	// Agent is the principal whose session it is, Owner the person whose turn it is.
	Agent string `json:"agent"`
	Owner string `json:"owner"`
	// Request is what the person asked for, in words; Label says in a few words what it is about, see [EnqueueRequest].
	Request string `json:"request,omitzero"`
	Label   string `json:"label,omitzero"`
	// Answer is how long questions stay open, in seconds; 0 leaves it to the tool.
	Answer int `json:"answer_seconds,omitzero"`
	// Idle is after how many seconds without a word of the agent the session ends, 1 to 86,400; default an hour.
	Idle int `json:"idle_seconds,omitzero"`
	// Key makes the request one that may be sent again, see [EnqueueRequest].
	Key string `json:"idempotency_key,omitzero"`
	// Holder names the process that speaks for the agent: when another one opens the same session, requests of the one before
	// count as closed.
	Holder string `json:"holder,omitzero"`
}

// DefaultIdle is [OpenRequest.Idle] in seconds where it is 0, MaxIdle the most.
const (
	DefaultIdle = 60 * 60
	MaxIdle     = 24 * 60 * 60
)

// OpenAnswer names the session. Repeated says that it was open before.
type OpenAnswer struct {
	Turn     string `json:"turn_id"`
	Session  string `json:"session_id"`
	Name     string `json:"name"`
	Repeated bool   `json:"repeated,omitzero"`
}

// OutsideRequest is a word of an outside agent in a session of its own.
type OutsideRequest struct {
	Session string `json:"session_id"`
	Agent   string `json:"agent"`
}

// InvokeRequest asks for one call, for the answer to a question, or for a permission: exactly one of Tool with Args, Question,
// and Tool with Args and Permission.
//
// With a Key the same request gives the same call and its result within a day. Without one it joins a call of the same
// tool and arguments whose result the agent has not got and for which no request is open, or is the host's own call of that id;
// otherwise it is another call.
type InvokeRequest struct {
	OutsideRequest

	Key      string `json:"idempotency_key,omitzero"`
	HostCall string `json:"host_call,omitzero"`
	Tool     string `json:"tool,omitzero"`
	Args     Body   `json:"args,omitzero"`
	// Comment are the agent's own words about it, quoted as such.
	Comment string `json:"says,omitzero"`
	// Permission: the agent does it by itself, and only asks; Earshot starts nothing.
	Permission bool      `json:"permission,omitzero"`
	Question   *Question `json:"question,omitzero"`
	// AwaitMS is for how long the request counts as open unless it is said again by [OpAwait]. Answered: it is answered at once,
	// and the agent has that long to ask for the result.
	AwaitMS  int  `json:"await_ms,omitzero"`
	Answered bool `json:"answered,omitzero"`
}

// MaxAwaitMS is the most that a request counts as open without another word.
const MaxAwaitMS = 60_000

// AwaitRequest asks how a call stands. AwaitMS keeps a request for it open for so long; 0 says that none is open any more.
// With Answered it was answered before the result, and the agent has that long to ask again. With Received the agent has got its result. Look only asks.
type AwaitRequest struct {
	OutsideRequest

	Call     string `json:"call_id"`
	AwaitMS  int    `json:"await_ms,omitzero"`
	Answered bool   `json:"answered,omitzero"`
	Received bool   `json:"received,omitzero"`
	Peek     bool   `json:"look,omitzero"`
}

// The states of a [CallStatus].
const (
	CallWaiting  = "waiting"  // for a person's answer
	CallAccepted = "accepted" // a person said yes, and can still take it back
	CallRunning  = "running"
	CallUnknown  = "unknown" // it gave no result; a person is asked what to make of it
	CallEnded    = "ended"
)

// CallStatus is how a call of an outside agent stands.
type CallStatus struct {
	Call  string `json:"call_id"`
	Tool  string `json:"tool"`
	State string `json:"state"`
	// Question is the open question about it, AnswerBy until when it can be answered.
	Question int       `json:"question,omitzero"`
	AnswerBy time.Time `json:"answer_by,omitzero"`
	// Status, Code, Message and Result are there once it has ended.
	Status  utp.Status `json:"status,omitzero"`
	Code    utp.Code   `json:"code,omitzero"`
	Message string     `json:"message,omitzero"`
	Result  Body       `json:"result,omitzero"`
	// Stopping: the session has been stopped; no further call is taken.
	Stopping bool `json:"stopping,omitzero"`
	// Joined: an earlier request had asked for it.
	Joined bool `json:"joined,omitzero"`
	// Permission: it is about what the agent does by itself.
	Permission bool `json:"permission,omitzero"`
}

// Ended reports whether the call has its result.
func (s CallStatus) Ended() bool { return s.State == CallEnded }

// AgentReportRequest tells what an outside agent says of its work: one of Text, Progress, Doing and Observed.
type AgentReportRequest struct {
	OutsideRequest

	// Key makes it told once.
	Key string `json:"idempotency_key,omitzero"`
	// Text is a piece of the agent's answer, at most [AgentTextLimit] bytes; pieces are told one after the other.
	Text string `json:"text,omitzero"`
	// Progress is how much of the whole work is done, in percent; it never falls.
	Progress float64 `json:"progress,omitzero"`
	// Doing is what the agent is at, in a few words.
	Doing string `json:"doing,omitzero"`
	// Observed is something that the agent did by itself, in its own words, which is reported as that.
	Observed string `json:"observed,omitzero"`
}

// MaxReported is how many bytes [AgentReportRequest.Doing] and [AgentReportRequest.Observed] have at most.
const MaxReported = 4096

// CloseRequest ends a session with the agent's own word, see [DeliverRequest].
type CloseRequest struct {
	OutsideRequest

	Status  utp.Status  `json:"status,omitzero"`
	Code    utp.Code    `json:"code,omitzero"`
	Summary string      `json:"summary,omitzero"`
	Output  string      `json:"output,omitzero"`
	Fields  []utp.Field `json:"fields,omitzero"`
	Handoff *Handoff    `json:"handoff,omitzero"`
}

// OfferedRequest asks which tools an agent may ask for, by the policy as it is now.
type OfferedRequest struct {
	Agent string `json:"agent"`
	// After is the last tool of the page before.
	After string `json:"after,omitzero"`
}

// OfferedAnswer is a page of them; Next is the After of the next one, empty on the last.
type OfferedAnswer struct {
	Tools []OfferedTool `json:"tools"`
	Next  string        `json:"next,omitzero"`
}

// OfferedTool is a tool as an agent sees it.
type OfferedTool struct {
	Tool        string         `json:"tool"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters"`
	Class       utp.Class      `json:"class"`
	// Asks: a person is asked before it starts.
	Asks bool `json:"asks,omitzero"`
}

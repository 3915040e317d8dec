package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// OpenRequest opens the session of an agent that is an external program: its calls come one by one, and no worker
// claims its turn.
type OpenRequest struct {
	// Agent is the principal whose session it is, Owner the person whose turn it is.
	Agent string `json:"agent"`
	Owner string `json:"owner"`
	// Request is the person's request, in their own words; Label describes it in a few words, see [EnqueueRequest].
	Request string `json:"request,omitzero"`
	Label   string `json:"label,omitzero"`
	// Answer is how long questions stay open, in seconds; if it is 0, the tool decides.
	Answer int `json:"answer_seconds,omitzero"`
	// Idle is the number of seconds without a request of the agent after which the session ends, 1 to 86,400; default
	// an hour.
	Idle int `json:"idle_seconds,omitzero"`
	// Key makes the request repeatable, see [EnqueueRequest].
	Key string `json:"idempotency_key,omitzero"`
	// Holder identifies the process that acts for the agent. When another process opens the same session, the open
	// requests of the previous one count as closed.
	Holder string `json:"holder,omitzero"`
}

// DefaultIdle replaces an [OpenRequest.Idle] of 0, MaxIdle is its maximum, both in seconds.
const (
	DefaultIdle = 60 * 60
	MaxIdle     = 24 * 60 * 60
)

// OpenAnswer names the session. Repeated reports that it was already open.
type OpenAnswer struct {
	Turn     string `json:"turn_id"`
	Session  string `json:"session_id"`
	Name     string `json:"name"`
	Repeated bool   `json:"repeated,omitzero"`
}

// OutsideRequest is a request of an external agent in one of its sessions.
type OutsideRequest struct {
	Session string `json:"session_id"`
	Agent   string `json:"agent"`
}

// InvokeRequest requests one call, the answer to a question, or a permission. Set exactly one of: Tool with Args;
// Question; Tool with Args and Permission.
//
// With a Key the same request gives the same call and result within a day. Without one it joins a call of the same tool
// and arguments whose result the agent has not received, if no request for that call is open or it has the same id of
// the host. Otherwise it is a new call.
type InvokeRequest struct {
	OutsideRequest

	Key      string `json:"idempotency_key,omitzero"`
	HostCall string `json:"host_call,omitzero"`
	Tool     string `json:"tool,omitzero"`
	Args     Body   `json:"args,omitzero"`
	// Comment is the agent's own text about the call, quoted as such. Lang is its language, as a BCP 47 tag; "" if the
	// agent does not say it.
	Comment string `json:"says,omitzero"`
	Lang    string `json:"lang,omitzero"`
	// Permission means that the agent acts itself and only asks; Earshot starts nothing.
	Permission bool `json:"permission,omitzero"`
	// Ask has a person asked for a permission also where a rule of the policy allows it.
	Ask      bool      `json:"ask,omitzero"`
	Question *Question `json:"question,omitzero"`
	// AwaitMS is how long, in milliseconds, the request counts as open unless [OpAwait] extends it. Answered means that
	// it is answered at once, and the agent has that long to ask for the result.
	AwaitMS  int  `json:"await_ms,omitzero"`
	Answered bool `json:"answered,omitzero"`
}

// MaxAwaitMS is the longest time that a request counts as open without being extended.
const MaxAwaitMS = 60_000

// AwaitRequest asks for the state of a call. AwaitMS keeps a request for it open for so long; 0 means that none is open
// any more. With Answered, the agent was answered before the result, and has that long to ask again. With Received, the
// agent has received the result. Look changes nothing.
type AwaitRequest struct {
	OutsideRequest

	Call     string `json:"call_id"`
	AwaitMS  int    `json:"await_ms,omitzero"`
	Answered bool   `json:"answered,omitzero"`
	Received bool   `json:"received,omitzero"`
	Peek     bool   `json:"look,omitzero"`
	// Abandoned says, with AwaitMS 0, that the agent does not come back for the answer: an open question about what it does itself is
	// withdrawn, unless another request for it is open.
	Abandoned bool `json:"abandoned,omitzero"`
}

// The states of a [CallStatus].
const (
	CallWaiting  = "waiting"  // for a person's answer
	CallAccepted = "accepted" // a person accepted, and can still withdraw that
	CallRunning  = "running"
	CallUnknown  = "unknown" // there is no result; a person is asked how to proceed
	CallEnded    = "ended"
)

// CallStatus is the state of a call of an external agent.
type CallStatus struct {
	Call  string `json:"call_id"`
	Tool  string `json:"tool"`
	State string `json:"state"`
	// Question is the open question about it, AnswerBy the time until which it can be answered.
	Question int       `json:"question,omitzero"`
	AnswerBy time.Time `json:"answer_by,omitzero"`
	// Status, Code, Message and Result are set once it has ended.
	Status  utp.Status `json:"status,omitzero"`
	Code    utp.Code   `json:"code,omitzero"`
	Message string     `json:"message,omitzero"`
	Result  Body       `json:"result,omitzero"`
	// Stopping reports that the session has been stopped and accepts no further call.
	Stopping bool `json:"stopping,omitzero"`
	// Joined reports that an earlier request had asked for it.
	Joined bool `json:"joined,omitzero"`
	// Permission reports that it is about something that the agent does itself.
	Permission bool `json:"permission,omitzero"`
	// Last is the number of the newest event of its session that the status includes; 0 if the kernel does not say. Nobody need ask
	// again because of an event up to it.
	Last int64 `json:"last,omitzero"`
}

// Ended reports whether the call has its result.
func (s CallStatus) Ended() bool { return s.State == CallEnded }

// AgentReportRequest reports something about an external agent's work: one of Text, Progress, Doing, Observed and Missed.
type AgentReportRequest struct {
	OutsideRequest

	// Key makes a repeated request take effect only once.
	Key string `json:"idempotency_key,omitzero"`
	// Text is a piece of the agent's answer, at most [AgentTextLimit] bytes; pieces are reported in order.
	Text string `json:"text,omitzero"`
	// Lang is the language of Text, Doing or Observed, as a BCP 47 tag; "" if the agent does not say it.
	Lang string `json:"lang,omitzero"`
	// Progress is how much of the whole work is done, in percent; it never decreases.
	Progress float64 `json:"progress,omitzero"`
	// Doing is the agent's current activity, in a few words.
	Doing string `json:"doing,omitzero"`
	// Observed is what the agent did itself, in its own words; it is reported as the agent's claim.
	Observed string `json:"observed,omitzero"`
	// Missed is how many messages of the agent are known to have got lost on the way, at most [MaxMissed].
	Missed int `json:"missed,omitzero"`
	// Lease says that the program is there, and says so again within so many seconds, [MinLease] to [MaxLease]. When it does not, it
	// has gone: the session ends as soon as none of its calls is open.
	Lease int `json:"lease_seconds,omitzero"`
}

// Bounds of [AgentReportRequest.Lease].
const (
	MinLease = 10
	MaxLease = 60 * 60
)

// MaxMissed limits [AgentReportRequest.Missed].
const MaxMissed = 1_000_000

// MaxReported limits [AgentReportRequest.Doing] and [AgentReportRequest.Observed], in bytes.
const MaxReported = 4096

// CloseRequest ends a session with the agent's result, see [DeliverRequest].
type CloseRequest struct {
	OutsideRequest

	Status  utp.Status  `json:"status,omitzero"`
	Code    utp.Code    `json:"code,omitzero"`
	Summary string      `json:"summary,omitzero"`
	Output  string      `json:"output,omitzero"`
	Lang    string      `json:"lang,omitzero"`
	Fields  []utp.Field `json:"fields,omitzero"`
	Handoff *Handoff    `json:"handoff,omitzero"`
}

// OfferedRequest asks which tools an agent may request under the current policy. An agent asks for itself, and leaves
// Agent empty.
type OfferedRequest struct {
	Agent string `json:"agent,omitzero"`
	// After is the last tool of the previous page.
	After string `json:"after,omitzero"`
}

// OfferedAnswer is a page of tools; Next is the After of the next page, empty on the last.
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
	// Asks reports that a person is asked before it starts.
	Asks bool `json:"asks,omitzero"`
	// Reviewed reports that an operator has reviewed it.
	Reviewed bool `json:"reviewed,omitzero"`
}

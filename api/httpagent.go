package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// AgentOpen opens a session of the token's agent.
type AgentOpen struct {
	// Request is the person's request, in their own words.
	Request string `json:"request,omitzero"`
	// Label describes the session in a few words and becomes its name.
	Label string `json:"label,omitzero"`
	// Owner is the person whose session it is, one of those that the token may act for. Default: the first of them, or
	// the person who runs the server.
	Owner string `json:"owner,omitzero"`
	// Answer is how long questions stay open, in seconds; if it is 0, the tool decides.
	Answer int `json:"answer_seconds,omitzero"`
	// Idle is the number of seconds without a request after which the session ends, 1 to 86,400; default an hour.
	Idle int `json:"idle_seconds,omitzero"`
	// Holder identifies the process that acts for the agent. When another process opens the same session by its key,
	// the open requests of the previous one count as closed.
	Holder string `json:"holder,omitzero"`
	// Key is the request's Idempotency-Key.
	Key string `json:"-"`
}

// AgentTools are the tools that an agent may request.
type AgentTools struct {
	Tools []AgentTool `json:"tools"`
}

// AgentTool is one of them.
type AgentTool struct {
	Name string `json:"name"`
	// ModelName is a name that the APIs of language models accept: 1 to 64 of A-Z a-z 0-9 _ -, unique among the tools.
	ModelName   string `json:"model_name"`
	Description string `json:"description,omitzero"`
	// Parameters is the JSON Schema of the arguments.
	Parameters jsontext.Value `json:"parameters"`
	Class      utp.Class      `json:"class"`
	// Asks reports that a person is asked before it starts.
	Asks bool `json:"asks"`
}

// AgentInvoke requests one call.
type AgentInvoke struct {
	// Tool is the tool's name.
	Tool string `json:"tool"`
	// Args are its arguments, an object; default {}.
	Args jsontext.Value `json:"args,omitzero"`
	// Comment is the agent's own text about the call; the person sees it quoted as such. Lang is its language, as a BCP 47
	// tag such as es; without it, the language is not known.
	Comment string `json:"says,omitzero"`
	Lang    string `json:"lang,omitzero"`
	// HostCall is the agent's own id for the call. Without a key, two ids mean two calls.
	HostCall string `json:"host_call,omitzero"`
	// Key is the request's Idempotency-Key.
	Key string `json:"-"`
}

// AgentPermission asks for a person's consent to something that the agent does itself. A consent is valid only once,
// and only while a request for it is open.
type AgentPermission struct {
	// Tool is the agent's own name for what it does, 1 to 100 of A-Z a-z 0-9 _ . : / -.
	Tool string `json:"tool"`
	// Input is the exact input, an object. All of it is shown.
	Input jsontext.Value `json:"input"`
	// Comment is the agent's own text about it; the person sees it quoted as such. Lang is its language, as a BCP 47 tag.
	Comment  string `json:"says,omitzero"`
	Lang     string `json:"lang,omitzero"`
	HostCall string `json:"host_call,omitzero"`
	// Ask has a person asked also where a rule of the policy allows it, as a program needs that has no rules of its own
	// to fall back on.
	Ask bool `json:"ask,omitzero"`
	// Key is the request's Idempotency-Key.
	Key string `json:"-"`
}

// AgentQuestion asks the person for something that the agent does not know.
type AgentQuestion struct {
	Question

	// Key is the request's Idempotency-Key.
	Key string `json:"-"`
}

// AgentCall is the state of an agent's call, permission or question.
type AgentCall struct {
	ID   string `json:"call_id"`
	Tool string `json:"tool"`
	// State is waiting (for a person), accepted (the person can still withdraw the consent), running, unknown (there is
	// no result, and a person is asked how to proceed) or ended.
	State string `json:"state"`
	// Question is the number of the open question, AnswerBy the time until which it can be answered.
	Question int       `json:"question,omitzero"`
	AnswerBy time.Time `json:"answer_by,omitzero"`
	// SecondsLeft is how long it can still be answered, by the server's clock.
	SecondsLeft int `json:"seconds_left,omitzero"`
	// Status is success, partial, failed, canceled or timeout once it has ended; Code is why it did not succeed. A
	// permission is partial if the operator's policy leaves it to the agent's own rules.
	Status utp.Status `json:"status,omitzero"`
	Code   utp.Code   `json:"code,omitzero"`
	// Message describes the state in a sentence for a language model.
	Message string `json:"message,omitzero"`
	// Result is the tool's result; for a question it contains the answer.
	Result jsontext.Value `json:"result,omitzero"`
	// Stopping reports that the person has stopped the session, which accepts no further call.
	Stopping bool `json:"stopping,omitzero"`
	// Joined reports that an earlier request had asked for it.
	Joined bool `json:"joined,omitzero"`
}

// Ended reports whether it has its result.
func (c AgentCall) Ended() bool { return c.State == CallEnded }

// AgentReport reports something about the agent's work: one of Text, Progress, Doing, Observed and Missed.
type AgentReport struct {
	// Text is a piece of the agent's answer, at most 16 KiB.
	Text string `json:"text,omitzero"`
	// Lang is the language of Text, Doing or Observed, as a BCP 47 tag such as es or pt-BR. Without it, the language is not
	// known.
	Lang string `json:"lang,omitzero"`
	// Progress is how much of the whole work is done, in percent. It never decreases.
	Progress float64 `json:"progress,omitzero"`
	// Doing is the agent's current activity, in a few words.
	Doing string `json:"doing,omitzero"`
	// Observed is what the agent did itself, in its own words; it is reported as the agent's claim.
	Observed string `json:"observed,omitzero"`
	// Missed is how many messages of the agent are known to have got lost on the way, at most 1,000,000.
	Missed int `json:"missed,omitzero"`
	// Lease says that the program is there, and says so again within so many seconds, 10 to 3600. When it does not, it has gone: the
	// session ends as soon as none of its calls is open. It is not told to anybody, and does not count as work.
	Lease int `json:"lease_seconds,omitzero"`
	// Key is the request's Idempotency-Key.
	Key string `json:"-"`
}

// AgentEnd ends a session with the agent's result.
type AgentEnd struct {
	// Status is success, partial, failed or canceled; default success.
	Status utp.Status `json:"status,omitzero"`
	// Code says why it failed.
	Code utp.Code `json:"code,omitzero"`
	// Summary is one sentence. Output is the whole answer, except what was already reported.
	Summary string `json:"summary,omitzero"`
	Output  string `json:"output,omitzero"`
	// Lang is the language of Output, as a BCP 47 tag. Without it, the language is not known.
	Lang string `json:"lang,omitzero"`
	// Fields are the named parts of the result.
	Fields []utp.Field `json:"fields,omitzero"`
	// Handoff asks for someone else to take over.
	Handoff *Handoff `json:"handoff,omitzero"`
}

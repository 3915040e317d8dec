package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// AgentOpen opens a session of the agent that the token is for.
type AgentOpen struct {
	// Request is what the person asked for, in words.
	Request string `json:"request,omitzero"`
	// Label says in a few words what it is about; the session is named after it.
	Label string `json:"label,omitzero"`
	// Owner is the person whose session it is, one of those that the token is for; default the first of them, or who runs the server.
	Owner string `json:"owner,omitzero"`
	// Answer is how long questions stay open, in seconds; 0 leaves it to the tool.
	Answer int `json:"answer_seconds,omitzero"`
	// Idle is after how many seconds without a request the session ends, 1 to 86,400; default an hour.
	Idle int `json:"idle_seconds,omitzero"`
	// Holder names the process that speaks for the agent. When another one opens the same session by its key, requests of the one
	// before count as closed.
	Holder string `json:"holder,omitzero"`
	// Key is the request's Idempotency-Key.
	Key string `json:"-"`
}

// AgentTools are the tools that an agent may ask for.
type AgentTools struct {
	Tools []AgentTool `json:"tools"`
}

// AgentTool is one of them.
type AgentTool struct {
	Name string `json:"name"`
	// ModelName is the name by which APIs of language models can have it: 1 to 64 of A-Z a-z 0-9 _ -, unique among the tools.
	ModelName   string `json:"model_name"`
	Description string `json:"description,omitzero"`
	// Parameters is the JSON Schema of the arguments.
	Parameters jsontext.Value `json:"parameters"`
	Class      utp.Class      `json:"class"`
	// Asks: a person is asked before it starts.
	Asks bool `json:"asks"`
}

// AgentInvoke asks for one call.
type AgentInvoke struct {
	// Tool is the tool's name.
	Tool string `json:"tool"`
	// Args are its arguments, an object; default {}.
	Args jsontext.Value `json:"args,omitzero"`
	// Comment are the agent's own words about it, quoted to the person as such.
	Comment string `json:"says,omitzero"`
	// HostCall is the agent's own id for the call: where no key is sent, two ids are two calls.
	HostCall string `json:"host_call,omitzero"`
	// Key is the request's Idempotency-Key.
	Key string `json:"-"`
}

// AgentPermission asks for a person's consent to something that the agent does by itself.
type AgentPermission struct {
	// Tool is the agent's own name for what it does, 1 to 100 of A-Z a-z 0-9 _ . : / -.
	Tool string `json:"tool"`
	// Input is the exact input, an object. All of it is shown.
	Input jsontext.Value `json:"input"`
	// Comment are the agent's own words about it, quoted to the person as such.
	Comment  string `json:"says,omitzero"`
	HostCall string `json:"host_call,omitzero"`
	// Key is the request's Idempotency-Key.
	Key string `json:"-"`
}

// AgentQuestion asks the person for something that the agent does not know.
type AgentQuestion struct {
	Question

	// Key is the request's Idempotency-Key.
	Key string `json:"-"`
}

// AgentCall is how a call, a permission or a question of an agent stands.
type AgentCall struct {
	ID   string `json:"call_id"`
	Tool string `json:"tool"`
	// State is waiting (for a person), accepted (a person can still take the yes back), running, unknown (it gave no result, and a
	// person is asked what to make of it) or ended.
	State string `json:"state"`
	// Question is the number of the open question, AnswerBy until when it can be answered.
	Question int       `json:"question,omitzero"`
	AnswerBy time.Time `json:"answer_by,omitzero"`
	// Status is success, partial, failed, canceled or timeout once it has ended, Code why it was not a success. A permission that
	// the operator's policy leaves to the agent's own rules is partial.
	Status utp.Status `json:"status,omitzero"`
	Code   utp.Code   `json:"code,omitzero"`
	// Message says how it stands, in a sentence that a language model can be given.
	Message string `json:"message,omitzero"`
	// Result is the tool's; of a question it has the answer.
	Result jsontext.Value `json:"result,omitzero"`
	// Stopping: the person has stopped the session; no further call is taken.
	Stopping bool `json:"stopping,omitzero"`
	// Joined: an earlier request had asked for it.
	Joined bool `json:"joined,omitzero"`
}

// Ended reports whether it has its result.
func (c AgentCall) Ended() bool { return c.State == CallEnded }

// AgentReport is something that an agent says of its work: one of Text, Progress, Doing and Observed.
type AgentReport struct {
	// Text is a piece of the agent's answer, at most 16 KiB.
	Text string `json:"text,omitzero"`
	// Progress is how much of the whole work is done, in percent. It never falls.
	Progress float64 `json:"progress,omitzero"`
	// Doing is what the agent is at, in a few words.
	Doing string `json:"doing,omitzero"`
	// Observed is what the agent did by itself, in its own words; it is told as that.
	Observed string `json:"observed,omitzero"`
	// Key is the request's Idempotency-Key.
	Key string `json:"-"`
}

// AgentEnd ends a session with the agent's last word.
type AgentEnd struct {
	// Status is success, partial, failed or canceled; default success.
	Status utp.Status `json:"status,omitzero"`
	// Code says why it failed.
	Code utp.Code `json:"code,omitzero"`
	// Summary is one sentence, Output the whole answer, as far as it was not reported before.
	Summary string `json:"summary,omitzero"`
	Output  string `json:"output,omitzero"`
	// Fields are results by name.
	Fields []utp.Field `json:"fields,omitzero"`
	// Handoff asks that somebody else takes over.
	Handoff *Handoff `json:"handoff,omitzero"`
}

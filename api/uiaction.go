package api

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// ActRequest has one tool called, as a person asks for it at a user interface. It begins a turn that does this one call,
// through the gate like any other, and ends with it. The tool's definition has to allow it (`ui_allowed` of its options).
type ActRequest struct {
	// Agent is the program that asks, Owner the person whose turn it is.
	Agent string `json:"agent"`
	Owner string `json:"owner,omitzero"`
	// Action is the interface's own id of the action, Message that of the message, if it has one. The same message, or
	// without one the same action, again within a day is the same turn.
	Action  string `json:"action_id"`
	Message string `json:"message_id,omitzero"`
	Tool    string `json:"tool_name"`
	// Args are the arguments, an object of at most [ActionLimit] bytes.
	Args jsontext.Value `json:"args"`
	// Tracestate is passed on with the messages of the turn (UTP, "Headers"). The same action with another one is the same.
	Tracestate string `json:"tracestate,omitzero"`
}

// ActionLimit is the most bytes that the arguments of an action may have.
const ActionLimit = InlineLimit / 2

// The statuses of an [ActionAnswer].
const (
	ActionAccepted = "accepted" // the call is under way; ask again for how it ended
	ActionBusy     = "busy"     // nothing was begun; the same request may succeed later
	ActionRejected = "rejected" // nothing was begun, or the call did not succeed; Code and Error say why
	ActionDone     = "done"     // the call has succeeded
)

// ActionAnswer acknowledges an action: how it stands when it is asked for.
type ActionAnswer struct {
	Action  string `json:"action_id"`
	Agent   string `json:"agent_id"`
	Status  string `json:"status"`
	Message string `json:"message_id,omitzero"`
	// Card is the card of the result, once there is one.
	Card  string   `json:"tool_result_card_id,omitzero"`
	Code  utp.Code `json:"error_code,omitzero"`
	Error string   `json:"error,omitzero"`
	// Turn, Session and Call are what the action has begun, if it has begun anything.
	Turn    string `json:"turn_id,omitzero"`
	Session string `json:"session_id,omitzero"`
	Call    string `json:"tool_call_id,omitzero"`
}

// AgentAction asks for an action of a user interface, see [ActRequest].
type AgentAction struct {
	Action  string         `json:"action_id"`
	Message string         `json:"message_id,omitzero"`
	Tool    string         `json:"tool_name"`
	Args    jsontext.Value `json:"args"`
	// Owner is the person who asks, one of those that the token may act for. Default: the first of them, or the person who
	// runs the server.
	Owner string `json:"owner,omitzero"`
}

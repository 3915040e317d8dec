package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// StartRequest asks to start a call. Owner is a random nonce of the service process; Command is the received command,
// so that an unknown one can be adopted or refused.
type StartRequest struct {
	Call    string              `json:"call_id"`
	Owner   string              `json:"owner"`
	Boot    string              `json:"boot,omitzero"`
	Subject string              `json:"subject,omitzero"`
	Header  map[string][]string `json:"header,omitzero"`
	Command jsontext.Value      `json:"command,omitzero"`
}

// StartAnswer grants the start: the exact bytes that were consented to, and what is needed to keep the lease.
type StartAnswer struct {
	Call  string `json:"call_id"`
	Turn  string `json:"turn_id"`
	Tool  string `json:"tool"`
	Args  Body   `json:"args"`
	Fence int    `json:"fence"`
	// Class is the effective class of the call; "" from a kernel that does not send it.
	Class utp.Class `json:"class,omitzero"`
	// Secrets are the values behind the {"$secret":ref} arguments, by ref.
	Secrets map[string]string `json:"secrets,omitzero"`
	// StartWithinMS is how many milliseconds are left to begin an effect. It counts from just before the request was
	// sent, on a clock that includes the machine's sleep. 0 means none.
	StartWithinMS int `json:"start_within_ms"`
	// StartBy is the end of that time by the kernel's clock.
	//
	// Deprecated: the clocks of two machines may differ. Measure StartWithinMS.
	StartBy time.Time `json:"start_by"`
	// LeaseMS is how long the lease lasts, in milliseconds, unless the owner renews it; it counts in the same way.
	LeaseMS int `json:"lease_ms"`
	// Stop reports that the person has stopped the turn since the start was granted, after an answer that was lost.
	// Nothing may begin; what had begun is ended and reported.
	Stop bool `json:"stop,omitzero"`
}

// OwnerRequest addresses a started call: beat, reconcile.
type OwnerRequest struct {
	Call  string `json:"call_id"`
	Owner string `json:"owner"`
	Fence int    `json:"fence,omitzero"`
}

// HeartbeatRequest renews the lease of a started call. Fraction is the progress from 0 to 1; nil leaves it unchanged.
// Doing is the call's current activity in a few words, at most [MaxReported] bytes; it is quoted as the tool's text.
type HeartbeatRequest struct {
	OwnerRequest

	Fraction *float64 `json:"fraction,omitzero"`
	Doing    string   `json:"doing,omitzero"`
}

// HeartbeatAnswer holds the new lease, which counts from before the heartbeat was sent, and whether the person wants
// the tool to stop.
type HeartbeatAnswer struct {
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

// ReconcileAnswer is what a service needs to find out the outcome of a call.
type ReconcileAnswer struct {
	Call string `json:"call_id"`
	Tool string `json:"tool"`
	Args Body   `json:"args"`
	// LeaseExpiry counts the call's expired leases up to the one in question; the settlement repeats it.
	LeaseExpiry int `json:"lapse"`
}

// SettleRequest is a service's finding on a call whose lease has expired: done (with its result), not_begun or unknown
// (with an Error that tells the person what is known). Owner is the nonce of the process that sends it.
type SettleRequest struct {
	Call        string         `json:"call_id"`
	Owner       string         `json:"owner"`
	LeaseExpiry int            `json:"lapse"`
	Outcome     string         `json:"fate"`
	Status      utp.Status     `json:"status,omitzero"`
	Result      Body           `json:"result,omitzero"`
	Error       *utp.ToolError `json:"error,omitzero"`
}

// InquireRequest asks the person a question in the middle of a call that the service has started. With Asked, it asks
// for the state of such a question: its answer is an [Answered] in the status's result. The question ends with the
// call. It asks for information, and no answer permits the use of a tool.
type InquireRequest struct {
	OwnerRequest

	// Key identifies the question within the call: the same key is the same question.
	Key      string    `json:"key,omitzero"`
	Question *Question `json:"question,omitzero"`
	// Asked is the question's id, from the answer to the first request.
	Asked string `json:"asked,omitzero"`
}

// MaxInquiries limits the questions that a service may ask during one call.
const MaxInquiries = 64

// ServesRequest says which tools a service has now, for one whose tools come and go. Its other registered tools are not
// offered to agents, and a call of one ends with unknown_tool, until the service registers it again. Their reviews stay.
type ServesRequest struct {
	Tools []string `json:"tools"`
}

// RegisterRequest offers a tool's definition. A new or changed one is unreviewed.
type RegisterRequest struct {
	Definition utp.Definition `json:"definition"`
}

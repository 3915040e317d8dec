package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

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
	// Class is the one that counts for the call, as it was judged; "" of a kernel that does not say it.
	Class utp.Class `json:"class,omitzero"`
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

// HeartbeatRequest renews the lease of a started call. Fraction is the progress from 0 to
// 1; nil says nothing about it.
type HeartbeatRequest struct {
	OwnerRequest

	Fraction *float64 `json:"fraction,omitzero"`
}

// HeartbeatAnswer tells the new lease, counted from before the beat was sent, and whether the person wants the tool to stop.
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

// ReconcileAnswer is what a service needs to find out what became of a call.
type ReconcileAnswer struct {
	Call string `json:"call_id"`
	Tool string `json:"tool"`
	Args Body   `json:"args"`
	// LeaseExpiry says which of the call's lapses it is about; the settlement repeats it.
	LeaseExpiry int `json:"lapse"`
}

// SettleRequest is a service's word on a lapsed call: done (with its result), not_begun
// or unknown (with an Error that tells the person what is known). Owner is the nonce of
// the process that says it.
type SettleRequest struct {
	Call        string         `json:"call_id"`
	Owner       string         `json:"owner"`
	LeaseExpiry int            `json:"lapse"`
	Outcome     string         `json:"fate"`
	Status      utp.Status     `json:"status,omitzero"`
	Result      Body           `json:"result,omitzero"`
	Error       *utp.ToolError `json:"error,omitzero"`
}

// RegisterRequest offers a tool's definition. A new or changed one is unreviewed.
type RegisterRequest struct {
	Definition utp.Definition `json:"definition"`
}

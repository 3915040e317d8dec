package tool

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// Tool is one tool of a service.
type Tool struct {
	Definition utp.Definition
	// Unclaimed keeps a class and a risk that the definition leaves out from being filled in: the
	// operator's review alone says them, and until then the call counts as irreversible.
	Unclaimed bool
	// Run does the work. An error that is a [*utp.ToolError] becomes the result's
	// error as it is; any other is internal_error. When ctx ends (stop, deadline, lost
	// lease, end of the service: [context.Cause] says which), Run finishes the item in
	// hand and returns exactly what was done.
	Run func(ctx context.Context, c *Call) (Result, error)
	// Reconcile finds out what became of a call whose service died or fell silent;
	// nil when the tool cannot tell.
	Reconcile func(ctx context.Context, c *Call) (Outcome, Result, error)
}

// Result is what a tool has to say. A zero Status is success.
type Result struct {
	Value  any // encoded as JSON
	Status utp.Status
}

// Outcome is what a tool knows of a call that lapsed.
type Outcome string

// The fates.
const (
	Done     Outcome = "done"
	NotBegun Outcome = "not_begun"
	Unknown  Outcome = "unknown"
)

// Call is one granted call.
type Call struct {
	// ID is also the idempotency key to pass downstream.
	ID   string
	Turn string
	Tool string
	// Class is the one that counts: what an operator reviewed, raised by what the tool claims. It
	// is irreversible where the kernel does not say it.
	Class utp.Class
	// Args are the bytes that were consented to.
	Args jsontext.Value
	// Secrets are the values behind {"$secret":ref} arguments, by ref.
	Secrets map[string]string

	served   served // the tool as it was known before the start was asked for
	lease    *callLease
	fraction atomic.Pointer[float64]
	moved    chan struct{} // the heartbeat's: there is progress to tell
}

// Decode reads the arguments, exactly: an unknown member is bad_request. A [Secret] gets
// the value that the start handed out.
func (c *Call) Decode(into any) error {
	if err := json.Unmarshal(c.Args, into, json.RejectUnknownMembers(true), secretsOf(c.Secrets)); err != nil {
		return &utp.ToolError{Code: utp.CodeBadRequest, Message: fmt.Sprintf("the arguments do not fit: %v", err)}
	}
	return nil
}

// Ready refuses an effect that would begin later after the start than the kernel allowed, or after
// the lease was lost (call protocol, step E). Time is measured from before the start was asked for,
// the machine's sleep included; what its time of day says does not matter. A tool with an effect
// asks it right before each one.
func (c *Call) Ready() error { return c.lease.ready() }

// Progress tells how far the call is, from 0 to 1; what is not a number says nothing. It
// never blocks.
func (c *Call) Progress(fraction float64) {
	if math.IsNaN(fraction) {
		return
	}
	fraction = min(max(fraction, 0), 1)
	c.fraction.Store(&fraction)
	select {
	case c.moved <- struct{}{}:
	default:
	}
}

package tool

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// Tool is one tool of a service.
type Tool struct {
	Definition utp.Definition
	// Unclaimed keeps an omitted class and risk empty. Only the operator's review sets them, and until then the call
	// counts as irreversible.
	Unclaimed bool
	// Run does the work. An error that is a [*utp.ToolError] becomes the result's error unchanged; any other becomes
	// internal_error. When ctx ends (stop, deadline, lost lease, end of the service: [context.Cause] says which), Run
	// finishes the current item and returns exactly what was done.
	Run func(ctx context.Context, c *Call) (Result, error)
	// Reconcile finds out the outcome of a call whose service died or stopped responding; nil if the tool cannot find
	// out.
	Reconcile func(ctx context.Context, c *Call) (Outcome, Result, error)
}

// Result is the result of a tool. A zero Status means success.
type Result struct {
	Value  any // encoded as JSON
	Status utp.Status
}

// Outcome is what a tool knows about a call whose lease has expired.
type Outcome string

// The outcomes.
const (
	Done     Outcome = "done"
	NotBegun Outcome = "not_begun"
	Unknown  Outcome = "unknown"
)

// Call is one granted call.
type Call struct {
	// ID is the call's id, and the idempotency key to pass downstream.
	ID   string
	Turn string
	Tool string
	// Class is the effective class: what an operator reviewed, raised by what the tool claims. It is irreversible if
	// the kernel does not set it.
	Class utp.Class
	// Args are the bytes that were consented to.
	Args jsontext.Value
	// Secrets are the values behind {"$secret":ref} arguments, by ref.
	Secrets map[string]string

	conn     rpc.Requester
	held     api.OwnerRequest
	asked    atomic.Int64 // questions to the person
	served   served       // the tool as it was before the start was requested
	lease    *callLease
	fraction atomic.Pointer[float64]
	doing    atomic.Pointer[string] // text that is not reported yet
	moved    chan struct{}          // wakes the heartbeat: there is progress to report
}

// Decode decodes the arguments strictly: an unknown member is bad_request. A [Secret] receives the value that came with
// the start.
func (c *Call) Decode(into any) error {
	if err := json.Unmarshal(c.Args, into, json.RejectUnknownMembers(true), secretsOf(c.Secrets)); err != nil {
		return &utp.ToolError{Code: utp.CodeBadRequest, Message: fmt.Sprintf("the arguments do not fit: %v", err)}
	}
	return nil
}

// Ready returns an error if an effect would begin later than the kernel allowed, or after the lease was lost (call
// protocol, step E). Time counts from before the start was requested and includes the machine's sleep; the wall clock
// does not matter. A tool with an effect calls Ready right before each one.
func (c *Call) Ready() error { return c.lease.ready() }

// Progress reports how far the call is, from 0 to 1; NaN is ignored. It never blocks.
func (c *Call) Progress(fraction float64) {
	if math.IsNaN(fraction) {
		return
	}
	fraction = min(max(fraction, 0), 1)
	c.fraction.Store(&fraction)
	c.move()
}

// Doing tells the person in a few words what the call is doing, at most [api.MaxReported] bytes; the rest is cut. It is
// quoted as the tool's text. Only the latest text is reported, at most once every two seconds. Doing never blocks.
func (c *Call) Doing(words string) {
	words = strings.TrimSpace(Readable(words))
	if words == "" {
		return
	}
	if len(words) > api.MaxReported {
		words = strings.ToValidUTF8(words[:api.MaxReported], "")
	}
	c.doing.Store(&words)
	c.move()
}

func (c *Call) move() {
	select {
	case c.moved <- struct{}{}:
	default:
	}
}

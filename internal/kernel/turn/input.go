package turn

import (
	"time"

	"github.com/earshot-dev/earshot/utp"
)

// Input is something that happened. The set is closed.
type Input interface{ input() }

type (
	// Claim gives a worker a new turn, or one whose worker is gone. Nonce is that of the epoch
	// which the claim begins, random and never used before.
	Claim struct {
		Worker string
		Nonce  string
		Lease  time.Duration
	}
	// Renew extends a worker's lease.
	Renew struct {
		WorkerClaim

		Lease time.Duration
	}
	// Request asks for the calls of a step. The caller has resolved, validated and judged each
	// call; their State is Requested.
	Request struct {
		WorkerClaim

		Step  int
		Calls []Call
	}
	// Adopt takes over a command from outside: one call beside the step.
	Adopt struct{ Call Call }
	// QuestionAsked reports the number and digest of the question that an [AskConsent] effect
	// led to.
	QuestionAsked struct {
		Call   string
		Number int
		Digest string
	}
	// Shown says that an open question was first shown to somebody who can answer it, so late
	// that it is asked again. The call does not change.
	Shown struct{ Question int }
	// Unshown says that nobody was there to see an open question, so that it is asked again to
	// wait. The call does not change.
	Unshown struct{ Question int }
	// Answered is a validated reply to an open question.
	Answered struct {
		Question int
		Accept   bool
		Insist   bool // of a question about an outcome: ask for the work again
		By       string
		// Credential is what the person has presented. It must still be valid when the call is
		// dispatched.
		Credential string
		Surface    string
		// Undo is this person's preferred undo time; 0 means no preference.
		Undo time.Duration
		// Generation is the one that receives the answer, see [Consent].
		Generation string
	}
	// Noticed says that the surface of a yes has been notified of it: the undo time begins now.
	Noticed struct{ Question int }
	// Unanswered ends a question without a yes: Code says how.
	Unanswered struct {
		Question int
		Code     utp.Code
	}
	// Tick is the passing of time. Checks holds what the caller recomputed for every accepted
	// call whose undo time has ended. Engaged says that the agent works on other turns, or that
	// its workers could not have come yet: a queued turn goes on waiting.
	Tick struct {
		Checks  []Check
		Engaged bool
	}
	// CheckDeadline says that the turn's deadline may have passed. A caller with several inputs for one instant gives this
	// one first: it is accepted whether or not the turn ends by it.
	CheckDeadline struct{}
	// Start is a service asking to begin.
	Start struct {
		Call, Owner, Target string
		Lease               time.Duration
		Check               Check
		// Command: the start is the command itself, which may have waited for a service. The time
		// for a result counts from the start.
		Command bool
	}
	// Undelivered says that a message about the call can never be published.
	Undelivered struct{ Call string }
	// Unserved says that no service subscribes to the call's command at the moment.
	Unserved struct{ Call string }
	// Heartbeat says that a service is alive. Fraction is its progress, 0 to 1, or negative for
	// none.
	Heartbeat struct {
		Call, Owner string
		Fence       int
		Lease       time.Duration
		Fraction    float64
		// Text: the service also says what the call is doing.
		Text bool
	}
	// Finish is a service's result.
	Finish struct {
		Call, Owner string
		Fence       int
		Outcome     Outcome
	}
	// Reconciled is a service's report on a call whose lease expired. Owner is the process that
	// reports; LeaseExpiry says which of the call's expired leases it is about.
	Reconciled struct {
		Call        string
		Owner       string
		LeaseExpiry int
		Finding     Finding
		Outcome     Outcome // if Finding is FindingDone; else only its Message is used
	}
	// Resume applies the ended calls of the step, and the turn runs again under the next epoch.
	// The caller passes it in as soon as the turn is [State.ReadyToApply], in the transaction
	// that made it so. Nonce is that of the new epoch, as in Claim. Summary is the final message
	// if the turn ends with it. Unmet is how it then ends in place of a success, if it may not; else zero.
	Resume struct {
		Nonce, Summary string
		Unmet          End
	}
	// Deliver ends the turn with the agent's own result.
	Deliver struct {
		WorkerClaim

		End End
	}
	// StopTurn is a person or a signal stopping the turn.
	StopTurn struct{ Stop Stop }
	// Undo withdraws an accept within the undo time.
	Undo struct {
		Question int
		By       string
		Surface  string
	}
	// Orphan says that every owner and worker so far is gone for good: the process that ran them
	// has restarted, and a new generation begins.
	Orphan struct{ Generation string }
	// Restored says that the ledger was restored from an older copy: it went back in time.
	Restored struct{}
)

// Check is what the caller recomputed about a call at this moment: the digest of what would run now.
// If the digest differs, Reason names what changed; [ReasonDenied] ends the call.
type Check struct {
	Call   string
	Digest string
	Reason string
}

// Finding is what a service knows of a call whose lease expired.
type Finding string

// The findings.
const (
	FindingDone     Finding = "done"
	FindingNotBegun Finding = "not_begun"
	FindingUnknown  Finding = "unknown"
)

// Stop says who stopped a turn, from where and why.
type Stop struct {
	By      string `json:"by"`
	Surface string `json:"surface,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// System marks a signal or a shutdown rather than a person's request.
	System bool `json:"system,omitempty"`
	// Deadline marks the turn's own deadline, which nobody caused.
	Deadline bool `json:"deadline,omitempty"`
}

func (Claim) input()         {}
func (Renew) input()         {}
func (Request) input()       {}
func (Adopt) input()         {}
func (QuestionAsked) input() {}
func (Shown) input()         {}
func (Unshown) input()       {}
func (Answered) input()      {}
func (Noticed) input()       {}
func (Unanswered) input()    {}
func (CheckDeadline) input() {}
func (Tick) input()          {}
func (Undelivered) input()   {}
func (Unserved) input()      {}
func (Start) input()         {}
func (Heartbeat) input()     {}
func (Finish) input()        {}
func (Reconciled) input()    {}
func (Resume) input()        {}
func (Deliver) input()       {}
func (StopTurn) input()      {}
func (Undo) input()          {}
func (Orphan) input()        {}
func (Restored) input()      {}

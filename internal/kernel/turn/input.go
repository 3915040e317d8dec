package turn

import (
	"time"

	"github.com/earshot-dev/earshot/utp"
)

// Input is something that happened. The set is closed.
type Input interface{ input() }

type (
	// Claim gives the turn to a worker: a fresh one, or one whose worker is gone. Nonce is
	// that of the epoch which begins with it, random and never used before.
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
	// Request asks for the calls of a step. The caller has resolved, validated and
	// judged each; their State is Requested.
	Request struct {
		WorkerClaim

		Step  int
		Calls []Call
	}
	// Adopt takes over a command that came from outside: one call beside the step.
	Adopt struct{ Call Call }
	// QuestionAsked tells which number and digest the question got that an [AskConsent]
	// effect led to.
	QuestionAsked struct {
		Call   string
		Number int
		Digest string
	}
	// Shown says that an open question was first shown to somebody who can answer it, so
	// late that it is asked again. It says nothing of the call.
	Shown struct{ Question int }
	// Unshown says that nobody was there to be shown an open question, so that it is asked
	// again to wait. It says nothing of the call.
	Unshown struct{ Question int }
	// Answered is a validated reply to an open question.
	Answered struct {
		Question int
		Accept   bool
		Insist   bool // a fate question: ask again
		By       string
		// Credential is what the person has shown; it has to count still when the call leaves.
		Credential string
		Surface    string
		// Undo is how long this person wishes to be able to take a yes back; 0 means no wish.
		Undo time.Duration
		// Generation is the one that takes the answer, see [Consent].
		Generation string
	}
	// Noticed says that the surface of a yes has been told of it: from now on it can be taken
	// back, as long as that is.
	Noticed struct{ Question int }
	// Unanswered ends a question without a yes: Code says how.
	Unanswered struct {
		Question int
		Code     utp.Code
	}
	// Tick is the passing of time. Checks holds what the caller has recomputed for
	// every accepted call whose undo time is over.
	Tick struct{ Checks []Check }
	// Start is a service asking to begin.
	Start struct {
		Call, Owner, Target string
		Lease               time.Duration
		Check               Check
		// Command: the start is the command itself, which may have waited for a service. The time
		// for a result counts from it.
		Command bool
	}
	// Undelivered says that a message about the call can never be published.
	Undelivered struct{ Call string }
	// Unserved says that nobody hears the call's command at the moment.
	Unserved struct{ Call string }
	// Heartbeat is a service saying that it is alive; Fraction is its progress, 0 to 1, or
	// negative for none.
	Heartbeat struct {
		Call, Owner string
		Fence       int
		Lease       time.Duration
		Fraction    float64
		// Text: the service also says what the call is at.
		Text bool
	}
	// Finish is a service's result.
	Finish struct {
		Call, Owner string
		Fence       int
		Outcome     Outcome
	}
	// Reconciled is a service's word on a lapsed call: which process says it, about which
	// of the call's lapses.
	Reconciled struct {
		Call        string
		Owner       string
		LeaseExpiry int
		Finding     Finding
		Outcome     Outcome // of a fate that is Done; else its Message is all that is known
	}
	// Resume applies the ended calls of the step, and the turn runs again under the next
	// epoch. The caller feeds it as soon as the turn is [State.ReadyToApply], in the transaction
	// that made it so. Nonce is that of the new epoch, as in Claim; Summary is the last word
	// of a turn that ends with it.
	Resume struct{ Nonce, Summary string }
	// Deliver ends the turn with the agent's own word.
	Deliver struct {
		WorkerClaim

		End End
	}
	// StopTurn is a person or a signal stopping the turn.
	StopTurn struct{ Stop Stop }
	// Undo takes an accept back within the undo time.
	Undo struct {
		Question int
		By       string
		Surface  string
	}
	// Orphan says that every owner and worker up to now is gone for good: the process
	// that held them all has been started again, and with it begins a generation.
	Orphan struct{ Generation string }
	// Restored says that the ledger is older than the world: it went back in time.
	Restored struct{}
)

// Check is what the caller recomputed about a call at this moment: the digest of
// what would run now. Reason names what changed when it differs; [ReasonDenied] ends the call.
type Check struct {
	Call   string
	Digest string
	Reason string
}

// Finding is what a service knows of a call that lapsed.
type Finding string

// The fates.
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
	// System marks a signal or a shutdown rather than a person's word.
	System bool `json:"system,omitempty"`
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

package turn

import (
	"slices"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// Status is where a turn stands.
type Status string

// The statuses of a turn.
const (
	Queued    Status = "queued"    // nobody works on it yet
	Running   Status = "running"   // its worker plans the next step
	Suspended Status = "suspended" // it waits for the calls of its step
	Ended     Status = "ended"     // it has had its one end
)

// State is one turn with its live calls. It is a plain value that survives JSON;
// the store keeps it as it is.
type State struct {
	Turn    string `json:"turn"`
	Session string `json:"session"`
	Project string `json:"project"`
	Channel string `json:"channel"`
	Agent   string `json:"agent"`
	// Owner is the person whose turn it is.
	Owner string `json:"owner,omitempty"`
	// Name is what people call the session, the same on every surface: no two open ones have one
	// name. Topic is the name without the number that it may have.
	Name   string `json:"name,omitempty"`
	Topic  string `json:"topic,omitempty"`
	Status Status `json:"status"`
	// Epoch fences workers: it grows with every claim, and when the results of a step are
	// applied.
	Epoch int `json:"epoch"`
	// Nonce names the epoch and Before the one before it: a ledger that goes back counts the
	// same epochs again, but under other nonces.
	Nonce         string    `json:"nonce,omitempty"`
	PreviousNonce string    `json:"nonce_before,omitempty"`
	Worker        string    `json:"worker,omitempty"`
	Lease         Timestamp `json:"lease,omitzero"`
	// IdleFrom is since when somebody could work on the turn, and Patience how long it may stay
	// so, from then or from the end of a worker's lease, before it is given up; 0 is for ever.
	IdleFrom Timestamp     `json:"idle_from,omitzero"`
	MaxIdle  time.Duration `json:"patience,omitempty"`
	// Depth is how many agents called each other to come here.
	Depth int `json:"depth,omitempty"`
	// Claims counts how often the turn was claimed since it last went on.
	Claims int `json:"claims,omitempty"`
	// Step is the number of the step whose calls are in Calls.
	Step    int    `json:"step"`
	Calls   []Call `json:"calls,omitempty"`
	Applied int    `json:"applied"`
	// Stop is set once a person or a signal has stopped the turn.
	Stop *Stop `json:"stop,omitempty"`
	// Tally counts how calls have ended so far, for the last sentence.
	Tally api.Tally `json:"tally"`
	End   *End      `json:"end,omitempty"`
	// ResultFields are the names that the answer must have a value for.
	ResultFields []string `json:"result_fields,omitempty"`
	// Percent is the progress of the whole work that was told last.
	Percent float64 `json:"percent,omitempty"`
	// ReportedText is how far the agent's text of the step that is planned has been told.
	ReportedText api.ReportedText `json:"said,omitzero"`
	// Outside: the planner is a program outside, which asks for one call after the other; see [Open].
	Outside bool `json:"outside,omitempty"`
	// Holder is the process that speaks for the program, where several may come one after the other.
	Holder string `json:"holder,omitempty"`
	// Closing is the program's own word on how the turn ends, while something of it still runs.
	Closing *End `json:"closing,omitempty"`
	// Reported are the keys of what the program has told last.
	Reported []string `json:"reported,omitempty"`
}

// End is the one end of a turn.
type End struct {
	Status  utp.Status `json:"status"`
	Code    utp.Code   `json:"code,omitempty"`
	Message string     `json:"message,omitempty"`
	// Deliverable is the card that holds the result's fields, where there are any.
	Deliverable string `json:"deliverable,omitempty"`
}

// CallState is where a call stands.
type CallState string

// The states of a call (call protocol, "States").
const (
	Requested    CallState = "requested"  // resolved and judged, not yet asked or dispatched
	Asked        CallState = "asked"      // its question is open
	Accepted     CallState = "accepted"   // a person said yes; it waits for the undo time
	Dispatched   CallState = "dispatched" // its command may leave; nobody has started it
	Started      CallState = "started"    // one owner holds it
	LeaseExpired CallState = "lapsed"     // its owner fell silent; its service is asked what happened
	Unknown      CallState = "unknown"    // nobody can tell; a person is asked
	Finished     CallState = "finished"   // its result is recorded
	Resolved     CallState = "resolved"   // a person has taken note of its unknown fate
	Closed       CallState = "over"       // it ended before a start
)

// Open reports whether the call may still change.
func (s CallState) Open() bool {
	switch s {
	case Finished, Resolved, Closed:
		return false
	case Requested, Asked, Accepted, Dispatched, Started, LeaseExpired, Unknown:
		return true
	}
	return true
}

// Decision is what policy says about a call before anyone is asked.
type Decision string

// The decisions of a policy.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Call is one tool call. The arguments themselves live in the ledger; the machine
// knows them by their digest.
type Call struct {
	ID   string `json:"id"`
	Key  string `json:"key"`  // the worker's own name for it within the step
	Step string `json:"step"` // the id of the step that asked for it
	// Number is the number of that step: a call of another one than the turn's present
	// step does not leave.
	Number int    `json:"number"`
	Tool   string `json:"tool"`
	// Kind is what it is, where it is not a tool's call.
	Kind CallKind `json:"kind,omitempty"`
	// Within is the call in the middle of which its service asks this question; "" where the agent itself asks.
	Within string `json:"within,omitempty"`
	// Comment are the agent's own words about it.
	Comment string `json:"says,omitempty"`
	// Target is the one service that may start it.
	Target     string    `json:"target"`
	Definition string    `json:"definition"`
	Class      utp.Class `json:"class"`
	Risk       utp.Risk  `json:"risk"`
	Decision   Decision  `json:"decision"`
	State      CallState `json:"state"`
	Card       string    `json:"card"` // the tool.call card
	// After is what follows the result where that does not say: the word of the foreign command
	// that the call was made of, else of the definition; empty is suspend.
	After utp.AfterExecution `json:"after,omitempty"`
	// Arguments is the SHA-256 of the canonical arguments, kept to name what has changed when a
	// digest differs. Policy is the rule that applied when the call was judged, in its canonical
	// form: the digest is bound to it. (Of calls from before rules were kept one by one it is
	// the version of the whole file.)
	Arguments string     `json:"arguments,omitempty"`
	Policy    string     `json:"policy,omitempty"`
	Limits    Limits     `json:"limits"`
	Range     [2]float64 `json:"range,omitzero"` // the part of the whole work it stands for, in percent

	Question int      `json:"question,omitempty"`
	Digest   string   `json:"digest,omitempty"`
	Consent  *Consent `json:"consent,omitempty"`
	// DispatchAt ends the undo time: on both clocks it must be over. It is zero until that has
	// begun, see [Noticed]; StartBy then is by when it has to begin.
	DispatchAt Timestamp `json:"dispatch_at,omitzero"`

	StartBy Timestamp `json:"start_by,omitzero"`
	// EndBy is by when it is to have a result: set when it is dispatched, and never shortened.
	EndBy Timestamp `json:"end_by,omitzero"`
	// Overdue: that has passed while it ran, and its owner was told to stop.
	Overdue  bool      `json:"overdue,omitempty"`
	WakeupAt time.Time `json:"ring_at,omitzero"`
	Wakeups  int       `json:"rung,omitempty"`

	// Undelivered: it has been told that a message about it cannot be sent.
	Undelivered bool `json:"undelivered,omitempty"`
	// Unserved: it has been told that nobody hears its command.
	Unserved bool `json:"unserved,omitempty"`

	Fence int    `json:"fence,omitempty"`
	Owner string `json:"owner,omitempty"`
	// Lease ends the owner's hold; of a lapsed call, the time in which its service may
	// still tell what happened.
	Lease Timestamp `json:"lease,omitzero"`
	// OwnerEnded: the owner is known to be dead, not only silent.
	OwnerEnded bool `json:"owner_gone,omitempty"`
	// LeaseExpiries counts the owners that fell silent. A service's word on the call names the
	// one that it is about.
	LeaseExpiries int `json:"lapse,omitempty"`
	// Unsure: an earlier owner of a repeatable call may have had its effect.
	Unsure    bool      `json:"unsure,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero"`
	// TextAt is when its service last said what it is at.
	TextAt time.Time `json:"words_at,omitzero"`
	// ReconcileBy is the end of a lapsed call's lease on the wall clock.
	ReconcileBy time.Time `json:"settle_by,omitzero"`
	// Insisted: the person has asked again although the old owner may be alive.
	Insisted bool `json:"insisted,omitempty"`

	Replaces   string `json:"replaces,omitempty"`
	ReplacedBy string `json:"replaced_by,omitempty"`
	Adopted    bool   `json:"adopted,omitempty"`
	// Origin is the foreign command that an adopted call was made of.
	Origin *Origin `json:"origin,omitempty"`
	// ThirdParty: its owner is a third party and in no process of ours, so that a restart
	// says nothing of it. Offered is the card that this owner has kept here for its report.
	ThirdParty bool     `json:"elsewhere,omitempty"`
	Offered    string   `json:"offered,omitempty"`
	Outcome    *Outcome `json:"outcome,omitempty"`
	// Applied: its outcome stands in the transcript.
	Applied bool `json:"applied,omitempty"`
	// Late is the digest of the result that came after the call was resolved, or after
	// the turn's end: it is kept and told once.
	Late string `json:"late,omitempty"`
	// Of a call of an outside turn, Awaited is until when a request for its result is known to be open, and Answered says that
	// it was answered without one, so that the next is for the same call; Identity and HostCall are what a repeat is known by
	// where the call has no key: the digest of what was asked for, and the program's own id for it. Received: the program has
	// got its result.
	Awaited  Timestamp `json:"awaited,omitzero"`
	Answered bool      `json:"answered,omitempty"`
	Identity string    `json:"identity,omitempty"`
	HostCall string    `json:"host_call,omitempty"`
	Received bool      `json:"received,omitempty"`
}

// Origin is where an adopted call comes from: the id and the tool.call card under which a
// foreign worker asked for it, and what it said is to follow the result.
type Origin struct {
	Call  string             `json:"call"`
	Card  string             `json:"card"`
	After utp.AfterExecution `json:"after,omitempty"`
}

// Limits are the times a call is given. Zero fields take the defaults.
type Limits struct {
	// Answer is how long a question stays open (default 5 min, at most 24 h).
	Answer time.Duration `json:"answer"`
	// StartWithin bounds the time from the end of the undo time to the start (default 60 s, at
	// most 10 min).
	StartWithin time.Duration `json:"start_within"`
	// Undo is waited at least before the dispatch of an irreversible call, as its tool and the
	// policy say, and Wish what a person wishes for it; see [Limits.UndoTime].
	Undo          time.Duration `json:"undo"`
	PreferredUndo time.Duration `json:"undo_wish,omitempty"`
	// ReconcileWithin is how long a service may take to tell what became of a lapsed call (default 10 s).
	ReconcileWithin time.Duration `json:"settle"`
	// Result is how long after its dispatch it is to have a result (default 24 h).
	Result time.Duration `json:"result,omitempty"`
	// Reconciles: the tool can tell afterwards what happened.
	Reconciles bool `json:"reconciles,omitempty"`
}

// Consent is a recorded yes, given to one call, used once.
type Consent struct {
	By string `json:"by"`
	// Credential is what the person had shown, where that was something that can be revoked.
	Credential string    `json:"credential,omitempty"`
	Surface    string    `json:"surface"`
	At         Timestamp `json:"at"`
	Consumed   bool      `json:"consumed,omitempty"`
	// Generation is the life of the runtime in which it was given: an irreversible call is
	// started in no other one. In a ledger that is put back, all that was agreed to is of another.
	Generation string `json:"generation,omitempty"`
}

// Outcome is how a call ended.
type Outcome struct {
	Status  utp.Status `json:"status"`
	Code    utp.Code   `json:"code,omitempty"`
	Message string     `json:"message,omitempty"`
	// Untouched: its service says that nothing was changed before it failed.
	Untouched bool `json:"untouched,omitempty"`
	// After is what follows, by the result and the call.
	After utp.AfterExecution `json:"after,omitempty"`
	// Card is the tool.result card, set by the caller when it records the outcome.
	Card string `json:"card,omitempty"`
	// Digest of the result bytes: a repeated finish with the same digest is a repeat,
	// not a conflict.
	Digest string `json:"digest,omitempty"`
}

// call returns the live call with the given id.
func (s *State) call(id string) *Call {
	for i := range s.Calls {
		if s.Calls[i].ID == id {
			return &s.Calls[i]
		}
	}
	return nil
}

// Find returns a copy of the call with the given id.
func (s State) Find(id string) (Call, bool) {
	if c := s.call(id); c != nil {
		return *c, true
	}
	return Call{}, false
}

// FindQuestion returns a copy of the call that the question is about.
func (s State) FindQuestion(number int) (Call, bool) {
	if c := s.asked(number); c != nil {
		return *c, true
	}
	return Call{}, false
}

// asked is the call that a question is about: the last one, where it was asked again under the
// number of the one that it stands for.
func (s *State) asked(number int) *Call {
	for i := range slices.Backward(s.Calls) {
		if number != 0 && s.Calls[i].Question == number {
			return &s.Calls[i]
		}
	}
	return nil
}

// clone copies what Step may write to.
func (s State) clone() State {
	s.Calls = slices.Clone(s.Calls)
	for i := range s.Calls {
		if c := s.Calls[i].Consent; c != nil {
			kept := *c
			s.Calls[i].Consent = &kept
		}
		if o := s.Calls[i].Outcome; o != nil {
			kept := *o
			s.Calls[i].Outcome = &kept
		}
	}
	if e := s.Closing; e != nil {
		kept := *e
		s.Closing = &kept
	}
	return s
}

// Waiting counts the calls of the present step that have not ended.
func (s State) Waiting() int {
	n := 0
	for _, c := range s.Calls {
		if !c.Adopted && c.State.Open() {
			n++
		}
	}
	return n
}

// ReadyToApply reports whether all calls of the present step have ended and their results are
// still to be applied.
func (s State) ReadyToApply() bool { return !s.Outside && s.Status == Suspended && s.Waiting() == 0 }

// ClaimAt is from when on a worker may claim the turn, on the wall clock as it stands now:
// [Epoch] where it is free, the end of its worker's lease where it is held. A turn that has
// ended cannot be claimed; one that waits for its calls needs no worker, and neither does one
// that has been stopped: it ends with the last of its calls. An outside one has none.
func (s State) ClaimAt(now Timestamp) (at time.Time, claimable bool) {
	switch {
	case s.Status == Ended, s.Stop != nil, s.Outside, s.Status == Suspended && s.Waiting() > 0:
		return time.Time{}, false
	case s.Worker == "":
		return Epoch, true
	default:
		return s.Lease.due(now), true
	}
}

// Free reports whether the worker may claim the turn now: it holds it already, or nobody
// does and the turn needs somebody.
func (s State) Free(worker string, now Timestamp) bool {
	if s.Status != Ended && s.Stop == nil && !s.Outside && s.Worker == worker && worker != "" {
		return true
	}
	_, claimable := s.ClaimAt(now)
	return claimable && (s.Worker == "" || s.Lease.Passed(now))
}

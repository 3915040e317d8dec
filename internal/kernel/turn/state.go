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
	Queued    Status = "queued"    // no worker has claimed it yet
	Running   Status = "running"   // its worker plans the next step
	Suspended Status = "suspended" // it waits for its open calls
	Ended     Status = "ended"     // it has ended, once and for all
)

// State is one turn with its live calls. It is a plain value that survives JSON; the store saves it
// unchanged.
type State struct {
	Turn    string `json:"turn"`
	Session string `json:"session"`
	Project string `json:"project"`
	Channel string `json:"channel"`
	Agent   string `json:"agent"`
	// DisplayName is what people read and hear in place of Agent; "" is Agent itself.
	DisplayName string `json:"display_name,omitempty"`
	// Owner is the person whose turn it is.
	Owner string `json:"owner,omitempty"`
	// Name is what people call the session, the same on every surface. No two open sessions share
	// a name. Topic is the name without its number, if it has one.
	Name   string `json:"name,omitempty"`
	Topic  string `json:"topic,omitempty"`
	Status Status `json:"status"`
	// Epoch fences workers: it grows with every claim, and whenever the results of a step are
	// applied.
	Epoch int `json:"epoch"`
	// Nonce identifies the epoch and PreviousNonce the one before it. A restored ledger counts the
	// same epochs again, but under other nonces.
	Nonce         string    `json:"nonce,omitempty"`
	PreviousNonce string    `json:"nonce_before,omitempty"`
	Worker        string    `json:"worker,omitempty"`
	Lease         Timestamp `json:"lease,omitzero"`
	// IdleFrom is since when the turn has been free to claim. MaxIdle is how long it may wait, from
	// then or from the end of a worker's lease, before it ends; 0 is for ever.
	IdleFrom Timestamp     `json:"idle_from,omitzero"`
	MaxIdle  time.Duration `json:"patience,omitempty"`
	// Presence is how long the program of an outside turn may be silent until it counts as gone, and PresentUntil when that is; zero
	// where it has not said.
	Presence     time.Duration `json:"presence,omitempty"`
	PresentUntil Timestamp     `json:"present_until,omitzero"`
	// Correlation is the id under which its caller asked for it, if there is one.
	Correlation string `json:"correlation,omitempty"`
	// Deadline is when the turn ends whatever it does, see [machine.pastDeadline]; zero is never.
	Deadline Timestamp `json:"deadline,omitzero"`
	// QueuedFrom is since when the turn waits for its first worker, and MaxQueued how long it may; 0 is for ever. Behind
	// says that its agent was engaged in other turns when that time was last over.
	QueuedFrom Timestamp     `json:"queued_from,omitzero"`
	MaxQueued  time.Duration `json:"max_queued,omitempty"`
	Behind     bool          `json:"behind,omitempty"`
	// Boxes are what the caller refers its worker to.
	Boxes api.Boxes `json:"boxes,omitzero"`
	// Parent is the turn that asked for this one, if one did.
	Parent string `json:"parent,omitempty"`
	// Within is the session of Parent.
	Within Within `json:"within,omitzero"`
	// Tracestate is what third-party peers have said last of the trace, for the messages of the turn.
	Tracestate string `json:"tracestate,omitempty"`
	// Depth is how many agents called each other to get here.
	Depth int `json:"depth,omitempty"`
	// Claims counts how often the turn was claimed since it last made progress.
	Claims int `json:"claims,omitempty"`
	// Step is the number of the step whose calls are in Calls.
	Step    int    `json:"step"`
	Calls   []Call `json:"calls,omitempty"`
	Applied int    `json:"applied"`
	// Delegated are the open turns within this one that none of its calls waits for. They outlive it, unless it is stopped.
	Delegated []string `json:"delegated,omitempty"`
	// AddedCards counts the cards that a worker has added beside those of its calls.
	AddedCards int `json:"added_cards,omitempty"`
	// Stop is set once a person or a signal has stopped the turn.
	Stop *Stop `json:"stop,omitempty"`
	// Tally counts how calls have ended so far, for the closing message.
	Tally api.Tally `json:"tally"`
	End   *End      `json:"end,omitempty"`
	// ResultFields are the names of the fields that the answer must have.
	ResultFields []string `json:"result_fields,omitempty"`
	// Percent is the last reported progress of the whole work.
	Percent float64 `json:"percent,omitempty"`
	// ReportedText is how much of the agent's text has been reported, of the step being planned.
	ReportedText api.ReportedText `json:"said,omitzero"`
	// Outside: the planner is an external program, which asks for one call after another; see [Open].
	Outside bool `json:"outside,omitempty"`
	// Action: the outside turn does one call, and ends with it.
	Action bool `json:"action,omitempty"`
	// Holder is the process that acts for the program, where several may follow one another.
	Holder string `json:"holder,omitempty"`
	// Closing is how the program has ended the turn, while some of its calls are still open.
	Closing *End `json:"closing,omitempty"`
	// Reported are the keys of the program's latest reports.
	Reported []string `json:"reported,omitempty"`
}

// Within says of which session a turn is a part.
type Within struct {
	Session string `json:"session"`
	Name    string `json:"name,omitempty"` // of that session, for people
	// Spawner is the agent or the service that started the turn at its work there; "" if its owner asked for it.
	Spawner string `json:"spawner,omitempty"`
	// Call is the call there that has begun the turn as the child of this Index, and takes its end; "" if none does.
	Call  string `json:"call,omitempty"`
	Index int    `json:"index,omitempty"`
	// Agent is the agent of that session, and Step the step of it whose call has begun the turn, or the service of the call; ""
	// if its worker has begun it between two steps, or its owner.
	Agent string `json:"agent,omitempty"`
	Step  string `json:"step,omitempty"`
}

// End is the one end of a turn.
type End struct {
	Status  utp.Status `json:"status"`
	Code    utp.Code   `json:"code,omitempty"`
	Message string     `json:"message,omitempty"`
	// Deliverable is the card that holds the result's fields, if it has any.
	Deliverable string `json:"deliverable,omitempty"`
}

// Completes reports whether the turn counts as done, at least in part.
func (e End) Completes() bool { return e.Status == utp.StatusSuccess || e.Status == utp.StatusPartial }

// CallState is where a call stands.
type CallState string

// The states of a call (call protocol, "States").
const (
	Requested    CallState = "requested"  // resolved and judged, not yet asked or dispatched
	Asked        CallState = "asked"      // its question is open
	Accepted     CallState = "accepted"   // a person said yes; the call waits for the end of the undo time
	Dispatched   CallState = "dispatched" // its command may leave; nobody has started it
	Started      CallState = "started"    // one owner holds it
	LeaseExpired CallState = "lapsed"     // its owner did not renew the lease; its service is asked for the outcome
	Unknown      CallState = "unknown"    // its outcome is unknown; a person is asked
	Finished     CallState = "finished"   // its result is recorded
	Resolved     CallState = "resolved"   // the question about its unknown outcome is closed
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
	Key  string `json:"key"`  // the worker's own id for it within the step
	Step string `json:"step"` // the id of the step that asked for it
	// Number is the number of that step: a call of any step but the turn's current one is not
	// dispatched.
	Number int    `json:"number"`
	Tool   string `json:"tool"`
	// Kind is what the call is, if it is not a tool call.
	Kind CallKind `json:"kind,omitempty"`
	// Within is the call during which its service asks this question; "" if the agent itself asks.
	Within string `json:"within,omitempty"`
	// Batch are the turns that do the call, where no service does.
	Batch *Batch `json:"batch,omitempty"`
	// Comment is what the agent itself says about the call, and Lang the language of that.
	Comment string `json:"says,omitempty"`
	Lang    string `json:"lang,omitempty"`
	// Target is the one service that may start it.
	Target     string    `json:"target"`
	Definition string    `json:"definition"`
	Class      utp.Class `json:"class"`
	Risk       utp.Risk  `json:"risk"`
	Decision   Decision  `json:"decision"`
	State      CallState `json:"state"`
	Card       string    `json:"card"` // the tool.call card
	// After is what follows the result if the result does not say: as set by the third-party command
	// that the call was made from, else by the definition. Empty means suspend.
	After utp.AfterExecution `json:"after,omitempty"`
	// Arguments is the SHA-256 of the canonical arguments, kept to name what has changed when a
	// digest differs. Policy is the rule that applied when the call was judged, in its canonical
	// form: the digest is bound to it. (In calls from before rules were stored one by one, it is
	// the version of the whole file.)
	Arguments string `json:"arguments,omitempty"`
	Policy    string `json:"policy,omitempty"`
	// Permission is the number of the standing permission that allows the call, where the policy would ask; 0 is none.
	Permission int        `json:"permission,omitempty"`
	Limits     Limits     `json:"limits"`
	Range      [2]float64 `json:"range,omitzero"` // its part of the whole work, in percent

	Question int      `json:"question,omitempty"`
	Digest   string   `json:"digest,omitempty"`
	Consent  *Consent `json:"consent,omitempty"`
	// DispatchAt is the end of the undo time, which must have passed on both clocks. It is zero until
	// the undo time has begun, see [Noticed]; until then StartBy is by when that must happen.
	DispatchAt Timestamp `json:"dispatch_at,omitzero"`

	StartBy Timestamp `json:"start_by,omitzero"`
	// EndBy is by when the call must have a result: set at dispatch, and never shortened.
	EndBy Timestamp `json:"end_by,omitzero"`
	// Overdue: EndBy passed while the call ran, and its owner was asked to stop.
	Overdue  bool      `json:"overdue,omitempty"`
	WakeupAt time.Time `json:"ring_at,omitzero"`
	Wakeups  int       `json:"rung,omitempty"`

	// Undelivered: it was reported that a message about the call cannot be sent.
	Undelivered bool `json:"undelivered,omitempty"`
	// Unserved: it was reported that no service subscribes to its command.
	Unserved bool `json:"unserved,omitempty"`

	Fence int    `json:"fence,omitempty"`
	Owner string `json:"owner,omitempty"`
	// Lease is the end of the owner's lease. If that has expired, it is the end of the time in which
	// the service may still report the outcome.
	Lease Timestamp `json:"lease,omitzero"`
	// OwnerEnded: the owner is known to be dead, not only silent.
	OwnerEnded bool `json:"owner_gone,omitempty"`
	// LeaseExpiries counts the expired leases of the call. A service's report on the call names the
	// one that it is about.
	LeaseExpiries int `json:"lapse,omitempty"`
	// Unsure: an earlier owner of a repeatable call may have had its effect.
	Unsure    bool      `json:"unsure,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero"`
	// TextAt is when its service last said what the call is doing.
	TextAt time.Time `json:"words_at,omitzero"`
	// ReconcileBy is by when the service must report the outcome, on the wall clock.
	ReconcileBy time.Time `json:"settle_by,omitzero"`
	// Insisted: the person asked for the work again although the old owner may be alive.
	Insisted bool `json:"insisted,omitempty"`

	Replaces   string `json:"replaces,omitempty"`
	ReplacedBy string `json:"replaced_by,omitempty"`
	Adopted    bool   `json:"adopted,omitempty"`
	// Origin is the third-party command that an adopted call was made from.
	Origin *Origin `json:"origin,omitempty"`
	// ThirdParty: its owner is a third-party service in a process of its own, so that a restart says
	// nothing about it. Offered is the result card that this owner has saved here before its report.
	ThirdParty bool     `json:"elsewhere,omitempty"`
	Offered    string   `json:"offered,omitempty"`
	Outcome    *Outcome `json:"outcome,omitempty"`
	// Applied: its outcome is in the transcript.
	Applied bool `json:"applied,omitempty"`
	// Late is the digest of the result that arrived after the call was resolved, or after the turn's
	// end: it is recorded and reported once.
	Late string `json:"late,omitempty"`
	// The next fields are for calls of an outside turn. Awaited is until when a request for the result is known to be
	// open. Answered says that the request was answered without a result, so that the next one is for the same call.
	// Identity and HostCall identify a repeat if the call has no key: the digest of what was asked for, and the program's
	// own id for it. Received: the program has received the result.
	Awaited  Timestamp `json:"awaited,omitzero"`
	Answered bool      `json:"answered,omitempty"`
	Identity string    `json:"identity,omitempty"`
	HostCall string    `json:"host_call,omitempty"`
	Received bool      `json:"received,omitempty"`
	// Unawaited: it was reported that the undo time was over, and that no request was open. It may still begin.
	Unawaited bool `json:"unawaited,omitempty"`
}

// Origin is where an adopted call comes from: the id and the tool.call card under which a third-party
// worker asked for it, and what it wants to follow the result.
type Origin struct {
	Call  string             `json:"call"`
	Card  string             `json:"card"`
	After utp.AfterExecution `json:"after,omitempty"`
	// Tracestate is the command's own, for the messages about the call.
	Tracestate string `json:"tracestate,omitempty"`
}

// Limits are the time limits of a call. Zero fields take the defaults.
type Limits struct {
	// Answer is how long a question stays open (default 5 min, at most 24 h).
	Answer time.Duration `json:"answer"`
	// StartWithin bounds the time from the end of the undo time to the start (default 60 s, at
	// most 10 min).
	StartWithin time.Duration `json:"start_within"`
	// Undo is the least undo time of an irreversible call, as its tool and the policy say.
	// PreferredUndo is what the person prefers; see [Limits.UndoTime].
	Undo          time.Duration `json:"undo"`
	PreferredUndo time.Duration `json:"undo_wish,omitempty"`
	// ReconcileWithin is how long a service may take to report the outcome of a call whose lease expired (default 10 s).
	ReconcileWithin time.Duration `json:"settle"`
	// Result is how long after its dispatch the call must have a result (default 24 h).
	Result time.Duration `json:"result,omitempty"`
	// Reconciles: the tool can report the outcome of a call afterwards.
	Reconciles bool `json:"reconciles,omitempty"`
}

// Consent is a recorded yes, given to one call, used once.
type Consent struct {
	By string `json:"by"`
	// Credential is what the person presented, if it can be revoked.
	Credential string    `json:"credential,omitempty"`
	Surface    string    `json:"surface"`
	At         Timestamp `json:"at"`
	Consumed   bool      `json:"consumed,omitempty"`
	// Generation is the run of the runtime in which the consent was given: an irreversible call is
	// started in no other. In a restored ledger every consent belongs to another generation.
	Generation string `json:"generation,omitempty"`
}

// Outcome is how a call ended.
type Outcome struct {
	Status  utp.Status `json:"status"`
	Code    utp.Code   `json:"code,omitempty"`
	Message string     `json:"message,omitempty"`
	// Untouched: the service says that it changed nothing before it failed.
	Untouched bool `json:"untouched,omitempty"`
	// After is what follows the result, as set by the result or the call.
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

// Live returns the live call itself, for what the machine does not read; nil if there is none of that id.
func (s *State) Live(id string) *Call { return s.call(id) }

// Find returns a copy of the call with the given id.
func (s State) Find(id string) (Call, bool) {
	if c := s.call(id); c != nil {
		return *c, true
	}
	return Call{}, false
}

// Current returns the live call that replaces the given one, or the call itself.
func (s State) Current(id string) (Call, bool) {
	c, found := s.Find(id)
	for found && c.ReplacedBy != "" {
		next, is := s.Find(c.ReplacedBy)
		if !is {
			break
		}
		c = next
	}
	return c, found
}

// FindQuestion returns a copy of the call that the question is about.
func (s State) FindQuestion(number int) (Call, bool) {
	if c := s.asked(number); c != nil {
		return *c, true
	}
	return Call{}, false
}

// asked returns the call that a question is about. If the question was asked again under its number,
// it is the latest such call.
func (s *State) asked(number int) *Call {
	for i := range slices.Backward(s.Calls) {
		if number != 0 && s.Calls[i].Question == number {
			return &s.Calls[i]
		}
	}
	return nil
}

// clone copies everything that Step may write to.
func (s State) clone() State {
	s.Calls, s.Delegated = slices.Clone(s.Calls), slices.Clone(s.Delegated)
	for i := range s.Calls {
		if c := s.Calls[i].Consent; c != nil {
			kept := *c
			s.Calls[i].Consent = &kept
		}
		if o := s.Calls[i].Outcome; o != nil {
			kept := *o
			s.Calls[i].Outcome = &kept
		}
		s.Calls[i].Batch = s.Calls[i].Batch.clone()
	}
	if e := s.Closing; e != nil {
		kept := *e
		s.Closing = &kept
	}
	return s
}

// Waiting counts the open calls of the current step.
func (s State) Waiting() int {
	n := 0
	for _, c := range s.Calls {
		if !c.Adopted && c.State.Open() {
			n++
		}
	}
	return n
}

// ReadyToApply reports whether all calls of the current step have ended and their results have not been
// applied yet.
func (s State) ReadyToApply() bool { return !s.Outside && s.Status == Suspended && s.Waiting() == 0 }

// ClaimAt returns from when on a worker may claim the turn, on the wall clock as it stands now: [Epoch]
// if it is free, else the end of its worker's lease. An ended turn cannot be claimed. A turn that waits
// for its calls needs no worker; a stopped one ends with the last of its calls; an outside one has none.
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

// Free reports whether the worker may claim the turn now: it has the claim already, or nobody has it
// and the turn needs a worker.
func (s State) Free(worker string, now Timestamp) bool {
	if s.Status != Ended && s.Stop == nil && !s.Outside && s.Worker == worker && worker != "" {
		return true
	}
	_, claimable := s.ClaimAt(now)
	return claimable && (s.Worker == "" || s.Lease.Passed(now))
}

// TraceID returns the trace id of a turn: the hex part of its own id.
func TraceID(turnID string) string { return turnID[len("turn_"):] }

// Traceparent returns the trace of a turn, for what belongs to no step of it.
func Traceparent(turnID string) string {
	id := TraceID(turnID)
	return "00-" + id + "-" + id[16:] + "-01"
}

// StartWithin returns how long the call may still be started: its own time, but no longer than the turn has.
func (s State) StartWithin(c Call, now Timestamp) time.Duration {
	left := c.StartBy.Remaining(now)
	if deadline := s.Deadline; !deadline.IsZero() {
		left = min(left, deadline.Left(now))
	}
	return left
}

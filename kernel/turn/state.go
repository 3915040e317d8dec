package turn

import (
	"slices"
	"time"

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
	Owner  string `json:"owner,omitempty"`
	Status Status `json:"status"`
	// Epoch fences workers: it grows at every claim and every resume.
	Epoch  int    `json:"epoch"`
	Worker string `json:"worker,omitempty"`
	Lease  Moment `json:"lease,omitzero"`
	// Step is the number of the step whose calls are in Calls.
	Step    int    `json:"step"`
	Calls   []Call `json:"calls,omitempty"`
	Applied int    `json:"applied"`
	// Stop is set once a person or a signal has stopped the turn.
	Stop *Stop `json:"stop,omitempty"`
	// Tally counts how calls have ended so far, for the last sentence.
	Tally Tally `json:"tally"`
	End   *End  `json:"end,omitempty"`
}

// Tally counts what became of the turn's calls.
type Tally struct {
	Invoked   int `json:"invoked"`
	Failed    int `json:"failed"`
	Declined  int `json:"declined"`
	Expired   int `json:"expired"`
	Undone    int `json:"undone"`
	Unknown   int `json:"unknown"`
	Effects   int `json:"effects"`
	Cancelled int `json:"cancelled"`
}

// End is the one end of a turn.
type End struct {
	Status  utp.Status `json:"status"`
	Code    utp.Code   `json:"code,omitempty"`
	Message string     `json:"message,omitempty"`
}

// CallState is where a call stands.
type CallState string

// The states of a call (call protocol, "States").
const (
	Requested  CallState = "requested"  // resolved and judged, not yet asked or dispatched
	Asked      CallState = "asked"      // its question is open
	Accepted   CallState = "accepted"   // a person said yes; it waits for the undo time
	Dispatched CallState = "dispatched" // its command may leave; nobody has started it
	Started    CallState = "started"    // one owner holds it
	Lapsed     CallState = "lapsed"     // its owner fell silent; its service is asked what happened
	Unknown    CallState = "unknown"    // nobody can tell; a person is asked
	Finished   CallState = "finished"   // its result is recorded
	Resolved   CallState = "resolved"   // a person has taken note of its unknown fate
	Over       CallState = "over"       // it ended before a start
)

// Open reports whether the call may still change.
func (s CallState) Open() bool {
	switch s {
	case Finished, Resolved, Over:
		return false
	case Requested, Asked, Accepted, Dispatched, Started, Lapsed, Unknown:
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
	Tool string `json:"tool"`
	// Target is the one service that may start it.
	Target     string    `json:"target"`
	Definition string    `json:"definition"`
	Class      utp.Class `json:"class"`
	Risk       utp.Risk  `json:"risk"`
	Decision   Decision  `json:"decision"`
	State      CallState `json:"state"`
	Card       string    `json:"card"` // the tool.call card
	// Arguments is the SHA-256 of the canonical arguments and Policy the version of the
	// rules that judged them, both kept to name what has changed when a digest differs.
	Arguments string     `json:"arguments,omitempty"`
	Policy    string     `json:"policy,omitempty"`
	Limits    Limits     `json:"limits"`
	Range     [2]float64 `json:"range,omitzero"` // the part of the whole work it stands for, in percent

	Question int      `json:"question,omitempty"`
	Digest   string   `json:"digest,omitempty"`
	Consent  *Consent `json:"consent,omitempty"`
	// DispatchAt ends the undo time.
	DispatchAt time.Time `json:"dispatch_at,omitzero"`

	StartBy Moment    `json:"start_by,omitzero"`
	RingAt  time.Time `json:"ring_at,omitzero"`
	Rung    int       `json:"rung,omitempty"`

	Fence int    `json:"fence,omitempty"`
	Owner string `json:"owner,omitempty"`
	// Lease ends the owner's hold; of a lapsed call, the time in which its service may
	// still tell what happened.
	Lease Moment `json:"lease,omitzero"`
	// OwnerGone: the owner is known to be dead, not only silent.
	OwnerGone bool      `json:"owner_gone,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero"`
	// SettleBy is the end of a lapsed call's lease on the wall clock.
	SettleBy time.Time `json:"settle_by,omitzero"`
	Percent  float64   `json:"percent,omitempty"`
	// Insisted: the person has asked again although the old owner may be alive.
	Insisted bool `json:"insisted,omitempty"`

	Replaces   string   `json:"replaces,omitempty"`
	ReplacedBy string   `json:"replaced_by,omitempty"`
	Adopted    bool     `json:"adopted,omitempty"`
	Outcome    *Outcome `json:"outcome,omitempty"`
	// Applied: its outcome stands in the transcript.
	Applied bool `json:"applied,omitempty"`
	// Late is the digest of the result that came after the call was resolved, or after
	// the turn's end: it is kept and told once.
	Late string `json:"late,omitempty"`
}

// Limits are the times a call is given. Zero fields take the defaults.
type Limits struct {
	// Answer is how long a question stays open (default 5 min, at most 24 h).
	Answer time.Duration `json:"answer"`
	// StartWithin bounds accept→start (default 60 s, at most 10 min), the undo time included.
	StartWithin time.Duration `json:"start_within"`
	// Undo is waited between accept and dispatch of an irreversible call (default 3 s).
	Undo time.Duration `json:"undo"`
	// Settle is how long a service may take to tell what became of a lapsed call (default 10 s).
	Settle time.Duration `json:"settle"`
	// Reconciles: the tool can tell afterwards what happened.
	Reconciles bool `json:"reconciles,omitempty"`
}

// Consent is a recorded yes, given to one call, used once.
type Consent struct {
	By       string `json:"by"`
	Surface  string `json:"surface"`
	At       Moment `json:"at"`
	Consumed bool   `json:"consumed,omitempty"`
}

// Outcome is how a call ended.
type Outcome struct {
	Status  utp.Status `json:"status"`
	Code    utp.Code   `json:"code,omitempty"`
	Message string     `json:"message,omitempty"`
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

func (s *State) asked(number int) *Call {
	for i := range s.Calls {
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

package session

import (
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Phase is where a session stands between its first and its last event.
type Phase string

// The phases.
const (
	PhaseNew   Phase = "new"
	PhaseOpen  Phase = "open"
	PhaseEnded Phase = "ended"
)

// State is everything that a [Session] remembers. It round-trips through JSON and
// grows with what is open, not with what has been: of ids that are used up, the last
// few are kept ([Options.Remember]).
type State struct {
	SessionID   string            `json:"session_id"`
	Producer    aaep.Producer     `json:"producer"`
	Language    string            `json:"language,omitempty"`
	Phase       Phase             `json:"phase"`
	Started     time.Time         `json:"started"`
	Last        time.Time         `json:"last"`               // the time of the last event
	Current     string            `json:"current"`            // the state word that the next state.changed leaves
	Finished    bool              `json:"finished,omitempty"` // a call was completed since calling_tool was entered
	Invocations int64             `json:"invocations"`
	Calls       []Call            `json:"calls,omitempty"`     // invoked and not completed
	Granted     []Grant           `json:"granted,omitempty"`   // accepted and not invoked
	Questions   []Question        `json:"questions,omitempty"` // asked and without an outcome
	Barred      []string          `json:"barred,omitempty"`    // calls whose question did not end with an accept, and that were not accepted since
	Resolved    *ResolvedQuestion `json:"settled,omitempty"`   // an outcome that no event has told yet
	Outputs     []Output          `json:"outputs,omitempty"`   // begun and not complete
	UsedCalls   []string          `json:"used_calls,omitempty"`
	UsedOutputs []string          `json:"used_outputs,omitempty"`
	UsedTokens  []string          `json:"used_tokens,omitempty"`
	Remember    int               `json:"remember,omitempty"` // ids of each kind in the lists above at most; 0 is 1,024
}

// Call is a tool call that runs.
type Call struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// Left says that the session has told a state of what comes after the tool. It has to
	// return to calling_tool before the call can be completed (SEQ-19).
	Left bool `json:"left,omitempty"`
}

// Grant is an accept that waits for its invocation.
type Grant struct {
	CallID     string `json:"call_id"`
	Tool       string `json:"tool,omitempty"` // of which the question asked; "" where it did not say
	Token      string `json:"token"`
	Reversible bool   `json:"reversible,omitempty"` // what was accepted can be undone, as the question said
}

// Question is an open confirmation or clarification.
type Question struct {
	Token        string `json:"token"`
	Confirmation bool   `json:"confirmation"`
	CallID       string `json:"call_id,omitempty"`
	Tool         string `json:"tool,omitempty"`
	Reversible   bool   `json:"reversible,omitempty"` // a confirmation said that its action can be undone
}

// ResolvedQuestion is how a question ended.
type ResolvedQuestion struct {
	Token      string          `json:"token"`
	Resolution aaep.Resolution `json:"resolution"`
}

// Output is a text that goes on.
type Output struct {
	ID       string `json:"id"`             // "" is the one output of a session that names none
	Position int64  `json:"position"`       // code points so far
	Tail     string `json:"tail,omitempty"` // the last characters, at most 64 bytes
}

// remembered is how many used ids a State keeps of each kind unless it says otherwise.
const remembered = 1024

// clone copies a State so that the copy can be changed.
func (s State) clone() State {
	s.Calls = slices.Clone(s.Calls)
	s.Granted = slices.Clone(s.Granted)
	s.Questions = slices.Clone(s.Questions)
	s.Barred = slices.Clone(s.Barred)
	s.Outputs = slices.Clone(s.Outputs)
	s.UsedCalls = slices.Clone(s.UsedCalls)
	s.UsedOutputs = slices.Clone(s.UsedOutputs)
	s.UsedTokens = slices.Clone(s.UsedTokens)
	if s.Resolved != nil {
		resolved := *s.Resolved
		s.Resolved = &resolved
	}
	return s
}

// appendUsed adds an id to those that are used up and forgets the oldest beyond the limit.
func (s *State) appendUsed(used []string, id string) []string {
	most := s.Remember
	if most <= 0 {
		most = remembered
	}
	used = append(used, id)
	return used[max(0, len(used)-most):]
}

// bar notes that a call was asked about, and not accepted.
func (s *State) bar(callID string) {
	if callID != "" && !contains(s.Barred, callID) {
		s.Barred = s.appendUsed(s.Barred, callID)
	}
}

// grantTo notes that the call of a question was accepted.
func (s *State) grantTo(q Question) {
	if q.CallID == "" {
		return
	}
	s.Barred = slices.DeleteFunc(s.Barred, func(id string) bool { return id == q.CallID })
	s.Granted = append(s.Granted, Grant{CallID: q.CallID, Tool: q.Tool, Token: q.Token, Reversible: q.Reversible})
}

// refused reports whether a call was asked about, and is not accepted.
func (s *State) refused(callID string) bool {
	return contains(s.Barred, callID) || s.question(func(q Question) bool { return q.CallID == callID && callID != "" }) >= 0
}

func (s *State) call(id string) int {
	return slices.IndexFunc(s.Calls, func(c Call) bool { return c.ID == id })
}

func (s *State) grant(match func(Grant) bool) int { return slices.IndexFunc(s.Granted, match) }

func (s *State) question(match func(Question) bool) int {
	return slices.IndexFunc(s.Questions, match)
}

// stays reports whether something can be told beside the present state, which must not
// be left for it: at a question, and text at a tool that runs.
func (s *State) stays(wanted string) bool {
	if wanted == aaep.StateWritingOutput && s.Current == aaep.StateCallingTool && len(s.Calls) > 0 {
		return true
	}
	return s.Current == aaep.StateAwaitingInput && (len(s.Questions) > 0 || s.Resolved != nil)
}

func (s *State) output(id string) int {
	return slices.IndexFunc(s.Outputs, func(o Output) bool { return o.ID == id })
}

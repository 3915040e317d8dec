package session

import (
	"fmt"
	"io"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Options configure a new [Session]. SessionID and Producer are needed; Language may be ""
// for a session without readable text.
type Options struct {
	SessionID string        // sess_ and 1 to 64 letters or digits
	Producer  aaep.Producer // AgentID is required
	Language  string        // BCP 47 tag of the text
	// Remember is how many ids that are used up (calls, outputs, tokens: of each kind the
	// last) are refused when they come again; 0 is 1,024. Anyone who makes sure elsewhere that
	// none does keeps a smaller [State] with a smaller number.
	Remember int
}

// Session is the producer's side of one AAEP session. Every method that builds events
// takes the present time and a source of randomness for ids; events carry
// max(now, time of the event before), because clocks may step back (ENV-28). The
// caller may add extensions and change the urgency of what comes back before it is
// encoded.
type Session struct {
	state State
	each  func(*aaep.Event) error
}

// New returns a session that has not started.
func New(o Options) *Session {
	return &Session{state: State{
		SessionID: o.SessionID, Producer: o.Producer, Language: o.Language, Phase: PhaseNew, Current: aaep.StateIdle,
		Remember: o.Remember,
	}}
}

// Restore returns the session whose [Session.State] was stored.
func Restore(state State) *Session { return &Session{state: state.clone()} }

// State returns a copy of everything that the session remembers.
func (s *Session) State() State { return s.state.clone() }

// Each has every event handed to write, from here on, when it is built and before anything
// is changed by it. Write may add to it, and has to see that it can be sent: with
// [aaep.Event.Encode], whose bytes it may keep. What it refuses was not told
// ([CodeBadEvent]), and nothing of the step was, of which events may have been handed over
// before. Anyone who writes the events anyway spares them being written twice: without Each a
// Session does so to see that they can be.
func (s *Session) Each(write func(*aaep.Event) error) { s.each = write }

// Start builds the first event.
func (s *Session) Start(now time.Time, rand io.Reader, p aaep.SessionStarted) (aaep.Event, error) {
	if s.state.Phase != PhaseNew {
		return aaep.Event{}, refuse(CodeStarted, "SEQ-01", "the session has started already; a new request needs a new session")
	}
	d := s.draft(now, rand)
	d.state.Phase = PhaseOpen
	d.build(p)
	d.state.Started = d.state.Last
	return d.one()
}

// Progress builds agent.progress.updated.
func (s *Session) Progress(now time.Time, rand io.Reader, p aaep.ProgressUpdated) (aaep.Event, error) {
	return s.plain(now, rand, p)
}

// Handoff builds agent.handoff.requested.
func (s *Session) Handoff(now time.Time, rand io.Reader, p aaep.HandoffRequested) (aaep.Event, error) {
	return s.plain(now, rand, p)
}

func (s *Session) plain(now time.Time, rand io.Reader, p aaep.Payload) (aaep.Event, error) {
	if err := s.open(); err != nil {
		return aaep.Event{}, err
	}
	d := s.draft(now, rand)
	d.build(p)
	return d.one()
}

// Move builds the change to another state, from the state that the session is in
// (what p says of the two words does not count). Where the session is there already
// it builds nothing, unless the outcome of a question has to be told: that rides on
// the next Move, as extensions.earshot.resolution and reply_token. While a question is
// open and has no outcome, awaiting_input cannot be left.
func (s *Session) Move(now time.Time, rand io.Reader, to string, p aaep.StateChanged) ([]aaep.Event, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	if s.state.Current == to && s.state.Resolved == nil {
		return nil, nil
	}
	if s.state.Current == aaep.StateAwaitingInput && s.state.Resolved == nil && len(s.state.Questions) > 0 {
		return nil, refuse(CodeQuestionOpen, "SEQ-30", "a question is open; record how it ended with Resolve or Granted first")
	}
	d := s.draft(now, rand)
	d.move(to, p)
	return d.all()
}

// ToolInvoked builds agent.tool.invoked, in the state calling_tool or while a question
// is open. The call needs an id that was never used, and an accept (see
// [Session.Granted]) when it is irreversible: of a question that said so. An accept has
// to be told, by [Session.Move], before its call.
func (s *Session) ToolInvoked(now time.Time, rand io.Reader, p aaep.ToolInvoked) (aaep.Event, error) {
	if err := s.open(); err != nil {
		return aaep.Event{}, err
	}
	if p.ToolCallID == "" {
		return aaep.Event{}, refuse(CodeBadCall, "SEQ-20", "found no tool_call_id, expected one; make it with aaep.NewID")
	}
	if s.state.call(p.ToolCallID) >= 0 || contains(s.state.UsedCalls, p.ToolCallID) {
		return aaep.Event{}, refuse(CodeBadCall, "SEQ-15", fmt.Sprintf("the call %s was invoked before; every invocation needs its own id", p.ToolCallID))
	}
	grant := s.state.grant(func(g Grant) bool { return g.CallID == p.ToolCallID })
	if err := s.allowed(p, grant); err != nil {
		return aaep.Event{}, err
	}
	if err := s.in(aaep.StateCallingTool, "SEQ-21"); err != nil {
		return aaep.Event{}, err
	}
	d := s.draft(now, rand)
	if grant >= 0 {
		d.state.Granted = remove(d.state.Granted, grant)
	}
	d.state.Calls = append(d.state.Calls, Call{ID: p.ToolCallID, Tool: p.Tool})
	d.state.Invocations++
	d.build(p)
	return d.one()
}

// allowed refuses a call that the accept of its question, if there is one, does not cover.
func (s *Session) allowed(p aaep.ToolInvoked, grant int) error {
	switch {
	case grant < 0 && p.Irreversible:
		return refuse(CodeNoConsent, "SEQ-22", fmt.Sprintf("the call %s is irreversible and nobody accepted it; ask first", p.ToolCallID))
	case grant < 0 && s.state.refused(p.ToolCallID):
		return refuse(CodeNoConsent, "SEQ-26", fmt.Sprintf("somebody was asked about the call %s and has not accepted it; settle its question first, or ask again", p.ToolCallID))
	case grant < 0:
		return nil
	case p.Irreversible && another(s.state.Granted[grant].Tool, p.Tool):
		const message = "the call %s is of %s, and its question asked about %s; ask about the tool that is invoked"
		return refuse(CodeNoConsent, "SEQ-22", fmt.Sprintf(message, p.ToolCallID, p.Tool, s.state.Granted[grant].Tool))
	case p.Irreversible && s.state.Granted[grant].Reversible:
		return refuse(CodeNoConsent, "SEQ-22", fmt.Sprintf("the call %s is irreversible, and its question said that it can be undone; ask with irreversible=true", p.ToolCallID))
	case s.state.Resolved != nil && s.state.Resolved.Token == s.state.Granted[grant].Token:
		return refuse(CodeQuestionOpen, "SEQ-22", fmt.Sprintf("the accept of the call %s is not reported yet; call Move first", p.ToolCallID))
	}
	return nil
}

// ToolCompleted builds agent.tool.completed for an open call. An empty Tool is filled
// in.
func (s *Session) ToolCompleted(now time.Time, rand io.Reader, p aaep.ToolCompleted) (aaep.Event, error) {
	if err := s.open(); err != nil {
		return aaep.Event{}, err
	}
	i := s.state.call(p.ToolCallID)
	switch {
	case i >= 0:
	case contains(s.state.UsedCalls, p.ToolCallID):
		return aaep.Event{}, refuse(CodeBadCall, "SEQ-16", fmt.Sprintf("the call %s is completed already", p.ToolCallID))
	default:
		return aaep.Event{}, refuse(CodeBadCall, "SEQ-13", fmt.Sprintf("no call %q was invoked", p.ToolCallID))
	}
	if p.Tool == "" {
		p.Tool = s.state.Calls[i].Tool
	}
	if p.Tool != s.state.Calls[i].Tool {
		return aaep.Event{}, refuse(CodeBadCall, "SEQ-14", fmt.Sprintf("found the tool %q, expected %q as invoked", p.Tool, s.state.Calls[i].Tool))
	}
	if s.state.Calls[i].Left {
		return aaep.Event{}, refuse(CodeWrongState, "SEQ-19", fmt.Sprintf("the state %s was reported while the call ran; Move back to calling_tool first", s.state.Current))
	}
	d := s.draft(now, rand)
	d.complete(i, p)
	return d.one()
}

// Output builds one chunk of a text, in the state writing_output, or while a question
// is open or a tool runs. The position is filled in; it counts code points. Without a hint, the last
// chunk gets the hint completion. A chunk must not begin inside a character of its
// reader (I18N-29); [Emitter.Output] cuts text where it may be cut.
func (s *Session) Output(now time.Time, rand io.Reader, p aaep.OutputStreaming) (aaep.Event, error) {
	if err := s.open(); err != nil {
		return aaep.Event{}, err
	}
	if contains(s.state.UsedOutputs, p.OutputID) {
		return aaep.Event{}, refuse(CodeOutputComplete, "SEQ-32", fmt.Sprintf("the output %q is complete; begin another", p.OutputID))
	}
	if err := s.in(aaep.StateWritingOutput, "SEQ-11"); err != nil {
		return aaep.Event{}, err
	}
	d := s.draft(now, rand)
	d.output(p)
	return d.one()
}

// in refuses what needs a state that has not been told, unless the present one has to
// stay.
func (s *Session) in(state, rule string) error {
	if s.state.Current == state || s.state.stays(state) {
		return nil
	}
	return refuse(CodeWrongState, rule, fmt.Sprintf("found the state %q, expected %s; call Move first", s.state.Current, state))
}

// open refuses before the first event and after the last.
func (s *Session) open() error {
	switch s.state.Phase {
	case PhaseOpen:
		return nil
	case PhaseEnded:
		return refuse(CodeEnded, "SEQ-04", "the session has ended; a new request needs a new session")
	default:
		return refuse(CodeNotStarted, "SEQ-02", "the session has not started; call Start first")
	}
}

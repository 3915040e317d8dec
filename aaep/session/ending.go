package session

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Closing says how a terminal method closes what is still open. The zero Closing uses English, whatever the language of
// the session.
type Closing struct {
	ToolStatus   aaep.ToolStatus // error (the default) or timeout
	ToolSummary  string          // of tool.completed; default: the tool did not finish
	ToolError    string          // error_message of tool.completed; default: as ToolSummary
	StateSummary string          // of a state.changed that has to be told; default: the question is closed, or what is open is being closed
}

// Complete ends the session as done. Before the terminal event it closes open calls and outputs (SEQ-36). It is refused
// while a question is open or its outcome is not reported, or an accepted call was neither invoked nor stopped
// (SEQ-24). It fills in counts and a duration that p omits.
func (s *Session) Complete(now time.Time, rand io.Reader, p aaep.SessionCompleted, c Closing) ([]aaep.Event, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	switch {
	case len(s.state.Questions) > 0:
		return nil, refuse(CodeQuestionOpen, "SEQ-30", "a question is open; settle it first")
	case s.state.Resolved != nil:
		return nil, refuse(CodeQuestionOpen, "SEQ-25", "the outcome of a question is not reported yet; call Move first")
	case len(s.state.Granted) > 0:
		return nil, refuse(CodeUnusedConsent, "SEQ-24", fmt.Sprintf("the call %s was accepted; invoke it, or Resolve it as stopped", s.state.Granted[0].CallID))
	}
	d := s.draft(now, rand)
	d.closeOpen(c)
	if p.ToolInvocationsCount == nil {
		p.ToolInvocationsCount = new(d.state.Invocations)
	}
	if p.DurationMS == nil {
		stamp := d.stamp()
		p.DurationMS = new(min(stamp.Sub(d.state.Started).Milliseconds(), dayMillis))
	}
	return d.end(p)
}

// dayMillis is the longest duration that an event can contain.
const dayMillis = 86_400_000

// Fail ends the session as failed. It withdraws open questions, and closes open calls
// and outputs, before the terminal event.
func (s *Session) Fail(now time.Time, rand io.Reader, p aaep.SessionErrored, c Closing) ([]aaep.Event, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	d := s.draft(now, rand)
	d.withdraw(c)
	d.closeOpen(c)
	return d.end(p)
}

// Cancel ends the session as stopped, which by itself ends every open question
// (SEQ-38). It closes open calls and outputs before the terminal event.
func (s *Session) Cancel(now time.Time, rand io.Reader, p aaep.SessionCancelled, c Closing) ([]aaep.Event, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	d := s.draft(now, rand)
	d.resolution(c)
	if d.mustReturn() {
		d.withdraw(c)
	}
	d.closeOpen(c)
	return d.end(p)
}

// withdraw withdraws every open question, and reports that.
func (d *draft) withdraw(c Closing) {
	d.resolution(c)
	for len(d.state.Questions) > 0 {
		question := d.state.Questions[0]
		d.state.Questions = d.state.Questions[1:]
		d.state.Resolved = &ResolvedQuestion{Token: question.Token, Resolution: aaep.ResolutionWithdrawn}
		d.resolution(c)
	}
}

// mustReturn reports whether something is open that cannot be closed in the present
// state.
func (d *draft) mustReturn() bool {
	return slices.ContainsFunc(d.state.Calls, func(c Call) bool { return c.Left })
}

// turn moves to another state in order to close what is open there.
func (d *draft) turn(to string, c Closing) {
	if d.state.Current == to || d.state.stays(to) {
		return
	}
	summary := c.StateSummary
	if summary == "" {
		summary = "Closing what is still open."
	}
	d.move(to, aaep.StateChanged{SummaryNormal: summary})
	d.english(c.StateSummary == "")
}

// end builds the terminal event; nothing is open behind it.
func (d *draft) end(p aaep.Payload) ([]aaep.Event, error) {
	d.build(p)
	d.state.Phase = PhaseEnded
	d.state.Questions, d.state.Granted = nil, nil
	return d.all()
}

// resolution reports the outcome of a question that no event has reported.
func (d *draft) resolution(c Closing) {
	if d.state.Resolved == nil {
		return
	}
	summary := c.StateSummary
	if summary == "" {
		summary = "The question is closed."
	}
	d.move(aaep.StateDeciding, aaep.StateChanged{SummaryNormal: summary})
	d.english(c.StateSummary == "")
}

// closeOpen closes calls and outputs, oldest first.
func (d *draft) closeOpen(c Closing) {
	d.closeCalls(c)
	if len(d.state.Outputs) > 0 {
		d.turn(aaep.StateWritingOutput, c)
	}
	for len(d.state.Outputs) > 0 {
		d.output(aaep.OutputStreaming{OutputID: d.state.Outputs[0].ID, Complete: true})
	}
}

// closeCalls completes the calls that run, as a step of its own.
func (s *Session) closeCalls(now time.Time, rand io.Reader, c Closing) ([]aaep.Event, error) {
	d := s.draft(now, rand)
	d.closeCalls(c)
	return d.all()
}

func (d *draft) closeCalls(c Closing) {
	if c.ToolStatus == "" {
		c.ToolStatus = aaep.ToolError
	}
	if d.mustReturn() {
		d.turn(aaep.StateCallingTool, c)
	}
	for len(d.state.Calls) > 0 {
		call := d.state.Calls[0]
		p := aaep.ToolCompleted{Tool: call.Tool, ToolCallID: call.ID, Status: c.ToolStatus, SummaryNormal: c.ToolSummary, ErrorMessage: c.ToolError}
		if p.SummaryNormal == "" {
			p.SummaryNormal = fmt.Sprintf("The tool %s did not finish.", call.Tool)
		}
		if p.ErrorMessage == "" {
			p.ErrorMessage = p.SummaryNormal
		}
		d.complete(0, p)
		d.english(c.ToolSummary == "")
	}
}

// english marks the last event as English where it carries a sentence of this
// package.
func (d *draft) english(fallback bool) {
	if fallback && d.err == nil && d.state.Language != "" {
		d.events[len(d.events)-1].Hints = &aaep.LocalizationHints{PrimaryLanguage: "en"}
	}
}

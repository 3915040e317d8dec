package session

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
)

// chain is the row of states of one producer in a session (SEQ-47).
type chain struct {
	agent    string
	moved    bool     // there was a state.changed
	current  string   // the state that the last one entered
	implied  stateSet // states that events since then have shown
	finished bool     // a call has been completed since calling_tool was entered
	aside    bool     // calling_tool was just left while a tool runs
}

func (s *judged) chain(agentID []byte) *chain {
	for i := range s.chains {
		if s.chains[i].agent == string(agentID) {
			return &s.chains[i]
		}
	}
	if len(s.chains) >= maxEach {
		s.crowd("producers", "SEQ-47", "A.9", &s.checker.report)
		s.chains = slices.Delete(s.chains, 0, 1)
	}
	s.chains = append(s.chains, chain{agent: s.producer(agentID), current: aaep.StateIdle})
	return &s.chains[len(s.chains)-1]
}

// moved judges a state.changed: the first leaves idle, a later one leaves the state
// that the one before entered, or one that events since then imply (C-35). A listener
// that comes late, or comes back, is told the present state as a move from itself
// to itself (C-91).
func (s *judged) moved(f *facts, r *report) {
	from, to := f.from, f.to
	c := s.chain(f.agentID)
	reported := s.view().JoinedLate || s.partial()
	switch {
	case s.resyncs(f):
		s.late = true
	case reported && bytes.Equal(from, to):
	case !c.moved && s.late:
	case !c.moved && string(from) != aaep.StateIdle:
		r.error("/from_state", "§4.2.1", fmt.Sprintf("found %q, expected idle in the first state.changed", from), "SEQ-08")
	case c.moved && string(from) != c.current && (c.implied|s.view().implied)&setOf(string(from)) == 0:
		r.error("/from_state", "§4.2.1", fmt.Sprintf("found %q, expected %s", from, c.expected()), "SEQ-09", "SEQ-10")
	}
	s.leave(c, from, to, r)
	s.answered(f, from, to, r)
	entered := string(to) == aaep.StateCallingTool && c.current != aaep.StateCallingTool
	c.moved, c.implied = true, 0
	if entered {
		c.finished = false
	}
	if c.current != string(to) {
		c.current = s.checker.state(to)
	}
}

// leave judges what must not be left behind: tools at work (SEQ-19, SEQ-21), a
// hand-over that goes on (SEQ-39).
func (s *judged) leave(c *chain, from, to []byte, r *report) {
	if string(from) == aaep.StateHandingOff && string(to) != aaep.StateHandingOff && string(to) != aaep.StateIdle {
		r.warn("/to_state", "A.2", fmt.Sprintf("found a move from handing_off to %q, expected the end of the session", to), "SEQ-39")
	}
	leaves := string(from) == aaep.StateCallingTool && afterTool(to)
	running := false
	for i := range s.calls {
		call := &s.calls[i]
		if call.agent != c.agent {
			continue
		}
		running = true
		call.left = afterTool(to) && (call.left || leaves && !c.finished)
	}
	c.aside = leaves && running && !s.partial()
	s.aside = s.aside || c.aside
}

// strays judges that a producer whose tool runs, and who has told another state, goes
// back at once (SEQ-21): a word in between is told as a move to and fro.
func (s *judged) strays(f *facts, r *report) {
	s.aside = false
	for i := range s.chains {
		c := &s.chains[i]
		if c.agent != string(f.agentID) {
			s.aside = s.aside || c.aside
			continue
		}
		if !c.aside {
			continue
		}
		c.aside = false
		if f.kind == stateChanged && !afterTool(f.to) {
			return
		}
		if len(s.calls) > 0 {
			r.warn("/type", "A.3", fmt.Sprintf("found this in the state %q while a tool runs, expected calling_tool until its tool.completed", c.current), "SEQ-21")
		}
	}
}

// afterTool reports whether a state is one of work that goes on behind a tool.
func afterTool(state []byte) bool {
	switch string(state) {
	case aaep.StateThinking, aaep.StateDeciding, aaep.StateWritingOutput, aaep.StateIdle:
		return true
	default:
		return false
	}
}

// imply notes the state that an event shows, and that the move into it was not told
// (SEQ-11, SEQ-21), once for each stretch.
func (s *judged) imply(f *facts, r *report) {
	shown := implies(f.kind)
	if shown == 0 {
		return
	}
	c := s.chain(f.agentID)
	if c.implied&shown != 0 && f.kind != toolCompleted {
		return
	}
	unreported := setOf(c.current) != shown && c.implied&shown == 0 && !s.partial() && (c.moved || !s.late) && !s.waits(c, f.kind)
	c.implied |= shown
	if f.kind == toolCompleted {
		c.finished = true
	}
	if !unreported {
		return
	}
	switch f.kind {
	case toolInvoked:
		r.warn("/type", "§9.3.1", fmt.Sprintf("found a tool.invoked in the state %q, expected a state.changed to calling_tool before", c.current), "SEQ-11", "SEQ-21")
	case outputStreaming:
		r.warn("/type", "§9.3.1", fmt.Sprintf("found a chunk in the state %q, expected a state.changed to writing_output before", c.current), "SEQ-11")
	default: // a question is judged where it is asked, the others are not a duty
	}
}

// waits reports whether the producer has to stay in its state while other things
// happen: at a question, beside which work that does not depend on the answer may go
// on (CONF-10), or at a tool that runs while text is said (SEQ-21).
func (s *judged) waits(c *chain, k kind) bool {
	if k == outputStreaming && c.current == aaep.StateCallingTool {
		return slices.ContainsFunc(s.calls, func(i invocation) bool { return i.agent == c.agent })
	}
	return c.current == aaep.StateAwaitingInput && slices.ContainsFunc(s.questions, func(q *question) bool { return !q.reported })
}

// expected names the states that a state.changed may leave.
func (c *chain) expected() string {
	words := []string{fmt.Sprintf("%q", c.current)}
	for _, word := range c.implied.words() {
		if word != c.current {
			words = append(words, fmt.Sprintf("%q", word))
		}
	}
	return strings.Join(words, " or ")
}

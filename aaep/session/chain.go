package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
)

// chain is the row of states of one producer in a session.
type chain struct {
	moved   bool     // there was a state.changed
	current string   // the state that the last one entered
	implied []string // states that events since then have shown
}

func (s *judged) chain(agentID string) *chain {
	c, ok := s.chains[agentID]
	if !ok {
		c = &chain{current: aaep.StateIdle}
		s.chains[agentID] = c
	}
	return c
}

// moved judges a state.changed: the first leaves idle, a later one leaves the state
// that the one before entered, or one that events since then imply (C-35).
func (s *judged) moved(f facts, r *report) {
	c := s.chain(f.agentID)
	switch {
	case !c.moved && f.from != aaep.StateIdle:
		r.error("/from_state", "§4.2.1", fmt.Sprintf("found %q, expected idle in the first state.changed", f.from), "SEQ-08")
	case c.moved && f.from != c.current && slices.Contains(c.implied, f.from):
		r.warn("/from_state", "§9.3.1", fmt.Sprintf("found %q, which no state.changed has entered; expected every move to be told", f.from), "SEQ-11")
	case c.moved && f.from != c.current:
		r.error("/from_state", "§4.2.1", fmt.Sprintf("found %q, expected %s", f.from, c.expected()), "SEQ-09", "SEQ-10")
	}
	s.answered(f)
	c.moved, c.current, c.implied = true, f.to, nil
}

// expected names the states that a state.changed may leave.
func (c *chain) expected() string {
	words := []string{fmt.Sprintf("%q", c.current)}
	for _, word := range c.implied {
		if quoted := fmt.Sprintf("%q", word); !slices.Contains(words, quoted) {
			words = append(words, quoted)
		}
	}
	return strings.Join(words, " or ")
}

package worker

import (
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/utp"
)

const (
	maxCalls = 256
	maxKey   = 128
)

var (
	errEmpty = errors.New("the planner's move is empty; it needs calls, a question, an answer or a hand-off")
	errEnds  = errors.New("the planner's move both ends the turn and goes on, or ends it twice; an answer or a hand-off stands alone")
)

// calls returns the calls of a decision, with its question last.
func (m Decision) calls() []Call {
	if m.Question == nil {
		return m.Calls
	}
	return append(slices.Clip(m.Calls), Call{Key: m.Question.Key, Tool: utp.AskPerson})
}

// check returns an error if the decision is invalid.
func (m Decision) check() error {
	calls := m.calls()
	switch {
	case m.Answer != nil && m.Handoff != nil, (m.Answer != nil || m.Handoff != nil) && len(calls) > 0:
		return errEnds
	case m.Answer != nil || m.Handoff != nil:
		return nil
	case len(calls) == 0:
		return errEmpty
	case len(calls) > maxCalls:
		return fmt.Errorf("the planner's step has %d calls; at most %d are made at once", len(calls), maxCalls)
	}
	for i, c := range calls {
		if c.Key == "" || len(c.Key) > maxKey {
			return fmt.Errorf("call %d of the planner's step, of %s, has a key of %d bytes; every call needs one of 1 to %d", i+1, c.Tool, len(c.Key), maxKey)
		}
	}
	return nil
}

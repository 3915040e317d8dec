package turn

import (
	"fmt"

	"github.com/earshot-dev/earshot/utp"
)

// MaxStale is how many consents to the same work may go stale in a row. After that, another question
// would be useless: something other than the person's answer keeps the work from beginning.
const MaxStale = 5

// Stale returns the calls that c replaces and whose consents went stale one after the other, oldest
// first. None of them did anything.
func (s State) Stale(c Call) []Call {
	var chain []Call
	for len(chain) < len(s.Calls) { // a damaged ledger may hold a cycle
		old, found := s.Find(c.Replaces)
		if c.Replaces == "" || !found || old.State != Closed || old.Outcome == nil || old.Outcome.Code != utp.CodeConsentStale {
			break
		}
		chain = append([]Call{old}, chain...)
		c = old
	}
	return chain
}

// exhausted reports whether the consents to the call's work have gone stale [MaxStale] times in a row,
// counting this one. A restart says nothing about the call, and does not count.
func (m *machine) exhausted(c *Call, reason string) bool {
	if reason == StaleRestarted {
		return false
	}
	n := 1
	for _, old := range m.Stale(*c) {
		if old.Outcome.Message != StaleRestarted {
			n++
		}
	}
	return n >= MaxStale
}

// endExhausted ends a call that nobody is asked about any more. The note gives the last reason.
func (m *machine) endExhausted(c *Call, kind NoteKind, reason string) {
	c.State = Closed
	c.Outcome = &Outcome{
		Status: utp.StatusFailed, Code: utp.CodeConsentRetryExhausted, Untouched: true,
		Message: fmt.Sprintf("the consent went stale %d times in a row, the last time for its %s; nothing was done, and nobody is asked again", MaxStale, reason),
	}
	m.Tally.Failed++
	m.emit(Note{Kind: kind, Call: c.ID, Detail: string(utp.CodeConsentRetryExhausted), Reason: reason}, RecordOutcome{Call: c.ID})
}

package session

import (
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/aaep"
)

// consent judges whether an invocation was allowed, and uses the consent up.
func (s *judged) consent(f *facts, r *report) {
	q := s.consentFor(f)
	if q != nil && (f.irreversible || q.callID != "" || q.answer != refused && q.answer != closed) {
		q.followed = true
	}
	if !f.irreversible {
		s.reversible(f, q, r)
		return
	}
	if q == nil {
		s.unasked(r)
		return
	}
	switch {
	case q.used:
		r.error("/irreversible", "§4.3.1", fmt.Sprintf("found a second irreversible invocation on the consent of %s, expected one consent for each", q.name), "SEQ-22", "SEQ-23", "CONF-01")
	case q.answer == refused:
		r.error("/irreversible", "§4.3.1", fmt.Sprintf("found an irreversible invocation, but question %s was refused", q.name), "SEQ-22", "SEQ-26")
	case q.answer == closed:
		r.error("/irreversible", "§4.3.1", fmt.Sprintf("found an irreversible invocation, but question %s was taken back", q.name), "SEQ-22")
	case q.answer == pending && q.explicit && !s.view().hidden[stateChanged]:
		r.error("/irreversible", "§4.3.1", fmt.Sprintf("found an irreversible invocation, but question %s is not answered yet", q.name), "SEQ-22")
	case q.defaulted:
		r.warn("/irreversible", "§4.3.1", fmt.Sprintf("found an irreversible invocation that silence allowed (question %s), expected a person's accept", q.name), "SEQ-22")
	}
	q.used = true
}

// unasked judges an irreversible invocation without any question. Whoever cannot
// answer is not asked, and who came late has not heard the question (C-46, C-91).
func (s *judged) unasked(r *report) {
	const message = "found an irreversible invocation that nobody was asked about, expected a confirmation answered accept before"
	switch {
	case s.late:
	case s.view().hidden[confirmation]:
		r.warn("/irreversible", "§4.3.1", message+", which this subscription may not have been sent", "SEQ-22", "CONF-01")
	default:
		r.error("/irreversible", "§4.3.1", message, "SEQ-22", "CONF-01")
	}
}

// reversible judges an invocation that needs no consent by itself.
func (s *judged) reversible(f *facts, q *question, r *report) {
	switch {
	case q != nil && q.callID != "" && q.answer == refused:
		r.warn("/tool_call_id", "A.4", fmt.Sprintf("found an invocation of what question %s refused, expected none", q.name), "SEQ-26")
	case s.late || s.view().hidden[confirmation]:
	case (q == nil || q.answer == refused || q.answer == closed) && string(f.risk) == string(aaep.RiskHigh):
		r.warn("/risk_level", "§2.3.5", "found an invocation of high risk without an accepted confirmation, expected one before", "CONF-02")
	}
}

// consentFor finds the confirmation that an invocation rests on: the latest that names
// its call, or else the nearest earlier one that names no call. Of those the unused
// come first, and what was refused comes last, so that the finding is the mildest that
// the stream allows.
func (s *judged) consentFor(f *facts) *question {
	var best *question
	for _, q := range slices.Backward(s.questions) {
		if !q.confirmation {
			continue
		}
		if len(f.callID) > 0 && q.callID == string(f.callID) {
			return q
		}
		names := q.callID == "" || len(f.callID) == 0 && q.tool == string(f.tool)
		if names && (best == nil || q.worth() > best.worth()) {
			best = q
		}
	}
	return best
}

// worth ranks the consents that an invocation could rest on.
func (q *question) worth() int {
	switch {
	case q.used && q.answer != refused && q.answer != closed:
		return 2
	case q.answer == accepted && !q.defaulted:
		return 6
	case q.answer == pending:
		return 5
	case q.answer == unclear:
		return 4
	case q.answer == accepted:
		return 3
	default:
		return 1
	}
}

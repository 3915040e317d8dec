package session

import (
	"fmt"
	"slices"
)

// consent judges whether an invocation was allowed, and uses the consent up.
func (s *judged) consent(f facts, r *report) {
	q := s.consentFor(f)
	if q != nil && (f.irreversible || q.callID != "" || q.answer != refused && q.answer != closed) {
		q.followed = true
	}
	if !f.irreversible {
		s.reversible(f, q, r)
		return
	}
	switch {
	case q == nil:
		r.error("/irreversible", "§4.3.1", "found an irreversible invocation that nobody was asked about, expected a confirmation answered accept before", "SEQ-22")
	case q.used:
		r.error("/irreversible", "§4.3.1", fmt.Sprintf("found a second irreversible invocation on the consent of question %s, expected one consent for each", q.token), "SEQ-22", "SEQ-23")
	case q.answer == refused:
		r.error("/irreversible", "§4.3.1", fmt.Sprintf("found an irreversible invocation, but question %s was refused", q.token), "SEQ-22", "SEQ-26")
	case q.answer == closed:
		r.error("/irreversible", "§4.3.1", fmt.Sprintf("found an irreversible invocation, but question %s was taken back", q.token), "SEQ-22")
	case q.answer == pending && q.explicit:
		r.error("/irreversible", "§4.3.1", fmt.Sprintf("found an irreversible invocation, but question %s is not answered yet", q.token), "SEQ-22")
	case q.defaulted:
		r.warn("/irreversible", "§4.3.1", fmt.Sprintf("found an irreversible invocation that silence allowed (question %s), expected a person's accept", q.token), "SEQ-22")
	}
	if q != nil {
		q.used = true
	}
}

// reversible judges an invocation that needs no consent by itself.
func (s *judged) reversible(f facts, q *question, r *report) {
	switch {
	case q != nil && q.callID != "" && q.answer == refused:
		r.warn("/tool_call_id", "A.4", fmt.Sprintf("found an invocation of what question %s refused, expected none", q.token), "SEQ-26")
	case f.highRisk && (q == nil || q.answer == refused || q.answer == closed):
		r.warn("/risk_level", "§2.3.5", "found an invocation of high risk without an accepted confirmation, expected one before", "CONF-02")
	}
}

// consentFor finds the confirmation that an invocation rests on: the latest that names
// its call, or else the nearest earlier one that names no call. Of those the unused
// come first, and what was refused comes last, so that the finding is the mildest that
// the stream allows.
func (s *judged) consentFor(f facts) *question {
	var best *question
	for _, q := range slices.Backward(s.questions) {
		if !q.confirmation {
			continue
		}
		if f.callID != "" && q.callID == f.callID {
			return q
		}
		names := q.callID == "" || f.callID == "" && q.tool == f.tool
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

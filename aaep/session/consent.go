package session

import (
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/aaep"
)

// consent judges whether an invocation was allowed, and uses the consent up.
func (s *judged) consent(f *facts, r *report) {
	q, other := s.consentFor(f)
	if q == nil {
		s.unconsented(f, other, r)
		return
	}
	stands, silent := q.standing()
	forever := f.irreversible || q.undoing == irreversible && len(f.callID) > 0 && q.callID == string(f.callID) // as the person was told
	if forever || q.callID != "" || stands != refused && stands != closed {
		q.followed = true
	}
	if !forever {
		s.reversible(f, q, stands, r)
		return
	}
	if message, rules := q.against(string(f.tool), stands, silent); message != "" {
		r.error("/irreversible", "§4.3.1", "found "+message, rules...)
	} else {
		q.weak(silent, r)
		q.doubted = !q.certain && !silent
	}
	if q.used == 0 {
		q.used = f.number
	}
}

// against is what the stream shows against an irreversible invocation that rests on the
// question; "" where it shows nothing. Where it does not show how the question ended, it
// may have been accepted.
func (q *question) against(tool string, stands answer, silent bool) (message string, rules []string) {
	switch {
	case q.used > 0:
		return fmt.Sprintf("a second irreversible invocation on the consent of %s, expected one consent for each", q.name), []string{"SEQ-22", "SEQ-23", "CONF-01"}
	case another(q.tool, tool):
		return fmt.Sprintf("an irreversible invocation of %s, but question %s asked about %s", tool, q.name, q.tool), []string{"SEQ-22"}
	case stands == refused && q.late:
		return fmt.Sprintf("an irreversible invocation, but question %s was accepted only after its deadline", q.name), []string{"SEQ-22", "SEQ-26", "CONF-53"}
	case stands == refused && silent:
		return fmt.Sprintf("an irreversible invocation, but no answer to question %s was seen in time, and its default is reject", q.name), []string{"SEQ-22", "SEQ-26"}
	case stands == refused:
		return fmt.Sprintf("an irreversible invocation, but question %s was refused", q.name), []string{"SEQ-22", "SEQ-26"}
	case stands == changed:
		return fmt.Sprintf("an irreversible invocation, but the answer to question %s changed its action (modified_action)", q.name), []string{"SEQ-22", "CONF-38"}
	case stands == closed:
		return fmt.Sprintf("an irreversible invocation, but question %s was taken back", q.name), []string{"SEQ-22"}
	case stands == pending && q.explicit && !q.session.view().hidden[stateChanged]:
		return fmt.Sprintf("an irreversible invocation, but question %s is not answered yet", q.name), []string{"SEQ-22"}
	case q.undoing == reversible:
		return fmt.Sprintf("an irreversible invocation, but question %s said that its action can be undone", q.name), []string{"SEQ-22"}
	default:
		return "", nil
	}
}

// weak warns of a consent that an irreversible invocation should not rest on.
func (q *question) weak(silent bool, r *report) {
	if silent {
		r.warn("/irreversible", "§4.3.1", fmt.Sprintf("found an irreversible invocation that silence allowed (question %s), expected a person's accept", q.name), "SEQ-22")
	}
	if q.undoing == unsaid {
		const message = "found an irreversible invocation, but question %s did not say that its action cannot be undone; expected irreversible=true"
		r.warn("/irreversible", "§4.3.1", fmt.Sprintf(message, q.name), "SEQ-22")
	}
}

// unconsented judges an invocation that no question is about; other asked about another
// tool, if there is one.
func (s *judged) unconsented(f *facts, other *question, r *report) {
	if !f.irreversible {
		s.grave(f, r)
		return
	}
	message := "found an irreversible invocation that nobody was asked about"
	if other != nil {
		message = fmt.Sprintf("found an irreversible invocation of %s, but question %s asked about %s", f.tool, other.name, other.tool)
	}
	s.unasked(message+", expected a confirmation answered accept before", r)
}

// unasked judges an irreversible invocation without a question. Anyone who cannot
// answer is not asked, and who came late has not heard the question (C-46, C-91).
func (s *judged) unasked(message string, r *report) {
	switch {
	case s.late:
	case s.view().hidden[confirmation]:
		r.warn("/irreversible", "§4.3.1", message+", which this subscription may not have been sent", "SEQ-22", "CONF-01")
	default:
		r.error("/irreversible", "§4.3.1", message, "SEQ-22", "CONF-01")
	}
}

// reversible judges an invocation that needs no consent by itself.
func (s *judged) reversible(f *facts, q *question, stands answer, r *report) {
	switch {
	case q.callID != "" && stands == refused:
		r.warn("/tool_call_id", "A.4", fmt.Sprintf("found an invocation of what question %s refused, expected none", q.name), "SEQ-26")
	case stands == refused, stands == closed:
		s.grave(f, r)
	default: // it was accepted, or may have been
	}
}

// grave judges an invocation that can be undone and that nobody accepted, by its risk.
func (s *judged) grave(f *facts, r *report) {
	if !s.late && !s.view().hidden[confirmation] && string(f.risk) == string(aaep.RiskHigh) {
		r.warn("/risk_level", "§2.3.5", "found an invocation of high risk without an accepted confirmation, expected one before", "CONF-02")
	}
}

// consentFor finds the confirmation that an invocation rests on: the latest that names
// its call, or else the nearest earlier one that names no call (C-45) and no other tool.
// Of those the one is taken that makes the finding the mildest that the stream allows.
// Other is the nearest one that is left out for its tool.
func (s *judged) consentFor(f *facts) (best, other *question) {
	most := 0
	for _, q := range slices.Backward(s.questions) {
		switch {
		case !q.confirmation:
		case len(f.callID) > 0 && q.callID == string(f.callID):
			return q, nil
		case q.callID != "" && (len(f.callID) > 0 || q.tool != string(f.tool)):
		case another(q.tool, string(f.tool)):
			if other == nil {
				other = q
			}
		default:
			if worth := q.worth(f.irreversible); best == nil || worth > most {
				best, most = q, worth
			}
		}
	}
	return best, other
}

// worth ranks the consents that an invocation could rest on. Of two that are worth the
// same, one that nothing has followed yet is worth more, and then one that is not kept
// for something irreversible.
func (q *question) worth(forever bool) int {
	stands, silent := q.standing()
	worth := 0
	switch {
	case stands == refused || stands == closed || stands == changed && forever:
	case q.used > 0:
		worth = 1
	case forever && q.undoing == reversible:
		worth = 2
	case silent:
		worth = 3
	case stands == accepted:
		worth = 6
	case stands == pending:
		worth = 5
	default:
		worth = 4
	}
	if forever && worth > 3 && q.undoing == irreversible {
		worth += 3 // before those that only do not say otherwise
	}
	worth *= 4
	if !q.followed {
		worth += 2
	}
	if !forever && q.undoing != irreversible {
		worth++
	}
	return worth
}

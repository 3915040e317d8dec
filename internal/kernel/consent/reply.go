package consent

import (
	"slices"
	"time"
)

// Reply is one decoded and schema-valid confirmation.reply or
// clarification.reply (step 1 of §6.3.4 is the decoder's), with what the
// transport knows about its sender.
type Reply struct {
	Kind  Kind   // which of the two messages it was
	Token string // as echoed; "" in a reply that names the question by its number alone
	// Number is that question's, in a reply without a token. Such a reply names no asking: see [Question.Again].
	Number int
	// Timestamp is when the person decided, by the sender's clock. It may lie
	// before the question (C-59), but zero is not a TIMEATALL and is too late.
	Timestamp time.Time
	// Authenticated says that the transport vouches for Principal, and that
	// Principal may answer this question.
	Authenticated bool
	Principal     string
	Surface       string // where it was given, for the record
	Rationale     string // decision_rationale

	Decision       Decision // of a confirmation
	ModifiedAction bool     // the reply carried modified_action
	Response       Response // of a clarification
}

// Reply judges a reply that arrives now, in the order of §6.3.4. The first valid
// one resolves the question; any other changes nothing.
func (q Question) Reply(now time.Time, r Reply) (Question, Outcome) {
	if reason := q.admits(now, r); reason != "" {
		return q, ignored(reason)
	}

	end := Resolution{How: ByReply, By: r.Principal, Surface: r.Surface, At: now, Rationale: r.Rationale}

	if q.Kind == Clarification {
		if reason := q.fits(r.Response); reason != "" {
			return q, ignored(reason)
		}

		end.Response = r.Response

		return q.resolve(Answered, end), changed(Decided)
	}

	if !slices.Contains(q.AllowedReplies, r.Decision) {
		return q, ignored(DecisionNotAllowed)
	}

	switch {
	case r.Decision == Accept && !r.ModifiedAction:
		return q.resolve(Accepted, end), changed(Decided)
	case r.Decision == Accept:
		return q.resolve(Rejected, end), Outcome{Changed: true, Reason: Decided, Modified: true}
	case r.Decision == Reject:
		return q.resolve(Rejected, end), changed(Decided)
	default:
		return q, ignored(DecisionNotAllowed)
	}
}

// admits runs the checks that both kinds share (CONF-51…54, CLA-07).
func (q Question) admits(now time.Time, r Reply) Reason {
	reason := q.names(r)
	switch {
	case reason != "":
		return reason
	case r.Kind != q.Kind || (q.Kind != Confirmation && q.Kind != Clarification):
		return WrongKind
	case q.State != Open:
		return SpentToken
	case r.Timestamp.IsZero() || !r.Timestamp.Before(q.Deadline()) || !now.Before(q.Deadline()):
		return TooLate
	case !r.Authenticated || r.Principal == "":
		return NotAuthenticated
	default:
		return ""
	}
}

// names checks that the reply is about this asking of this question.
func (q Question) names(r Reply) Reason {
	numbered := r.Token == "" && r.Number == q.Number && r.Number > 0
	switch {
	case slices.Contains(q.SpentTokens, r.Token):
		return SpentToken
	case !numbered && (r.Token == "" || r.Token != q.Token):
		return UnknownToken
	case numbered && q.Again && q.State == Open && (r.Kind != Confirmation || r.Decision != Reject):
		return NoToken
	default:
		return ""
	}
}

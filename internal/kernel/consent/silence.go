package consent

import "time"

// Expire applies the default once the deadline is reached (CONF-70, CLA-11). For
// an irreversible or high-risk action that is always a refusal, whatever the
// record says. A question that nobody is known to have seen does not expire
// within [MaxSeconds]: [Question.Await] comes first.
func (q Question) Expire(now time.Time) (Question, Outcome) {
	end := q.Deadline()
	if q.Unseen {
		end = q.retainedUntil()
	}

	if q.State == Open && now.Before(end) {
		return q, ignored(NotDue)
	}

	return q.silence(now, ByTimeout)
}

// Nobody applies the default at once: no one can answer, and the operator's
// policy is to decide rather than to wait (CONF-83, C-66).
func (q Question) Nobody(now time.Time) (Question, Outcome) { return q.silence(now, ByNobody) }

// Withdraw ends the question without a decision: circumstances changed, or its
// session ended (CONF-75, CONF-76, CLA-15). The token is dead.
func (q Question) Withdraw(now time.Time, reason string) (Question, Outcome) {
	if q.State != Open {
		return q, ignored(NotOpen)
	}

	end := Resolution{How: ByWithdrawal, At: now, Rationale: reason}

	return q.resolve(Withdrawn, end), changed(Dropped)
}

func (q Question) silence(now time.Time, how How) (Question, Outcome) {
	if q.State != Open {
		return q, ignored(NotOpen)
	}

	end := Resolution{How: how, At: now}

	if q.Kind == Clarification {
		end.Response = q.fallback()
	}

	if q.Kind == Confirmation && q.Default == Accept && !q.mustRefuse() {
		return q.resolve(Accepted, end), changed(Defaulted)
	}

	return q.resolve(Expired, end), changed(Defaulted)
}

package turn

import (
	"time"

	"github.com/earshot-dev/earshot/utp"
)

// questionAsked records the question's number and digest in the call.
func (m *machine) questionAsked(in QuestionAsked) error {
	c := m.call(in.Call)
	switch {
	case c == nil || in.Number <= 0:
		return refuse(utp.CodeNotFound, "no such call to ask about")
	case c.State == Requested:
		c.State, c.Question, c.Digest = Asked, in.Number, in.Digest
		m.emit(Note{Kind: NoteAsked, Call: c.ID})
	case c.State == Unknown:
		c.Question = in.Number
		m.emit(Note{Kind: NoteOutcomeAsked, Call: c.ID})
	default:
		return refuse(utp.CodeConflict, "the call is "+string(c.State)+"; it cannot be asked about")
	}
	return nil
}

// askedAgain reports that an open question is asked again unchanged. Whether it was shown is not an
// answer, so its call does not change.
func (m *machine) askedAgain(question int, why NoteKind) error {
	c := m.asked(question)
	if c == nil || c.State != Asked && c.State != Unknown {
		return refuse(utp.CodeNotFound, "no open question has that number")
	}
	m.emit(Note{Kind: why, Call: c.ID})
	return nil
}

func (m *machine) answered(in Answered) error {
	c := m.asked(in.Question)
	if c == nil {
		return refuse(utp.CodeNotFound, "no open question has that number")
	}
	if c.Kind != ToolCall && c.Kind != PermissionCall {
		return refuse(utp.CodeBadRequest, "the agent's own question is answered, not agreed to")
	}
	switch c.State {
	case Unknown:
		m.outcomeAnswered(c, in)
	case Asked:
		m.consentAnswered(c, in)
	case Accepted:
		if in.Accept {
			return refuse(utp.CodeDone, "the question has been answered")
		}
		return m.undo(Undo{Question: in.Question, By: in.By, Surface: in.Surface})
	case Requested, Dispatched, Started, LeaseExpired, Finished, Resolved, Closed:
		return refuse(utp.CodeDone, "the question has been answered")
	}
	return nil
}

func (m *machine) consentAnswered(c *Call, in Answered) {
	receipt := Receipt{Call: c.ID, By: in.By, Surface: in.Surface, Decision: "reject"}
	if !in.Accept {
		m.emit(receipt)
		if c.Kind == ToolCall {
			m.Tally.Declined++
		}
		m.close(c, utp.CodeConsentDeclined, actor{in.By, in.Surface})
		return
	}
	if c.Kind == PermissionCall {
		m.permitted(c, in)
		return
	}
	receipt.Decision = "accept"
	c.State = Accepted
	c.Consent = &Consent{By: in.By, Credential: in.Credential, Surface: in.Surface, At: m.now, Generation: in.Generation}
	if c.Class == utp.Irreversible {
		c.Limits.PreferredUndo = in.Undo
		c.StartBy = m.now.Add(NoticeWithin)
	} else {
		c.DispatchAt, c.StartBy = m.now, m.now.Add(c.Limits.startWithin())
	}
	m.emit(receipt, Note{Kind: NoteAccepted, Call: c.ID, By: in.By, Surface: in.Surface})
}

// noticed begins the undo time, which nobody could use before. A repeated or late notice changes
// nothing.
func (m *machine) noticed(in Noticed) error {
	c := m.asked(in.Question)
	switch {
	case c == nil:
		return refuse(utp.CodeNotFound, "no accepted question has that number")
	case c.State == Accepted && !c.Noticed() && !c.StartBy.Passed(m.now):
		c.DispatchAt = m.now.Add(c.Limits.UndoTime())
		c.StartBy = c.DispatchAt.Add(c.Limits.startWithin())
	}
	return nil
}

// Noticed reports whether the undo time of an accepted call has begun.
func (c Call) Noticed() bool { return !c.DispatchAt.IsZero() }

// StartsAt returns when an accepted call is dispatched. If the surface has not been notified yet, it is
// when the call is dispatched if the surface is notified now.
func (c Call) StartsAt(now time.Time) time.Time {
	if c.State == Accepted && !c.Noticed() {
		return now.Add(c.Limits.UndoTime())
	}
	return c.DispatchAt.Wall
}

func (m *machine) unanswered(in Unanswered) error {
	c := m.asked(in.Question)
	if c == nil {
		return refuse(utp.CodeNotFound, "no open question has that number")
	}
	if c.Kind == QuestionCall {
		return m.responded(Responded{Question: in.Question, Outcome: Outcome{Status: utp.StatusCanceled, Code: in.Code}})
	}
	switch c.State {
	case Unknown:
		m.outcomeAnswered(c, Answered{Question: in.Question})
	case Asked:
		if c.Kind == ToolCall {
			m.Tally.Expired++
		}
		if old := m.call(c.Replaces); old != nil && old.Consent != nil {
			m.Tally.Broken++
		}
		m.close(c, in.Code, actor{})
	case Requested, Accepted, Dispatched, Started, LeaseExpired, Finished, Resolved, Closed:
		return refuse(utp.CodeDone, "the question has been answered")
	}
	return nil
}

// actor is who caused something, and where; empty for nobody.
type actor struct{ by, surface string }

// stopper returns who stopped the turn.
func (m *machine) stopper() actor {
	if m.Stop == nil {
		return actor{}
	}
	return actor{m.Stop.By, m.Stop.Surface}
}

// close ends a call before its start. If an earlier owner may have done its work all the same, the
// outcome is unknown instead.
func (m *machine) close(c *Call, code utp.Code, cause actor) {
	if c.Unsure {
		m.unknown(c)
		return
	}
	dispatched := c.State == Dispatched // its invocation was reported, so its end must be too
	c.State = Closed
	c.Outcome = &Outcome{Status: utp.StatusCanceled, Code: code}
	if c.Kind == ToolCall {
		m.Tally.Cancelled++
	}
	kind := NoteRefused
	if dispatched {
		kind = NoteCompleted
	}
	m.emit(Note{Kind: kind, Call: c.ID, Detail: string(code), By: cause.by, Surface: cause.surface}, RecordOutcome{Call: c.ID})
}

// Reasons for a stale consent, besides the changes that the caller finds ("arguments", "definition", …).
const (
	// StaleAge is a yes that was not used in time. StaleUnnoticed is a yes whose surface was not
	// notified in time.
	StaleAge       = "age"
	StaleUnnoticed = "unnoticed"
	// StaleRestarted is a yes of an earlier generation: the process that received it is gone. The
	// call is asked for again under the number of its question.
	StaleRestarted = "restarted"
)

// stale ends a call whose consent no longer applies what would run, and asks again. The reason names
// what changed: "age", "arguments", "definition", …. It does not ask again for a call that is
// forbidden now, nor for one whose consents went stale [MaxStale] times in a row.
func (m *machine) stale(c *Call, reason string) {
	if reason == ReasonDenied {
		m.close(c, utp.CodeDeniedByPolicy, actor{})
		return
	}
	if reason == StaleAge && m.unattended(c, m.now) {
		reason = StaleUnawaited
	}
	if c.Unsure {
		m.unknown(c)
		return
	}
	kind := NoteRefused
	if c.State == Dispatched || c.State == Started || c.State == LeaseExpired { // its invocation was reported
		kind = NoteCompleted
	}
	if reason != StaleUnawaited && m.exhausted(c, reason) {
		m.endExhausted(c, kind, reason)
		return
	}
	c.State = Closed
	c.Outcome = &Outcome{Status: utp.StatusCanceled, Code: utp.CodeConsentStale, Message: reason}
	m.Tally.Cancelled++
	// Nobody is asked about what policy allows. If it does not fit a second time, it never will,
	// and asking again would not end.
	again := m.Stop == nil && m.Closing == nil && reason != StaleUnawaited && (c.Decision == Ask || c.Replaces == "")
	m.emit(
		Note{Kind: kind, Call: c.ID, Detail: string(utp.CodeConsentStale), Reason: reason, Again: again},
		RecordOutcome{Call: c.ID},
	)
	if again {
		m.emit(Replace{Call: c.ID})
	}
}

// fresh returns "" if the call may still run as it was agreed to, else the reason why not.
func (m *machine) fresh(c *Call, check Check) string {
	switch {
	case c.StartBy.Passed(m.now):
		return StaleAge
	case check.Call != c.ID:
		return "call"
	case !c.Adopted && c.Number != m.Step:
		return "epoch"
	case check.Digest != c.Digest || c.Digest == "":
		if check.Reason == "" {
			return "digest"
		}
		return check.Reason
	}
	return ""
}

// dispatch sends the command and uses the consent up in the same step.
func (m *machine) dispatch(c *Call) {
	if c.Decision == Ask {
		c.Consent.Consumed = true
		m.emit(Consume{Call: c.ID, Question: c.Question})
	}
	if c.Batch != nil {
		m.delegate(c)
		return
	}
	c.State = Dispatched
	c.EndBy = m.now.Add(c.Limits.resultTime())
	c.Wakeups = 0
	c.WakeupAt = m.now.Wall.Add(wakeupPause(0))
	m.Tally.Invoked++
	m.emit(Note{Kind: NoteInvoked, Call: c.ID}, Command{Call: c.ID})
}

func (m *machine) undo(in Undo) error {
	c := m.asked(in.Question)
	if c == nil {
		return refuse(utp.CodeNotFound, "no accepted question has that number")
	}
	if c.State == Requested || c.State == Asked {
		return refuse(utp.CodeDone, "nobody has said yes to it as it is asked now, and nothing was done; to have it not done, reject it")
	}
	switch {
	case !c.State.Open():
		return refuse(utp.CodeDone, "the call is over")
	case c.State != Accepted && c.State != Dispatched:
		return refuse(utp.CodeDone, "the call has started; it can only be stopped")
	}
	m.Tally.Undone++
	m.emit(Receipt{Call: c.ID, By: in.By, Surface: in.Surface, Decision: Undone})
	if m.Outside { // the program may have a whole day's work left: only the call ends
		m.close(c, utp.CodeStopped, actor{in.By, in.Surface})
		return nil
	}
	m.stop(Stop{By: in.By, Surface: in.Surface, Reason: ReasonUndone})
	return nil
}

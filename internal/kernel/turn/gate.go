package turn

import (
	"time"

	"github.com/earshot-dev/earshot/utp"
)

// questionAsked ties the number and the digest to the call, once it has both.
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

// askedAgain tells that an open question is asked again as it is. That it was shown, or
// not, is not an answer: nothing of its call changes.
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

// noticed begins the time to take a yes back, which nobody could use before. It may be said
// again, or too late; that changes nothing.
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

// Noticed reports whether the time to take an accepted call back has begun.
func (c Call) Noticed() bool { return !c.DispatchAt.IsZero() }

// StartsAt is when an accepted call leaves: of one whose surface is still to be told, when it
// leaves if that is told now.
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

// actor caused something, and where; empty for nobody.
type actor struct{ by, surface string }

// stopper is who stopped the turn.
func (m *machine) stopper() actor {
	if m.Stop == nil {
		return actor{}
	}
	return actor{m.Stop.By, m.Stop.Surface}
}

// close ends a call before its start. One that an earlier owner may have done all the
// same is not over: its fate is unknown.
func (m *machine) close(c *Call, code utp.Code, cause actor) {
	if c.Unsure {
		m.unknown(c)
		return
	}
	dispatched := c.State == Dispatched // its invocation has been told, so its end must be too
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

// Why a consent is stale beside what the caller finds changed ("arguments", "definition", …).
const (
	// StaleAge is a yes that was not used in time, StaleUnnoticed one whose surface was not
	// told of it in time.
	StaleAge       = "age"
	StaleUnnoticed = "unnoticed"
	// StaleRestarted is a yes of an earlier generation: the process that took it is gone. It is
	// asked for again under the number of its question.
	StaleRestarted = "restarted"
)

// stale ends a call whose consent no longer fits what would run, and asks again. The
// reason names what changed: "age", "arguments", "definition", …. One that is forbidden now
// is not asked for again, nor one whose consents went stale [MaxStale] times in a row.
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
	if c.State == Dispatched || c.State == Started || c.State == LeaseExpired { // its invocation has been told
		kind = NoteCompleted
	}
	if reason != StaleUnawaited && m.exhausted(c, reason) {
		m.endExhausted(c, kind, reason)
		return
	}
	c.State = Closed
	c.Outcome = &Outcome{Status: utp.StatusCanceled, Code: utp.CodeConsentStale, Message: reason}
	m.Tally.Cancelled++
	// Nobody is asked about what policy allows: if it does not fit a second time, then it
	// never will, and going round would have no end.
	again := m.Stop == nil && m.Closing == nil && reason != StaleUnawaited && (c.Decision == Ask || c.Replaces == "")
	m.emit(
		Note{Kind: kind, Call: c.ID, Detail: string(utp.CodeConsentStale), Surface: reason, Again: again},
		RecordOutcome{Call: c.ID},
	)
	if again {
		m.emit(Replace{Call: c.ID})
	}
}

// fresh reports whether the call may still run as it was agreed: the reason why not,
// or "".
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

// dispatch lets the command leave: the consent is used up in the same breath.
func (m *machine) dispatch(c *Call) {
	if c.Decision == Ask {
		c.Consent.Consumed = true
		m.emit(Consume{Call: c.ID, Question: c.Question})
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
	if c.State != Accepted && c.State != Dispatched {
		return refuse(utp.CodeDone, "the call is "+string(c.State)+"; it can no longer be taken back, only stopped")
	}
	m.Tally.Undone++
	m.emit(Receipt{Call: c.ID, By: in.By, Surface: in.Surface, Decision: Undone})
	if m.Outside { // its program may have a whole day's work before it: the call alone ends
		m.close(c, utp.CodeStopped, actor{in.By, in.Surface})
		return nil
	}
	m.stop(Stop{By: in.By, Surface: in.Surface, Reason: "undone"})
	return nil
}

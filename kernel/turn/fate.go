package turn

import "github.com/earshot-dev/earshot/utp"

// lapse is what follows when an owner has fallen silent: what may be repeated goes
// back to be started anew, anything else is looked into.
func (m *machine) lapse(c *Call) {
	if m.Stop != nil && c.Class.Repeatable() { // no further start: say what is known of this one
		if c.Class.Effectful() {
			m.unknown(c)
			return
		}
		c.State = Dispatched
		m.over(c, utp.CodeStopped, m.stopper())
		return
	}
	if c.Class.Repeatable() {
		c.State, c.Owner = Dispatched, ""
		if c.Decision == Allow {
			c.StartBy = m.now.Add(c.Limits.startWithin())
		}
		c.RingAt = m.now.Wall.Add(ringAfter(0))
		m.emit(Command{Call: c.ID, Again: true})
		return
	}
	if !c.Limits.Reconciles {
		m.unknown(c)
		return
	}
	c.State = Lapsed
	m.askService(c)
}

// askService gives the service its time to tell; the lease, which nobody holds, ends it.
// It is asked again meanwhile: it may not have been listening, as right after a start.
func (m *machine) askService(c *Call) {
	c.Lease = m.now.Add(c.Limits.settle())
	c.SettleBy = c.Lease.Wall
	c.Rung, c.RingAt = 0, m.now.Wall.Add(ringAfter(0))
	m.emit(AskService{Call: c.ID})
}

// unknown puts the call's fate to a person. Where the turn is being stopped the last
// event of the session tells it instead.
func (m *machine) unknown(c *Call) {
	left := c.State != Requested && c.State != Asked && c.State != Accepted
	c.State = Unknown
	c.Outcome = &Outcome{Status: utp.StatusFailed, Code: utp.CodeOutcomeUnknown}
	m.Tally.Unknown++
	if left {
		m.emit(Note{Kind: NoteCompleted, Call: c.ID, Detail: string(utp.CodeOutcomeUnknown)})
	}
	if m.Stop != nil {
		c.State = Resolved
		m.emit(RecordOutcome{Call: c.ID})
		return
	}
	m.emit(AskFate{Call: c.ID})
}

// fateAnswered closes the question about an unknown call. Asking again while the old
// owner may still be at work takes a second word.
func (m *machine) fateAnswered(c *Call, in Answered) {
	m.emit(Receipt{Call: c.ID, By: in.By, Surface: in.Surface, Decision: fateWord(in.Insist)})
	if in.Insist && !c.OwnerGone && !c.Insisted {
		c.Insisted = true
		m.emit(Note{Kind: NoteFateClosed, Call: c.ID, Detail: "insist", By: in.By, Surface: in.Surface}, AskFate{Call: c.ID})
		return
	}
	c.State = Resolved
	m.emit(
		Note{Kind: NoteFateClosed, Call: c.ID, Detail: fateWord(in.Insist), By: in.By, Surface: in.Surface},
		RecordOutcome{Call: c.ID},
	)
	if in.Insist {
		m.emit(Replace{Call: c.ID})
	}
}

func fateWord(insist bool) string {
	if insist {
		return "ask again"
	}
	return "leave"
}

// settle takes a service's word on a call that lapsed.
func (m *machine) settle(in Settle) error {
	c := m.call(in.Call)
	if c == nil {
		return refuse(utp.CodeUnknownCall, "the ledger has no such call in this turn")
	}
	if c.State != Lapsed && c.State != Unknown {
		return refuse(utp.CodeDone, "the call is "+string(c.State)+"; its fate is settled")
	}
	switch in.Fate {
	case Done:
		if c.State == Unknown {
			m.settled(c, in.Outcome)
		} else {
			m.complete(c, Finished, in.Outcome)
		}
	case NotBegun:
		m.notBegun(c)
	case FateUnknown:
		if c.State == Lapsed {
			m.unknown(c)
		}
	default:
		return refuse(utp.CodeBadRequest, "a fate is done, not_begun or unknown")
	}
	return nil
}

// settled is a result that arrives while the person is being asked: it wins, and the
// question is withdrawn. The tool has been told as failed already, so only the
// question's end is told, with what is now known.
func (m *machine) settled(c *Call, o Outcome) {
	m.Tally.Unknown--
	c.State, c.Outcome = Finished, &o
	m.count(c, o)
	m.emit(
		Withdraw{Question: c.Question, Reason: "settled"},
		Note{Kind: NoteFateClosed, Call: c.ID, Detail: "settled"},
		RecordOutcome{Call: c.ID},
	)
}

// notBegun lets the call be started under the same consent while that is fresh.
func (m *machine) notBegun(c *Call) {
	if c.State == Unknown {
		m.settled(c, Outcome{Status: utp.StatusFailed, Code: utp.CodeConsentStale, Message: "it had not begun"})
		return
	}
	c.Owner = ""
	c.State = Dispatched
	if m.Stop != nil {
		m.over(c, utp.CodeStopped, m.stopper())
		return
	}
	if c.StartBy.Passed(m.now) {
		m.notStarted(c)
		return
	}
	c.RingAt = m.now.Wall.Add(ringAfter(0))
	m.emit(Command{Call: c.ID, Again: true})
}

// orphan is a start of the only process that workers and services live in: whoever
// held something before is gone.
func (m *machine) orphan() {
	m.Worker, m.Lease = "", Moment{}
	for i := range m.Calls {
		c := &m.Calls[i]
		switch c.State {
		case Started:
			c.OwnerGone = true
			m.lapse(c)
		case Lapsed:
			c.OwnerGone = true
			m.askService(c)
		case Unknown:
			c.OwnerGone = true
		case Dispatched:
			c.RingAt = m.now.Wall
		case Accepted:
			m.undoAnew(c)
		case Requested, Asked, Finished, Resolved, Over:
		}
	}
}

// undoAnew gives the whole undo time again: nobody could take the yes back while the
// process was gone. The time to start is not lengthened by it.
func (m *machine) undoAnew(c *Call) {
	if c.Class == utp.Irreversible {
		c.DispatchAt = m.now.Wall.Add(c.Limits.UndoTime())
	}
}

// restored is the ledger having gone back in time: whatever is open and has an
// effect may have happened in the part that was lost.
func (m *machine) restored() {
	m.Worker, m.Lease = "", Moment{}
	m.emit(Note{Kind: NoteFrozen})
	for i := range m.Calls {
		c := &m.Calls[i]
		if !c.State.Open() || !c.Class.Effectful() || c.State == Unknown {
			continue
		}
		if c.State == Asked {
			m.emit(Withdraw{Question: c.Question, Reason: "restored"})
		}
		m.unknown(c)
	}
}

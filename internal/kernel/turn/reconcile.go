package turn

import "github.com/earshot-dev/earshot/utp"

// leaseExpired is what follows when an owner has fallen silent: what may be repeated goes
// back to be started again, anything else is looked into.
func (m *machine) leaseExpired(c *Call) {
	c.LeaseExpiries++
	if c.Class.Repeatable() && c.Overdue {
		m.timedOut(c, Resolved, "no result within the tool's time")
		return
	}
	if c.Class.Repeatable() {
		c.State, c.Owner, c.Unsure = Dispatched, "", c.Class.Effectful()
		if m.Stop != nil { // no further start: say what is known of this one
			m.close(c, utp.CodeStopped, m.stopper())
			return
		}
		if c.Decision == Allow {
			c.StartBy = m.now.Add(c.Limits.startWithin())
		}
		c.WakeupAt = m.now.Wall.Add(wakeupPause(0))
		m.emit(Command{Call: c.ID, Again: true})
		return
	}
	if !c.Limits.Reconciles {
		m.unknown(c)
		return
	}
	c.State = LeaseExpired
	m.askService(c)
}

// askService gives the service its time to tell; the lease, which nobody holds, ends it.
// It is asked again meanwhile: it may not have been listening, as right after a start.
func (m *machine) askService(c *Call) {
	c.Lease = m.now.Add(c.Limits.reconcileWithin())
	c.ReconcileBy = c.Lease.Wall
	c.Wakeups, c.WakeupAt = 0, m.now.Wall.Add(wakeupPause(0))
	m.emit(AskService{Call: c.ID})
}

// unknown puts the call's fate to a person. Where the turn is being stopped, or ends, the
// last event of the session tells it instead.
func (m *machine) unknown(c *Call) {
	dispatched := c.State != Requested && c.State != Asked && c.State != Accepted
	c.State = Unknown
	c.Outcome = &Outcome{Status: utp.StatusFailed, Code: utp.CodeOutcomeUnknown}
	m.Tally.Unknown++
	if dispatched {
		m.emit(Note{Kind: NoteCompleted, Call: c.ID, Detail: string(utp.CodeOutcomeUnknown)})
	}
	if m.Stop != nil || m.ending {
		c.State = Resolved
		m.emit(RecordOutcome{Call: c.ID})
		return
	}
	m.emit(AskOutcome{Call: c.ID})
}

// outcomeAnswered closes the question about an unknown call. Asking again while the old
// owner may still be at work takes a second word.
func (m *machine) outcomeAnswered(c *Call, in Answered) {
	if in.By != "" { // nobody's silence has a receipt
		m.emit(Receipt{Call: c.ID, By: in.By, Surface: in.Surface, Decision: outcomeDecision(in.Insist)})
	}
	if in.Insist && !c.OwnerEnded && !c.Insisted {
		c.Insisted = true
		m.emit(Note{Kind: NoteOutcomeClosed, Call: c.ID, Detail: "insist", By: in.By, Surface: in.Surface}, AskOutcome{Call: c.ID})
		return
	}
	c.State = Resolved
	m.emit(
		Note{Kind: NoteOutcomeClosed, Call: c.ID, Detail: outcomeDecision(in.Insist), By: in.By, Surface: in.Surface},
		RecordOutcome{Call: c.ID},
	)
	if in.Insist {
		m.emit(Replace{Call: c.ID})
	}
}

func outcomeDecision(insist bool) string {
	if insist {
		return "ask again"
	}
	return "leave"
}

// reconciled takes a service's word on a call that lapsed. A word on an earlier lapse comes
// too late: the call has been started since.
func (m *machine) reconciled(in Reconciled) error {
	c := m.call(in.Call)
	if c == nil {
		return refuse(utp.CodeUnknownCall, "the ledger has no such call in this turn")
	}
	if c.State == Resolved && in.Finding == FindingDone {
		m.late(c, in.Outcome)
		return nil
	}
	if c.State != LeaseExpired && c.State != Unknown {
		return refuse(utp.CodeDone, "the call is "+string(c.State)+"; its fate is settled")
	}
	if in.LeaseExpiry != c.LeaseExpiries {
		return refuse(utp.CodeStale, "the call has been started since; ask again what is wanted to be known")
	}
	switch in.Finding {
	case FindingDone:
		if c.State == LeaseExpired {
			m.finished(c, in.Outcome)
		} else if c.Conclusive(in.Outcome) { // else the person is asked still
			m.resolvedByService(c, in.Outcome)
		}
	case FindingNotBegun:
		m.notBegun(c, in.Owner)
	case FindingUnknown:
		if c.State == LeaseExpired {
			m.unknown(c)
			c.Outcome.Message = in.Outcome.Message
		}
	default:
		return refuse(utp.CodeBadRequest, "a fate is done, not_begun or unknown")
	}
	return nil
}

// resolvedByService is a result that arrives while the person is being asked: it wins, and the
// question is withdrawn. The tool has been told as failed already, so only the
// question's end is told, with what is now known.
func (m *machine) resolvedByService(c *Call, o Outcome) {
	m.Tally.Unknown--
	c.State, c.Outcome = Finished, &o
	m.count(c, o)
	m.emit(
		Withdraw{Question: c.Question, Reason: "settled"},
		Note{Kind: NoteOutcomeClosed, Call: c.ID, Detail: "settled"},
		RecordOutcome{Call: c.ID},
	)
}

// notBegun lets the call be started under the same consent while that is fresh. Only
// the owner itself can know that it will not begin after all: the word of another does
// not count while the owner may be alive. Where no owner is known, as after a restoration,
// nobody is it: also not who gives no name.
func (m *machine) notBegun(c *Call, by string) {
	if (by == "" || by != c.Owner) && !c.OwnerEnded {
		if c.State == LeaseExpired {
			m.unknown(c)
		}
		return
	}
	if c.State == Unknown {
		m.resolvedByService(c, Outcome{Status: utp.StatusFailed, Code: utp.CodeConsentStale, Message: "it had not begun"})
		return
	}
	c.Owner = ""
	c.State = Dispatched
	if m.Stop != nil {
		m.close(c, utp.CodeStopped, m.stopper())
		return
	}
	if c.Overdue {
		m.timedOut(c, Finished, "it had not begun within the tool's time")
		return
	}
	if c.StartBy.Passed(m.now) {
		m.notStarted(c)
		return
	}
	c.WakeupAt = m.now.Wall.Add(wakeupPause(0))
	m.emit(Command{Call: c.ID, Again: true})
}

// orphan is a start of the only process that workers and services live in: whoever
// held something before is gone, and so is every yes to what cannot be undone that was not used.
func (m *machine) orphan(in Orphan) {
	m.releaseWorker()
	for i := range m.Calls {
		c := &m.Calls[i]
		c.Awaited = Timestamp{} // requests ended with the process that served them
		switch c.State {
		case Started:
			if c.ThirdParty {
				continue
			}
			c.OwnerEnded = true
			m.leaseExpired(c)
		case LeaseExpired:
			c.OwnerEnded = true
			m.askService(c)
		case Unknown:
			c.OwnerEnded = true
		case Dispatched:
			c.WakeupAt = m.now.Wall
			m.outlived(c, in.Generation)
		case Accepted:
			m.outlived(c, in.Generation)
		case Requested, Asked, Finished, Resolved, Closed:
		}
	}
}

// outlived asks again for a call whose consent is of another generation.
func (m *machine) outlived(c *Call, generation string) {
	if c.Outlives(generation) {
		m.stale(c, StaleRestarted)
	}
}

// Outlives reports whether the call has the consent of an earlier generation than this, and is
// of the class that needs one of its own.
func (c Call) Outlives(generation string) bool {
	return c.Class == utp.Irreversible && c.Consent != nil && c.Consent.Generation != generation
}

// restored is the ledger having gone back in time: whatever is open and has an
// effect may have happened in the part that was lost.
func (m *machine) restored() {
	m.releaseWorker()
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

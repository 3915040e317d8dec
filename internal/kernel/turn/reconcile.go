package turn

import "github.com/earshot-dev/earshot/utp"

// leaseExpired handles a call whose owner no longer renews its lease. A repeatable call is dispatched
// again; the outcome of any other call is reconciled.
func (m *machine) leaseExpired(c *Call) {
	c.LeaseExpiries++
	if c.Class.Repeatable() && c.Overdue {
		m.timedOut(c, Resolved, "no result within the tool's time")
		return
	}
	if c.Class.Repeatable() {
		c.State, c.Owner, c.Unsure = Dispatched, "", c.Class.Effectful()
		if m.Stop != nil { // no further start: report what is known of this one
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

// askService asks the service for the outcome, and sets the lease to when the answer is due. The
// service is asked again meanwhile: it may not be listening yet, as right after its start.
func (m *machine) askService(c *Call) {
	c.Lease = m.now.Add(c.Limits.reconcileWithin())
	c.ReconcileBy = c.Lease.Wall
	c.Wakeups, c.WakeupAt = 0, m.now.Wall.Add(wakeupPause(0))
	m.emit(AskService{Call: c.ID})
}

// unknown asks a person about a call whose outcome is unknown. If the turn is stopping or ending, the
// last event of the session reports it instead.
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

// outcomeAnswered closes the question about an unknown call. If the old owner may still be running,
// asking for the work again needs a second confirmation.
func (m *machine) outcomeAnswered(c *Call, in Answered) {
	if in.By != "" { // no answer, no receipt
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

// reconciled applies a service's report on a call whose lease expired. A report on an earlier lease is
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
		return refuse(utp.CodeDone, "the call is "+string(c.State)+"; its outcome is known")
	}
	if in.LeaseExpiry != c.LeaseExpiries {
		return refuse(utp.CodeStale, "the call has been started since; ask again what is wanted to be known")
	}
	switch in.Finding {
	case FindingDone:
		if c.State == LeaseExpired {
			m.finished(c, in.Outcome)
		} else if c.Conclusive(in.Outcome) { // else the question to the person stays open
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
		return refuse(utp.CodeBadRequest, "an outcome is done, not_begun or unknown")
	}
	return nil
}

// resolvedByService applies a result that arrives while the question about the outcome is open. The
// result wins, and the question is withdrawn. The call was already reported as failed, so only the
// end of the question is reported, with what is known now.
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

// notBegun lets the call be started under the same consent while that is fresh. Only the owner itself
// can know that it will not begin after all: another process's report does not count while the owner
// may be alive. If no owner is known, as after a restore, no report counts, not even one without a name.
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

// orphan handles a restart of the only process that runs workers and services. Every claim and lease
// from before is void, and so is every unused yes to an irreversible call.
func (m *machine) orphan(in Orphan) {
	m.releaseWorker()
	for i := range m.Calls {
		c := &m.Calls[i]
		c.Awaited = Timestamp{} // requests ended with the process that served them
		switch c.State {
		case Started:
			if c.ThirdParty || c.Batch != nil { // turns have no owner that could be gone with the process
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

// outlived asks again for a call whose consent belongs to another generation.
func (m *machine) outlived(c *Call, generation string) {
	if c.Outlives(generation) {
		m.stale(c, StaleRestarted)
	}
}

// Outlives reports whether the call is irreversible and its consent belongs to another generation than
// the given one.
func (c Call) Outlives(generation string) bool {
	return c.Class == utp.Irreversible && c.Consent != nil && c.Consent.Generation != generation
}

// restored handles a ledger that went back in time: every open call with an effect may have been
// executed in the part that was lost. If the deadline has passed as well, the turn ends with that, and nobody is asked.
func (m *machine) restored() {
	m.ending = m.deadlinePassed()
	m.releaseWorker()
	m.emit(Note{Kind: NoteFrozen})
	for i := range m.Calls {
		c := &m.Calls[i]
		running := c.Batch != nil && c.State == Started // its turns went back as well
		if !c.State.Open() || !c.Class.Effectful() || c.State == Unknown || running {
			continue
		}
		if c.State == Asked {
			m.emit(Withdraw{Question: c.Question, Reason: "restored"})
		}
		m.unknown(c)
	}
	m.pastDeadline()
}

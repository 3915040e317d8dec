package turn

import (
	"time"

	"github.com/earshot-dev/earshot/utp"
)

// progressStep is the least growth that is reported, in percent of the whole work.
const progressStep = 5

// wordsPause is the least time between two reports of what a call is doing; those in between are dropped.
const wordsPause = time.Second

// tick handles every deadline that has passed.
func (m *machine) tick(in Tick) {
	checks := make(map[string]Check, len(in.Checks))
	for _, c := range in.Checks {
		checks[c.Call] = c
	}
	m.undispatched(in.Engaged) // first: a turn that ends asks for no call again
	m.idle()
	m.gone()
	for i := 0; i < len(m.Calls) && m.Status != Ended; i++ {
		m.tickCall(&m.Calls[i], checks)
	}
}

func (m *machine) tickCall(c *Call, checks map[string]Check) {
	switch c.State {
	case Accepted:
		m.tickAccepted(c, checks)
	case Dispatched:
		m.tickDispatched(c)
	case Started:
		switch {
		case !c.EndBy.IsZero() && c.EndBy.reached(m.now):
			m.overdue(c)
		case c.Lease.Passed(m.now):
			m.leaseExpired(c)
		}
	case LeaseExpired:
		m.tickLeaseExpired(c)
	case Requested, Asked, Unknown, Finished, Resolved, Closed:
	}
}

func (m *machine) tickAccepted(c *Call, checks map[string]Check) {
	check, found := checks[c.ID]
	switch {
	case found && check.Reason == StaleRestarted:
		m.stale(c, StaleRestarted)
		return
	case c.StartBy.Passed(m.now) && !c.Noticed():
		m.stale(c, StaleUnnoticed)
		return
	case c.StartBy.Passed(m.now):
		m.stale(c, StaleAge)
		return
	case !found || !c.Noticed() || !c.DispatchAt.PassedOnBoth(m.now):
		return // without a fresh check nothing is dispatched
	case m.unattended(c, m.now):
		if !c.Unawaited {
			c.Unawaited = true
			m.emit(Note{Kind: NoteUnawaited, Call: c.ID})
		}
		return // it waits for an open request, until it is too old
	}
	if reason := m.fresh(c, check); reason != "" {
		m.stale(c, reason)
		return
	}
	m.dispatch(c)
}

func (m *machine) tickDispatched(c *Call) {
	if m.tooLateToStart(c) {
		m.overdue(c)
		return
	}
	if c.StartBy.Passed(m.now) {
		m.notStarted(c)
		return
	}
	if m.now.Wall.Before(c.nextWakeup(m.now)) {
		return
	}
	c.Wakeups++
	c.WakeupAt = m.now.Wall.Add(wakeupPause(c.Wakeups))
	m.emit(Command{Call: c.ID, Again: true})
}

// Expired reports whether the owner's lease, or the time for a result, has ended: the next tick takes
// the call from its owner, sends it again, or ends it.
func (c Call) Expired(now Timestamp) bool {
	return c.State == Started && (!c.EndBy.IsZero() && c.EndBy.reached(now) || c.Lease.Passed(now))
}

func (m *machine) tickLeaseExpired(c *Call) {
	switch {
	case c.Lease.Passed(m.now):
		m.unknown(c)
	case !m.now.Wall.Before(c.nextWakeup(m.now)):
		c.Wakeups++
		c.WakeupAt = m.now.Wall.Add(wakeupPause(c.Wakeups))
		m.emit(AskService{Call: c.ID})
	}
}

// nextWakeup returns when to send the next wakeup, on the wall clock as it stands now. A time further
// away than the longest pause was set before the clock was set back, and counts as now.
func (c *Call) nextWakeup(now Timestamp) time.Time {
	if c.WakeupAt.Sub(now.Wall) > maxWakeupPause {
		return now.Wall
	}
	return c.WakeupAt
}

// undelivered reports, once, that a message about the call cannot be sent. The call goes on: the
// command is sent again until the call is started or too old.
func (m *machine) undelivered(in Undelivered) error {
	c := m.call(in.Call)
	if c == nil {
		return refuse(utp.CodeUnknownCall, "the ledger has no such call in this turn")
	}
	if !c.Undelivered {
		c.Undelivered = true
		m.emit(Note{Kind: NoteUndelivered, Call: c.ID})
	}
	return nil
}

// unserved reports, once, that no service subscribes to the call's command. The call goes on: the
// command is sent again until a service starts the call or it is too old.
func (m *machine) unserved(in Unserved) error {
	c := m.call(in.Call)
	if c == nil {
		return refuse(utp.CodeUnknownCall, "the ledger has no such call in this turn")
	}
	if c.State == Dispatched && !c.Unserved {
		c.Unserved = true
		m.emit(Note{Kind: NoteUnserved, Call: c.ID})
	}
	return nil
}

// notStarted ends a call that no service started in time. If it had a consent, it is asked for again;
// otherwise it times out.
func (m *machine) notStarted(c *Call) {
	if c.Unsure {
		m.unknown(c)
		return
	}
	if c.Decision == Ask {
		m.stale(c, StaleAge)
		return
	}
	m.complete(c, Finished, Outcome{
		Status: utp.StatusTimeout, Code: utp.CodeToolTimeout, Message: "no service started the call in time",
	})
}

func (m *machine) start(in Start) error {
	c := m.call(in.Call)
	if c == nil {
		return refuse(utp.CodeUnknownCall, "the ledger has no such call in this turn")
	}
	if c.Target != in.Target {
		return refuse(utp.CodeAuthFailed, "the call belongs to another service")
	}
	switch c.State {
	case Started:
		if c.Owner == in.Owner { // its first answer was lost; the one it gets now grants a full lease
			c.Lease = m.now.Add(in.Lease)
			return nil
		}
		return refuse(utp.CodeBusy, "another owner has started the call")
	case Finished, Resolved:
		return refuse(utp.CodeDone, "the call has ended")
	case Closed:
		return refuse(closedCode(c), "the call ended before it was started")
	case Requested, Asked, Accepted:
		return refuse(utp.CodeStale, "the call has not been dispatched")
	case LeaseExpired, Unknown:
		return refuse(utp.CodeStale, "the outcome of an earlier start is not known")
	case Dispatched:
	}
	if m.Stop != nil {
		m.close(c, utp.CodeStopped, m.stopper())
		return nil
	}
	if m.tooLateToStart(c) {
		m.overdue(c)
		return nil
	}
	if m.unattended(c, m.now) {
		m.stale(c, StaleUnawaited)
		return nil
	}
	if reason := m.fresh(c, in.Check); reason != "" {
		if reason == StaleAge {
			m.notStarted(c)
		} else {
			m.stale(c, reason)
		}
		return nil
	}
	m.grant(c, in)
	return nil
}

func closedCode(c *Call) utp.Code {
	if c.Outcome != nil && c.Outcome.Code == utp.CodeStopped {
		return utp.CodeStopped
	}
	return utp.CodeStale
}

func (m *machine) grant(c *Call, in Start) {
	c.State = Started
	c.Fence++
	c.Owner, c.OwnerEnded = in.Owner, false
	c.Lease = m.now.Add(in.Lease)
	c.StartedAt = m.now.Wall
	if in.Command && c.LeaseExpiries == 0 {
		c.EndBy = m.now.Add(c.Limits.resultTime())
	}
	m.emit(Grant{Call: c.ID, Fence: c.Fence})
}

// owned returns the call that this owner started under this fence.
func (m *machine) owned(id, owner string, fence int) (*Call, error) {
	c := m.call(id)
	if c == nil {
		return nil, refuse(utp.CodeUnknownCall, "the ledger has no such call in this turn")
	}
	if c.Batch != nil {
		return nil, refuse(utp.CodeAuthFailed, "turns of other agents do the call; no service has it")
	}
	if c.Owner != owner || c.Fence != fence {
		return nil, refuse(utp.CodeStale, "the call is leased to another owner or fence")
	}
	return c, nil
}

func (m *machine) heartbeat(in Heartbeat) error {
	c, err := m.owned(in.Call, in.Owner, in.Fence)
	if err != nil {
		return err
	}
	switch c.State {
	case LeaseExpired:
		if c.Overdue {
			return nil // a heartbeat does not extend the time for a result
		}
		c.State = Started
	case Started:
	case Requested, Asked, Accepted, Dispatched, Unknown, Finished, Resolved, Closed:
		return refuse(utp.CodeStale, "the call is "+string(c.State)+"; it cannot be kept alive")
	}
	c.Lease = m.now.Add(in.Lease)
	m.progress(c, in.Fraction)
	if since := m.now.Wall.Sub(c.TextAt); in.Text && (c.TextAt.IsZero() || since < 0 || since >= wordsPause) {
		c.TextAt = m.now.Wall
		m.emit(Note{Kind: NoteWorking, Call: c.ID})
	}
	return nil
}

func (m *machine) progress(c *Call, fraction float64) {
	from, to := c.Range[0], c.Range[1]
	if fraction < 0 || to <= from {
		return
	}
	percent := float64(int(from + (to-from)*min(fraction, 1)))
	if percent-m.Percent < progressStep && (percent < 100 || m.Percent >= 100) {
		return
	}
	m.Percent = percent
	m.emit(Note{Kind: NoteProgress, Call: c.ID, Percent: percent})
}

func (m *machine) finish(in Finish) error {
	c, err := m.owned(in.Call, in.Owner, in.Fence)
	if err != nil {
		return err
	}
	switch c.State {
	case Started, LeaseExpired:
		c.OwnerEnded = c.OwnerEnded || !c.Unsure // the owner is done with the call, and there was no other
		m.finished(c, in.Outcome)
	case Unknown:
		if c.Conclusive(in.Outcome) { // else it adds nothing to what is known
			m.resolvedByService(c, in.Outcome)
		}
	case Finished:
		if c.Outcome.Digest != in.Outcome.Digest {
			return refuse(utp.CodeConflict, "another result has been recorded for the call")
		}
	case Resolved:
		m.late(c, in.Outcome)
	case Requested, Asked, Accepted, Dispatched, Closed:
		return refuse(utp.CodeStale, "the call is "+string(c.State)+"; it has no owner")
	}
	return nil
}

// finished applies an owner's result. If the owner itself does not know the outcome, a person is asked.
// If the owner found the consent too old to begin, the call is asked for again.
func (m *machine) finished(c *Call, o Outcome) {
	switch {
	case !c.Conclusive(o):
		m.unknown(c)
		c.Outcome.Message = o.Message
	case o.TooLate():
		m.stale(c, StaleAge)
	default:
		m.complete(c, Finished, o)
	}
}

// Conclusive reports whether an owner's result says what became of the call. It does not if the owner
// does not know, nor if it did nothing itself and an earlier owner may have.
func (c *Call) Conclusive(o Outcome) bool {
	switch {
	case o.didSomething():
		return true
	case o.Code == utp.CodeOutcomeUnknown:
		return false
	default:
		return !c.Unsure || o.Status != utp.StatusCanceled && !o.Untouched && !o.TooLate()
	}
}

// TooLate reports whether the owner found the consent too old to begin.
func (o Outcome) TooLate() bool { return o.Code == utp.CodeConsentStale && !o.didSomething() }

func (o Outcome) didSomething() bool {
	return o.Status == utp.StatusSuccess || o.Status == utp.StatusPartial
}

// finishLate records a result that arrives after the turn's end. Its session takes no more events.
func (m *machine) finishLate(in Finish) error {
	c, err := m.owned(in.Call, in.Owner, in.Fence)
	if err != nil {
		return err
	}
	switch {
	case c.Outcome != nil && c.Outcome.Digest == in.Outcome.Digest:
		// The answer to the first finish was lost.
	case c.State == Finished:
		return refuse(utp.CodeConflict, "another result has been recorded for the call")
	default:
		m.recordLate(c, in.Outcome)
	}
	return nil
}

// late records a result that arrives after the question about the call's outcome was closed, and
// reports it.
func (m *machine) late(c *Call, o Outcome) {
	if m.recordLate(c, o) {
		m.emit(Note{Kind: NoteLate, Call: c.ID, Detail: string(o.Status)})
	}
}

// recordLate records a late result, and returns whether it is new. The same result comes again if its
// answer was lost. An inconclusive result is not recorded.
func (m *machine) recordLate(c *Call, o Outcome) bool {
	if c.Late == o.Digest || !c.Conclusive(o) {
		return false
	}
	c.Late = o.Digest
	m.emit(RecordLate{Call: c.ID, Outcome: o})
	return true
}

// complete ends a dispatched call with an outcome.
func (m *machine) complete(c *Call, to CallState, o Outcome) {
	c.State, c.Outcome = to, &o
	m.count(c, o)
	m.emit(Note{Kind: NoteCompleted, Call: c.ID, Detail: string(o.Code)}, RecordOutcome{Call: c.ID})
}

func (m *machine) count(c *Call, o Outcome) {
	if o.Status != utp.StatusSuccess {
		m.Tally.Failed++
	}
	if c.Class.Effectful() && (o.Status == utp.StatusSuccess || o.Status == utp.StatusPartial) {
		m.Tally.Effects++
	}
}

// Due returns the next instant at which the turn needs a [Tick], if any, on the wall clock as it
// stands now.
func (s State) Due(now Timestamp) (time.Time, bool) {
	var due time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	for _, c := range s.Calls {
		switch c.State {
		case Accepted:
			if c.Noticed() && (!c.Unawaited || !s.unattended(&c, now)) {
				sooner(c.DispatchAt.passedOnBothAt(now))
			}
			sooner(c.StartBy.due(now))
		case Dispatched:
			sooner(c.nextWakeup(now))
			sooner(c.StartBy.due(now))
			sooner(c.EndBy.reachedAt(now))
		case Started:
			sooner(c.Lease.due(now))
			sooner(c.EndBy.reachedAt(now))
		case LeaseExpired:
			sooner(c.nextWakeup(now))
			sooner(c.Lease.due(now))
		case Requested, Asked, Unknown, Finished, Resolved, Closed:
		}
	}
	sooner(s.abandonedAt().reachedAt(now))
	sooner(s.undispatchedAt().reachedAt(now))
	sooner(s.goneAt().reachedAt(now))
	if s.Stop == nil {
		sooner(s.Deadline.reachedAt(now))
	}
	return due, !due.IsZero()
}

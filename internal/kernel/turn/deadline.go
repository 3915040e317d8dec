package turn

import (
	"time"

	"github.com/earshot-dev/earshot/utp"
)

// overdue handles a call that has no result by its EndBy. A call that was not started times out. A
// running call gets a stop request. If it is repeatable, it times out unless a result arrives soon.
// Otherwise its outcome is reconciled, as when its owner's lease expires.
func (m *machine) overdue(c *Call) {
	switch {
	case c.Batch != nil:
		m.batchOverdue(c)
	case c.State == Dispatched && c.Unsure:
		m.unknown(c)
	case c.State == Dispatched:
		m.timedOut(c, Finished, "the call was not started within the tool's time")
	case c.Overdue && c.Class.Repeatable():
		m.timedOut(c, Resolved, "no result within the tool's time")
	default:
		c.Overdue = true
		c.EndBy = m.now.Add(c.Limits.reconcileWithin())
		m.emit(StopService{Call: c.ID})
		if !c.Class.Repeatable() {
			m.leaseExpired(c)
		}
	}
}

// tooLateToStart reports whether the time for a result ended before the time to start. A call whose
// consent is too old is asked for again instead.
func (m *machine) tooLateToStart(c *Call) bool {
	return !c.EndBy.IsZero() && c.EndBy.reached(m.now) && c.EndBy.Wall.Before(c.StartBy.Wall)
}

// timedOut ends a call that has no result in time. If the call had an owner, a late result of that
// owner is still recorded.
func (m *machine) timedOut(c *Call, to CallState, message string) {
	m.complete(c, to, Outcome{Status: utp.StatusTimeout, Code: utp.CodeToolTimeout, Message: message})
}

// pastDeadline stops a turn whose deadline has passed: open questions are withdrawn, what has not started ends, and what
// runs is asked to stop. It is looked at before every input, so that nothing begins after the deadline, however late the
// tick. A deadline is judged by the monotonic clock, which nobody sets.
func (m *machine) pastDeadline() {
	if m.Status == Ended || m.Stop != nil || !m.deadlinePassed() {
		return
	}
	m.stop(Stop{Reason: "its deadline has passed", System: true, Deadline: true})
	m.finishStop()
}

// deadlinePassed reports whether the turn's deadline has passed.
func (m *machine) deadlinePassed() bool { return !m.Deadline.IsZero() && m.Deadline.reached(m.now) }

// undispatchedAt returns when the queued turn has waited for a worker for as long as it may; zero means never.
func (s State) undispatchedAt() Timestamp {
	if s.Status != Queued || s.MaxQueued <= 0 || s.QueuedFrom.IsZero() {
		return Timestamp{}
	}
	return s.QueuedFrom.Add(s.MaxQueued)
}

// lateTick is how much later than due a tick may come without a pause of the machine or of the kernel being the reason.
const lateTick = 3 * time.Second

// undispatched ends a turn that no worker has taken in time. While its agent is engaged elsewhere the time begins again,
// and once more when the agent is free, or when the tick is late and the workers may have slept as well: then they get
// the whole time.
func (m *machine) undispatched(engaged bool) {
	at := m.undispatchedAt()
	switch {
	case at.IsZero() || !at.reached(m.now):
	case engaged || m.Behind || at.Add(lateTick).reached(m.now):
		m.Behind, m.QueuedFrom = engaged, m.now
	default:
		m.end(End{Status: utp.StatusTimeout, Code: utp.CodeDispatchTimeout, Message: "no agent picked it up"})
	}
}

// abandonedAt returns when the turn ends unless a worker claims it before; zero means never.
func (s State) abandonedAt() Timestamp {
	from := s.IdleFrom
	if s.Worker != "" && s.Lease.Wall.After(from.Wall) {
		from = s.Lease
	}
	if s.MaxIdle <= 0 || from.IsZero() || s.Status != Queued && s.Status != Running { // a suspended turn needs no worker
		return Timestamp{}
	}
	return from.Add(s.MaxIdle)
}

// idle ends a turn that has had no worker for longer than MaxIdle.
func (m *machine) idle() {
	if m.Worker == "" && m.IdleFrom.IsZero() && m.MaxIdle > 0 {
		m.IdleFrom = m.now
	}
	if at := m.abandonedAt(); at.IsZero() || !at.reached(m.now) {
		return
	}
	e := End{Status: utp.StatusTimeout, Code: utp.CodeTimeoutReapedByWatchdog, Message: "the agent stopped responding"}
	if m.Outside { // the program went away, or has nothing more to do; it need not say which
		since := m.IdleFrom.Wall.UTC().Format("2006-01-02 15:04 UTC")
		e = End{Status: utp.StatusSuccess, Code: utp.CodeTimeoutReapedByWatchdog, Message: "nothing more was heard from the agent since " + since}
	}
	if m.Status == Queued {
		e.Code, e.Message = utp.CodeDispatchTimeout, "no agent picked it up"
	}
	m.end(e)
}

// releaseWorker ends the claim of the current worker, if any.
func (m *machine) releaseWorker() {
	m.Worker, m.Lease, m.IdleFrom = "", Timestamp{}, m.now
}

// Terminal returns the call whose result ends the turn once all calls of the step have ended. Of the
// calls that end the turn, it is the first that did not succeed, else the first.
func (s State) Terminal() (Call, bool) {
	var found *Call
	for i := range s.Calls {
		c := &s.Calls[i]
		if c.Adopted || c.Applied || c.ReplacedBy != "" || !c.terminates() {
			continue
		}
		if c.Outcome.Status != utp.StatusSuccess {
			return *c, true
		}
		if found == nil {
			found = c
		}
	}
	if found == nil {
		return Call{}, false
	}
	return *found, true
}

// Latest returns the calls of the turn's last step, without those that others replace, and without the questions of
// services. Where calls are asked for one after another, as in an outside turn, it is the last of them.
func (s State) Latest() []Call {
	last := make([]Call, 0, len(s.Calls))
	for _, c := range s.Calls {
		switch {
		case c.ReplacedBy != "" || c.Within != "" || c.Number != s.Step:
		case c.Adopted:
			last = append(last[:0], c)
		default:
			last = append(last, c)
		}
	}
	return last
}

// terminates reports whether the turn ends with the call. A call that was never executed does not end
// the turn.
func (c *Call) terminates() bool {
	if c.Outcome == nil || c.State == Closed {
		return false
	}
	after := c.Outcome.After
	if after == "" {
		after = c.After
	}
	return after == utp.Terminate
}

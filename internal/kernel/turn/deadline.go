package turn

import "github.com/earshot-dev/earshot/utp"

// overdue is the end of the time in which a call was to have a result. One that was not
// started has timed out. One that runs is told to stop: if it may be repeated, it has timed
// out unless it says something soon; else what became of it is looked into, as when its owner
// had fallen silent.
func (m *machine) overdue(c *Call) {
	switch {
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

// tooLateToStart reports whether the time for a result was over before the time to start: a
// call whose consent is too old is asked for again instead.
func (m *machine) tooLateToStart(c *Call) bool {
	return !c.EndBy.IsZero() && c.EndBy.reached(m.now) && c.EndBy.Wall.Before(c.StartBy.Wall)
}

// timedOut ends a call for want of a result. What its owner says later on is kept, if it had
// one.
func (m *machine) timedOut(c *Call, to CallState, message string) {
	m.complete(c, to, Outcome{Status: utp.StatusTimeout, Code: utp.CodeToolTimeout, Message: message})
}

// abandonedAt is when the turn is given up if nobody takes it up before: zero is never.
func (s State) abandonedAt() Timestamp {
	from := s.IdleFrom
	if s.Worker != "" && s.Lease.Wall.After(from.Wall) {
		from = s.Lease
	}
	if s.MaxIdle <= 0 || from.IsZero() || s.Status != Queued && s.Status != Running { // one that waits needs nobody
		return Timestamp{}
	}
	return from.Add(s.MaxIdle)
}

// idle gives a turn up that nobody works on for too long.
func (m *machine) idle() {
	if m.Worker == "" && m.IdleFrom.IsZero() && m.MaxIdle > 0 {
		m.IdleFrom = m.now
	}
	if at := m.abandonedAt(); at.IsZero() || !at.reached(m.now) {
		return
	}
	e := End{Status: utp.StatusTimeout, Code: utp.CodeTimeoutReapedByWatchdog, Message: "the agent has fallen silent"}
	if m.Outside { // its program has no other way to end: it went away, or has nothing more to do
		e = End{Status: utp.StatusSuccess, Code: utp.CodeTimeoutReapedByWatchdog, Message: "nothing more was heard of the agent"}
	}
	if m.Status == Queued {
		e.Code, e.Message = utp.CodeDispatchTimeout, "no agent has taken it up"
	}
	m.end(e)
}

// releaseWorker: anyone who worked on the turn does not any more.
func (m *machine) releaseWorker() {
	m.Worker, m.Lease, m.IdleFrom = "", Timestamp{}, m.now
}

// Terminal is the call whose result ends the turn, once all calls of the step have ended:
// the first that was not a success among those that say so, else the first of them.
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

// terminates reports whether the turn ends with the call: what was never executed has nothing
// that could follow its execution.
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

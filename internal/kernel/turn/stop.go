package turn

import (
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// stop ends what has not started and sends a stop request to what runs. The turn ends with the result
// of the last running call; no further step is taken.
func (m *machine) stop(s Stop) {
	if m.Stop != nil {
		return
	}
	m.Stop = &s
	m.stopDelegated()
	running := false
	for i := range m.Calls {
		running = m.halt(&m.Calls[i]) || running
	}
	if running {
		m.emit(Note{Kind: NoteStopping, By: s.By, Surface: s.Surface, Detail: s.Reason})
	}
}

// halt ends a call if it can be ended, and reports whether it still runs.
func (m *machine) halt(c *Call) bool {
	switch c.State {
	case Asked:
		m.emit(Withdraw{Question: c.Question, Reason: "stopped"})
		m.close(c, utp.CodeStopped, m.stopper())
	case Requested, Accepted, Dispatched:
		m.close(c, utp.CodeStopped, m.stopper())
	case Started:
		if c.Batch != nil {
			return m.haltChildren(c)
		}
		m.emit(StopService{Call: c.ID})
		return true
	case LeaseExpired:
		return true
	case Unknown:
		m.emit(Withdraw{Question: c.Question, Reason: "stopped"})
		c.State = Resolved
		m.emit(RecordOutcome{Call: c.ID})
	case Finished, Resolved, Closed:
	}
	return false
}

// abandon ends a call that is still open when its turn ends: one that was adopted from outside. If it
// may have begun, its outcome is unknown, and its owner gets a stop request.
func (m *machine) abandon(c *Call) {
	switch c.State {
	case Asked:
		m.emit(Withdraw{Question: c.Question, Reason: "ended"})
		m.close(c, utp.CodeConsentWithdrawn, m.stopper())
	case Requested, Accepted, Dispatched:
		m.close(c, utp.CodeConsentWithdrawn, m.stopper())
	case Started, LeaseExpired:
		if c.Batch != nil {
			m.abandonBatch(c)
			return
		}
		m.emit(StopService{Call: c.ID})
		m.unknown(c)
	case Unknown:
		m.emit(Withdraw{Question: c.Question, Reason: "ended"})
		c.State = Resolved
		m.emit(RecordOutcome{Call: c.ID})
	case Finished, Resolved, Closed:
	}
}

// finishStop ends a stopped turn once none of its calls is open.
func (m *machine) finishStop() {
	if m.Stop == nil || m.Status == Ended {
		return
	}
	for _, c := range m.Calls {
		if c.State.Open() {
			return
		}
	}
	if m.Stop.Deadline {
		m.end(End{Status: utp.StatusTimeout, Code: utp.CodeDeadlineExceeded, Message: m.Stop.Reason})
		return
	}
	message := m.Stop.Reason
	if message == ReasonUndone {
		message = api.SummaryUndone
	}
	m.end(End{Status: utp.StatusCanceled, Code: utp.CodeStopped, Message: message})
}

// ReasonUndone is the reason of a stop by which a yes was taken back.
const ReasonUndone = "undone"

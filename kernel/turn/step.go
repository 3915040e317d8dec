package turn

import (
	"fmt"

	"github.com/earshot-dev/earshot/utp"
)

// Step applies one input to a turn at the moment now. A refused input returns a
// typed [*Error] and the state unchanged; otherwise the effects are to be made true
// in their order, together with saving the state.
func Step(s State, now Moment, in Input) (State, []Effect, error) {
	m := &machine{State: s.clone(), now: now}
	if err := m.take(in); err != nil {
		return s, nil, err
	}
	m.finishStop()
	if m.Status == Suspended && s.Waiting() > 0 && m.Waiting() == 0 {
		m.emit(Ring{})
	}
	return m.State, m.effects, nil
}

type machine struct {
	State

	now     Moment
	effects []Effect
}

func (m *machine) emit(effects ...Effect) { m.effects = append(m.effects, effects...) }

func (m *machine) take(in Input) error {
	if m.Status == Ended {
		return m.afterEnd(in)
	}
	switch in := in.(type) {
	case Claim:
		return m.claim(in)
	case Renew:
		return m.renew(in)
	case Request:
		return m.request(in)
	case Adopt:
		return m.adopt(in.Call)
	case QuestionAsked:
		return m.questionAsked(in)
	case Answered:
		return m.answered(in)
	case Unanswered:
		return m.unanswered(in)
	case Tick:
		m.tick(in)
		return nil
	case Start:
		return m.start(in)
	case Beat:
		return m.beat(in)
	case Finish:
		return m.finish(in)
	case Settle:
		return m.settle(in)
	case Resume:
		return m.resume(in)
	case Deliver:
		return m.deliver(in)
	case StopTurn:
		m.stop(in.Stop)
		return nil
	case Undo:
		return m.undo(in)
	case Orphan:
		m.orphan()
		return nil
	case Restored:
		m.restored()
		return nil
	}
	return refuse(utp.CodeInternalError, fmt.Sprintf("the turn machine does not know the input %T", in))
}

// afterEnd lets a result that comes too late be kept, and refuses the rest.
func (m *machine) afterEnd(in Input) error {
	switch in := in.(type) {
	case Finish:
		return m.finishLate(in)
	case Tick, Orphan, Restored:
		return nil
	default:
		return refuse(utp.CodeTurnEnded, "the turn has ended; nothing can be added to it")
	}
}

func (m *machine) claim(in Claim) error {
	free := m.Worker == "" || m.Worker == in.Worker || m.Lease.Passed(m.now)
	if !free {
		return refuse(utp.CodeBusy, "another worker holds the turn until its lease ends")
	}
	m.Epoch++
	m.Worker, m.Lease = in.Worker, m.now.Add(in.Lease)
	if m.Status == Queued {
		m.Status = Running
		m.emit(Note{Kind: NoteBegan}, Note{Kind: NoteThinking})
	}
	return nil
}

// held checks that the worker still holds the turn under this epoch.
func (m *machine) held(worker string, epoch int) error {
	if m.Worker != worker || m.Epoch != epoch {
		return refuse(utp.CodeStale, "the turn is held under another epoch; claim it again")
	}
	return nil
}

func (m *machine) renew(in Renew) error {
	if err := m.held(in.Worker, in.Epoch); err != nil {
		return err
	}
	m.Lease = m.now.Add(in.Lease)
	return nil
}

func (m *machine) request(in Request) error {
	if err := m.held(in.Worker, in.Epoch); err != nil {
		return err
	}
	if in.Step == m.Step && m.Status == Suspended {
		return nil // the answer to the first request was lost
	}
	switch {
	case m.Stop != nil:
		return refuse(utp.CodeStopped, "the turn has been stopped; no further step is taken")
	case m.Status != Running || in.Step != m.Step+1:
		return refuse(utp.CodeConflict, fmt.Sprintf("step %d was asked for; the turn is %s after step %d", in.Step, m.Status, m.Step))
	case len(in.Calls) == 0:
		return refuse(utp.CodeBadRequest, "a step needs at least one call")
	}
	m.dropApplied()
	m.Step, m.Status = in.Step, Suspended
	for _, c := range in.Calls {
		m.admit(c)
	}
	return nil
}

// dropApplied forgets the calls of earlier steps. Those whose fate stays open to a
// late word are kept.
func (m *machine) dropApplied() {
	kept := m.Calls[:0]
	for _, c := range m.Calls {
		if c.Adopted || c.State == Resolved {
			kept = append(kept, c)
		}
	}
	m.Calls = kept
}

func (m *machine) adopt(c Call) error {
	if m.Stop != nil {
		return refuse(utp.CodeStopped, "the turn has been stopped; no further call is taken")
	}
	if old := m.call(c.Replaces); old != nil {
		old.ReplacedBy = c.ID
		c.Adopted, c.Key, c.Range = old.Adopted, old.Key, old.Range
	} else {
		c.Adopted = true
	}
	m.admit(c)
	return nil
}

// admit takes a requested call in and does what policy said. An irreversible call is
// asked for whatever policy says; a class that is none of the four counts as
// irreversible, and a word of policy that is none of the three as ask.
func (m *machine) admit(c Call) {
	c.State = Requested
	if !c.Class.Valid() {
		c.Class = utp.Irreversible
	}
	if c.Decision != Deny && (c.Decision != Allow || c.Class == utp.Irreversible) {
		c.Decision = Ask
	}
	m.Calls = append(m.Calls, c)
	call := &m.Calls[len(m.Calls)-1]
	if call.Outcome != nil { // the kernel could not make a call of it
		m.invalid(call)
		return
	}
	switch call.Decision {
	case Deny:
		m.over(call, utp.CodeDeniedByPolicy, who{})
	case Allow:
		call.StartBy = m.now.Add(call.Limits.startWithin())
		m.dispatch(call)
	case Ask:
		m.emit(AskConsent{Call: call.ID})
	default:
		m.emit(AskConsent{Call: call.ID})
	}
}

// invalid ends a call that was refused before anyone could be asked about it.
func (m *machine) invalid(c *Call) {
	c.State = Over
	m.Tally.Failed++
	m.emit(Note{Kind: NoteRefused, Call: c.ID, Detail: string(c.Outcome.Code)}, RecordOutcome{Call: c.ID})
}

func (m *machine) resume(in Resume) error {
	if err := m.held(in.Worker, in.Epoch); err != nil {
		return err
	}
	if m.Status != Suspended {
		return refuse(utp.CodeConflict, "the turn is not waiting for calls")
	}
	m.Lease = m.now.Add(in.Lease)
	if m.Waiting() > 0 {
		return nil
	}
	m.Status = Running
	m.Epoch++
	for i := range m.Calls {
		if c := &m.Calls[i]; !c.Adopted && !c.Applied && c.ReplacedBy == "" {
			c.Applied = true
			m.Applied++
		}
	}
	m.emit(Note{Kind: NoteThinking})
	return nil
}

func (m *machine) deliver(in Deliver) error {
	if err := m.held(in.Worker, in.Epoch); err != nil {
		return err
	}
	if m.Status != Running {
		return refuse(utp.CodeConflict, "the turn still waits for calls; it cannot be delivered")
	}
	m.end(in.End)
	return nil
}

// end is the only way to the one end.
func (m *machine) end(e End) {
	if m.Status == Ended {
		return
	}
	for i := range m.Calls {
		m.halt(&m.Calls[i])
	}
	m.Status, m.End = Ended, &e
	m.Worker, m.Lease = "", Moment{}
	m.emit(Note{Kind: NoteEnded, Detail: string(e.Code)}, Ring{})
}

package turn

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/utp"
)

// Step applies one input to a turn at the time now. A refused input returns a typed [*Error] and the
// state unchanged. Otherwise the caller applies the effects in their order, in the transaction that
// saves the state.
func Step(s State, now Timestamp, in Input) (State, []Effect, error) {
	m := &machine{State: s.clone(), now: now}
	if err := m.apply(in); err != nil {
		return s, nil, err
	}
	m.withdrawInquiries()
	m.finishStop()
	m.finishOutside()
	return m.State, m.effects, nil
}

type machine struct {
	State

	now     Timestamp
	effects []Effect
	ending  bool // the turn is ending
}

func (m *machine) emit(effects ...Effect) { m.effects = append(m.effects, effects...) }

func (m *machine) apply(in Input) error {
	if _, restored := in.(Restored); !restored { // it looks itself, once it knows what may have begun
		m.pastDeadline() // before anything else: what comes too late finds the turn stopped
	}
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
	case Shown:
		return m.askedAgain(in.Question, NoteShown)
	case Unshown:
		return m.askedAgain(in.Question, NoteUnshown)
	case Answered:
		return m.answered(in)
	case Noticed:
		return m.noticed(in)
	case Unanswered:
		return m.unanswered(in)
	case Tick:
		m.tick(in)
		return nil
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
		m.orphan(in)
		return nil
	case Restored:
		m.restored()
		return nil
	}
	return m.applyService(in)
}

// applyService applies an input of a call's service.
func (m *machine) applyService(in Input) error {
	switch in := in.(type) {
	case Start:
		return m.start(in)
	case Undelivered:
		return m.undelivered(in)
	case Unserved:
		return m.unserved(in)
	case Heartbeat:
		return m.heartbeat(in)
	case Finish:
		return m.finish(in)
	case Reconciled:
		return m.reconciled(in)
	}
	return m.applyAgent(in)
}

// applyAgent applies what the agent says or does itself, the turns within this one, and what has changed for its next calls: the rules, or a
// tool that is gone.
func (m *machine) applyAgent(in Input) error {
	switch in := in.(type) {
	case Responded:
		return m.responded(in)
	case AgentText:
		return m.agentText(in)
	case Release:
		return m.release(in)
	case ChildBegun:
		return m.childBegun(in)
	case ChildEnded:
		m.childEnded(in)
		return nil
	case Ruled:
		return m.ruled(in)
	case ToolMissing:
		return m.toolMissing(in)
	case CheckDeadline: // apply has looked
		return nil
	case Open, Await, Received, Attached, AgentReport, Present, Close:
		return m.applyOutside(in)
	}
	return refuse(utp.CodeInternalError, fmt.Sprintf("the turn machine does not know the input %T", in))
}

// maxClaims is how often a turn may be claimed without progress before it fails.
const maxClaims = 10

// afterEnd records a late result, ignores what no longer matters, and refuses the rest.
func (m *machine) afterEnd(in Input) error {
	switch in := in.(type) {
	case Finish:
		return m.finishLate(in)
	case CheckDeadline, Tick, Orphan, Restored, Undelivered, ChildEnded:
		return nil
	case Start:
		if c := m.call(in.Call); c != nil && c.State == Closed {
			return refuse(closedCode(c), "the call ended before it was started")
		}
		return refuse(utp.CodeTurnEnded, "the turn has ended; nothing of it is started")
	default:
		return refuse(utp.CodeTurnEnded, "the turn has ended; nothing can be added to it")
	}
}

func (m *machine) claim(in Claim) error {
	if !m.Free(in.Worker, m.now) {
		return refuse(utp.CodeBusy, "another worker holds the turn until its lease ends, or it waits and needs none")
	}
	m.nextEpoch(in.Nonce)
	m.Worker, m.Lease = in.Worker, m.now.Add(in.Lease)
	if m.Status == Queued {
		m.Status = Running
		m.emit(Note{Kind: NoteBegan}, Note{Kind: NoteThinking})
	}
	if m.Status == Suspended && m.Waiting() > 0 {
		return nil // it waits for a person or a service, not for its worker
	}
	if m.Claims++; m.Claims > maxClaims {
		m.end(End{
			Status: utp.StatusFailed, Code: utp.CodeResumeRetryExhausted,
			Message: "the agent took the turn up again and again and got no further",
		})
	}
	return nil
}

func (m *machine) renew(in Renew) error {
	if err := m.checkClaim(in.WorkerClaim); err != nil {
		return err
	}
	m.Lease = m.now.Add(in.Lease)
	return nil
}

func (m *machine) request(in Request) error {
	if in.Step == m.Step && m.Step > 0 && m.Recognizes(in.WorkerClaim) {
		return nil // the answer to the first request was lost
	}
	if err := m.checkClaim(in.WorkerClaim); err != nil {
		return err
	}
	switch {
	case m.Stop != nil:
		return refuse(utp.CodeStopped, "the turn has been stopped; no further step is taken")
	case m.Status != Running || in.Step != m.Step+1:
		return refuse(utp.CodeConflict, fmt.Sprintf("step %d was asked for; the turn is %s after step %d", in.Step, m.Status, m.Step))
	case m.Depth >= MaxDepth:
		return refuse(utp.CodeRecursionDepthExceeded, fmt.Sprintf("the turn is %d agents deep; fewer than %d may take steps", m.Depth, MaxDepth))
	case len(in.Calls) == 0:
		return refuse(utp.CodeBadRequest, "a step needs at least one call")
	}
	m.dropApplied()
	m.Step, m.Status, m.Claims = in.Step, Suspended, 0
	for _, c := range in.Calls {
		m.admit(c)
	}
	return nil
}

// dropApplied forgets the calls of earlier steps, but for those that can still get a late result.
func (m *machine) dropApplied() {
	kept := make([]Call, 0, len(m.Calls))
	for _, c := range m.Calls {
		if (c.Adopted || c.State == Resolved) && !m.inquired(c) {
			kept = append(kept, c)
		}
	}
	m.Calls = kept
}

func (m *machine) adopt(c Call) error {
	if m.Stop != nil {
		return refuse(utp.CodeStopped, "the turn has been stopped; no further call is taken")
	}
	switch old := m.call(c.Replaces); {
	case old != nil:
		old.ReplacedBy = c.ID
		c.Adopted, c.Key, c.Range, c.Origin = old.Adopted, old.Key, old.Range, old.Origin
		c.Awaited, c.Answered, c.Identity, c.HostCall = old.Awaited, old.Answered, old.Identity, old.HostCall
	case c.Within != "":
		if err := m.inquire(&c); err != nil {
			return err
		}
	case m.Closing != nil:
		return refuse(utp.CodeTurnEnded, "the session is ending; no further call is taken")
	case m.Action && len(m.Calls) > 0:
		return refuse(utp.CodeConflict, "the session does one call, and has it")
	case m.Outside:
		c.Adopted, m.IdleFrom = true, m.now
		m.dropReceived()
	default:
		c.Adopted = true
		m.dropAnswered()
	}
	if c.Origin != nil && c.Origin.After.Valid() {
		c.After = c.Origin.After
	}
	if c.Origin != nil && c.Origin.Tracestate != "" {
		m.Tracestate = c.Origin.Tracestate
	}
	m.admit(c)
	return nil
}

// dropAnswered forgets third-party calls whose result has been recorded: a turn may adopt any number of
// them.
func (m *machine) dropAnswered() {
	kept := m.Calls[:0]
	for _, c := range m.Calls {
		over := c.State == Finished || c.State == Closed
		if c.Origin == nil || !over || c.ReplacedBy != "" && m.call(c.ReplacedBy) != nil {
			kept = append(kept, c)
		}
	}
	m.Calls = kept
}

// admit adds a requested call and applies the decision of the policy. An irreversible call always needs
// consent. An unknown class counts as irreversible, and an unknown decision as ask.
func (m *machine) admit(c Call) {
	c.State, c.Number = Requested, m.Step
	if !c.Class.Valid() {
		c.Class = utp.Irreversible
	}
	if c.Decision != Deny && (c.Decision != Allow || c.Class == utp.Irreversible && c.Kind != PermissionCall) {
		c.Decision = Ask
	}
	m.Calls = append(m.Calls, c)
	call := &m.Calls[len(m.Calls)-1]
	if call.Outcome != nil { // the kernel found the request invalid
		m.invalid(call)
		return
	}
	if call.Kind == QuestionCall {
		m.emit(AskPerson{Call: call.ID})
		return
	}
	switch call.Decision {
	case Deny:
		m.close(call, utp.CodeDeniedByPolicy, actor{})
	case Allow:
		if call.Kind == PermissionCall { // nobody is asked and nothing is reported: the program decides by its own rules
			call.State, call.Outcome = Finished, &Outcome{Status: utp.StatusPartial, Message: PermissionDeferred}
			m.emit(RecordOutcome{Call: call.ID})
			return
		}
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
	c.State = Closed
	if c.Kind == ToolCall { // anything else concerns only the agent
		m.Tally.Failed++
		m.Tally.Refused++
		m.emit(Note{Kind: NoteRefused, Call: c.ID, Detail: string(c.Outcome.Code)})
	}
	m.emit(RecordOutcome{Call: c.ID})
}

func (m *machine) resume(in Resume) error {
	if !m.ReadyToApply() {
		return refuse(utp.CodeConflict, "the turn is not waiting for calls, or not all of them have ended")
	}
	last, terminal := m.Terminal()
	m.Status, m.Claims = Running, 0
	m.nextEpoch(in.Nonce)
	m.IdleFrom = m.now
	for _, i := range m.inOrder() {
		c := &m.Calls[i]
		if c.Adopted || c.Applied || c.ReplacedBy != "" {
			continue
		}
		c.Applied = true
		m.Applied++
		m.emit(Apply{Call: c.ID})
	}
	if terminal {
		o := last.Outcome
		end := End{Status: o.Status, Code: o.Code, Message: cmp.Or(o.Message, in.Summary)}
		if in.Unmet.Status != "" && end.Completes() {
			end = in.Unmet
		}
		m.end(end)
		return nil
	}
	m.emit(Note{Kind: NoteThinking}, WakeWorker{})
	return nil
}

// inOrder lists the indexes of the calls in the order of the step. A call that replaces another has
// that call's position.
func (m *machine) inOrder() []int {
	places := make(map[string]int, len(m.Calls))
	all := make([]int, len(m.Calls))
	for i, c := range m.Calls {
		place, replaces := places[c.Replaces]
		if !replaces {
			place = i
		}
		places[c.ID], all[i] = place, i
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(places[m.Calls[a].ID], places[m.Calls[b].ID]) })
	return all
}

func (m *machine) deliver(in Deliver) error {
	if err := m.checkClaim(in.WorkerClaim); err != nil {
		return err
	}
	if m.Status != Running {
		return refuse(utp.CodeConflict, "the turn still waits for calls; it cannot be delivered")
	}
	m.end(in.End)
	return nil
}

// end ends the turn, once. Nothing else does.
func (m *machine) end(e End) {
	if m.Status == Ended {
		return
	}
	m.ending = true
	for i := range m.Calls {
		m.abandon(&m.Calls[i])
	}
	m.Status, m.End = Ended, &e
	m.Worker, m.Lease = "", Timestamp{}
	m.emit(Note{Kind: NoteEnded, Detail: string(e.Code)}, WakeWorker{})
}

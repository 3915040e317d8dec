package turn

import "github.com/earshot-dev/earshot/utp"

// ReasonDenied is the reason of a [Check] that found the call forbidden now: it ends as
// denied_by_policy, and is not asked for again.
const ReasonDenied = "denied"

// Terms are what a rule of the policy and the tool's definition result in for one call.
type Terms struct {
	Decision Decision
	Limits   Limits
}

// Terms returns the terms that the call was judged by.
func (c Call) Terms() Terms { return Terms{Decision: c.Decision, Limits: c.Limits} }

// Overruled returns the reason why the call is asked for again if its terms have become stricter: the policy's, or that
// the standing permission which allowed it no longer does.
func (c Call) Overruled() string {
	if c.Permission != 0 {
		return "permission"
	}
	return "policy"
}

// StricterThan reports whether t allows less than the terms before it: a stricter decision (allow,
// ask, deny), or the same decision with less time to start or more undo time. A looser decision is
// never stricter, whatever its times: applying it could mean not to ask. The times to answer and for
// the result do not count: a person who was told how long they have is not given less.
func (t Terms) StricterThan(was Terms) bool {
	now, before := t.Decision.strictness(), was.Decision.strictness()
	if now != before || t.Decision == Deny {
		return now > before
	}
	return t.Limits.startWithin() < was.Limits.startWithin() || t.Limits.leastUndo() > was.Limits.leastUndo()
}

// strictness orders decisions; an unknown decision counts as ask, as in admit.
func (d Decision) strictness() int {
	switch d {
	case Allow:
		return 0
	case Deny:
		return 2
	case Ask:
		return 1
	default:
		return 1
	}
}

// Tightened returns these limits with the shorter time to start and the longer undo time of both.
func (l Limits) Tightened(other Limits) Limits {
	if other.startWithin() < l.startWithin() {
		l.StartWithin = other.startWithin()
	}
	if other.leastUndo() > l.leastUndo() {
		l.Undo = other.leastUndo()
	}
	return l
}

// Ruled is what the current rules say of a call that was judged by earlier ones. Stricter terms apply
// at once until the call is started; looser ones change nothing.
type Ruled struct {
	Call  string
	Terms Terms
}

func (Ruled) input() {}

// ruled ends a call that is forbidden now and withdraws its question. A call whose question is open only
// gets the stricter times, which nobody has been told yet. A call that was accepted, or allowed, under a
// looser rule is asked for again.
func (m *machine) ruled(in Ruled) error {
	c := m.call(in.Call)
	if c == nil || c.Kind != ToolCall && (c.Kind != PermissionCall || in.Terms.Decision != Deny) {
		return refuse(utp.CodeUnknownCall, "the turn has no such call of a tool")
	}
	if !in.Terms.StricterThan(c.Terms()) {
		return nil
	}
	reason := c.Overruled()
	if in.Terms.Decision == Deny {
		reason = ReasonDenied
	}
	switch c.State {
	case Asked:
		if reason != ReasonDenied {
			c.Limits = c.Limits.Tightened(in.Terms.Limits)
			return nil
		}
		m.emit(Withdraw{Question: c.Question, Reason: reason})
		m.stale(c, reason)
	case Accepted, Dispatched:
		m.stale(c, reason)
	case Requested, Started, LeaseExpired, Unknown, Finished, Resolved, Closed:
	}
	return nil
}

// ReasonToolMissing is the reason why a question is withdrawn whose tool is not there any more.
const ReasonToolMissing = "tool_gone"

// ToolMissing says that the tool of a call is not there any more: its service does not offer it, or an operator has removed
// it. A call that is started goes on, for it was started with the tool as it was.
type ToolMissing struct{ Call string }

func (ToolMissing) input() {}

// toolMissing ends a call that is not started, and withdraws its question.
func (m *machine) toolMissing(in ToolMissing) error {
	c := m.call(in.Call)
	if c == nil || c.Kind != ToolCall {
		return refuse(utp.CodeUnknownCall, "the turn has no such call of a tool")
	}
	switch c.State {
	case Asked:
		m.emit(Withdraw{Question: c.Question, Reason: ReasonToolMissing})
		m.endMissing(c)
	case Accepted, Dispatched:
		m.endMissing(c)
	case Requested, Started, LeaseExpired, Unknown, Finished, Resolved, Closed:
	}
	return nil
}

// endMissing ends a call whose tool is gone. If an earlier owner may have done its work all the same, the outcome is unknown.
func (m *machine) endMissing(c *Call) {
	if c.Unsure {
		m.unknown(c)
		return
	}
	kind := NoteRefused
	if c.State == Dispatched { // its invocation was reported
		kind = NoteCompleted
	}
	c.State = Closed
	c.Outcome = &Outcome{
		Status: utp.StatusCanceled, Code: utp.CodeUnknownTool, Untouched: true,
		Message: "the tool " + c.Tool + " is not there any more; nothing was done",
	}
	m.Tally.Cancelled++
	m.emit(Note{Kind: kind, Call: c.ID, Detail: string(utp.CodeUnknownTool), Reason: ReasonToolMissing}, RecordOutcome{Call: c.ID})
}

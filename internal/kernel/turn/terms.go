package turn

import "github.com/earshot-dev/earshot/utp"

// ReasonDenied is the reason of a [Check] that found the call forbidden now: it ends as
// denied_by_policy, and nobody is asked again.
const ReasonDenied = "denied"

// Terms are what a rule of the policy and the tool come to for one call.
type Terms struct {
	Decision Decision
	Limits   Limits
}

// Terms are those that the call was judged by.
func (c Call) Terms() Terms { return Terms{Decision: c.Decision, Limits: c.Limits} }

// StricterThan reports whether t lets less happen than the terms before it: a stricter decision
// (allow, ask, deny), or the same with less time to start or more time to take a yes back. A
// looser decision is never stricter, whatever its times are: asking again by it could mean not to
// ask. The times to answer and for the result do not count: nobody who was told how long they
// have is given less.
func (t Terms) StricterThan(was Terms) bool {
	now, before := t.Decision.strictness(), was.Decision.strictness()
	if now != before || t.Decision == Deny {
		return now > before
	}
	return t.Limits.startWithin() < was.Limits.startWithin() || t.Limits.leastUndo() > was.Limits.leastUndo()
}

// strictness orders decisions; a word that is none of the three counts as ask, as in admit.
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

// Tightened are these limits with less time to start and more time to take a yes back, where
// the other ones have that.
func (l Limits) Tightened(other Limits) Limits {
	if other.startWithin() < l.startWithin() {
		l.StartWithin = other.startWithin()
	}
	if other.leastUndo() > l.leastUndo() {
		l.Undo = other.leastUndo()
	}
	return l
}

// Ruled is what the rules, as they stand now, say of a call that was judged by earlier ones.
// Stricter ones count at once while nobody has started it; looser ones change nothing.
type Ruled struct {
	Call  string
	Terms Terms
}

func (Ruled) input() {}

// ruled ends a call that is forbidden now and withdraws its question. One that is still asked
// about only gets the stricter times, of which nobody has been told; one that was agreed to, or
// allowed, by a looser rule is asked for again.
func (m *machine) ruled(in Ruled) error {
	c := m.call(in.Call)
	if c == nil || c.Kind != ToolCall {
		return refuse(utp.CodeUnknownCall, "the turn has no such call of a tool")
	}
	if !in.Terms.StricterThan(c.Terms()) {
		return nil
	}
	reason := "policy"
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

package turn

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/utp"
)

// MaxBatch is how many turns one call may begin.
const MaxBatch = 64

// Batch are the turns of other agents that do a call, its children. The call is granted to no service: it starts when
// its children are begun, and they end it.
type Batch struct {
	// Waits: the call ends with its children. Otherwise it ends once they have begun, and they go on by themselves.
	Waits bool `json:"waits,omitempty"`
	// FailFast: the first child that does not succeed ends the call, and stops the others.
	FailFast bool `json:"fail_fast,omitempty"`
	// Children are in the order of their Index.
	Children []Child `json:"children"`
}

// Child is one turn of a batch.
type Child struct {
	Index int    `json:"index"`
	Agent string `json:"agent"`
	// Turn is its id, "" before it has begun.
	Turn string `json:"turn,omitempty"`
	// Status is how it ended for the call; "" while it is open. The turn itself may take longer: it was stopped.
	Status  utp.Status `json:"status,omitempty"`
	Code    utp.Code   `json:"code,omitempty"`
	Message string     `json:"message,omitempty"`
	// Card holds what it delivered, and Answer its words, if it left any.
	Card   string `json:"card,omitempty"`
	Answer string `json:"answer,omitempty"`
}

func (c Child) ended() bool { return c.Status != "" }

type (
	// BeginChild begins the turn of a child. The caller answers with [ChildBegun], or with [ChildEnded] if it cannot begin.
	BeginChild struct {
		Call  string
		Index int
	}
	// StopChild stops a turn that a call of this one has begun.
	StopChild struct{ Turn string }
	// ChildBegun says which turn a child is. Without a Call it is none of a batch, but was asked for beside the calls.
	ChildBegun struct {
		Call  string
		Index int
		Turn  string
	}
	// ChildEnded says how a child has ended, which may be before its begin is reported. Without a Call only that it has.
	ChildEnded struct {
		Call  string
		Child Child
	}
)

func (BeginChild) effect() {}
func (StopChild) effect()  {}
func (ChildBegun) input()  {}
func (ChildEnded) input()  {}

// NoteChildren tells how many children of a call have ended, while others have not.
const NoteChildren NoteKind = "call.children"

// clone copies what Step may write to.
func (b *Batch) clone() *Batch {
	if b == nil {
		return nil
	}
	kept := *b
	kept.Children = slices.Clone(b.Children)
	return &kept
}

// Done counts the children that have ended.
func (b *Batch) Done() (n int) {
	for _, c := range b.Children {
		if c.ended() {
			n++
		}
	}
	return n
}

// find returns the child of an index.
func (b *Batch) find(index int) *Child {
	i, found := slices.BinarySearchFunc(b.Children, index, func(c Child, index int) int { return cmp.Compare(c.Index, index) })
	if !found {
		return nil
	}
	return &b.Children[i]
}

// Awaits reports whether a call of the turn waits for a turn that is within this one.
func (s State) Awaits(child Within) bool {
	c, live := s.Find(child.Call)
	return live && c.Batch != nil && c.Batch.Waits && c.State == Started
}

// CountsAsActive reports whether an open turn takes one of its agent's places, now or once it begins. An outside turn takes
// none, and one that waits only for turns that its calls have begun leaves its place to them.
func (s State) CountsAsActive() bool {
	return s.Status != Ended && !s.Outside && !s.onlyAwaitsChildren()
}

// IsActive reports whether the turn takes one of its agent's places now.
func (s State) IsActive() bool { return s.Status != Queued && s.CountsAsActive() }

// onlyAwaitsChildren reports whether the turn waits for turns that its calls have begun, and for nothing else. One that has
// work done without waiting for it keeps its place: it goes on.
func (s State) onlyAwaitsChildren() bool {
	waits := false
	for _, c := range s.Calls {
		if !c.State.Open() {
			continue
		}
		if c.Batch == nil || !c.Batch.Waits || c.State != Started {
			return false
		}
		waits = true
	}
	return waits && s.Status == Suspended
}

// delegate starts a call that children do. Agents that are nested as deeply as they may be begin none: such a child has
// failed, and the turn goes on.
func (m *machine) delegate(c *Call) {
	c.State, c.StartedAt = Started, m.now.Wall
	c.EndBy = m.now.Add(c.Limits.resultTime())
	m.Tally.Invoked++
	m.emit(Note{Kind: NoteInvoked, Call: c.ID})
	for i := range c.Batch.Children {
		switch child := &c.Batch.Children[i]; {
		case i >= MaxBatch:
			child.Status, child.Code, child.Message = utp.StatusFailed, utp.CodeTooManyTurns, fmt.Sprintf("a call begins at most %d turns", MaxBatch)
		case m.Depth+1 >= MaxDepth:
			child.Status, child.Code = utp.StatusFailed, utp.CodeRecursionDepthExceeded
			child.Message = fmt.Sprintf("agents would be nested %d deep, and fewer than %d may be", m.Depth+1, MaxDepth)
		default:
			m.emit(BeginChild{Call: c.ID, Index: child.Index})
		}
	}
	m.conclude(c)
}

// childBegun records which turn a child is. If its call has ended meanwhile, nobody waits for the turn.
func (m *machine) childBegun(in ChildBegun) error {
	if in.Call == "" {
		m.Delegated = append(m.Delegated, in.Turn)
		if m.Stop != nil {
			m.stopDelegated()
		}
		return nil
	}
	c := m.call(in.Call)
	if c == nil || c.Batch == nil || c.Batch.find(in.Index) == nil {
		return refuse(utp.CodeUnknownCall, "the ledger has no such call of several turns")
	}
	child := c.Batch.find(in.Index)
	if child.Turn != "" && child.Turn != in.Turn {
		return refuse(utp.CodeConflict, "the child is another turn")
	}
	child.Turn = in.Turn
	if c.State != Started || m.Stop != nil {
		m.emit(StopChild{Turn: in.Turn})
	}
	if !c.Batch.Waits && !child.ended() {
		m.Delegated = append(m.Delegated, in.Turn)
	}
	m.conclude(c)
	return nil
}

// childEnded records how a child has ended. What comes after the call's end changes nothing.
func (m *machine) childEnded(in ChildEnded) {
	m.Delegated = slices.DeleteFunc(m.Delegated, func(id string) bool { return id == in.Child.Turn })
	c := m.call(in.Call)
	if c == nil || c.Batch == nil || c.State != Started {
		return
	}
	child := c.Batch.find(in.Child.Index)
	if child == nil || child.ended() {
		return
	}
	agent := child.Agent
	*child = in.Child
	child.Agent = agent
	if c.Batch.FailFast && m.Stop == nil && child.Status != utp.StatusSuccess && child.Status != utp.StatusPartial {
		m.endChildren(c, utp.StatusCanceled, utp.CodeStopped, "another one failed first")
	}
	if done := c.Batch.Done(); done < len(c.Batch.Children) {
		m.emit(Note{Kind: NoteChildren, Call: c.ID})
	}
	m.conclude(c)
}

// endChildren ends the children that are open, for the call, and stops their turns.
func (m *machine) endChildren(c *Call, status utp.Status, code utp.Code, why string) {
	m.stopChildren(c)
	for i := range c.Batch.Children {
		if child := &c.Batch.Children[i]; !child.ended() {
			child.Status, child.Code, child.Message = status, code, why
		}
	}
}

// stopChildren stops the turns of the children that are open.
func (m *machine) stopChildren(c *Call) {
	for _, child := range c.Batch.Children {
		if child.Turn != "" && !child.ended() {
			m.emit(StopChild{Turn: child.Turn})
		}
	}
}

// haltChildren stops the children of a call when its turn is stopped, and reports whether it has to wait for some. It
// ends with the last of them, so that what they did is told.
func (m *machine) haltChildren(c *Call) bool {
	m.stopChildren(c)
	for i := range c.Batch.Children {
		if child := &c.Batch.Children[i]; child.Turn == "" && !child.ended() {
			child.Status, child.Code = utp.StatusCanceled, utp.CodeStopped
		}
	}
	m.conclude(c)
	return c.State.Open()
}

// stopDelegated stops the turns within this one that no call waits for.
func (m *machine) stopDelegated() {
	for _, id := range m.Delegated {
		m.emit(StopChild{Turn: id})
	}
	m.Delegated = nil
}

// batchOverdue ends a call whose children take too long.
func (m *machine) batchOverdue(c *Call) {
	m.endChildren(c, utp.StatusTimeout, utp.CodeToolTimeout, "it took longer than the call may")
	m.conclude(c)
}

// abandonBatch ends a call of several turns that is still open when its turn ends.
func (m *machine) abandonBatch(c *Call) {
	m.endChildren(c, utp.StatusCanceled, utp.CodeStopped, "the turn that asked for it has ended")
	m.conclude(c)
}

// conclude ends a call once its children have done what it waits for.
func (m *machine) conclude(c *Call) {
	if c.State != Started {
		return
	}
	for _, child := range c.Batch.Children {
		if !child.ended() && (c.Batch.Waits || child.Turn == "") {
			return
		}
	}
	m.complete(c, Finished, c.Batch.outcome(m.Stop != nil))
}

// outcome sums the children up: the call is a success if all of them are, and partial if some are.
func (b *Batch) outcome(stopped bool) Outcome {
	count := map[utp.Status]int{}
	var first *Child
	for i := range b.Children {
		c := &b.Children[i]
		status := cmp.Or(c.Status, utp.StatusSuccess) // one that nobody waits for has begun
		count[status]++
		if first == nil && status != utp.StatusSuccess {
			first = c
		}
	}
	all, succeeded := len(b.Children), count[utp.StatusSuccess]
	failed := fmt.Sprintf("%d of %d tasks did not succeed", all-succeeded, all)
	switch {
	case first == nil:
		return Outcome{Status: utp.StatusSuccess}
	case all == 1:
		return Outcome{Status: first.Status, Code: cmp.Or(first.Code, utp.CodeBatchFailed), Message: first.Message}
	case count[utp.StatusTimeout] > 0:
		return Outcome{Status: utp.StatusTimeout, Code: utp.CodeToolTimeout, Message: failed}
	case succeeded+count[utp.StatusPartial] > 0:
		return Outcome{Status: utp.StatusPartial, Code: utp.CodeBatchFailed, Message: failed}
	case stopped:
		return Outcome{Status: utp.StatusCanceled, Code: utp.CodeStopped, Message: failed}
	default:
		return Outcome{Status: utp.StatusFailed, Code: utp.CodeBatchFailed, Message: failed}
	}
}

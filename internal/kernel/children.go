package kernel

import (
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/delegation"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// beginChild begins the turn of a child, in the transaction of the call that asks for it: neither is there without the
// other. One that may not begin has failed, and its call goes on.
func (s *step) beginChild(e turn.BeginChild) error {
	c, _ := s.rec.State.Find(e.Call)
	if c.State != turn.Started || c.Batch.Children[e.Index].Status != "" { // one before it has failed and ended the call
		return nil
	}
	p, err := s.cards.Plan(c)
	if err != nil {
		return err
	}
	id, err := s.beginTask(c, e.Index, p)
	if refused, is := errors.AsType[*api.Fault](err); is {
		return s.dispatch(turn.ChildEnded{Call: c.ID, Child: turn.Child{
			Index: e.Index, Status: utp.StatusFailed, Code: refused.Code, Message: refused.Message,
		}})
	}
	if err != nil {
		return err
	}
	return s.dispatch(turn.ChildBegun{Call: c.ID, Index: e.Index, Turn: id})
}

// beginTask begins a turn within this one, as a spawn of its agent would, and returns its id. It is known by the call and
// its index: the same child is never begun twice.
func (s *step) beginTask(c turn.Call, index int, p delegation.Plan) (string, error) {
	q, err := taskRequest(s.rec.State, c, index, p.Tasks[index])
	if err != nil {
		return "", err
	}
	from := Caller{Kind: AgentCaller, Name: s.rec.State.Agent}
	b, err := s.k.newBeginning(from, "delegation "+s.rec.State.Turn, q, s.now)
	if err != nil {
		return "", err
	}
	rec, err := b.load(s.tx, &s.siblings)
	if errors.Is(err, errBegunBefore) {
		return rec.State.Turn, nil
	}
	if err != nil {
		return "", err
	}
	child := s.k.newStep(s.tx, s.now, rec)
	child.with, child.begun, child.wakeWorker = s.with, true, true
	child.batch.Keys = b.keys
	child.rec.State.Within = turn.Within{Spawner: from.Name, Call: c.ID, Index: index, Step: c.Step}
	child.queue(q)
	if c.Batch.Waits {
		child.rec.State.Deadline = c.EndBy
	}
	if err := child.mayBeginTask(from, q, s.rec.State, &s.siblings); err != nil {
		return "", err
	}
	s.siblings.Add(child.admission)
	s.children = append(s.children, child)
	return child.rec.State.Turn, nil
}

// saveChildren names and saves the turns that this step begins.
func (s *step) saveChildren() error {
	if err := s.siblings.Name(s.tx); err != nil {
		return err
	}
	for _, child := range s.children {
		s.with.steps = append(s.with.steps, child)
		if err := child.save(); err != nil {
			return err
		}
	}
	return nil
}

// taskRequest is what a spawn of the task would ask for.
func taskRequest(st turn.State, c turn.Call, index int, task delegation.Task) (api.EnqueueRequest, error) {
	args, err := task.Args()
	q := api.EnqueueRequest{
		Agent: task.Agent, Args: args, Request: task.Instruction, Owner: st.Owner, Parent: st.Turn,
		Correlation: fmt.Sprintf("%s/%d", c.ID, index), Boxes: api.Boxes{ContextBox: task.ContextBox},
	}
	if task.History {
		q.ContextBox = st.Boxes.OutputBox
	}
	if err == nil && q.Agent == api.OperatorAgent {
		err = admission.MayNotStart(st.Agent, q.Agent)
	}
	return q, err
}

// mayBeginTask makes the step's turn a part of another one, as q asks, or refuses what an agent may not have within its own.
func (s *step) mayBeginTask(from Caller, q api.EnqueueRequest, above turn.State, with *admission.Siblings) error {
	if err := s.admission.BeginWithin(q, with); err != nil {
		return err
	}
	if err := s.admission.MayStart(from.Name, from.Kind == ToolCaller); err != nil {
		return err
	}
	if err := s.admission.Within(above); err != nil {
		return err
	}
	return s.admission.Complete(s.rec.Args)
}

// stopChild stops a turn that a call of this one has begun, for the same reason that this one was stopped for, if it was.
func (s *step) stopChild(id string) {
	stop := turn.Stop{Reason: "the session that asked for it needs it no longer", System: true}
	if above := s.rec.State.Stop; above != nil {
		stop.By, stop.Surface, stop.System = above.By, above.Surface, above.System
		if above.Reason != "" {
			stop.Reason = above.Reason
		}
	}
	s.afterwards(id, func(child *step) error {
		child.notification.Resolution, child.notification.By, child.notification.Surface = "stopped", stop.By, stop.Surface
		if err := child.count(); err != nil {
			return err
		}
		return child.stopTurn(stop)
	})
}

// knownTo tells the turn above the one of the step that this one has begun, so that a stop reaches it. It is saved as it
// was read: what stops it meanwhile has this step tried again.
func (s *step) knownTo(above store.Record) error {
	other := s.beside(above)
	if err := other.dispatch(turn.ChildBegun{Turn: s.rec.State.Turn}); err != nil {
		return err
	}
	return other.save()
}

// reportEnd tells the turn above this one that it has ended and, if a call there asked for it, how. For that call it keeps
// its answer.
func (s *step) reportEnd() error {
	st := s.rec.State
	if st.Parent == "" || st.Status != turn.Ended || s.was.Status == turn.Ended {
		return nil
	}
	if st.Within.Call == "" {
		s.afterwards(st.Parent, func(above *step) error {
			return above.dispatch(turn.ChildEnded{Child: turn.Child{Turn: st.Turn}})
		})
		return nil
	}
	answer, err := s.saveAnswer()
	if err != nil {
		return err
	}
	ended := turn.Child{
		Index: st.Within.Index, Turn: st.Turn, Status: st.End.Status, Code: st.End.Code, Message: st.End.Message,
		Card: st.End.Deliverable, Answer: answer,
	}
	s.afterwards(st.Parent, func(above *step) error {
		return above.dispatch(turn.ChildEnded{Call: st.Within.Call, Child: ended})
	})
	return nil
}

// saveAnswer saves the words with which the turn ends, and returns the id of their card; "" if there are none.
func (s *step) saveAnswer() (string, error) {
	if s.notification.Output == "" {
		return "", nil
	}
	return s.cards.AddText(s.notification.Output)
}

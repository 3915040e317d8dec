package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/invocation"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// openOutside begins the turn of an agent that is an external program. A repeat of the request with the same key finds
// the turn again, and makes the caller its holder.
func (k *Kernel) openOutside(ctx context.Context, from Caller, q api.OpenRequest) (api.OpenAnswer, error) {
	if q.Idle < 0 || q.Idle > api.MaxIdle {
		return api.OpenAnswer{}, api.NewFault(utp.CodeBadRequest, fmt.Sprintf("idle_seconds is %d; it is 1 to %d, or 0 for an hour", q.Idle, api.MaxIdle))
	}
	if len(q.Holder) > store.MaxName {
		return api.OpenAnswer{}, api.NewFault(utp.CodeBadRequest, "the holder's name has more than 128 bytes")
	}
	begin := api.EnqueueRequest{
		Agent: q.Agent, Owner: q.Owner, Request: q.Request, Label: q.Label, Answer: q.Answer, Args: []byte("{}"), Key: q.Key,
	}
	rec, repeated, err := k.begin(ctx, from, "agent "+q.Agent, begin, func(s *step) error {
		s.rec.State.Outside, s.rec.State.Holder = true, q.Holder
		idle := q.Idle
		if idle == 0 {
			idle = api.DefaultIdle
		}
		s.rec.State.MaxIdle = time.Duration(idle) * time.Second
		return s.dispatch(turn.Open{})
	})
	if err != nil {
		return api.OpenAnswer{}, err
	}
	a := api.OpenAnswer{Turn: rec.State.Turn, Session: rec.State.Session, Name: rec.State.Name, Repeated: repeated}
	if !repeated {
		return a, nil
	}
	err = k.stepOutside(ctx, api.OutsideRequest{Session: a.Session, Agent: q.Agent}, func(s *step) error {
		a.Name = s.rec.State.Name
		if s.rec.State.Status == turn.Ended || q.Holder == "" || q.Holder == s.rec.State.Holder {
			return errUnchanged
		}
		return s.dispatch(turn.Attached{Holder: q.Holder})
	})
	return a, err
}

// stepOutside steps an outside turn of the agent, never another agent's. If fn returns [errUnchanged], that is no error.
func (k *Kernel) stepOutside(ctx context.Context, q api.OutsideRequest, fn func(*step) error) error {
	err := k.attempt(ctx, store.TurnRef{Session: q.Session}, func(s *step) error {
		if err := mine(s.rec, q); err != nil {
			return err
		}
		return fn(s)
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return store.ProtocolError(err)
}

// mine returns an error unless the turn is an outside turn of the agent. Another agent's turn is not found.
func mine(rec store.Record, q api.OutsideRequest) error {
	if !rec.State.Outside || rec.State.Agent != q.Agent || q.Agent == "" {
		return store.ErrNotFound
	}
	return nil
}

// invoke asks for one call of an outside turn, or finds the call that the same request asked for before.
func (k *Kernel) invoke(ctx context.Context, _ Caller, q api.InvokeRequest) (a api.CallStatus, err error) {
	if err := invocation.Check(q); err != nil {
		return a, err
	}
	var saved *step
	err = k.stepOutside(ctx, q.OutsideRequest, func(s *step) error {
		saved = s
		w, err := invocation.Read(s.tx, s.rec.State, s.now.Wall, q)
		if err != nil {
			return err
		}
		a, err = s.invoke(w)
		return err
	})
	if err == nil {
		a.Last = saved.lastEvent()
	}
	return a, err
}

// invoke joins the call that the request asked for before, or makes one.
func (s *step) invoke(w invocation.Invocation) (api.CallStatus, error) {
	id, err := w.Before(s.tx, s.rec.State, s.now)
	if err != nil {
		return api.CallStatus{}, err
	}
	if id != "" {
		a, err := s.joins(id, w)
		a.Joined = true
		return a, err
	}
	if st := s.rec.State; st.Status == turn.Ended {
		if st.Stop != nil && !st.Stop.System {
			return api.CallStatus{}, api.NewFault(utp.CodeStopped, "a person has stopped the session; nothing more is done in it")
		}
		return api.CallStatus{}, api.NewFault(utp.CodeTurnEnded, "the session has ended; open another one")
	}
	if !s.k.active.Has(s.rec.State.Turn) {
		return api.CallStatus{}, errSuspended()
	}
	if err := s.admission.CheckOpenCalls(1); err != nil {
		return api.CallStatus{}, err
	}
	c, err := s.outsideCall(w)
	if err != nil {
		return api.CallStatus{}, err
	}
	if key, has := w.RequestKey(c.ID); has {
		s.batch.Keys = append(s.batch.Keys, key)
	}
	if err := s.dispatch(turn.Adopt{Call: c}); err != nil {
		return api.CallStatus{}, err
	}
	return s.callStatus(c.ID)
}

// joins marks a request as open for a call that was asked for before.
func (s *step) joins(id string, w invocation.Invocation) (api.CallStatus, error) {
	c, live := s.rec.State.Current(id)
	if live && c.State.Open() && w.AwaitMS > 0 && s.rec.State.Status != turn.Ended {
		if err := s.dispatch(turn.Await{Call: c.ID, Within: time.Duration(w.AwaitMS) * time.Millisecond, Answered: w.Answered}); err != nil {
			return api.CallStatus{}, err
		}
		return s.callStatus(id)
	}
	a, err := s.callStatus(id)
	if err == nil {
		err = errUnchanged
	}
	return a, err
}

// callStatus returns the status of a call of an outside turn.
func (s *step) callStatus(id string) (api.CallStatus, error) {
	return invocation.Status(s.tx, &s.rec, s.cards, id)
}

// outsideCall makes the call that a request asks for.
func (s *step) outsideCall(w invocation.Invocation) (turn.Call, error) {
	id, err := s.k.ids.ID(s.now.Wall)
	if err != nil {
		return turn.Call{}, err
	}
	stepID := "step_" + id
	r := admission.Request{Step: stepID, Tool: w.Tool, Comment: w.Comment, Lang: w.Lang, Args: w.Args, Missing: w.Missing}
	var c turn.Call
	switch {
	case w.Question != nil:
		c, err = s.personCall(api.ToolCall{Question: w.Question}, stepID)
	case w.Permission:
		c, err = s.admission.MakePermission(r, w.Ask)
	default:
		c, err = s.make(r)
	}
	c.Key, c.HostCall, c.Identity, c.Answered = w.Key, w.HostCall, w.Identity, w.Answered
	if w.AwaitMS > 0 {
		c.Awaited = s.now.Add(time.Duration(w.AwaitMS) * time.Millisecond)
	}
	return c, err
}

// await marks a request for a call as open, or ends it, and returns the status of the call.
func (k *Kernel) await(ctx context.Context, _ Caller, q api.AwaitRequest) (a api.CallStatus, err error) {
	if q.AwaitMS < 0 || q.AwaitMS > api.MaxAwaitMS {
		return a, api.NewFault(utp.CodeBadRequest, fmt.Sprintf("await_ms is %d; it is 0 to %d", q.AwaitMS, api.MaxAwaitMS))
	}
	a, changes, err := k.stands(ctx, q)
	if err != nil || !changes {
		return a, store.ProtocolError(err)
	}
	var saved *step
	err = k.stepOutside(ctx, q.OutsideRequest, func(s *step) error {
		saved = s
		c, live := s.rec.State.Current(q.Call)
		var in turn.Input
		switch {
		case !live || s.rec.State.Status == turn.Ended:
		case c.State.Open():
			in = turn.Await{Call: c.ID, Within: time.Duration(q.AwaitMS) * time.Millisecond, Answered: q.Answered, Abandoned: q.Abandoned}
		case q.Received:
			in = turn.Received{Call: c.ID}
		}
		if in != nil {
			if err := s.dispatch(in); err != nil {
				return err
			}
		}
		a, err = s.callStatus(q.Call)
		if err == nil && in == nil {
			err = errUnchanged
		}
		return err
	})
	if err == nil {
		a.Last = saved.lastEvent()
	}
	return a, err
}

// lastEvent returns the number of the newest event of the session: of this step, once it is saved, or as its turn was read.
func (s *step) lastEvent() int64 {
	if n := len(s.batch.Events); n > 0 {
		return max(s.rec.Last, s.batch.Events[n-1].Seq)
	}
	return s.rec.Last
}

// stands returns the status of a call, and whether the request changes anything.
func (k *Kernel) stands(ctx context.Context, q api.AwaitRequest) (a api.CallStatus, changes bool, err error) {
	err = k.o.Store.View(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(store.TurnRef{Session: q.Session})
		if err == nil {
			err = mine(rec, q.OutsideRequest)
		}
		if err != nil {
			return err
		}
		a, err = k.newStep(tx, k.clock.Now(), rec).callStatus(q.Call)
		a.Last = rec.Last
		c, live := rec.State.Current(q.Call)
		changes = live && !q.Peek && rec.State.Status != turn.Ended && (!a.Ended() && !c.Class.Repeatable() || a.Ended() && q.Received && !c.Received)
		return err
	})
	return a, changes, err
}

// reportOutside reports what an outside agent says about its work, or notes that it is there.
func (k *Kernel) reportOutside(ctx context.Context, _ Caller, q api.AgentReportRequest) (struct{}, error) {
	kind, err := checkReport(q)
	if err != nil {
		return struct{}{}, err
	}
	var in turn.Input = turn.AgentReport{Key: q.Key, Kind: kind, Percent: q.Progress}
	if q.Lease > 0 {
		in = turn.Present{Within: time.Duration(q.Lease) * time.Second}
	}
	return struct{}{}, k.stepOutside(ctx, q.OutsideRequest, func(s *step) error {
		s.notification.Output, s.notification.Lang, s.notification.Summary, s.notification.Missed = q.Text, q.Lang, q.Doing+q.Observed, q.Missed
		return s.dispatch(in)
	})
}

// checkReport returns what a report is about; "" where the agent only says that it is there.
func checkReport(q api.AgentReportRequest) (kind turn.NoteKind, err error) {
	said := 0
	for _, one := range []struct {
		is   bool
		kind turn.NoteKind
	}{
		{q.Text != "", turn.NoteText},
		{q.Progress > 0, turn.NoteProgress},
		{q.Doing != "", NoteDoing},
		{q.Observed != "", turn.NoteObserved},
		{q.Missed != 0, NoteMissed},
		{q.Lease != 0, ""},
	} {
		if one.is {
			said++
			kind = one.kind
		}
	}
	switch {
	case q.Lang != "" && q.Text+q.Doing+q.Observed == "":
		return "", api.NewFault(utp.CodeBadRequest, "found lang without a text; lang is the language of text, doing or observed")
	case said != 1:
		return "", api.NewFault(utp.CodeBadRequest,
			fmt.Sprintf("found %d of text, progress, doing, observed, missed and lease_seconds; one request tells one of them", said))
	case len(q.Text) > api.AgentTextLimit || len(q.Doing) > api.MaxReported || len(q.Observed) > api.MaxReported:
		return "", api.NewFault(utp.CodeTooLarge, fmt.Sprintf("a piece of text may have %d bytes, and what the agent does or has done %d", api.AgentTextLimit, api.MaxReported))
	case q.Progress < 0 || q.Progress > 100:
		return "", api.NewFault(utp.CodeBadRequest, "progress is a share of the whole work, from 0 to 100 percent")
	case q.Missed < 0 || q.Missed > api.MaxMissed:
		return "", api.NewFault(utp.CodeBadRequest, fmt.Sprintf("missed is %d; it is 1 to %d messages", q.Missed, api.MaxMissed))
	case q.Lease != 0 && (q.Lease < api.MinLease || q.Lease > api.MaxLease):
		return "", api.NewFault(utp.CodeBadRequest, fmt.Sprintf("lease_seconds is %d; it is %d to %d", q.Lease, api.MinLease, api.MaxLease))
	}
	if err := cmp.Or(api.CheckKey(q.Key), api.CheckLang(q.Lang)); err != nil {
		return "", api.NewFault(utp.CodeBadRequest, err.Error())
	}
	return kind, nil
}

// closeOutside ends an outside turn with the agent's own result, once none of its calls is open. A repeat changes nothing.
func (k *Kernel) closeOutside(ctx context.Context, _ Caller, q api.CloseRequest) (struct{}, error) {
	if q.Status == "" {
		q.Status = utp.StatusSuccess
	}
	d := api.DeliverRequest{Status: q.Status, Code: q.Code, Summary: q.Summary, Output: q.Output, Lang: q.Lang, Fields: q.Fields, Handoff: q.Handoff}
	if err := checkDeliver(&d); err != nil {
		return struct{}{}, err
	}
	return struct{}{}, k.stepOutside(ctx, q.OutsideRequest, func(s *step) error {
		st := s.rec.State
		if st.Status == turn.Ended || st.Closing != nil {
			return errUnchanged
		}
		if d.Handoff != nil && st.Status == turn.Suspended {
			return api.NewFault(utp.CodeConflict, "calls of the session have not ended; wait for their results, then hand over")
		}
		end, err := s.endOf(d)
		if err != nil {
			return err
		}
		if d.Output != "" && st.Stop == nil { // it may take a while until the turn ends
			s.notification.Output, s.notification.Lang = d.Output, d.Lang
			if err := s.dispatch(turn.AgentReport{Kind: turn.NoteText}); err != nil {
				return err
			}
			s.notification.Output, s.notification.Lang = "", ""
		}
		if end.Completes() {
			s.notification.Handoff = d.Handoff
		}
		return s.dispatch(turn.Close{End: end})
	})
}

// offered lists the tools that an agent may ask for, by the current policy and its definition.
func (k *Kernel) offered(ctx context.Context, from Caller, q api.OfferedRequest) (api.OfferedAnswer, error) {
	const page = 100
	if from.Kind == AgentCaller {
		q.Agent = from.Name
	}
	a := api.OfferedAnswer{Tools: []api.OfferedTool{}}
	err := k.o.Store.View(ctx, func(tx store.Tx) error {
		agent, err := store.ReadAgent(tx, q.Agent)
		if err != nil {
			return err
		}
		tools, err := tx.Tools(store.ToolFilter{After: q.After, Limit: page})
		if err != nil {
			return err
		}
		room := api.InlineLimit
		if q.After == "" {
			if a.Tools, err = k.offeredOwn(q.Agent, agent.Definition); err != nil {
				return err
			}
		}
		for _, t := range tools {
			d := t.Definition
			if room -= len(d.Parameters) + len(d.Description) + store.MaxName; room < 0 && a.Next != "" {
				return nil
			}
			a.Next = d.Tool
			offered, err := k.offeredTool(q.Agent, agent.Definition, t)
			if err != nil {
				return err
			}
			if offered.Tool != "" {
				a.Tools = append(a.Tools, offered)
			}
		}
		if len(tools) < page {
			a.Next = ""
		}
		return nil
	})
	return a, err
}

// offeredTool returns a tool as an agent is offered it; the zero value if it is not.
func (k *Kernel) offeredTool(agent string, by api.AgentDefinition, t store.Tool) (api.OfferedTool, error) {
	d := t.Definition
	judged := rulebook.Terms(t, admission.Defined(by, d.Tool, k.o.Policy.Decide(agent, t)))
	if judged.Decision == turn.Deny || k.registry.Lacks(t) {
		return api.OfferedTool{}, nil
	}
	parameters, err := d.Offered()
	if err != nil {
		return api.OfferedTool{}, store.Unexpected("the definition of "+d.Tool, err)
	}
	return api.OfferedTool{
		Tool: d.Tool, Description: d.Description, Parameters: parameters, Class: t.EffectiveClass(), Asks: judged.Decision == turn.Ask,
		Reviewed: t.Reviewed,
	}, nil
}

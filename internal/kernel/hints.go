package kernel

import (
	"context"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// hint publishes what a step has changed of its turn as events for third-party followers (UTP,
// "Events of agents"). They may be lost, and nothing waits for them.
func (k *Kernel) hint(ctx context.Context, s *step) {
	was, is := s.was, s.rec.State
	if from, told := textFrom(was.ReportedText, is.ReportedText); told {
		k.publishHint(ctx, is, utp.SuffixChunk, utp.AgentChunk{Turn: is.Turn, Type: "content", Content: s.notification.Output, Index: from})
	}
	if step, phase := steps(was, is); phase != "" {
		k.publishHint(ctx, is, utp.SuffixStep, utp.AgentStep{Turn: is.Turn, Step: step, Phase: phase, Cards: cardsOf(s.batch)})
	}
	if was.Status != is.Status || was.Epoch != is.Epoch || was.Waiting() != is.Waiting() {
		k.publishHint(ctx, is, utp.SuffixState, stateHint(is, s.now))
	}
	if is.Status == turn.Ended && was.Status != turn.Ended && is.End != nil {
		k.publishHint(ctx, is, utp.SuffixTask, taskHint(s.rec, s.now))
	}
}

func (k *Kernel) publishHint(ctx context.Context, st turn.State, suffix string, payload any) {
	subject, err := utp.AgentEvent(st.Project, st.Channel, st.Agent, suffix)
	if err != nil {
		return
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		return
	}
	header, err := utp.EncodeWakeup(utp.Context{
		ProjectID: st.Project, ChannelID: st.Channel, AgentID: st.Agent, TurnID: st.Turn, TurnEpoch: max(st.Epoch, 1),
		Traceparent: traceparent(st),
	}, utp.Stamp{At: k.o.Clock.Now()})
	if err != nil {
		return
	}
	if err := k.o.Bus.Publish(ctx, subject.String(), header, raw); err != nil {
		k.o.Logger.Debug("hint", "turn", st.Turn, "event", suffix, "error", err)
	}
}

// textFrom returns the byte offset of the piece of the agent's text that a step has reported, if any.
func textFrom(was, is api.ReportedText) (from int64, told bool) {
	if was.Step == is.Step && was.Try == is.Try {
		from = was.Bytes
	}
	return from, is.Bytes > from
}

// steps returns which step has begun or ended.
func steps(was, is turn.State) (step, phase string) {
	switch {
	case is.Step > was.Step && is.Status != turn.Running:
		return stepOf(is), "executing"
	case is.Status == turn.Running && (was.Status == turn.Suspended || is.Step > was.Step):
		return stepOf(is), "completed"
	}
	return "", ""
}

func stepOf(st turn.State) string {
	for _, c := range st.Calls {
		if !c.Adopted && c.Number == st.Step {
			return c.Step
		}
	}
	return ""
}

func cardsOf(b store.Batch) []string {
	ids := make([]string, 0, len(b.Cards))
	for _, c := range b.Cards {
		ids = append(ids, c.ID)
	}
	return ids
}

func stateHint(st turn.State, now turn.Timestamp) utp.AgentState {
	e := utp.AgentState{Agent: st.Agent, Turn: st.Turn, Epoch: st.Epoch, Updated: now.Wall.Format(time.RFC3339Nano)}
	switch st.Status {
	case turn.Queued:
		e.Status = "dispatched"
	case turn.Running:
		e.Status, e.Metadata.Activity = "running", "thinking"
	case turn.Suspended:
		e.Status, e.Metadata.Activity, e.Metadata.Waiting = "suspended", "awaiting_tool_result", st.Waiting()
		for _, c := range st.Calls {
			if !c.Adopted && c.State.Open() {
				e.Metadata.Calls = append(e.Metadata.Calls, c.ID)
			}
		}
	case turn.Ended:
		e.Status = "idle"
		if st.End != nil {
			e.Metadata.Error = string(st.End.Code)
		}
	}
	return e
}

func taskHint(rec store.Record, now turn.Timestamp) utp.AgentTask {
	end := rec.State.End
	e := utp.AgentTask{
		Turn: rec.State.Turn, Status: end.Status, Stats: utp.AgentStats{DurationMS: max(0, now.Wall.Sub(rec.Created).Milliseconds())},
	}
	if end.Deliverable != "" {
		e.Deliverable = &end.Deliverable
	}
	if end.Status != utp.StatusSuccess {
		e.Error = &end.Message
		if end.Code != "" {
			e.Code = &end.Code
		}
	}
	return e
}

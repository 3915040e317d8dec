// Package hints publishes what steps change of turns as events for third-party followers (UTP, "Events of agents"), those of a turn in
// the order of its steps. They may be lost, and nothing waits for them.
package hints

import (
	"context"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Bus is where hints are published.
type Bus interface {
	Publish(ctx context.Context, subject string, header map[string][]string, payload []byte) error
}

// Step is a step of a turn that has been committed.
type Step struct {
	Was, Is turn.State
	Created time.Time      // when the turn was created
	At      turn.Timestamp // when the step was done
	Text    string         // what the agent has written in it
	Cards   []string       // the ids of the cards that it saved
}

// Publisher publishes hints. Make it with [New]; nil publishes none. Its methods may be called concurrently.
type Publisher struct {
	bus Bus
	now func() time.Time
	log *slog.Logger

	order order
}

// New returns a publisher.
func New(bus Bus, now func() time.Time, log *slog.Logger) *Publisher {
	return &Publisher{bus: bus, now: now, log: log}
}

// Reserve keeps the place of a step of a turn that is being saved, after the steps whose commits it has read. Pass the entry to
// [Publisher.Ready] or [Publisher.Drop].
func (p *Publisher) Reserve(turnID string) *Entry {
	if p == nil {
		return nil
	}
	return p.order.reserve(turnID)
}

// Drop gives up the place of a step that was not saved; nil is allowed.
func (p *Publisher) Drop(e *Entry) {
	if e != nil {
		p.order.drop(e)
	}
}

// Ready publishes the hints of a step that is committed, once those of all earlier steps are published: here, or in the goroutine that
// publishes those.
func (p *Publisher) Ready(ctx context.Context, e *Entry, s Step) {
	p.order.ready(e, func() { p.publishAll(context.WithoutCancel(ctx), s) })
}

// publishAll publishes what a step has changed.
func (p *Publisher) publishAll(ctx context.Context, s Step) {
	was, is := s.Was, s.Is
	if from, told := textFrom(was.ReportedText, is.ReportedText); told {
		p.publish(ctx, is, utp.SuffixChunk, utp.AgentChunk{Turn: is.Turn, Type: "content", Content: s.Text, Index: from})
	}
	if step, phase := steps(was, is); phase != "" {
		p.publish(ctx, is, utp.SuffixStep, utp.AgentStep{Turn: is.Turn, Step: step, Phase: phase, Cards: s.Cards})
	}
	if was.Status != is.Status || was.Epoch != is.Epoch || was.Waiting() != is.Waiting() {
		p.publish(ctx, is, utp.SuffixState, state(is, s.At))
	}
	if is.Status == turn.Ended && was.Status != turn.Ended && is.End != nil {
		p.publish(ctx, is, utp.SuffixTask, task(s))
	}
}

func (p *Publisher) publish(ctx context.Context, st turn.State, suffix string, payload any) {
	subject, err := utp.AgentEvent(st.Project, st.Channel, st.Agent, suffix)
	if err != nil {
		return
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		return
	}
	header, err := utp.EncodeWakeup(st.Context(""), utp.Stamp{At: p.now()})
	if err != nil {
		return
	}
	if err := p.bus.Publish(ctx, subject.String(), header, raw); err != nil {
		p.log.Debug("hint", "turn", st.Turn, "event", suffix, "error", err)
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

func state(st turn.State, now turn.Timestamp) utp.AgentState {
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

func task(s Step) utp.AgentTask {
	end := s.Is.End
	e := utp.AgentTask{
		Turn: s.Is.Turn, Status: end.Status, Stats: utp.AgentStats{DurationMS: max(0, s.At.Wall.Sub(s.Created).Milliseconds())},
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

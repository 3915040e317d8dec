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
	for _, c := range chunks(was, is, s.Text) {
		p.publish(ctx, is, utp.SuffixChunk, c)
	}
	for _, phase := range phases(was, is) {
		p.publish(ctx, is, utp.SuffixStep, utp.AgentStep{Turn: is.Turn, Step: stepOf(is), Phase: phase, Cards: s.Cards})
	}
	if was.Status != is.Status || was.Epoch != is.Epoch || was.Waiting() != is.Waiting() || resumeDeadline(was) != resumeDeadline(is) {
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

// chunks returns what a step of the turn has told of its agent's text: where it starts, a piece of it, and where it ends.
func chunks(was, is turn.State, text string) (all []utp.AgentChunk) {
	if from, told := textFrom(was.ReportedText, is.ReportedText); told {
		if from == 0 {
			all = append(all, utp.AgentChunk{Turn: is.Turn, Type: utp.ChunkStart})
		}
		all = append(all, utp.AgentChunk{Turn: is.Turn, Type: utp.ChunkContent, Content: text, Index: from})
	}
	if written := is.ReportedText; written.Bytes > 0 && !planned(was, written) && planned(is, written) {
		all = append(all, utp.AgentChunk{Turn: is.Turn, Type: utp.ChunkEnd, Index: written.Bytes})
	}
	return all
}

// planned reports whether the step that a text belongs to is planned: nothing is added to the text any more.
func planned(st turn.State, text api.ReportedText) bool {
	return st.Status == turn.Ended || st.Step >= text.Step
}

// textFrom returns the byte offset of the piece of the agent's text that a step has reported, if any.
func textFrom(was, is api.ReportedText) (from int64, told bool) {
	if was.Step == is.Step && was.Try == is.Try {
		from = was.Bytes
	}
	return from, is.Bytes > from
}

// phases returns what has become of the step of the turn that has calls.
func phases(was, is turn.State) (all []string) {
	began := is.Step > was.Step
	if stepOf(is) == "" || was.Status == turn.Ended || !began && was.Status != turn.Suspended {
		return nil
	}
	if began {
		all = append(all, utp.PhaseStarted)
	}
	switch {
	case is.Status == turn.Suspended && began:
		all = append(all, utp.PhaseExecuting)
	case is.Status == turn.Running, is.Status == turn.Ended && is.End != nil && is.End.Completes():
		all = append(all, utp.PhaseCompleted)
	case is.Status == turn.Ended:
		all = append(all, utp.PhaseFailed)
	}
	return all
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
		e.Metadata.Deadline = resumeDeadline(st)
		for _, c := range st.Calls {
			if !c.Adopted && c.State.Open() {
				e.Metadata.Calls = append(e.Metadata.Calls, c.ID)
				e.Metadata.Tool = c.Tool
			}
		}
		if e.Metadata.Waiting > 1 {
			e.Metadata.Tool = ""
		}
	case turn.Ended:
		e.Status = "idle"
		if st.End != nil {
			e.Metadata.Error = string(st.End.Code)
		}
	}
	return e
}

// resumeDeadline returns by when the calls that the turn waits for must have their results; "" while the time of one of them
// has not begun to run, such as of one that a person is asked about.
func resumeDeadline(st turn.State) string {
	var last time.Time
	for _, c := range st.Calls {
		switch {
		case c.Adopted || !c.State.Open():
		case c.EndBy.IsZero():
			return ""
		case c.EndBy.Wall.After(last):
			last = c.EndBy.Wall
		}
	}
	if whole := st.Deadline; !whole.IsZero() && whole.Wall.Before(last) {
		last = whole.Wall
	}
	if last.IsZero() {
		return ""
	}
	return last.UTC().Format(time.RFC3339Nano)
}

// resultCard returns the card of the call whose result has ended the turn: of an action, or of a tool that ends it.
func resultCard(st turn.State) string {
	for _, c := range st.Calls {
		if ends := st.Action || c.Applied && c.After == utp.Terminate; ends && c.ReplacedBy == "" && c.Outcome != nil {
			return c.Outcome.Card
		}
	}
	return ""
}

func task(s Step) utp.AgentTask {
	end := s.Is.End
	e := utp.AgentTask{
		Turn: s.Is.Turn, Status: end.Status, Stats: utp.AgentStats{DurationMS: max(0, s.At.Wall.Sub(s.Created).Milliseconds())},
	}
	if end.Deliverable != "" {
		e.Deliverable = &end.Deliverable
	}
	if card := resultCard(s.Is); card != "" {
		e.Result = &card
	}
	if end.Status != utp.StatusSuccess {
		e.Error = &end.Message
		if end.Code != "" {
			e.Code = &end.Code
		}
	}
	return e
}

package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// command puts the call's command into the outbox of its session.
func (s *step) command(e turn.Command) error {
	c, _ := s.rec.State.Find(e.Call)
	tool, err := store.ReadTool(s.tx, c.Tool)
	if errors.Is(err, store.ErrNotFound) {
		return nil // the tool was removed meanwhile; the call ends as stale
	}
	if err != nil {
		return err
	}
	subject, err := s.admission.Target(tool.Definition)
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	if err := s.reportUnserved(e, subject); err != nil {
		return err
	}
	if tool.Enforcement() != utp.Enforced {
		return s.commandExternal(c, tool, subject)
	}
	payload, err := utp.EncodeCommand(utp.Command{
		ToolName: c.Tool, AfterExecution: cmp.Or(c.After, utp.Suspend), ToolCallCardID: c.Card,
	})
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	return s.send(c, subject, payload)
}

// notice sends the call's service a message beside its commands, such as a request for the outcome.
func (s *step) notice(call, suffix string) error {
	c, _ := s.rec.State.Find(call)
	if c.ThirdParty { // it would read a notice as a command, and a failed one
		return nil
	}
	subject, err := utp.ToolCommand(s.rec.State.Project, s.rec.State.Channel, c.Target, suffix)
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	return s.send(c, subject, []byte("{}"))
}

func (s *step) send(c turn.Call, subject utp.Subject, payload []byte) error {
	control, err := s.control()
	if err != nil {
		return err
	}
	control.StepID, control.ToolCallID = c.Step, c.ID
	header, err := utp.EncodeHeader(control, utp.Stamp{At: s.now.Wall})
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	st := s.rec.State
	s.batch.Outbox = append(s.batch.Outbox, store.Outgoing{
		Session: st.Session, Subject: subject.String(), Header: header, Payload: payload, Call: c.ID,
	})
	return nil
}

// control returns the context of the turn's messages, with a new span.
func (s *step) control() (utp.Context, error) {
	st := s.rec.State
	span, err := s.k.ids.ID(s.now.Wall)
	if err != nil {
		return utp.Context{}, err
	}
	return utp.Context{
		ProjectID: st.Project, ChannelID: st.Channel, AgentID: st.Agent, TurnID: st.Turn, TurnEpoch: max(st.Epoch, 1),
		RecursionDepth: st.Depth, Traceparent: "00-" + turn.TraceID(st.Turn) + "-" + span[16:] + "-01",
	}, nil
}

// wakeWorker sends a wakeup to the turn's agent. Losing it costs one poll.
func (k *Kernel) wakeWorker(ctx context.Context, st turn.State) {
	if st.Outside { // an outside turn has no worker
		return
	}
	subject, err := utp.Wakeup(st.Project, st.Channel, st.Agent)
	if err != nil {
		return
	}
	header, err := utp.EncodeWakeup(utp.Context{
		ProjectID: st.Project, ChannelID: st.Channel, AgentID: st.Agent, TurnID: st.Turn, TurnEpoch: st.Epoch,
		Traceparent: turn.Traceparent(st.Turn),
	}, utp.Stamp{At: k.o.Clock.Now()})
	if err != nil {
		return
	}
	if err := k.o.Bus.Publish(ctx, subject.String(), header, []byte("{}")); err != nil {
		k.o.Logger.Debug("doorbell", "turn", st.Turn, "error", err)
	}
}

package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// command puts the call's command into the outbox of its session.
func (s *step) command(e turn.Command) error {
	c, _ := s.rec.State.Find(e.Call)
	tool, err := s.tx.Tool(c.Tool)
	if errors.Is(err, ErrNotFound) {
		return nil // the tool is gone since; the call ends as stale
	}
	if err != nil {
		return err
	}
	subject, err := s.target(tool.Definition)
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	payload, err := utp.EncodeCommand(utp.Command{
		ToolName: c.Tool, AfterExecution: utp.Suspend, ToolCallCardID: c.Card,
	})
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	return s.send(c, subject, payload)
}

// notice tells the call's service something beside its commands: to stop, or to say
// what became of the call.
func (s *step) notice(call, suffix string) error {
	c, _ := s.rec.State.Find(call)
	subject, err := utp.ToolCommand(s.rec.State.Project, s.rec.State.Channel, c.Target, suffix)
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	return s.send(c, subject, []byte("{}"))
}

func (s *step) send(c turn.Call, subject utp.Subject, payload []byte) error {
	st := s.rec.State
	span, err := s.k.id(s.now.Wall)
	if err != nil {
		return err
	}
	header, err := utp.EncodeHeader(utp.Context{
		ProjectID: st.Project, ChannelID: st.Channel, AgentID: st.Agent, TurnID: st.Turn, TurnEpoch: max(st.Epoch, 1),
		StepID: c.Step, ToolCallID: c.ID, Traceparent: "00-" + s.trace() + "-" + span[16:] + "-01",
	}, utp.Stamp{At: s.now.Wall})
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	s.batch.Outbox = append(s.batch.Outbox, Outgoing{
		Session: st.Session, Subject: subject.String(), Header: header, Payload: payload, Call: c.ID,
	})
	return nil
}

// ringWorker rings the doorbell of the turn's agent. Losing it costs one poll.
func (k *Kernel) ringWorker(ctx context.Context, st turn.State) {
	subject, err := utp.Wakeup(st.Project, st.Channel, st.Agent)
	if err != nil {
		return
	}
	header, err := utp.EncodeHeader(utp.Context{
		ProjectID: st.Project, ChannelID: st.Channel, AgentID: st.Agent, TurnID: st.Turn, TurnEpoch: st.Epoch,
	}, utp.Stamp{At: k.o.Clock.Now()})
	if err != nil {
		return
	}
	if err := k.o.Bus.Publish(ctx, subject.String(), header, []byte("{}")); err != nil {
		k.o.Logger.Debug("doorbell", "turn", st.Turn, "error", err)
	}
}

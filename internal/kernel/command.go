package kernel

import (
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
	return s.outgoing.Command(c, subject)
}

// wakeWorker sends a wakeup to the turn's agent. Losing it costs one poll.
func (k *Kernel) wakeWorker(ctx context.Context, st turn.State) {
	if st.Outside && !st.Action { // an outside turn has no worker; who asks for an action waits for its end
		return
	}
	subject, err := utp.Wakeup(st.Project, st.Channel, st.Agent)
	if err != nil {
		return
	}
	control := st.Context("")
	control.TurnEpoch = st.Epoch // a turn that waits for its first worker has none
	header, err := utp.EncodeWakeup(control, utp.Stamp{At: k.o.Clock.Now()})
	if err != nil {
		return
	}
	if err := k.o.Bus.Publish(ctx, subject.String(), header, []byte("{}")); err != nil {
		k.o.Logger.Debug("doorbell", "turn", st.Turn, "error", err)
	}
}

package kernel

import (
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// reportUnserved reports a call whose command nobody receives. It checks that when the command is sent
// again, a second after the first time: a broken connection is back by then.
func (s *step) reportUnserved(e turn.Command, subject utp.Subject) error {
	if !e.Again || !s.k.registry.Missing(subject) {
		return nil
	}
	return s.dispatch(turn.Unserved{Call: e.Call})
}

// toolUnserved reports whether nobody would receive a call of the tool that a question is about.
func (s *step) toolUnserved(t store.Tool) bool {
	subject, err := s.admission.Target(t.Definition)
	return err == nil && s.k.registry.Missing(subject)
}

// connected returns whether a service of the tool is connected; nil if that is unknown.
func (k *Kernel) connected(t store.Tool) *bool {
	subject, err := utp.RenderTarget(t.Definition.Target, utp.TargetValues{Project: k.o.Project, Channel: k.o.Channel, Agent: api.OperatorAgent})
	if err != nil {
		return nil
	}
	return k.registry.Connected(subject)
}

package kernel

import (
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// gathering is how long after its own start a kernel reports no service as missing: services reconnect one
// after another, and each may take two seconds.
const gathering = 5 * time.Second

// unserved reports whether nobody would receive a command on the subject.
func (k *Kernel) unserved(subject utp.Subject) bool {
	if k.o.Presence == nil {
		return false
	}
	listens, known := k.o.Presence.Listens(subject.String())
	return known && !listens
}

// missing is unserved, but only after services have had time to reconnect.
func (k *Kernel) missing(subject utp.Subject) bool {
	return k.o.Clock.SinceBoot()-k.startedAt >= gathering && k.unserved(subject)
}

// reportUnserved reports a call whose command nobody receives. It checks that when the command is sent
// again, a second after the first time: a broken connection is back by then.
func (s *step) reportUnserved(e turn.Command, subject utp.Subject) error {
	if !e.Again || !s.k.missing(subject) {
		return nil
	}
	return s.dispatch(turn.Unserved{Call: e.Call})
}

// toolUnserved reports whether nobody would receive a call of the tool that a question is about.
func (s *step) toolUnserved(t store.Tool) bool {
	subject, err := s.target(t.Definition)
	return err == nil && s.k.missing(subject)
}

// connected returns whether a service of the tool is connected; nil if that is unknown.
func (k *Kernel) connected(t store.Tool) *bool {
	subject, err := utp.RenderTarget(t.Definition.Target, utp.TargetValues{Project: k.o.Project, Channel: k.o.Channel, Agent: api.OperatorAgent})
	if err != nil || k.o.Presence == nil {
		return nil
	}
	listens, known := k.o.Presence.Listens(subject.String())
	if !known {
		return nil
	}
	return &listens
}

package kernel

import (
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// gathering is how long after its own start a kernel says of no service that it is missing:
// they come back one after the other, in as much as two seconds each.
const gathering = 5 * time.Second

// unserved reports that nobody would hear a command on the subject.
func (k *Kernel) unserved(subject utp.Subject) bool {
	if k.o.Presence == nil {
		return false
	}
	listens, known := k.o.Presence.Listens(subject.String())
	return known && !listens
}

// missing is unserved as far as it is told: not before everybody has had time to come.
func (k *Kernel) missing(subject utp.Subject) bool {
	return k.o.Clock.SinceBoot()-k.startedAt >= gathering && k.unserved(subject)
}

// reportUnserved tells of a call whose command nobody hears. That is looked at when it is rung
// again, a second after it has left: a connection that was just made again is back by then.
func (s *step) reportUnserved(e turn.Command, subject utp.Subject) error {
	if !e.Again || !s.k.missing(subject) {
		return nil
	}
	return s.dispatch(turn.Unserved{Call: e.Call})
}

// toolUnserved reports that nobody would hear a call of the tool which is asked about now.
func (s *step) toolUnserved(t store.Tool) bool {
	subject, err := s.target(t.Definition)
	return err == nil && s.k.missing(subject)
}

// connected says whether a service of the tool is there; nil where nobody can tell.
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

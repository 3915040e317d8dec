package registry

import (
	"time"

	"github.com/earshot-dev/earshot/utp"
)

// Presence knows who subscribes to the bus at this moment. It is consulted inside transactions, and must
// be quick and without effects.
type Presence interface {
	// Listens reports whether a message on the subject would be received now, or stored for a
	// subscriber. If known is false, nothing is reported.
	Listens(subject string) (listens, known bool)
}

// gathering is how long after its own start the registry reports no service as missing: services reconnect one
// after another, and each may take two seconds.
const gathering = 5 * time.Second

// Unserved reports whether nobody would receive a command on the subject.
func (r *Registry) Unserved(subject utp.Subject) bool {
	connected := r.Connected(subject)
	return connected != nil && !*connected
}

// Missing is [Registry.Unserved], but only after services have had time to reconnect.
func (r *Registry) Missing(subject utp.Subject) bool {
	return r.o.SinceBoot()-r.startedAt >= gathering && r.Unserved(subject)
}

// Connected returns whether a service of the subject is connected; nil if that is unknown.
func (r *Registry) Connected(subject utp.Subject) *bool {
	if r.o.Presence == nil {
		return nil
	}
	listens, known := r.o.Presence.Listens(subject.String())
	if !known {
		return nil
	}
	return &listens
}

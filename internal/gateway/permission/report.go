package permission

import (
	"context"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
	"github.com/earshot-dev/earshot/utp"
)

// ReportTimeout is the timeout for a report: the host waits for its hook meanwhile.
const ReportTimeout = 3 * time.Second

// Modes store the last known permission mode of each session of a host.
type Modes interface {
	// Changed stores the mode of a session, and reports whether it differs from the one before; the default is the
	// usual mode.
	Changed(session, mode string) bool
	// Forget removes a session.
	Forget(session string)
}

// Report forwards what the host reports about itself. If Earshot does not run, it does nothing.
func (a Asker) Report(ctx context.Context, e hook.Event) error {
	ctx, cancel := context.WithTimeout(ctx, ReportTimeout)
	defer cancel()
	agent, err := a.Dial(ctx, false)
	if err != nil {
		return err
	}
	a.announceMode(ctx, agent, e)
	var report api.AgentReport
	switch e.Kind {
	case hook.Waiting:
		report.Observed = "It waits for you."
		if e.Message != "" {
			report.Observed = "It waits for you: " + e.Message
		}
	case hook.Rested:
		report.Observed = "It has finished its turn."
	case hook.Closed:
		if a.Modes != nil {
			a.Modes.Forget(e.Session)
		}
		return a.inSession(ctx, agent, e, func(s Session) error { return s.End(ctx, api.AgentEnd{Status: utp.StatusSuccess}) })
	case hook.Use, hook.Prompted:
		return nil
	}
	return a.inSession(ctx, agent, e, func(s Session) error { return s.Report(ctx, report) })
}

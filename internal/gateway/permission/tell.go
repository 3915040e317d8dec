package permission

import (
	"context"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
	"github.com/earshot-dev/earshot/utp"
)

// ReportTimeout is how long it may take to tell something: the host waits for its hook meanwhile.
const ReportTimeout = 3 * time.Second

// Modes remember in which mode each session of a host was last seen.
type Modes interface {
	// Changed notes the mode of a session, and reports whether it was another one before: the usual one where nothing is noted.
	Changed(session, mode string) bool
	// Forget lets go of a session.
	Forget(session string)
}

// Report tells what the host says of itself. Where Earshot does not run, nobody is there to be told.
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

package main

import (
	"context"
	"log/slog"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/policyfile"
)

// overseer tells the operator on standard error of a server, in the log, and everybody who
// listens to an open turn; those are not told what is in the file.
func (m *Main) overseer(h *house, o houseOptions) policyfile.Observer {
	say := func(line string) {
		o.log.Warn("policy", "says", line)
		if o.serves { // in a run there is one who listens
			m.tellf("%s", line)
		}
	}
	passed := func(err error) {
		if err != nil {
			o.log.Warn("policy", slog.Any("error", err))
		}
	}
	return policyfile.Observer{
		Rejudge: func(ctx context.Context) error {
			err := h.kernel.Rejudge(ctx)
			passed(err)
			return err
		},
		Broken: func(ctx context.Context, trouble error) {
			say("Policy: " + cause.OneLine(cause.Of(trouble)) + ". The rules that were read before stay in force. Mend the file; it is read again by itself.")
			passed(h.kernel.NoteAll(ctx, kernel.NoteRulesBroken))
		},
		Mended: func(ctx context.Context) {
			say("Policy: " + cause.OneLine(h.policy.Path) + " can be read again, and counts.")
			passed(h.kernel.NoteAll(ctx, kernel.NoteRulesMended))
		},
	}
}

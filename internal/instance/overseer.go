package instance

import (
	"context"
	"log/slog"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/policyfile"
)

// overseer reports changes of the policy file to the operator, on a server's standard error, to the log, and to
// everybody who follows an open turn. The latter do not learn the file's content.
func (i *Instance) overseer() policyfile.Observer {
	notice := func(line string) {
		i.options.Logger.Warn("policy", "says", line)
		if i.options.Shared { // a run has only one listener
			i.options.Notice(line)
		}
	}
	passed := func(err error) {
		if err != nil {
			i.options.Logger.Warn("policy", slog.Any("error", err))
		}
	}
	return policyfile.Observer{
		Rejudge: func(ctx context.Context) error {
			if i.Policy.Decides() != i.Decides {
				notice("Policy: what it says of questions when nobody is there counts from the next start on.")
			}
			err := i.Kernel.Rejudge(ctx)
			passed(err)
			return err
		},
		Broken: func(ctx context.Context, trouble error) {
			notice("Policy: " + cause.OneLine(cause.Of(trouble)) + ". The rules that were read before stay in force. Mend the file; it is read again by itself.")
			passed(i.Kernel.NoteAll(ctx, kernel.NoteRulesBroken))
		},
		Mended: func(ctx context.Context) {
			notice("Policy: " + cause.OneLine(i.Policy.Path) + " can be read again and is in force.")
			passed(i.Kernel.NoteAll(ctx, kernel.NoteRulesMended))
		},
	}
}

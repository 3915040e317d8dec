package operators

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/operate"
)

func (m *commands) eraseCommand() *cobra.Command {
	project := ""
	c := m.Operated(&cobra.Command{
		Use:   "erase [TURN…]",
		Short: "Erase what was said in turns that have ended",
		Long: `Erase the content of turns that have ended, by their ids or those of their sessions, or of all turns of a
project: arguments, results, deliverables, output, the texts of events, questions and answers, blobs, sealed secrets,
narration. It is gone from the files of the ledger, and cannot be brought back but from a backup. The receipts and the digests of
calls stay for as long as the configuration says. What has not ended is left alone: stop it first.

Content is erased by itself 30 days after a turn has ended, and receipts after a year; retention-content and
retention-receipts of ` + "`earshot up`" + ` say otherwise.`,
		Example: `  earshot erase turn_0199a1b2c3d47e5f8a9b0c1d2e3f4a5b
  earshot erase --project default`,
		Args: cobra.ArbitraryArgs,
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		if (len(args) == 0) == (project == "") {
			return cause.Misuse("nothing to erase is named", "name turns, or a project with --project NAME")
		}
		return m.erase(ctx, ask, f, args, project)
	}, offerTurns)
	c.Flags().StringVar(&project, "project", "", "erase all turns of this project that have ended")
	return c
}

func (m *commands) erase(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, turns []string, project string) error {
	all, err := operate.Erase(ctx, ask, turns, project, func(n int) { m.Notef("Erased so far: %s.", legible.Counted(int64(n), "turn")) })
	if err != nil {
		return missingTurn(ctx, ask, turns, err)
	}
	switch {
	case f.AsJSON:
		if err := m.WriteJSON(all); err != nil {
			return err
		}
	case project != "" && all.Erased == 0 && len(all.Open) == 0:
		m.Printf("Nothing was erased: of the project %s there is nothing that could be. `earshot turns list` shows what there is.", legible.Value(project))
	default:
		m.Printf("Erased: the content of %s.", legible.Counted(int64(all.Erased), "turn"))
	}
	if len(all.Open) == 0 {
		return nil
	}
	const why = "because they have not ended, or a message of theirs is about to leave: "
	open := strings.Join(all.Open, ", ")
	if project == "" {
		return cause.Fail(nil, "not erased, "+why+open, "stop them with `earshot stop`, or wait a moment; then erase them")
	}
	m.Notef("Left alone, %s%s. Stop them with `earshot stop`, or wait a moment; then erase again.", why, open)
	return nil
}

// missingTurn names the first of the turns that is not there, if that is the error.
func missingTurn(ctx context.Context, ask operate.Ask, turns []string, err error) error {
	if !cli.Absent(err) {
		return err
	}
	for _, name := range turns {
		var of api.TurnDetail
		if missing := ask(ctx, api.OpTurn, api.TurnRequest{Name: name}, &of); cli.Absent(missing) {
			return noTurn(ctx, ask, name, missing)
		}
	}
	return err
}

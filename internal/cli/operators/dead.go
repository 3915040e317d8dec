package operators

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *commands) deadCommand() *cobra.Command {
	return cli.Parent("dead", "Messages that were put aside: list, show, try again",
		`Messages that could never be sent, or that lay in a ledger which was restored from a backup, are put aside
until somebody looks. To look takes the role auditor or operator at a server, to try again operator and approver.`,
		m.deadListCommand(), m.deadShowCommand(), m.deadRetryCommand())
}

func (m *commands) deadListCommand() *cobra.Command {
	return m.Operated(&cobra.Command{
		Use:   "list",
		Short: "List the messages that were put aside, oldest first",
		Args:  usage.None,
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, _ []string) error {
		list := m.NewRows(f.AsJSON)
		err := operate.EachDead(ctx, ask, func(one api.DeadDetail) error { return list.Add(one, m.Listing().DeadLine(one)) })
		if err == nil {
			list.End("No message was put aside.")
		}
		return err
	})
}

func (m *commands) deadShowCommand() *cobra.Command {
	return m.Operated(&cobra.Command{
		Use:   "show ID",
		Short: "Show one message that was put aside",
		Args:  usage.One("the number of a message, as `earshot dead list` tells it"),
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		one, err := m.deadNamed(ctx, ask, args[0])
		if err != nil {
			return err
		}
		if f.AsJSON {
			return m.WriteJSON(one)
		}
		m.Listing().Dead(one)
		return nil
	}, cli.OfferOne(offerDead))
}

func (m *commands) deadNamed(ctx context.Context, ask operate.Ask, word string) (api.DeadDetail, error) {
	id, err := strconv.ParseInt(word, 10, 64)
	if err != nil || id < 1 {
		return api.DeadDetail{}, cause.Misuse(fmt.Sprintf("%.64q is not the number of a message", word), "see `earshot dead list`")
	}
	var page api.DeadAnswer
	err = ask(ctx, api.OpDead, api.DeadRequest{ID: id}, &page)
	if cli.Absent(err) || err == nil && len(page.Dead) == 0 {
		return api.DeadDetail{}, cause.Fail(nil, "no message was put aside under the number "+word, "see `earshot dead list`")
	}
	if err != nil {
		return api.DeadDetail{}, err
	}
	return page.Dead[0], nil
}

func (m *commands) deadRetryCommand() *cobra.Command {
	return m.Operated(&cobra.Command{
		Use:   "retry ID",
		Short: "Try a message again; a command is asked for again",
		Long: `Try a message again that was put aside. A command is never sent again: the consent that it was sent
for is used up or too old. Its call is asked for again instead, with the same arguments, by the agent operator,
as its own turn of yours: the policy decides, and a question waits for you where it says so. A notice is sent again.`,
		Args: usage.One("the number of a message, as `earshot dead list` tells it"),
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		one, err := m.deadNamed(ctx, ask, args[0])
		if err != nil {
			return err
		}
		var a api.RetryAnswer
		if err := ask(ctx, api.OpRetry, api.RetryRequest{ID: one.ID, Owner: instance.LocalUser()}, &a); err != nil {
			return err
		}
		switch {
		case f.AsJSON:
			return m.WriteJSON(a)
		case a.Sent:
			m.Printf("Recorded: message %d is sent again.", one.ID)
		default:
			m.Printf("Recorded: %s is asked for again, in %s.", cause.OneLine(one.Tool), a.Session)
			m.Notef("Where it needs consent, its question is in `earshot pending`, once a server with its tool runs.")
		}
		return nil
	}, cli.OfferOne(offerDead))
}

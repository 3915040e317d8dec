package operators

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *commands) boxesCommand() *cobra.Command {
	return cli.Parent("boxes", "Show boxes: what turns hand on to other turns, and who has read it",
		`Show the boxes of turns. A turn that is started with an output box puts the results of its calls and its answer there,
and another one that is started with it as its context reads them. It takes the role auditor or operator at a server, and
works on the data directory where none runs.`,
		m.boxesListCommand(), m.boxesShowCommand())
}

func (m *commands) boxesListCommand() *cobra.Command {
	return m.Operated(&cobra.Command{
		Use:   "list",
		Short: "List the boxes that hold something",
		Args:  usage.None,
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, _ []string) error {
		list := m.NewRows(f.AsJSON)
		err := operate.EachBox(ctx, ask, func(b api.BoxDetail) error { return list.Add(b, m.Listing().BoxLine(b)) })
		if err == nil {
			list.End("There are no boxes: no turn has put anything into one.")
		}
		return err
	})
}

func (m *commands) boxesShowCommand() *cobra.Command {
	var owner string
	c := m.Operated(&cobra.Command{
		Use:   "show BOX [--owner PERSON]",
		Short: "Show a box: which turn wrote which card, from which call, and which turn has read it",
		Args:  usage.One("the id of a box, as `earshot boxes list` tells it"),
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		box, err := boxNamed(ctx, ask, args[0], owner)
		if err != nil {
			return err
		}
		list := m.NewRows(f.AsJSON)
		err = operate.EachBoxEntry(ctx, ask, box, func(e api.BoxEntry) error { return list.Add(e, m.Listing().BoxEntryLine(e)) })
		if err == nil {
			list.End("The box is empty.")
		}
		return err
	}, cli.OfferOne(offerBoxes))
	c.Flags().StringVar(&owner, "owner", "", "whose box it is, where several people have one of that id")
	return c
}

// boxNamed finds a box by its id, and by its owner where that is said.
func boxNamed(ctx context.Context, ask operate.Ask, id, owner string) (api.BoxDetail, error) {
	var found []api.BoxDetail
	err := operate.EachBox(ctx, ask, func(b api.BoxDetail) error {
		if b.Box == id && (owner == "" || b.Owner == owner) {
			found = append(found, b)
		}
		return nil
	})
	switch {
	case err != nil:
		return api.BoxDetail{}, err
	case len(found) == 0:
		return api.BoxDetail{}, cause.Fail(nil, fmt.Sprintf("no box has the id %.128q", id), "see `earshot boxes list`")
	case len(found) > 1:
		return api.BoxDetail{}, cause.Fail(nil, fmt.Sprintf("%d people have a box %.128q", len(found), id), "name one of them with --owner; see `earshot boxes list`")
	}
	return found[0], nil
}

// offerBoxes offers the first boxes.
func offerBoxes(ctx context.Context, remote *client.Client, _ []string) []string {
	var page api.BoxesAnswer
	if remote.Operate(ctx, api.OpBoxes, api.BoxesRequest{}, &page) != nil {
		return nil
	}
	var words []string
	for _, b := range page.Boxes[:min(len(page.Boxes), offeredRows)] {
		words = append(words, cli.Shown(b.Box)+"\t"+cli.Shown("of "+b.Owner))
	}
	return words
}

package worker

import (
	"context"
	"errors"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// Cards reads a box of the planner's turn, whose context it takes: the context box or the output box of its [Turn]. It
// calls do with each card, in the order in which they were put there, until do returns an error. The read is kept in the
// box, where an operator sees it.
func Cards(ctx context.Context, box string, do func(utp.Card) error) error {
	h, is := ctx.Value(handKey{}).(*claimedTurn)
	if !is {
		return errors.New("worker: a box is read in the context of a planner")
	}
	for q := (api.ReadBoxRequest{WorkerRequest: h.at, Box: box}); ; {
		var a api.ReadBoxAnswer
		if err := h.ask(ctx, api.OpReadBox, q, &a); err != nil {
			return err
		}
		for _, c := range a.Cards {
			card, err := utp.DecodeCard(c.Card)
			if err == nil {
				err = do(card)
			}
			if err != nil {
				return err
			}
		}
		if !a.More || a.After == q.After {
			return nil
		}
		q.After = a.After
	}
}

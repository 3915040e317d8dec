package admin

import (
	"context"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

const boxPage = 100

// Boxes returns a page of all boxes, of the entries of one, or of those of one card.
func (ad *Admin) Boxes(ctx context.Context, q api.BoxesRequest) (api.BoxesAnswer, error) {
	var a api.BoxesAnswer
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		a = api.BoxesAnswer{}
		if q.Box == "" && q.Card == "" {
			var err error
			a.Boxes, err = tx.Boxes(store.BoxPage{Owner: q.AfterOwner, Box: q.AfterBox, Limit: boxPage})
			a.More = len(a.Boxes) == boxPage
			return err
		}
		if q.Card == "" && q.Owner == "" {
			return api.NewFault(utp.CodeBadRequest, "the entries of a box are asked for by box_id and owner: people have boxes of their own")
		}
		var err error
		a.Entries, err = tx.BoxEntries(store.BoxFilter{Owner: q.Owner, Box: q.Box, Card: q.Card, After: q.After, Limit: boxPage})
		if err == nil && q.Card == "" && q.After == 0 && len(a.Entries) == 0 {
			err = store.ErrNotFound
		}
		a.More = len(a.Entries) == boxPage
		return err
	})
	return a, err
}

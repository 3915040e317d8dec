package admin

import (
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// box saves an entry of a box that is not there yet. It keeps its number, so that a box has the order that it had, in
// whatever order its turns are imported. If another turn has the number here, the box was in use in both ledgers: the
// entry is appended, and a read says no longer how far it went, because that counted the entries of the other ledger.
func (im *importer) box(e api.BoxEntry) error {
	if err := im.checkBox(e); err != nil {
		return err
	}
	same := func(o api.BoxEntry) bool {
		return o.Box == e.Box && o.Use == e.Use && o.Card == e.Card && o.At.Equal(e.At)
	}
	if slices.ContainsFunc(im.boxes, same) {
		return nil
	}
	taken, err := im.tx.BoxEntries(store.BoxFilter{Owner: e.Owner, Box: e.Box, After: e.N - 1, Limit: 1})
	if err != nil {
		return err
	}
	if len(taken) > 0 && taken[0].N == e.N {
		e.N, e.Through = 0, 0
	}
	im.boxes = append(im.boxes, e)
	im.batch.Boxes = append(im.batch.Boxes, e)
	return nil
}

// checkBox refuses an entry that would lead to anything but a card of the turn, in a box of its owner's.
func (im *importer) checkBox(e api.BoxEntry) error {
	wrote := e.Use == api.BoxWrite
	switch {
	case e.Turn != im.id || e.Owner != im.rec.State.Owner || e.Box == "" || len(e.Box) > store.MaxName || e.N < 1 || !wrote && e.Use != api.BoxRead || wrote != (e.Card != ""):
		return api.NewFault(utp.CodeBadRequest, "the entry of the box "+store.Clip(e.Box, store.MaxName)+" is none that the turn has made")
	case e.Call != "" && !im.calls[e.Call]:
		return api.NewFault(utp.CodeBadRequest, "the entry of the box "+store.Clip(e.Box, store.MaxName)+" names a call of another turn")
	case !wrote || slices.ContainsFunc(im.batch.Cards, func(c utp.Card) bool { return c.ID == e.Card }):
		return nil
	}
	cards, err := im.tx.Cards(store.CardFilter{IDs: []string{e.Card}})
	if err != nil {
		return err
	}
	if len(cards) == 0 || cards[0].TurnID() != im.id && !im.calls[cards[0].ToolCallID] {
		return api.NewFault(utp.CodeBadRequest, fmt.Sprintf("the card %s of the box %s does not belong to the turn", store.Clip(e.Card, store.MaxName), store.Clip(e.Box, store.MaxName)))
	}
	return nil
}

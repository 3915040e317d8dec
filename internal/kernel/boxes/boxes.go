// Package boxes reads and fills the boxes of one turn within one transaction. A box is a list of cards under an id that the
// caller of a turn has chosen (UTP, "Cards"). The results of a turn's calls and its answer are put into its output box, in
// the transactions that save them. Its worker reads its context and its output. Each person has boxes of their own: an id of
// one leads to nothing of another.
package boxes

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/cards"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// page is how many entries one answer holds at most.
const page = 50

// Tx is the boxes of one turn within one transaction. Make it with [In]. It is for one goroutine.
type Tx struct {
	tx    store.Tx
	of    *turn.State
	at    time.Time
	cards *cards.Tx
	added []api.BoxEntry
}

// In returns the boxes of a turn within a transaction that takes place at a time.
func In(tx store.Tx, of *turn.State, at time.Time, c *cards.Tx) *Tx {
	return &Tx{tx: tx, of: of, at: at, cards: c}
}

// Added are the entries that are to be saved with the transaction.
func (t *Tx) Added() []api.BoxEntry { return t.added }

// Add puts a card into the turn's output box; call is the call that it is the result of, or "".
func (t *Tx) Add(call, card string) error {
	box := t.of.Boxes.OutputBox
	if box == "" {
		return nil
	}
	if may, err := mayUse(t.tx, *t.of, box); err != nil || !may {
		return err // of a box that others have filled meanwhile: the card stays with its turn
	}
	t.addEntry(api.BoxEntry{Box: box, Use: api.BoxWrite, Call: call, Card: card})
	return nil
}

// AddText puts the answer of a turn that has no fields into its output box, as a card of text.
func (t *Tx) AddText(q api.DeliverRequest, end turn.End) error {
	text := cmp.Or(q.Output, q.Summary)
	if t.of.Boxes.OutputBox == "" || text == "" || !end.Completes() {
		return nil
	}
	card, err := t.cards.Answer(q.Fields, q.Status == utp.StatusPartial)
	if err != nil {
		return err
	}
	if card.Content, err = utp.EncodeContent(utp.Text{Text: text}); err != nil {
		return api.NewFault(utp.CodeBadRequest, "the result: "+err.Error())
	}
	t.cards.Add(card)
	return t.Add("", card.ID)
}

// Read returns a page of the cards of a box, and keeps in the box that the turn has read so far.
func (t *Tx) Read(q api.ReadBoxRequest) (api.ReadBoxAnswer, error) {
	if err := Check(t.tx, *t.of, q.Box); err != nil {
		return api.ReadBoxAnswer{}, err
	}
	a, err := t.read(q)
	if err != nil || a.After == q.After {
		return a, err
	}
	return a, t.keepRead(q.Box, a.After)
}

// read reads a page of the cards of a box.
func (t *Tx) read(q api.ReadBoxRequest) (api.ReadBoxAnswer, error) {
	a := api.ReadBoxAnswer{After: q.After}
	entries, err := t.tx.BoxEntries(store.BoxFilter{
		Owner: t.of.Owner, Box: q.Box, Use: string(api.BoxWrite), After: q.After, Limit: page,
	})
	if err != nil {
		return a, err
	}
	room := api.InlineLimit
	for _, e := range entries {
		card, err := t.cards.Card(e.Card)
		if errors.Is(err, store.ErrNotFound) { // erased
			a.After = e.N
			continue
		}
		if err != nil {
			return a, err
		}
		raw, err := utp.EncodeCard(card)
		if err != nil {
			return a, store.Unexpected("a card", err)
		}
		if room -= len(raw); room < 0 && len(a.Cards) > 0 {
			a.More = true
			return a, nil
		}
		a.Cards, a.After = append(a.Cards, api.BoxCard{N: e.N, Card: jsontext.Value(raw)}), e.N
	}
	a.More = len(entries) == page
	return a, nil
}

// keepRead records a read once, also if it is repeated.
func (t *Tx) keepRead(box string, through int64) error {
	st := *t.of
	reads, err := t.tx.BoxEntries(store.BoxFilter{Owner: st.Owner, Box: box, Turn: st.Turn, Use: string(api.BoxRead)})
	if err != nil {
		return err
	}
	for _, r := range reads {
		if r.Through >= through {
			return nil
		}
	}
	t.addEntry(api.BoxEntry{Box: box, Use: api.BoxRead, Through: through})
	return nil
}

func (t *Tx) addEntry(e api.BoxEntry) {
	e.Owner, e.Turn, e.Agent, e.At = t.of.Owner, t.of.Turn, t.of.Agent, t.at
	t.added = append(t.added, e)
}

// Check refuses a turn a box that it may not use.
func Check(tx store.Tx, st turn.State, box string) error {
	may, err := mayUse(tx, st, box)
	if err != nil || may {
		return err
	}
	return api.NewFault(utp.CodeAuthFailed, fmt.Sprintf("the turn may not use the box %.128q: it is neither of the turn that starts it, nor filled by it or within it", box))
}

// mayUse reports whether a turn may use a box of its owner's. What a person's own request names, it may. A turn that a
// program has started within another has, of the boxes that hold something, those of the turn above and those that
// this turn, that one, or another turn within that one has filled first: no agent reaches other work by naming it.
func mayUse(tx store.Tx, st turn.State, box string) (bool, error) {
	if st.Within.Spawner == "" {
		return true, nil
	}
	entries, err := tx.BoxEntries(store.BoxFilter{Owner: st.Owner, Box: box, Use: string(api.BoxWrite), Limit: 1})
	if err != nil || len(entries) == 0 || entries[0].Turn == st.Turn || entries[0].Turn == st.Parent {
		return err == nil, err
	}
	above, err := tx.Turn(store.TurnRef{Turn: st.Parent})
	if err != nil || box == above.State.Boxes.ContextBox || box == above.State.Boxes.OutputBox {
		return err == nil, ignoreMissing(err)
	}
	first, err := tx.Turn(store.TurnRef{Turn: entries[0].Turn})
	return err == nil && first.State.Parent == st.Parent, ignoreMissing(err)
}

func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
